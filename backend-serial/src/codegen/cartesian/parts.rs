//! Division of a large body into parts whose operations are evaluated together.
//!
//! A loop that reads some hundred slices has more addresses and values at a time than a processor
//! has registers. A large body is therefore cut into parts, each a loop over a strip of cells: the
//! values of one part wait for the others in buffers that stay in the nearest cache. A part takes
//! values that read the same rows of the grid, as long as those are few.
//!
//! No operation changes, so neither do bits. What is cheaper to do again than to store is repeated.

use equelle_front::backend::forms::Refusal;
use std::collections::{BTreeMap, BTreeSet};

use equelle_front::ir::visit::{Node, visit_expr};
use equelle_front::ir::{KBlock, KExpr, KStmt, LocalId, ParamId, UnaryOp};
use equelle_front::ops::{Arithmetic, BinaryMath};
use equelle_front::types::Basic;

use crate::codegen::emit::stencil::{leads_to_cell, steps};
use crate::codegen::emit::stencil_reads::RowSteps;
use crate::codegen::emit::text::ident;
use crate::codegen::emit::writer::{Failure, Writer, Written};

/// Bodies that read fewer rows of arrays are one loop.
const MANY_LANES: usize = 32;
/// The most rows that a part reads: a processor has 16 registers for addresses.
const MAX_LANES: usize = 12;
/// The most operations of a part.
const MAX_OPERATIONS: u32 = 160;
/// Operations that an elementary function takes about as long as.
const SLOW: u32 = 16;

/// A body in parts.
pub(super) struct Parts {
    /// Statements for values that are the same for all cells.
    pub same: Vec<KStmt>,
    /// Values that each part makes for itself, in the order of the body.
    pub repeated: Vec<(LocalId, KExpr)>,
    pub parts: Vec<Vec<Value>>,
}

/// A value that is evaluated once.
pub(super) struct Value {
    pub target: Target,
    pub value: KExpr,
    facts: Facts,
}

/// Local or result that a value defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Local(LocalId),
    /// A result, by number.
    Result(usize),
}

impl Value {
    /// The values of other parts or this one that it reads.
    pub(super) fn stored(&self) -> &BTreeSet<LocalId> {
        &self.facts.stored
    }

    /// The repeated values that it reads, by number.
    pub(super) fn repeated(&self) -> &BTreeSet<usize> {
        &self.facts.repeated
    }
}

/// Reads and cost of an expression, with the repeated values in it.
#[derive(Clone, Debug, Default)]
struct Facts {
    /// Rows of arrays, by number.
    lanes: BTreeSet<usize>,
    stored: BTreeSet<LocalId>,
    repeated: BTreeSet<usize>,
    /// Results, by number, that are written over what it reads.
    overwritten: BTreeSet<usize>,
    operations: u32,
    /// Elements and locals that it names and that differ from cell to cell.
    varying: u32,
}

/// Origin of a local.
enum Kind {
    Same,
    Repeated(usize),
    Stored,
}

/// Cuts a body; `None` where it is better one loop.
pub(super) fn parts(writer: &mut Writer, body: &KBlock) -> Written<Option<Parts>> {
    if writer.kernel.results.iter().any(|result| result.ty.basic != Basic::Scalar) {
        return Ok(None);
    }
    let mut cutter = Cutter { writer, lanes: Vec::new(), kinds: BTreeMap::new(), repeated: Vec::new(), values: Vec::new() };
    let mut same = Vec::new();
    for statement in &body.statements {
        match statement {
            KStmt::LetEntity { local, path } if leads_to_cell(cutter.writer, path) => {
                cutter.writer.stencil.cells.insert(*local, path.clone());
            }
            KStmt::Let { local, value } => {
                let Some(facts) = cutter.facts(value)? else { return Ok(None) };
                let basic = cutter.writer.kernel.expr_basic(value);
                // Strips hold numbers.
                if basic == Basic::Vector {
                    return Ok(None);
                }
                let is_truth = basic == Basic::Bool;
                let kind = if facts.varying == 0 {
                    same.push(statement.clone());
                    Kind::Same
                } else if is_truth || facts.operations <= 1 && facts.varying == 1 {
                    cutter.repeated.push((*local, value.clone(), facts));
                    Kind::Repeated(cutter.repeated.len() - 1)
                } else {
                    let name = cutter.writer.local(*local)?.to_string();
                    cutter.evaluate(Target::Local(*local), value, &name)?;
                    Kind::Stored
                };
                cutter.kinds.insert(*local, kind);
            }
            KStmt::LetEntity { .. } | KStmt::ReduceFaces { .. } | KStmt::ReduceSides { .. } | KStmt::If { .. } | KStmt::Add { .. } => {
                return Ok(None);
            }
        }
    }
    for (number, value) in body.yields.iter().enumerate() {
        if cutter.facts(value)?.is_none() {
            return Ok(None);
        }
        let name = cutter.writer.results[number].to_string();
        cutter.evaluate(Target::Result(number), value, &name)?;
    }
    if cutter.lanes.len() < MANY_LANES {
        return Ok(None);
    }
    let repeated = cutter.repeated.into_iter().map(|(local, value, _)| (local, value)).collect();
    Ok(grouped(cutter.values).map(|parts| Parts { same, repeated, parts }))
}

