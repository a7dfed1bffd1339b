//! The report for people.

use std::fmt::Write as _;

use equelle_front::backend::forms::ChosenForm;
use equelle_front::ir::CheckKind;
use equelle_front::report::{Cartesian, Item, KernelItem, ParamPoints, Part, Points, Report, RoundLength, Steps, Traffic, When};
use equelle_front::source::{FileId, SourceMap};

use super::reasons::{call_sentence, result_sentence, sentence};

/// Width of the first column of tables.
const LABEL: usize = 15;
/// Most letters of a line of points.
const WIDTH: usize = 100;

/// The report as text, with a newline at its end.
pub fn text(report: &Report, source: &SourceMap) -> String {
    let mut out = format!("What the compiler made of {}\n", report.file);
    out.push_str(
        "Numbers are per element, inside a grid of boxes (2D: squares, 3D: cubes): numbers loaded by where they belong, indices, numbers stored, bytes moved if\n\
         each array is moved once, arithmetic operations.\n",
    );
    let at = |line: u32| line_in(source, line);
    for part in &report.parts {
        if part.items.is_empty() && part.when != When::Once {
            continue;
        }
        let _ = writeln!(out, "\n{}", heading(part, source));
        let mut number = 0;
        for item in &part.items {
            match item {
                Item::Kernel(kernel) => {
                    number += 1;
                    self::kernel(&mut out, number, kernel, &report.dimensions, source);
                }
                Item::Operation { name, line, operation, why } => {
                    let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
                    let why = why.as_ref().map(|why| format!(". {}", sentence(why))).unwrap_or_default();
                    let _ = writeln!(out, "  -  {name}operation {operation}, {}{why}", at(*line));
                }
                Item::Solve { line, unknowns, by_kernels, untreated } => {
                    let how = match (by_kernels, untreated) {
                        (true, _) => "residual and Jacobian in one pass".to_owned(),
                        (false, Some(construct)) => format!("derivatives operation by operation, because of {construct} in the residual"),
                        (false, None) => "derivatives operation by operation".to_owned(),
                    };
                    let of = if unknowns.iter().all(String::is_empty) { String::new() } else { format!(" for {}", unknowns.join(", ")) };
                    let _ = writeln!(out, "  -  Newton's method{of}, {}: {how}", at(*line));
                }
                Item::Loop { line, length, steps } => {
                    let steps = match steps {
                        Steps::Explicit => String::new(),
                        Steps::Divisible => ": a step that fails can be taken again in parts (timestep_cuts)".to_owned(),
                        Steps::Indivisible { construct, line } => {
                            format!(": a step that fails cannot be taken again in parts, because of {construct} ({})", at(*line))
                        }
                    };
                    let length = match length {
                        RoundLength::Element => String::new(),
                        RoundLength::Computed { name } => format!(", `{name}` plays the step"),
                        RoundLength::Round => ", no Scalar plays the step: the time of outputs counts rounds".to_owned(),
                    };
                    let _ = writeln!(out, "  -  loop, {}{length}{steps}", at(*line));
                }
                Item::Call { function, line, why } => {
                    let why = why.map(|why| format!("; {}", call_sentence(why))).unwrap_or_default();
                    let _ = writeln!(out, "  -  call of {function}, {}{why}", at(*line));
                }
            }
        }
    }
    out
}

fn heading(part: &Part, source: &SourceMap) -> String {
    let quoted =
        |line: u32| if line == 0 { String::new() } else { format!(", {}: {}", line_in(source, line), source.line_text(line).trim()) };
    let when = match &part.when {
        When::Once => "Once, outside all loops".to_owned(),
        When::Loop { line } => format!("Each time step{}", quoted(*line)),
        When::Evaluation { line } => format!("Each evaluation in Newton's method{}", quoted(*line)),
        When::Call { function, line } => format!("Each call of {function}{}", quoted(*line)),
    };
    let kernels = part.kernels().count();
    let operations = part.items.iter().filter(|item| matches!(item, Item::Operation { .. })).count();
    let mut counts = vec![plural(kernels, "kernel")];
    if operations > 0 {
        counts.push(plural(operations, "operation"));
    }
    format!("{when}\n  {}", counts.join(", "))
}

/// `line 12`, or `line 3 of limiters.equelle` in a text that the program imports.
pub(crate) fn line_in(source: &SourceMap, line: u32) -> String {
    let (file, own) = source.file_and_line(line);
    if file == FileId::MAIN { format!("line {line}") } else { format!("line {own} of {}", source.file(file).name()) }
}

