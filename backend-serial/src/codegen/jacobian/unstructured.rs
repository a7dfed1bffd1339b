//! Equations: the residual and its row of the Jacobian in one pass.
//!
//! An equation becomes two functions. The *pattern* tells once which derivatives each element has, from the skeleton of the Jacobian form; the other one evaluates, and adds
//! each derivative to the slot of the row that the stencil says. Both are written from one form with the same decisions, so that additions come in the same order.

use std::collections::{BTreeMap, BTreeSet};

use equelle_front::backend::stencil::Skeleton;
use equelle_front::backend::{KernelNames, Namer};
use equelle_front::ir::{JacobianForm, KExpr, Kernel, LocalId, Module, ParamId, Path, Space, UnaryOp};
use equelle_front::types::{Basic, Shape};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::general::{GeneralFunction, GridUse, generic_function, loop_over};
use super::outputs::Outputs;
use super::text::{Level, ident, mentions};
use super::writer::{End, Failure, Form, Place, Writer, Written};

/// Where derivatives go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// To the next slot of the stencil.
    Slots,
    /// To the entry that a search finds: where the number of additions depends on the state.
    Search,
    /// To the pattern.
    Pattern,
    /// To variables for the cell and for the cells beyond its sides: on Cartesian grids.
    Places,
}

/// The sign of a sum that is being written.
#[derive(Clone, Debug)]
enum Sign {
    Plus,
    Minus,
    /// A variable, 1 or -1.
    Named(Ident),
}

/// What a [`Writer`] of an equation keeps about derivatives.
#[derive(Clone, Debug)]
pub(super) struct Derivatives<'a> {
    target: Target,
    skeleton: &'a Skeleton,
    /// Signs of the sums around, outermost first.
    signs: Vec<Sign>,
    /// Additions to slots in the branch being written; `None` if that varies.
    additions: Option<usize>,
    /// Sums written once for either end of a face, by the local of the face: decided by the function that evaluates.
    twice: BTreeMap<LocalId, bool>,
    /// Unknowns whose element here has a variable of its own.
    diagonals: BTreeSet<u32>,
    /// [`Target::Places`]: where the function being written adds, in order of first use.
    pub(super) reached: Vec<(u32, Place)>,
}

impl<'a> Derivatives<'a> {
    fn new(target: Target, skeleton: &'a Skeleton) -> Self {
        Derivatives {
            target,
            skeleton,
            signs: Vec::new(),
            additions: Some(0),
            twice: BTreeMap::new(),
            diagonals: BTreeSet::new(),
            reached: Vec::new(),
        }
    }

    /// Of the functions of a Cartesian form.
    pub(super) fn by_places(skeleton: &'a Skeleton) -> Self {
        Derivatives::new(Target::Places, skeleton)
    }
}

/// The function that evaluates, its item with the pattern's.
pub(super) fn function<'a>(
    module: &'a Module,
    kernel: &'a Kernel,
    form: &'a JacobianForm,
    names: &'a KernelNames,
    [name, pattern_name]: [Ident; 2],
    functions: &Namer,
) -> Written<GeneralFunction> {
    let skeleton = Skeleton::of(form);
    match evaluation(module, kernel, form, names, &skeleton, Target::Slots, [&name, &pattern_name], functions) {
        Err(Failure::Form) => evaluation(module, kernel, form, names, &skeleton, Target::Search, [&name, &pattern_name], functions),
        written => written,
    }
}

