//! Reverse mode over the structure of a body: what a result depends on gets an *adjoint*, the
//! derivative of the residual by it; statements are treated last to first, and an adjoint that
//! arrives at an element of an unknown is added to the row.
//!
//! A sum over faces whose results have adjoints that are known before it takes the adjoint
//! statements into its own loop; else a second loop evaluates again what it needs. The signs of a
//! sum appear nowhere: what is added in a sum, and what a sum hands out as adjoints of values from
//! outside, has them as any term.
//!
//! An extreme over faces is the term of one face: the loop that finds it keeps that face, and a sum
//! in which no other face has a term is what is differentiated.

use std::collections::{BTreeMap, BTreeSet};

use super::super::locals::assigned;
use super::algebra::{add, div, dot, mul, neg};
use super::elementary;
use super::flatten::{Work, fresh_copy, is_atom, read_by_block};
use crate::backend::visit::{Node, visit_expr, visit_path};
use crate::ir::{ExprClass, Interpolant, KBlock, KExpr, KStmt, LocalId, Path, Side, SideBlocks, UnaryOp};
use crate::ops::{Arithmetic, BinaryMath, Comparison, Elementary, FaceReduction};
use crate::types::{Basic, EntityKind, Shape, Type};

/// A construct without a derivative here, as a message calls it.
pub(super) type Obstacle = &'static str;

/// Part of a value with respect to which an adjoint is the derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// The Scalar or Vector.
    Whole,
    /// One component of a Vector.
    Axis(u32),
}

type Key = (LocalId, Part);
/// Adjoints of one yield.
type Seed = Vec<(Part, KExpr)>;

/// The body with its adjoint statements. The residual's adjoint is one.
pub(super) fn differentiate(work: &mut Work, body: KBlock) -> Result<KBlock, Obstacle> {
    let seeds = vec![vec![(Part::Whole, KExpr::Real(1.0))]];
    let (block, _) = reverse(work, body, seeds)?;
    Ok(block)
}

/// A block being treated.
struct Sheet {
    /// Position from which on a local is known: before the statement of that number. Locals from
    /// outside are known at 0.
    ready: BTreeMap<LocalId, usize>,
    /// Statements to insert before the statement of that number.
    inserted: Vec<Vec<KStmt>>,
    /// Adjoints found so far.
    found: BTreeMap<Key, Vec<KExpr>>,
}

impl Sheet {
    fn ready_of(&self, locals: impl IntoIterator<Item = LocalId>) -> usize {
        locals.into_iter().filter_map(|id| self.ready.get(&id).copied()).max().unwrap_or(0)
    }

    fn ready_expr(&self, expr: &KExpr) -> usize {
        let mut read = BTreeSet::new();
        visit_expr(expr, &mut |node| note(node, &mut read));
        self.ready_of(read)
    }

    /// Inserts a statement where what it reads is known.
    fn insert(&mut self, statement: KStmt) {
        let position = self.ready_of(read_by_block(&KBlock { statements: vec![statement.clone()], yields: Vec::new() }));
        for local in assigned(&statement) {
            self.ready.insert(local, position);
        }
        self.inserted[position].push(statement);
    }
}

fn note(node: Node<'_>, read: &mut BTreeSet<LocalId>) {
    if let Node::Expr(KExpr::Local(id)) | Node::Path(Path::Local(id)) = node {
        read.insert(*id);
    }
}

