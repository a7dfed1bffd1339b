//! Lexical scopes: the main program, imported texts, function instances, loop bodies.
//!
//! Entries are numbered in the order they come into being. A function remembers how many there were
//! at its definition (its *horizon*); looking outwards from its body, only entries below the
//! horizon are seen. So a local of the body may bear the name of an outer variable that comes
//! later.

use std::collections::HashMap;

use crate::source::{FileId, Span};
use crate::typed::VarId;
use crate::types::{Basic, SetId};

/// Index of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ScopeId(u32);

/// Index of an entry, in order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct EntryId(pub u32);

/// Index of a function definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct DefinitionId(pub u32);

/// Kinds of scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScopeKind {
    /// The program, or a text that it imports.
    Main,
    Function,
    Loop,
}

struct Scope<'a> {
    kind: ScopeKind,
    parent: Option<ScopeId>,
    /// Entries from here on are not seen by this scope and those within when looking outwards.
    horizon: u32,
    names: HashMap<&'a str, EntryId>,
}

/// A name and what it means.
pub(super) struct Entry<'a> {
    pub name: &'a str,
    pub span: Span,
    pub scope: ScopeId,
    pub meaning: Meaning,
    /// True if its value has been asked for.
    pub used: bool,
    /// The text that it was imported from.
    pub import: Option<FileId>,
}

/// Meaning of a name.
#[derive(Clone)]
pub(super) enum Meaning {
    Variable(VariableEntry),
    Function(DefinitionId),
}

/// A declared type.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Declared {
    pub mutable: bool,
    /// Number of elements of an array.
    pub array: Option<u32>,
    pub basic: Basic,
    pub kind: DeclaredKind,
    /// `Stencil`: zero beyond the grid.
    pub stencil: bool,
    /// Its span.
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DeclaredKind {
    Single,
    Sequence,
    /// Anywhere.
    Collection,
    /// `On` a set.
    On(DeclaredSet),
    /// `Subset Of` a set.
    SubsetOf(DeclaredSet),
}

/// A set in a declared type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DeclaredSet {
    Set(SetId),
    /// The set of a variable that was not yet assigned when the type was written.
    Postponed(EntryId),
}

#[derive(Clone)]
pub(super) struct VariableEntry {
    pub declared: Option<Declared>,
    pub mutable: bool,
    pub role: Role,
    pub state: State,
    /// Something about it has been reported: its use before assignment, a second assignment, or
    /// that its name was taken.
    pub reported: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Local,
    Parameter,
    LoopVariable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Declared only.
    Unassigned,
    Assigned(VarId),
    /// Assigned something that was reported, or depends on it.
    Unknown,
}

/// All scopes and entries. Scopes are kept after their end: functions defined in them may still be
/// checked.
pub(super) struct Scopes<'a> {
    /// The scope being checked.
    pub current: ScopeId,
    scopes: Vec<Scope<'a>>,
    entries: Vec<Entry<'a>>,
}

impl<'a> Scopes<'a> {
    pub fn new() -> Self {
        let main = Scope { kind: ScopeKind::Main, parent: None, horizon: u32::MAX, names: HashMap::new() };
        Scopes { current: ScopeId(0), scopes: vec![main], entries: Vec::new() }
    }

    /// Number of entries so far: the horizon of a function defined now.
    pub fn horizon(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Enters a new scope within `parent`; an imported text has none. Returns the one that is left.
    pub fn enter(&mut self, kind: ScopeKind, parent: Option<ScopeId>, horizon: u32) -> ScopeId {
        self.scopes.push(Scope { kind, parent, horizon, names: HashMap::new() });
        std::mem::replace(&mut self.current, ScopeId(self.scopes.len() as u32 - 1))
    }

    /// Returns the kind of a scope.
    pub fn kind(&self, scope: ScopeId) -> ScopeKind {
        self.scopes[scope.0 as usize].kind
    }

    /// Returns the entry of `name` in a scope itself.
    pub fn own(&self, scope: ScopeId, name: &str) -> Option<EntryId> {
        self.scopes[scope.0 as usize].names.get(name).copied()
    }

    /// The names of a scope itself that it has not imported.
    pub fn own_names(&self, scope: ScopeId) -> impl Iterator<Item = &'a str> {
        self.entries.iter().filter(move |entry| entry.scope == scope && entry.import.is_none()).map(|entry| entry.name)
    }

    /// A new entry. One of the same name in the same scope is hidden by it; callers report that
    /// first.
    pub fn define(&mut self, name: &'a str, span: Span, meaning: Meaning) -> EntryId {
        let (id, scope) = (EntryId(self.entries.len() as u32), self.current);
        self.entries.push(Entry { name, span, scope, meaning, used: false, import: None });
        self.scopes[scope.0 as usize].names.insert(name, id);
        id
    }

    pub fn set_state(&mut self, id: EntryId, state: State) {
        if let Meaning::Variable(variable) = &mut self.entry_mut(id).meaning {
            variable.state = state;
        }
    }

    pub fn entry(&self, id: EntryId) -> &Entry<'a> {
        &self.entries[id.0 as usize]
    }

    pub fn entry_mut(&mut self, id: EntryId) -> &mut Entry<'a> {
        &mut self.entries[id.0 as usize]
    }

    pub fn entries(&self) -> impl Iterator<Item = &Entry<'a>> {
        self.entries.iter()
    }

    /// Returns the entry that `name` refers to.
    pub fn lookup(&self, name: &str) -> Option<EntryId> {
        self.visible().find_map(|(scope, limit)| scope.names.get(name).copied().filter(|id| id.0 < limit))
    }

    /// Returns the entry of `name` in an enclosing scope that comes too late to be seen.
    pub fn defined_later(&self, name: &str) -> Option<EntryId> {
        self.visible().find_map(|(scope, limit)| scope.names.get(name).copied().filter(|id| id.0 >= limit))
    }

    /// Every entry that can be seen.
    pub fn visible_entries(&self) -> impl Iterator<Item = &Entry<'a>> {
        // The order of a hash map must not matter to callers; they take a minimum.
        #[allow(clippy::iter_over_hash_type)]
        self.visible().flat_map(move |(scope, limit)| scope.names.values().filter(move |id| id.0 < limit).map(|&id| self.entry(id)))
    }

    /// The innermost function or loop that is left on the way out to `to`.
    pub fn boundary(&self, to: ScopeId) -> Option<ScopeKind> {
        (self.current != to).then(|| self.kind(self.current))
    }

    fn visible(&self) -> impl Iterator<Item = (&Scope<'a>, u32)> {
        let mut next = Some(self.current);
        let mut limit = u32::MAX;
        std::iter::from_fn(move || {
            let scope = &self.scopes[next?.0 as usize];
            let seen = limit;
            limit = limit.min(scope.horizon);
            next = scope.parent;
            Some((scope, seen))
        })
    }
}
