//! The functions of a kernel: the order of their arguments, and their launch bounds.

use std::fmt::{self, Write as _};

use equelle_front::backend::usage::BodyUsage;
use equelle_front::backend::visit::{Node, visit_block};
use equelle_front::ir::{KBlock, Path};
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
    /// Light, with several cells of a row of the grid a thread.
    RowCells,
    /// The same with more values than fit with them.
    MoreRowCells,
    /// The same, whose threads go from plane to plane.
    Planes,
    /// It reads so many values around a cell that a thread needs most registers it can have.
    Wide,
}

impl LaunchBounds {
    /// Divisions and roots in a body that make a function a heavy one: shallow water with 9 of them
    /// on 2048^2 cells takes 0.483 ms with 32 registers on an H100, in other words 0.106 with 64.
    const HEAVY: usize = 9;

    /// Returns the launch bounds of a function for a body.
    pub(super) fn of(body: &BodyUsage, puts_rows_together: bool) -> Self {
        match body.divisions_and_roots {
            Self::HEAVY.. => LaunchBounds::Heavy,
            _ if puts_rows_together => LaunchBounds::Rows,
            _ => LaunchBounds::Light,
        }
    }

    /// Reads by index that make a function a wide one.
    const WIDE: usize = 64;

    /// Returns the launch bounds of a function for all that is done in a cell.
    pub(super) fn for_cells(body: &BodyUsage, block: &KBlock) -> Self {
        if Self::is_wide(block) { LaunchBounds::Wide } else { LaunchBounds::of(body, false) }
    }

    /// True if all that is done in a cell makes a function a wide one.
    pub(super) fn is_wide(block: &KBlock) -> bool {
        let mut reads = 0;
        visit_block(block, &mut |node| reads += usize::from(matches!(node, Node::Path(Path::Offset { .. }))));
        reads >= Self::WIDE
    }

    /// True if values may wait in registers before they are used. Heavy functions spill: with the
    /// 16 values of neighbours first, a stage of shallow water has 436 bytes of them, else 160.
    pub(super) fn leaves_registers(self) -> bool {
        match self {
            LaunchBounds::Light | LaunchBounds::Rows | LaunchBounds::RowCells | LaunchBounds::MoreRowCells | LaunchBounds::Planes => true,
            LaunchBounds::Heavy | LaunchBounds::Wide => false,
        }
    }

    fn name(self) -> &'static str {
        match self {
            LaunchBounds::Light => "EQ_LIGHT",
            LaunchBounds::Heavy => "EQ_HEAVY",
            LaunchBounds::Rows => "EQ_ROWS",
            LaunchBounds::RowCells => "EQ_ROW_CELLS",
            LaunchBounds::MoreRowCells => "EQ_MORE_ROW_CELLS",
            LaunchBounds::Planes => "EQ_PLANES",
            LaunchBounds::Wide => "EQ_WIDE",
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
    /// True if it goes through the inside of a Cartesian grid and over its boundary cells apart.
    pub apart: bool,
    /// Cells of a row per thread, for each instance of a template.
    pub row_widths: &'static [u32],
    /// Declarations of the arguments: type and name.
    parameters: Vec<(String, String)>,
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

    /// The function as a template of the number of cells of a row per thread.
    pub(super) fn with_row_widths(self, row_widths: &'static [u32]) -> Self {
        Function { row_widths, ..self }
    }

    /// Name of the function with so many cells of a row a thread.
    pub(super) fn name_of_width(&self, width: u32) -> String {
        format!("{}_x{width}", self.name)
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bounds = self.bounds.name();
        let parameters: Vec<String> = self.parameters.iter().map(|(ty, name)| format!("{ty} {name}")).collect();
        let parameters = parameters.join(",\n    ");
        if self.row_widths.is_empty() {
            return write!(f, "extern \"C\" __global__ void {bounds} {}(\n    {parameters}) {{\n{}}}\n", self.name, self.body);
        }
        let names: Vec<&str> = self.parameters.iter().map(|(_, name)| name.as_str()).collect();
        let names = names.join(", ");
        write!(f, "template <int ROW>\nEQ_FUNCTION void {}(\n    {parameters}) {{\n{}}}\n", self.name, self.body)?;
        self.row_widths.iter().try_for_each(|&width| {
            let name = self.name_of_width(width);
            write!(f, "extern \"C\" __global__ void {bounds} {name}(\n    {parameters}) {{\n  {}<{width}>({names});\n}}\n", self.name)
        })
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
    Function { name, bounds, arguments, grid, apart: false, row_widths: &[], parameters, body }
}

/// Type and name of an argument.
fn declaration(w: &Writer<'_>, argument: Argument) -> (String, String) {
    let kernel = w.kernel;
    let constant = |ty: &str, name: &str| (format!("const {ty}"), name.to_owned());
    let pointer = |ty: &str, name: &str| (format!("const {ty}* __restrict__"), name.to_owned());
    match argument {
        Argument::Space => constant("EqSpace", "space"),
        Argument::Grid => constant("EqGrid", "grid"),
        Argument::Cartesian => constant("EqCartesian", "g"),
        Argument::Ranks(set) => constant("EqRanks", &w.ranks[&set]),
        Argument::Checks => constant("EqChecks", "checks"),
        Argument::Param(number) => {
            let ty = kernel.params[number].ty;
            let is_read = ty.shape == Shape::Single && ty.basic != Basic::Table;
            let name = if is_read { w.pointer_name(number) } else { w.params[number].clone() };
            pointer(w.reals.stored(&ty, false), &name)
        }
        Argument::BySide(number) => pointer(w.reals.stored(&kernel.params[number].ty, false), &w.by_side[number]),
        Argument::Size(number) => constant("EqEntity", &w.size_name(number)),
        Argument::Rows => constant("EqRows", "rows"),
        Argument::Slots => constant("EqSlots", "slots"),
        Argument::Pattern => constant("EqPattern", "pattern"),
        Argument::First(number) => constant("EqEntity", &w.unknowns[number].first),
        Argument::Result(number) => {
            let result = &kernel.results[number];
            (format!("{}* __restrict__", w.reals.stored(&result.ty, result.reduce.is_some())), w.results[number].clone())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisions_and_roots_make_a_function_heavy() {
        let body = |divisions_and_roots| BodyUsage { divisions_and_roots, ..BodyUsage::default() };
        let bounds = [8, 9].map(|count| [false, true].map(|rows| LaunchBounds::of(&body(count), rows)));
        assert_eq!(bounds, [[LaunchBounds::Light, LaunchBounds::Rows], [LaunchBounds::Heavy; 2]]);
    }
}
