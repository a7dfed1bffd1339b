//! Type rules of operations.

use crate::ir::{Carried, Equation, FunctionId, Module, Mutable, MutableId, Op, UnaryOp, ValueId};
use crate::ops::{Arithmetic, Comparison, FaceReduction, MAX_OFFSET, Reduction};
use crate::types::{Basic, CanonicalSet, EntityKind, SetId, SetTable, Shape, Type};
use crate::verify::types::{assignable, show};

/// Definitions and types that the rules look up.
pub struct Context<'a> {
    /// For sets and functions.
    pub module: &'a Module,
    /// Mutables of the function.
    pub mutables: &'a [Mutable],
    /// Type of a value of the function.
    pub type_of: &'a dyn Fn(ValueId) -> Type,
}

type Rule = Result<Type, String>;

/// Types of the results of an operation. For [`Op::InputDomain`] and [`Op::Where`], whose set only
/// the result names, `declared` is the type of the result.
///
/// # Errors
/// The rule that the operands break.
pub fn result_types(context: &Context<'_>, op: &Op, declared: &[Type]) -> Result<Vec<Type>, String> {
    match op {
        Op::Call { function, args } => call(context, function.0 as usize, args),
        Op::Newton { residuals, captures, guesses, carried, equations } => {
            check_equations(context, guesses, equations)?;
            if !equations.is_empty() && residuals.is_empty() && captures.is_empty() && carried.is_empty() {
                return Ok(guesses.iter().map(|&g| (context.type_of)(g)).collect());
            }
            newton(context, residuals, captures, guesses, carried)
        }
        Op::Exchange { value, depth } => exchange(context, *value, *depth).map(|()| Vec::new()),
        op => single(context, op, declared).map(|ty| vec![ty]),
    }
}

/// Checks what is exchanged.
fn exchange(context: &Context<'_>, value: ValueId, depth: u32) -> Result<(), String> {
    let ty = (context.type_of)(value);
    match (ty.shape, ty.basic) {
        (Shape::Collection(_), Basic::Scalar | Basic::Vector | Basic::Bool) if depth > 0 => Ok(()),
        (Shape::Collection(_), Basic::Scalar | Basic::Vector | Basic::Bool) => Err("an exchange has a layer at least".to_owned()),
        _ => {
            let shown = show(&context.module.sets, &ty);
            Err(format!("an exchange is of a collection of Scalars, Vectors or Bools, not of {shown}"))
        }
    }
}

/// Checks that equations that are kernels are those of the unknowns.
fn check_equations(context: &Context<'_>, guesses: &[ValueId], equations: &[Equation]) -> Result<(), String> {
    if equations.is_empty() {
        return Ok(());
    }
    if equations.len() != guesses.len() {
        return Err(format!("{} equations for {} unknowns", equations.len(), guesses.len()));
    }
    for (equation, &guess) in equations.iter().zip(guesses) {
        let Some(kernel) = context.module.kernels.get(equation.kernel.0 as usize) else { return Err("there is no such kernel".to_owned()) };
        if kernel.jacobian.as_ref().is_none_or(|j| j.unknowns as usize != guesses.len()) {
            return Err(format!("{} has no derivatives by {} unknowns", kernel.name, guesses.len()));
        }
        let args: Vec<Type> = guesses.iter().chain(&equation.args).map(|&v| (context.type_of)(v)).collect();
        if let Some(message) = super::kernel::check_arguments(&context.module.sets, kernel, &args).into_iter().next() {
            return Err(message);
        }
        if kernel.results.first().map(|r| r.ty) != Some((context.type_of)(guess)) {
            return Err(format!("the residual of {} is of another type than its unknown", kernel.name));
        }
    }
    Ok(())
}

