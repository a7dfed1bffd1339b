//! The same program with the rows of its equations in other units: each row of a residual is
//! multiplied by a power of two, which keeps the solution.

use crate::tree::{Node, Part, Program, Statement, text};

/// The two factors of rows. They differ by more than runs take for even rows.
const FACTORS: [&str; 2] = ["1099511627776", "0.0009765625"];

/// The program with rows in other units; `None` if it solves no equation.
pub fn in_other_units(program: &Program) -> Option<Program> {
    let source = program.text();
    let mut other = program.clone();
    let mut changed = 0;
    scale(&mut other.statements, &|name| is_solved(&source, name), &mut changed);
    (changed > 0).then_some(other)
}

/// True if a function is a residual of a solve.
fn is_solved(source: &str, function: &str) -> bool {
    let alone = format!(" = NewtonSolve({function}, ");
    let residuals = |line: &str| line.split_once(" = NewtonSolveSystem([").and_then(|(_, rest)| Some(rest.split_once(']')?.0.to_owned()));
    source.contains(&alone) || source.lines().filter_map(residuals).any(|names| names.split(", ").any(|name| name == function))
}

fn scale(statements: &mut [Statement], is_residual: &dyn Fn(&str) -> bool, changed: &mut usize) {
    for statement in statements {
        let Statement::Block { head, body } = statement else { continue };
        let head = text(head);
        match (head.split_once('('), body.last_mut()) {
            (Some((name, _)), Some(Statement::Line(parts))) if is_residual(name) => {
                *changed += usize::from(scale_rows(parts));
            }
            _ => scale(body, is_residual, changed),
        }
    }
}

/// Multiplies what a residual returns by one factor where its right-hand side is positive, and by
/// another elsewhere; false if it has none, as in programs made small.
fn scale_rows(parts: &mut Vec<Part>) -> bool {
    let right: Option<Node> = parts.iter().rev().find_map(|part| match part {
        Part::Node(node) => Some(node.clone()),
        Part::Text(_) => None,
    });
    let (Some(right), Some(Part::Text(arrow))) = (right, parts.first_mut()) else { return false };
    if arrow != "-> " {
        return false;
    }
    "-> (".clone_into(arrow);
    parts.extend([Part::from(") * (("), right.clone().into(), " > -".into(), right.into()]);
    parts.push(format!(") ? {} : {})", FACTORS[0], FACTORS[1]).into());
    true
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::data::Fixtures;
    use crate::generate::{self, Purpose};

    #[test]
    fn residuals_alone_are_scaled() {
        let folder = tempfile::tempdir().expect("a folder for data");
        let triangles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../grids/triangles-6x5.grid");
        let fixtures = Fixtures::write(folder.path(), &triangles).expect("the folder can be written");
        let mut scaled = 0;
        for seed in 1..=40 {
            let program = generate::program(seed, Purpose::Run, &fixtures.ranges);
            let source = program.text();
            let Some(other) = in_other_units(&program) else {
                assert!(!source.contains("NewtonSolve"), "seed {seed}");
                continue;
            };
            let solves = source.matches(" = NewtonSolve(").count();
            let systems: Vec<&str> = source.split(" = NewtonSolveSystem([").skip(1).collect();
            let residuals =
                solves + systems.iter().filter_map(|rest| rest.split_once(']')).map(|(names, _)| names.split(", ").count()).sum::<usize>();
            let other = other.text();
            let changed = source.lines().zip(other.lines()).filter(|(one, two)| one != two).count();
            assert_eq!((changed, other.matches(FACTORS[0]).count()), (residuals, residuals), "seed {seed}");
            scaled += 1;
        }
        assert!(scaled > 5, "{scaled}");
    }
}
