//! Checks of parameters before anything is read: unknown keys, and inputs with two sources.

use crate::error::Error;
use crate::input::{Inputs, choice};
use crate::linalg::driver::options::{KEYS as LINEAR_KEYS, OLD_KEYS as OLD_LINEAR_KEYS};
use crate::params::{Parameters, near_match};
use crate::program::{InputKind, Program};

/// Keys of the grid.
const GRID_KEYS: [&str; 11] = ["grid_filename", "grid_geometry", "grid_dim", "nx", "ny", "nz", "dx", "dy", "dz", "grid_layout", "renumber"];
const OUTPUT_KEYS: [&str; 3] = ["output_to_file", "output_dir", "nonfinite"];

/// Keys of parts that a program may not use, so that one parameter file can serve several programs.
const OTHER_KEYS: [&str; 19] = [
    "threads",
    "tune",
    "memory_limit",
    "verbose",
    "max_iter",
    "abs_res_tol",
    "rel_res_tol",
    "update_tol",
    "newton_failure",
    "newton_line_search",
    "newton_forcing",
    "newton_dump",
    "timestep_cuts",
    "solver",
    "preconditioner",
    "solver_tol",
    "solver_max_iter",
    "solver_restart",
    "ghost_width",
];

/// Prefixes of keys that a number or a name follows.
const FAMILIES: [&str; 3] = ["abs_res_tol_", "unknown_min_", "unknown_max_"];

/// Keys of the runtime, whether or not a given program uses them.
fn runtime_keys() -> impl Iterator<Item = &'static str> {
    let own = GRID_KEYS.iter().chain(&OUTPUT_KEYS).chain(&OTHER_KEYS);
    own.chain(&LINEAR_KEYS).chain(&OLD_LINEAR_KEYS).copied()
}

fn is_known(program: &Program, key: &str) -> bool {
    let of_solves = || FAMILIES.iter().any(|family| key.starts_with(family)) && !program.solves.is_empty();
    runtime_keys().any(|known| known == key) || of_solves() || program.inputs.iter().any(|input| input.keys().iter().any(|own| own == key))
}

/// The known key nearest to an unknown one: another key of the same input, or the most similar one.
fn nearest(program: &Program, key: &str) -> Option<String> {
    let stem = key.strip_suffix("_filename").or_else(|| key.strip_suffix("_from_file")).unwrap_or(key);
    if let Some(input) = program.inputs.iter().find(|input| input.name == stem) {
        return Some(match input.kind {
            InputKind::Scalar | InputKind::Collection | InputKind::Vectors | InputKind::Bools => input.name.to_owned(),
            InputKind::Domain | InputKind::Sequence => choice::filename_key(input.name),
        });
    }
    let mut candidates: Vec<String> = runtime_keys().map(str::to_owned).collect();
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
    warnings.extend(parameters.unknown(|key| is_known(program, key), |key| nearest(program, key)));
    warnings
}

/// The inputs of a program, before anything is read.
///
/// # Errors
/// `Data` for an input with two sources, or whose file has no name; names its line.
pub(super) fn inputs(program: &Program, parameters: &Parameters) -> Result<Inputs, Error> {
    let is_number = |name: &str| {
        runtime_keys().any(|key| key == name) || program.inputs.iter().any(|input| input.kind == InputKind::Scalar && input.name == name)
    };
    let collections = program.inputs.iter().filter(|input| input.kind.is_collection());
    let inputs = Inputs::sharing(collections.map(|input| input.name).filter(|name| is_number(name)).collect());
    for input in program.inputs {
        inputs.is_from_file(parameters, input.name, input.kind).map_err(|error| error.at(input.line))?;
    }
    Ok(inputs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{InputInfo, Solve};
    use crate::source::Source;

    static PROGRAM: Program = Program {
        name: "program",
        source: Source { file: "program.equelle", text: "" },
        inputs: &[
            InputInfo { name: "k", kind: InputKind::Scalar, domain: "", unit: "", default: "1", line: 1 },
            InputInfo { name: "timesteps", kind: InputKind::Sequence, domain: "", unit: "", default: "", line: 2 },
        ],
        min_dim: 1,
        outputs: &[],
        retries: &[],
        solves: &[Solve { line: 3, unknowns: &["s"] }],
    };

    fn warned(text: &str) -> Vec<String> {
        let mut parameters = Parameters::default();
        parameters.read_text("a.param".as_ref(), text.as_bytes()).expect("good lines");
        warnings(&PROGRAM, &parameters)
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
        let unknown: Vec<&String> = keys.iter().filter(|key| !is_known(&PROGRAM, key)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn keys_of_nobody_have_a_nearest_one() {
        assert!(
            warned(
                "k=1\ntimesteps_filename=t\ntimesteps_from_file=true\nabs_res_tol_2=1\nlinsolver=istl\nrel_res_tol=0.1\nunknown_min_s=0"
            )
            .is_empty()
        );
        let all = warned("timesteps=1\nk_filename=f\ngrid_file=g\nzzz=1\n");
        let ends = ["did you mean `grid_filename`?", "did you mean `k`?", "did you mean `timesteps_filename`?", "no input of that name"];
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
