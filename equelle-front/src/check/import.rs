//! Imports: names of other texts.
//!
//! Each text has a scope of its own, which sees nothing of the program. It is checked once, where
//! the first import of it stands, and so its constants are computed there.

use std::collections::BTreeSet;

use crate::check::checker::{CALL_WEIGHT, Checker};
use crate::check::effects::effect;
use crate::check::scope::{Meaning, Role, ScopeId, ScopeKind, State, VariableEntry};
use crate::check::statement::is_mutable;
use crate::check::texts::TextState;
use crate::diagnostic::{Code, Diagnostic};
use crate::library;
use crate::source::{FileId, ImportError, Span};
use crate::syntax::ast::{self, Ident, ImportPath, StmtKind as Ast};
use crate::typed::captures::reads;
use crate::typed::{Stmt, StmtKind, VarId};

impl<'a> Checker<'a> {
    /// `Import "path" (names)`. The constants of a text that is imported for the first time are put
    /// behind `out`.
    pub fn import(&mut self, path: Option<&'a ImportPath>, names: &'a [Ident], span: Span, out: &mut Vec<Stmt>) {
        let is_outermost = self.frames.is_empty() && self.scopes.kind(self.scope) == ScopeKind::Main;
        let found = match path {
            Some(_) if !is_outermost => self.fail(
                Diagnostic::new(Code::ImportInside, span, "an import cannot stand in a function or a loop")
                    .hint("move it out, before the first statement that uses its names"),
            ),
            Some(path) => self.imported_file(path).and_then(|file| Some((file, self.imported_scope(file, path, out)?))),
            None => self.unknown(),
        };
        for name in names {
            let meaning = found.and_then(|(_, scope)| self.exported(name, scope, path));
            self.refuse_taken(name);
            // Nothing is said about uses of a name that could not be imported.
            let unknown = VariableEntry { declared: None, mutable: false, role: Role::Local, state: State::Unknown, reported: true };
            let entry = self.scopes.define(self.scope, &name.name, name.span, meaning.unwrap_or(Meaning::Variable(unknown)));
            self.scopes.entry_mut(entry).import = Some(found.map_or(FileId::MAIN, |(file, _)| file));
        }
    }

