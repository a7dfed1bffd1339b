//! Imports: names of other texts.
//!
//! Each text has a scope of its own, which sees nothing of the program. It is checked once, where
//! the first import of it stands, and so its constants are computed there.

use std::collections::BTreeSet;

use crate::check::checker::{CALL_WEIGHT, Checker};
use crate::check::effects::effect;
use crate::check::scope::{Meaning, Role, ScopeId, ScopeKind, State, VariableEntry};
use crate::check::texts::TextState;
use crate::check::type_expr::is_mutable;
use crate::diagnostic::{Code, Diagnostic};
use crate::library;
use crate::source::{FileId, ImportError, Span};
use crate::syntax::ast::{self, Ident, ImportPath, StmtKind as Ast};
use crate::typed::captures::reads;
use crate::typed::{Stmt, StmtKind, VarId};

/// An import of a text.
struct Import<'c, 'a> {
    checker: &'c mut Checker<'a>,
    path: &'c ImportPath,
}

/// `Import "path" (names)`. The constants of a text that is imported for the first time are put
/// behind `out`.
pub(super) fn import<'a>(checker: &mut Checker<'a>, path: Option<&'a ImportPath>, names: &'a [Ident], span: Span, out: &mut Vec<Stmt>) {
    let is_outermost = checker.frames.is_empty() && checker.scopes.kind(checker.scopes.current) == ScopeKind::Main;
    let found = match path {
        Some(_) if !is_outermost => checker.fail(
            Diagnostic::new(Code::ImportInside, span, "an import cannot stand in a function or a loop")
                .hint("move it out, before the first statement that uses its names"),
        ),
        Some(path) => Import { checker: &mut *checker, path }.open(out),
        None => checker.reports.unknown(),
    };
    for name in names {
        let meaning = path.zip(found).and_then(|(path, (_, scope))| Import { checker: &mut *checker, path }.exported(name, scope));
        refuse_taken(checker, name);
        // Nothing is said about uses of a name that could not be imported.
        let unknown = VariableEntry { declared: None, mutable: false, role: Role::Local, state: State::Unknown, reported: true };
        let entry = checker.scopes.define(&name.name, name.span, meaning.unwrap_or(Meaning::Variable(unknown)));
        checker.scopes.entry_mut(entry).import = Some(found.map_or(FileId::MAIN, |(file, _)| file));
    }
}

impl Import<'_, '_> {
    /// The file that the path means, and its scope.
    fn open(&mut self, out: &mut Vec<Stmt>) -> Option<(FileId, ScopeId)> {
        let file = self.file()?;
        Some((file, self.scope(file, out)?))
    }

    fn file(&mut self) -> Option<FileId> {
        let known =
            self.checker.texts.sources.and_then(|sources| sources.file(self.checker.texts.current).import(&self.path.text).cloned());
        let error = match known.unwrap_or(Err(ImportError::NoFiles)) {
            Ok(file) => return Some(file),
            Err(error) => error,
        };
        let text = &self.path.text;
        let report = |message: String, hint: String| Diagnostic::new(Code::ImportNotFound, self.path.span, message).hint(hint);
        let diagnostic = match error {
            ImportError::NoLibrary => {
                let all: Vec<String> = library::names().map(|name| format!("`{name}`")).collect();
                let hint = match self.checker.reports.suggest(text, library::names()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there are {}", all.join(", ")),
                };
                report(format!("the compiler has no text `{text}`"), hint)
            }
            ImportError::FileInLibrary => report(
                format!("a text of the compiler cannot import the file `{text}`"),
                format!("import texts whose names begin with `{}`", library::PREFIX),
            ),
            ImportError::NoFiles => report(
                format!("the file `{text}` cannot be read: this program is not a file itself"),
                "save the program as a file, and compile that".into(),
            ),
            ImportError::Unreadable(why) => report(
                format!("the file `{text}` cannot be read: {why}"),
                "a path is relative to the folder of the file that imports".into(),
            ),
            ImportError::TooLong => report(
                format!("with `{text}`, the texts of this program are longer than {} bytes", crate::source::MAX_TEXT_LEN),
                "data belongs in input files".into(),
            ),
        };
        self.checker.fail(diagnostic)
    }

    /// The scope of a text, which is checked if that has not been done.
    fn scope(&mut self, file: FileId, out: &mut Vec<Stmt>) -> Option<ScopeId> {
        match self.checker.texts.states[file.0 as usize] {
            TextState::Checked(scope) => return Some(scope),
            TextState::Checking(since) => return self.circular(file, since),
            TextState::Unchecked => {}
        }
        let outer = (self.checker.scopes.enter(ScopeKind::Main, None, u32::MAX), std::mem::replace(&mut self.checker.texts.current, file));
        let scope = self.checker.scopes.current;
        self.checker.texts.states[file.0 as usize] = TextState::Checking(Some(self.path.span));
        let program = &self.checker.texts.programs[file.0 as usize];
        let statements = self.checker.nested(CALL_WEIGHT, self.path.span, |checker| {
            let mut constants = Vec::new();
            program.statements.iter().for_each(|stmt| imported_statement(checker, stmt, &mut constants));
            Some(constants)
        });
        (self.checker.scopes.current, self.checker.texts.current) = outer;
        self.checker.texts.states[file.0 as usize] = TextState::Checked(scope);
        out.extend(statements?);
        Some(scope)
    }