/// A block with its adjoint statements, given the adjoints of its yields; and the adjoints of
/// locals from outside.
fn reverse(work: &mut Work, block: KBlock, seeds: Vec<Seed>) -> Result<(KBlock, BTreeMap<Key, KExpr>), Obstacle> {
    let count = block.statements.len();
    let mut sheet = Sheet { ready: BTreeMap::new(), inserted: vec![Vec::new(); count + 1], found: BTreeMap::new() };
    for (k, statement) in block.statements.iter().enumerate() {
        assigned(statement).into_iter().for_each(|local| {
            sheet.ready.insert(local, k + 1);
        });
    }
    for (value, seed) in block.yields.iter().zip(seeds) {
        for (part, adjoint) in seed {
            push(work, &mut sheet, value, part, adjoint, None)?;
        }
    }
    let mut statements = block.statements;
    for k in (0..count).rev() {
        if let KStmt::Let { local, value } = &statements[k] {
            let (local, value) = (*local, value.clone());
            for (part, adjoint) in take(&mut sheet, local) {
                push(work, &mut sheet, &value, part, adjoint, Some(local))?;
            }
            continue;
        }
        if matches!(statements[k], KStmt::LetEntity { .. } | KStmt::Add { .. }) {
            continue;
        }
        let mut seeds: Vec<Seed> = Vec::new();
        for result in assigned(&statements[k]) {
            let seed = take(&mut sheet, result);
            seeds.push(seed.into_iter().map(|(part, adjoint)| (part, named(work, &mut sheet, adjoint))).collect());
        }
        if seeds.iter().all(Vec::is_empty) {
            continue;
        }
        if is_extreme(&statements[k]) {
            let extreme = name_faces(work, &mut sheet, &mut statements[k], k);
            for (source, seeds) in sums_at_extremes(work, &extreme, seeds) {
                let (statement, adjoints) = nested(work, source, seeds, false)?;
                sheet.insert(statement);
                found(&mut sheet, adjoints);
            }
            continue;
        }
        let known = seeds.iter().flatten().map(|(_, adjoint)| sheet.ready_expr(adjoint)).max().unwrap_or(0);
        let merged = known <= k;
        let source = if merged { statements[k].clone() } else { copy_of(work, &statements[k]) };
        let (statement, adjoints) = nested(work, source, SumSeeds::alike(seeds), merged)?;
        if merged {
            for local in assigned(&statement) {
                sheet.ready.insert(local, k + 1);
            }
            statements[k] = statement;
        } else {
            sheet.insert(statement);
        }
        found(&mut sheet, adjoints);
    }
    let mut out = Vec::new();
    let mut inserted = sheet.inserted.into_iter();
    for statement in statements {
        out.extend(inserted.next().unwrap_or_default());
        out.push(statement);
    }
    out.extend(inserted.flatten());
    let outer = sheet.found.into_iter().map(|(key, adjoints)| (key, total(adjoints))).collect();
    Ok((KBlock { statements: out, yields: block.yields }, outer))
}

fn found(sheet: &mut Sheet, adjoints: Vec<(Key, LocalId)>) {
    for (key, local) in adjoints {
        sheet.found.entry(key).or_default().push(KExpr::Local(local));
    }
}

/// The adjoints of a local, all its uses added up.
fn take(sheet: &mut Sheet, local: LocalId) -> Seed {
    let keys: Vec<Key> = sheet.found.range((local, Part::Whole)..=(local, Part::Axis(u32::MAX))).map(|(key, _)| *key).collect();
    keys.into_iter().filter_map(|key| sheet.found.remove(&key).map(|adjoints| (key.1, total(adjoints)))).collect()
}

fn total(adjoints: Vec<KExpr>) -> KExpr {
    adjoints.into_iter().reduce(add).unwrap_or(KExpr::Real(0.0))
}

fn copy_of(work: &mut Work, statement: &KStmt) -> KStmt {
    let block = KBlock { statements: vec![statement.clone()], yields: Vec::new() };
    fresh_copy(work, &block).statements.pop().unwrap_or_else(|| statement.clone())
}

