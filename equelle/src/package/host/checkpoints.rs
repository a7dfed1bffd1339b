//! Checkpoints: what is saved after a round, where it comes back, and what is left out there.

use std::collections::BTreeMap;

use equelle_front::backend::BackendError;
use equelle_front::checkpoint::{CheckpointLoop, SavedKind, Skipped};
use equelle_front::ir::{Block, MutableId, ValueId};
use equelle_front::source::Span;
use equelle_front::types::{Basic, Shape, Type};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::super::rust::comment;
use super::bindings::Binding;
use super::function::FunctionWriter;
use super::statements::count_stores;

impl FunctionWriter<'_> {
    /// Values are kept until the last checkpoint that has them.
    pub(super) fn add_reads_of_checkpoints(&self, last: &mut BTreeMap<ValueId, usize>) {
        for checkpoint in &self.program.checkpoints.loops {
            for saved in &checkpoint.content {
                if let SavedKind::Value(value) = saved.what {
                    let read = last.entry(value).or_default();
                    *read = checkpoint.statement.max(*read);
                }
            }
        }
    }

    /// Before the first round: the state of the checkpoint, if the run goes on in this loop.
    pub(super) fn resumes(&self, checkpoint: &CheckpointLoop, steps: &Ident) -> Result<TokenStream, BackendError> {
        let number = Literal::u32_unsuffixed(checkpoint.number);
        let mut restored = TokenStream::new();
        for (name, mutable) in self.program.checkpoints.restored_at(checkpoint) {
            restored.extend(self.restored_variable(name, mutable)?);
        }
        Ok(if restored.is_empty() {
            quote! { rt.resumes(#number, &mut #steps)?; }
        } else {
            quote! { if rt.resumes(#number, &mut #steps)? { #restored } }
        })
    }

    /// At the end of a round: the checkpoint, if there is one now.
    pub(super) fn saves(&self, checkpoint: &CheckpointLoop, steps: &Ident) -> Result<TokenStream, BackendError> {
        let number = Literal::u32_unsuffixed(checkpoint.number);
        let mut saves = TokenStream::new();
        for saved in &checkpoint.content {
            let (ty, span, value) = match saved.what {
                SavedKind::Mutable(mutable) => {
                    let (info, variable) = (&self.function.mutables[mutable.0 as usize], &self.bindings.mutables[mutable.0 as usize]);
                    (info.ty, info.span, quote! { &#variable })
                }
                SavedKind::Value(value) => (self.ty(value), self.function.values[value.0 as usize].span, self.bindings.by_ref(value)?),
            };
            let (method, name) = (format_ident!("save_{}", word(&ty, span)?), &saved.name);
            saves.extend(quote! { rt.#method(#name, #value)?; });
        }
        Ok(quote! { if rt.checkpoint_due() { #saves rt.write_checkpoint(#number, &mut #steps)?; } })
    }

    /// At the end of a round: the variables, for who follows the run.
    pub(super) fn shows(&mut self, checkpoint: &CheckpointLoop) -> TokenStream {
        let mut shown = Vec::new();
        for (name, mutable) in checkpoint.variables().filter(|(_, mutable)| !self.fixed.contains(mutable)) {
            let (info, variable) = (&self.function.mutables[mutable.0 as usize], &self.bindings.mutables[mutable.0 as usize]);
            let variable = shown_variable(&info.ty, variable);
            shown.push(quote! { (#name, #variable) });
        }
        self.shows_variables |= !shown.is_empty();
        if shown.is_empty() {
            quote! { rt.round_is_over(&mut [])?; }
        } else {
            quote! { if rt.is_observed() { rt.round_is_over(&mut [#(#shown),*])?; } }
        }
    }

    /// Statements that are left out where the run goes on in a later loop; what they define comes
    /// from the checkpoint there.
    pub(super) fn skipped(
        &mut self,
        block: &Block,
        run: &Skipped,
        last: &BTreeMap<ValueId, usize>,
        scope: &mut Vec<ValueId>,
    ) -> Result<TokenStream, BackendError> {
        let checkpoints = self.program.checkpoints;
        let name_of = |what| checkpoints.name_of(what).unwrap_or_default();
        let stores = |mutable: MutableId| block.statements.iter().map(|statement| count_stores(statement, mutable)).sum::<usize>();
        let (mut declared, mut restored) = (TokenStream::new(), TokenStream::new());
        for &mutable in &run.mutables {
            let info = &self.function.mutables[mutable.0 as usize];
            let (variable, ty) = (self.bindings.mutables[mutable.0 as usize].clone(), self.owned_type(&info.ty, info.span)?);
            let once = stores(mutable) == 1;
            if once {
                self.fixed.insert(mutable);
            }
            let keyword = if once && !self.bindings.uses.is_exchanged(mutable) {
                quote! { let }
            } else {
                quote! { let mut }
            };
            declared.extend(quote! { #keyword #variable: #ty; });
            restored.extend(self.restored_variable(name_of(SavedKind::Mutable(mutable)), mutable)?);
            self.declared.insert(mutable);
        }
        let outer = self.declared.clone();
        let body = self.groups(block, run.statements.clone(), last, scope)?;
        // Variables that the run declared are gone after it.
        self.declared = outer;
        self.line = None;
        let inside = |value: &ValueId| block.statements[run.statements.clone()].iter().any(|statement| statement.defines().contains(value));
        scope.retain(|value| !inside(value) || run.values.contains(value));

        let (mut names, mut values, mut entities) = (Vec::new(), Vec::new(), TokenStream::new());
        for &value in &run.values {
            let name = name_of(SavedKind::Value(value));
            match self.bindings.binding(value)?.clone() {
                Binding::Local(local) => {
                    values.push(self.restored(name, &self.ty(value), self.function.values[value.0 as usize].span)?);
                    if let Some(elements) = &self.bindings.entities[value.0 as usize] {
                        entities.extend(quote! { let #elements = rt.entities(&#local)?; });
                    }
                    names.push(local);
                }
                Binding::Mutable(mutable) if !run.mutables.contains(&mutable) && stores(mutable) > 1 => {
                    restored.extend(self.restored_variable(name, mutable)?);
                }
                Binding::Mutable(_) | Binding::Param(_) | Binding::Text(_) => {}
            }
        }
        let number = Literal::u32_unsuffixed(run.before);
        let (pattern, of_file, of_run) = match (names.as_slice(), values.as_slice()) {
            ([], _) => (TokenStream::new(), TokenStream::new(), TokenStream::new()),
            ([name], [value]) => (quote! { let #name = }, quote! { #value }, quote! { #name }),
            _ => (quote! { let (#(#names),*) = }, quote! { (#(#values),*) }, quote! { (#(#names),*) }),
        };
        let end = (!names.is_empty()).then(|| quote! { ; });
        let choice = if restored.is_empty() && names.is_empty() {
            quote! { if !rt.skips_to(#number) { #body } }
        } else {
            quote! { #pattern if rt.skips_to(#number) { #restored #of_file } else { #body #of_run } #end }
        };
        let comment = comment(&format!("A checkpoint of loop {} or later has this.", run.before));
        Ok(quote! { #comment #declared #choice #entities })
    }

    fn restored_variable(&self, name: &str, mutable: MutableId) -> Result<TokenStream, BackendError> {
        let (info, variable) = (&self.function.mutables[mutable.0 as usize], &self.bindings.mutables[mutable.0 as usize]);
        let value = self.restored(name, &info.ty, info.span)?;
        Ok(quote! { #variable = #value; })
    }

    fn restored(&self, name: &str, ty: &Type, span: Span) -> Result<TokenStream, BackendError> {
        let method = format_ident!("restored_{}", word(ty, span)?);
        Ok(quote! { rt.#method(#name)? })
    }
}

/// A variable for who follows the run; those of other types by their names.
fn shown_variable(ty: &Type, variable: &Ident) -> TokenStream {
    match (ty.shape, ty.basic) {
        (Shape::Single, Basic::Scalar) => quote! { Variable::Scalar(&mut #variable) },
        (Shape::Single, Basic::Bool) => quote! { Variable::Bool(&mut #variable) },
        (Shape::Single, Basic::Vector) => quote! { Variable::Vector(&mut #variable) },
        (Shape::Collection(_), Basic::Scalar) => quote! { Variable::Collection(&mut #variable) },
        (Shape::Collection(_), Basic::Bool) => quote! { Variable::Bools(&mut #variable) },
        (Shape::Collection(_), Basic::Vector) => quote! { Variable::Vectors(&mut #variable) },
        (Shape::Sequence, _) => quote! { Variable::Other("a Sequence") },
        (Shape::Domain(_), _) => quote! { Variable::Other("a domain") },
        (Shape::Single | Shape::Collection(_), Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_)) => {
            quote! { Variable::Other("a collection of entities") }
        }
    }
}

/// The end of the methods for values of a type.
fn word(ty: &Type, span: Span) -> Result<&'static str, BackendError> {
    Ok(match (ty.shape, ty.basic) {
        (Shape::Single, Basic::Scalar) => "scalar",
        (Shape::Single, Basic::Bool) => "bool",
        (Shape::Single, Basic::Vector) => "vector",
        (Shape::Sequence, _) => "sequence",
        (Shape::Domain(_), _) => "domain",
        (Shape::Collection(_), Basic::Scalar) => "collection",
        (Shape::Collection(_), Basic::Vector) => "vectors",
        (Shape::Collection(_), Basic::Bool) => "bools",
        (Shape::Collection(_), Basic::Entity(_)) => "entities",
        (Shape::Single, Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_))
        | (Shape::Collection(_), Basic::Text | Basic::Table | Basic::Axis(_)) => {
            return Err(BackendError::internal(span, "a checkpoint with a value that does not exist at run time"));
        }
    })
}
