//! `equellec explain`

use equelle_front::check::{BuiltinInfo, Category, builtins};
use equelle_front::diagnostic::{Code, explain, nearest};
use equelle_runtime::keys::{KEYS, Key, Part};
use equelle_runtime::{Error, ErrorKind};

use super::args::ExplainArgs;
use equelle::failure::Failure;

/// Prints the page of a diagnostic code, the entry of a built-in function or that of a key of
/// parameters; or lists all of them.
pub(super) fn explain(args: &ExplainArgs) -> Result<(), Failure> {
    let Some(asked) = &args.code else { return super::print(&topics()) };
    if let Some(page) = explain::explain(asked) {
        return super::print(page);
    }
    let all = builtins();
    let name = asked.trim_end_matches("()");
    if let Some(builtin) = all.iter().find(|builtin| builtin.name == name) {
        return super::print(&entry(builtin));
    }
    if let Some(key) = parameters().find(|key| key.name == name) {
        return super::print(&parameter(key));
    }
    let names = all.iter().map(|builtin| builtin.name.as_str()).chain(parameters().map(|key| key.name));
    let hint = nearest(name, names).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    let message = format!("there is no diagnostic code, no built-in function and no parameter `{asked}`{hint}");
    Err(Failure::Error(Error::new(ErrorKind::Usage, message).hint("`equellec explain` lists all topics")))
}

/// The keys of parameters that users are told of.
fn parameters() -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(|key| key.part != Part::Old)
}

/// All that can be explained, one topic a line, under headings.
fn topics() -> String {
    let mut text = String::from("`equellec explain TOPIC`, where TOPIC is one of these.\n");
    let all = builtins();
    for category in Category::ALL {
        heading(&mut text, category.title());
        for builtin in all.iter().filter(|builtin| builtin.category == category) {
            topic(&mut text, &builtin.name, first_sentence(&builtin.doc));
        }
    }
    heading(&mut text, "Parameters of every program");
    parameters().for_each(|key| topic(&mut text, key.name, key.meaning));
    heading(&mut text, "Errors and warnings");
    Code::ALL.iter().for_each(|code| topic(&mut text, code.as_str(), code.title()));
    text
}

/// Enough to find a topic.
fn first_sentence(doc: &str) -> &str {
    doc.split_once(". ").map_or(doc, |(first, _)| first).trim_end_matches('.')
}

fn heading(text: &mut String, title: &str) {
    text.push_str(&format!("\n{title}:\n"));
}

fn topic(text: &mut String, name: &str, meaning: &str) {
    text.push_str(&format!("  {name:<28}{meaning}\n"));
}

/// A key of parameters, in Markdown.
fn parameter(key: &Key) -> String {
    let default = if key.default.is_empty() { String::new() } else { format!("* default: {}\n", key.default) };
    format!("# `{}={}`\n\n{}\n\n{default}", key.name, key.form.shown(), key.meaning)
}

/// Page of a built-in function, in Markdown as the pages of the codes.
fn entry(builtin: &BuiltinInfo) -> String {
    let mut text = format!("# `{}`\n\n{}\n\n", builtin.signature(), builtin.doc);
    for parameter in &builtin.parameters {
        text.push_str(&format!("* `{}`: {}\n", parameter.name, parameter.expected));
    }
    match &builtin.result {
        Some(result) => text.push_str(&format!("* result: {result}\n")),
        None => text.push_str("* no result\n"),
    }
    if let Some(dimension) = builtin.dimension {
        text.push_str(&format!("* dimension of the result: {dimension}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_name_arguments_and_result() {
        let all = builtins();
        let named = |name: &str| entry(all.iter().find(|b| b.name == name).unwrap_or_else(|| panic!("no {name}")));
        assert_eq!(
            named("Gradient"),
            "# `Gradient(values)`\n\nPer interior face, the value in the second cell minus the value in the first; not divided by a distance.\n\n\
             * `values`: a Collection Of Scalar On AllCells()\n* result: Collection Of Scalar On InteriorFaces()\n\
             * dimension of the result: that of the first argument\n"
        );
        assert!(named("Output").ends_with("* no result\n"));
    }
}
