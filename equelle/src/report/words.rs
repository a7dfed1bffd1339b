//! Names, lines and lists of names in the report.

use equelle_front::backend::forms::LoopForm;
use equelle_front::report::{KernelItem, ResultItem};
use equelle_front::source::{FileId, SourceMap};

use super::reasons::listed;

/// Columns of the report.
pub(super) const WIDTH: usize = 100;
/// Columns of a formula that stands for a name.
const FORMULA: usize = 40;
/// Names that are listed; of more, the number is given.
const MAX_NAMES: usize = 4;

/// `line 12`, or `line 3 of limiters.equelle` in a text that the program imports.
pub fn line_in(source: &SourceMap, line: u32) -> String {
    let (file, own) = source.file_and_line(line);
    if file == FileId::MAIN { format!("line {line}") } else { format!("line {own} of {}", source.file(file).name()) }
}

/// `line 12: u = u + dt * r`, shortened to the width where this many columns stand before it.
pub(super) fn quoted_line(source: &SourceMap, line: u32, before: usize) -> String {
    let place = line_in(source, line);
    let text = source.line_text(line).split_whitespace().collect::<Vec<_>>().join(" ");
    if line == 0 || text.is_empty() {
        return place;
    }
    let width = WIDTH.saturating_sub(before + place.chars().count() + 2);
    format!("{place}: {}", shortened(&text, width))
}

/// `lines 12, 14-16`, and those of texts that the program imports. `lines` ascend.
pub(super) fn lines_in(source: &SourceMap, lines: &[u32]) -> String {
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
    lines.chunk_by(same_file).map(of_file).collect::<Vec<_>>().join("; ")
}

/// `5-7 9` of ascending numbers.
fn ranges(numbers: &[u32]) -> String {
    let consecutive = numbers.chunk_by(|a, b| a + 1 == *b);
    let text = |run: &[u32]| match run {
        [first, .., last] => format!("{first}-{last}"),
        run => run.iter().map(u32::to_string).collect(),
    };
    consecutive.map(text).collect::<Vec<_>>().join(" ")
}

/// A text of at most this many characters, with `...` at its end if it is longer.
pub(super) fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(3)).collect();
    format!("{}...", kept.trim_end())
}

/// `1 kernel`, `2 kernels`
pub(super) fn plural(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Name of a result in the program, or its formula.
pub(super) fn result_name(result: &ResultItem) -> String {
    shortened(result.written.as_deref().unwrap_or(&result.name), FORMULA)
}

/// Results of a kernel, in names of the program.
pub(super) fn kernel_label(kernel: &KernelItem) -> String {
    match &kernel.equation_of {
        Some(unknown) => format!("equation of `{unknown}`"),
        None => names(&kernel.results.iter().map(result_name).collect::<Vec<_>>()),
    }
}

/// `` `a`, `q[0]` to `q[7]` and 3 more ``: consecutive elements of an array as a range.
pub(super) fn names<'a>(names: &'a [String]) -> String {
    let is_next = |a: &String, b: &String| match (element(a), element(b)) {
        (Some((array, i)), Some((other, j))) => array == other && i + 1 == j,
        (None | Some(_), None | Some(_)) => false,
    };
    // Two neighbours are no range.
    let pairs_apart = |group: &'a [String]| group.chunks(if group.len() == 2 { 1 } else { group.len() });
    let groups: Vec<&[String]> = names.chunk_by(is_next).flat_map(pairs_apart).collect();
    let shown = groups.iter().take(if groups.len() > MAX_NAMES { MAX_NAMES - 1 } else { MAX_NAMES });
    let text = |group: &&[String]| match group {
        [first, .., last] => format!("`{first}` to `{last}`"),
        group => group.iter().map(|name| format!("`{name}`")).collect(),
    };
    let mut words: Vec<String> = shown.map(text).collect();
    let left = groups[words.len()..].iter().map(|group| group.len()).sum::<usize>();
    if left > 0 {
        words.push(format!("{left} more"));
    }
    listed(&words)
}

/// Loops in words of the summary.
pub(super) fn description(form: LoopForm) -> &'static str {
    match form {
        LoopForm::PerAxis => "one value for each axis, nothing for each element",
        LoopForm::Rows => "whole rows of cells at a time, without tests inside the grid",
        LoopForm::List => "one element after the other",
        LoopForm::Cells => "cell by cell, with tests for the boundary at each",
        LoopForm::General => "cell by cell, as on any grid",
    }
}

/// Array and index of `q[3]`.
fn element(name: &str) -> Option<(&str, usize)> {
    let (array, index) = name.strip_suffix(']')?.rsplit_once('[')?;
    Some((array, index.parse().ok()?))
}

/// Lines of at most the width: `first` before the words of the first one, as many spaces before
/// those of the others.
pub(super) fn wrapped(first: &str, text: &str) -> String {
    let indent = first.chars().count();
    let (mut out, mut column) = (first.to_owned(), indent);
    for (number, word) in text.split(' ').enumerate() {
        let width = word.chars().count();
        if column + width + 1 > WIDTH && column > indent {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else if number > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += width;
    }
    out.push('\n');
    out
}
