//! Kernels over all cells that have no Cartesian body: cells far from all sides take their sums
//! over faces as a few terms each, cells near a side take the body for any grid.

use equelle_front::backend::inside::{Inside, InsideForms};
use equelle_front::backend::usage::BodyUsage;
use equelle_front::ir::{KBlock, KExpr, Kernel};
use equelle_front::types::Basic;

use crate::codegen::emit::outputs::{CELL, store};
use crate::codegen::emit::writer::{Form, Source, Writer};
use crate::codegen::signature::{Argument, Function, LaunchBounds, finish};

/// The function of every cell.
pub(in crate::codegen) fn inside_function(source: Source<'_>, inside: &InsideForms) -> Function {
    let mut w = Writer::new(source, Form::Cells);
    w.line("EqCell cell;");
    w.line("if (!eq_cell_here(g, cell)) return;");
    w.line("const EqEntity element = cell.index;");
    let mut near = near_writer(source, Form::General);
    near.deeper();
    near.line("const EqEntity here = element;");
    near.with_cells_around(|near| {
        near.statements(&source.kernel.body);
        store(near, &source.kernel.body, CELL.0, CELL.1);
    });
    by_distance(&mut w, source, inside, near, &mut |far, inside| {
        far.with_cells_around(|far| {
            far.around.inside = true;
            let body = with_vectors(source.kernel, inside);
            far.load_here(&body);
            far.statements(&body);
            store(far, &body, CELL.0, CELL.1);
        });
    });
    let usage = BodyUsage::from_block(source.kernel, source.sets, &source.kernel.body);
    let grid = w.uses.grid.with_geometry(&usage);
    let mut arguments = vec![Argument::Cartesian];
    arguments.extend(grid.any().then_some(Argument::Grid));
    arguments.extend(w.uses.ranks.iter().copied().map(Argument::Ranks));
    finish(w, format!("{}_cartesian", source.name), LaunchBounds::of(&usage, false), arguments, grid)
}

/// A writer of what cells near a side take.
pub(in crate::codegen) fn near_writer(source: Source<'_>, form: Form) -> Writer<'_> {
    let mut writer = Writer::new(source, form);
    writer.on_cartesian_grid = true;
    writer
}

/// Writes what cells far from all sides do, for each number of dimensions, and what others do.
pub(in crate::codegen) fn by_distance(
    w: &mut Writer<'_>,
    source: Source<'_>,
    forms: &InsideForms,
    near: Writer<'_>,
    write: &mut dyn FnMut(&mut Writer<'_>, &Inside),
) {
    let mut far = |w: &mut Writer<'_>, inside: &Inside| {
        let [[a, b], [c, d], [e, f]] = inside.reach;
        w.line(&format!("if (eq_is_far(g, cell, {a}, {b}, {c}, {d}, {e}, {f})) {{"));
        let kernel = Kernel { locals: inside.locals.clone(), ..source.kernel.clone() };
        let mut far = Writer::new(Source { kernel: &kernel, ..source }, Form::Cells);
        far.indent = w.indent + 1;
        far.faces_across = inside.faces.clone();
        write(&mut far, inside);
        w.append(far);
    };
    match forms {
        InsideForms::AnyDimension(inside) => far(w, inside),
        InsideForms::ByDimension(forms) => {
            for (number, inside) in forms.iter().enumerate() {
                w.line(&format!("#{} DIM == {}", if number == 0 { "if" } else { "elif" }, number + 1));
                far(w, inside);
            }
            w.line("#endif");
        }
    }
    w.line("} else {");
    w.append(near);
    w.line("}");
}

/// The body with each Vector that it yields in one piece.
fn with_vectors(kernel: &Kernel, Inside { body, dim, .. }: &Inside) -> KBlock {
    let mut yields = body.yields.iter().cloned();
    let whole = kernel.results.iter().filter_map(|result| match result.ty.basic {
        Basic::Vector => Some(KExpr::Vector(yields.by_ref().take(dim.unwrap_or_default()).collect())),
        Basic::Scalar | Basic::Bool | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => yields.next(),
    });
    KBlock { statements: body.statements.clone(), yields: whole.collect() }
}