fn newton(
    context: &Context<'_>,
    residuals: &[FunctionId],
    captures: &[Vec<ValueId>],
    guesses: &[ValueId],
    carried: &[Carried],
) -> Result<Vec<Type>, String> {
    if residuals.len() != guesses.len() || captures.len() != guesses.len() || guesses.is_empty() {
        return Err("Newton takes one residual, one list of captures and one guess for each unknown, and at least one".to_owned());
    }
    let unknowns: Vec<Type> = guesses.iter().map(|&g| (context.type_of)(g)).collect();
    if let Some(ty) = unknowns.iter().find(|ty| ty.basic != Basic::Scalar || ty.shape == Shape::Sequence) {
        return Err(format!("an unknown is a Scalar or a Collection Of Scalar, not {}", show(&context.module.sets, ty)));
    }
    let mut given = Vec::with_capacity(residuals.len());
    for ((residual, captures), unknown) in residuals.iter().zip(captures).zip(&unknowns) {
        let args: Vec<ValueId> = guesses.iter().chain(captures).copied().collect();
        let results = call(context, residual.0 as usize, &args)?;
        if results.first() != Some(unknown) {
            return Err("the first result of a residual is of the type of its unknown".to_owned());
        }
        given.push(results);
    }
    let mut results = unknowns;
    let mut written: Vec<(u32, u32)> = Vec::new();
    for variable in carried {
        let initial = |&(residual, capture): &(u32, u32)| captures.get(residual as usize)?.get(capture as usize);
        let reads: Option<Vec<&ValueId>> = variable.reads.iter().map(initial).collect();
        match reads.as_deref() {
            Some([first, rest @ ..]) if rest.iter().all(|v| v == first) => {}
            Some(_) | None => return Err("a carried variable begins as one captured value".to_owned()),
        }
        let result = |&(residual, result): &(u32, u32)| given.get(residual as usize)?.get(result as usize).copied();
        let types: Option<Vec<Type>> = variable.writes.iter().map(result).collect();
        let Some(last) = types.as_deref().and_then(<[Type]>::last).copied() else {
            return Err("a carried variable is written by results of residuals".to_owned());
        };
        for ty in types.iter().flatten() {
            let fits = |&(residual, capture): &(u32, u32)| {
                let function = context.module.functions.get(residuals.get(residual as usize)?.0 as usize)?;
                let param = function.params.get(guesses.len() + capture as usize)?;
                Some(assignable(&context.module.sets, ty, &function.values.get(param.0 as usize)?.ty))
            };
            if !variable.reads.iter().all(|read| fits(read) == Some(true)) {
                return Err("a carried variable is read as the type that it is written as".to_owned());
            }
        }
        written.extend(&variable.writes);
        results.push(last);
    }
    // Every further result of a residual is the new value of one variable.
    written.sort_unstable();
    let expected: Vec<(u32, u32)> =
        given.iter().enumerate().flat_map(|(r, results)| (1..results.len()).map(move |i| (r as u32, i as u32))).collect();
    if written != expected {
        return Err("each result of a residual but the first is what one carried variable becomes".to_owned());
    }
    Ok(results)
}

fn call(context: &Context<'_>, function: usize, args: &[ValueId]) -> Result<Vec<Type>, String> {
    let Some(f) = context.module.functions.get(function) else { return Err("there is no such function".to_owned()) };
    if args.len() != f.params.len() {
        return Err(format!("{} takes {} arguments, not {}", f.name, f.params.len(), args.len()));
    }
    let sets = &context.module.sets;
    for (i, (&arg, param)) in args.iter().zip(&f.params).enumerate() {
        let Some(param) = f.values.get(param.0 as usize) else { return Err(format!("{} has a malformed parameter list", f.name)) };
        let ty = (context.type_of)(arg);
        if !assignable(sets, &ty, &param.ty) {
            return Err(format!("argument {} of {} is {}, not {}", i + 1, f.name, show(sets, &param.ty), show(sets, &ty)));
        }
    }
    Ok(f.results.clone())
}

