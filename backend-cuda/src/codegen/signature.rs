//! The functions of a kernel: the order of their arguments, and their launch bounds.

use std::fmt::{self, Write as _};

use equelle_front::backend::usage::BodyUsage;
use equelle_front::types::{Basic, SetId, Shape};

use super::emit::uses::GridUse;
use super::emit::writer::Writer;

/// An argument of a CUDA function, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    /// `EqSpace`: the index space.
    Space,
    /// `EqGrid`.
    Grid,
    /// `EqCartesian`.
    Cartesian,
    /// `EqRanks` of a set.
    Ranks(SetId),
    /// `EqChecks`.
    Checks,
    /// Pointer of a parameter.
    Param(usize),
    /// Pointer of the values of a parameter on the sides of cells.
    BySide(usize),
    /// Number of elements of a Vector collection parameter.
    Size(usize),
    /// `EqRows`: the rows of an equation.
    Rows,
    /// `EqSlots`: the places of the additions of an equation.
    Slots,
    /// `EqPattern`: where an equation tells its derivatives.
    Pattern,
    /// Number of the first column of an unknown.
    First(usize),
    /// Pointer of a result; of a reduction: one partial result per leaf.
    Result(usize),
}

/// Launch bounds of a function, a macro of the prelude.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LaunchBounds {
    Light,
    Heavy,
    /// It puts rows of a Jacobian together in shared memory.
    Rows,
}

impl LaunchBounds {
    /// Divisions and roots in a body that make a function a heavy one.
    const HEAVY: usize = 12;

    /// Of a function for a body.
    pub(super) fn of(body: &BodyUsage, puts_rows_together: bool) -> Self {
        match body.divisions_and_roots {
            Self::HEAVY.. => LaunchBounds::Heavy,
            _ if puts_rows_together => LaunchBounds::Rows,
            _ => LaunchBounds::Light,
        }
    }

    /// Whether values may wait in registers before they are used. Heavy functions spill: with the
    /// 16 values of neighbours first, a stage of shallow water has 436 bytes of them, else 160.
    pub(super) fn leaves_registers(self) -> bool {
        self != LaunchBounds::Heavy
    }

    fn name(self) -> &'static str {
        match self {
            LaunchBounds::Light => "EQ_LIGHT",
            LaunchBounds::Heavy => "EQ_HEAVY",
            LaunchBounds::Rows => "EQ_ROWS",
        }
    }
}

/// A CUDA function made from one body, as its text and its launch have it.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub name: String,
    pub bounds: LaunchBounds,
    pub arguments: Vec<Argument>,
    /// Arrays that its [`Argument::Grid`] has.
    pub grid: GridUse,
    /// Whether it goes through the inside of a Cartesian grid and over its boundary cells apart.
    pub apart: bool,
    /// Declarations of the arguments.
    parameters: Vec<String>,
    body: String,
}

/// The function that evaluates an equation, and the one that tells the pattern of its rows.
#[derive(Clone, Debug)]
pub(super) struct EquationText {
    pub evaluation: Function,
    pub pattern: Function,
}

impl Function {
    /// The same, launched over the inside of a Cartesian grid and over its boundary cells apart.
    pub(super) fn inside_and_boundary(self) -> Self {
        Function { apart: true, ..self }
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bounds, parameters) = (self.bounds.name(), self.parameters.join(",\n    "));
        write!(f, "extern \"C\" __global__ void {bounds} {}(\n    {parameters}) {{\n{}}}\n", self.name, self.body)
    }
}

/// Adds the signature and the reads of Scalars. `arguments` come before parameters and results.
pub(super) fn finish(w: Writer<'_>, name: String, bounds: LaunchBounds, mut arguments: Vec<Argument>, grid: GridUse) -> Function {
    let mut body = String::new();
    for (number, param) in w.kernel.params.iter().enumerate() {
        if w.uses.by_side.contains(&number) {
            arguments.push(Argument::BySide(number));
        }
        if !w.uses.params.contains(&number) {
            continue;
        }
        match param.ty.shape {
            Shape::Domain(_) | Shape::Sequence => continue,
            Shape::Single => {
                let (name, pointer) = (&w.params[number], w.pointer_name(number));
                let _ = match param.ty.basic {
                    // The functions of tables read its numbers.
                    Basic::Table => Ok(()),
                    Basic::Vector => {
                        let value = w.reals.entering_vector(&format!("eq_load({pointer}, 1, 0)"));
                        writeln!(body, "  const {} {name} = {value};", w.reals.value(Basic::Vector))
                    }
                    Basic::Bool => writeln!(body, "  const bool {name} = *{pointer} != 0;"),
                    Basic::Scalar | Basic::Entity(_) | Basic::Text | Basic::Axis(_) => {
                        writeln!(body, "  const {} {name} = {};", w.reals.number(), w.reals.entering(&format!("*{pointer}")))
                    }
                };
            }
            Shape::Collection(_) => {}
        }
        arguments.push(Argument::Param(number));
        if w.uses.sizes.contains(&number) {
            arguments.push(Argument::Size(number));
        }
    }
    if !arguments.contains(&Argument::Pattern) {
        arguments.extend((0..w.kernel.results.len()).map(Argument::Result));
    }
    body += &w.out;
    let parameters = arguments.iter().map(|a| declaration(&w, *a)).collect();
    Function { name, bounds, arguments, grid, apart: false, parameters, body }
}

fn declaration(w: &Writer<'_>, argument: Argument) -> String {
    let kernel = w.kernel;
    match argument {
        Argument::Space => "const EqSpace space".to_owned(),
        Argument::Grid => "const EqGrid grid".to_owned(),
        Argument::Cartesian => "const EqCartesian g".to_owned(),
        Argument::Ranks(set) => format!("const EqRanks {}", w.ranks[&set]),
        Argument::Checks => "const EqChecks checks".to_owned(),
        Argument::Param(number) => {
            let ty = kernel.params[number].ty;
            let is_read = ty.shape == Shape::Single && ty.basic != Basic::Table;
            let name = if is_read { w.pointer_name(number) } else { w.params[number].clone() };
            format!("const {}* __restrict__ {name}", w.reals.stored(&ty, false))
        }
        Argument::BySide(number) => {
            format!("const {}* __restrict__ {}", w.reals.stored(&kernel.params[number].ty, false), w.by_side[number])
        }
        Argument::Size(number) => format!("const EqEntity {}", w.size_name(number)),
        Argument::Rows => "const EqRows rows".to_owned(),
        Argument::Slots => "const EqSlots slots".to_owned(),
        Argument::Pattern => "const EqPattern pattern".to_owned(),
        Argument::First(number) => format!("const EqEntity {}", w.unknowns[number].first),
        Argument::Result(number) => {
            let result = &kernel.results[number];
            format!("{}* __restrict__ {}", w.reals.stored(&result.ty, result.reduce.is_some()), w.results[number])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisions_and_roots_make_a_function_heavy() {
        let body = |divisions_and_roots| BodyUsage { divisions_and_roots, ..BodyUsage::default() };
        let bounds = [11, 12].map(|count| [false, true].map(|rows| LaunchBounds::of(&body(count), rows)));
        assert_eq!(bounds, [[LaunchBounds::Light, LaunchBounds::Rows], [LaunchBounds::Heavy; 2]]);
    }
}
