//! The type of numbers in the text of a kernel.
//!
//! A kernel of a program of single precision computes as [`Kernel::computes_in`] says. In single precision Scalars, literals and geometry are rounded where they enter; in double
//! precision results are rounded where they are stored.

use equelle_front::ir::{Kernel, Module, Precision};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::text::ident;

/// How a kernel computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reals {
    /// In double precision.
    Double,
    /// In double precision, into collections of single precision.
    Rounded,
    /// In single precision.
    Single,
}

impl Reals {
    /// Of a kernel.
    pub(super) fn of(module: &Module, kernel: &Kernel) -> Self {
        match (module.numbers.precision, kernel.computes_in(module.numbers)) {
            (Precision::Double, _) => Reals::Double,
            (Precision::Single, Precision::Single) => Reals::Single,
            (Precision::Single, Precision::Double) => Reals::Rounded,
        }
    }

    /// The type in expressions.
    pub(super) fn ty(self) -> Ident {
        ident(match self {
            Reals::Double | Reals::Rounded => "f64",
            Reals::Single => "f32",
        })
    }

    /// The type in collections.
    pub(super) fn kept(self) -> Ident {
        ident(match self {
            Reals::Double => "f64",
            Reals::Rounded | Reals::Single => "f32",
        })
    }

    /// A value as a collection holds it.
    pub(super) fn stored(self, value: &super::text::Text) -> TokenStream {
        match self {
            Reals::Double | Reals::Single => quote! { #value },
            Reals::Rounded => {
                let value = value.at(super::text::Level::Cast);
                quote! { #value as f32 }
            }
        }
    }

    /// Values per axis as a collection holds them.
    pub(super) fn stored_per_axis(self, values: &Ident) -> TokenStream {
        match self {
            Reals::Double | Reals::Single => quote! { #values },
            Reals::Rounded => quote! { #values.map(|value| value as f32) },
        }
    }

    /// A double as expressions have it.
    pub(super) fn entering(self, value: TokenStream) -> TokenStream {
        match self {
            Reals::Double | Reals::Rounded => value,
            Reals::Single => quote! { #value as f32 },
        }
    }

    /// Arguments of generic types that have a precision: nothing, or `<f32>`.
    pub(super) fn argument(self) -> TokenStream {
        match self {
            Reals::Double | Reals::Rounded => TokenStream::new(),
            Reals::Single => quote! { <f32> },
        }
    }

    /// The method that gives the Cartesian grid.
    pub(super) fn cartesian_grid(self) -> Ident {
        ident(match self {
            Reals::Double | Reals::Rounded => "cartesian_grid",
            Reals::Single => "rounded_cartesian_grid",
        })
    }
}
