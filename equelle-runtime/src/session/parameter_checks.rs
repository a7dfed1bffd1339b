//! Checks of parameters before anything is read: unknown keys, and inputs with two sources.

use std::sync::Arc;

use crate::error::Error;
use crate::grid::Renumber;
use crate::input::choice::GivenBy;
use crate::input::{Inputs, choice};
use crate::keys::{self, Form};
use crate::newton::timestep_cuts;
use crate::output::Nonfinite;
use crate::params::{Parameters, near_match};
use crate::program::{InputInfo, InputKind, Program};
use crate::session::checkpoint_state::check_restart;
use crate::session::grid_parameters::cartesian_cells;
use crate::session::round_length;
use crate::session::steady_state::SteadyState;

/// True if a run of the program may read a parameter.
pub fn is_known(program: &Program, key: &str) -> bool {
    let of_solves = || keys::families().any(|family| key.starts_with(family)) && !program.solves.is_empty();
    keys::single().any(|known| known.name == key) || of_solves() || program.inputs.iter().any(|input| input.has_key(key))
}

/// Ends of keys of inputs of some kind.
const SUFFIXES: [&str; 9] =
    ["_filename", "_from_file", "_column", "_set", "_property", "_values", "_expression", "_interpolation", "_outside"];

/// The known key nearest to an unknown one: another key of the same input, or the most similar one.
pub fn nearest(program: &Program, key: &str) -> Option<String> {
    let stem = SUFFIXES.iter().find_map(|suffix| key.strip_suffix(suffix)).unwrap_or(key);
    if let Some(input) = program.inputs.iter().find(|input| &*input.name == stem) {
        return Some(match &input.kind {
            InputKind::Scalar | InputKind::Collection | InputKind::Vectors | InputKind::Bools | InputKind::Sequence => {
                input.name.to_string()
            }
            InputKind::Domain => choice::set_key(&input.name),
            InputKind::Table(_) => choice::filename_key(&input.name),
        });
    }
    let mut candidates: Vec<String> = keys::single().map(|key| key.name.to_owned()).collect();
    candidates.extend(program.inputs.iter().flat_map(|input| input.keys()));
    // The beginning of a key is often less similar to it than other keys are.
    if let Some(longer) = candidates.iter().find(|longer| key.len() > 2 && longer.starts_with(key)) {
        return Some(longer.clone());
    }
    near_match(key, candidates.iter().map(String::as_str)).map(str::to_owned)
}

/// A warning for each unused parameter, and for each value that a later line of its file replaces.
pub(super) fn warnings(program: &Program, parameters: &Parameters) -> Vec<String> {
    let mut warnings = parameters.replaced().to_vec();
    let is_array = |key: &str| parameters.has_array(key) && program.inputs.iter().any(|input| *input.name == *key);
    warnings.extend(parameters.unknown(|key| is_known(program, key) || is_array(key), |key| nearest(program, key)));
    warnings
}

/// The inputs of a program, before anything is read.
///
/// # Errors
/// `Data` for an input with two sources, or whose file has no name; names its line.
pub(super) fn inputs(program: &Arc<Program>, parameters: &Parameters) -> Result<Inputs, Error> {
    let is_number = |name: &str| {
        keys::single().any(|key| key.name == name)
            || program.inputs.iter().any(|input| input.kind == InputKind::Scalar && &*input.name == name)
    };
    let with_values = program.inputs.iter().filter(|input| input.kind.is_collection() || input.kind == InputKind::Sequence);
    let inputs = Inputs::of(Arc::clone(program), with_values.map(|input| Arc::clone(&input.name)).filter(|name| is_number(name)).collect());
    for input in &program.inputs {
        inputs.given(parameters, &input.name, &input.kind).map_err(|error| error.at(input.line))?;
    }
    Ok(inputs)
}

/// A warning for each sequence without elements. What is wrong with others is said where they are
/// read.
pub(super) fn empty_sequences(program: &Program, parameters: &Parameters, inputs: &mut Inputs) -> Vec<String> {
    let sequences = program.inputs.iter().filter(|input| input.kind == InputKind::Sequence);
    let empty = sequences.filter(|input| inputs.sequence(parameters, &input.name).is_ok_and(|values| values.is_empty()));
    let warning = |input: &InputInfo| {
        let given = parameters.shown(&choice::filename_key(&input.name));
        format!("the sequence `{}`, from {given}, has no elements: a loop over it has no round", input.name)
    };
    empty.map(warning).collect()
}

/// Checks parameters as a run does before it makes its grid. Returns its warnings, and its error if
/// it has one.
pub fn check_parameters(program: &Arc<Program>, parameters: &Parameters) -> (Vec<String>, Result<(), Error>) {
    let mut warnings = warnings(program, parameters);
    let result = judge(program, parameters).map(|empty| warnings.extend(empty));
    (warnings, result)
}

/// The error of a run before its grid is made, of a file that is not there too, or warnings about
/// what its files hold.
fn judge(program: &Arc<Program>, parameters: &Parameters) -> Result<Vec<String>, Error> {
    let mut inputs = inputs(program, parameters)?;
    cartesian_cells(program, parameters)?;
    timestep_cuts::check(program, parameters)?;
    round_length::max_rounds(parameters)?;
    SteadyState::from_parameters(parameters)?;
    Nonfinite::from_parameters(parameters)?;
    Renumber::from_parameters(parameters)?;
    for key in keys::single().filter(|key| parameters.contains(key.name)) {
        match key.form {
            Form::Count => drop(parameters.integer(key.name)?),
            Form::Flag => drop(parameters.flag(key.name)?),
            // Widths may be lists, and what reads words or texts knows more about them.
            Form::Number | Form::Words(_) | Form::Other(_) => {}
        }
    }
    for input in program.inputs.iter().filter(|input| input.kind == InputKind::Scalar) {
        inputs.scalar(parameters, &input.name, 0.0).map_err(|error| error.at(input.line))?;
    }
    check_restart(program, parameters)?;
    for input in &program.inputs {
        if let GivenBy::File(path) = inputs.given(parameters, &input.name, &input.kind)? {
            parameters.source().check(&path, "").map_err(|error| error.at(input.line))?;
        }
    }
    Ok(empty_sequences(program, parameters, &mut inputs))
}

