//! The entry of a kernel in the report.

use std::fmt::Write as _;

use equelle_front::backend::forms::ChosenForm;
use equelle_front::ir::CheckKind;
use equelle_front::report::{Cartesian, KernelItem, ParamPoints, Points, Traffic};
use equelle_front::source::SourceMap;

use super::reasons::{Reason, result_reason};
use super::words::{description, kernel_label, lines_in, names, plural, quoted_line, result_name, wrapped};

/// Space before the lines below the first.
const INDENT: &str = "       ";
/// Width of the first column of tables.
const LABEL: usize = 15;
/// Other lines of a kernel whose text is shown; of more, the numbers.
const MAX_QUOTED: usize = 6;

/// Writes the entry.
pub(super) fn kernel(out: &mut String, number: usize, kernel: &KernelItem, dimensions: &[u32], source: &SourceMap) {
    let over = if kernel.over.is_empty() { "once".to_owned() } else { format!("over {}", kernel.over) };
    out.push_str(&wrapped(&format!("{number:>3}. "), &format!("{} {over} ({})", kernel_label(kernel), kernel.name)));
    lines(out, kernel, source);
    if !kernel.over.is_empty() {
        table(out, kernel, dimensions);
    }
    for (backend, ChosenForm { form, refused }) in kernel.forms.iter().filter(|_| !kernel.over.is_empty()) {
        let why = refused.map(|refusal| format!(", because rows cannot have {refusal}")).unwrap_or_default();
        out.push_str(&wrapped(INDENT, &format!("{backend}, Cartesian grid: {} ({}){why}", form.name(), description(*form))));
    }
    if let Some(points) = &kernel.points {
        self::points(out, points);
    }
    reasons(out, kernel);
    for kind in CheckKind::ALL {
        let what = match kind {
            CheckKind::OnEmpty => "no entity is Empty",
            CheckKind::OneCell => "each face has one cell",
        };
        match kernel.checks.iter().filter(|check| **check == kind).count() {
            0 => {}
            count => {
                let _ = writeln!(out, "{INDENT}checks {} that {what}", if count == 1 { "once" } else { "at several places" });
            }
        }
    }
}

/// The lines of the results with their text, then those that are evaluated in them.
fn lines(out: &mut String, kernel: &KernelItem, source: &SourceMap) {
    let mut own: Vec<u32> = kernel.results.iter().map(|result| result.line).filter(|&line| line > 0).collect();
    own.sort_unstable();
    own.dedup();
    for &line in &own {
        let _ = writeln!(out, "{INDENT}{}", quoted_line(source, line, INDENT.len()));
    }
    let inner: Vec<u32> = kernel.lines.iter().copied().filter(|line| !own.contains(line)).collect();
    if inner.len() > MAX_QUOTED {
        out.push_str(&wrapped(INDENT, &format!("with what it needs of {}", lines_in(source, &inner))));
    } else if !inner.is_empty() {
        let _ = writeln!(out, "{INDENT}with what it needs of");
        for line in inner {
            let _ = writeln!(out, "{INDENT}  {}", quoted_line(source, line, INDENT.len() + 2));
        }
    }
}

fn table(out: &mut String, kernel: &KernelItem, dimensions: &[u32]) {
    let _ = writeln!(
        out,
        "{INDENT}{:<LABEL$}{:>6}{:>12}{:>7}{:>11}{:>9}{:>8}{:>8}{:>12}",
        "", "own", "neighbours", "faces", "elsewhere", "indices", "stores", "bytes", "operations"
    );
    rows(out, "any grid", &kernel.general, dimensions);
    match &kernel.cartesian {
        Cartesian::General => {
            let _ = writeln!(out, "{INDENT}{:<LABEL$}as on any grid", "Cartesian");
        }
        Cartesian::PerAxis => {
            let _ = writeln!(out, "{INDENT}{:<LABEL$}one value per axis, nothing per element", "Cartesian");
        }
        Cartesian::Full(traffic) => rows(out, "Cartesian", traffic, dimensions),
    }
}

fn rows(out: &mut String, label: &str, traffic: &[Traffic], dimensions: &[u32]) {
    let same = traffic.windows(2).all(|pair| pair[0] == pair[1]);
    for (t, dim) in traffic.iter().zip(dimensions).take(if same { 1 } else { dimensions.len() }) {
        let _ = writeln!(
            out,
            "{INDENT}{:<LABEL$}{:>6}{:>12}{:>7}{:>11}{:>9}{:>8}{:>8.0}{:>12}",
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

/// Which cells around its own a kernel reads: collections with as many, equally far away, together.
fn points(out: &mut String, points: &Points) {
    let mut groups: Vec<(&ParamPoints, Vec<String>)> = Vec::new();
    for param in &points.params {
        match groups.iter_mut().find(|(first, _)| (first.count, first.reach) == (param.count, param.reach)) {
            Some((_, of_group)) => of_group.push(param.written.clone()),
            None => groups.push((param, vec![param.written.clone()])),
        }
    }
    let group = |(first, of_group): &(&ParamPoints, Vec<String>)| match first.count {
        1 if first.reach == [[0, 0]; 3] => format!("the cell itself of {}", names(of_group)),
        count => format!("{count} of {}, {}", names(of_group), distance(&first.reach)),
    };
    let groups: Vec<String> = groups.iter().map(group).collect();
    out.push_str(&wrapped(INDENT, &format!("reads {} in all: {}", plural(points.count, "cell"), groups.join("; "))));
}

/// How far away cells are along the axes, backwards and forwards.
fn distance(reach: &[[u8; 2]; 3]) -> String {
    let along = |[low, high]: [u8; 2]| if low == high { low.to_string() } else { format!("-{low}+{high}") };
    let [x, y, z] = reach.map(along);
    if x == y && y == z { format!("up to {x} cells away along each axis") } else { format!("up to {x}, {y}, {z} cells away along x, y, z") }
}

/// Why results are computed here; those with the same reason together.
fn reasons(out: &mut String, kernel: &KernelItem) {
    let mut groups: Vec<(Reason, Vec<String>)> = Vec::new();
    for result in &kernel.results {
        let Some(why) = result_reason(result) else { continue };
        match groups.iter_mut().find(|(group, _)| *group == why) {
            Some((_, of_group)) => of_group.push(result_name(result)),
            None => groups.push((why, vec![result_name(result)])),
        }
    }
    for (why, of_group) in groups {
        let subject = names(&of_group);
        let text = match why {
            Reason::OfValue(rest) if of_group.len() == 1 => format!("{subject} {rest}."),
            Reason::OfValue(rest) => format!("Each of {subject} {rest}."),
            Reason::Whole(_) => format!("{subject}: {}", why.sentence()),
        };
        out.push_str(&wrapped(INDENT, &text));
    }
    let replaced: Vec<String> = kernel.results.iter().filter_map(|result| result.replaces.clone()).collect();
    if !replaced.is_empty() {
        out.push_str(&wrapped(INDENT, &format!("The results are stored in the memory of {}.", names(&replaced))));
    }
}