fn single(context: &Context<'_>, op: &Op, declared: &[Type]) -> Rule {
    let sets = &context.module.sets;
    let ty = |v: ValueId| (context.type_of)(v);
    let shown = |v: ValueId| show(sets, &ty(v));
    let canonical = |set| sets.canonical(set);
    match op {
        Op::Real(_) => Ok(Type::SCALAR),
        Op::Bool(_) => Ok(Type::BOOL),
        Op::Text(_) => Ok(Type::TEXT),
        Op::CanonicalSet(set) => Ok(Type::domain(set.kind, canonical(*set))),
        Op::Load(MutableId(m)) => match context.mutables.get(*m as usize) {
            Some(mutable) => Ok(mutable.ty),
            None => Err("there is no such mutable".to_owned()),
        },
        Op::InputScalar { name, default } => {
            text(context, *name)?;
            if ty(*default) == Type::SCALAR { Ok(Type::SCALAR) } else { Err(format!("the default is a Scalar, not {}", shown(*default))) }
        }
        Op::InputCollection { element, name, domain } => {
            text(context, *name)?;
            Ok(Type::collection(element.basic(), domain_set(context, *domain)?))
        }
        Op::InputDomain { name, within } => {
            text(context, *name)?;
            new_domain(sets, domain_set(context, *within)?, declared)
        }
        Op::Where { within, condition } => {
            let parent = domain_set(context, *within)?;
            if ty(*condition) != Type::collection(Basic::Bool, parent) {
                return Err(format!("the condition is Bool On {}, not {}", sets.get(parent).name, shown(*condition)));
            }
            new_domain(sets, parent, declared)
        }
        Op::InputSequence { name } => text(context, *name).map(|()| Type::SEQUENCE),
        Op::InputTable { name, argument, value } => {
            for label in [name, argument, value] {
                text(context, *label)?;
            }
            Ok(Type::TABLE)
        }
        Op::InputTable2 { name, arguments: [first, second], value, part: _ } => {
            for label in [name, first, second, value] {
                text(context, *label)?;
            }
            Ok(Type::TABLE)
        }
        Op::Interpolate { table, argument } => match (ty(*table), ty(*argument)) {
            (Type::TABLE, argument) if argument.basic == Basic::Scalar && argument.shape != Shape::Sequence => Ok(argument),
            _ => Err(format!("Interpolate takes a Table and Scalars, not {} and {}", shown(*table), shown(*argument))),
        },
        Op::Step(length) if ty(*length) == Type::SCALAR => Ok(Type::SCALAR),
        Op::Step(length) => Err(format!("the length of a round is a Scalar, not {}", shown(*length))),
        Op::FirstCell(v) | Op::SecondCell(v) => {
            let set = entities(context, *v, &[EntityKind::Face])?;
            Ok(Type::entities(EntityKind::Cell, set, canonical(CanonicalSet::ALL_CELLS)))
        }
        Op::Shift { cells, by, .. } => {
            let set = entities(context, *cells, &[EntityKind::Cell])?;
            if by.iter().any(|by| by.unsigned_abs() > MAX_OFFSET.unsigned_abs()) {
                return Err("an offset is too large".to_owned());
            }
            Ok(Type::entities(EntityKind::Cell, set, canonical(CanonicalSet::ALL_CELLS)))
        }
        Op::CellFact { fact, cells } => {
            let set = entities(context, *cells, &[EntityKind::Cell])?;
            Ok(Type::collection(if fact.is_truth() { Basic::Bool } else { Basic::Scalar }, set))
        }
        Op::GridNumber(_) => Ok(Type::SCALAR),
        Op::IsEmpty(v) => entities(context, *v, &EntityKind::ALL).map(|set| Type::collection(Basic::Bool, set)),
        Op::OneCell(v) => {
            let set = entities(context, *v, &[EntityKind::Face])?;
            Ok(Type { shape: Shape::Collection(set), ..ty(*v) })
        }
        Op::Centroid(v) => entities(context, *v, &EntityKind::ALL).map(|set| Type::collection(Basic::Vector, set)),
        Op::Normal(v) | Op::FaceGap(v) => entities(context, *v, &[EntityKind::Face]).map(|set| Type::collection(Basic::Vector, set)),
        Op::FaceTransmissibility(v) => entities(context, *v, &[EntityKind::Face]).map(|set| Type::collection(Basic::Scalar, set)),
        Op::Measure(v) => entities(context, *v, &EntityKind::ALL).map(|set| Type::collection(Basic::Scalar, set)),
        Op::Unary(op, v) => unary(sets, *op, ty(*v)),
        Op::Arithmetic(op, a, b) => arithmetic(sets, *op, ty(*a), ty(*b)),
        Op::Compare(op, a, b) => compare(sets, *op, ty(*a), ty(*b)),
        Op::Logic(_, a, b) => {
            let (a, b) = (ty(*a), ty(*b));
            if a.basic == Basic::Bool && b.basic == Basic::Bool {
                Ok(Type { basic: Basic::Bool, shape: common_shape(sets, a, b)?, within: None, halo: crate::types::Halo::NONE })
            } else {
                Err(format!("logic takes Bools, not {} and {}", show(sets, &a), show(sets, &b)))
            }
        }
        Op::Select { condition, if_true, if_false } => select(sets, ty(*condition), ty(*if_true), ty(*if_false)),
        Op::On { data, target } => {
            let source = collection(context, *data)?;
            let to = ty(*target);
            let (Some(set), Some(within), Some(_)) = (to.mapping(), to.within, to.entity_kind()) else {
                return Err(format!("the target of On is a domain or a collection of entities, not {}", shown(*target)));
            };
            if !sets.is_subset(within, source) {
                return Err(format!("On: {} is not known to be in {}", sets.get(within).name, sets.get(source).name));
            }
            Ok(Type { shape: Shape::Collection(set), ..ty(*data) })
        }
        Op::Extend { data, domain } => {
            let source = collection(context, *data)?;
            let target = domain_set(context, *domain)?;
            if !sets.is_subset(source, target) {
                return Err(format!("Extend: {} is not known to be in {}", sets.get(source).name, sets.get(target).name));
            }
            Ok(Type { shape: Shape::Collection(target), ..ty(*data) })
        }
        Op::Broadcast { value, domain } => {
            let target = collection(context, *domain)?;
            match ty(*value) {
                v if v == Type::SCALAR || v == Type::BOOL || v == Type::single(Basic::Vector) => Ok(Type::collection(v.basic, target)),
                v => Err(format!("Broadcast takes a single Scalar, Vector or Bool, not {}", show(sets, &v))),
            }
        }
        Op::Gradient(v) => {
            let cells = canonical(CanonicalSet::ALL_CELLS);
            if ty(*v) == Type::collection(Basic::Scalar, cells) {
                Ok(Type::collection(Basic::Scalar, canonical(CanonicalSet::INTERIOR_FACES)))
            } else {
                Err(format!("Gradient takes Scalar On AllCells(), not {}", shown(*v)))
            }
        }
        Op::Divergence(v) => {
            let on = [CanonicalSet::INTERIOR_FACES, CanonicalSet::ALL_FACES].map(|set| Type::collection(Basic::Scalar, canonical(set)));
            if on.contains(&ty(*v)) {
                Ok(Type::collection(Basic::Scalar, canonical(CanonicalSet::ALL_CELLS)))
            } else {
                Err(format!("Divergence takes Scalar On InteriorFaces() or AllFaces(), not {}", shown(*v)))
            }
        }
        Op::FaceReduce { reduction, first, second } => {
            let set = collection(context, *first)?;
            let basic = ty(*first).basic;
            let fits = match reduction {
                FaceReduction::Sum => matches!(basic, Basic::Scalar | Basic::Vector),
                FaceReduction::Max | FaceReduction::Min => basic == Basic::Scalar,
            };
            if fits && sets.get(set).kind == EntityKind::Face && ty(*first) == ty(*second) {
                Ok(Type::collection(basic, canonical(CanonicalSet::ALL_CELLS)))
            } else {
                let name = reduction.name();
                Err(format!("{name} takes numbers on one set of faces, not {} and {}", shown(*first), shown(*second)))
            }
        }
        Op::Dot(a, b) => {
            let (a, b) = (ty(*a), ty(*b));
            if a.basic == Basic::Vector && b.basic == Basic::Vector {
                Ok(Type { basic: Basic::Scalar, shape: common_shape(sets, a, b)?, within: None, halo: crate::types::Halo::NONE })
            } else {
                Err(format!("Dot takes Vectors, not {} and {}", show(sets, &a), show(sets, &b)))
            }
        }
        Op::Component(v, i) => {
            if *i > 2 {
                return Err("a Vector has at most three components, numbered from 0".to_owned());
            }
            if ty(*v).basic == Basic::Vector {
                Ok(Type { basic: Basic::Scalar, ..ty(*v) })
            } else {
                Err(format!("a component is taken of a Vector, not of {}", shown(*v)))
            }
        }
        Op::Vector(components) => {
            let Some((first, rest)) = components.split_first().filter(|(_, rest)| rest.len() < 3) else {
                return Err("a Vector has one to three components".to_owned());
            };
            if let Some(wrong) = components.iter().find(|&&c| ty(c).basic != Basic::Scalar || ty(c).shape == Shape::Sequence) {
                return Err(format!("a component is a Scalar, not {}", shown(*wrong)));
            }
            let mut shape = ty(*first).shape;
            for &component in rest {
                shape = common_shape(sets, Type { shape, ..ty(*first) }, ty(component))?;
            }
            Ok(Type { basic: Basic::Vector, shape, within: None, halo: crate::types::Halo::NONE })
        }
        Op::Math(op, a, b) => {
            let (a, b) = (ty(*a), ty(*b));
            let sequence = a.shape == Shape::Sequence || b.shape == Shape::Sequence;
            if a.basic == Basic::Scalar && b.basic == Basic::Scalar && !sequence {
                Ok(Type { basic: Basic::Scalar, shape: common_shape(sets, a, b)?, within: None, halo: crate::types::Halo::NONE })
            } else {
                Err(format!("{op:?} takes Scalars, not {} and {}", show(sets, &a), show(sets, &b)))
            }
        }
        Op::TextIndex(v, _) => text(context, *v).map(|()| Type::TEXT),
        Op::Reduce(reduction, v) => {
            let basic = ty(*v).basic;
            let fits = match reduction {
                Reduction::Max | Reduction::Min | Reduction::Sum => matches!(basic, Basic::Scalar | Basic::Vector),
                Reduction::Prod => basic == Basic::Scalar,
                Reduction::Any | Reduction::All => basic == Basic::Bool,
            };
            if fits && matches!(ty(*v).shape, Shape::Collection(_)) {
                Ok(Type::single(basic))
            } else {
                Err(format!("the reduction {reduction:?} is not defined for {}", shown(*v)))
            }
        }
        Op::Exchange { .. } | Op::Call { .. } | Op::Newton { .. } => Err("this operation is not of one result".to_owned()),
    }
}

