//! Equations on Cartesian grids: derivatives by a cell and its neighbours have a variable each, and
//! columns follow from the place of the cell.

use equelle_front::backend::stencil::{Reach, reach};
use equelle_front::ir::{KBlock, Kernel};
use equelle_front::types::SetTable;

use super::unstructured::EquationText;
use crate::codegen::emit::derivatives::{Derivatives, Target};
use crate::codegen::emit::outputs::store;
use crate::codegen::emit::reals::Reals;
use crate::codegen::emit::text::mentions;
use crate::codegen::emit::writer::{Form, Writer};
use crate::codegen::signature::{Argument, GridNeeds, finish};

/// Writes both functions for Cartesian grids, from the body that the form has for them.
pub(in crate::codegen) fn cartesian_equation(
    kernel: &Kernel,
    unknowns: u32,
    block: &KBlock,
    sets: &SetTable,
    reals: Reals,
    name: &str,
    comment: &str,
) -> EquationText {
    let reach = reach(unknowns, block);
    let cells = "g.n[0] * g.n[1] * g.n[2]";

    let mut pattern = Writer::new(kernel, sets, reals, Form::Cells);
    pattern.line("const EqEntity element = eq_index();");
    pattern.line(&format!("if (element >= {cells}) return;"));
    pattern.line("const EqCell cell = eq_cell(g, element);");
    pattern.line("EqTold told = eq_told(pattern, element);");
    for (names, Reach { own, low, high }) in pattern.unknowns.clone().iter().zip(&reach) {
        pattern.line(&format!("eq_tell_cell(g, cell, told, {}, {low}, {own}, {high});", names.first));
    }
    pattern.line("pattern.counts[element] = told.count;");

    let mut writer = Writer::new(kernel, sets, reals, Form::Cells);
    writer.line("EQ_STAGE_ENTRIES");
    writer.line(&format!("const EqStage stage = eq_stage_entries(rows, {cells}, stage_entries);"));
    writer.line("const EqEntity element = eq_index();");
    writer.open(&format!("if (element < {cells}) {{"));
    writer.line("const EqCell cell = eq_cell(g, element);");
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
    store(&mut writer, kernel, block, "cell.index", &format!("(size_t){cells}"));
    writer.close("}");
    writer.line("eq_write_rows(stage, rows);");

    let finish = |w: Writer<'_>, name: &str, target: Argument| {
        let mut arguments = vec![Argument::Cartesian];
        arguments.extend(w.used_ranks().into_iter().map(Argument::Ranks));
        arguments.push(target);
        arguments.extend((0..unknowns as usize).filter(|&k| mentions(&w.out, &w.unknowns[k].first)).map(Argument::First));
        finish(w, kernel, name, comment, arguments, GridNeeds::default())
    };
    EquationText {
        evaluation: finish(writer, &format!("{name}_cartesian"), Argument::Rows),
        pattern: finish(pattern, &format!("{name}_cartesian_pattern"), Argument::Pattern),
    }
}
