//! Functions over the cells or faces of a row.

use std::collections::BTreeMap;

use equelle_front::backend::Namer;
use equelle_front::backend::forms::Refusal;
use equelle_front::ir::{ParamId, Rounding, UnaryOp};
use equelle_front::ops::{Arithmetic, Logic};
use equelle_front::types::Extent;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::analysis::FluxAnalysis;
use super::dag::{At, Dag, Node, Op};
use crate::codegen::emit::operators::comparison;
use crate::codegen::emit::read::{element_type, single_type};
use crate::codegen::emit::reals::Reals;
use crate::codegen::emit::stencil_point::End;
use crate::codegen::emit::text::{Level, Text, blank, ident};
use crate::codegen::emit::uses::{Use, Uses};
use crate::codegen::emit::writer::{Failure, Writer, Written};

/// Data that a function reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::codegen) enum Arg {
    Grid,
    Param(ParamId),
    /// Three values, one for each axis.
    PerAxis(ParamId),
    /// Elements along the row.
    Load(ParamId, At),
    /// Stored values of cells along the row.
    Stored(usize, At),
    /// Terms of a sum: those of the low sides and those of the high sides, axis by axis.
    Terms(usize),
    /// Elements of the cells or faces on one side of a cell, for each axis.
    Adjacent(ParamId, Adjacent, End),
}

/// An entity on a side of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::codegen) enum Adjacent {
    Cell,
    Face,
}

/// One function.
pub(in crate::codegen) struct Function {
    pub name: Ident,
    /// Generic arguments of a call: `::<DIM>` or nothing.
    pub generics: TokenStream,
    args: Vec<Arg>,
    kind: Kind,
    pub item: TokenStream,
    /// References of its text.
    pub uses: Uses,
}

/// Purpose of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen) enum Kind {
    /// Values of one cell.
    Cells,
    /// Terms of faces across an axis.
    Faces(usize),
    /// The cells of a row; adds the terms of faces first.
    Row,
    /// The same with the terms of the faces between the row and the next one across the second
    /// axis.
    RowAndFaces,
}

/// Writes one function after the other.
pub(in crate::codegen) struct FunctionWriter<'a, 'w> {
    pub analysis: &'a FluxAnalysis,
    /// The stored values of first and second cells.
    pub stored: &'a BTreeMap<Node, (usize, At)>,
    pub writer: &'a Writer<'w>,
    /// Knows the names that no function may use otherwise.
    pub namer: Namer,
}

