//! The summary on top of the report.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use equelle_front::backend::forms::LoopForm;
use equelle_front::report::{Exchange, Item, KernelItem, Memory, Part, PartTotals, Ranks, Report, System, When};
use equelle_front::source::SourceMap;

use super::reasons::listed;
use super::words::{description, kernel_label, line_in, plural, quoted_line, shortened, wrapped};

/// Width of the first column.
const LABEL: usize = 40;

/// Writes the summary.
pub(super) fn summary(out: &mut String, report: &Report, source: &SourceMap) {
    let totals: Vec<(&Part, PartTotals)> = report.parts.iter().map(|part| (part, report.totals(part))).collect();
    let kernels: usize = totals.iter().map(|(_, totals)| totals.kernels).sum();
    let of = |is: &dyn Fn(&When) -> bool| totals.iter().filter(|(part, _)| is(&part.when)).map(|(_, totals)| totals.kernels).sum::<usize>();
    let mut places = vec![format!("{} once", of(&|when| *when == When::Once))];
    for (count, place) in [
        (of(&|when| matches!(when, When::Loop { .. })), "in each time step"),
        (of(&|when| matches!(when, When::Evaluation { .. })), "in each evaluation of Newton's method"),
        (of(&|when| matches!(when, When::Call { .. })), "in functions that stay calls"),
    ] {
        if count > 0 {
            places.push(format!("{count} {place}"));
        }
    }
    let _ = writeln!(out, "\nSummary\n  {}: {}", plural(kernels, "kernel"), places.join(", "));
    table(out, &totals, report, source);
    forms(out, report, source);
    if let Some(memory) = &report.memory {
        self::memory(out, memory, &report.dimensions);
        systems(out, memory, report, source);
    }
    if let Some(ranks) = &report.ranks {
        self::ranks(out, ranks, source);
    }
}

/// Kernels, operations and bytes of each part, for each cell.
fn table(out: &mut String, totals: &[(&Part, PartTotals)], report: &Report, source: &SourceMap) {
    let before = LABEL + 12;
    let _ = writeln!(out, "{:<before$}{:>23}{:>23}", "  For each cell of a large grid", "operations", "bytes read, written");
    let _ = writeln!(out, "{:>before$}{:>12}{:>11}{:>12}{:>11}", "kernels", "any grid", "Cartesian", "any grid", "Cartesian");
    for (part, totals) in totals.iter().filter(|(_, totals)| totals.kernels + totals.operations > 0) {
        for (number, dim) in report.dimensions.iter().enumerate() {
            let (label, count) = if number == 0 { (short_when(&part.when, source), totals.kernels.to_string()) } else { <_>::default() };
            let (any, cartesian) = (totals.general[number], totals.cartesian[number]);
            let label = shortened(&label, LABEL);
            let _ = writeln!(
                out,
                "    {label:<LABEL$}{dim}D{count:>6}{:>12.0}{:>11.0}{:>12.0}{:>11.0}",
                any.flops, cartesian.flops, any.bytes, cartesian.bytes
            );
        }
        if totals.operations > 0 {
            let _ = writeln!(out, "      and {} outside kernels, which are not counted here", plural(totals.operations, "operation"));
        }
    }
    let left_out: BTreeSet<&str> = totals.iter().flat_map(|(_, totals)| &totals.left_out).map(String::as_str).collect();
    if !left_out.is_empty() {
        let sets = left_out.into_iter().collect::<Vec<_>>().join(", ");
        out.push_str(&wrapped("  ", &format!("Kernels over sets of few elements ({sets}) are counted as kernels only.")));
    }
}

/// Time at which a part runs.
pub(super) fn when(when: &When, source: &SourceMap) -> String {
    match when {
        When::Once => "Once, outside all loops".to_owned(),
        When::Loop { line } => format!("Each time step{}", comma_line(source, *line)),
        When::Evaluation { line } => format!("Each evaluation in Newton's method{}", comma_line(source, *line)),
        When::Call { function, line } => format!("Each call of {function}{}", comma_line(source, *line)),
    }
}

/// The same for the table.
fn short_when(when: &When, source: &SourceMap) -> String {
    match when {
        When::Once => "Once".to_owned(),
        When::Evaluation { line } => format!("Each Newton evaluation{}", comma_line(source, *line)),
        When::Loop { .. } | When::Call { .. } => self::when(when, source),
    }
}

fn comma_line(source: &SourceMap, line: u32) -> String {
    if line == 0 { String::new() } else { format!(", {}", line_in(source, line)) }
}

/// How many kernels have which loop, and those that have a slower one than they could.
fn forms(out: &mut String, report: &Report, source: &SourceMap) {
    let kernels = || report.parts.iter().flat_map(Part::kernels).filter(|kernel| !kernel.over.is_empty());
    let backends: BTreeSet<&str> = kernels().flat_map(|kernel| kernel.forms.iter().map(|(backend, _)| *backend)).collect();
    for backend in backends {
        let chosen = kernels().flat_map(|kernel| &kernel.forms).filter(|(of, _)| *of == backend);
        let mut counts: BTreeMap<LoopForm, usize> = BTreeMap::new();
        chosen.for_each(|(_, chosen)| *counts.entry(chosen.form).or_default() += 1);
        let _ = writeln!(out, "  Loops on a Cartesian grid, {backend}:");
        for (form, count) in counts {
            let _ = writeln!(out, "    {count:>2} {:<9} {}", form.name(), description(form));
        }
        let slower: Vec<_> = report.slower_kernels().filter(|(_, of, ..)| *of == backend).collect();
        if slower.is_empty() {
            out.push_str("    No kernel fell from rows to a slower loop.\n");
        }
        for (kernel, _, form, refusal) in slower {
            let text = format!(
                "{}{}: {} instead of rows, because rows cannot have {refusal}",
                kernel_label(kernel),
                place(kernel, source),
                form.name()
            );
            out.push_str(&wrapped("    Slower: ", &text));
        }
    }
}