#[allow(clippy::too_many_arguments)]
fn evaluation(
    module: &Module,
    kernel: &Kernel,
    form: &JacobianForm,
    names: &KernelNames,
    skeleton: &Skeleton,
    target: Target,
    [name, pattern_name]: [&Ident; 2],
    functions: &Namer,
) -> Written<GeneralFunction> {
    let new = |target, twice, diagonals| {
        let derivatives = Derivatives { twice, diagonals, ..Derivatives::new(target, skeleton) };
        let mut writer = Writer::new(module, kernel, names, Form::General, functions);
        writer.derivatives = Some(derivatives);
        writer
    };
    let mut writer = new(target, BTreeMap::new(), BTreeSet::new());
    let Space::Set(set) = kernel.space else { return Err(writer.internal("an equation that is over no set")) };
    let (statements, yields) = writer.block(&form.body)?;
    let (twice, diagonals) = match &writer.derivatives {
        Some(derivatives) => (derivatives.twice.clone(), derivatives.diagonals.clone()),
        None => (BTreeMap::new(), BTreeSet::new()),
    };

    // The pattern, with the decisions of the evaluation.
    let mut telling = new(Target::Pattern, twice, diagonals.clone());
    let (told, _) = telling.block(&skeleton.block)?;
    let numbers: Vec<Literal> = diagonals.iter().map(|&k| Literal::usize_unsuffixed(k as usize)).collect();
    let told = quote! { #(pattern.add(#numbers, position);)* #told pattern.end_row(); };
    let domain = telling.domain(set)?;
    let loop_ = each(&telling, set, &told);
    let prelude = telling.prelude();
    let body = quote! { #prelude let domain = #domain; #loop_ Ok(()) };
    let doc = format!(" Which derivatives [`Kernels::{}`] has, element by element.", names.method);
    let extra = quote! { , pattern: &mut Pattern };
    let pattern = generic_function(module, kernel, names, pattern_name.clone(), &body, Some(quote! { () }), extra, &doc)?;

    let own: Vec<Ident> = diagonals.iter().map(|k| writer.diagonal(*k)).collect();
    let places: Vec<Ident> = own.iter().map(|name| ident(&format!("{name}_slot"))).collect();
    let (begin, end) = match target {
        Target::Slots => {
            (quote! { #(let #places = usize::from(slots[next]); next += 1; let mut #own = 0.0;)* }, quote! { #(row[#places] += #own;)* })
        }
        Target::Search | Target::Pattern | Target::Places => {
            (quote! { #(let mut #own = 0.0;)* }, quote! { #(row[pattern.place(position, #numbers, position)] += #own;)* })
        }
    };
    let begin_row = quote! {
        let row = entries.row(position);
        row.fill(0.0);
    };
    let (slots, begin_range) = match target {
        Target::Slots => (quote! { let slots = stencil.slots(); }, quote! { let slots = slots.from(range.start); let mut next = 0; }),
        Target::Search | Target::Pattern | Target::Places => (quote! { let pattern = stencil.rows(); }, TokenStream::new()),
    };
    let domain = writer.domain(set)?;
    let buffers = super::method::buffers(&writer, quote! { domain.len() })?;
    let stores = super::method::stores(&writer, &quote! { position - range.start }, &yields)?;
    let entries = Outputs { whole: quote! { Entries::new(stencil.row_ptr(), &mut rows[..]) }, part: quote! { mut entries } };
    let outputs = Outputs::of(&writer, Some(entries));
    let each = quote! { #begin_row #begin #statements #stores #end };
    let loop_ = loop_over(&writer, set, &outputs, &begin_range, &each);
    let prelude = writer.prelude();
    let info = ident(&names.info);
    let unknowns = names.params.iter().take(form.unknowns as usize).map(|p| ident(p));
    // Paths lead through these; the pattern is that of their entities.
    let entities = kernel
        .params
        .iter()
        .zip(&names.params)
        .filter(|(p, _)| matches!((p.ty.basic, p.ty.shape), (Basic::Entity(_), Shape::Collection(_))));
    let entities = entities.map(|(_, p)| ident(p));
    let call_generics = pattern.takes_dim.then(|| {
        if pattern.grid.is_some() {
            quote! { ::<DIM, _> }
        } else {
            quote! { ::<DIM> }
        }
    });
    let call_grid = pattern.grid.map(|_| quote! { , grid });
    let result = writer.results.first().cloned().ok_or_else(|| writer.internal("an equation without a residual"))?;
    let body = quote! {
        #prelude
        let domain = #domain;
        let stencil = rt.stencil(&#info, domain, &[#(args.#unknowns),*], &[#(args.#entities),*], |rt, pattern| {
            #pattern_name #call_generics(rt, args #call_grid, pattern)
        })?;
        #buffers
        let mut rows = rt.take_buffer(stencil.entries());
        #slots
        #loop_
        let residual = rt.scalar_collection_from(domain, #result);
        Ok(rt.equation(residual, &stencil, rows))
    };
    let doc = format!(" [`Kernels::{}`] on any grid: the residual, and its derivatives by the unknowns.", names.method);
    let mut written = generic_function(module, kernel, names, name.clone(), &body, None, TokenStream::new(), &doc)?;
    written.item.extend(pattern.item);
    let none = GridUse { topology: false, sides: false, geometry: false, edges: false, vertices: false };
    let (a, b) = (written.grid.unwrap_or(none), pattern.grid.unwrap_or(none));
    if written.grid.is_some() {
        written.grid = Some(GridUse {
            topology: a.topology || b.topology,
            sides: a.sides || b.sides,
            geometry: a.geometry || b.geometry,
            edges: a.edges || b.edges,
            vertices: a.vertices || b.vertices,
        });
    }
    Ok(written)
}

/// The loop over the elements of the space.
fn each(writer: &Writer, set: equelle_front::types::SetId, body: &TokenStream) -> TokenStream {
    if !mentions(body, "here") {
        quote! { for position in 0..domain.len() { #body } }
    } else if writer.is_all(set) {
        quote! { for position in 0..domain.len() { let here = position as u32; #body } }
    } else {
        quote! { for (position, &here) in domain.elements().iter().enumerate() { #body } }
    }
}

impl Writer<'_> {
    /// The variable for the derivative by the element of an unknown that belongs to the element at hand.
    fn diagonal(&self, unknown: u32) -> Ident {
        ident(&format!("own_{}", self.params[unknown as usize]))
    }

    /// The variable for the derivative by the element of an unknown at a place; on a side there is one for each axis.
    pub(super) fn derivative(&self, unknown: u32, place: Place) -> Option<Ident> {
        let name = &self.params[unknown as usize];
        match place {
            Place::Here => Some(self.diagonal(unknown)),
            Place::Neighbour(side) => Some(ident(&format!("{}_by_{name}", side.name()))),
            Place::SideFace(_) => None,
        }
    }

    /// Before a block of a side of a cell, where the sign is known.
    pub(super) fn begin_side(&mut self, side: End) {
        if let Some(derivatives) = &mut self.derivatives {
            derivatives.signs.push(if side == End::Low { Sign::Minus } else { Sign::Plus });
        }
    }

    /// After it.
    pub(super) fn end_side(&mut self) {
        if let Some(derivatives) = &mut self.derivatives {
            derivatives.signs.pop();
        }
    }

    /// Whether the pattern of an equation is being written, which may follow paths that lead nowhere.
    pub(super) fn tells_pattern(&self) -> bool {
        self.derivatives.as_ref().is_some_and(|d| d.target == Target::Pattern)
    }

    /// An addition to the row.
    pub(super) fn add(&mut self, unknown: ParamId, at: &Path, value: &KExpr) -> Written<TokenStream> {
        let Some(derivatives) = &self.derivatives else { return Err(self.internal("derivatives outside a Jacobian form")) };
        let target = derivatives.target;
        let set = self.set_of(unknown)?;
        let number = Literal::usize_unsuffixed(unknown.0 as usize);
        let own = self.kernel.space == Space::Set(set) && self.is_back_here(at);
        if target == Target::Pattern {
            if own {
                return Ok(TokenStream::new());
            }
            let position = self.position(set, at)?;
            return Ok(quote! { pattern.add(#number, #position); });
        }
        let (mut negative, factors) = self.sign();
        let value = match value {
            KExpr::Unary(UnaryOp::Neg, value) => {
                negative = !negative;
                self.expr(value)?
            }
            value => self.expr(value)?,
        };
        let value = if factors.is_empty() {
            value
        } else {
            let value = value.at(Level::Cast);
            super::text::Text::new(Level::Product, quote! { #(#factors *)* #value })
        };
        let op = if negative {
            quote! { -= }
        } else {
            quote! { += }
        };
        let value = value.at(Level::Choice);
        if target == Target::Places {
            let place = self.place(at).ok_or(Failure::Form)?;
            let variable = self.derivative(unknown.0, place).ok_or(Failure::Form)?;
            if let Some(derivatives) = &mut self.derivatives
                && !derivatives.reached.contains(&(unknown.0, place))
            {
                derivatives.reached.push((unknown.0, place));
            }
            // A side function is handed the variables; elsewhere they are of all axes.
            return Ok(match (self.form, place) {
                (Form::Row, _) if !self.in_row => quote! { *#variable #op #value; },
                (_, Place::Neighbour(_)) => quote! { #variable[axis] #op #value; },
                (_, Place::Here | Place::SideFace(_)) => quote! { #variable #op #value; },
            });
        }
        if own {
            if let Some(derivatives) = &mut self.derivatives {
                derivatives.diagonals.insert(unknown.0);
            }
            let name = self.diagonal(unknown.0);
            return Ok(quote! { #name #op #value; });
        }
        if target == Target::Search {
            let position = self.position(set, at)?;
            return Ok(quote! { row[pattern.place(position, #number, #position)] #op #value; });
        }
        if let Some(derivatives) = &mut self.derivatives {
            derivatives.additions = derivatives.additions.map(|n| n + 1);
        }
        Ok(quote! { row[usize::from(slots[next])] #op #value; next += 1; })
    }

    /// The signs of the sums around: whether an odd number of them is -1, and those that are variables.
    fn sign(&self) -> (bool, Vec<Ident>) {
        let mut negative = false;
        let mut factors = Vec::new();
        for sign in self.derivatives.iter().flat_map(|d| &d.signs) {
            match sign {
                Sign::Plus => {}
                Sign::Minus => negative = !negative,
                Sign::Named(name) => factors.push(name.clone()),
            }
        }
        (negative, factors)
    }

    /// Whether the body of a sum is written once for each end of a face.
    pub(super) fn written_twice(&mut self, face: LocalId, short: bool) -> bool {
        match &mut self.derivatives {
            None => short,
            // The diagonal is known then, which is worth more than short text; sums in sums would double with every level.
            Some(derivatives) => {
                let outermost = derivatives.signs.is_empty();
                *derivatives.twice.entry(face).or_insert(short || outermost)
            }
        }
    }

    /// Before the body of a sum: its sign.
    pub(super) fn begin_sum(&mut self, own: Option<End>, sign: &Option<Ident>) {
        if let Some(derivatives) = &mut self.derivatives {
            derivatives.signs.push(match (own, sign) {
                (Some(End::High), _) => Sign::Minus,
                (None, Some(name)) => Sign::Named(name.clone()),
                (Some(End::Low), _) | (None, None) => Sign::Plus,
            });
            if derivatives.additions != Some(0) {
                derivatives.additions = None;
            }
        }
    }

    /// After it. How many faces there are varies.
    pub(super) fn end_sum(&mut self) {
        if let Some(derivatives) = &mut self.derivatives {
            derivatives.signs.pop();
            if derivatives.additions != Some(0) {
                derivatives.additions = None;
            }
        }
    }

    /// Whether the grid alone decides a condition, so that the pattern follows it.
    pub(super) fn decided(&self, condition: &KExpr) -> bool {
        self.derivatives.as_ref().is_none_or(|d| d.skeleton.is_decided(condition))
    }

    /// Begins to count the additions of a branch; the count until now.
    pub(super) fn begin_branch(&mut self) -> Option<usize> {
        self.derivatives.as_mut().and_then(|d| d.additions.replace(0))
    }

    /// After the branches of a choice: the one taken passes over the slots of the other.
    pub(super) fn end_branches(
        &mut self,
        before: Option<usize>,
        then_count: Option<usize>,
        decided: bool,
        then: &mut TokenStream,
        otherwise: &mut TokenStream,
    ) -> Written<()> {
        let Some(derivatives) = &mut self.derivatives else { return Ok(()) };
        let otherwise_count = derivatives.additions;
        let within = if decided {
            if then_count == otherwise_count { then_count } else { None }
        } else {
            if derivatives.target != Target::Slots {
                derivatives.additions = None;
                return Ok(());
            }
            let (Some(a), Some(b)) = (then_count, otherwise_count) else { return Err(Failure::Form) };
            let pass = |n: usize| {
                let n = Literal::usize_unsuffixed(n);
                quote! { next += #n; }
            };
            if b > 0 {
                then.extend(pass(b));
            }
            if a > 0 {
                let rest = std::mem::take(otherwise);
                *otherwise = pass(a);
                otherwise.extend(rest);
            }
            Some(a + b)
        };
        derivatives.additions = before.zip(within).map(|(a, b)| a + b);
        Ok(())
    }
}