/// Treats a statement with blocks. Its results are those it had, if they are kept, and the adjoints
/// of locals from outside, which are listed.
fn nested(work: &mut Work, statement: KStmt, seeds: SumSeeds, keep: bool) -> Result<(KStmt, Vec<(Key, LocalId)>), Obstacle> {
    match statement {
        KStmt::If { results, condition, then, otherwise } => {
            let all = vec![Some((then, seeds.high.clone())), Some((otherwise, seeds.high))];
            let (mut blocks, results, adjoints) = blocks(work, all, results, keep)?;
            let (otherwise, then) = (blocks.pop().flatten().unwrap_or_default(), blocks.pop().flatten().unwrap_or_default());
            Ok((KStmt::If { results, condition, then, otherwise }, adjoints))
        }
        KStmt::ReduceFaces { reduction, results, extreme_faces, cell, face, only, body } => {
            let (mut blocks, results, adjoints) = blocks(work, vec![Some((body, seeds.high))], results, keep)?;
            scalars_only(work, &adjoints)?;
            let body = blocks.pop().flatten().unwrap_or_default();
            Ok((KStmt::ReduceFaces { reduction, results, extreme_faces, cell, face, only, body }, adjoints))
        }
        KStmt::ReduceSides { reduction, results, extreme_faces, low, high } => {
            let at = |block: Option<KBlock>, seeds: &Vec<Seed>| block.map(|block| (block, seeds.clone()));
            let (of_low, of_high) = (&seeds.low, &seeds.high);
            let all = vec![at(low.interior, of_low), at(low.boundary, of_low), at(high.interior, of_high), at(high.boundary, of_high)];
            let (blocks, results, adjoints) = blocks(work, all, results, keep)?;
            scalars_only(work, &adjoints)?;
            let mut blocks = blocks.into_iter();
            let mut side = || SideBlocks { interior: blocks.next().flatten(), boundary: blocks.next().flatten() };
            let (low, high) = (side(), side());
            Ok((KStmt::ReduceSides { reduction, results, extreme_faces, low, high }, adjoints))
        }
        KStmt::Let { .. } | KStmt::LetEntity { .. } | KStmt::Add { .. } => Err("a statement without blocks"),
    }
}

fn scalars_only(work: &Work, adjoints: &[(Key, LocalId)]) -> Result<(), Obstacle> {
    let vector = adjoints.iter().any(|(_, local)| work.kernel.local_type(*local).is_some_and(|ty| ty.basic == Basic::Vector));
    if vector { Err("a Vector that depends on the unknown, used in a sum over faces of another entity") } else { Ok(()) }
}

/// Adjoints of the yields of a statement's blocks.
struct SumSeeds {
    /// Adjoints of the blocks for the low side of a cell.
    low: Vec<Seed>,
    /// Adjoints of all other blocks.
    high: Vec<Seed>,
}

impl SumSeeds {
    fn alike(seeds: Vec<Seed>) -> SumSeeds {
        SumSeeds { low: seeds.clone(), high: seeds }
    }
}

fn is_extreme(statement: &KStmt) -> bool {
    match statement {
        KStmt::ReduceFaces { reduction, .. } | KStmt::ReduceSides { reduction, .. } => *reduction != FaceReduction::Sum,
        KStmt::Let { .. } | KStmt::LetEntity { .. } | KStmt::If { .. } | KStmt::Add { .. } => false,
    }
}

/// Gives each result of an extreme, which is the statement of this number, a name for its face. The
/// statement as it is then.
fn name_faces(work: &mut Work, sheet: &mut Sheet, statement: &mut KStmt, number: usize) -> KStmt {
    if let KStmt::ReduceFaces { results, extreme_faces, .. } | KStmt::ReduceSides { results, extreme_faces, .. } = statement
        && extreme_faces.is_empty()
    {
        for result in results {
            let name = format!("{}_face", work.kernel.locals[result.0 as usize].name);
            let face = work.local(
                &name,
                Type { basic: Basic::Entity(EntityKind::Face), shape: Shape::Single, within: None, halo: crate::types::Halo::NONE },
            );
            extreme_faces.push(face);
            sheet.ready.insert(face, number + 1);
        }
    }
    statement.clone()
}

