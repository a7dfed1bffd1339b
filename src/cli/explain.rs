//! `equellec explain`

use equelle_front::check::{BuiltinInfo, builtins};
use equelle_front::diagnostic::{explain, nearest};

use super::args::ExplainArgs;
use crate::failure::Failure;

/// Prints the page of a diagnostic code, or the entry of a built-in function.
pub(super) fn explain(args: &ExplainArgs) -> Result<(), Failure> {
    if let Some(page) = explain::explain(&args.code) {
        return super::print(page);
    }
    let all = builtins();
    let name = args.code.trim_end_matches("()");
    match all.iter().find(|builtin| builtin.name == name) {
        Some(builtin) => super::print(&entry(builtin)),
        None => {
            let near = nearest(name, all.iter().map(|builtin| builtin.name.as_str()));
            let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            Err(Failure::usage(format!("there is no diagnostic code and no built-in function `{}`{hint}", args.code)))
        }
    }
}

/// What is known of a built-in function, in Markdown as the pages of the codes.
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
