//! Builds the body of a kernel by substituting operations.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::super::analysis::Defs;
use super::axes::folded;
use super::branch_sums::take_sums;
use super::facts::Facts;
use super::names::{identifier, value_name};
use super::placement::Placement;
use super::plan::Plan;
use super::tidy::inline_single_uses;
use crate::backend::visit::visit_path;
use crate::ir::{Function, Interpolant, KBlock, KExpr, KStmt, Local, LocalId, Op, Param, ParamId, Path, UnaryOp, ValueId};
use crate::lower::UniqueNames;
use crate::ops::{Arithmetic, BinaryMath, FROM_GEOMETRY};
use crate::source::Span;
use crate::types::{Basic, SetId, SetTable, Shape, Type};

/// The value cannot be computed by a kernel of this form.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unfusable;

pub(super) type Result<T> = std::result::Result<T, Unfusable>;

/// Kind of the body being built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// For any grid.
    General,
    /// Cartesian, at every cell.
    Full,
    /// Cartesian, once per axis (face spaces) or once (cell spaces).
    PerAxis,
}

/// Sign of the zeros of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ZeroSign {
    /// The sign that the operations give.
    AsComputed,
    /// Either sign: the expression is added to a sum that starts at +0.
    Free,
}

/// Zeros of the expression being built.
pub(super) struct Zeros {
    pub sign: ZeroSign,
    /// True if a zero may have another sign than the operations give.
    is_sign_lost: bool,
}

/// Parameters and locals shared by the bodies of one kernel.
#[derive(Clone, Debug, Default)]
pub(super) struct Interface {
    pub params: Vec<Param>,
    pub args: Vec<ValueId>,
    pub locals: Vec<Local>,
    pub spans: Vec<Span>,
    names: UniqueNames,
    /// Requested name of each local, before it was made unique.
    wanted: Vec<String>,
    /// Locals of the other body that this body has not used yet: equal values have the same name in
    /// both.
    unused: Vec<LocalId>,
    /// Constructs written for this body.
    written: u32,
    /// Values that are substituted in it.
    substituted: BTreeSet<ValueId>,
}

/// Constructs that are written for a body at most.
const MAX_WRITTEN: u32 = 100_000;

/// Constructs that are written for a body at most which is mostly repetitions.
const MAX_REPETITIONS: u32 = 10_000;

/// A body of more constructs than this, and [`MEAN_REPEATS`] for each value, is mostly repetitions.
const LARGE: u32 = 2_000;

/// Constructs for each value that is substituted, of paths and copies.
const MEAN_REPEATS: u32 = 16;

impl Interface {
    /// The interface with which the next body of the same kernel starts.
    pub(super) fn for_next_body(&self) -> Interface {
        Interface { unused: (0..self.locals.len() as u32).map(LocalId).collect(), written: 0, substituted: BTreeSet::new(), ..self.clone() }
    }

    /// True if the body is mostly repetitions.
    pub(super) fn is_repetitive(&self) -> bool {
        let is_made_of_copies = self.written > LARGE && self.written / MEAN_REPEATS > self.substituted.len() as u32;
        is_made_of_copies || self.written > MAX_WRITTEN
    }

    /// Counts constructs; fails where there are too many.
    pub(super) fn write(&mut self, constructs: u32) -> Result<()> {
        self.written = self.written.saturating_add(constructs);
        let is_too_large = self.written > MAX_WRITTEN || (self.written > MAX_REPETITIONS && self.is_repetitive());
        if is_too_large { Err(Unfusable) } else { Ok(()) }
    }

    /// [`Interface::write`] for everything in a path.
    pub(super) fn write_path(&mut self, path: &Path) -> Result<()> {
        let mut constructs = 0;
        visit_path(path, &mut |_| constructs += 1);
        self.write(constructs)
    }
}

struct Scope {
    statements: Vec<KStmt>,
    known: HashMap<(ValueId, String, ZeroSign), KExpr>,
}

