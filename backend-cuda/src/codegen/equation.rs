//! Equations: the residual and its row of the Jacobian in one pass, and the pattern of the rows.
//!
//! An equation becomes two functions. The *pattern* tells once per grid which derivatives each element has, from the skeleton of the Jacobian form; the other one evaluates, and
//! adds each derivative to the entry of its column. One thread owns a row.

use std::collections::BTreeSet;

use equelle_front::backend::stencil::Skeleton;
use equelle_front::backend::visit::{Node, visit_stmt};
use equelle_front::ir::{JacobianForm, KBlock, KExpr, KStmt, Kernel, ParamId, Path};
use equelle_front::types::SetTable;

use super::kernel::{Argument, Function, GridNeeds, checks, finish, grid_needs, mentions, store};
use super::text::{Form, UnknownNames, Writer};

/// Where derivatives go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// To the entries of the row.
    Row,
    /// To the pattern.
    Pattern,
}

/// What a [`Writer`] of an equation keeps about derivatives.
#[derive(Clone, Debug)]
pub(super) struct Derivatives {
    target: Target,
    /// Of the sums around, outermost first.
    sums: Vec<Sum>,
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

/// Writes both functions. `comment` stands above them.
pub(super) fn equation_text(kernel: &Kernel, form: &JacobianForm, sets: &SetTable, name: &str, comment: &str) -> EquationText {
    let skeleton = Skeleton::of(form);
    let (told, diagonals) = body(kernel, sets, Target::Pattern, &skeleton.block);
    let mut pattern = Writer::new(kernel, sets, Form::General);
    begin(&mut pattern);
    pattern.line("EqTold told = eq_told(pattern, element);");
    for &unknown in &diagonals {
        let first = pattern.unknowns[unknown as usize].first.clone();
        pattern.line(&format!("eq_tell(told, {first}, element);"));
    }
    pattern.out += &told.out;
    pattern.line("pattern.counts[element] = told.count;");

    let (evaluated, diagonals) = body(kernel, sets, Target::Row, &form.body);
    let mut writer = Writer::new(kernel, sets, Form::General);
    begin(&mut writer);
    checks(&mut writer, kernel, "return;");
    writer.line("const EqRow row = eq_row(rows, element);");
    for &unknown in &diagonals {
        let own = writer.unknowns[unknown as usize].own.clone();
        writer.line(&format!("double {own} = 0.0;"));
    }
    writer.out += &evaluated.out;
    for &unknown in &diagonals {
        let UnknownNames { first, own } = writer.unknowns[unknown as usize].clone();
        writer.line(&format!("eq_add(row, {first} + element, {own});"));
    }
    store(&mut writer, kernel, &form.body, "element", "space.size");

    let unknowns = form.unknowns as usize;
    let evaluation = finish_equation(writer, kernel, sets, name, comment, &form.body, Argument::Rows, unknowns);
    let pattern = finish_equation(pattern, kernel, sets, &format!("{name}_pattern"), comment, &skeleton.block, Argument::Pattern, unknowns);
    EquationText { evaluation, pattern }
}

fn begin(w: &mut Writer<'_>) {
    w.line("const EqEntity element = eq_index();");
    w.line("if (element >= space.size) return;");
    w.line("const EqEntity here = eq_entity(space, element);");
}

/// The statements of a block, and the unknowns whose element here has a variable of its own.
fn body<'a>(kernel: &'a Kernel, sets: &'a SetTable, target: Target, block: &KBlock) -> (Writer<'a>, BTreeSet<u32>) {
    let mut w = Writer::new(kernel, sets, Form::General);
    w.derivatives = Some(Derivatives { target, sums: Vec::new(), diagonals: BTreeSet::new() });
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
    let needs = grid_needs(kernel, sets, &conditions, block);
    if needs != GridNeeds::default() {
        arguments.push(Argument::Grid);
    }
    arguments.extend(w.used_ranks().into_iter().map(Argument::Ranks));
    if target == Argument::Rows && !kernel.checks.is_empty() {
        arguments.push(Argument::Checks);
    }
    arguments.push(target);
    arguments.extend((0..unknowns).filter(|&k| mentions(&w.out, &w.unknowns[k].first)).map(Argument::First));
    finish(w, kernel, name, comment, arguments, needs)
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
    pub(super) fn begin_sum(&mut self, cell: &Path, face: &str, pair: &str, body: &KBlock) {
        let Some(derivatives) = &mut self.derivatives else { return };
        let here = (*cell == Path::Here).then(|| pair.to_owned());
        let sign = format!("{face}_sign");
        derivatives.sums.push(Sum { sign: sign.clone(), here });
        if derivatives.target == Target::Row && adds(body) {
            let cell = self.path(cell);
            self.line(&format!("const double {sign} = {pair}.first == {cell} ? 1.0 : -1.0;"));
        }
    }

    /// After it.
    pub(super) fn end_sum(&mut self) {
        if let Some(derivatives) = &mut self.derivatives {
            derivatives.sums.pop();
        }
    }

    /// An addition to the row.
    pub(super) fn add(&mut self, unknown: ParamId, at: &Path, value: &KExpr) {
        let Some(derivatives) = &self.derivatives else { return };
        let Some(set) = self.kernel.params[unknown.0 as usize].ty.mapping() else { return };
        let number = unknown.0;
        let same = self.kernel.space_set() == Some(set);
        let UnknownNames { first, own } = self.unknowns[number as usize].clone();
        // The cell at this end of the face may be the element here.
        let end = match at {
            Path::First(face) | Path::Second(face) if same => match &**face {
                Path::Local(face) => {
                    let pair = self.pairs.get(face);
                    pair.filter(|pair| derivatives.sums.iter().any(|sum| sum.here.as_ref() == Some(*pair))).is_some()
                }
                _ => false,
            },
            _ => false,
        };
        let certain = same && *at == Path::Here;
        let row = derivatives.target == Target::Row;
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
        match (certain, end) {
            (true, _) => self.line(&format!("{own} = {own} + {value};")),
            (false, true) => {
                self.open(&format!("if ({entity} == here) {{"));
                self.line(&format!("{own} = {own} + {value};"));
                self.close("} else {");
                self.deeper();
                self.line(&format!("eq_add(row, {first} + {position}, {value});"));
                self.close("}");
            }
            (false, false) => self.line(&format!("eq_add(row, {first} + {position}, {value});")),
        }
    }
}
