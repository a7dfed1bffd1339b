//! Operators and functions of Scalars in Rust.

use equelle_front::ops::Comparison;
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
