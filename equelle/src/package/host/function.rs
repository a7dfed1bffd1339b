//! One function: signature, names and how values are written.

use std::collections::BTreeSet;

use equelle_front::backend::{BackendError, Handle};
use equelle_front::ir::{Function, MutableId, Op, OpClass, StmtKind, ValueId};
use equelle_front::source::Span;
use equelle_front::state::{self, Checked};
use equelle_front::types::{Basic, Shape, Type};
use proc_macro2::TokenStream;
use quote::quote;

use super::super::kernels::type_text;
use super::super::rust::{blank, comment, ident};
use super::super::source::place;
use super::bindings::{Binding, Bindings};
use super::program::Program;

/// Writes one function.
pub(super) struct FunctionWriter<'a> {
    pub program: &'a Program<'a>,
    pub function: &'a Function,
    pub bindings: Bindings<'a>,
    /// Mutables that have been declared.
    pub declared: BTreeSet<MutableId>,
    /// Mutables that are assigned once, and so are no variables to Rust.
    pub fixed: BTreeSet<MutableId>,
    /// True if a loop shows variables to who follows the run.
    pub shows_variables: bool,
    /// Statements that come first in the group in progress.
    pub group: TokenStream,
    /// Line last given to the runtime; `None` where control flow joins.
    pub line: Option<u32>,
    /// Line of the statement in progress, if it is known.
    statement_line: Option<u32>,
    /// The group written last has its temporaries in a block of its own.
    pub closed: bool,
}

impl<'a> FunctionWriter<'a> {
    pub(super) fn new(program: &'a Program<'a>, function: &'a Function) -> Self {
        let mut bindings = Bindings::new(program.globals.clone(), function);
        if std::ptr::eq(function, &program.module.main) {
            bindings.uses.add_checkpoints(program.checkpoints);
        }
        FunctionWriter {
            program,
            function,
            bindings,
            declared: BTreeSet::new(),
            fixed: BTreeSet::new(),
            shows_variables: false,
            group: TokenStream::new(),
            line: None,
            statement_line: None,
            closed: false,
        }
    }