/// Builds one body.
pub(super) struct Builder<'a> {
    pub function: &'a Function,
    pub sets: &'a SetTable,
    pub defs: &'a Defs,
    pub plan: &'a Plan,
    pub domains: &'a BTreeMap<SetId, ValueId>,
    pub per_axis: &'a BTreeSet<ValueId>,
    pub mode: Mode,
    pub facts: Facts,
    pub interface: Interface,
    /// True if the body will be differentiated. Sums then stay in their branches: a derivative in a
    /// branch that is not taken may be infinite, and 0 times infinity is NaN.
    pub is_differentiated: bool,
    /// Sets that contain the entity at a path, as masks guarantee.
    pub masked: Vec<(SetId, Path)>,
    scopes: Vec<Scope>,
    /// True while an expression is built that is evaluated under a condition: its statements would
    /// be evaluated unconditionally.
    unshared: bool,
    pub zeros: Zeros,
    /// True if the body depends on the current axis.
    pub axis_asked: bool,
}

impl<'a> Builder<'a> {
    #[allow(clippy::too_many_arguments)]
    pub(super) fn new(
        function: &'a Function,
        sets: &'a SetTable,
        defs: &'a Defs,
        plan: &'a Plan,
        domains: &'a BTreeMap<SetId, ValueId>,
        per_axis: &'a BTreeSet<ValueId>,
        mode: Mode,
        interface: Interface,
    ) -> Self {
        Builder {
            function,
            sets,
            defs,
            plan,
            domains,
            per_axis,
            mode,
            facts: Facts::default(),
            interface,
            is_differentiated: false,
            masked: Vec::new(),
            scopes: Vec::new(),
            unshared: false,
            zeros: Zeros { sign: ZeroSign::AsComputed, is_sign_lost: false },
            axis_asked: false,
        }
    }

    pub(super) fn ty(&self, value: ValueId) -> Type {
        self.function.values[value.0 as usize].ty
    }

    /// Runs `f` in a block of its own; facts learnt inside are forgotten.
    pub(super) fn scoped(&mut self, f: impl FnOnce(&mut Self) -> Result<Vec<KExpr>>) -> Result<KBlock> {
        let mark = self.facts.mark();
        self.scopes.push(Scope { statements: Vec::new(), known: HashMap::new() });
        let yields = f(self);
        let scope = self.scopes.pop();
        self.facts.reset(mark);
        let mut block = KBlock { statements: scope.map(|s| s.statements).unwrap_or_default(), yields: yields? };
        inline_single_uses(&mut block);
        Ok(block)
    }

