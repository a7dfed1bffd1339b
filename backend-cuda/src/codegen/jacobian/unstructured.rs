//! Equations: the residual and its row of the Jacobian in one pass, and the pattern of the rows.
//!
//! An equation becomes two functions. The *pattern* tells once per grid which derivatives each element has, from the skeleton of the Jacobian form; the other one evaluates, and
//! adds each derivative to the entry of its column. Both add in one order, so that the place of each addition in its row is known, unless the state decides what is added: then the
//! column is sought. One thread owns a row; the rows of a block are put together in shared memory and written behind one another.
//!
//! On Cartesian grids both have another form: derivatives by the cell and by those beyond its sides go to variables, and columns follow from the place of the cell.

use std::collections::BTreeSet;

use equelle_front::backend::stencil::{Reach, Skeleton, reach};
use equelle_front::backend::visit::{Node, visit_path, visit_stmt};
use equelle_front::ir::{JacobianForm, KBlock, KExpr, KStmt, Kernel, ParamId, Path, Side};
use equelle_front::types::SetTable;

use super::kernel::{Argument, Function, GridNeeds, checks, finish, grid_needs, mentions, store};
use super::reals::Reals;
use super::text::{Form, UnknownNames, Writer};

/// Where derivatives go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// To the entries of the row that the pattern has found for the additions, in their order.
    Slots,
    /// To the entries of the row that a search finds: where the state decides what is added.
    Row,
    /// To the pattern.
    Pattern,
    /// To variables for the cell and for the cells beyond its sides.
    Places,
}

/// What a [`Writer`] of an equation keeps about derivatives.
#[derive(Clone, Debug)]
pub(super) struct Derivatives {
    target: Target,
    /// Of the sums around, outermost first.
    sums: Vec<Sum>,
    /// Signs of the sides of a cell around: whether -1.
    sides: Vec<bool>,
    /// Unknowns whose element here has a variable of its own, which is added to the row at the end.
    diagonals: BTreeSet<u32>,
}

/// A sum over the faces of a cell that is being written.
#[derive(Clone, Debug)]
struct Sum {
    /// Name of its sign, 1 or -1.
    sign: String,
    /// Name of the two cells of its face, if it sums over the faces of the element here.
    here: Option<String>,
}

/// The function that evaluates and the one that tells the pattern.
#[derive(Clone, Debug)]
pub(super) struct EquationText {
    pub evaluation: Function,
    pub pattern: Function,
}

/// Writes both functions for any grid. `comment` stands above them.
pub(super) fn equation_text(
    kernel: &Kernel,
    form: &JacobianForm,
    sets: &SetTable,
    reals: Reals,
    steady: &BTreeSet<ParamId>,
    name: &str,
    comment: &str,
) -> EquationText {
    let skeleton = Skeleton::of(form);
    let new = || Writer::new(kernel, sets, reals, Form::General).with_steady(steady);
    let (told, diagonals) = body(new(), Target::Pattern, &skeleton.block);
    let mut pattern = new();
    pattern.line("const EqEntity element = eq_index();");
    pattern.line("if (element >= space.size) return;");
    pattern.line("const EqEntity here = eq_entity(space, element);");
    pattern.line("EqTold told = eq_told(pattern, element);");
    for &unknown in &diagonals {
        let first = pattern.unknowns[unknown as usize].first.clone();
        pattern.line(&format!("eq_tell(told, {first}, element);"));
    }
    pattern.out += &told.out;
    pattern.line("pattern.counts[element] = told.count;");

    let target = if has_fixed_additions(&skeleton, &form.body) { Target::Slots } else { Target::Row };
    let mut writer = new();
    writer.line(if target == Target::Slots { "EQ_STAGE_ENTRIES" } else { "EQ_STAGE_ROWS" });
    let columns = if target == Target::Slots { "0" } else { "stage_columns" };
    writer.line(&format!("const EqStage stage = eq_stage_rows(rows, space.size, stage_entries, {columns});"));
    writer.line("const EqEntity element = eq_index();");
    writer.open("if (element < space.size) {");
    writer.line("const EqEntity here = eq_entity(space, element);");
    checks(&mut writer, kernel, "return;");
    writer.line("const EqRow row = eq_row(stage, rows, element);");
    if target == Target::Slots {
        writer.line("const EqSlot* slot = slots.slots + slots.starts[element];");
    }
    let (evaluated, diagonals) = body(new(), target, &form.body);
    for &unknown in &diagonals {
        let UnknownNames { own, own_slot, .. } = writer.unknowns[unknown as usize].clone();
        writer.line(&format!("{} {own} = {};", reals.number(), reals.literal(0.0)));
        if target == Target::Slots {
            writer.line(&format!("const EqSlot {own_slot} = *slot++;"));
        }
    }
    writer.out += &evaluated.out;
    for &unknown in &diagonals {
        let UnknownNames { first, own, own_slot, .. } = writer.unknowns[unknown as usize].clone();
        writer.line(&match target {
            Target::Slots => format!("eq_add_at(row, {own_slot}, {own});"),
            Target::Row | Target::Pattern | Target::Places => format!("eq_add(row, {first} + element, {own});"),
        });
    }
    store(&mut writer, kernel, &form.body, "element", "space.size");
    writer.close("}");
    writer.line("eq_write_rows(stage, rows);");

    let unknowns = form.unknowns as usize;
    let evaluation = finish_equation(writer, kernel, sets, name, comment, &form.body, Argument::Rows, unknowns);
    let pattern = finish_equation(pattern, kernel, sets, &format!("{name}_pattern"), comment, &skeleton.block, Argument::Pattern, unknowns);
    EquationText { evaluation, pattern }
}

