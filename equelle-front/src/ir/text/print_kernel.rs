//! Printing of kernels.

use crate::ir::kernel::{CartesianForm, FaceFilter, KBlock, KExpr, KStmt, Kernel, LocalId, ParamId, Path, Side, SideBlocks, Space};
use crate::ir::text::names::write_name;
use crate::ir::text::print::{SetNames, line, logic, real, reduction, span, unary};
use crate::ops::{Beyond, CellFact, FaceReduction, Offset};
use crate::types::{SetTable, Type};

pub(super) fn kernel(out: &mut String, kernel: &Kernel, sets: &SetNames) {
    let printer = KernelPrinter { kernel, sets };
    let space = match kernel.space {
        Space::Unit => "unit",
        Space::Set(set) => sets.get(set),
    };
    let spans: String = kernel.spans.iter().map(|s| format!(" !{}..{}", s.start, s.end)).collect();
    line(out, 0, &format!("kernel {} over {space}{spans} {{", write_name(&kernel.name)));
    for p in &kernel.params {
        let per_axis = if p.per_axis { " per_axis" } else { "" };
        line(out, 1, &format!("param {}: {}{per_axis}", write_name(&p.name), sets.ty(&p.ty)));
    }
    for r in &kernel.results {
        let reduce = r.reduce.map_or_else(String::new, |op| format!(" reduce {}", reduction(op)));
        let in_place = r.in_place.and_then(|id| kernel.params.get(id.0 as usize)).map(|p| format!(" in {}", write_name(&p.name)));
        let in_place = in_place.unwrap_or_default();
        line(out, 1, &format!("result {}: {}{reduce}{in_place}", write_name(&r.name), sets.ty(&r.ty)));
    }
    for c in &kernel.checks {
        line(out, 1, &format!("check {} {}{}", c.kind.word(), printer.expr(&c.condition), span(c.span)));
    }
    line(out, 1, "body {");
    printer.block(out, 2, &kernel.body);
    line(out, 1, "}");
    let cartesian = match &kernel.cartesian {
        None => None,
        Some(CartesianForm::Full(block)) => Some(("full", block)),
        Some(CartesianForm::PerAxis(block)) => Some(("per_axis", block)),
    };
    if let Some((form, block)) = cartesian {
        line(out, 1, &format!("cartesian {form} {{"));
        printer.block(out, 2, block);
        line(out, 1, "}");
    }
    if let Some(jacobian) = &kernel.jacobian {
        line(out, 1, &format!("jacobian by {} {{", jacobian.unknowns));
        printer.block(out, 2, &jacobian.body);
        line(out, 1, "}");
        if let Some(block) = &jacobian.cartesian {
            line(out, 1, "jacobian cartesian {");
            printer.block(out, 2, block);
            line(out, 1, "}");
        }
    }
    line(out, 0, "}");
}

pub(super) fn side(side: Side) -> &'static str {
    match side {
        Side::Low => "low",
        Side::High => "high",
    }
}

pub(super) fn filter(only: FaceFilter) -> &'static str {
    match only {
        FaceFilter::All => "",
        FaceFilter::Interior => " interior",
        FaceFilter::Boundary => " boundary",
    }
}

/// The type of the face of a sum unless the text gives another.
pub(super) fn face_type(only: FaceFilter) -> Type {
    let set = only.set();
    Type::entity(set.kind, SetTable::new().canonical(set))
}

struct KernelPrinter<'a> {
    kernel: &'a Kernel,
    sets: &'a SetNames,
}

