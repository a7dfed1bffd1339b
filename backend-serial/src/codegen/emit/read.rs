//! Parameters as bodies read them.

use equelle_front::backend::BackendError;
use equelle_front::ir::{Kernel, ParamId};
use equelle_front::types::{Basic, Shape};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::reals::Reals;
use super::tables::prepare_tables;
use super::text::ident;
use super::uses::{Use, Uses};
use super::writer::{Writer, Written};

impl Writer<'_> {
    /// The parameter as the body reads it: a number, a slice, slices of components.
    pub(in crate::codegen) fn read(&mut self, id: ParamId) -> Written<Ident> {
        let ((param, name), field) = (self.param(id)?, self.field(id));
        self.prelude_uses.add(Use::Args);
        if let Some(group) = self.tables.iter().find(|group| group.tables.iter().any(|(_, _, param)| *param == id)) {
            prepare_tables(self, group)?;
            return Ok(name);
        }
        let tokens = match (param.ty.shape, param.ty.basic) {
            (Shape::Single, Basic::Scalar) => {
                let value = self.reals.entering(quote! { *args.#field });
                quote! { let #name = #value; }
            }
            (Shape::Single, Basic::Bool) => quote! { let #name = *args.#field; },
            (Shape::Single, Basic::Table) => quote! { let #name = args.#field.numbers(); },
            (Shape::Single, Basic::Vector) => {
                self.prelude_uses.add(Use::Dim);
                let vector = self.prelude_uses.item("vector");
                let rounded = (self.reals == Reals::Single).then(|| quote! { .map(|value| value as f32) });
                quote! { let #name = #vector::<DIM>(args.#field) #rounded; }
            }
            (Shape::Collection(_), Basic::Scalar) => {
                self.prelude_uses.add(Use::Runtime);
                let values = ident(if self.is_unknown(id) { "unknown_values" } else { "dense" });
                let borrow = self.kernel.result_in(id).map(|_| quote! { & });
                quote! {
                    let #name = rt.#values(#borrow args.#field);
                    let #name = &#name[..];
                }
            }
            (Shape::Collection(_), Basic::Vector) => {
                self.prelude_uses.add(Use::Dim);
                if self.reals == Reals::Single {
                    quote! { let #name = args.#field.slices::<DIM>(); }
                } else {
                    let components = self.prelude_uses.item("components");
                    quote! { let #name = #components::<DIM>(args.#field); }
                }
            }
            (Shape::Collection(_), Basic::Bool | Basic::Entity(_)) => quote! { let #name = &args.#field.values()[..]; },
            _ => return Err(BackendError::new(self.span(), format!("a kernel cannot read a {:?}", param.ty.basic)).into()),
        };
        Ok(self.prepared(name.to_string(), None, |_| tokens))
    }
}

/// The type of a parameter of functions that stands for a single one of the kernel.
pub(in crate::codegen) fn single_type(kernel: &Kernel, real: &Ident, id: ParamId, uses: &mut Uses) -> TokenStream {
    match kernel.params.get(id.0 as usize).map(|p| p.ty.basic) {
        Some(Basic::Bool) => quote! { bool },
        Some(Basic::Vector) => {
            uses.add(Use::Dim);
            quote! { [#real; DIM] }
        }
        Some(Basic::Table) => quote! { &[f64] },
        Some(Basic::Scalar | Basic::Entity(_) | Basic::Text | Basic::Axis(_)) | None => quote! { #real },
    }
}

/// The type of an element of a collection.
pub(in crate::codegen) fn element_type(kernel: &Kernel, real: &Ident, id: ParamId) -> TokenStream {
    match kernel.params.get(id.0 as usize).map(|p| p.ty.basic) {
        Some(Basic::Bool) => quote! { bool },
        Some(Basic::Scalar | Basic::Vector | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_)) | None => quote! { #real },
    }
}
