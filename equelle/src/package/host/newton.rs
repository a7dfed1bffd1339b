//! Newton's method where residuals assign variables of the program: these go from one evaluation to
//! the next.

use equelle_front::backend::BackendError;
use equelle_front::ir::{Carried, FunctionId, ValueId};
use equelle_front::source::Span;
use equelle_front::types::{Basic, Shape, Type};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::super::rust::ident;
use super::function::FunctionWriter;

impl FunctionWriter<'_> {
    /// A block whose value is the solution, then the last values of the carried variables.
    pub(super) fn newton_carrying(
        &mut self,
        residuals: &[FunctionId],
        captures: &[Vec<ValueId>],
        guesses: &[ValueId],
        carried: &[Carried],
        span: Span,
    ) -> Result<TokenStream, BackendError> {
        let program = self.program;
        let function = |id: &FunctionId| &program.module.functions[id.0 as usize];
        let names = self.bindings.names();
        let first = residuals.first().map(function).ok_or_else(|| BackendError::internal(span, "Newton's method without a residual"))?;
        let params = first.params.iter().take(guesses.len());
        let unknowns: Vec<Ident> = params.map(|param| self.bindings.fresh(&first.values[param.0 as usize].name)).collect();

        // A variable of the block for each carried one, which begins with what it was outside.
        let mut variables = Vec::with_capacity(carried.len());
        let mut block = TokenStream::new();
        for variable in carried {
            let Some(&(residual, capture)) = variable.reads.first() else {
                return Err(BackendError::internal(span, "a carried variable that no residual reads"));
            };
            let callee = function(&residuals[residual as usize]);
            let param = &callee.values[callee.params[guesses.len() + capture as usize].0 as usize];
            let initial = self.owned_as(captures[residual as usize][capture as usize], &param.ty)?;
            let name = self.bindings.fresh(if param.name.is_empty() { "carried" } else { &param.name });
            block.extend(quote! { let mut #name = #initial; });
            variables.push(name);
        }

        let mut body = TokenStream::new();
        let mut equations = Vec::with_capacity(residuals.len());
        for (number, (residual, captures)) in residuals.iter().zip(captures).enumerate() {
            let callee = function(residual);
            let mut args = Vec::with_capacity(captures.len());
            for (place, (capture, param)) in captures.iter().zip(callee.params.iter().skip(guesses.len())).enumerate() {
                let at = (number as u32, place as u32);
                args.push(match carried.iter().position(|c| c.reads.contains(&at)) {
                    Some(variable) => {
                        let name = &variables[variable];
                        quote! { &#name }
                    }
                    None => self.by_ref_as(*capture, &callee.values[param.0 as usize].ty)?,
                });
            }
            let equation = self.bindings.fresh("equation");
            let mut targets = vec![equation.clone()];
            let mut stores = TokenStream::new();
            for (place, ty) in callee.results.iter().enumerate().skip(1) {
                let at = (number as u32, place as u32);
                let Some(variable) = carried.iter().position(|c| c.writes.contains(&at)) else {
                    return Err(BackendError::internal(span, format!("result {place} of residual `{}` goes nowhere", callee.name)));
                };
                let (variable, next) = (&variables[variable], self.bindings.fresh("next"));
                let value = without_derivatives(ty, &next);
                stores.extend(quote! { #value rt.assign(&mut #variable, #next); });
                targets.push(next);
            }
            let name = ident(&program.functions[residual.0 as usize]);
            let target = if let [one] = targets.as_slice() {
                quote! { #one }
            } else {
                quote! { (#(#targets),*) }
            };
            body.extend(quote! { let #target = #name(rt #(, #unknowns)* #(, #args)*)?; #stores });
            equations.push(equation);
        }
        let guesses = guesses.iter().map(|guess| self.bindings.by_ref(*guess)).collect::<Result<Vec<_>, _>>()?;
        self.bindings.forget_names_since(names, &[]);
        // The residuals leave their own lines behind.
        self.line = None;
        let solve = match (guesses.as_slice(), equations.as_slice(), unknowns.as_slice()) {
            ([guess], [equation], [unknown]) => {
                quote! { let #unknown = rt.newton_solve(#guess, &mut |rt, #unknown| { #body Ok(#equation) })?; }
            }
            _ => quote! {
                let [#(#unknowns),*] = rt.newton_solve_system([#(#guesses),*], &mut |rt, [#(#unknowns),*]| { #body Ok([#(#equations),*]) })?;
            },
        };
        Ok(quote! { { #block #solve (#(#unknowns,)* #(#variables),*) } })
    }
}

/// Leaves of a value what a variable of the program keeps that a residual gives it.
fn without_derivatives(ty: &Type, value: &Ident) -> TokenStream {
    match (ty.shape, ty.basic) {
        (Shape::Collection(_), Basic::Scalar) => quote! { let #value = rt.without_derivatives(&#value); },
        (Shape::Collection(_), Basic::Vector) => quote! { let #value = rt.vectors_without_derivatives(&#value); },
        (Shape::Single | Shape::Collection(_) | Shape::Domain(_) | Shape::Sequence, _) => TokenStream::new(),
    }
}