    /// Runs `f` to build an expression that is evaluated under a condition or stands alone; fails
    /// if it needs statements.
    pub(super) fn without_statements<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let mark = self.facts.mark();
        let outer = std::mem::replace(&mut self.unshared, true);
        self.scopes.push(Scope { statements: Vec::new(), known: HashMap::new() });
        let built = f(self);
        let scope = self.scopes.pop();
        self.unshared = outer;
        self.facts.reset(mark);
        if scope.is_some_and(|s| !s.statements.is_empty()) { Err(Unfusable) } else { built }
    }

    pub(super) fn push(&mut self, statement: KStmt) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.statements.push(statement);
        }
    }

    pub(super) fn local(&mut self, name: &str, ty: Type) -> LocalId {
        let interface = &mut self.interface;
        let wanted = identifier(name);
        let same = |id: &LocalId| interface.wanted[id.0 as usize] == wanted && interface.locals[id.0 as usize].ty == ty;
        if let Some(position) = interface.unused.iter().position(same) {
            return interface.unused.remove(position);
        }
        let id = LocalId(interface.locals.len() as u32);
        let name = interface.names.unique(&wanted);
        interface.locals.push(Local { name, ty });
        interface.wanted.push(wanted);
        id
    }

    pub(super) fn name(&self, value: ValueId) -> String {
        value_name(self.function, self.defs, self.sets, value)
    }

    /// The parameter that stands for a value.
    pub(super) fn param(&mut self, value: ValueId) -> Result<ParamId> {
        let ty = self.ty(value);
        match (ty.shape, ty.basic) {
            (Shape::Sequence, _) | (_, Basic::Text) => return Err(Unfusable),
            (Shape::Collection(set), _) => self.need_domain(set)?,
            (Shape::Single | Shape::Domain(_), _) => {}
        }
        Ok(self.add_param(value))
    }

    pub(super) fn add_param(&mut self, value: ValueId) -> ParamId {
        if let Some(index) = self.interface.args.iter().position(|&v| v == value) {
            return ParamId(index as u32);
        }
        let name = self.name(value);
        let name = self.interface.names.unique(&identifier(&name));
        let per_axis = self.per_axis.contains(&value);
        self.interface.params.push(Param { name, ty: self.ty(value), per_axis });
        self.interface.args.push(value);
        ParamId(self.interface.args.len() as u32 - 1)
    }

    /// Adds a parameter for the domain of a set made at run time.
    pub(super) fn need_domain(&mut self, set: SetId) -> Result<()> {
        if self.sets.get(set).canonical.is_some() {
            return Ok(());
        }
        let value = *self.domains.get(&set).ok_or(Unfusable)?;
        self.add_param(value);
        Ok(())
    }

    /// [`Builder::need_domain`] for a membership test. Bodies per axis cannot have one: its result
    /// varies along an axis.
    pub(super) fn need_members(&mut self, set: SetId) -> Result<()> {
        if self.mode == Mode::PerAxis {
            return Err(Unfusable);
        }
        self.need_domain(set)
    }

    /// The value at an entity. A single value is the same everywhere.
    pub(super) fn eval(&mut self, value: ValueId, at: &Path) -> Result<KExpr> {
        if let Some(copy) = self.padded(value, at) {
            return self.leaf(copy, at);
        }
        match self.plan.placement(value) {
            Placement::Kernel | Placement::Operation => self.leaf(value, at),
            Placement::Inline => {
                let Some(op) = self.defs.op(value) else { return self.leaf(value, at) };
                let op = op.clone();
                // Tests for Empty stay where they are: facts may decide them, and the pattern of a
                // face's inside cell is made of them.
                let plain = matches!(op, Op::Real(_) | Op::Bool(_) | Op::Broadcast { .. } | Op::IsEmpty(_));
                let shared = self.plan.uses(value) > 1 && !plain && !self.unshared;
                if !shared {
                    return self.substitute(value, &op, at);
                }
                let place = format!("{at:?}");
                // An expression with computed signs also serves where either sign will do.
                let signs: &[ZeroSign] = match self.zeros.sign {
                    ZeroSign::AsComputed => &[ZeroSign::AsComputed],
                    ZeroSign::Free => &[ZeroSign::Free, ZeroSign::AsComputed],
                };
                for &sign in signs {
                    let key = (value, place.clone(), sign);
                    if let Some(known) = self.scopes.iter().rev().find_map(|s| s.known.get(&key)) {
                        self.zeros.is_sign_lost |= sign == ZeroSign::Free;
                        return Ok(known.clone());
                    }
                }
                let outer = std::mem::replace(&mut self.zeros.is_sign_lost, false);
                let expr = self.substitute(value, &op, at)?;
                let expr = self.keep(value, expr);
                let sign = if self.zeros.is_sign_lost { ZeroSign::Free } else { ZeroSign::AsComputed };
                self.zeros.is_sign_lost |= outer;
                let key = (value, place, sign);
                if let Some(scope) = self.scopes.last_mut() {
                    scope.known.insert(key, expr.clone());
                }
                Ok(expr)
            }
        }
    }

    /// Stores an expression in a local, unless it is a literal, a parameter or a local.
    pub(super) fn keep(&mut self, value: ValueId, expr: KExpr) -> KExpr {
        match expr {
            KExpr::Real(_) | KExpr::Bool(_) | KExpr::Local(_) | KExpr::Param(_) => expr,
            expr => {
                let basic = self.ty(value).basic;
                let local =
                    self.local(&self.name(value), Type { basic, shape: Shape::Single, within: None, halo: crate::types::Halo::NONE });
                self.push(KStmt::Let { local, value: expr });
                KExpr::Local(local)
            }
        }
    }

    /// Evaluates the operation of a value whatever its placement: the root of a kernel.
    pub(super) fn root(&mut self, value: ValueId, op: &Op, at: &Path) -> Result<KExpr> {
        if self.ty(value).entity_kind().is_some() {
            self.note_span(value);
            return Ok(KExpr::Entity(self.entity_of(op, at)?));
        }
        self.substitute(value, op, at)
    }

    fn leaf(&mut self, value: ValueId, at: &Path) -> Result<KExpr> {
        // Constants that exist in memory for others are still constants here.
        match self.defs.op(value) {
            Some(Op::Real(x)) => return Ok(KExpr::Real(*x)),
            Some(Op::Bool(b)) => return Ok(KExpr::Bool(*b)),
            _ => {}
        }
        match self.ty(value).shape {
            Shape::Single => Ok(KExpr::Param(self.param(value)?)),
            Shape::Collection(_) => {
                let param = self.param(value)?;
                self.interface.write_path(at)?;
                let known_place = matches!(at, Path::Here | Path::SideFace(_) | Path::Shift { .. });
                match self.mode {
                    Mode::General => {}
                    Mode::Full if known_place => {}
                    Mode::PerAxis if self.per_axis.contains(&value) && *at == Path::Here => {}
                    Mode::Full | Mode::PerAxis => return Err(Unfusable),
                }
                Ok(KExpr::Load { param, at: at.clone() })
            }
            Shape::Domain(_) | Shape::Sequence => Err(Unfusable),
        }
    }

    /// Records the span of a value, for messages about the kernel.
    fn note_span(&mut self, value: ValueId) {
        let span = self.function.values[value.0 as usize].span;
        if span != Span::default() && !self.interface.spans.contains(&span) {
            self.interface.spans.push(span);
        }
    }

    fn substitute(&mut self, value: ValueId, op: &Op, at: &Path) -> Result<KExpr> {
        self.note_span(value);
        self.interface.write(1)?;
        self.interface.substituted.insert(value);
        match op {
            Op::Real(x) => Ok(KExpr::Real(*x)),
            Op::Bool(b) => Ok(KExpr::Bool(*b)),
            Op::IsEmpty(entities) => {
                let path = self.entity(*entities, at)?;
                Ok(match self.facts.is_empty(self.sets, &path) {
                    Some(known) => KExpr::Bool(known),
                    None => KExpr::IsEmpty(path),
                })
            }
            Op::CellFact { fact, cells } => {
                if self.mode != Mode::General {
                    return Err(Unfusable);
                }
                Ok(KExpr::CellFact { fact: *fact, at: self.entity(*cells, at)? })
            }
            Op::Measure(entities) => {
                let path = self.geometry_path(*entities, at)?;
                Ok(KExpr::Measure(path))
            }
            Op::Centroid(entities) => {
                // Positions differ from entity to entity; only their differences are uniform.
                if self.mode != Mode::General {
                    return Err(Unfusable);
                }
                Ok(KExpr::Centroid(self.entity(*entities, at)?))
            }
            // In Cartesian forms both sides of a face coincide.
            Op::FaceGap(_) if self.mode != Mode::General => Ok(KExpr::ZeroVector),
            Op::FaceGap(faces) => Ok(KExpr::FaceGap(self.entity(*faces, at)?)),
            // In Cartesian forms all faces have geometry.
            Op::FaceTransmissibility(_) if self.mode != Mode::General => Ok(KExpr::Real(FROM_GEOMETRY)),
            Op::FaceTransmissibility(faces) => Ok(KExpr::FaceTransmissibility(self.entity(*faces, at)?)),
            Op::Normal(faces) => {
                let path = self.geometry_path(*faces, at)?;
                Ok(KExpr::Normal(path))
            }
            Op::Unary(op, a) => {
                let a = self.eval(*a, at)?;
                Ok(folded(KExpr::Unary(*op, Box::new(a))))
            }
            Op::Arithmetic(op, a, b) => {
                if let Some(displacement) = self.displacement(*op, *a, *b, at)? {
                    return Ok(displacement);
                }
                if matches!(op, Arithmetic::Mul | Arithmetic::Div) && self.annihilates(value, at)? {
                    return self.zero(value);
                }
                let a = self.eval(*a, at)?;
                let b = match op {
                    // The sign of a zero divisor decides between two infinities.
                    Arithmetic::Div => self.with_zeros(ZeroSign::AsComputed, |s| s.eval(*b, at))?,
                    Arithmetic::Add | Arithmetic::Sub | Arithmetic::Mul => self.eval(*b, at)?,
                };
                Ok(folded(KExpr::Arithmetic(*op, Box::new(a), Box::new(b))))
            }
            Op::Compare(op, a, b) => {
                if matches!(self.ty(*a).basic, Basic::Entity(_)) {
                    let (a, b) = (self.entity(*a, at)?, self.entity(*b, at)?);
                    let same = KExpr::Same(Box::new(a), Box::new(b));
                    return match op {
                        crate::ops::Comparison::Equal => Ok(same),
                        crate::ops::Comparison::NotEqual => Ok(KExpr::Unary(UnaryOp::Not, Box::new(same))),
                        crate::ops::Comparison::Less
                        | crate::ops::Comparison::LessEqual
                        | crate::ops::Comparison::Greater
                        | crate::ops::Comparison::GreaterEqual => Err(Unfusable),
                    };
                }
                let (a, b) = self.two(*a, *b, at)?;
                Ok(folded(KExpr::Compare(*op, Box::new(a), Box::new(b))))
            }
            Op::Logic(op, a, b) => {
                let (a, b) = self.two(*a, *b, at)?;
                Ok(folded(KExpr::Logic(*op, Box::new(a), Box::new(b))))
            }
            Op::Dot(a, b) => {
                if self.annihilates(value, at)? {
                    return self.zero(value);
                }
                let (a, b) = self.two(*a, *b, at)?;
                Ok(KExpr::Dot(Box::new(a), Box::new(b)))
            }
            Op::Vector(components) => {
                let components: Result<Vec<KExpr>> = components.iter().map(|&c| self.eval(c, at)).collect();
                Ok(KExpr::Vector(components?))
            }
            Op::Math(op, a, b) => {
                let (a, b) = match op {
                    BinaryMath::Pow | BinaryMath::ATan2 => self.with_zeros(ZeroSign::AsComputed, |s| s.two(*a, *b, at))?,
                    BinaryMath::Min | BinaryMath::Max => self.two(*a, *b, at)?,
                };
                Ok(KExpr::Math(*op, Box::new(a), Box::new(b)))
            }
            Op::Interpolate { table, argument } => {
                let argument = Box::new(self.eval(*argument, at)?);
                Ok(KExpr::Interpolate { table: self.param(*table)?, of: Interpolant::Value, argument })
            }
            Op::Component(a, index) => match self.normal_component(*a, *index, at)? {
                Some(number) => Ok(KExpr::Real(number)),
                None => Ok(KExpr::Component(Box::new(self.eval(*a, at)?), *index)),
            },
            Op::Select { condition, if_true, if_false } => {
                let condition = self.eval(*condition, at)?;
                self.ternary(value, condition, [*if_true, *if_false], at)
            }
            Op::On { data, target } => {
                let path = self.entity(*target, at)?;
                self.gather(value, *data, path, self.ty(*target).within)
            }
            Op::Extend { data, .. } => {
                let set = self.ty(*data).mapping().ok_or(Unfusable)?;
                match self.facts.member(self.sets, set, at) {
                    Some(true) => self.eval(*data, at),
                    Some(false) => self.zero(*data),
                    None => {
                        let data = *data;
                        self.if_member(value, (set, data), at, |s| s.zero(data))
                    }
                }
            }
            Op::Broadcast { value, .. } => self.eval(*value, at),
            Op::Gradient(values) => {
                let (second, first) = (self.second(at)?, self.first(at)?);
                let second = self.eval(*values, &second)?;
                let first = self.eval(*values, &first)?;
                Ok(KExpr::Arithmetic(Arithmetic::Sub, Box::new(second), Box::new(first)))
            }
            Op::Divergence(fluxes) => self.divergence(value, *fluxes, at),
            Op::FaceReduce { reduction, first, second } => self.face_reduce(value, *reduction, [*first, *second], at),
            Op::Text(_)
            | Op::TextIndex(..)
            | Op::CanonicalSet(_)
            | Op::Load(_)
            | Op::InputScalar { .. }
            | Op::InputCollection { .. }
            | Op::InputDomain { .. }
            | Op::Where { .. }
            | Op::InputSequence { .. }
            | Op::InputTable { .. }
            | Op::InputTable2 { .. }
            | Op::Step(_)
            | Op::FirstCell(_)
            | Op::SecondCell(_)
            | Op::OneCell(_)
            | Op::Shift { .. }
            | Op::GridNumber(_)
            | Op::Reduce(..)
            | Op::Exchange { .. }
            | Op::Call { .. }
            | Op::Newton { .. } => Err(Unfusable),
        }
    }

    /// The data at the end of a path, which is in the set `within`. Loads of Cartesian forms have
    /// fixed places, so a choice of the entity becomes a choice of values.
    fn gather(&mut self, value: ValueId, data: ValueId, path: Path, within: Option<SetId>) -> Result<KExpr> {
        match path {
            Path::Select { condition, if_true, if_false } if self.mode == Mode::Full => {
                self.select(value, *condition, |s| s.gather(value, data, *if_true, within), |s| s.gather(value, data, *if_false, within))
            }
            path => {
                let mark = self.facts.mark();
                if let Some(within) = within {
                    self.facts.learn(self.sets, &path, within, true);
                }
                let result = self.eval(data, &path);
                self.facts.reset(mark);
                result
            }
        }
    }

    /// Runs `build` with another sign of zeros.
    pub(super) fn with_zeros<T>(&mut self, sign: ZeroSign, build: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.zeros.sign, sign);
        let built = build(self);
        self.zeros.sign = outer;
        built
    }

    /// True if +0 may replace a product that is structurally zero. Cartesian forms do not preserve
    /// the signs of zeros.
    fn annihilates(&mut self, value: ValueId, at: &Path) -> Result<bool> {
        if self.mode != Mode::General {
            return self.is_zero(value, at);
        }
        let annihilates = self.zeros.sign == ZeroSign::Free && self.is_zero(value, at)?;
        self.zeros.is_sign_lost |= annihilates;
        Ok(annihilates)
    }

    fn two(&mut self, a: ValueId, b: ValueId, at: &Path) -> Result<(KExpr, KExpr)> {
        let a = self.eval(a, at)?;
        let b = self.eval(b, at)?;
        Ok((a, b))
    }

    fn zero(&self, value: ValueId) -> Result<KExpr> {
        match self.ty(value).basic {
            Basic::Scalar => Ok(KExpr::Real(0.0)),
            Basic::Bool => Ok(KExpr::Bool(false)),
            Basic::Vector => Ok(KExpr::ZeroVector),
            Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => Err(Unfusable),
        }
    }

    /// A lazy choice: an expression if both branches are expressions, else a statement.
    pub(super) fn select(
        &mut self,
        value: ValueId,
        condition: KExpr,
        if_true: impl FnOnce(&mut Self) -> Result<KExpr>,
        if_false: impl FnOnce(&mut Self) -> Result<KExpr>,
    ) -> Result<KExpr> {
        match condition {
            KExpr::Bool(true) => return if_true(self),
            KExpr::Bool(false) => return if_false(self),
            _ => {}
        }
        let then = self.scoped(|s| Ok(vec![if_true(s)?]))?;
        let otherwise = self.scoped(|s| Ok(vec![if_false(s)?]))?;
        Ok(self.choice(value, condition, then, otherwise))
    }

    /// The choice of a ternary, of branches that exist at every element. Rows of cells do not
    /// branch: in Cartesian forms the sums of the branches stand before the choice.
    fn ternary(&mut self, value: ValueId, condition: KExpr, [if_true, if_false]: [ValueId; 2], at: &Path) -> Result<KExpr> {
        if let KExpr::Bool(holds) = condition {
            return self.eval(if holds { if_true } else { if_false }, at);
        }
        let mut branches = [KBlock::default(), KBlock::default()];
        for (branch, value) in branches.iter_mut().zip([if_true, if_false]) {
            *branch = self.scoped(|s| Ok(vec![s.eval(value, at)?]))?;
            if self.mode == Mode::Full && !self.is_differentiated {
                take_sums(branch).into_iter().for_each(|statement| self.push(statement));
            }
        }
        let [then, otherwise] = branches;
        Ok(self.choice(value, condition, then, otherwise))
    }

    fn choice(&mut self, value: ValueId, condition: KExpr, mut then: KBlock, mut otherwise: KBlock) -> KExpr {
        if then.statements.is_empty()
            && otherwise.statements.is_empty()
            && let (Some(a), Some(b)) = (then.yields.pop(), otherwise.yields.pop())
        {
            return KExpr::Select { condition: Box::new(condition), if_true: Box::new(a), if_false: Box::new(b) };
        }
        let basic = self.ty(value).basic;
        let local = self.local(&self.name(value), Type { basic, shape: Shape::Single, within: None, halo: crate::types::Halo::NONE });
        self.push(KStmt::If { results: vec![local], condition, then, otherwise });
        KExpr::Local(local)
    }
}