/// For each result of an extreme that has an adjoint: the sum over the same faces of its term where
/// the face is that of the extreme, and the adjoints of its terms before the signs of the sum.
fn sums_at_extremes(work: &mut Work, extreme: &KStmt, seeds: Vec<Seed>) -> Vec<(KStmt, SumSeeds)> {
    let (KStmt::ReduceFaces { extreme_faces, .. } | KStmt::ReduceSides { extreme_faces, .. }) = extreme else { return Vec::new() };
    let mut out = Vec::new();
    for (i, seed) in seeds.into_iter().enumerate() {
        let (Some(&found), Some((_, adjoint))) = (extreme_faces.get(i), seed.first()) else { continue };
        let (adjoint, negative) = (adjoint.clone(), neg(adjoint.clone()));
        let seeds = |adjoint: KExpr| vec![vec![(Part::Whole, adjoint)]];
        match copy_of(work, extreme) {
            KStmt::ReduceFaces { results, cell, face, only, body, .. } => {
                let body = only_at(work, body, i, &Path::Local(face), found);
                let outward = KExpr::Same(Box::new(Path::First(Box::new(Path::Local(face)))), Box::new(cell.clone()));
                let signed = KExpr::Select { condition: Box::new(outward), if_true: Box::new(adjoint), if_false: Box::new(negative) };
                let results = results.into_iter().skip(i).take(1).collect();
                let (reduction, extreme_faces) = (FaceReduction::Sum, Vec::new());
                let sum = KStmt::ReduceFaces { reduction, results, extreme_faces, cell, face, only, body };
                out.push((sum, SumSeeds::alike(seeds(signed))));
            }
            KStmt::ReduceSides { results, low, high, .. } => {
                let mut side = |blocks: SideBlocks, side: Side| {
                    let mut block = |block: Option<KBlock>| block.map(|block| only_at(work, block, i, &Path::SideFace(side), found));
                    SideBlocks { interior: block(blocks.interior), boundary: block(blocks.boundary) }
                };
                let (low, high) = (side(low, Side::Low), side(high, Side::High));
                let results = results.into_iter().skip(i).take(1).collect();
                let (reduction, extreme_faces) = (FaceReduction::Sum, Vec::new());
                let sum = KStmt::ReduceSides { reduction, results, extreme_faces, low, high };
                out.push((sum, SumSeeds { low: seeds(negative), high: seeds(adjoint) }));
            }
            KStmt::Let { .. } | KStmt::LetEntity { .. } | KStmt::If { .. } | KStmt::Add { .. } => {}
        }
    }
    out
}

/// A block that yields one of its values where a face is the one that was found, else 0.
fn only_at(work: &mut Work, mut block: KBlock, value: usize, face: &Path, found: LocalId) -> KBlock {
    block.yields = block.yields.into_iter().skip(value).take(1).collect();
    let term = work.local("term", Type::SCALAR);
    work.active.insert(term);
    let condition = KExpr::Same(Box::new(face.clone()), Box::new(Path::Local(found)));
    let otherwise = KBlock { statements: Vec::new(), yields: vec![KExpr::Real(0.0)] };
    let choice = KStmt::If { results: vec![term], condition, then: block, otherwise };
    KBlock { statements: vec![choice], yields: vec![KExpr::Local(term)] }
}

type Blocks = (Vec<Option<KBlock>>, Vec<LocalId>, Vec<(Key, LocalId)>);

/// Treats blocks, each with the adjoints of its yields, that share their results.
fn blocks(work: &mut Work, blocks: Vec<Option<(KBlock, Vec<Seed>)>>, mut results: Vec<LocalId>, keep: bool) -> Result<Blocks, Obstacle> {
    let mut treated = Vec::new();
    let mut keys: BTreeSet<Key> = BTreeSet::new();
    for block in blocks {
        let done = block.map(|(block, seeds)| reverse(work, block, seeds)).transpose()?;
        keys.extend(done.iter().flat_map(|(_, outer)| outer.keys().copied()));
        treated.push(done);
    }
    if !keep {
        results.clear();
    }
    let mut adjoints = Vec::new();
    for &(local, part) in &keys {
        let old = work.kernel.locals[local.0 as usize].clone();
        let ty = if part == Part::Whole { old.ty } else { Type::SCALAR };
        let adjoint = work.local(&format!("d_{}", old.name), ty);
        results.push(adjoint);
        adjoints.push(((local, part), adjoint));
    }
    let blocks = treated.into_iter().map(|done| {
        let (mut block, mut outer) = done?;
        if !keep {
            block.yields.clear();
        }
        for (key, adjoint) in &adjoints {
            let zero = if work.kernel.local_type(*adjoint) == Some(Type::SCALAR) { KExpr::Real(0.0) } else { KExpr::ZeroVector };
            block.yields.push(outer.remove(key).unwrap_or(zero));
        }
        Some(block)
    });
    Ok((blocks.collect(), results, adjoints))
}