    fn imported_file(&mut self, path: &ImportPath) -> Option<FileId> {
        let known = self.texts.sources.and_then(|sources| sources.file(self.texts.current).import(&path.text).cloned());
        let error = match known.unwrap_or(Err(ImportError::NoFiles)) {
            Ok(file) => return Some(file),
            Err(error) => error,
        };
        let text = &path.text;
        let report = |message: String, hint: String| Diagnostic::new(Code::ImportNotFound, path.span, message).hint(hint);
        let diagnostic = match error {
            ImportError::NoLibrary => {
                let all: Vec<String> = library::names().map(|name| format!("`{name}`")).collect();
                let hint = match self.suggest(text, library::names()) {
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
        self.fail(diagnostic)
    }

    /// The scope of a text, which is checked if that has not been done.
    fn imported_scope(&mut self, file: FileId, path: &ImportPath, out: &mut Vec<Stmt>) -> Option<ScopeId> {
        match self.texts.states[file.0 as usize] {
            TextState::Checked(scope) => return Some(scope),
            TextState::Checking(since) => return self.circular(file, since, path),
            TextState::Unchecked => {}
        }
        let scope = self.scopes.open_text();
        let outer = (std::mem::replace(&mut self.scope, scope), std::mem::replace(&mut self.texts.current, file));
        self.texts.states[file.0 as usize] = TextState::Checking(Some(path.span));
        let program = &self.texts.programs[file.0 as usize];
        let statements = self.nested(CALL_WEIGHT, path.span, |this| {
            let mut constants = Vec::new();
            program.statements.iter().for_each(|stmt| this.imported_statement(stmt, &mut constants));
            Some(constants)
        });
        (self.scope, self.texts.current) = outer;
        self.texts.states[file.0 as usize] = TextState::Checked(scope);
        out.extend(statements?);
        Some(scope)
    }

    fn circular<T>(&mut self, file: FileId, since: Option<Span>, path: &ImportPath) -> Option<T> {
        let name = self.texts.sources.map_or("", |sources| sources.file(file).name()).to_owned();
        let mut diagnostic = match since {
            None => Diagnostic::new(Code::CircularImport, path.span, format!("`{name}` is the program itself and cannot be imported")),
            Some(_) => Diagnostic::new(Code::CircularImport, path.span, format!("`{name}` imports itself, directly or through others")),
        };
        // The imports on the way from there to here.
        let mut way: Vec<Span> = self
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
        self.fail(diagnostic.hint("move what both need to a text of its own"))
    }

    /// A statement of a text that is imported.
    fn imported_statement(&mut self, stmt: &'a ast::Stmt, out: &mut Vec<Stmt>) {
        let (what, span) = match &stmt.kind {
            Ast::Declaration { ty, .. } | Ast::Assignment { ty: Some(ty), .. } if is_mutable(ty) => {
                ("have a variable that changes", ty.span)
            }
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
                self.statement(stmt, out);
                // An import gives constants of another text, which have been looked at.
                let own = out[first..].iter().find(|made| made.span == stmt.span);
                if let Some(Stmt { kind: StmtKind::Let { value, .. }, .. }) = own
                    && let Some(what) = effect(value, &self.functions)
                {
                    let diagnostic = Diagnostic::new(Code::ImportedEffect, stmt.span, format!("a text that is imported cannot {what}"));
                    self.report(diagnostic.hint("put it into a function, which the program calls; or pass the value to a function"));
                }
                return;
            }
        };
        let diagnostic = Diagnostic::new(Code::ImportedEffect, span, format!("a text that is imported cannot {what}"));
        self.report(diagnostic.hint("it may have functions and constants; put this into a function, which the program calls"));
        if let Ast::Declaration { .. } | Ast::Assignment { .. } = stmt.kind {
            self.statement(stmt, &mut Vec::new());
        }
    }

    /// Returns the meaning of a text's name for those that import it.
    fn exported(&mut self, name: &Ident, scope: ScopeId, path: Option<&ImportPath>) -> Option<Meaning> {
        let text = path.map_or("", |path| path.text.as_str());
        let no = |message: String| Diagnostic::new(Code::UnknownImport, name.span, message);
        let Some(id) = self.scopes.own(scope, &name.name) else {
            let all: Vec<&'a str> = self.scopes.own_names(scope).collect();
            let diagnostic = no(format!("`{text}` has no function or constant `{}`", name.name));
            let near = self.suggest(&name.name, all);
            return self.fail(match near {
                Some(near) => diagnostic.hint(format!("did you mean `{near}`?")),
                None => diagnostic.hint("names that functions of that text have inside cannot be imported"),
            });
        };
        let entry = self.scopes.entry_mut(id);
        entry.used = true;
        let (place, import) = (entry.span, entry.import);
        if let Some(origin) = import {
            let from = self.texts.sources.map_or("", |sources| sources.file(origin).name()).to_owned();
            return self.fail(
                no(format!("`{text}` does not define `{}`, but imports it", name.name))
                    .also(place, "imported here")
                    .hint(format!("import it from `{from}`")),
            );
        }
        let has_value = match &entry.meaning {
            Meaning::Function(id) => self.definitions[id.0 as usize].defined.is_some(),
            Meaning::Variable(variable) => variable.state != State::Unassigned,
        };
        if !has_value {
            return self.fail(
                no(format!("`{text}` declares `{}`, but does not define it", name.name))
                    .also(place, "declared here")
                    .hint("define it there"),
            );
        }
        Some(self.scopes.entry(id).meaning.clone())
    }

    fn refuse_taken(&mut self, name: &Ident) {
        let Some(id) = self.scopes.lookup(&name.name, self.scope) else { return };
        let first = self.scopes.entry(id).span;
        self.clashes.insert(name.name.clone());
        self.report(
            Diagnostic::new(Code::Redeclaration, name.span, format!("`{}` has a meaning here already and cannot be imported", name.name))
                .also(first, format!("`{}` is first named here", name.name))
                .hint("rename it here: an imported name cannot be changed"),
        );
    }

    /// Drops the constants of imported texts that nothing reads.
    pub fn drop_unread_constants(&mut self, main: Vec<Stmt>) -> Vec<Stmt> {
        if self.texts.programs.len() < 2 {
            return main;
        }
        self.extend_captures();
        let mut read: BTreeSet<VarId> = self.captures.iter().flat_map(|captures| captures.reads.iter().copied()).collect();
        let mut kept = Vec::with_capacity(main.len());
        for statement in main.into_iter().rev() {
            if let StmtKind::Let { variable, .. } = &statement.kind
                && !self.texts.is_own(statement.span)
                && !read.contains(variable)
            {
                continue;
            }
            read.extend(reads(std::slice::from_ref(&statement), &self.captures));
            kept.push(statement);
        }
        kept.reverse();
        kept
    }
}