fn text(context: &Context<'_>, v: ValueId) -> Result<(), String> {
    let ty = (context.type_of)(v);
    if ty == Type::TEXT { Ok(()) } else { Err(format!("the name of an input is Text, not {}", show(&context.module.sets, &ty))) }
}

/// A domain made at run time in another one, whose set only the result names.
fn new_domain(sets: &SetTable, parent: SetId, declared: &[Type]) -> Rule {
    let &[ty] = declared else { return Err("a domain made at run time is one result".to_owned()) };
    match ty.shape {
        Shape::Domain(set) if sets.get(set).canonical.is_none() && sets.get(set).parent == parent => Ok(ty),
        Shape::Domain(_) | Shape::Single | Shape::Collection(_) | Shape::Sequence => {
            Err(format!("the result is a domain made at run time in {}, not {}", sets.get(parent).name, show(sets, &ty)))
        }
    }
}

/// Set of a domain.
fn domain_set(context: &Context<'_>, v: ValueId) -> Result<SetId, String> {
    let ty = (context.type_of)(v);
    match ty.shape {
        Shape::Domain(set) => Ok(set),
        Shape::Single | Shape::Collection(_) | Shape::Sequence => {
            Err(format!("a domain is needed here, not {}", show(&context.module.sets, &ty)))
        }
    }
}

