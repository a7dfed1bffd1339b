//! The report for people.

use std::fmt::Write as _;

use equelle_front::report::{Item, Part, Report, RoundLength, Steps, When};
use equelle_front::source::SourceMap;

use super::kernel::kernel;
use super::reasons::{call_sentence, reason};
use super::summary::{self, summary};
use super::words::{line_in, names, plural, quoted_line, wrapped};

/// Explanation of the tables.
const LEGEND: &str = "\
A kernel is one pass over the elements of a set. Tables count for one element inside a grid of boxes (2D: squares, 3D: \
cubes): numbers loaded of the element itself, of its neighbours, of its faces and of elements elsewhere; indices \
loaded; numbers stored; bytes read and written if each array is moved once; arithmetic operations. The last lines of \
a kernel say why its results are stored instead of being computed where they are read.";

/// The report as text, with a newline at its end.
pub fn text(report: &Report, source: &SourceMap) -> String {
    let mut out = format!("What the compiler made of {}\n", report.file);
    summary(&mut out, report, source);
    let _ = write!(out, "\n{}", wrapped("", LEGEND));
    for part in &report.parts {
        if part.items.is_empty() && part.when != When::Once {
            continue;
        }
        let _ = writeln!(out, "\n{}", heading(part, source));
        let mut number = 0;
        for item in &part.items {
            match item {
                Item::Kernel(item) => {
                    number += 1;
                    kernel(&mut out, number, item, &report.dimensions, source);
                }
                Item::Operation { name, line, operation, why } => {
                    let name = if name.is_empty() { String::new() } else { format!("`{name}`: ") };
                    let why = why.as_ref().map(|why| format!(". {}", reason(why).sentence())).unwrap_or_default();
                    out.push_str(&wrapped("  -  ", &format!("{name}operation `{operation}`{why}")));
                    let _ = writeln!(out, "       {}", quoted_line(source, *line, 7));
                }
                Item::Solve { line, unknowns, by_kernels, untreated } => {
                    let how = match (by_kernels, untreated) {
                        (true, _) => "residual and Jacobian in one pass".to_owned(),
                        (false, Some(construct)) => format!("derivatives operation by operation, because of {construct} in the residual"),
                        (false, None) => "derivatives operation by operation".to_owned(),
                    };
                    let of = if unknowns.iter().all(String::is_empty) { String::new() } else { format!(" for {}", names(unknowns)) };
                    out.push_str(&wrapped("  -  ", &format!("Newton's method{of}: {how}")));
                    let _ = writeln!(out, "       {}", quoted_line(source, *line, 7));
                }
                Item::Loop { line, length, steps } => {
                    let text = format!("the loop of {}, below{}{}", line_in(source, *line), step(length), division(steps, source));
                    out.push_str(&wrapped("  -  ", &text));
                }
                Item::Call { function, line, why } => {
                    let why = why.map(|why| format!("; {}", call_sentence(why))).unwrap_or_default();
                    out.push_str(&wrapped("  -  ", &format!("call of {function}{why}")));
                    let _ = writeln!(out, "       {}", quoted_line(source, *line, 7));
                }
            }
        }
    }
    out
}

/// Scalar by which the time advances, if it is not the element of the sequence.
fn step(length: &RoundLength) -> String {
    match length {
        RoundLength::Element => String::new(),
        RoundLength::Computed { name } => format!(", `{name}` is the time step"),
        RoundLength::Round => ", no Scalar is the time step: the time of outputs counts rounds".to_owned(),
    }
}

fn division(steps: &Steps, source: &SourceMap) -> String {
    match steps {
        Steps::Explicit => String::new(),
        Steps::Divisible => ": a step that fails can be taken again in parts (timestep_cuts)".to_owned(),
        Steps::Indivisible { construct, line } => {
            let line = line_in(source, *line);
            format!(": a step that fails cannot be taken again in parts, because of {construct} ({line})")
        }
    }
}

fn heading(part: &Part, source: &SourceMap) -> String {
    let quoted = match part.when {
        When::Loop { line } | When::Evaluation { line } | When::Call { line, .. } if line > 0 => {
            format!(": {}", source.line_text(line).trim())
        }
        When::Once | When::Loop { .. } | When::Evaluation { .. } | When::Call { .. } => String::new(),
    };
    let kernels = part.kernels().count();
    let operations = part.items.iter().filter(|item| matches!(item, Item::Operation { .. })).count();
    let mut counts = vec![plural(kernels, "kernel")];
    if operations > 0 {
        counts.push(plural(operations, "operation"));
    }
    let when = summary::when(&part.when, source);
    format!("{}\n  {}", super::words::shortened(&format!("{when}{quoted}"), super::words::WIDTH), counts.join(", "))
}