/// `lines 12, 14-16`, and those of texts that the program imports. `lines` ascend.
fn lines_in(source: &SourceMap, lines: &[u32]) -> String {
    let of_file = |lines: &[u32]| match lines {
        [one] => line_in(source, *one),
        lines => {
            let (file, _) = source.file_and_line(lines[0]);
            let own: Vec<u32> = lines.iter().map(|&line| source.file_and_line(line).1).collect();
            let of = if file == FileId::MAIN { String::new() } else { format!(" of {}", source.file(file).name()) };
            format!("lines {}{of}", ranges(&own))
        }
    };
    let same_file = |a: &u32, b: &u32| source.file_and_line(*a).0 == source.file_and_line(*b).0;
    lines.chunk_by(same_file).map(of_file).collect::<Vec<_>>().join(", ")
}

fn plural(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn kernel(out: &mut String, number: usize, kernel: &KernelItem, dimensions: &[u32], source: &SourceMap) {
    let over = if kernel.over.is_empty() { "once".to_owned() } else { format!("over {}", kernel.over) };
    let lines = match kernel.lines.as_slice() {
        [] => String::new(),
        [one] => format!(", {}", line_in(source, *one)),
        many => format!(", {}", lines_in(source, many)),
    };
    let _ = writeln!(out, "{number:>3}. {} {over}{lines}", kernel.name);
    if !kernel.over.is_empty() {
        let _ = writeln!(
            out,
            "       {:<LABEL$}{:>6}{:>12}{:>7}{:>11}{:>9}{:>8}{:>8}{:>8}",
            "", "own", "neighbours", "faces", "elsewhere", "indices", "stores", "bytes", "flops"
        );
        rows(out, "any grid", &kernel.general, dimensions);
        match &kernel.cartesian {
            Cartesian::General => {
                let _ = writeln!(out, "       {:<LABEL$}as on any grid", "Cartesian");
            }
            Cartesian::PerAxis => {
                let _ = writeln!(out, "       {:<LABEL$}one value per axis, nothing per element", "Cartesian");
            }
            Cartesian::Full(traffic) => rows(out, "Cartesian", traffic, dimensions),
        }
    }
    for (backend, ChosenForm { form, refused }) in &kernel.forms {
        let why = refused.map(|refusal| format!(": rows cannot have {refusal}")).unwrap_or_default();
        let _ = writeln!(out, "       {backend}, Cartesian grid: {}{why}", form.name());
    }
    if let Some(points) = &kernel.points {
        self::points(out, points);
    }
    for result in &kernel.results {
        if let Some(why) = result_sentence(result) {
            let takes = result.in_place.as_ref().map(|param| format!(" It takes the memory of {param}.")).unwrap_or_default();
            let _ = writeln!(out, "       {} ({}): {why}{takes}", result.name, line_in(source, result.line));
        }
    }
    for kind in CheckKind::ALL {
        let what = match kind {
            CheckKind::OnEmpty => "no entity is Empty",
            CheckKind::OneCell => "each face has one cell",
        };
        match kernel.checks.iter().filter(|check| **check == kind).count() {
            0 => {}
            count => {
                let _ = writeln!(out, "       checks {} that {what}", if count == 1 { "once" } else { "at several places" });
            }
        }
    }
}

/// `55 points: lnrho 19 (3 3 3), ux 55 (3 3 3)`: their number, and how far they are away along each
/// axis.
fn points(out: &mut String, points: &Points) {
    let along = |[low, high]: [u8; 2]| if low == high { low.to_string() } else { format!("-{low}+{high}") };
    let mut line = format!("       {} points:", points.count);
    for (number, ParamPoints { name, count, reach }) in points.params.iter().enumerate() {
        let word = format!(" {name} {count} ({}){}", reach.map(along).join(" "), if number + 1 < points.params.len() { "," } else { "" });
        if line.chars().count() + word.chars().count() > WIDTH {
            let _ = writeln!(out, "{line}");
            line = " ".repeat(8);
        }
        line.push_str(&word);
    }
    let _ = writeln!(out, "{line}");
}

/// `5-7 9` of ascending numbers.
fn ranges(numbers: &[u32]) -> String {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match found.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => found.push((number, number)),
        }
    }
    let text = |&(first, last): &(u32, u32)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    found.iter().map(text).collect::<Vec<_>>().join(" ")
}

fn rows(out: &mut String, label: &str, traffic: &[Traffic], dimensions: &[u32]) {
    let same = traffic.windows(2).all(|pair| pair[0] == pair[1]);
    for (t, dim) in traffic.iter().zip(dimensions).take(if same { 1 } else { dimensions.len() }) {
        let _ = writeln!(
            out,
            "       {:<LABEL$}{:>6}{:>12}{:>7}{:>11}{:>9}{:>8}{:>8.0}{:>8}",
            if same { label.to_owned() } else { format!("{label} {dim}D") },
            t.own,
            t.neighbours,
            t.faces,
            t.elsewhere,
            t.indices,
            t.stores,
            t.bytes,
            t.flops
        );
    }
}
