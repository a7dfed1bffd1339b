//! The function for any grid, one entity after the other, and reductions.

use equelle_front::ops::Reduction;
use equelle_front::types::Basic;

use crate::codegen::emit::outputs::{store, store_one};
use crate::codegen::emit::reals::Reals;
use crate::codegen::emit::writer::{Form, Source, Writer};
use crate::codegen::leaves::goes_by_leaves;
use crate::codegen::signature::{Argument, Function, LaunchBounds, finish};

pub(in crate::codegen) fn unstructured_function(source: Source<'_>) -> Function {
    let Source { kernel, usage, .. } = source;
    let mut w = Writer::new(source, Form::General);
    let unit = kernel.space_set().is_none();
    if unit {
        w.line("if (eq_index() != 0) return;");
        w.statements(&kernel.body);
        store(&mut w, &kernel.body, "0", "1");
    } else if goes_by_leaves(kernel) {
        reduction_body(&mut w);
    } else {
        w.line("const EqEntity element = eq_index();");
        w.line("if (element >= space.size) return;");
        w.line("const EqEntity here = eq_entity(space, element);");
        checks(&mut w, "return;");
        w.statements(&kernel.body);
        store(&mut w, &kernel.body, "element", "space.size");
    }
    let grid = w.uses.grid.with_geometry(&usage.general);
    let mut arguments = Vec::new();
    arguments.extend((!unit).then_some(Argument::Space));
    arguments.extend(grid.any().then_some(Argument::Grid));
    arguments.extend(w.uses.ranks.iter().copied().map(Argument::Ranks));
    arguments.extend(usage.can_fail.then_some(Argument::Checks));
    finish(w, source.name.to_owned(), LaunchBounds::of(&usage.general, false), arguments, grid)
}

/// Conditions at the element; what to do where one does not hold.
pub(in crate::codegen) fn checks(w: &mut Writer<'_>, otherwise: &str) {
    for (number, check) in w.kernel.checks.iter().enumerate() {
        let condition = w.expr(&check.condition);
        w.open(&format!("if (!{condition}) {{"));
        w.line(&format!("eq_fail(checks, {number}, element);"));
        w.line(otherwise);
        w.close("}");
    }
}

/// One leaf of every reduction per block, elements in file order. Results that are not reduced are
/// stored on the way.
fn reduction_body(w: &mut Writer<'_>) {
    let kernel = w.kernel;
    w.line("const EqLeaf leaf = eq_leaf_here(space.size);");
    let count = kernel.results.iter().filter(|r| r.reduce.is_some()).count();
    let partial = |number: usize| if count == 1 { "partial".to_owned() } else { format!("partial_{number}") };
    let reduced = || kernel.results.iter().enumerate().filter_map(|(number, r)| Some((number, r.reduce?, r.ty.basic)));
    for (number, reduction, basic) in reduced() {
        let start = match (reduction, basic) {
            (Reduction::Any, _) => "false",
            (Reduction::All, _) => "true",
            (Reduction::Prod, _) => "1.0",
            (_, Basic::Vector) => "eq_zero_vector()",
            (Reduction::Max | Reduction::Min | Reduction::Sum, _) => "0.0",
        };
        w.line(&format!("{} {} = {start};", Reals::DOUBLE.value(basic), partial(number)));
    }
    w.open("for (EqEntity at = leaf.begin; at < leaf.end; at += EQ_CHAINS) {");
    w.line("const EqEntity element = eq_in_file(space, at);");
    w.line("const EqEntity here = eq_entity(space, element);");
    checks(w, "continue;");
    w.statements(&kernel.body);
    for (number, value) in kernel.body.yields.iter().enumerate() {
        let Some(reduction) = kernel.results[number].reduce else {
            store_one(w, number, value, "element", "space.size");
            continue;
        };
        let basic = kernel.results[number].ty.basic;
        let value = w.expr(value);
        let (name, value) = (partial(number), w.reals.reduced(value, basic));
        let combine = combination(reduction).0;
        w.line(&match reduction {
            Reduction::Max | Reduction::Min => format!("{name} = at == leaf.begin ? {value} : {combine}({name}, {value});"),
            Reduction::Sum | Reduction::Prod | Reduction::Any | Reduction::All => format!("{name} = {combine}({name}, {value});"),
        });
    }
    w.close("}");
    for (number, reduction, _) in reduced() {
        let name = partial(number);
        w.line(&format!("{name} = eq_chains<{number}>({name}, leaf.chains, {}());", combination(reduction).1));
    }
    w.line("if (!eq_tells_leaf()) return;");
    for (number, _, basic) in reduced() {
        let (result, name) = (w.results[number].clone(), partial(number));
        w.line(&match basic {
            Basic::Vector => format!("eq_store({result}, eq_leaf_count(space.size), blockIdx.x, {name});"),
            Basic::Scalar | Basic::Bool | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => {
                format!("{result}[blockIdx.x] = {name};")
            }
        });
    }
}

/// Returns the function and the object that combine two partial results.
fn combination(reduction: Reduction) -> (&'static str, &'static str) {
    match reduction {
        Reduction::Max => ("eq_greatest", "EqMax"),
        Reduction::Min => ("eq_least", "EqMin"),
        Reduction::Sum => ("eq_sum", "EqSum"),
        Reduction::Prod => ("eq_prod", "EqProd"),
        Reduction::Any => ("eq_any", "EqAny"),
        Reduction::All => ("eq_all", "EqAll"),
    }
}