    /// `pub fn simulate`, and true if it shows variables to who follows the run.
    pub(super) fn main(mut self) -> Result<(TokenStream, bool), BackendError> {
        let bound = &self.program.bound;
        let checkpoint = (!self.program.checkpoints.loops.is_empty()).then(|| quote! { + Checkpoint });
        let body = self.block(&self.function.body)?;
        let checks = self.state_checks(&state::at_end(self.function))?;
        let checks = (!checks.is_empty()).then(|| {
            // A loop ends with a blank line.
            let after_loop = matches!(self.function.body.statements.last().map(|last| &last.kind), Some(StmtKind::For { .. }));
            let (blank, comment) = ((!after_loop).then(blank), comment("The state at the end is finite."));
            quote! { #blank #comment #checks }
        });
        let plan = self.program.planned.then(|| quote! { rt.plan_memory(memory())?; });
        let lines = self.program.module.choice_lines();
        let choices = (!lines.is_empty()).then(|| quote! { rt.choices(&[#(#lines),*]); });
        let function = quote! {
            /// Runs the program.
            ///
            /// # Errors
            /// Those of the simulation, of its input and of the back-end, with the Equelle line.
            pub fn simulate<R: #bound #checkpoint>(rt: &mut R) -> Result<(), Error> {
                #plan
                #choices
                #body
                #checks
                rt.finish()
            }
        };
        Ok((function, self.shows_variables))
    }

    /// `rt.check("u", &u)?`, each with the line of the assignment.
    pub(super) fn state_checks(&self, checked: &[Checked]) -> Result<TokenStream, BackendError> {
        let source = &self.program.module.source;
        let mut out = TokenStream::new();
        for Checked { mutable, assignment } in checked {
            let info = &self.function.mutables[mutable.0 as usize];
            let is_of_numbers =
                matches!(info.ty.shape, Shape::Single | Shape::Collection(_)) && matches!(info.ty.basic, Basic::Scalar | Basic::Vector);
            if !is_of_numbers {
                return Err(BackendError::internal(info.span, "a check of a variable that holds no numbers"));
            }
            if !source.text().is_empty() {
                let line = proc_macro2::Literal::u32_unsuffixed(source.line(assignment.start));
                out.extend(quote! { rt.line(#line); });
            }
            let (name, variable) = (&info.name, &self.bindings.mutables[mutable.0 as usize]);
            out.extend(quote! { rt.check(#name, &#variable)?; });
        }
        Ok(out)
    }

    /// The Rust function of a function instance.
    pub(super) fn item(mut self, name: &str) -> Result<TokenStream, BackendError> {
        let mut params = TokenStream::new();
        for &param in &self.function.params {
            let value = &self.function.values[param.0 as usize];
            let wanted = if value.name.is_empty() { "argument" } else { &value.name };
            let name = self.bindings.fresh_for(param, wanted);
            let ty = self.borrowed_type(&value.ty, value.span)?;
            params.extend(quote! { , #name: #ty });
            self.bindings.set(param, Binding::Param(name));
        }
        let mut body = TokenStream::new();
        for &param in &self.function.params {
            body.extend(self.entities_of_definition(param)?);
        }
        body.extend(self.block(&self.function.body)?);
        let results =
            self.function.results.iter().map(|ty| self.owned_type(ty, self.function.span)).collect::<Result<Vec<_>, BackendError>>()?;
        let result = match results.as_slice() {
            [one] => one.clone(),
            many => quote! { (#(#many),*) },
        };
        if self.function.results.is_empty() {
            body.extend(quote! { Ok(()) });
        }
        let docs = self.docs();
        let bound = &self.program.bound;
        let name = ident(name);
        // A user's function takes as many arguments as it takes.
        let allow = (self.function.params.len() > 6).then(|| quote! { #[allow(clippy::too_many_arguments)] });
        let blank = blank();
        Ok(quote! {
            #blank
            #(#[doc = #docs])*
            #allow
            fn #name<R: #bound>(rt: &mut R #params) -> Result<#result, Error> { #body }
        })
    }

    fn docs(&self) -> Vec<String> {
        let source = &self.program.module.source;
        let mut docs = Vec::new();
        if !source.text().is_empty() {
            let line = source.line(self.function.span.start);
            docs.push(format!(" {}: `{}`", place(self.program.module, line), source.line_text(line).trim().replace('`', "'")));
            docs.push(String::new());
        }
        let sets = &self.program.module.sets;
        let types: Vec<String> = self.function.results.iter().map(|ty| type_text(sets, ty)).collect();
        docs.push(if types.is_empty() { " Gives nothing.".to_owned() } else { format!(" Gives {}.", types.join("; ")) });
        docs
    }

    fn handle(&self, ty: &Type, span: Span) -> Result<Handle, BackendError> {
        Handle::of(ty).ok_or_else(|| BackendError::internal(span, format!("values of type {ty:?} do not exist at run time")))
    }

    /// Type of a local or result: `R::Scalar`.
    pub(super) fn owned_type(&self, ty: &Type, span: Span) -> Result<TokenStream, BackendError> {
        if *ty == Type::TEXT {
            return Ok(quote! { String });
        }
        let handle = ident(self.handle(ty, span)?.name());
        Ok(quote! { R::#handle })
    }

    fn borrowed_type(&self, ty: &Type, span: Span) -> Result<TokenStream, BackendError> {
        if ty.basic == Basic::Text {
            return Ok(quote! { &str });
        }
        let ty = self.owned_type(ty, span)?;
        Ok(quote! { &#ty })
    }

    /// Type of a value.
    pub(super) fn ty(&self, value: ValueId) -> Type {
        self.function.values[value.0 as usize].ty
    }

    /// The same as an entity collection: a domain gives its elements.
    pub(super) fn by_entities(&mut self, value: ValueId) -> Result<TokenStream, BackendError> {
        if !self.ty(value).is_domain() {
            return self.bindings.by_ref(value);
        }
        if let Some(name) = &self.bindings.entities[value.0 as usize] {
            return Ok(quote! { &#name });
        }
        // The elements of what a mutable holds now.
        let domain = self.bindings.by_ref(value)?;
        let name = self.bindings.fresh(&format!("{}_entities", self.function.values[value.0 as usize].name));
        self.group.extend(quote! { let #name = rt.entities(#domain)?; });
        Ok(quote! { &#name })
    }

    /// Where something of type `expected` is wanted: a domain gives its elements to who wants a
    /// collection.
    pub(super) fn by_ref_as(&mut self, value: ValueId, expected: &Type) -> Result<TokenStream, BackendError> {
        if expected.is_domain() { self.bindings.by_ref(value) } else { self.by_entities(value) }
    }

    /// An expression that owns the value: moved if this is its only use and runs once per
    /// definition, else a cheap clone.
    pub(super) fn owned_as(&mut self, value: ValueId, expected: &Type) -> Result<TokenStream, BackendError> {
        if self.ty(value).is_domain() && !expected.is_domain() {
            let entities = self.by_entities(value)?;
            return Ok(quote! { (#entities).clone() });
        }
        Ok(match self.bindings.binding(value)? {
            Binding::Local(_) if self.bindings.may_move(value) => self.bindings.given_away(value)?,
            // A parameter of text is a `&str`.
            Binding::Param(name) if self.ty(value) == Type::TEXT => quote! { #name.to_owned() },
            Binding::Local(name) | Binding::Param(name) => quote! { #name.clone() },
            Binding::Mutable(mutable) => {
                let name = &self.bindings.mutables[mutable.0 as usize];
                quote! { #name.clone() }
            }
            Binding::Text(text) => quote! { #text.to_owned() },
        })
    }

    /// After the definition of a domain that is used as a collection: its elements, under a name of
    /// their own.
    pub(super) fn entities_of_definition(&mut self, value: ValueId) -> Result<TokenStream, BackendError> {
        if !self.ty(value).is_domain() || !self.used_as_entities(value, &self.function.body) {
            return Ok(TokenStream::new());
        }
        let domain = self.bindings.by_ref(value)?;
        let base = match self.bindings.binding(value)? {
            Binding::Local(name) | Binding::Param(name) => name.to_string(),
            Binding::Mutable(_) | Binding::Text(_) => return Ok(TokenStream::new()),
        };
        let name = self.bindings.fresh(&format!("{base}_entities"));
        self.bindings.entities[value.0 as usize] = Some(name.clone());
        Ok(quote! { let #name = rt.entities(#domain)?; })
    }

    fn used_as_entities(&self, value: ValueId, block: &equelle_front::ir::Block) -> bool {
        let differs = |expected: &Type| !expected.is_domain();
        block.statements.iter().any(|statement| match &statement.kind {
            StmtKind::Let { results, op } => match op {
                Op::On { data, target } => *data == value || *target == value,
                Op::Extend { data, .. } => *data == value,
                // A whole domain chosen stays one.
                Op::Select { if_true, if_false, .. } => {
                    (*if_true == value || *if_false == value) && results.iter().any(|r| differs(&self.ty(*r)))
                }
                Op::Compare(_, a, b) => *a == value || *b == value,
                Op::Call { function, args } => {
                    let callee = &self.program.module.functions[function.0 as usize];
                    args.iter().zip(&callee.params).any(|(a, p)| *a == value && differs(&callee.values[p.0 as usize].ty))
                }
                Op::Newton { residuals, captures, guesses, equations, .. } => {
                    let by_functions = residuals.iter().zip(captures).any(|(function, captures)| {
                        let callee = &self.program.module.functions[function.0 as usize];
                        let params = callee.params.iter().skip(guesses.len());
                        captures.iter().zip(params).any(|(a, p)| *a == value && differs(&callee.values[p.0 as usize].ty))
                    });
                    let by_kernels = equations.iter().any(|equation| {
                        let params = self.program.module.kernels[equation.kernel.0 as usize].params.iter().skip(guesses.len());
                        equation.args.iter().zip(params).any(|(a, p)| *a == value && differs(&p.ty))
                    });
                    by_functions || by_kernels
                }
                op => match op.class() {
                    OpClass::Topology | OpClass::Geometry => op.operands().contains(&value),
                    OpClass::Literal
                    | OpClass::Text
                    | OpClass::Domain
                    | OpClass::Load
                    | OpClass::Input
                    | OpClass::Pointwise
                    | OpClass::Transfer
                    | OpClass::FiniteVolume
                    | OpClass::Reduction
                    | OpClass::Call
                    | OpClass::Solve
                    | OpClass::Exchange => false,
                },
            },
            StmtKind::Store { mutable, value: v } => *v == value && differs(&self.function.mutables[mutable.0 as usize].ty),
            StmtKind::Launch { kernel, args, .. } => {
                let params = &self.program.module.kernels[kernel.0 as usize].params;
                args.iter().zip(params).any(|(a, p)| *a == value && differs(&p.ty))
            }
            StmtKind::For { body, .. } => self.used_as_entities(value, body),
            StmtKind::Return(values) => values.iter().zip(&self.function.results).any(|(v, ty)| *v == value && differs(ty)),
            StmtKind::Output { value: v, .. } => *v == value,
        })
    }

    /// `rt.line(n)` again, after a call has left its own lines behind.
    pub(super) fn line_again(&self) -> TokenStream {
        let number = self.statement_line.map(proc_macro2::Literal::u32_unsuffixed);
        number.map_or_else(TokenStream::new, |number| quote! { rt.line(#number); })
    }

    /// Comment and `rt.line(n)` of what starts at a place. `whole`: all lines of it, not only the
    /// first.
    pub(super) fn heading(&mut self, span: Span, whole: bool) -> TokenStream {
        let source = &self.program.module.source;
        if source.text().is_empty() {
            return TokenStream::new();
        }
        let first = source.line(span.start);
        if self.line == Some(first) {
            return TokenStream::new();
        }
        self.line = Some(first);
        let last = if whole { source.line(span.end.saturating_sub(1).max(span.start)) } else { first };
        let mut out = TokenStream::new();
        self.statement_line = Some(first);
        for line in first..=last {
            let text = without_comment(source.line_text(line));
            if !text.is_empty() {
                out.extend(comment(&format!("{}: {text}", place(self.program.module, line))));
            }
        }
        let number = proc_macro2::Literal::u32_unsuffixed(first);
        out.extend(quote! { rt.line(#number); });
        out
    }
}

/// A source line without its comment (`#` to the end, outside strings) and without blanks at its
/// ends.
fn without_comment(line: &str) -> &str {
    let mut in_string = false;
    let end = line.char_indices().find(|&(_, c)| {
        in_string ^= c == '"';
        c == '#' && !in_string
    });
    line[..end.map_or(line.len(), |(i, _)| i)].trim()
}

#[cfg(test)]
mod tests {
    #[test]
    fn comments_are_cut_outside_strings() {
        assert_eq!(super::without_comment("  a = 1 # one"), "a = 1");
        assert_eq!(super::without_comment("Output(\"#1\", a)"), "Output(\"#1\", a)");
        assert_eq!(super::without_comment("# all"), "");
    }
}