impl KernelPrinter<'_> {
    fn local(&self, id: LocalId) -> String {
        self.kernel.locals.get(id.0 as usize).map_or_else(|| "unknown_local".to_owned(), |l| write_name(&l.name))
    }

    fn param(&self, id: ParamId) -> String {
        self.kernel.params.get(id.0 as usize).map_or_else(|| "unknown_param".to_owned(), |p| write_name(&p.name))
    }

    fn declare(&self, id: LocalId) -> String {
        let ty = self.kernel.local_type(id).map_or_else(|| "Scalar".to_owned(), |ty| self.sets.ty(&ty));
        format!("{}: {ty}", self.local(id))
    }

    /// Results and ` = `; nothing where there are none.
    fn declare_all(&self, ids: &[LocalId]) -> String {
        let all = ids.iter().map(|&id| self.declare(id)).collect::<Vec<_>>().join(", ");
        if all.is_empty() { all } else { all + " = " }
    }

    fn block(&self, out: &mut String, depth: usize, block: &KBlock) {
        block.statements.iter().for_each(|s| self.statement(out, depth, s));
        if !block.yields.is_empty() {
            let yields: Vec<String> = block.yields.iter().map(|e| self.expr(e)).collect();
            let width = yields.iter().map(|y| y.len() + 2).sum::<usize>();
            // Several long results stand below each other.
            let separator = if width > 120 { format!(",\n{}", "  ".repeat(depth + 3)) } else { ", ".to_owned() };
            line(out, depth, &format!("yield {}", yields.join(&separator)));
        }
    }

    fn statement(&self, out: &mut String, depth: usize, stmt: &KStmt) {
        match stmt {
            KStmt::Let { local, value } => line(out, depth, &format!("{} = {}", self.declare(*local), self.expr(value))),
            KStmt::LetEntity { local, path } => line(out, depth, &format!("{} = {}", self.declare(*local), self.path(path))),
            KStmt::Add { unknown, at, value } => {
                line(out, depth, &format!("add {}[{}] = {}", self.param(*unknown), self.path(at), self.expr(value)));
            }
            KStmt::ReduceFaces { reduction, results, extreme_faces, cell, face, only, body } => {
                let face = if self.kernel.local_type(*face) == Some(face_type(*only)) { self.local(*face) } else { self.declare(*face) };
                let results = self.declare_all(&[&results[..], extreme_faces].concat());
                line(
                    out,
                    depth,
                    &format!("{results}{} faces {face} of {}{} {{", reduction_word(*reduction), self.path(cell), filter(*only)),
                );
                self.block(out, depth + 1, body);
                line(out, depth, "}");
            }
            KStmt::ReduceSides { reduction, results, extreme_faces, low, high } => {
                let results = self.declare_all(&[&results[..], extreme_faces].concat());
                line(out, depth, &format!("{results}{} sides {{", reduction_word(*reduction)));
                self.side(out, depth + 1, Side::Low, low);
                self.side(out, depth + 1, Side::High, high);
                line(out, depth, "}");
            }
            KStmt::If { results, condition, then, otherwise } => {
                line(out, depth, &format!("{}if {} {{", self.declare_all(results), self.expr(condition)));
                self.block(out, depth + 1, then);
                line(out, depth, "} else {");
                self.block(out, depth + 1, otherwise);
                line(out, depth, "}");
            }
        }
    }

    fn side(&self, out: &mut String, depth: usize, which: Side, blocks: &SideBlocks) {
        for (name, block) in [("interior", &blocks.interior), ("boundary", &blocks.boundary)] {
            if let Some(block) = block {
                line(out, depth, &format!("{} {name} {{", side(which)));
                self.block(out, depth + 1, block);
                line(out, depth, "}");
            }
        }
    }

    fn path(&self, path: &Path) -> String {
        match path {
            Path::Here => "here".to_owned(),
            Path::Local(id) => self.local(*id),
            Path::First(face) => format!("first({})", self.path(face)),
            Path::Second(face) => format!("second({})", self.path(face)),
            Path::Through { param, at } => format!("{}[{}]", self.param(*param), self.path(at)),
            Path::Select { condition, if_true, if_false } => {
                format!("({} ? {} : {})", self.expr(condition), self.path(if_true), self.path(if_false))
            }
            Path::SideFace(s) => format!("side_face({})", side(*s)),
            Path::Shift { from, by } => format!("shift({}, {by})", self.path(from)),
            Path::Offset { from, by, beyond } => format!("offset({}, {})", self.path(from), offset(*by, *beyond)),
            Path::Empty => "empty".to_owned(),
        }
    }

    fn expr(&self, expr: &KExpr) -> String {
        match expr {
            KExpr::Real(x) => real(*x),
            KExpr::Bool(b) => b.to_string(),
            KExpr::Local(id) => self.local(*id),
            KExpr::Param(id) => self.param(*id),
            KExpr::Load { param, at } => format!("{}[{}]", self.param(*param), self.path(at)),
            KExpr::Measure(p) => format!("measure({})", self.path(p)),
            KExpr::Centroid(p) => format!("centroid({})", self.path(p)),
            KExpr::FaceGap(p) => format!("face_gap({})", self.path(p)),
            KExpr::FaceTransmissibility(p) => format!("face_transmissibility({})", self.path(p)),
            KExpr::Normal(p) => format!("normal({})", self.path(p)),
            KExpr::IsEmpty(p) => format!("is_empty({})", self.path(p)),
            KExpr::CellFact { fact, at } => {
                let (word, numbers) = place_fact(*fact);
                format!("{}({}, {numbers})", word.to_lowercase(), self.path(at))
            }
            KExpr::Member { set, at } => format!("member({}, {})", self.path(at), self.sets.get(*set)),
            KExpr::Same(a, b) => format!("same({}, {})", self.path(a), self.path(b)),
            KExpr::Unary(op, a) => format!("{}({})", unary(*op), self.expr(a)),
            KExpr::Arithmetic(op, a, b) => format!("({} {} {})", self.expr(a), op.symbol(), self.expr(b)),
            KExpr::Compare(op, a, b) => format!("({} {} {})", self.expr(a), op.symbol(), self.expr(b)),
            KExpr::Logic(op, a, b) => format!("({} {} {})", self.expr(a), logic(*op), self.expr(b)),
            KExpr::Select { condition, if_true, if_false } => {
                format!("({} ? {} : {})", self.expr(condition), self.expr(if_true), self.expr(if_false))
            }
            KExpr::Component(a, i) => format!("component({}, {i})", self.expr(a)),
            KExpr::Dot(a, b) => format!("dot({}, {})", self.expr(a), self.expr(b)),
            KExpr::Vector(components) => {
                let components: Vec<String> = components.iter().map(|c| self.expr(c)).collect();
                format!("vector({})", components.join(", "))
            }
            KExpr::ZeroVector => "zero_vector()".to_owned(),
            KExpr::Math(op, a, b) => format!("{}({}, {})", op.word(), self.expr(a), self.expr(b)),
            KExpr::Interpolate { table, of, argument } => format!("{}({}, {})", of.word(), self.param(*table), self.expr(argument)),
            KExpr::Entity(p) => format!("entity({})", self.path(p)),
            KExpr::Displacement { to, from, is_stored } => {
                let word = if *is_stored { "stored_displacement" } else { "displacement" };
                format!("{word}({}, {})", self.path(to), self.path(from))
            }
        }
    }
}

/// `1, 0, -2, wrap, never, ...`
pub(super) fn offset(by: Offset, beyond: Beyond) -> String {
    let numbers = by.iter().map(ToString::to_string);
    numbers.chain(beyond.iter().map(|map| map.word().to_owned())).collect::<Vec<_>>().join(", ")
}

/// The word of an operation, and its numbers.
pub(super) fn place_fact(fact: CellFact) -> (&'static str, String) {
    match fact {
        CellFact::Outside { axis, by } => ("Outside", format!("{axis}, {by}")),
        CellFact::Index(axis) => ("Index", axis.to_string()),
        CellFact::Even(axes) => ("Even", axes.map(|axis| u8::from(axis).to_string()).join(", ")),
    }
}

/// The word for a reduction over faces.
pub(super) fn reduction_word(reduction: FaceReduction) -> &'static str {
    match reduction {
        FaceReduction::Sum => "sum",
        FaceReduction::Max => "largest",
        FaceReduction::Min => "smallest",
    }
}
