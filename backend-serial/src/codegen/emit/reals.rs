//! The type of numbers in the text of a kernel.
//!
//! A kernel of a program of single precision computes as [`Kernel::computes_in`] says. In single
//! precision Scalars, literals and geometry are rounded where they enter; in double precision
//! results are rounded where they are stored.

use equelle_front::ir::{Kernel, Module, Precision};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::text::{Level, Text, ident};

/// Precision of a kernel's arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen) enum Reals {
    /// In double precision.
    Double,
    /// In double precision, into collections of single precision.
    Rounded,
    /// In single precision.
    Single,
}

impl Reals {
    /// Returns how a kernel computes.
    pub(in crate::codegen) fn of(module: &Module, kernel: &Kernel) -> Self {
        match (module.numbers.precision, kernel.computes_in(module.numbers)) {
            (Precision::Double, _) => Reals::Double,
            (Precision::Single, Precision::Single) => Reals::Single,
            (Precision::Single, Precision::Double) => Reals::Rounded,
        }
    }

    /// The type in expressions.
    pub(in crate::codegen) fn ty(self) -> Ident {
        ident(match self {
            Reals::Double | Reals::Rounded => "f64",
            Reals::Single => "f32",
        })
    }

    /// The type in collections.
    pub(in crate::codegen) fn kept(self) -> Ident {
        ident(match self {
            Reals::Double => "f64",
            Reals::Rounded | Reals::Single => "f32",
        })
    }

    /// A value as a collection holds it.
    pub(in crate::codegen) fn stored(self, value: &Text) -> TokenStream {
        match self {
            Reals::Double | Reals::Single => quote! { #value },
            Reals::Rounded => {
                let value = value.at(Level::Cast);
                quote! { #value as f32 }
            }
        }
    }

    /// Values per axis as a collection holds them.
    pub(in crate::codegen) fn stored_per_axis(self, values: &Ident) -> TokenStream {
        match self {
            Reals::Double | Reals::Single => quote! { #values },
            Reals::Rounded => quote! { #values.map(|value| value as f32) },
        }
    }

    /// A double as expressions have it.
    pub(in crate::codegen) fn entering(self, value: TokenStream) -> TokenStream {
        match self {
            Reals::Double | Reals::Rounded => value,
            Reals::Single => quote! { #value as f32 },
        }
    }

    /// Arguments of generic types that have a precision: nothing, or `<f32>`.
    pub(in crate::codegen) fn argument(self) -> TokenStream {
        match self {
            Reals::Double | Reals::Rounded => TokenStream::new(),
            Reals::Single => quote! { <f32> },
        }
    }

    /// The method that gives the Cartesian grid, also one with `joined` sides.
    pub(in crate::codegen) fn cartesian_grid(self, joined: bool) -> Ident {
        ident(match (self, joined) {
            (Reals::Double | Reals::Rounded, false) => "cartesian_grid",
            (Reals::Double | Reals::Rounded, true) => "closed_grid",
            (Reals::Single, false) => "rounded_cartesian_grid",
            (Reals::Single, true) => "rounded_closed_grid",
        })
    }

    /// A number that reads back to the same bits, rounded if need be.
    pub(in crate::codegen) fn literal(self, number: f64) -> Text {
        let ty = self.ty();
        let number = match self {
            Reals::Double | Reals::Rounded => number,
            Reals::Single => f64::from(number as f32),
        };
        if number.is_nan() {
            return Text::atom(quote! { #ty::NAN });
        }
        if number.is_infinite() {
            let name = ident(if number > 0.0 { "INFINITY" } else { "NEG_INFINITY" });
            return Text::atom(quote! { #ty::#name });
        }
        let magnitude = match self {
            Reals::Double | Reals::Rounded => Literal::f64_unsuffixed(number.abs()),
            Reals::Single => Literal::f32_unsuffixed(number.abs() as f32),
        };
        if number.is_sign_negative() { Text::new(Level::Unary, quote! { -#magnitude }) } else { Text::atom(magnitude) }
    }
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;

    use super::*;

    fn shown(reals: Reals, number: f64) -> String {
        reals.literal(number).to_token_stream().to_string().replace(' ', "")
    }

    #[test]
    fn numbers_read_back() {
        for number in [0.0, -0.0, 0.1, 1e300, -5e-324, 1.0] {
            let text = shown(Reals::Double, number);
            assert_eq!(text.parse::<f64>().map(f64::to_bits), Ok(number.to_bits()), "{text}");
        }
    }

    /// 0.1 and 1/3 in the digits of singles; what is beyond them is infinite, what is below is
    /// zero.
    #[test]
    fn single_precision_has_its_own_digits() {
        let text = |number| shown(Reals::Single, number);
        assert_eq!([text(0.1), text(-1.0 / 3.0), text(1e39), text(-1e39)], ["0.1", "-0.33333334", "f32::INFINITY", "f32::NEG_INFINITY"]);
        assert_eq!(text(1e-60).parse::<f32>(), Ok(0.0));
    }
}
