//! Names of the values and mutables of a function, and how they are written.

use std::collections::{BTreeMap, BTreeSet};

use equelle_front::backend::{BackendError, Namer};
use equelle_front::ir::{Function, MutableId, ValueId};
use equelle_front::types::Shape;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};

use super::super::rust::ident;
use super::uses::Uses;

/// Form of a value in the generated text.
#[derive(Clone, Debug)]
pub(super) enum Binding {
    /// A local that owns it.
    Local(Ident),
    /// A parameter: a reference.
    Param(Ident),
    /// A mutable that holds it as long as it is needed.
    Mutable(MutableId),
    /// Text known at compile time.
    Text(String),
}

/// Forms of the values of a function.
pub(super) struct Bindings<'a> {
    function: &'a Function,
    pub uses: Uses,
    names: Namer,
    forms: Vec<Option<Binding>>,
    pub mutables: Vec<Ident>,
    /// Entity collections of domains that are used as such.
    pub entities: Vec<Option<Ident>>,
    /// Number of loops around the current statement.
    pub depth: usize,
    /// Loop depth at which each value was defined.
    depths: Vec<usize>,
    /// Values whose only handle has been given away.
    moved: BTreeSet<ValueId>,
    /// Names given before their definition is written, so that temporaries of the same statement do
    /// not take them.
    prenamed: BTreeMap<ValueId, Ident>,
}

impl<'a> Bindings<'a> {
    pub(super) fn new(mut names: Namer, function: &'a Function) -> Self {
        let mutables = function.mutables.iter().map(|m| ident(&names.fresh(&m.name))).collect();
        Bindings {
            function,
            uses: Uses::of(function),
            names,
            forms: vec![None; function.values.len()],
            mutables,
            entities: vec![None; function.values.len()],
            depth: 0,
            depths: vec![0; function.values.len()],
            moved: BTreeSet::new(),
            prenamed: BTreeMap::new(),
        }
    }

    /// The value is written in this form.
    pub(super) fn set(&mut self, value: ValueId, form: Binding) {
        self.forms[value.0 as usize] = Some(form);
    }

    /// A new local for a value: its own name, or one that says how it came about.
    pub(super) fn define(&mut self, value: ValueId, otherwise: &str) -> Ident {
        let own = &self.function.values[value.0 as usize].name;
        let name = match self.prenamed.remove(&value) {
            Some(name) => name,
            None => self.fresh_for(value, if own.is_empty() { otherwise } else { own }),
        };
        self.set(value, Binding::Local(name.clone()));
        self.depths[value.0 as usize] = self.depth;
        name
    }

    /// Gives a value the user's name for it before its definition is written.
    pub(super) fn name_ahead(&mut self, value: ValueId) {
        let own = &self.function.values[value.0 as usize].name;
        if !own.is_empty() && self.forms[value.0 as usize].is_none() {
            let name = self.fresh_for(value, own);
            self.prenamed.insert(value, name);
        }
    }

    /// The names in use.
    pub(super) fn names(&self) -> Namer {
        self.names.clone()
    }

    /// Forgets the names given since `names` was taken, but those of these values.
    pub(super) fn forget_names_since(&mut self, names: Namer, kept: &[ValueId]) {
        self.names = names;
        for value in kept {
            if let Some(Binding::Local(name)) = &self.forms[value.0 as usize] {
                self.names.reserve([name.to_string()]);
            }
            if let Some(name) = &self.entities[value.0 as usize] {
                self.names.reserve([name.to_string()]);
            }
        }
    }

    /// A new name for a value, with an underscore if nothing reads it.
    pub(super) fn fresh_for(&mut self, value: ValueId, wanted: &str) -> Ident {
        let name = self.names.fresh(wanted);
        let is_unused = self.uses.count[value.0 as usize] == 0 && !name.starts_with('_');
        ident(&if is_unused { format!("_{name}") } else { name })
    }

    /// A new name for something that is no value.
    pub(super) fn fresh(&mut self, wanted: &str) -> Ident {
        ident(&self.names.fresh(wanted))
    }

    pub(super) fn binding(&self, value: ValueId) -> Result<&Binding, BackendError> {
        self.forms.get(value.0 as usize).and_then(Option::as_ref).ok_or_else(|| {
            let span = self.function.values.get(value.0 as usize).map_or(self.function.span, |v| v.span);
            BackendError::internal(span, format!("value {} of `{}` is used before it is defined", value.0, self.function.name))
        })
    }

    /// An expression of reference type, `&u`; for a domain, the domain.
    pub(super) fn by_ref(&self, value: ValueId) -> Result<TokenStream, BackendError> {
        Ok(match self.binding(value)? {
            Binding::Local(name) => quote! { &#name },
            Binding::Param(name) => name.to_token_stream(),
            Binding::Mutable(mutable) => {
                let name = &self.mutables[mutable.0 as usize];
                quote! { &#name }
            }
            Binding::Text(text) => text.to_token_stream(),
        })
    }

    /// True if a local may be moved: this is its only use and runs once per definition.
    pub(super) fn may_move(&self, value: ValueId) -> bool {
        self.uses.count[value.0 as usize] == 1 && self.depths[value.0 as usize] == self.depth
    }

    /// The value itself, which nothing reads afterwards: see `equelle_front::ir::liveness`.
    pub(super) fn given_away(&mut self, value: ValueId) -> Result<TokenStream, BackendError> {
        Ok(match self.binding(value)? {
            Binding::Local(name) => {
                let name = name.to_token_stream();
                self.moved.insert(value);
                name
            }
            // Until it is assigned anew the mutable holds nothing.
            Binding::Mutable(mutable) => self.mutables[mutable.0 as usize].to_token_stream(),
            Binding::Param(name) => quote! { #name.clone() },
            Binding::Text(_) => return Err(BackendError::internal(self.function.span, "a text that a result takes the memory of")),
        })
    }

    /// The local that owns a collection, unless it has been given away.
    pub(super) fn local_collection(&self, value: ValueId) -> Option<Ident> {
        let collection = matches!(self.function.values[value.0 as usize].ty.shape, Shape::Collection(_));
        match &self.forms[value.0 as usize] {
            Some(Binding::Local(name)) if collection && !self.moved.contains(&value) => Some(name.clone()),
            _ => None,
        }
    }
}