/// An adjoint that can be used several times.
fn named(work: &mut Work, sheet: &mut Sheet, adjoint: KExpr) -> KExpr {
    match adjoint {
        KExpr::Unary(UnaryOp::Neg, a) if !is_atom(&a) => neg(named(work, sheet, *a)),
        adjoint if is_atom(&adjoint) => adjoint,
        KExpr::Unary(UnaryOp::Neg, a) => KExpr::Unary(UnaryOp::Neg, a),
        adjoint => {
            let local = work.local("d", work.kernel.expr_type(&adjoint));
            sheet.insert(KStmt::Let { local, value: adjoint });
            KExpr::Local(local)
        }
    }
}

/// Passes an adjoint of (a part of) an expression on to what it is computed from. `value` is the
/// local that holds the expression, if one does.
fn push(work: &mut Work, sheet: &mut Sheet, expr: &KExpr, part: Part, adjoint: KExpr, value: Option<LocalId>) -> Result<(), Obstacle> {
    if adjoint == KExpr::Real(0.0) || !work.is_active(expr) {
        return Ok(());
    }
    let own = || value.map(KExpr::Local).unwrap_or_else(|| expr.clone());
    match expr {
        KExpr::Local(id) => sheet.found.entry((*id, part)).or_default().push(adjoint),
        KExpr::Load { param, at } => {
            let mut read = BTreeSet::new();
            visit_path(at, &mut |node| note(node, &mut read));
            sheet.insert(KStmt::Add { unknown: *param, at: at.clone(), value: adjoint });
        }
        KExpr::Unary(op, a) => {
            let a_value = (**a).clone();
            let factor = match op {
                UnaryOp::Neg => return push(work, sheet, a, part, neg(adjoint), None),
                UnaryOp::Not => return Ok(()),
                UnaryOp::Abs => {
                    let adjoint = named(work, sheet, adjoint);
                    let negative = KExpr::Compare(Comparison::Less, a.clone(), Box::new(KExpr::Real(0.0)));
                    let signed = KExpr::Select {
                        condition: Box::new(negative),
                        if_true: Box::new(neg(adjoint.clone())),
                        if_false: Box::new(adjoint),
                    };
                    return push(work, sheet, a, part, signed, None);
                }
                UnaryOp::Sqrt => div(KExpr::Real(0.5), own()),
                UnaryOp::Length => {
                    let along = mul(a_value, div(adjoint, own()));
                    return push(work, sheet, a, Part::Whole, along, None);
                }
                UnaryOp::Elementary(function) => {
                    let adjoint = elementary::adjoint(*function, adjoint, a_value, own());
                    return push(work, sheet, a, part, adjoint, None);
                }
            };
            push(work, sheet, a, part, mul(adjoint, factor), None)?;
        }
        KExpr::Arithmetic(op, a, b) => {
            let both = work.is_active(a) && work.is_active(b);
            let adjoint = if both { named(work, sheet, adjoint) } else { adjoint };
            let vector = |e: &KExpr| work.kernel.expr_basic(e) == Basic::Vector;
            match op {
                Arithmetic::Add | Arithmetic::Sub => {
                    let second = if *op == Arithmetic::Sub { neg(adjoint.clone()) } else { adjoint.clone() };
                    push(work, sheet, a, part, adjoint, None)?;
                    push(work, sheet, b, part, second, None)?;
                }
                Arithmetic::Mul => {
                    // The Vector first, if there is one.
                    let (a, b) = if vector(b) { (b, a) } else { (a, b) };
                    let is_vector = vector(a);
                    push(work, sheet, a, part, mul(adjoint.clone(), (**b).clone()), None)?;
                    push(work, sheet, b, Part::Whole, along(is_vector, part, adjoint, (**a).clone()), None)?;
                }
                Arithmetic::Div => {
                    let is_vector = vector(a);
                    push(work, sheet, a, part, div(adjoint.clone(), (**b).clone()), None)?;
                    let by_divisor = neg(div(along(is_vector, part, adjoint, own()), (**b).clone()));
                    push(work, sheet, b, Part::Whole, by_divisor, None)?;
                }
            }
        }
        KExpr::Interpolate { table, of: Interpolant::Value, argument } => {
            let slope = KExpr::Interpolate { table: *table, of: Interpolant::Slope, argument: argument.clone() };
            push(work, sheet, argument, part, mul(adjoint, slope), None)?;
        }
        KExpr::Dot(a, b) => {
            let adjoint = named(work, sheet, adjoint);
            push(work, sheet, a, Part::Whole, mul((**b).clone(), adjoint.clone()), None)?;
            push(work, sheet, b, Part::Whole, mul((**a).clone(), adjoint), None)?;
        }
        KExpr::Component(a, i) => push(work, sheet, a, Part::Axis(*i), adjoint, None)?,
        KExpr::Vector(components) => match part {
            Part::Whole => {
                let adjoint = named(work, sheet, adjoint);
                for (i, component) in (0..).zip(components) {
                    push(work, sheet, component, Part::Whole, KExpr::Component(Box::new(adjoint.clone()), i), None)?;
                }
            }
            Part::Axis(i) => {
                if let Some(component) = components.get(i as usize) {
                    push(work, sheet, component, Part::Whole, adjoint, None)?;
                }
            }
        },
        KExpr::Math(BinaryMath::Pow, a, b) => {
            let adjoint = if work.is_active(a) && work.is_active(b) { named(work, sheet, adjoint) } else { adjoint };
            if work.is_active(a) {
                let factor = power_by_base((**a).clone(), (**b).clone());
                push(work, sheet, a, Part::Whole, mul(adjoint.clone(), factor), None)?;
            }
            if work.is_active(b) {
                // The limit from above for positive exponents.
                let zero = KExpr::Compare(Comparison::Equal, Box::new(own()), Box::new(KExpr::Real(0.0)));
                let slope = mul(own(), KExpr::Unary(UnaryOp::Elementary(Elementary::Log), a.clone()));
                let factor = KExpr::Select { condition: Box::new(zero), if_true: Box::new(KExpr::Real(0.0)), if_false: Box::new(slope) };
                push(work, sheet, b, Part::Whole, mul(adjoint, factor), None)?;
            }
        }
        KExpr::Math(BinaryMath::ATan2, a, b) => {
            let adjoint = named(work, sheet, adjoint);
            let square = |x: &KExpr| mul(x.clone(), x.clone());
            let factor = |x: KExpr| mul(adjoint.clone(), div(x, add(square(a.as_ref()), square(b.as_ref()))));
            push(work, sheet, a, Part::Whole, factor((**b).clone()), None)?;
            push(work, sheet, b, Part::Whole, factor(neg((**a).clone())), None)?;
        }
        KExpr::Math(BinaryMath::Min | BinaryMath::Max, ..) | KExpr::Select { .. } => return Err("a choice inside an expression"),
        other => match other.class() {
            ExprClass::Literal | ExprClass::Param | ExprClass::Geometry | ExprClass::Topology | ExprClass::Truth => {}
            ExprClass::Local | ExprClass::Load | ExprClass::Arithmetic | ExprClass::Select => {
                return Err("an operation without a derivative");
            }
        },
    }
    Ok(())
}

