//! From kernels to lane programs.
//!
//! [`Builder`] writes operations with as many registers as there are values ([`emit`]); [`join`]
//! makes one operation of common pairs and triples, and [`registers`] gives registers that are free
//! to others. What is the same for all elements becomes a [`Uniform`]. [`expr`], [`path`] and
//! [`stmt`] have the parts of kernels, [`fail`] what may fail.

mod emit;
mod expr;
mod fail;
mod join;
mod path;
mod registers;
mod stmt;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};

use equelle_front::ir::{KBlock, Kernel, LocalId, Precision};
use equelle_front::types::{Basic, SetId, SetTable};
use equelle_runtime::grid::Cartesian;

use crate::program::{
    ArrayLists, EntityReg, EntrySign, Instr, LaneProgram, Layout, OffsetId, RealArray, RealSrc, TruthReg, Uniform, UniformId,
};
use crate::refusal::Refusal;

/// The grid and the form that a kernel is compiled for.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// Sets of the program.
    pub sets: &'a SetTable,
    /// Precision in which the kernel computes.
    pub precision: Precision,
    /// Axes of the grid.
    pub dim: usize,
    /// The grid, if it is Cartesian.
    pub shape: Option<Cartesian>,
    /// True if `block` is a Cartesian form.
    pub cartesian_form: bool,
    /// Where the elements are.
    pub layout: Layout,
    /// Axis of the face, in a form that is evaluated once per axis; `None` for cells.
    pub face_axis: Option<usize>,
}

/// A truth value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Truth {
    Uniform(UniformId),
    Reg(TruthReg),
}

/// An entity of each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entity {
    Empty,
    Here,
    /// The cell so many cells further along an axis, in a region where there is one.
    Shift {
        axis: usize,
        by: i8,
    },
    SideFace {
        axis: usize,
        high: bool,
    },
    /// A cell at an offset from that of the lane.
    Offset(OffsetId),
    Reg(EntityReg),
}

/// The value of an expression.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Real(RealSrc),
    /// As many components as the grid has axes.
    Vector(Vec<RealSrc>),
    Truth(Truth),
    Entity(Entity),
}

impl Value {
    fn real(self) -> Result<RealSrc, Refusal> {
        match self {
            Value::Real(value) => Ok(value),
            Value::Vector(_) | Value::Truth(_) | Value::Entity(_) => Err(Refusal::Type),
        }
    }

    fn vector(self) -> Result<Vec<RealSrc>, Refusal> {
        match self {
            Value::Vector(value) => Ok(value),
            Value::Real(_) | Value::Truth(_) | Value::Entity(_) => Err(Refusal::Type),
        }
    }

    fn truth(self) -> Result<Truth, Refusal> {
        match self {
            Value::Truth(value) => Ok(value),
            Value::Real(_) | Value::Vector(_) | Value::Entity(_) => Err(Refusal::Type),
        }
    }
}

/// Targets of additions to derivatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Additions {
    /// There are none.
    None,
    /// They are added.
    Added,
    /// Their places are marked.
    Marked,
}

/// Writes the program of a kernel.
struct Builder<'a> {
    kernel: &'a Kernel,
    target: Target<'a>,
    code: Vec<Instr>,
    uniforms: Vec<Uniform>,
    uniform_ids: HashMap<Uniform, UniformId>,
    arrays: ArrayLists,
    offsets: Vec<(equelle_front::ops::Offset, equelle_front::ops::Beyond)>,
    /// Operations that the open regions have done, outermost first: by the operation with a
    /// register of number [`emit::ANY`].
    done: Vec<HashMap<Instr, u32>>,
    locals: Vec<Option<Value>>,
    /// Entities that are never Empty where they are visible.
    never_empty: BTreeSet<LocalId>,
    /// Axis of the current side.
    axis: Option<usize>,
    /// True for cells whose neighbour at the side at hand is beyond joined sides.
    wraps: bool,
    additions: Additions,
    /// Sign of the sums that are open.
    sign: EntrySign,
    n_reals: u32,
    n_truths: u32,
    n_entities: u32,
}

/// Compiles a kernel: its checks, and a body of it.
///
/// # Errors
/// [`Refusal`] for a construct that lanes do not have.
pub fn build(kernel: &Kernel, block: &KBlock, target: Target<'_>) -> Result<LaneProgram, Refusal> {
    let mut builder = Builder::new(kernel, target);
    builder.checks()?;
    let values = builder.block(block)?;
    let mut output = 0;
    for (value, result) in values.into_iter().zip(&kernel.results) {
        builder.store(value, result.ty.basic, &mut output)?;
    }
    Ok(registers::allocate(join::join(builder.program())))
}