/// Writes both functions for Cartesian grids, from the body that the form has for them.
pub(super) fn cartesian_equation_text(
    kernel: &Kernel,
    unknowns: u32,
    block: &KBlock,
    sets: &SetTable,
    reals: Reals,
    name: &str,
    comment: &str,
) -> EquationText {
    let reach = reach(unknowns, block);
    let cells = "g.n[0] * g.n[1] * g.n[2]";

    let mut pattern = Writer::new(kernel, sets, reals, Form::Cells);
    pattern.line("const EqEntity element = eq_index();");
    pattern.line(&format!("if (element >= {cells}) return;"));
    pattern.line("const EqCell cell = eq_cell(g, element);");
    pattern.line("EqTold told = eq_told(pattern, element);");
    for (names, Reach { own, low, high }) in pattern.unknowns.clone().iter().zip(&reach) {
        pattern.line(&format!("eq_tell_cell(g, cell, told, {}, {low}, {own}, {high});", names.first));
    }
    pattern.line("pattern.counts[element] = told.count;");

    let mut writer = Writer::new(kernel, sets, reals, Form::Cells);
    writer.line("EQ_STAGE_ENTRIES");
    writer.line(&format!("const EqStage stage = eq_stage_entries(rows, {cells}, stage_entries);"));
    writer.line("const EqEntity element = eq_index();");
    writer.open(&format!("if (element < {cells}) {{"));
    writer.line("const EqCell cell = eq_cell(g, element);");
    writer.derivatives = Some(Derivatives::new(Target::Places));
    for (names, Reach { own, low, high }) in writer.unknowns.clone().iter().zip(&reach) {
        for (_, name) in [(low, &names.low), (high, &names.high)].iter().filter(|(reached, _)| **reached) {
            writer.line(&format!("{} {name}[DIM] = {{}};", reals.number()));
        }
        if *own {
            writer.line(&format!("{} {} = {};", reals.number(), names.own, reals.literal(0.0)));
        }
    }
    writer.load_here(block);
    writer.statements(block);
    writer.derivatives = None;
    writer.line(&format!("{}* entries = eq_entries(stage, rows, element);", reals.number()));
    for (names, Reach { own, low, high }) in writer.unknowns.clone().iter().zip(&reach) {
        if *low {
            writer.line(&format!("entries = eq_put_low(g, cell, entries, {});", names.low));
        }
        if *own {
            writer.line(&format!("*entries++ = {};", names.own));
        }
        if *high {
            writer.line(&format!("entries = eq_put_high(g, cell, entries, {});", names.high));
        }
    }
    store(&mut writer, kernel, block, "cell.index", &format!("(size_t){cells}"));
    writer.close("}");
    writer.line("eq_write_rows(stage, rows);");

    let finish = |w: Writer<'_>, name: &str, target: Argument| {
        let mut arguments = vec![Argument::Cartesian];
        arguments.extend(w.used_ranks().into_iter().map(Argument::Ranks));
        arguments.push(target);
        arguments.extend((0..unknowns as usize).filter(|&k| mentions(&w.out, &w.unknowns[k].first)).map(Argument::First));
        finish(w, kernel, name, comment, arguments, GridNeeds::default())
    };
    EquationText {
        evaluation: finish(writer, &format!("{name}_cartesian"), Argument::Rows),
        pattern: finish(pattern, &format!("{name}_cartesian_pattern"), Argument::Pattern),
    }
}