/// Computes the adjoint of `s` from that of `v * s`.
fn along(is_vector: bool, part: Part, adjoint: KExpr, v: KExpr) -> KExpr {
    match part {
        Part::Whole if is_vector => dot(adjoint, v),
        Part::Whole => mul(adjoint, v),
        Part::Axis(i) => mul(adjoint, KExpr::Component(Box::new(v), i)),
    }
}

/// Derivative of a power by its base: 0 where the exponent is.
fn power_by_base(a: KExpr, b: KExpr) -> KExpr {
    let lowered = |a: KExpr, b: KExpr| KExpr::Math(BinaryMath::Pow, Box::new(a), Box::new(b));
    match b {
        KExpr::Real(0.0) => KExpr::Real(0.0),
        KExpr::Real(1.0) => KExpr::Real(1.0),
        KExpr::Real(2.0) => mul(KExpr::Real(2.0), a),
        KExpr::Real(c) => mul(KExpr::Real(c), lowered(a, KExpr::Real(c - 1.0))),
        b => {
            let zero = KExpr::Compare(Comparison::Equal, Box::new(b.clone()), Box::new(KExpr::Real(0.0)));
            let less = KExpr::Arithmetic(Arithmetic::Sub, Box::new(b.clone()), Box::new(KExpr::Real(1.0)));
            let slope = mul(b, lowered(a, less));
            KExpr::Select { condition: Box::new(zero), if_true: Box::new(KExpr::Real(0.0)), if_false: Box::new(slope) }
        }
    }
}
