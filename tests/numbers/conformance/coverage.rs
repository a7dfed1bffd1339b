//! The table of what must be covered, and the check that nothing is missing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::format::{self, Case};

/// A row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub id: String,
    /// A program that is accepted must show it.
    pub positive: bool,
    /// A program that is rejected must show it.
    pub negative: bool,
}

/// The table in `rows.txt`.
pub fn rows() -> Vec<Row> {
    let path = format::folder().join("rows.txt");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    parse(&text).unwrap_or_else(|error| panic!("rows.txt: {error}"))
}

/// Lines `id  +|-|+-  what the row says`.
pub fn parse(text: &str) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let (Some(id), Some(signs), Some(_)) = (words.next(), words.next(), words.next()) else {
            return Err(format!("`{line}`: expected an id, signs and a text"));
        };
        if !matches!(signs, "+" | "-" | "+-") {
            return Err(format!("`{line}`: the signs are +, - or +-"));
        }
        rows.push(Row { id: id.to_owned(), positive: signs.contains('+'), negative: signs.contains('-') });
    }
    Ok(rows)
}

/// Lists rows without cases or there twice, and unknown rows that cases cover.
pub fn problems(rows: &[Row], cases: &[Case]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut known = BTreeSet::new();
    for row in rows {
        if !known.insert(row.id.as_str()) {
            problems.push(format!("row `{}` is there twice", row.id));
        }
    }
    let mut shown: BTreeMap<(&str, bool), usize> = BTreeMap::new();
    for case in cases {
        for id in &case.covers {
            if !known.contains(id.as_str()) {
                problems.push(format!("case `{}` covers `{id}`, which is not a row", case.name));
            }
            *shown.entry((id, case.is_negative())).or_default() += 1;
        }
    }
    for row in rows {
        for (needed, negative, what) in [(row.positive, false, "accepted"), (row.negative, true, "rejected")] {
            if needed && !shown.contains_key(&(row.id.as_str(), negative)) {
                problems.push(format!("row `{}` has no case that is {what}", row.id));
            }
        }
    }
    problems
}

/// Rows that pages name below their rules, as `Rows: ` and names in back-ticks; `*` at the end of a
/// name stands for any ending.
pub fn named_rows(page: &str) -> Vec<&str> {
    let paragraphs = page.split("\n\n").filter_map(|paragraph| paragraph.trim_start().strip_prefix("Rows: "));
    // A sentence about other tests may follow.
    let lists = paragraphs.map(|paragraph| paragraph.split("`. ").next().unwrap_or_default());
    lists.flat_map(|list| list.split('`').skip(1).step_by(2)).collect()
}

/// Names that no row has, and rows that no page names.
pub fn faults_of_pages(rows: &[Row], names: &[&str]) -> Vec<String> {
    let is_named = |name: &str, row: &Row| match name.strip_suffix('*') {
        Some(beginning) => row.id.starts_with(beginning),
        None => row.id == name,
    };
    let unknown = names.iter().filter(|name| !rows.iter().any(|row| is_named(name, row))).map(|name| format!("no row `{name}`"));
    let unnamed = rows.iter().filter(|row| !names.iter().any(|name| is_named(name, row))).map(|row| format!("no page names `{}`", row.id));
    unknown.chain(unnamed).collect()
}
