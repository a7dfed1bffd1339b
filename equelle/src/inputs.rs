//! Inputs and parameters of a program: as text, as JSON, as a template of a parameter file; and the
//! check of parameters before a run.

use std::fmt::Write as _;
use std::sync::Arc;

use equelle_runtime::keys::{self, Key, Part};
use equelle_runtime::session::{check_parameters, missing_inputs};
use equelle_runtime::{Error, ErrorKind, InputInfo, InputKind, Parameters, Program};
use serde_json::{Value, json};

/// Keys of the runtime that a program has a use for, by the part that reads them.
fn parts(program: &Program) -> Vec<(&'static str, Vec<&'static Key>)> {
    let implicit = [(Part::Newton, "Newton's method"), (Part::Linear, "Linear solvers")];
    let all = [(Part::Grid, "Grid"), (Part::Run, "Run"), (Part::Output, "Outputs")];
    let used = all.into_iter().chain(implicit.into_iter().filter(|_| !program.solves.is_empty()));
    used.map(|(part, title)| (title, keys::KEYS.iter().filter(|key| key.part == part).collect())).collect()
}

/// Keys that end with the name of an unknown or the number of an equation, with what they do.
fn keys_of_unknowns(program: &Program) -> Vec<(String, &'static str)> {
    let mut found: Vec<(String, &'static str)> = Vec::new();
    for key in keys::KEYS.iter().filter(|key| key.part == Part::Family) {
        let unknowns = program.solves.iter().flat_map(|solve| solve.unknowns.iter().enumerate());
        for (number, unknown) in unknowns {
            let end = if key.name.starts_with("unknown") { unknown.to_string() } else { (number + 1).to_string() };
            let name = format!("{}{end}", key.name);
            if !found.iter().any(|(known, _)| *known == name) {
                found.push((name, key.meaning));
            }
        }
    }
    found
}

fn kind(input: &InputInfo) -> String {
    match &input.kind {
        InputKind::Scalar => "Scalar".to_owned(),
        InputKind::Collection => format!("Collection Of Scalar On {}", input.domain),
        InputKind::Vectors => format!("Collection Of Vector On {}", input.domain),
        InputKind::Bools => format!("Collection Of Bool On {}", input.domain),
        InputKind::Domain => format!("a subset of {}", input.domain),
        InputKind::Sequence => "Sequence Of Scalar".to_owned(),
        InputKind::Table(columns) => format!("Table, {}", columns.described()),
    }
}

/// Inputs and parameters of a run, for people.
pub fn list(program: &Program) -> String {
    let mut text = format!("Inputs of {}:\n", program.name);
    if program.inputs.is_empty() {
        text.push_str("  none\n");
    }
    program.inputs.iter().for_each(|input| describe(&mut text, input));
    for (title, keys) in parts(program) {
        let _ = writeln!(text, "\n{title}:");
        for key in keys {
            let default = if key.default.is_empty() { String::new() } else { format!(" (default {})", key.default) };
            row(&mut text, 2, &format!("{}={}", key.name, key.form.shown()), &format!("{}{default}", key.meaning));
        }
        if title == "Newton's method" {
            keys_of_unknowns(program).iter().for_each(|(name, meaning)| row(&mut text, 2, &format!("{name}=NUMBER"), meaning));
        }
    }
    text
}

/// An input and all ways to give it.
fn describe(text: &mut String, input: &InputInfo) {
    let unit = input.unit.as_ref().map_or_else(String::new, |unit| format!(", in {}", unit.text));
    let default = if input.default.is_empty() { String::new() } else { format!(", default {}", input.default) };
    let _ = writeln!(text, "  {}: {}{unit}{default} (line {})", input.name, kind(input), input.line);
    for form in input.kind.forms() {
        row(text, 4, &format!("{}{}={}", input.name, form.suffix, form.value), form.meaning);
    }
}

/// Judges parameters before anything is built or run: warnings of the run, and inputs without a
/// value.
///
/// # Errors
/// Those of the run before its grid is made; `Data` for inputs that no parameter gives, with all
/// ways to give them. With each the warnings before it.
pub fn judge(program: &Arc<Program>, parameters: &Parameters, hint: &str) -> Result<Vec<String>, (Vec<String>, Error)> {
    let (warnings, result) = check_parameters(program, parameters);
    if let Err(error) = result {
        return Err((warnings, error));
    }
    let missing = missing_inputs(program, parameters);
    if missing.is_empty() {
        return Ok(warnings);
    }
    let mut text = String::from("no parameter gives these inputs of the program:\n");
    missing.iter().for_each(|input| describe(&mut text, input));
    Err((warnings, Error::new(ErrorKind::Data, text.trim_end()).hint(hint)))
}

/// A key and what it does, in columns; what is too wide for its column stands in a line of its own.
fn row(text: &mut String, indent: usize, key: &str, meaning: &str) {
    const WIDTH: usize = 34;
    let _ = if key.len() + indent < WIDTH {
        writeln!(text, "{:indent$}{key:<width$}{meaning}", "", width = WIDTH - indent)
    } else {
        writeln!(text, "{:indent$}{key}\n{:WIDTH$}{meaning}", "", "")
    };
}

/// Inputs and parameters of a run, for programs: `inputs` and `parameters`.
pub fn json(program: &Program) -> Value {
    let input = |input: &InputInfo| {
        let forms = input
            .kind
            .forms()
            .iter()
            .map(|form| json!({ "key": format!("{}{}", input.name, form.suffix), "value": form.value, "meaning": form.meaning }));
        let unit = input.unit.as_ref().map(|unit| json!({ "text": *unit.text, "factor": unit.factor, "dimension": unit.dimension }));
        let or_null = |text: &str| if text.is_empty() { Value::Null } else { json!(text) };
        json!({
            "name": *input.name,
            "type": kind(input),
            "domain": or_null(&input.domain),
            "unit": unit,
            "default": or_null(&input.default),
            "line": input.line,
            "forms": forms.collect::<Vec<_>>(),
        })
    };
    let parameters = parts(program).into_iter().flat_map(|(title, keys)| {
        keys.into_iter().map(move |key| {
            let default = if key.default.is_empty() { Value::Null } else { json!(key.default) };
            json!({ "key": key.name, "part": title, "value": key.form.shown(), "default": default, "meaning": key.meaning })
        })
    });
    let per_unknown = keys_of_unknowns(program)
        .into_iter()
        .map(|(name, meaning)| json!({ "key": name, "part": "Newton's method", "value": "NUMBER", "default": null, "meaning": meaning }));
    json!({
        "program": *program.name,
        "inputs": program.inputs.iter().map(input).collect::<Vec<_>>(),
        "parameters": parameters.chain(per_unknown).collect::<Vec<_>>(),
    })
}

/// A parameter file for a program. What has a default is a comment that gives it; what has none and
/// is needed is an assignment without a value, which a run refuses with its line.
pub fn template(program: &Program) -> String {
    let mut text = format!("# Parameters of {}.\n", program.name);
    text.push_str("# A line that begins with `#` gives the default, or nothing where there is none; remove the `#` to change it.\n");
    text.push_str("# A line without a value must get one, or give way to the comment below it.\n");
    text.push_str("# File names are relative to this file.\n\n# --- Inputs ---\n");
    for (number, input) in program.inputs.iter().enumerate() {
        let unit = input.unit.as_ref().map_or_else(String::new, |unit| format!(", in {}", unit.text));
        let _ = writeln!(text, "\n# {}: {}{unit}", input.name, kind(input));
        let is_table = |input: &InputInfo| matches!(input.kind, InputKind::Table(_));
        if is_table(input) && program.inputs[..number].iter().any(|other| other.name == input.name && is_table(other)) {
            text.push_str("# of the same file\n");
            continue;
        }
        for (at, form) in input.kind.forms().iter().enumerate() {
            let (key, said) = (format!("{}{}", input.name, form.suffix), format!("{}: {}", form.value, form.meaning));
            let needed = at == 0 && input.kind != InputKind::Scalar;
            let default = if form.suffix.is_empty() { &*input.default } else { "" };
            assignment(&mut text, &key, default, needed, &said);
        }
    }
    for (title, keys) in parts(program) {
        let _ = writeln!(text, "\n# --- {title} ---\n");
        for key in keys {
            if program.inputs.iter().any(|input| input.keys().iter().any(|own| own == key.name)) {
                let _ = writeln!(text, "# {}: as for the input above", key.name);
                continue;
            }
            let said = format!("{}: {}", key.form.shown(), key.meaning);
            // A grid of too few dimensions is refused.
            let dim = program.min_dim.to_string();
            let needs = key.name == "grid_dim" && program.min_dim > 2;
            assignment(&mut text, key.name, if needs { &dim } else { key.default }, needs, &said);
        }
        if title == "Newton's method" {
            keys_of_unknowns(program)
                .iter()
                .for_each(|(name, meaning)| assignment(&mut text, name, "", false, &format!("NUMBER: {meaning}")));
        }
    }
    text
}

/// `key = value  # said`, as a comment unless it is needed.
fn assignment(text: &mut String, key: &str, value: &str, needed: bool, said: &str) {
    let line = format!("{}{key} = {value}", if needed { "" } else { "# " });
    let _ = writeln!(text, "{:<40}  # {said}", line.trim_end());
}
