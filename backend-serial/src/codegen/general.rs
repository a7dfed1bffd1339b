//! The general form: any grid, one entity after the other.

use equelle_front::backend::{KernelNames, Namer};
use equelle_front::ir::{CheckKind, Kernel, Module, Space};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::method::{results, signature};
use super::text::{Level, ident, mentions};
use super::writer::{Form, Writer, Written};

/// What of a kernel a general function evaluates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Checks and body.
    Whole,
    /// Checks alone; for kernels whose Cartesian form does the rest.
    Checks,
}

/// The function of the general form.
pub(super) fn function(
    module: &Module,
    kernel: &Kernel,
    names: &KernelNames,
    name: &Ident,
    part: Part,
    functions: &Namer,
) -> Written<(TokenStream, bool)> {
    let mut writer = Writer::new(module, kernel, names, Form::General, functions);
    let checks = checks(&mut writer)?;
    let (statements, yields) = match part {
        Part::Whole => writer.block(&kernel.body)?,
        Part::Checks => (TokenStream::new(), Vec::new()),
    };
    let finish = match part {
        Part::Whole => results(&writer)?,
        Part::Checks => quote! { Ok(()) },
    };
    let body = match kernel.space {
        Space::Unit => {
            let result = match yields.as_slice() {
                [one] => quote! { Ok(#one) },
                many => quote! { Ok((#(#many),*)) },
            };
            let prelude = writer.prelude();
            quote! { #prelude #checks #statements #result }
        }
        Space::Set(set) => {
            let domain = writer.domain(set)?;
            let buffers = match part {
                Part::Whole => super::method::buffers(&writer, quote! { domain.len() })?,
                Part::Checks => TokenStream::new(),
            };
            let stores = super::method::stores(&writer, &quote! { position }, &yields)?;
            let each = quote! { #checks #statements #stores };
            let loop_ = if !mentions(&each, "here") {
                quote! { for position in 0..domain.len() { #each } }
            } else if writer.is_all(set) {
                quote! { for position in 0..domain.len() { let here = position as u32; #each } }
            } else if mentions(&each, "position") {
                quote! { for (position, &here) in domain.elements().iter().enumerate() { #each } }
            } else {
                quote! { for &here in domain.elements() { #each } }
            };
            let prelude = writer.prelude();
            quote! {
                #prelude
                let domain = #domain;
                #buffers
                #loop_
                #finish
            }
        }
    };
    let uses_dim = mentions(&body, "DIM");
    let result = match part {
        Part::Whole => None,
        Part::Checks => Some(quote! { () }),
    };
    let signature = signature(kernel, names, name, uses_dim, &body, result)?;
    Ok((quote! { #signature { #body } }, uses_dim))
}

fn checks(writer: &mut Writer) -> Written<TokenStream> {
    let mut out = TokenStream::new();
    for check in &writer.kernel.checks {
        let condition = writer.expr(&check.condition)?;
        let info = ident(&writer.names.info);
        let error = match (check.kind, writer.kernel.space) {
            (CheckKind::OnEmpty, Space::Set(_)) => quote! { rt.on_empty_in_kernel(&#info, &domain, position) },
            (CheckKind::OnEmpty, Space::Unit) => return Err(writer.internal("a check without an element")),
        };
        let holds = condition.at(Level::Unary);
        out.extend(quote! { if !#holds { return Err(#error); } });
    }
    Ok(out)
}