struct Cutter<'w, 'a> {
    writer: &'w mut Writer<'a>,
    lanes: Vec<(ParamId, RowSteps)>,
    kinds: BTreeMap<LocalId, Kind>,
    repeated: Vec<(LocalId, KExpr, Facts)>,
    values: Vec<Value>,
}

impl Cutter<'_, '_> {
    /// `None` where parts cannot have it.
    fn facts(&mut self, value: &KExpr) -> Written<Option<Facts>> {
        let mut facts = Facts::default();
        let mut fits = true;
        let mut loads = Vec::new();
        visit_expr(value, &mut |node| {
            let Node::Expr(expr) = node else { return };
            match expr {
                KExpr::Load { param, at } => loads.push((*param, at.clone())),
                KExpr::CellFact { .. } | KExpr::Centroid(_) => facts.varying += 1,
                KExpr::Local(id) => match self.kinds.get(id) {
                    Some(Kind::Same) => {}
                    Some(Kind::Repeated(number)) => {
                        let of_local = &self.repeated[*number].2;
                        facts.lanes.extend(&of_local.lanes);
                        facts.stored.extend(&of_local.stored);
                        facts.repeated.extend(&of_local.repeated);
                        facts.overwritten.extend(&of_local.overwritten);
                        facts.repeated.insert(*number);
                        facts.varying += 1;
                    }
                    Some(Kind::Stored) => {
                        facts.stored.insert(*id);
                        facts.varying += 1;
                    }
                    None => fits = false,
                },
                KExpr::Unary(UnaryOp::Elementary(_), _)
                | KExpr::Math(BinaryMath::Pow | BinaryMath::ATan2, ..)
                | KExpr::Interpolate { .. } => facts.operations += SLOW,
                KExpr::Unary(..)
                | KExpr::Arithmetic(..)
                | KExpr::Compare(..)
                | KExpr::Logic(..)
                | KExpr::Math(BinaryMath::Min | BinaryMath::Max, ..)
                | KExpr::Component(..)
                | KExpr::Select { .. } => facts.operations += 1,
                KExpr::Real(_) | KExpr::Bool(_) | KExpr::Param(_) | KExpr::Measure(_) => {}
                KExpr::Normal(_)
                | KExpr::FaceGap(_)
                | KExpr::FaceTransmissibility(_)
                | KExpr::IsEmpty(_)
                | KExpr::Member { .. }
                | KExpr::Same(..)
                | KExpr::Dot(..)
                | KExpr::Vector(_)
                | KExpr::ZeroVector
                | KExpr::Entity(_)
                | KExpr::Displacement { .. } => fits = false,
            }
        });
        for (param, at) in loads {
            // One value for all cells.
            if self.writer.param(param)?.0.per_axis {
                continue;
            }
            facts.varying += 1;
            if let Some(result) = self.writer.kernel.result_in(param) {
                facts.overwritten.insert(result);
                continue;
            }
            let [_, y, z] = match steps(self.writer, &at) {
                Ok(steps) => steps,
                Err(Failure::Form(_)) => return Ok(None),
                Err(error) => return Err(error),
            };
            let lane = (param, [y, z]);
            let number = self.lanes.iter().position(|known| *known == lane).unwrap_or_else(|| {
                self.lanes.push(lane);
                self.lanes.len() - 1
            });
            facts.lanes.insert(number);
        }
        Ok(fits.then_some(facts))
    }

    fn known_facts(&mut self, value: &KExpr) -> Written<Facts> {
        self.facts(value)?.ok_or(Failure::Form(Refusal::OtherElement))
    }

    /// Notes a value, after parts of it where it reads too many rows.
    fn evaluate(&mut self, target: Target, value: &KExpr, name: &str) -> Written<()> {
        let value = self.cut(value.clone(), name)?;
        let facts = self.known_facts(&value)?;
        self.values.push(Value { target, value, facts });
        Ok(())
    }