impl FunctionWriter<'_, '_> {
    /// A loop over slices of one length that writes `roots` to `outputs`.
    pub(in crate::codegen) fn function(&self, name: &str, doc: &str, outputs: &[String], roots: &[Node], kind: Kind) -> Written<Function> {
        let axis = if let Kind::Faces(axis) = kind { axis } else { 0 };
        let mut body = self.body(axis);
        let outputs: Vec<Ident> = outputs.iter().map(|output| ident(&body.namer.fresh(output))).collect();
        let (mut before, mut between) = (TokenStream::new(), Vec::new());
        match kind {
            Kind::Cells | Kind::Faces(_) => {}
            Kind::Row => {
                for number in 0..self.analysis.terms.len() {
                    before.extend(body.sum(number)?);
                }
            }
            Kind::RowAndFaces => (before, between) = body.sums_and_faces()?,
        }
        let statements = body.statements(roots)?;
        let values = roots.iter().map(|root| body.value(*root)).collect::<Written<Vec<Text>>>()?;
        let (mut params, mut lanes) = (TokenStream::new(), TokenStream::new());
        let real = self.writer.reals.ty();
        let written: Vec<&Ident> = outputs.iter().chain(&between).collect();
        for output in &written {
            params.extend(quote! { #output: &mut [#real], });
        }
        for output in &written[1..] {
            lanes.extend(quote! { let #output = &mut #output[..len]; });
        }
        let (args, mut uses) = (body.args, body.uses);
        let mut generic = false;
        for (arg, name) in &args {
            match arg {
                Arg::Grid | Arg::Param(_) | Arg::PerAxis(_) => params.extend(self.same_for_all(*arg, name, &mut uses)?),
                Arg::Load(..) | Arg::Stored(..) => {
                    let element = self.element(*arg);
                    params.extend(quote! { #name: &[#element], });
                    lanes.extend(quote! { let #name = &#name[..len]; });
                }
                // Only functions of cells inside the grid have these.
                Arg::Adjacent(..) => return Err(Failure::Form(Refusal::OtherElement)),
                Arg::Terms(_) => {
                    generic = true;
                    let cut = uses.item("lane");
                    let [low, high] = ["low", "high"].map(|side| ident(&format!("{name}_{side}")));
                    params.extend(quote! { #low: [&[#real]; DIM], #high: [&[#real]; DIM], });
                    for side in [low, high] {
                        for (axis, letter) in ["x", "y", "z"].into_iter().enumerate().filter(|(axis, _)| kind == Kind::Row || *axis != 1) {
                            let (lane, axis) = (ident(&format!("{side}_{letter}")), Literal::usize_unsuffixed(axis));
                            lanes.extend(quote! { let #lane = #cut(&#side, #axis, len); });
                        }
                    }
                }
            }
        }
        let first = &outputs[0];
        let (blank, name) = (blank(), ident(name));
        let generics = generic.then(|| quote! { <const DIM: usize> });
        let item = quote! {
            #blank
            #[doc = #doc]
            #[inline(never)]
            fn #name #generics(#params) {
                let len = #first.len();
                #lanes
                for i in 0..len {
                    #before
                    #statements
                    #(#outputs[i] = #values;)*
                }
            }
        };
        let generics = if generic {
            quote! { ::<DIM> }
        } else {
            TokenStream::new()
        };
        Ok(Function { name, generics, args: args.into_iter().map(|(arg, _)| arg).collect(), kind, item, uses })
    }

    pub(in crate::codegen) fn body(&self, axis: usize) -> Body<'_, '_, '_> {
        Body {
            function_writer: self,
            namer: self.namer.clone(),
            args: Vec::new(),
            uses: Uses::default(),
            bound: BTreeMap::new(),
            axis,
            side: None,
            of_first: false,
            single: false,
            given: BTreeMap::new(),
        }
    }

    /// The type of an element of a collection, or of a stored value.
    pub(in crate::codegen) fn element(&self, arg: Arg) -> TokenStream {
        let real = self.writer.reals.ty();
        match arg {
            Arg::Load(id, _) | Arg::Adjacent(id, ..) => element_type(self.writer.kernel, &real, id),
            Arg::Grid | Arg::Param(_) | Arg::PerAxis(_) | Arg::Stored(..) | Arg::Terms(_) => quote! { #real },
        }
    }

    /// A parameter that is the same for all elements.
    pub(in crate::codegen) fn same_for_all(&self, arg: Arg, name: &Ident, uses: &mut Uses) -> Written<TokenStream> {
        let (real, precision) = (self.writer.reals.ty(), self.writer.reals.argument());
        Ok(match arg {
            Arg::Grid => {
                let grid = uses.item("CartesianGrid");
                quote! { #name: &#grid #precision, }
            }
            Arg::Param(id) => {
                let ty = single_type(self.writer.kernel, &real, id, uses);
                quote! { #name: #ty, }
            }
            Arg::PerAxis(_) => quote! { #name: [#real; 3], },
            Arg::Load(..) | Arg::Stored(..) | Arg::Terms(_) | Arg::Adjacent(..) => return Err(Failure::Form(Refusal::OtherElement)),
        })
    }
}

/// Body of one function.
pub(in crate::codegen) struct Body<'s, 'a, 'w> {
    pub function_writer: &'s FunctionWriter<'a, 'w>,
    pub namer: Namer,
    pub args: Vec<(Arg, Ident)>,
    /// References of its text.
    pub uses: Uses,
    pub bound: BTreeMap<Node, Ident>,
    pub axis: usize,
    /// Side of the cell, for terms that are evaluated where they are added.
    pub side: Option<End>,
    /// True if what is evaluated is a face whose first cell is the current cell.
    pub of_first: bool,
    /// True if parameters are elements, not slices of them.
    pub single: bool,
    /// How values are written that are no parameters of a function.
    pub given: BTreeMap<Node, Text>,
}

impl Body<'_, '_, '_> {
    fn dag(&self) -> &Dag {
        &self.function_writer.analysis.dag
    }

    fn arg(&mut self, arg: Arg, wanted: &str) -> Ident {
        if let Some((_, name)) = self.args.iter().find(|(known, _)| *known == arg) {
            return name.clone();
        }
        let endings: &[&str] = match arg {
            Arg::Terms(_) => &["_low", "_low_x", "_low_y", "_low_z", "_high", "_high_x", "_high_y", "_high_z"],
            Arg::Grid | Arg::Param(_) | Arg::PerAxis(_) | Arg::Load(..) | Arg::Stored(..) | Arg::Adjacent(..) => &[],
        };
        let name = ident(&self.namer.fresh_with(wanted, endings));
        self.args.push((arg, name.clone()));
        name
    }

    /// `let mut sum = 0.0; sum -= low_x[i]; sum += high_x[i]; ..`, as every form of the kernel
    /// adds.
    fn sum(&mut self, number: usize) -> Written<TokenStream> {
        let local = self.function_writer.analysis.sums[number];
        let name = self.function_writer.writer.local(local)?;
        let terms = self.arg(Arg::Terms(number), &format!("{name}_terms"));
        let add = |letter: &str| {
            let [low, high] = ["low", "high"].map(|side| ident(&format!("{terms}_{side}_{letter}")));
            quote! { #name -= #low[i]; #name += #high[i]; }
        };
        let (x, y, z) = (add("x"), add("y"), add("z"));
        Ok(quote! {
            let mut #name = 0.0;
            #x
            if DIM > 1 { #y }
            if DIM > 2 { #z }
        })
    }

    /// Sums, with the terms of the faces between the row and the next one evaluated where they are
    /// added, in the order of [`Self::sum`]. They are stored where those below were: the names of
    /// these buffers.
    fn sums_and_faces(&mut self) -> Written<(TokenStream, Vec<Ident>)> {
        let function_writer = self.function_writer;
        let sums = function_writer.analysis.sums.iter().map(|sum| function_writer.writer.local(*sum)).collect::<Written<Vec<_>>>()?;
        let mut names =
            |ending: &str| -> Vec<Ident> { sums.iter().map(|sum| ident(&self.namer.fresh(&format!("{sum}_{ending}")))).collect() };
        let (between, above) = (names("between"), names("above"));
        let lanes: Vec<Ident> = (0..).zip(&sums).map(|(number, sum)| self.arg(Arg::Terms(number), &format!("{sum}_terms"))).collect();
        let side =
            |side: &str, letter: &str| -> Vec<Ident> { lanes.iter().map(|lane| ident(&format!("{lane}_{side}_{letter}"))).collect() };
        let ([low_x, high_x], [low_z, high_z]) = (["low", "high"].map(|end| side(end, "x")), ["low", "high"].map(|end| side(end, "z")));
        (self.axis, self.of_first) = (1, true);
        let roots: Vec<Node> = function_writer.analysis.terms.iter().map(|terms| terms[1]).collect();
        let statements = self.statements(&roots)?;
        let terms = roots.iter().map(|root| self.value(*root)).collect::<Written<Vec<Text>>>()?;
        (self.axis, self.of_first) = (0, false);
        self.bound.clear();
        let sums = quote! {
            #statements
            #(
                let #above = #terms;
                let mut #sums = 0.0;
                #sums -= #low_x[i];
                #sums += #high_x[i];
                #sums -= #between[i];
                #sums += #above;
                if DIM > 2 { #sums -= #low_z[i]; #sums += #high_z[i]; }
                #between[i] = #above;
            )*
        };
        Ok((sums, between))
    }

    /// An element on a side of the cell.
    fn adjacent(&mut self, id: ParamId, what: Adjacent, side: End) -> Written<Text> {
        let (_, name) = self.function_writer.writer.param(id)?;
        let name = self.arg(Arg::Adjacent(id, what, side), &format!("{name}_{}", side.name()));
        let axis = Literal::usize_unsuffixed(self.axis);
        Ok(Text::atom(quote! { #name[#axis] }))
    }

    /// Values that are used more than once, and the branches of choices, which are thus evaluated
    /// in any case.
    pub(in crate::codegen) fn statements(&mut self, roots: &[Node]) -> Written<TokenStream> {
        let function_writer = self.function_writer;
        let given = |node: Node| function_writer.stored.contains_key(&node);
        let nodes = self.dag().below_until(roots, given);
        let mut uses: BTreeMap<Node, usize> = BTreeMap::new();
        for &node in nodes.iter().filter(|node| !given(**node)) {
            let op = self.dag().op(node);
            let weight = if matches!(op, Op::Select(..)) { 2 } else { 1 };
            op.operands().into_iter().for_each(|operand| *uses.entry(operand).or_default() += weight);
        }
        roots.iter().for_each(|root| *uses.entry(*root).or_default() += 1);
        let mut out = TokenStream::new();
        for node in nodes {
            if given(node) || self.dag().op(node).operands().is_empty() || uses.get(&node).is_none_or(|uses| *uses < 2) {
                continue;
            }
            let value = self.value(node)?;
            let wanted = self.dag().name(node).to_owned();
            let name = ident(&self.namer.fresh(&wanted));
            out.extend(quote! { let #name = #value; });
            self.bound.insert(node, name);
        }
        Ok(out)
    }

    pub(in crate::codegen) fn value(&mut self, node: Node) -> Written<Text> {
        if let Some(name) = self.bound.get(&node) {
            return Ok(Text::atom(name));
        }
        if let Some(text) = self.given.get(&node) {
            return Ok(text.clone());
        }
        if let Some(&(number, at)) = self.function_writer.stored.get(&node) {
            let cell = self.function_writer.analysis.cells[number];
            let wanted = format!("{}_{}", self.dag().name(cell), at_name(at));
            let name = self.arg(Arg::Stored(number, at), &wanted);
            return Ok(Text::atom(quote! { #name[i] }));
        }
        let param = |id: ParamId| self.function_writer.writer.param(id).map(|(_, name)| name.to_string());
        Ok(match self.dag().op(node) {
            Op::Real(bits) => self.reals().literal(f64::from_bits(bits)),
            Op::Bool(value) => Text::atom(quote! { #value }),
            Op::Param(id) => {
                let wanted = param(id)?;
                Text::atom(self.arg(Arg::Param(id), &wanted))
            }
            Op::OfCells(id) => {
                let wanted = param(id)?;
                let name = self.arg(Arg::PerAxis(id), &wanted);
                Text::atom(quote! { #name[0] })
            }
            Op::OfAxis(id) => {
                let wanted = param(id)?;
                let (name, axis) = (self.arg(Arg::PerAxis(id), &wanted), Literal::usize_unsuffixed(self.axis));
                Text::atom(quote! { #name[#axis] })
            }
            Op::Area => {
                self.grid();
                let axis = Literal::usize_unsuffixed(self.axis);
                Text::atom(quote! { grid.area[#axis] })
            }
            Op::Volume => {
                self.grid();
                Text::atom(quote! { grid.volume })
            }
            Op::Sum(number) => Text::atom(self.function_writer.writer.local(self.function_writer.analysis.sums[number as usize])?),
            Op::Load(id, at) => {
                let at = match (at, self.side) {
                    (At::First, Some(End::Low)) | (At::Second, Some(End::High)) => {
                        return self.adjacent(id, Adjacent::Cell, self.side.unwrap_or(End::Low));
                    }
                    (At::Face, Some(side)) => return self.adjacent(id, Adjacent::Face, side),
                    (At::First | At::Second, Some(_)) => At::Here,
                    (At::First, None) if self.of_first => At::Here,
                    (at, _) => at,
                };
                let wanted = if at == At::Here { param(id)? } else { format!("{}_{}", param(id)?, at_name(at)) };
                let name = self.arg(Arg::Load(id, at), &wanted);
                Text::atom(if self.single {
                    quote! { #name }
                } else {
                    quote! { #name[i] }
                })
            }
            // Rows have no such cells, and on Cartesian grids normals are numbers.
            Op::Member(..) | Op::OfSubset(..) | Op::Normal(_) => return Err(Failure::Form(Refusal::Subset)),
            Op::Unary(op, a) => {
                let (a, real) = (self.value(a)?, self.reals().ty());
                match op {
                    UnaryOp::Neg => {
                        let a = a.at(Level::Unary);
                        Text::new(Level::Unary, quote! { -#a })
                    }
                    UnaryOp::Not => {
                        let a = a.at(Level::Unary);
                        Text::new(Level::Unary, quote! { !#a })
                    }
                    UnaryOp::Abs => Text::atom(quote! { #real::abs(#a) }),
                    UnaryOp::Sqrt => Text::atom(quote! { #real::sqrt(#a) }),
                    UnaryOp::Elementary(function) => self.math(function.word(), &[a]),
                    UnaryOp::Length => return Err(Failure::Form(Refusal::Vector)),
                }
            }
            Op::Arithmetic(op, a, b) => {
                if let Some(contracted) = self.contracted(op, a, b)? {
                    return Ok(contracted);
                }
                let (a, b) = (self.value(a)?, self.value(b)?);
                match op {
                    Arithmetic::Add => Text::binary(Level::Sum, &a, quote! { + }, &b),
                    Arithmetic::Sub => Text::binary(Level::Sum, &a, quote! { - }, &b),
                    Arithmetic::Mul => Text::binary(Level::Product, &a, quote! { * }, &b),
                    Arithmetic::Div => Text::binary(Level::Product, &a, quote! { / }, &b),
                }
            }
            Op::Compare(op, a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                Text::binary(Level::Compare, &a, comparison(op), &b)
            }
            Op::Logic(op, a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                // Operators that evaluate both sides.
                let (a, b) = (a.at(Level::Atom), b.at(Level::Atom));
                Text::atom(match op {
                    Logic::And => quote! { (#a & #b) },
                    Logic::Or => quote! { (#a | #b) },
                    Logic::Xor => quote! { (#a ^ #b) },
                })
            }
            Op::Math(op, a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                self.math(op.word(), &[a, b])
            }
            Op::Table(id, of, argument) => {
                let wanted = param(id)?;
                let (table, argument) = (self.arg(Arg::Param(id), &wanted), self.value(argument)?);
                self.math(of.word(), &[Text::atom(table), argument])
            }
            Op::Select(condition, a, b) => {
                let (condition, a, b) = (self.value(condition)?, self.value(a)?, self.value(b)?);
                Text::choice(&condition, &a, &b)
            }
        })
    }

    /// `a * b + c` and its like, where the product need not be rounded and has no name.
    fn contracted(&mut self, op: Arithmetic, a: Node, b: Node) -> Written<Option<Text>> {
        let is_rounded = self.function_writer.writer.module.numbers.rounding == Rounding::Strict;
        if is_rounded || !matches!(op, Arithmetic::Add | Arithmetic::Sub) {
            return Ok(None);
        }
        let factors = |body: &Self, node: Node| match body.dag().op(node) {
            Op::Arithmetic(Arithmetic::Mul, x, y) if !body.has_name(node) => Some((x, y)),
            _ => None,
        };
        let negated = |text: Text| {
            let text = text.at(Level::Unary);
            Text::new(Level::Unary, quote! { -#text })
        };
        let (x, y, c) = if let Some((x, y)) = factors(self, a) {
            let (x, y, c) = (self.value(x)?, self.value(y)?, self.value(b)?);
            (x, y, if op == Arithmetic::Sub { negated(c) } else { c })
        } else if let Some((x, y)) = factors(self, b) {
            let (c, x, y) = (self.value(a)?, self.value(x)?, self.value(y)?);
            (if op == Arithmetic::Sub { negated(x) } else { x }, y, c)
        } else {
            return Ok(None);
        };
        let mul_add = self.uses.item("mul_add");
        Ok(Some(Text::atom(quote! { #mul_add(#x, #y, #c) })))
    }

    /// True if a value is read rather than evaluated where it is wanted.
    fn has_name(&self, node: Node) -> bool {
        self.bound.contains_key(&node) || self.given.contains_key(&node) || self.function_writer.stored.contains_key(&node)
    }

    /// A call of a function of the module `math`.
    fn math(&mut self, function: &str, arguments: &[Text]) -> Text {
        let (math, function) = (self.uses.item("math"), ident(function));
        Text::atom(quote! { #math::#function(#(#arguments),*) })
    }

    fn reals(&self) -> Reals {
        self.function_writer.writer.reals
    }

    fn grid(&mut self) {
        if !self.args.iter().any(|(arg, _)| *arg == Arg::Grid) {
            self.args.push((Arg::Grid, ident("grid")));
        }
    }
}

fn at_name(at: At) -> &'static str {
    match at {
        At::Here => "here",
        At::First => "first",
        At::Second => "second",
        At::Face => "face",
    }
}

impl Arg {
    /// Reads the value for a parameter that is the same for all elements.
    pub(in crate::codegen) fn read(self, writer: &mut Writer) -> Written<TokenStream> {
        let name = match self {
            Arg::Grid => writer.grid(),
            Arg::Param(id) => return writer.read(id).map(|name| quote! { #name }),
            Arg::PerAxis(id) => return writer.read_per_axis(id).map(|name| quote! { #name }),
            Arg::Load(..) | Arg::Stored(..) | Arg::Terms(_) | Arg::Adjacent(..) => return Err(Failure::Form(Refusal::OtherElement)),
        };
        Ok(quote! { #name })
    }
}

impl Function {
    /// True if it reads a stored value of first or second cells.
    pub(in crate::codegen) fn reads_stored(&self, number: usize, at: At) -> bool {
        self.args.contains(&Arg::Stored(number, at))
    }

    /// True if it reads elements of faces, or of the cells that are beyond them.
    pub(in crate::codegen) fn reads_faces(&self) -> bool {
        self.args.iter().any(|arg| matches!(arg, Arg::Load(_, At::Face | At::Second)))
    }

    /// Its arguments but the outputs: `stored` are the values of first and second cells, `part`
    /// says which elements of a collection.
    pub(in crate::codegen) fn args(
        &self,
        writer: &mut Writer,
        stored: [&[TokenStream]; 2],
        part: impl Fn(At) -> Written<TokenStream>,
    ) -> Written<TokenStream> {
        let mut args = Vec::new();
        for arg in &self.args {
            args.push(match *arg {
                Arg::Grid | Arg::Param(_) | Arg::PerAxis(_) => arg.read(writer)?,
                Arg::Load(id, At::Face) => {
                    let (name, position) = (writer.read(id)?, face_position(writer, id)?);
                    writer.uses.add(Use::Grid);
                    quote! { &#name[grid.#position(faces.at, faces.axis, faces.high)..][..faces.len] }
                }
                Arg::Load(id, at) => {
                    let (name, part) = (writer.read(id)?, part(at)?);
                    quote! { &#name #part }
                }
                Arg::Stored(number, at) => {
                    let name = stored[usize::from(at == At::Second)].get(number).ok_or(Failure::Form(Refusal::OtherElement))?;
                    quote! { #name }
                }
                Arg::Terms(number) => {
                    let number = Literal::usize_unsuffixed(number);
                    match self.kind {
                        Kind::RowAndFaces => quote! { around.low[#number], around.high[#number] },
                        Kind::Cells | Kind::Faces(_) | Kind::Row => quote! { sweep.low(#number), sweep.high(#number) },
                    }
                }
                Arg::Adjacent(..) => return Err(Failure::Form(Refusal::OtherElement)),
            });
        }
        Ok(quote! { #(#args),* })
    }
}

/// Function of the grid that gives the position of a face's value in a collection.
pub(in crate::codegen) fn face_position(writer: &Writer, id: ParamId) -> Written<Ident> {
    Ok(match writer.superset(writer.set_of(id)?).extent {
        Extent::Interior => ident("interior_face"),
        Extent::All | Extent::Boundary => ident("face"),
    })
}
