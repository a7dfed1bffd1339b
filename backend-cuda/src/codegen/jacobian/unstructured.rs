//! Equations: the residual and its row of the Jacobian in one pass, and the pattern of the rows.
//!
//! An equation becomes two functions. The *pattern* tells once per grid which derivatives each
//! element has, from the skeleton of the Jacobian form; the other one evaluates, and adds each
//! derivative to the entry of its column. Both add in one order, so that the place of each addition
//! in its row is known, unless the state decides what is added: then the column is builder. One
//! thread owns a row; the rows of a block are put together in shared memory and written behind one
//! another.
//!
//! On Cartesian grids both have another form: derivatives by the cell and by those beyond its sides
//! go to variables, and columns follow from the place of the cell.

use std::collections::BTreeSet;

use equelle_front::backend::stencil::Skeleton;
use equelle_front::backend::usage::BodyUsage;
use equelle_front::backend::visit::{Node, visit_path};
use equelle_front::ir::{JacobianForm, KBlock, KStmt, Path};

use super::additions::adds;
use crate::codegen::emit::derivatives::{Derivatives, Target};
use crate::codegen::emit::outputs::store;
use crate::codegen::emit::writer::{Form, Source, UnknownNames, Writer};
use crate::codegen::signature::{Argument, EquationText, Function, LaunchBounds, finish};
use crate::codegen::unstructured::function::checks;

/// Writes both functions for any grid.
pub(in crate::codegen) fn unstructured_equation(source: Source<'_>, form: &JacobianForm) -> EquationText {
    let Source { name, reals, .. } = source;
    let skeleton = Skeleton::of(form);
    let new = || Writer::new(source, Form::General);
    let (told, diagonals) = body(new(), Target::Pattern, &skeleton.block);
    let mut pattern = new();
    pattern.line("const EqEntity element = eq_index();");
    pattern.line("if (element >= space.size) return;");
    pattern.line("const EqEntity here = eq_entity(space, element);");
    pattern.line("EqResidualScale told = eq_told(pattern, element);");
    for &unknown in &diagonals {
        let first = pattern.first_column(unknown as usize);
        pattern.line(&format!("eq_tell(told, {first}, element);"));
    }
    pattern.append(told);
    pattern.line("pattern.counts[element] = told.count;");

    let target = if has_fixed_additions(&skeleton, &form.body) { Target::Slots } else { Target::Row };
    let mut writer = new();
    writer.line(if target == Target::Slots { "EQ_STAGE_ENTRIES" } else { "EQ_STAGE_ROWS" });
    let columns = if target == Target::Slots { "0" } else { "stage_columns" };
    writer.line(&format!("const EqStage stage = eq_stage_rows(rows, space.size, stage_entries, {columns});"));
    writer.line("const EqEntity element = eq_index();");
    writer.open("if (element < space.size) {");
    writer.line("const EqEntity here = eq_entity(space, element);");
    checks(&mut writer, "return;");
    writer.line("const EqRow row = eq_row(stage, rows, element);");
    if target == Target::Slots {
        writer.line("const EqSlot* slot = slots.slots + slots.starts[element];");
    }
    let (evaluated, diagonals) = body(new(), target, &form.body);
    for &unknown in &diagonals {
        let UnknownNames { own, own_slot, .. } = writer.unknowns[unknown as usize].clone();
        writer.line(&format!("{} {own} = {};", reals.number(), reals.literal(0.0)));
        if target == Target::Slots {
            writer.line(&format!("const EqSlot {own_slot} = *slot++;"));
        }
    }
    writer.append(evaluated);
    for &unknown in &diagonals {
        let UnknownNames { own, own_slot, .. } = writer.unknowns[unknown as usize].clone();
        let text = match target {
            Target::Slots => format!("eq_add_at(row, {own_slot}, {own});"),
            Target::Row | Target::Pattern | Target::Places | Target::Offsets => {
                format!("eq_add(row, {} + element, {own});", writer.first_column(unknown as usize))
            }
        };
        writer.line(&text);
    }
    store(&mut writer, &form.body, "element", "space.size");
    writer.close("}");
    writer.line("eq_write_rows(stage, rows);");

    let used = BodyUsage::from_block(source.kernel, source.sets, &form.body);
    let conditions = BodyUsage::from_checks(source.kernel, source.sets);
    let slots = (target == Target::Slots).then_some(Argument::Slots);
    let told = BodyUsage::from_block(source.kernel, source.sets, &skeleton.block);
    EquationText {
        evaluation: finish_equation(writer, name.to_owned(), &conditions.and(used), [Some(Argument::Rows), slots]),
        pattern: finish_equation(pattern, format!("{name}_pattern"), &told, [Some(Argument::Pattern), None]),
    }
}

/// The statements of a block by a new writer, and the unknowns whose element here has a variable of
/// its own.
fn body<'a>(mut w: Writer<'a>, target: Target, block: &KBlock) -> (Writer<'a>, BTreeSet<u32>) {
    w.derivatives = Some(Derivatives::new(target));
    if target != Target::Pattern {
        w.deeper();
    }
    w.statements(block);
    let diagonals = w.derivatives.take().map(|d| d.diagonals).unwrap_or_default();
    (w, diagonals)
}

/// `targets` is where derivatives go.
fn finish_equation(w: Writer<'_>, name: String, used: &BodyUsage, targets: [Option<Argument>; 2]) -> Function {
    let grid = w.uses.grid.with_geometry(used);
    let evaluates = targets[0] == Some(Argument::Rows);
    let mut arguments = vec![Argument::Space];
    arguments.extend(grid.any().then_some(Argument::Grid));
    arguments.extend(w.uses.ranks.iter().copied().map(Argument::Ranks));
    arguments.extend((evaluates && w.usage.can_fail).then_some(Argument::Checks));
    arguments.extend(targets.into_iter().flatten());
    arguments.extend(w.uses.first_columns.iter().copied().map(Argument::First));
    finish(w, name, LaunchBounds::of(used, evaluates), arguments, grid)
}

/// True if the grid alone decides which additions a block makes, and where.
fn has_fixed_additions(skeleton: &Skeleton, block: &KBlock) -> bool {
    block.statements.iter().all(|statement| match statement {
        KStmt::If { condition, then, otherwise, .. } => {
            (skeleton.is_decided(condition) || !adds(then) && !adds(otherwise))
                && has_fixed_additions(skeleton, then)
                && has_fixed_additions(skeleton, otherwise)
        }
        KStmt::ReduceFaces { body, .. } => has_fixed_additions(skeleton, body),
        KStmt::ReduceSides { low, high, .. } => {
            [&low.interior, &low.boundary, &high.interior, &high.boundary].into_iter().flatten().all(|b| has_fixed_additions(skeleton, b))
        }
        KStmt::Add { at, .. } => {
            let mut fixed = true;
            visit_path(at, &mut |node| fixed &= !matches!(node, Node::Path(Path::Select { .. })));
            fixed
        }
        KStmt::Let { .. } | KStmt::LetEntity { .. } => true,
    })
}
