//! From kernels to lane programs.
//!
//! [`Code`] takes operations with as many registers as there are values ([`code`]); [`join`]
//! makes one operation of common pairs and triples, and [`registers`] gives registers that are free
//! to others. What is the same for all elements becomes a [`Uniform`]. [`expr`], [`path`] and
//! [`stmt`] have the parts of kernels, [`fail`] what may fail.

mod code;
mod expr;
mod fail;
mod join;
mod path;
mod registers;
mod stmt;
#[cfg(test)]
mod tests;
mod value;

use std::collections::BTreeSet;

use equelle_front::ir::{KBlock, Kernel, LocalId, Precision};
use equelle_front::types::{Basic, SetId, SetTable};
use equelle_runtime::grid::Cartesian;

use crate::program::{EntrySign, Instr, LaneProgram, Layout, RealArray, RealSrc, Uniform, UniformId};
use crate::refusal::Refusal;
use code::Code;
use value::Value;

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
    code: Code,
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
    Ok(registers::allocate(join::join(builder.code.program)))
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
    let by_state = pattern.code.program.arrays.reals.iter().any(is_state) || !pattern.code.program.arrays.truths.is_empty();
    if by_state || pattern.code.program.uniforms.iter().any(|uniform| !matches!(uniform, Uniform::Const(_))) {
        return Err(Refusal::ChosenColumns);
    }
    let mut equation = Builder::new(kernel, target);
    equation.additions = Additions::Added;
    equation.checks()?;
    let residual = equation.block(block)?.into_iter().next().ok_or(Refusal::Type)?;
    equation.store(residual, Basic::Scalar, &mut 0)?;
    Ok((registers::allocate(join::join(equation.code.program)), registers::allocate(pattern.code.program)))
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
    if builder.code.program.code.is_empty() { Ok((builder.code.program, values)) } else { Err(Refusal::PerAxis) }
}

impl<'a> Builder<'a> {
    fn new(kernel: &'a Kernel, target: Target<'a>) -> Self {
        Builder {
            kernel,
            target,
            code: Code::new(target.precision, target.layout, target.shape),
            locals: vec![None; kernel.locals.len()],
            never_empty: BTreeSet::new(),
            axis: None,
            wraps: false,
            additions: Additions::None,
            sign: EntrySign::Plus,
        }
    }
}

impl Builder<'_> {
    fn checks(&mut self) -> Result<(), Refusal> {
        for check in &self.kernel.checks {
            let condition = self.expr(&check.condition)?.truth()?;
            let condition = self.code.truth_reg(condition);
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
                let src = self.code.truth_reg(truth);
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