impl Derivatives {
    fn new(target: Target) -> Self {
        Derivatives { target, sums: Vec::new(), sides: Vec::new(), diagonals: BTreeSet::new() }
    }
}

/// The statements of a block by a new writer, and the unknowns whose element here has a variable of its own.
fn body<'a>(mut w: Writer<'a>, target: Target, block: &KBlock) -> (Writer<'a>, BTreeSet<u32>) {
    w.derivatives = Some(Derivatives::new(target));
    if target != Target::Pattern {
        w.deeper();
    }
    w.statements(block);
    let diagonals = w.derivatives.take().map(|d| d.diagonals).unwrap_or_default();
    (w, diagonals)
}

#[allow(clippy::too_many_arguments)]
fn finish_equation(
    w: Writer<'_>,
    kernel: &Kernel,
    sets: &SetTable,
    name: &str,
    comment: &str,
    block: &KBlock,
    target: Argument,
    unknowns: usize,
) -> Function {
    let mut arguments = vec![Argument::Space];
    let conditions: Vec<&KExpr> = kernel.checks.iter().filter(|_| target == Argument::Rows).map(|check| &check.condition).collect();
    let needs = grid_needs(kernel, sets, &conditions, block, &w.out);
    if needs != GridNeeds::default() {
        arguments.push(Argument::Grid);
    }
    arguments.extend(w.used_ranks().into_iter().map(Argument::Ranks));
    if target == Argument::Rows && !kernel.checks.is_empty() {
        arguments.push(Argument::Checks);
    }
    arguments.push(target);
    if mentions(&w.out, "slots") {
        arguments.push(Argument::Slots);
    }
    arguments.extend((0..unknowns).filter(|&k| mentions(&w.out, &w.unknowns[k].first)).map(Argument::First));
    finish(w, kernel, name, comment, arguments, needs)
}

/// Whether the grid alone decides which additions a block makes, and where.
fn has_fixed_additions(skeleton: &Skeleton, block: &KBlock) -> bool {
    block.statements.iter().all(|statement| match statement {
        KStmt::If { condition, then, otherwise, .. } => {
            (skeleton.is_decided(condition) || !adds(then) && !adds(otherwise))
                && has_fixed_additions(skeleton, then)
                && has_fixed_additions(skeleton, otherwise)
        }
        KStmt::SumFaces { body, .. } => has_fixed_additions(skeleton, body),
        KStmt::SumSides { low, high, .. } => {
            [&low.interior, &low.boundary, &high.interior, &high.boundary].into_iter().flatten().all(|b| has_fixed_additions(skeleton, b))
        }
        KStmt::Add { at, .. } => {
            let mut fixed = true;
            visit_path(at, &mut |node| fixed &= !matches!(node, Node::Path(Path::Select { .. })));
            fixed
        }
        KStmt::Let { .. } | KStmt::LetEntity { .. } => true,
    })
}

/// Whether a block adds derivatives.
fn adds(block: &KBlock) -> bool {
    let mut found = false;
    let mut look = |node: Node<'_>| found |= matches!(node, Node::Stmt(KStmt::Add { .. }));
    block.statements.iter().for_each(|statement| visit_stmt(statement, &mut look));
    found
}

