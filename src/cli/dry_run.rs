//! `equellec run --dry-run --ranks`: what a run on ranks takes, without running.

use std::fmt::Write as _;

use equelle::compiled::Compiled;
use equelle::failure::Failure;
use equelle::interpret::Kernels;
use equelle::rank_plan::{Occasion, PlannedCut, PlannedExchange, PlannedKernels, PlannedRound, RankPlan, Uncut};
use equelle::ranks::RankProgram;
use equelle::report::line_in;
use equelle_front::backend::Backend;
use equelle_front::source::SourceMap;
use serde_json::{Value, json};

use super::halo_counts::{self, list, size};
use super::print;
use crate::console::{Console, MessageFormat};

const AXES: [&str; 3] = ["x", "y", "z"];

/// Plans a run of a program on ranks, and prints the plan.
pub(super) fn print_plan(
    compiled: &Compiled,
    kernels: Option<Kernels>,
    backend: &'static dyn Backend,
    parameters: &[String],
    n_ranks: u32,
    console: &Console,
) -> Result<(), Failure> {
    let source = compiled.source();
    let program = RankProgram::new(compiled.verified()).map_err(|error| error.into_failure(source))?;
    let kernels = kernels.map_or(PlannedKernels::Built(backend), PlannedKernels::Interpreted);
    let plan = RankPlan::new(compiled.program(), &program, parameters, n_ranks, kernels)?;
    match console.format {
        MessageFormat::Json => print(&format!("{}\n", json(&plan))),
        MessageFormat::Human | MessageFormat::Short => print(&text(&plan, source)),
    }
}

/// `1 rank`, `2 ranks`
fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn text(plan: &RankPlan, source: &SourceMap) -> String {
    let ranks = counted(plan.cells.ranks.len() as u64, "rank");
    let n_cells = plan.cells.total(|rank| rank.owned);
    // Writing to a String cannot fail, hence the dropped results.
    let mut text = match &plan.cut {
        PlannedCut::Boxes { cells, ranks: boxes, uncut } => {
            let by = |sizes: Vec<String>| sizes.join(" x ");
            let cells = by(cells.iter().map(ToString::to_string).collect());
            let mut text = format!("{cells} cells for {ranks}, in {} boxes\n", by(boxes.iter().map(ToString::to_string).collect()));
            for (axis, why) in uncut {
                let why = match why {
                    Uncut::HasEnds => "the program reads around it, and sees its ends",
                    Uncut::Costs => "other cuts cost less",
                };
                let _ = writeln!(text, "{:18}not along {}: {why}", "cut", AXES[axis.0]);
            }
            text
        }
        PlannedCut::Given => format!("{n_cells} cells for {ranks}, as `partition_file` says\n"),
        PlannedCut::Bisection => format!("{n_cells} cells for {ranks}, by bisection\n"),
    };
    text.push_str(&halo_counts::text(&plan.cells, plan.layers));
    if plan.rounds().is_empty() {
        let _ = writeln!(text, "{:18}nothing", "exchanged");
    }
    for round in plan.rounds() {
        let when = match round.occasion {
            Occasion::Once => "once".to_owned(),
            Occasion::Round(line) => format!("in each round, {}", line_in(source, line)),
            Occasion::Evaluation(line) => format!("before each evaluation of a residual, {}", line_in(source, line)),
        };
        let _ = writeln!(text, "{:18}{when}", "exchanged");
        for exchange in &round.exchanges {
            let name = if exchange.name.is_empty() { line_in(source, exchange.line) } else { format!("`{}`", exchange.name) };
            let bound = exchange.counted_in.as_ref().map_or_else(String::new, |set| format!("; a bound, of {set}"));
            let own: Vec<[u64; 2]> = exchange.sent().collect();
            let depth = counted(exchange.depth.into(), "layer");
            let _ = writeln!(text, "{:18}  {name} on {}, {depth}: {}{bound}", "", exchange.set, sent(&own));
        }
        if round.exchanges.len() > 1 {
            let _ = writeln!(text, "{:18}  together: {}", "", sent(&round.sent));
        }
    }
    let memory = &plan.memory;
    if let Some(most) = memory.ranks.iter().max_by_key(|rank| rank.total()) {
        let [collections, grid, lists] = [most.collections, most.grid, most.lists].map(size);
        let total = size(most.total());
        let _ = writeln!(text, "{:18}about {total} of a rank at most: collections {collections}, grid {grid}, lists {lists}", "memory");
        let root = memory.ranks.first().map_or(0, |rank| rank.total() + memory.whole);
        let _ = writeln!(text, "{:18}about {} of rank 0: {} more, for whole fields", "", size(root), size(memory.whole));
    }
    text
}

