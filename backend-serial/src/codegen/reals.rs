//! The type of numbers in the text of a kernel.
//!
//! In a program of single precision a kernel that reads collections of numbers computes in single precision: Scalars, literals and geometry are rounded where they enter. One
//! that reads none, such as a transmissibility, computes in double precision and rounds what it stores.

use equelle_front::ir::{Kernel, Module, Precision};
use equelle_front::types::{Basic, Shape};
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
        let reads =
            |p: &equelle_front::ir::Param| matches!((p.ty.shape, p.ty.basic), (Shape::Collection(_), Basic::Scalar | Basic::Vector));
        match module.numbers.precision {
            Precision::Double => Reals::Double,
            Precision::Single if kernel.params.iter().any(reads) => Reals::Single,
            Precision::Single => Reals::Rounded,
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