    /// An expression that reads few rows: what reads the others is stored.
    fn cut(&mut self, value: KExpr, name: &str) -> Written<KExpr> {
        if self.known_facts(&value)?.lanes.len() <= MAX_LANES {
            return Ok(value);
        }
        Ok(match value {
            KExpr::Unary(op, a) => KExpr::Unary(op, Box::new(self.cut(*a, name)?)),
            KExpr::Arithmetic(op, a, b) => {
                let (a, b) = self.cut_both(*a, *b, name)?;
                KExpr::Arithmetic(op, Box::new(a), Box::new(b))
            }
            KExpr::Math(op, a, b) => {
                let (a, b) = self.cut_both(*a, *b, name)?;
                KExpr::Math(op, Box::new(a), Box::new(b))
            }
            // Both branches are evaluated: nothing here can fail.
            KExpr::Select { condition, if_true, if_false } => {
                let (if_true, if_false) = self.cut_both(*if_true, *if_false, name)?;
                KExpr::Select { condition, if_true: Box::new(if_true), if_false: Box::new(if_false) }
            }
            other => other,
        })
    }

    fn cut_both(&mut self, a: KExpr, b: KExpr, name: &str) -> Written<(KExpr, KExpr)> {
        let (mut a, mut b) = (self.cut(a, name)?, self.cut(b, name)?);
        let (of_a, of_b) = (self.known_facts(&a)?.lanes, self.known_facts(&b)?.lanes);
        if of_a.union(&of_b).count() > MAX_LANES {
            if of_a.len() >= of_b.len() {
                a = self.stored(a, name)?;
            } else {
                b = self.stored(b, name)?;
            }
        }
        Ok((a, b))
    }

    /// A new local for a value.
    fn stored(&mut self, value: KExpr, name: &str) -> Written<KExpr> {
        // A product stays beside the sum that it may be rounded with.
        if let KExpr::Arithmetic(Arithmetic::Mul, a, b) = value {
            let both = (self.known_facts(&a)?.varying, self.known_facts(&b)?.varying);
            return Ok(match both {
                (0, _) => KExpr::Arithmetic(Arithmetic::Mul, a, Box::new(self.stored(*b, name)?)),
                (_, 0) => KExpr::Arithmetic(Arithmetic::Mul, Box::new(self.stored(*a, name)?), b),
                _ => self.new_local(KExpr::Arithmetic(Arithmetic::Mul, a, b), name)?,
            });
        }
        self.new_local(value, name)
    }

    fn new_local(&mut self, value: KExpr, name: &str) -> Written<KExpr> {
        let local = LocalId(self.writer.locals.len() as u32);
        let name = self.writer.namer.fresh(&format!("{name}_part"));
        self.writer.locals.push(ident(&name));
        let facts = self.known_facts(&value)?;
        self.values.push(Value { target: Target::Local(local), value, facts });
        self.kinds.insert(local, Kind::Stored);
        Ok(KExpr::Local(local))
    }
}

/// Puts values that read the same rows together, each after those that it reads and before what it
/// reads is overwritten; `None` where there is no such order.
fn grouped(values: Vec<Value>) -> Option<Vec<Vec<Value>>> {
    let mut parts = Vec::new();
    let mut made: BTreeSet<LocalId> = BTreeSet::new();
    let mut waiting: Vec<Option<Value>> = values.into_iter().map(Some).collect();
    while waiting.iter().any(Option::is_some) {
        let mut part: Vec<Value> = Vec::new();
        let (mut lanes, mut operations) = (BTreeSet::new(), 0);
        loop {
            let reads = |number: usize| {
                waiting
                    .iter()
                    .flatten()
                    .filter(|value| value.facts.overwritten.contains(&number))
                    .all(|value| value.target == Target::Result(number))
            };
            let fits = |value: &Value| {
                let facts = &value.facts;
                let is_read_no_more = |target| if let Target::Result(number) = target { reads(number) } else { true };
                facts.stored.is_subset(&made)
                    && is_read_no_more(value.target)
                    && (part.is_empty()
                        || lanes.union(&facts.lanes).count() <= MAX_LANES && operations + facts.operations <= MAX_OPERATIONS)
            };
            let candidates = waiting.iter().enumerate().filter_map(|(number, value)| Some((number, value.as_ref()?)));
            let next = candidates.filter(|(_, value)| fits(value)).min_by_key(|(number, value)| {
                let facts = &value.facts;
                let first_of_part = lanes.is_empty();
                let (new, shared) = (facts.lanes.difference(&lanes).count(), facts.lanes.intersection(&lanes).count());
                (if first_of_part { 0 } else { new }, usize::MAX - shared, *number)
            });
            let Some(value) = next.map(|(number, _)| number).and_then(|number| waiting[number].take()) else { break };
            lanes.extend(&value.facts.lanes);
            operations += value.facts.operations;
            if let Target::Local(local) = value.target {
                made.insert(local);
            }
            part.push(value);
        }
        if part.is_empty() {
            return None;
        }
        parts.push(part);
    }
    Some(parts)
}