/// Messages and bytes of a rank at most, and in all.
fn sent(ranks: &[[u64; 2]]) -> String {
    let most = [0, 1].map(|of| ranks.iter().map(|rank| rank[of]).max().unwrap_or(0));
    let all = [0, 1].map(|of| ranks.iter().map(|rank| rank[of]).sum::<u64>());
    format!("{} and {} of a rank at most, {} and {} in all", counted(most[0], "message"), size(most[1]), all[0], size(all[1]))
}

fn json(plan: &RankPlan) -> Value {
    let (method, cells, boxes, uncut) = match &plan.cut {
        PlannedCut::Boxes { cells, ranks, uncut } => {
            let reason = |why: &Uncut| match why {
                Uncut::HasEnds => "has_ends",
                Uncut::Costs => "costs",
            };
            let uncut: Vec<Value> = uncut.iter().map(|(axis, why)| json!({ "axis": AXES[axis.0], "why": reason(why) })).collect();
            ("boxes", Some(cells), Some(ranks), Some(uncut))
        }
        PlannedCut::Given => ("partition_file", None, None, None),
        PlannedCut::Bisection => ("bisection", None, None, None),
    };
    let column = |ranks: &[[u64; 2]], of: usize| ranks.iter().map(|rank| rank[of]).collect::<Vec<u64>>();
    let exchange = |exchange: &&PlannedExchange| {
        let sent: Vec<[u64; 2]> = exchange.sent().collect();
        json!({
            "value": exchange.name, "line": exchange.line, "layers": exchange.depth, "set": exchange.set,
            "bound_of": exchange.counted_in, "messages": column(&sent, 0).iter().sum::<u64>(), "bytes": column(&sent, 1).iter().sum::<u64>(),
        })
    };
    let round = |round: PlannedRound<'_>| {
        let exchanges: Vec<Value> = round.exchanges.iter().map(exchange).collect();
        let (in_loop, in_solve) = match round.occasion {
            Occasion::Once => (None, None),
            Occasion::Round(line) => (Some(line), None),
            Occasion::Evaluation(line) => (None, Some(line)),
        };
        json!({ "loop": in_loop, "solve": in_solve, "messages": column(&round.sent, 0), "bytes": column(&round.sent, 1), "exchanges": exchanges })
    };
    let memory = |of: fn(&equelle::rank_plan::RankMemory) -> u64| plan.memory.ranks.iter().map(of).collect::<Vec<u64>>();
    json!({
        "ranks": plan.cells.ranks.len(), "layers": plan.layers, "method": method, "grid": cells, "boxes": boxes, "not_cut": uncut,
        "imbalance": plan.cells.imbalance(),
        "cells": list(&plan.cells, |rank| rank.owned), "halo": list(&plan.cells, |rank| rank.halo),
        "neighbours": list(&plan.cells, |rank| rank.neighbours),
        "rounds": plan.rounds().into_iter().map(round).collect::<Vec<Value>>(),
        "memory": {
            "collections": memory(|rank| rank.collections), "grid": memory(|rank| rank.grid), "lists": memory(|rank| rank.lists),
            "rank_0_more": plan.memory.whole,
        },
    })
}
