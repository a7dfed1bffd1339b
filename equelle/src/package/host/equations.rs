//! Newton's method on equations that are kernels.

use equelle_front::backend::BackendError;
use equelle_front::ir::{Equation, FunctionId, ValueId};
use equelle_front::source::Span;
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::function::FunctionWriter;
use crate::package::rust::ident;

impl FunctionWriter<'_> {
    /// The call that solves, with `?`. The residual is a closure that evaluates the kernels;
    /// residual functions are called for their outputs alone.
    pub(super) fn newton_by_kernels(
        &mut self,
        residuals: &[FunctionId],
        captures: &[Vec<ValueId>],
        guesses: &[ValueId],
        equations: &[Equation],
        span: Span,
    ) -> Result<TokenStream, BackendError> {
        let program = self.program;
        let names = self.bindings.names();
        let first = equations.first().ok_or_else(|| BackendError::internal(span, "Newton's method without an equation"))?;
        let params = program.module.kernels[first.kernel.0 as usize].params.iter().take(guesses.len());
        let unknowns: Vec<Ident> = params.map(|param| self.bindings.fresh(&param.name)).collect();
        let mut outputs = TokenStream::new();
        if !residuals.is_empty() {
            let plain: Vec<Ident> = unknowns.iter().map(|u| self.bindings.fresh(&format!("{u}_values"))).collect();
            let mut calls = TokenStream::new();
            for (residual, captures) in residuals.iter().zip(captures) {
                let callee = &program.module.functions[residual.0 as usize];
                let mut args = Vec::with_capacity(captures.len());
                for (capture, param) in captures.iter().zip(callee.params.iter().skip(guesses.len())) {
                    args.push(self.by_ref_as(*capture, &callee.values[param.0 as usize].ty)?);
                }
                let name = ident(&program.functions[residual.0 as usize]);
                calls.extend(quote! { #name(rt #(, &#plain)* #(, #args)*)?; });
            }
            outputs = quote! { #(let #plain = rt.without_derivatives(#unknowns);)* #calls };
        }
        let mut kernels = Vec::with_capacity(equations.len());
        for equation in equations {
            kernels.push(self.evaluate(equation, &unknowns)?);
        }
        let guesses = guesses.iter().map(|guess| self.bindings.by_ref(*guess)).collect::<Result<Vec<_>, _>>()?;
        self.bindings.forget_names_since(names, &[]);
        // The functions leave their own lines behind.
        self.line = None;
        Ok(match (guesses.as_slice(), kernels.as_slice()) {
            ([guess], [kernel]) if residuals.is_empty() => quote! { rt.newton_solve(#guess, &mut |rt, #(#unknowns),*| #kernel)? },
            ([guess], [kernel]) => quote! { rt.newton_solve(#guess, &mut |rt, #(#unknowns),*| { #outputs #kernel })? },
            _ if residuals.is_empty() => {
                quote! { rt.newton_solve_system([#(#guesses),*], &mut |rt, [#(#unknowns),*]| Ok([#(#kernels?),*]))?.into() }
            }
            _ => {
                quote! { rt.newton_solve_system([#(#guesses),*], &mut |rt, [#(#unknowns),*]| { #outputs Ok([#(#kernels?),*]) })?.into() }
            }
        })
    }

    /// `rt.kernel(Args { .. })`
    fn evaluate(&mut self, equation: &Equation, unknowns: &[Ident]) -> Result<TokenStream, BackendError> {
        let program = self.program;
        let index = equation.kernel.0 as usize;
        let (params, names) = (&program.module.kernels[index].params, &program.kernels[index]);
        let (method, arguments) = (ident(&names.method), ident(&names.arguments));
        let mut values: Vec<TokenStream> = unknowns.iter().map(|u| quote! { #u }).collect();
        for (arg, param) in equation.args.iter().zip(&params[unknowns.len()..]) {
            values.push(self.by_ref_as(*arg, &param.ty)?);
        }
        let fields = names.params.iter().zip(values).map(|(field, value)| {
            let field = ident(field);
            if field == value.to_string() {
                quote! { #field }
            } else {
                quote! { #field: #value }
            }
        });
        Ok(quote! { rt.#method(#arguments { #(#fields),* }) })
    }
}
