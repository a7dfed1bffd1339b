//! Operators and functions of Scalars in Rust.

use equelle_front::ops::{BinaryMath, Comparison, Elementary};
use proc_macro2::TokenStream;
use quote::quote;

pub(in crate::codegen) fn comparison(op: Comparison) -> TokenStream {
    match op {
        Comparison::Less => quote! { < },
        Comparison::Greater => quote! { > },
        Comparison::LessEqual => quote! { <= },
        Comparison::GreaterEqual => quote! { >= },
        Comparison::Equal => quote! { == },
        Comparison::NotEqual => quote! { != },
    }
}

/// In `equelle_runtime::math`.
pub(super) fn elementary(function: Elementary) -> &'static str {
    match function {
        Elementary::Exp => "exp",
        Elementary::Log => "log",
        Elementary::Sin => "sin",
        Elementary::Cos => "cos",
        Elementary::Tan => "tan",
        Elementary::Tanh => "tanh",
        Elementary::Sinh => "sinh",
        Elementary::Cosh => "cosh",
        Elementary::ASin => "asin",
        Elementary::ACos => "acos",
        Elementary::ATan => "atan",
        Elementary::Log10 => "log10",
        Elementary::Erf => "erf",
        Elementary::Floor => "floor",
        Elementary::Ceil => "ceil",
        Elementary::Sign => "sign",
    }
}

/// In `equelle_runtime::math`.
pub(super) fn math(function: BinaryMath) -> &'static str {
    match function {
        BinaryMath::Min => "min",
        BinaryMath::Max => "max",
        BinaryMath::Pow => "pow",
        BinaryMath::ATan2 => "atan2",
    }
}