/// Set of a collection (or domain).
fn collection(context: &Context<'_>, v: ValueId) -> Result<SetId, String> {
    let ty = (context.type_of)(v);
    ty.mapping().ok_or_else(|| format!("a collection is needed here, not {}", show(&context.module.sets, &ty)))
}

/// Set of a collection of entities (or domain) of one of these kinds.
fn entities(context: &Context<'_>, v: ValueId, kinds: &[EntityKind]) -> Result<SetId, String> {
    let ty = (context.type_of)(v);
    match (ty.mapping(), ty.entity_kind()) {
        (Some(set), Some(kind)) if kinds.contains(&kind) => Ok(set),
        _ => Err(format!("this operation is not defined for {}", show(&context.module.sets, &ty))),
    }
}

fn unary(sets: &SetTable, op: UnaryOp, ty: Type) -> Rule {
    let single_or_collection = matches!(ty.shape, Shape::Single | Shape::Collection(_));
    let (fits, basic) = match op {
        UnaryOp::Neg => (matches!(ty.basic, Basic::Scalar | Basic::Vector), ty.basic),
        UnaryOp::Not => (ty.basic == Basic::Bool, Basic::Bool),
        UnaryOp::Abs | UnaryOp::Sqrt | UnaryOp::Elementary(_) => (ty.basic == Basic::Scalar && single_or_collection, Basic::Scalar),
        UnaryOp::Length => (ty.basic == Basic::Vector, Basic::Scalar),
    };
    if fits { Ok(Type { basic, ..ty }) } else { Err(format!("{op} is not defined for {}", show(sets, &ty))) }
}