/// Compiles a Jacobian form: the residual with its derivatives, and the places of these, which
/// `skeleton` lists.
///
/// # Errors
/// [`Refusal`] for a construct that lanes do not have.
pub fn build_equation(
    kernel: &Kernel,
    block: &KBlock,
    skeleton: &KBlock,
    target: Target<'_>,
) -> Result<(LaneProgram, LaneProgram), Refusal> {
    let mut pattern = Builder::new(kernel, target);
    pattern.additions = Additions::Marked;
    pattern.block(skeleton).map_err(|refusal| if refusal == Refusal::Type { Refusal::ChosenColumns } else { refusal })?;
    let is_state = |array: &RealArray| matches!(array, RealArray::Scalars(_) | RealArray::Component(..));
    let by_state = pattern.arrays.reals.iter().any(is_state) || !pattern.arrays.truths.is_empty();
    if by_state || pattern.uniforms.iter().any(|uniform| !matches!(uniform, Uniform::Const(_))) {
        return Err(Refusal::ChosenColumns);
    }
    let mut equation = Builder::new(kernel, target);
    equation.additions = Additions::Added;
    equation.checks()?;
    let residual = equation.block(block)?.into_iter().next().ok_or(Refusal::Type)?;
    equation.store(residual, Basic::Scalar, &mut 0)?;
    Ok((registers::allocate(join::join(equation.program())), registers::allocate(pattern.program())))
}

/// Compiles a form that is evaluated once per axis, for one axis: a program without operations, and
/// the results.
///
/// # Errors
/// [`Refusal`] for a value that differs among the elements of the axis.
pub fn build_uniform(kernel: &Kernel, block: &KBlock, target: Target<'_>) -> Result<(LaneProgram, Vec<UniformId>), Refusal> {
    let mut builder = Builder::new(kernel, target);
    let values = builder.block(block)?;
    let uniform = |value| match value {
        Value::Real(RealSrc::Uniform(id)) => Ok(id),
        Value::Real(RealSrc::Reg(_) | RealSrc::Memory(..)) | Value::Vector(_) | Value::Truth(_) | Value::Entity(_) => Err(Refusal::PerAxis),
    };
    let values = values.into_iter().map(uniform).collect::<Result<_, _>>()?;
    if builder.code.is_empty() { Ok((builder.program(), values)) } else { Err(Refusal::PerAxis) }
}

impl<'a> Builder<'a> {
    fn new(kernel: &'a Kernel, target: Target<'a>) -> Self {
        Builder {
            kernel,
            target,
            code: Vec::new(),
            uniforms: Vec::new(),
            uniform_ids: HashMap::new(),
            arrays: ArrayLists::default(),
            offsets: Vec::new(),
            done: vec![HashMap::new()],
            locals: vec![None; kernel.locals.len()],
            never_empty: BTreeSet::new(),
            axis: None,
            wraps: false,
            additions: Additions::None,
            sign: EntrySign::Plus,
            n_reals: 0,
            n_truths: 0,
            n_entities: 0,
        }
    }

    fn program(self) -> LaneProgram {
        let Builder { code, uniforms, arrays, offsets, n_truths, n_entities, n_reals, target, .. } = self;
        let (layout, shape) = (target.layout, target.shape);
        LaneProgram { code, uniforms, arrays, offsets, layout, shape, n_reals, n_truths, n_entities }
    }
}

impl Builder<'_> {
    fn checks(&mut self) -> Result<(), Refusal> {
        for check in &self.kernel.checks {
            let condition = self.expr(&check.condition)?.truth()?;
            let condition = self.truth_reg(condition);
            self.code.push(Instr::Check { condition });
        }
        Ok(())
    }

    /// Writes a result, one output for each component.
    fn store(&mut self, value: Value, basic: Basic, output: &mut u32) -> Result<(), Refusal> {
        let result = *output;
        *output += 1;
        match (value, basic) {
            (Value::Real(src), Basic::Scalar) => self.code.push(Instr::StoreReal { result, src }),
            (Value::Vector(components), Basic::Vector) => {
                *output = result;
                for src in components {
                    self.code.push(Instr::StoreReal { result: *output, src });
                    *output += 1;
                }
            }
            (Value::Truth(truth), Basic::Bool) => {
                let src = self.truth_reg(truth);
                self.code.push(Instr::StoreTruth { result, src });
            }
            (Value::Entity(entity), Basic::Entity(_)) => {
                let src = self.entity_reg(entity)?;
                self.code.push(Instr::StoreEntity { result, src });
            }
            (Value::Real(_) | Value::Vector(_) | Value::Truth(_) | Value::Entity(_), _) => return Err(Refusal::Type),
        }
        Ok(())
    }

    /// The set of the kernel's elements.
    fn space(&self) -> Option<SetId> {
        self.kernel.space_set()
    }
}