impl Writer<'_> {
    /// Whether the pattern of an equation is being written, which may follow paths that lead nowhere.
    pub(super) fn tells_pattern(&self) -> bool {
        self.derivatives.as_ref().is_some_and(|d| d.target == Target::Pattern)
    }

    /// Before the body of a sum over the faces of a cell.
    pub(super) fn begin_sum(&mut self, cell: &Path, face: &str, pair: &str, outward: &str, body: &KBlock) {
        let Some(derivatives) = &mut self.derivatives else { return };
        let here = (*cell == Path::Here).then(|| pair.to_owned());
        let sign = format!("{face}_sign");
        derivatives.sums.push(Sum { sign: sign.clone(), here });
        if matches!(derivatives.target, Target::Slots | Target::Row) && adds(body) {
            let (ty, one) = (self.reals.number(), self.reals.literal(1.0));
            self.line(&format!("const {ty} {sign} = {outward} ? {one} : -{one};"));
        }
    }

    /// After it.
    pub(super) fn end_sum(&mut self) {
        if let Some(derivatives) = &mut self.derivatives {
            derivatives.sums.pop();
        }
    }

    /// Before a block of a side of a cell.
    pub(super) fn begin_side(&mut self, side: Side) {
        if let Some(derivatives) = &mut self.derivatives {
            derivatives.sides.push(side == Side::Low);
        }
    }

    /// After it.
    pub(super) fn end_side(&mut self) {
        if let Some(derivatives) = &mut self.derivatives {
            derivatives.sides.pop();
        }
    }

    /// An addition to the row.
    pub(super) fn add(&mut self, unknown: ParamId, at: &Path, value: &KExpr) {
        let Some(derivatives) = &self.derivatives else { return };
        let Some(set) = self.kernel.params[unknown.0 as usize].ty.mapping() else { return };
        let number = unknown.0;
        if derivatives.target == Target::Places {
            let minus = derivatives.sides.iter().fold(false, |minus, side| minus != *side);
            let names = &self.unknowns[number as usize];
            let variable = match at {
                Path::Neighbour(Side::Low) => format!("{}[axis]", names.low),
                Path::Neighbour(Side::High) => format!("{}[axis]", names.high),
                // The verifier lets nothing else through.
                _ => names.own.clone(),
            };
            let text = format!("{variable} = {variable} {} {};", if minus { '-' } else { '+' }, self.expr(value));
            self.line(&text);
            return;
        }
        let same = self.kernel.space_set() == Some(set);
        let UnknownNames { first, own, .. } = self.unknowns[number as usize].clone();
        // The cell at this end of the face may be the element here.
        let end = match at {
            Path::First(face) | Path::Second(face) if same => match &**face {
                Path::Local(face) => {
                    self.sides.get(face).is_some_and(|side| derivatives.sums.iter().any(|sum| sum.here.as_ref() == Some(&side.cells)))
                }
                _ => false,
            },
            _ => false,
        };
        let certain = same && *at == Path::Here;
        let (row, by_slot) = (derivatives.target != Target::Pattern, derivatives.target == Target::Slots);
        let signs: Vec<String> = derivatives.sums.iter().map(|sum| sum.sign.clone()).collect();
        if (end || certain)
            && let Some(derivatives) = &mut self.derivatives
        {
            derivatives.diagonals.insert(number);
        }
        let (position, entity) = (self.position(set, at), self.path(at));
        if !row {
            let tell = format!("eq_tell(told, {first}, {position});");
            match (certain, end) {
                (true, _) => {}
                (false, true) => self.line(&format!("if ({entity} != here) {tell}")),
                (false, false) => self.line(&tell),
            }
            return;
        }
        let factors: Vec<String> = signs.into_iter().chain([self.expr(value)]).collect();
        let value = factors.join(" * ");
        let add =
            if by_slot { format!("eq_add_at(row, *slot++, {value});") } else { format!("eq_add(row, {first} + {position}, {value});") };
        match (certain, end) {
            (true, _) => self.line(&format!("{own} = {own} + {value};")),
            (false, true) => {
                self.open(&format!("if ({entity} == here) {{"));
                self.line(&format!("{own} = {own} + {value};"));
                self.close("} else {");
                self.deeper();
                self.line(&add);
                self.close("}");
            }
            (false, false) => self.line(&add),
        }
    }
}