fn place(kernel: &KernelItem, source: &SourceMap) -> String {
    let line = kernel.results.first().map_or(0, |result| result.line);
    if line == 0 { String::new() } else { format!(" ({})", line_in(source, line)) }
}

fn memory(out: &mut String, memory: &Memory, dimensions: &[u32]) {
    let list = |bytes: &[f64]| {
        let same = bytes.windows(2).all(|pair| pair[0] == pair[1]);
        let one = |(bytes, dim): (&f64, &u32)| if same { format!("{bytes:.0}") } else { format!("{bytes:.0} ({dim}D)") };
        bytes.iter().zip(dimensions).map(one).take(if same { 1 } else { dimensions.len() }).collect::<Vec<_>>().join(", ")
    };
    let mut others = vec!["the grid".to_owned()];
    if !memory.systems.is_empty() {
        others.push("linear systems".to_owned());
    }
    if !memory.left_out.is_empty() {
        let sets = memory.left_out.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        others.push(format!("collections over sets of few elements ({sets})"));
    }
    let (general, cartesian) = (list(&memory.general), list(&memory.cartesian));
    let on_cartesian = if general == cartesian { String::new() } else { format!(", and {cartesian} on a Cartesian one") };
    let others = listed(&others);
    let text = format!(
        "Memory: collections take at most {general} bytes a cell at one time on any grid{on_cartesian}. More is taken by {others}."
    );
    out.push_str(&wrapped("  ", &text));
}

fn systems(out: &mut String, memory: &Memory, report: &Report, source: &SourceMap) {
    if memory.systems.is_empty() {
        out.push_str("  Linear systems: none\n");
        return;
    }
    out.push_str("  Linear systems:\n");
    for system in &memory.systems {
        if system.line > 0 {
            let _ = writeln!(out, "    {}", quoted_line(source, system.line, 4));
        }
        out.push_str(&wrapped("      ", &self::system(system, report)));
    }
}

/// Layers of the halo on several ranks, and exchanges by the loop in whose rounds they happen.
fn ranks(out: &mut String, ranks: &Ranks, source: &SourceMap) {
    let (layers, exchanges, unknowns) = match ranks {
        Ranks::Possible { layers, exchanges, unknowns } => (*layers as usize, exchanges, unknowns),
        Ranks::Refused { construct, line } => {
            let text = format!("Several ranks: not possible because of {construct}{}", comma_line(source, *line));
            return out.push_str(&wrapped("  ", &text));
        }
    };
    let needed = format!("  Several ranks: a halo of {} of cells", plural(layers, "layer"));
    if exchanges.is_empty() && unknowns.is_empty() {
        let _ = writeln!(out, "{needed}; nothing is exchanged");
        return;
    }
    let _ = writeln!(out, "{needed}, exchanged");
    let groups = |exchanges: &[Exchange]| {
        let mut groups: BTreeMap<Option<u32>, Vec<String>> = BTreeMap::new();
        for Exchange { name, line, depth, rounds } in exchanges {
            let value = if name.is_empty() { format!("a value of {}", line_in(source, *line)) } else { format!("`{name}`") };
            let depth = if *depth as usize == layers { String::new() } else { format!(" to {}", plural(*depth as usize, "layer")) };
            groups.entry(*rounds).or_default().push(value + &depth);
        }
        groups
    };
    for (rounds, values) in groups(exchanges) {
        let when = rounds.map_or_else(|| "once".to_owned(), |line| format!("in each round{}", comma_line(source, line)));
        out.push_str(&wrapped("    ", &format!("{when}: {}", listed(&values))));
    }
    for (solve, values) in groups(unknowns) {
        let place = solve.map_or_else(String::new, |line| comma_line(source, line));
        out.push_str(&wrapped("    ", &format!("before each evaluation of a residual{place}: {}", listed(&values))));
    }
}

/// Unknowns of a solve with their sets, and entries of a row.
fn system(system: &System, report: &Report) -> String {
    let solve = report.parts.iter().flat_map(|part| &part.items).find_map(|item| match item {
        Item::Solve { line, unknowns, .. } if *line == system.line => Some(unknowns),
        Item::Kernel(_) | Item::Operation { .. } | Item::Solve { .. } | Item::Loop { .. } | Item::Call { .. } => None,
    });
    let unknown = |(number, set): (usize, &String)| match solve.and_then(|unknowns| unknowns.get(number)) {
        Some(name) if !name.is_empty() => format!("`{name}` over {set}"),
        Some(_) | None => format!("one over {set}"),
    };
    let unknowns: Vec<String> = system.unknowns.iter().enumerate().map(unknown).collect();
    let row = |(number, dim): (usize, &u32)| {
        let entries: BTreeSet<String> = system.entries.iter().filter_map(|of_dim| Some(of_dim.get(number)?.to_string())).collect();
        format!("{} ({dim}D)", entries.into_iter().collect::<Vec<_>>().join(" or "))
    };
    let rows: Vec<String> = report.dimensions.iter().enumerate().map(row).collect();
    let what = plural(unknowns.len(), "unknown");
    format!("{what}: {}; about {} entries in a row of the matrix", listed(&unknowns), rows.join(", "))
}