    fn circular<T>(&mut self, file: FileId, since: Option<Span>) -> Option<T> {
        let name = self.checker.texts.sources.map_or("", |sources| sources.file(file).name()).to_owned();
        let mut diagnostic = match since {
            None => Diagnostic::new(Code::CircularImport, self.path.span, format!("`{name}` is the program itself and cannot be imported")),
            Some(_) => {
                Diagnostic::new(Code::CircularImport, self.path.span, format!("`{name}` imports itself, directly or through others"))
            }
        };
        // The imports on the way from there to here.
        let mut way: Vec<Span> = self
            .checker
            .texts
            .states
            .iter()
            .filter_map(|state| match state {
                TextState::Checking(Some(span)) => Some(*span),
                TextState::Checking(None) | TextState::Unchecked | TextState::Checked(_) => None,
            })
            .collect();
        way.sort();
        for span in way {
            diagnostic = diagnostic.also(span, "imported here");
        }
        self.checker.fail(diagnostic.hint("move what both need to a text of its own"))
    }

    /// Returns the meaning of a text's name for those that import it.
    fn exported(&mut self, name: &Ident, scope: ScopeId) -> Option<Meaning> {
        let text = &self.path.text;
        let no = |message: String| Diagnostic::new(Code::UnknownImport, name.span, message);
        let Some(id) = self.checker.scopes.own(scope, &name.name) else {
            let diagnostic = no(format!("`{text}` has no function or constant `{}`", name.name));
            let near = self.checker.reports.suggest(&name.name, self.checker.scopes.own_names(scope));
            return self.checker.fail(match near {
                Some(near) => diagnostic.hint(format!("did you mean `{near}`?")),
                None => diagnostic.hint("names that functions of that text have inside cannot be imported"),
            });
        };
        let entry = self.checker.scopes.entry_mut(id);
        entry.used = true;
        let (place, import) = (entry.span, entry.import);
        if let Some(origin) = import {
            let from = self.checker.texts.sources.map_or("", |sources| sources.file(origin).name()).to_owned();
            return self.checker.fail(
                no(format!("`{text}` does not define `{}`, but imports it", name.name))
                    .also(place, "imported here")
                    .hint(format!("import it from `{from}`")),
            );
        }
        let has_value = match &entry.meaning {
            Meaning::Function(id) => self.checker.definitions.get(*id).defined.is_some(),
            Meaning::Variable(variable) => variable.state != State::Unassigned,
        };
        if !has_value {
            return self.checker.fail(
                no(format!("`{text}` declares `{}`, but does not define it", name.name))
                    .also(place, "declared here")
                    .hint("define it there"),
            );
        }
        Some(self.checker.scopes.entry(id).meaning.clone())
    }
}

/// A statement of a text that is imported.
fn imported_statement<'a>(checker: &mut Checker<'a>, stmt: &'a ast::Stmt, out: &mut Vec<Stmt>) {
    let (what, span) = match &stmt.kind {
        Ast::Declaration { ty, .. } | Ast::Assignment { ty: Some(ty), .. } if is_mutable(ty) => ("have a variable that changes", ty.span),
        Ast::Call(call) if matches!(&call.kind, ast::ExprKind::Call { callee, .. } if callee.name == "Output") => {
            ("write output", stmt.span)
        }
        Ast::Call(_) => ("have a statement that is a call", stmt.span),
        Ast::For { .. } | Ast::Conditional { .. } => ("have a loop", stmt.span),
        Ast::Declaration { .. }
        | Ast::Assignment { .. }
        | Ast::FunctionDeclaration { .. }
        | Ast::FunctionDefinition { .. }
        | Ast::StencilAssignment { .. }
        | Ast::Import { .. }
        | Ast::Return(_) => {
            let first = out.len();
            checker.statement(stmt, out);
            // An import gives constants of another text, which have been looked at.
            let own = out[first..].iter().find(|made| made.span == stmt.span);
            if let Some(Stmt { kind: StmtKind::Let { value, .. }, .. }) = own
                && let Some(what) = effect(value, &checker.tree.functions)
            {
                let diagnostic = Diagnostic::new(Code::ImportedEffect, stmt.span, format!("a text that is imported cannot {what}"));
                checker.report(diagnostic.hint("put it into a function, which the program calls; or pass the value to a function"));
            }
            return;
        }
    };
    let diagnostic = Diagnostic::new(Code::ImportedEffect, span, format!("a text that is imported cannot {what}"));
    checker.report(diagnostic.hint("it may have functions and constants; put this into a function, which the program calls"));
    if let Ast::Declaration { .. } | Ast::Assignment { .. } = stmt.kind {
        checker.statement(stmt, &mut Vec::new());
    }
}

fn refuse_taken(checker: &mut Checker<'_>, name: &Ident) {
    let Some(id) = checker.scopes.lookup(&name.name) else { return };
    let first = checker.scopes.entry(id).span;
    checker.reports.clashes.insert(name.name.clone());
    checker.report(
        Diagnostic::new(Code::Redeclaration, name.span, format!("`{}` has a meaning here already and cannot be imported", name.name))
            .also(first, format!("`{}` is first named here", name.name))
            .hint("rename it here: an imported name cannot be changed"),
    );
}

/// Drops the constants of imported texts that nothing reads.
pub(super) fn drop_unread_constants(checker: &mut Checker<'_>, main: Vec<Stmt>) -> Vec<Stmt> {
    if checker.texts.programs.len() < 2 {
        return main;
    }
    checker.tree.extend_captures();
    let mut read: BTreeSet<VarId> = checker.tree.captures.iter().flat_map(|captures| captures.reads.iter().copied()).collect();
    let mut kept = Vec::with_capacity(main.len());
    for statement in main.into_iter().rev() {
        if let StmtKind::Let { variable, .. } = &statement.kind
            && !checker.texts.is_own(statement.span)
            && !read.contains(variable)
        {
            continue;
        }
        read.extend(reads(std::slice::from_ref(&statement), &checker.tree.captures));
        kept.push(statement);
    }
    kept.reverse();
    kept
}
