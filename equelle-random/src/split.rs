//! The same program in two texts: functions that need nothing of the program move to a second one,
//! which the first one imports.

use std::collections::BTreeSet;

use crate::tree::{Program, Statement, write};

/// The name by which the program imports its functions.
pub const FUNCTIONS: &str = "functions.equelle";

/// A program in two texts.
#[derive(Clone, Debug)]
pub struct Split {
    /// The program, which imports [`FUNCTIONS`].
    pub program: String,
    /// Its functions.
    pub functions: String,
}

/// A program with its functions in a second text; nothing if there is none that could stand there.
pub fn split(program: &Program) -> Option<Split> {
    let mut moved = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut kept = Vec::new();
    // The type of a function stands before it.
    let mut declared: Option<(String, &Statement)> = None;
    let outside: String = program.statements.iter().filter(|statement| definition(statement).is_none()).map(text_of).collect();
    let outside: BTreeSet<&str> = outside.lines().filter_map(bound).collect();
    for statement in &program.statements {
        if let Some(name) = declared_function(statement) {
            kept.extend(declared.take().map(|(_, before)| before.clone()));
            declared = Some((name, statement));
            continue;
        }
        let own = declared.take();
        match definition(statement).filter(|name| stands_alone(statement, own.as_ref().map(|(_, line)| *line), name, &names, &outside)) {
            Some(name) => {
                moved.extend(own.map(|(_, line)| line.clone()));
                moved.push(statement.clone());
                names.push(name);
            }
            None => {
                kept.extend(own.map(|(_, line)| line.clone()));
                kept.push(statement.clone());
            }
        }
    }
    kept.extend(declared.map(|(_, line)| line.clone()));
    if names.is_empty() {
        return None;
    }
    let (mut text, mut functions) = (format!("Import \"{FUNCTIONS}\" ({})\n", names.join(", ")), String::new());
    write(&kept, 0, &mut text);
    write(&moved, 0, &mut functions);
    Some(Split { program: text, functions })
}

/// `f : Function(...) -> ...`
fn declared_function(statement: &Statement) -> Option<String> {
    let Statement::Line(_) = statement else { return None };
    let text = text_of(statement);
    let (name, ty) = text.split_once(" : ")?;
    ty.starts_with("Function(").then(|| name.to_owned())
}

/// The name of the function that a statement defines.
fn definition(statement: &Statement) -> Option<String> {
    let Statement::Block { .. } = statement else { return None };
    let text = text_of(statement);
    let head = text.lines().next()?.strip_suffix(" = {")?;
    Some(head.split_once('(')?.0.to_owned())
}

/// The name that a line binds or assigns, other than that of a function's type.
fn bound(line: &str) -> Option<&str> {
    let line = line.trim();
    match line.strip_prefix("For ") {
        Some(rest) => rest.split(' ').next(),
        None => line.split([' ', '(']).next().filter(|_| !line.contains(" : Function(") && (line.contains(" = ") || line.contains(" : "))),
    }
}

/// True if a function uses names of its own and of the functions that have moved alone. It may
/// assign variables of the program, which are `outside`.
fn stands_alone(function: &Statement, declaration: Option<&Statement>, name: &str, moved: &[String], outside: &BTreeSet<&str>) -> bool {
    let text = declaration.map(text_of).unwrap_or_default() + &text_of(function);
    let mut own: BTreeSet<&str> = moved.iter().map(String::as_str).chain([name]).collect();
    for line in text.lines().map(str::trim) {
        own.extend(bound(line));
        if let Some((_, params)) = line.strip_suffix(") = {").and_then(|head| head.split_once('(')) {
            own.extend(params.split(", "));
        }
        if let Some((_, params)) = line.split_once(" : Function(") {
            own.extend(params.split(", ").filter_map(|param| param.split(" : ").next()));
        }
    }
    identifiers(&text).all(|used| own.contains(used) && !outside.contains(used))
}

/// Names that begin with a small letter, as all that a program defines does, outside of texts.
fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let outside = text.split('"').step_by(2);
    let words = outside.flat_map(|part| part.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
    words.filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))
}

fn text_of(statement: &Statement) -> String {
    let mut text = String::new();
    write(std::slice::from_ref(statement), 0, &mut text);
    text
}
