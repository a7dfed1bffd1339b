//! Equations on Cartesian grids: derivatives by a cell and its neighbours have a variable each, and
//! columns follow from the place of the cell.

use equelle_front::backend::stencil::{Reach, reach};
use equelle_front::backend::usage::BodyUsage;
use equelle_front::ir::KBlock;

use crate::codegen::emit::derivatives::{Derivatives, Target};
use crate::codegen::emit::outputs::{CELL, store};
use crate::codegen::emit::writer::{Form, Source, Writer};
use crate::codegen::signature::{Argument, EquationText, Function, LaunchBounds, finish};

/// Writes both functions for Cartesian grids, from the body that the form has for them.
pub(in crate::codegen) fn cartesian_equation(source: Source<'_>, unknowns: u32, block: &KBlock) -> EquationText {
    let Source { name, reals, .. } = source;
    let reach = reach(unknowns, block);

    let mut pattern = begin_pattern(source);
    for (unknown, Reach { own, low, high }) in reach.iter().enumerate() {
        let first = pattern.first_column(unknown);
        pattern.line(&format!("eq_tell_cell(g, cell, told, {first}, {low}, {own}, {high});"));
    }
    pattern.line("pattern.counts[element] = told.count;");

    let mut writer = begin_rows(source);
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
    store(&mut writer, block, CELL.0, CELL.1);
    writer.close("}");
    writer.line("eq_write_rows(stage, rows);");

    let bounds = LaunchBounds::of(&BodyUsage::from_block(source.kernel, source.sets, block), false);
    EquationText {
        evaluation: finish_cells(writer, format!("{name}_cartesian"), bounds, Argument::Rows, &BodyUsage::default()),
        pattern: finish_cells(pattern, format!("{name}_cartesian_pattern"), LaunchBounds::Light, Argument::Pattern, &BodyUsage::default()),
    }
}

/// Number of cells of the grid.
const CELLS: &str = "g.n[0] * g.n[1] * g.n[2]";

/// Begins a function that tells where the row of a cell has entries.
pub(super) fn begin_pattern(source: Source<'_>) -> Writer<'_> {
    let mut pattern = Writer::new(source, Form::Cells);
    pattern.line("const EqEntity element = eq_index();");
    pattern.line(&format!("if (element >= {CELLS}) return;"));
    pattern.line("const EqCell cell = eq_cell(g, element);");
    pattern.line("EqResidualScale told = eq_told(pattern, element);");
    pattern
}

/// Begins a function that evaluates the row of a cell, in a block of the text.
pub(super) fn begin_rows(source: Source<'_>) -> Writer<'_> {
    let mut writer = Writer::new(source, Form::Cells);
    writer.line("EQ_STAGE_ENTRIES");
    writer.line(&format!("const EqStage stage = eq_stage_entries(rows, {CELLS}, stage_entries);"));
    writer.line("const EqEntity element = eq_index();");
    writer.open(&format!("if (element < {CELLS}) {{"));
    writer.line("const EqCell cell = eq_cell(g, element);");
    writer
}

/// A function over the cells of a Cartesian grid; `target` is where derivatives go, `used` what the
/// body for any grid takes, where it has one.
pub(super) fn finish_cells(w: Writer<'_>, name: String, bounds: LaunchBounds, target: Argument, used: &BodyUsage) -> Function {
    let mut arguments = vec![Argument::Cartesian];
    let grid = w.uses.grid.with_geometry(used);
    arguments.extend(grid.any().then_some(Argument::Grid));
    arguments.extend(w.uses.ranks.iter().copied().map(Argument::Ranks));
    arguments.push(target);
    arguments.extend(w.uses.first_columns.iter().copied().map(Argument::First));
    finish(w, name, bounds, arguments, grid)
}
