//! Equations whose rows are the same for all cells inside: derivatives by the cells at offsets have
//! a variable each, which are the entries of a row, in the order of its columns. Cells near a side
//! take the body for any grid, and search for the entries.

use std::collections::BTreeSet;

use equelle_front::backend::inside::{Inside, InsideForms};
use equelle_front::backend::stencil::Skeleton;
use equelle_front::backend::usage::BodyUsage;
use equelle_front::ir::{JacobianForm, KBlock};

use super::cartesian::{begin_pattern, begin_rows, finish_cells};
use crate::codegen::cartesian::inside::{by_distance, near_writer};
use crate::codegen::emit::derivatives::{Derivatives, OffsetVariable, Target};
use crate::codegen::emit::outputs::{CELL, store};
use crate::codegen::emit::writer::{Form, Source, Writer};
use crate::codegen::signature::{Argument, EquationText, LaunchBounds};

/// Writes both functions.
pub(in crate::codegen) fn equation_by_index(source: Source<'_>, form: &JacobianForm, inside: &InsideForms) -> EquationText {
    let Source { name, reals, .. } = source;
    let skeleton = Skeleton::of(form);
    // Reads by index have a closed form for each cell near the sides; sums over faces have the body
    // for any grid.
    let near_form = match inside {
        InsideForms::AnyDimension(_) => Form::Cells,
        InsideForms::ByDimension(_) => Form::General,
    };

    let mut pattern = begin_pattern(source);
    let mut told = near_writer(source, near_form);
    for unknown in statements(&mut told, Target::Pattern, &skeleton.block) {
        let first = pattern.first_column(unknown as usize);
        pattern.line(&format!("eq_tell(told, {first}, element);"));
    }
    if near_form == Form::General {
        pattern.line("const EqEntity here = element;");
    }
    pattern.append(told);
    pattern.line("pattern.counts[element] = told.count;");

    let mut writer = begin_rows(source);
    writer.line(&format!("{}* entries = eq_entries(stage, rows, element);", reals.number()));
    let mut rows = near_writer(source, near_form);
    rows.deeper();
    rows.deeper();
    let diagonals = statements(&mut rows, Target::Row, &form.body);
    let mut near = near_writer(source, near_form);
    near.deeper();
    near.deeper();
    if near_form == Form::General {
        near.line("const EqEntity here = element;");
    }
    near.line("const EqRow row = eq_row_in_place(rows, entries, element);");
    for &unknown in &diagonals {
        let own = near.unknowns[unknown as usize].own.clone();
        near.line(&format!("{} {own} = {};", reals.number(), reals.literal(0.0)));
    }
    for &unknown in &diagonals {
        let (first, own) = (rows.first_column(unknown as usize), rows.unknowns[unknown as usize].own.clone());
        rows.line(&format!("eq_add(row, {first} + element, {own});"));
    }
    near.append(rows);
    by_distance(&mut writer, source, inside, near, &mut cell_inside);
    writer.close("}");
    writer.line("eq_write_rows(stage, rows);");

    let usage = |block| BodyUsage::from_block(source.kernel, source.sets, block);
    let bounds = LaunchBounds::of(&usage(&form.body), true);
    let [used, told] = match near_form {
        Form::General => [usage(&form.body), usage(&skeleton.block)],
        Form::Cells | Form::PerAxis(_) => Default::default(),
    };
    EquationText {
        evaluation: finish_cells(writer, format!("{name}_cartesian"), bounds, Argument::Rows, &used),
        pattern: finish_cells(pattern, format!("{name}_cartesian_pattern"), LaunchBounds::Light, Argument::Pattern, &told),
    }
}

/// The statements of a block for any cell, with the result where it is evaluated; the unknowns
/// whose element here has a variable of its own.
fn statements(w: &mut Writer<'_>, target: Target, block: &KBlock) -> BTreeSet<u32> {
    w.derivatives = Some(Derivatives::new(target));
    w.with_cells_around(|w| {
        // The body for any grid knows no axis where it begins.
        if target == Target::Row && w.form == Form::Cells {
            w.load_per_axis(block);
        }
        w.statements(block);
        if target == Target::Row {
            store(w, block, CELL.0, CELL.1);
        }
    });
    w.derivatives.take().map(|d| d.diagonals).unwrap_or_default()
}

/// A cell that is far from all sides.
fn cell_inside(w: &mut Writer<'_>, inside: &Inside) {
    let mut derivatives = Derivatives::new(Target::Offsets);
    for column in &inside.columns {
        let [x, y, z] = column.by.map(|by| if by < 0 { format!("m{}", by.unsigned_abs()) } else { by.to_string() });
        let parameter = w.params[column.unknown.0 as usize].clone();
        let name = w.names.fresh(&format!("by_{parameter}_{x}_{y}_{z}"));
        derivatives.offsets.push(OffsetVariable { unknown: column.unknown.0, by: column.by, name });
    }
    let names: Vec<String> = derivatives.offsets.iter().map(|variable| variable.name.clone()).collect();
    for name in &names {
        w.line(&format!("{} {name} = {};", w.reals.number(), w.reals.literal(0.0)));
    }
    w.derivatives = Some(derivatives);
    w.with_cells_around(|w| {
        w.around.inside = true;
        w.load_here(&inside.body);
        w.statements(&inside.body);
        store(w, &inside.body, CELL.0, CELL.1);
    });
    w.derivatives = None;
    for (number, name) in names.iter().enumerate() {
        w.line(&format!("entries[{number}] = {name};"));
    }
}