/// Shape of an element-wise result.
fn common_shape(sets: &SetTable, a: Type, b: Type) -> Result<Shape, String> {
    match (a.shape, b.shape) {
        (a, b) if a == b => Ok(a),
        (Shape::Single, shape @ (Shape::Collection(_) | Shape::Sequence))
        | (shape @ (Shape::Collection(_) | Shape::Sequence), Shape::Single) => Ok(shape),
        _ => Err(format!("{} and {} are not on the same set", show(sets, &a), show(sets, &b))),
    }
}

fn arithmetic(sets: &SetTable, op: Arithmetic, a: Type, b: Type) -> Rule {
    let refused = || Err(format!("{op:?} is not defined for {} and {}", show(sets, &a), show(sets, &b)));
    let basic = match (op, a.basic, b.basic) {
        (_, Basic::Scalar, Basic::Scalar) => Basic::Scalar,
        (Arithmetic::Add | Arithmetic::Sub, Basic::Vector, Basic::Vector)
        | (Arithmetic::Mul | Arithmetic::Div, Basic::Vector, Basic::Scalar)
        | (Arithmetic::Mul, Basic::Scalar, Basic::Vector) => Basic::Vector,
        _ => return refused(),
    };
    let shape = common_shape(sets, a, b)?;
    let sequence_fits = match (op, a.shape, b.shape) {
        (Arithmetic::Mul, Shape::Sequence, Shape::Single)
        | (Arithmetic::Mul, Shape::Single, Shape::Sequence)
        | (Arithmetic::Div, Shape::Sequence, Shape::Single) => true,
        (_, a, b) => a != Shape::Sequence && b != Shape::Sequence,
    };
    // The language has no collection plus Scalar: lowering spreads where it is meant.
    let sum_fits = matches!(op, Arithmetic::Mul | Arithmetic::Div) || a.shape == b.shape;
    if sequence_fits && sum_fits { Ok(Type { basic, shape, within: None, halo: crate::types::Halo::NONE }) } else { refused() }
}

fn compare(sets: &SetTable, op: Comparison, a: Type, b: Type) -> Rule {
    let ordered = op.is_ordered();
    let fits = a.basic == b.basic
        && match a.basic {
            Basic::Scalar => true,
            Basic::Bool | Basic::Entity(_) => !ordered,
            Basic::Vector | Basic::Text | Basic::Table | Basic::Axis(_) => false,
        };
    // Domains compare as the collections that they also are.
    let as_collection = |ty: Type| Type { shape: ty.mapping().map_or(ty.shape, Shape::Collection), ..ty };
    let shape = common_shape(sets, as_collection(a), as_collection(b))?;
    if fits && shape != Shape::Sequence {
        Ok(Type { basic: Basic::Bool, shape, within: None, halo: crate::types::Halo::NONE })
    } else {
        Err(format!("{op:?} is not defined for {} and {}", show(sets, &a), show(sets, &b)))
    }
}

fn select(sets: &SetTable, condition: Type, a: Type, b: Type) -> Rule {
    if condition.basic != Basic::Bool {
        return Err(format!("the condition is a Bool, not {}", show(sets, &condition)));
    }
    let shape = |ty: Type| ty.mapping().map_or(ty.shape, Shape::Collection);
    if a.basic != b.basic || shape(a) != shape(b) || a.basic == Basic::Text {
        return Err(format!("the branches {} and {} are of different types", show(sets, &a), show(sets, &b)));
    }
    if condition.shape != Shape::Single && condition.shape != shape(a) {
        return Err(format!("the condition {} is not on the set of the branches {}", show(sets, &condition), show(sets, &a)));
    }
    let within = match (a.within, b.within) {
        (Some(a), Some(b)) => Some(sets.common_superset(a, b)),
        (a, b) => a.or(b),
    };
    Ok(Type { basic: a.basic, shape: shape(a), within, halo: crate::types::Halo::NONE })
}
