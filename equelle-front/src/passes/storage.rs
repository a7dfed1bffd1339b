//! The user's choices for values: through memory, or computed by whatever reads them.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::nearest;
use crate::ir::location::Owner;
use crate::ir::{Block, Function, FunctionId, Module, StmtKind, Storage, StorageRequests, ValueId};
use crate::source::Span;
use crate::types::{Basic, Shape};

/// Reason why a request cannot be met.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The line of a variant explains its fields.
pub enum StorageError {
    /// No collection has the name; `nearest` is one that is like it.
    Unknown { storage: Storage, name: String, nearest: Option<String> },
    /// The same value is to be stored and computed where it is read.
    Both { name: String },
}

impl StorageRequests {
    /// Notes them at the values of a module, before its passes.
    ///
    /// # Errors
    /// For the first name that no collection of the program has, or that is in both lists.
    pub fn note(&self, module: &mut Module) -> Result<(), StorageError> {
        let named = named(module);
        let wanted = [(Storage::Inlined, &self.inline), (Storage::Stored, &self.store)];
        for (storage, name) in wanted.into_iter().flat_map(|(storage, names)| names.iter().map(move |name| (storage, name))) {
            let Some(values) = named.get(name) else {
                let nearest = nearest(name, named.keys().map(String::as_str)).map(str::to_owned);
                return Err(StorageError::Unknown { storage, name: name.clone(), nearest });
            };
            for &(owner, value) in values {
                let function = match owner {
                    Owner::Function(id) => &mut module.functions[id.0 as usize],
                    Owner::Main => &mut module.main,
                };
                let noted = &mut function.values[value.0 as usize].storage;
                if noted.is_some_and(|noted| noted != storage) {
                    return Err(StorageError::Both { name: name.clone() });
                }
                *noted = Some(storage);
            }
        }
        module.storage = self.clone();
        Ok(())
    }

    /// `store rates.divu, inline gx`; empty without any.
    pub fn text(&self) -> String {
        let words = |storage: Storage, names: &[String]| names.iter().map(|name| format!("{} {name}", storage.word())).collect::<Vec<_>>();
        [words(Storage::Stored, &self.store), words(Storage::Inlined, &self.inline)].concat().join(", ")
    }
}

/// Values by the names that users may give.
type Named = BTreeMap<String, Vec<(Owner, ValueId)>>;

fn named(module: &Module) -> Named {
    // Instances of a function have its span, and the first of them its name.
    let mut functions: BTreeMap<Span, &str> = BTreeMap::new();
    let mut named = Named::new();
    for (id, function) in (0..).map(FunctionId).zip(&module.functions) {
        let name = *functions.entry(function.span).or_insert(&function.name);
        note(&mut named, Owner::Function(id), function, Some(name));
    }
    note(&mut named, Owner::Main, &module.main, None);
    named
}

fn note(named: &mut Named, owner: Owner, function: &Function, function_name: Option<&str>) {
    let mut made = BTreeSet::new();
    results(&function.body, &mut made);
    for value in made {
        let info = &function.values[value.0 as usize];
        let is_number = matches!(info.ty.basic, Basic::Scalar | Basic::Vector | Basic::Bool);
        if info.name.is_empty() || !is_number || !matches!(info.ty.shape, Shape::Collection(_)) {
            continue;
        }
        let mut add = |name: &str| {
            let name = function_name.map_or_else(|| name.to_owned(), |function| format!("{function}.{name}"));
            named.entry(name).or_default().push((owner, value));
        };
        add(&info.name);
        info.array.iter().for_each(|array| add(array));
    }
}

/// Values that operations make.
fn results(block: &Block, made: &mut BTreeSet<ValueId>) {
    for statement in &block.statements {
        match &statement.kind {
            StmtKind::Let { results, .. } | StmtKind::Launch { results, .. } => made.extend(results),
            StmtKind::For { body, .. } => self::results(body, made),
            StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Return(_) => {}
        }
    }
}