/// The inputs that no parameter gives and that need one, each once, in the order of the program.
pub fn missing_inputs<'p>(program: &'p Program, parameters: &Parameters) -> Vec<&'p InputInfo> {
    let mut missing: Vec<&InputInfo> = Vec::new();
    for input in &program.inputs {
        // A named set of the grid may have the name of a domain; some of the runtime's numbers that
        // of a collection.
        let needs = !matches!(input.kind, InputKind::Scalar | InputKind::Domain) && keys::single().all(|key| key.name != &*input.name);
        let given = || parameters.has_array(&input.name) || input.keys().iter().any(|key| parameters.contains(key));
        if needs && !given() && missing.iter().all(|other| other.name != input.name) {
            missing.push(input);
        }
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Solve;

    fn program() -> Program {
        Program {
            inputs: vec![
                InputInfo { name: "k".into(), default: "1".into(), line: 1, ..InputInfo::default() },
                InputInfo { name: "timesteps".into(), kind: InputKind::Sequence, line: 2, ..InputInfo::default() },
            ],
            solves: vec![Solve { line: 3, unknowns: vec!["s".into()] }],
            ..Program::named("program")
        }
    }

    fn warned(text: &str) -> Vec<String> {
        let mut parameters = Parameters::default();
        parameters.read_text("a.param".as_ref(), text.as_bytes()).expect("good lines");
        warnings(&program(), &parameters)
    }

    /// The first column of each table of parameters in the book contains known keys.
    #[test]
    fn keys_of_the_book_are_known() {
        let book = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/book/src/");
        let mut keys = Vec::new();
        for chapter in ["parameters.md", "implicit.md", "outputs.md"] {
            let text = std::fs::read_to_string(format!("{book}{chapter}")).expect("the book is part of the project");
            let tables = text.split("\n\n").filter(|part| part.trim_start().starts_with("| key |"));
            for row in tables.flat_map(|table| table.lines().skip(2)) {
                let cell = row.split('|').nth(1).unwrap_or_default();
                keys.extend(cell.split('`').skip(1).step_by(2).map(str::to_owned));
            }
        }
        assert!(keys.len() > 30, "{keys:?}");
        let unknown: Vec<&String> = keys.iter().filter(|key| !is_known(&program(), key)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    /// The book tells every key, in a table or in a sentence, and with each that has a meaning the
    /// default of the table of keys.
    #[test]
    fn the_book_has_every_key() {
        let book = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/book/src/");
        let text: String = ["parameters.md", "implicit.md", "outputs.md", "memory.md"]
            .map(|chapter| std::fs::read_to_string(format!("{book}{chapter}")).expect("the book is part of the project"))
            .concat();
        let told = |key: &keys::Key| match key.part {
            keys::Part::Family => text.contains(&format!("`{}", key.name)),
            keys::Part::Old => true,
            keys::Part::Grid | keys::Part::Run | keys::Part::Output | keys::Part::Newton | keys::Part::Linear => {
                text.contains(&format!("`{}`", key.name)) || text.contains(&format!("`{}=", key.name))
            }
        };
        let missing: Vec<&str> = keys::KEYS.iter().filter(|key| !told(key)).map(|key| key.name).collect();
        assert!(missing.is_empty(), "{missing:?}");
        let mut compared = 0;
        for row in text.lines().filter(|line| line.starts_with("| `")) {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let names: Vec<&str> = cells[1].split('`').skip(1).step_by(2).collect();
            let defaults: Vec<&str> = cells[2].split(", ").map(|word| word.trim_matches('`')).collect();
            for (at, name) in names.iter().enumerate() {
                let Some(key) = keys::single().find(|key| key.name == *name && !key.default.is_empty()) else { continue };
                let default = defaults.get(at).unwrap_or(&defaults[0]);
                let told = *default == key.default || key.name == "output_dir" || cells.len() < 5;
                assert!(told, "{name}: {default} in the book, {}", key.default);
                compared += 1;
            }
        }
        assert!(compared > 15, "{compared}");
    }

    #[test]
    fn keys_of_nobody_have_a_nearest_one() {
        assert!(
            warned(
                "k=1\ntimesteps_filename=t\ntimesteps_from_file=true\nabs_res_tol_2=1\nlinsolver=istl\nrel_res_tol=0.1\nunknown_min_s=0"
            )
            .is_empty()
        );
        let all = warned("timesteps_set=1\nk_filename=f\ngrid_file=g\nzzz=1\n");
        let ends = ["did you mean `grid_filename`?", "did you mean `k`?", "did you mean `timesteps`?", "no input of that name"];
        assert_eq!(all.len(), 4);
        for (warning, end) in all.iter().zip(ends) {
            assert!(warning.ends_with(end), "{warning}");
        }
        assert!(all[0].starts_with("parameter `grid_file` (a.param:3) is not used"), "{}", all[0]);
    }

    #[test]
    fn values_that_the_same_file_replaces() {
        assert_eq!(warned("k=1\nk=2\nk=2\n"), ["parameter `k=1` (a.param:1) is replaced in line 2: `k=2`"]);
    }
}
