//! The report for programs.

use equelle_front::report::{Cartesian, Exchange, Item, KernelItem, ParamPoints, Ranks, Report, RoundLength, Steps, Traffic, When};
use serde_json::{Value, json};

use super::reasons::{Reason, call_code, call_sentence, codes, reason, result_reason};

/// The report as one JSON object: `report` names the file, `parts` what runs when.
pub fn json(report: &Report) -> Value {
    let parts: Vec<Value> = report
        .parts
        .iter()
        .map(|part| {
            let (when, line, function) = match &part.when {
                When::Once => ("once", None, None),
                When::Loop { line } => ("loop", Some(*line), None),
                When::Evaluation { line } => ("evaluation", Some(*line), None),
                When::Call { function, line } => ("call", Some(*line), Some(function.clone())),
            };
            let items: Vec<Value> = part.items.iter().map(|item| self::item(item, &report.dimensions)).collect();
            json!({ "when": when, "line": line, "function": function, "depth": part.depth, "kernels": part.kernels().count(), "items": items })
        })
        .collect();
    json!({ "report": report.file, "parts": parts, "ranks": report.ranks.as_ref().map(ranks) })
}

/// Halo and exchanges, or what refuses several ranks.
fn ranks(ranks: &Ranks) -> Value {
    match ranks {
        Ranks::Possible { layers, exchanges, unknowns } => {
            let exchange = |e: &Exchange| json!({ "value": e.name, "line": e.line, "layers": e.depth, "loop": e.rounds });
            let unknown = |e: &Exchange| json!({ "value": e.name, "line": e.line, "layers": e.depth, "solve": e.rounds });
            let unknowns: Vec<Value> = unknowns.iter().map(unknown).collect();
            json!({ "layers": layers, "exchanges": exchanges.iter().map(exchange).collect::<Vec<_>>(), "unknowns": unknowns })
        }
        Ranks::Refused { construct, line } => json!({ "refused": construct.to_string(), "line": line }),
    }
}

fn item(item: &Item, dimensions: &[u32]) -> Value {
    match item {
        Item::Kernel(kernel) => self::kernel(kernel, dimensions),
        Item::Operation { name, line, operation, why } => json!({
            "operation": operation, "name": name, "line": line,
            "why": why.as_ref().map(|why| reason(why).sentence()), "codes": why.as_ref().map(codes),
        }),
        Item::Solve { line, unknowns, by_kernels, untreated } => {
            json!({ "solve": unknowns, "line": line, "by_kernels": by_kernels, "untreated": untreated })
        }
        Item::Loop { line, length, steps } => {
            let mut item = match steps {
                Steps::Explicit => json!({ "loop": line }),
                Steps::Divisible => json!({ "loop": line, "divisible_steps": true }),
                Steps::Indivisible { construct, line: at } => {
                    json!({ "loop": line, "divisible_steps": false, "because_of": construct, "at": at })
                }
            };
            match length {
                RoundLength::Element => {}
                RoundLength::Computed { name } => item["step"] = json!(name),
                RoundLength::Round => item["step"] = Value::Null,
            }
            item
        }
        Item::Call { function, line, why } => {
            json!({ "call": function, "line": line, "why": why.map(call_sentence), "codes": why.map(|why| [call_code(why)]) })
        }
    }
}

fn kernel(kernel: &KernelItem, dimensions: &[u32]) -> Value {
    let results: Vec<Value> = kernel
        .results
        .iter()
        .map(|result| {
            json!({
                "name": result.name, "line": result.line, "why": result_reason(result).as_ref().map(Reason::sentence),
                "codes": result.why.as_ref().map(codes), "before_solve": result.before_solve.as_ref().map(codes), "in_place": result.in_place,
            })
        })
        .collect();
    let (form, cartesian) = match &kernel.cartesian {
        Cartesian::General => ("general", None),
        Cartesian::PerAxis => ("per_axis", None),
        Cartesian::Full(traffic) => ("full", Some(forms(traffic, dimensions))),
    };
    let loops: serde_json::Map<String, Value> = kernel
        .forms
        .iter()
        .map(|(backend, chosen)| {
            ((*backend).to_owned(), json!({ "form": chosen.form.name(), "refused": chosen.refused.map(|refusal| refusal.construct()) }))
        })
        .collect();
    let points = kernel.points.as_ref().map(|points| {
        let param = |param: &ParamPoints| json!({ "name": param.name, "points": param.count, "reach": param.reach });
        json!({ "points": points.count, "collections": points.params.iter().map(param).collect::<Vec<_>>() })
    });
    json!({
        "kernel": kernel.name, "lines": kernel.lines, "over": kernel.over, "results": results, "checks": kernel.checks.len(),
        "general": forms(&kernel.general, dimensions), "cartesian_form": form, "cartesian": cartesian,
        "stencil": points, "loops": loops,
    })
}

fn forms(traffic: &[Traffic], dimensions: &[u32]) -> Vec<Value> {
    let one = |(t, dim): (&Traffic, &u32)| {
        json!({
            "dimensions": dim,
            "loads": { "own": t.own, "neighbours": t.neighbours, "faces": t.faces, "elsewhere": t.elsewhere },
            "index_loads": t.indices, "stores": t.stores, "bytes": t.bytes, "flops": t.flops,
            "quotients": t.slow.quotients, "functions": t.slow.functions, "powers": t.slow.powers, "look_ups": t.slow.look_ups,
        })
    };
    traffic.iter().zip(dimensions).map(one).collect()
}
