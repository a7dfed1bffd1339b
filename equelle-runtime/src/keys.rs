//! Keys of parameters: one table for the check of unknown keys, `--help`, `equellec run
//! --list-inputs` and `--template`, the check of names of inputs, and a test of the book.

use self::Form::{Count, Flag, Number, Other, Words};
use self::Part::{Family, Grid, Linear, Newton, Old, Output, Run};
use crate::program::InputKind;

/// A key of the runtime.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The key; the first part of it in a [`Part::Family`].
    pub name: &'static str,
    /// Part of the runtime that reads it.
    pub part: Part,
    /// Form of its value.
    pub form: Form,
    /// The value that stands for a missing one, as it would be given; empty if there is none.
    pub default: &'static str,
    /// Its effect, as part of a sentence.
    pub meaning: &'static str,
}

/// The part of the runtime that reads a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The grid.
    Grid,
    /// Whatever the program is.
    Run,
    /// Outputs.
    Output,
    /// Newton's method.
    Newton,
    /// Linear solvers.
    Linear,
    /// Newton's method; a number or the name of an unknown follows.
    Family,
    /// Older programs. Known, but nobody is told of it.
    Old,
}

/// Form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A number.
    Number,
    /// A whole number, 0 or more.
    Count,
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Words(&'static [&'static str]),
    /// Something else, in capitals: `FILE`.
    Other(&'static str),
}

impl Form {
    /// As in a line of help: `NUMBER`, `auto|yes|no`.
    pub fn shown(self) -> String {
        match self {
            Form::Number => "NUMBER".to_owned(),
            Form::Count => "N".to_owned(),
            Form::Flag => "true|false".to_owned(),
            Form::Words(words) => words.join("|"),
            Form::Other(text) => text.to_owned(),
        }
    }

    /// True if an input of the program may read the same number.
    pub fn is_number(self) -> bool {
        match self {
            Form::Number | Form::Count => true,
            Form::Flag | Form::Words(_) | Form::Other(_) => false,
        }
    }
}

/// Parts of grid files that are refused, or left out.
const REFUSED: Form = Words(&["refuse", "ignore"]);

const fn key(part: Part, name: &'static str, form: Form, default: &'static str, meaning: &'static str) -> Key {
    Key { name, part, form, default, meaning }
}

/// The keys of the runtime, whether or not a given program uses them; those of older programs last.
pub const KEYS: &[Key] = &[
    key(Grid, "grid_filename", Other("FILE"), "", "a grid file, instead of a Cartesian grid"),
    key(Grid, "grid_geometry", Words(&["check", "trust"]), "check", "whether the geometry in the file is compared with its nodes"),
    key(Grid, "grid_unit", Words(&["metres", "feet", "cm"]), "", "unit of lengths of a GRDECL deck, whatever it says"),
    key(Grid, "nnc", REFUSED, "refuse", "connections without geometry in a GRDECL deck"),
    key(Grid, "dualporo", REFUSED, "refuse", "fractures and matrix in one cell of a GRDECL deck"),
    key(Grid, "lgr", REFUSED, "refuse", "local refinement and coarsening in a GRDECL deck"),
    key(Grid, "tran", REFUSED, "refuse", "transmissibilities given in a GRDECL deck"),
    key(Grid, "aquifer", REFUSED, "refuse", "connections to aquifers in a GRDECL deck"),
    key(Grid, "nonnc", REFUSED, "refuse", "a GRDECL deck that connects neighbours by index only"),
    key(Grid, "pinchreg", REFUSED, "refuse", "rules for pinched layers by region in a GRDECL deck"),
    key(Grid, "grid_periodic", Other("SIDES"), "", "sides that are joined: x-:x+, west:east; none: not even those of a mesh of Gmsh"),
    key(Grid, "grid_dim", Words(&["1", "2", "3"]), "2", "dimension of a Cartesian grid; 3 where nz, dz or lz is given"),
    key(Grid, "nx", Count, "6", "cells along x"),
    key(Grid, "ny", Count, "1", "cells along y"),
    key(Grid, "nz", Count, "1", "cells along z"),
    key(Grid, "dx", Number, "1", "width of the cells along x, in metres, or of each: 10*0.1, 20*0.05"),
    key(Grid, "dy", Number, "1", "width of the cells along y, in metres, or of each: 10*0.1, 20*0.05"),
    key(Grid, "dz", Number, "1", "width of the cells along z, in metres, or of each: 10*0.1, 20*0.05"),
    key(Grid, "lx", Number, "", "length of the grid along x, instead of widths"),
    key(Grid, "ly", Number, "", "length of the grid along y, instead of widths"),
    key(Grid, "lz", Number, "", "length of the grid along z, instead of widths"),
    key(Grid, "dx_filename", Other("FILE"), "", "widths of the cells along x"),
    key(Grid, "dx_column", Other("COLUMN"), "", "column of that file, if it is CSV"),
    key(Grid, "dy_filename", Other("FILE"), "", "widths of the cells along y"),
    key(Grid, "dy_column", Other("COLUMN"), "", "column of that file, if it is CSV"),
    key(Grid, "dz_filename", Other("FILE"), "", "widths of the cells along z"),
    key(Grid, "dz_column", Other("COLUMN"), "", "column of that file, if it is CSV"),
    key(Grid, "grid_layout", Words(&["auto", "unstructured"]), "auto", "whether a Cartesian grid is treated as any other"),
    key(Grid, "renumber", Words(&["auto", "no", "yes"]), "auto", "renumber cells and faces for speed; inputs and outputs stay"),
    key(Grid, "partition_file", Other("FILE"), "", "on several ranks: the rank that owns each cell, one number a line"),
    key(Grid, "partition_write", Other("FILE"), "", "on several ranks: where the rank that owns each cell is written"),
    key(Run, "rank_timeout", Number, "600", "on several ranks: seconds after which one that does not answer ends the run; 0 for never"),
    key(Run, "mpi_library", Other("FILE"), "", "on several ranks: the library of MPI, where the launcher's is not found"),
    key(Run, "threads", Other("N"), "", "threads on the processor, by default one for each; results do not depend on it"),
    key(Run, "memory_limit", Other("SIZE"), "", "most memory of a run, such as 16GiB; by default what the system has"),
    key(Run, "tune", Words(&["auto", "no", "yes"]), "auto", "whether shapes of launches on a GPU are measured"),
    key(Output, "output_to_file", Flag, "", "collections to files, or printed; by default those of more than 1,000 elements to files"),
    key(Output, "output_dir", Other("DIR"), ".", "folder of these files, created if missing"),
    key(Output, "output_format", Other("FORMATS"), "", "formats of files: vtu, npy, csv, text, or several with commas"),
    key(Output, "output_compression", Words(&["none", "zlib"]), "none", "compression of arrays in files of VTK"),
    key(
        Output,
        "output_every",
        Count,
        "1",
        "steps of the outermost loop whose number is a multiple go to files; the first always, and the last of a sequence or range",
    ),
    key(Output, "output_times", Other("TIMES"), "", "the first steps at or after these times go to files"),
    key(Output, "time_from", Other("TAG"), "", "the Scalar output that is the time; without it the sum of the outermost sequence"),
    key(Output, "probe", Other("POINTS"), "", "points whose cells are in the rows of output_format=csv: 0.1,0.1; 0.9,0.9"),
    key(Output, "event_log", Flag, "false", "whether the events of the run go to PROGRAM.events.jsonl, for its page"),
    key(Output, "nonfinite", Words(&["error", "allow"]), "error", "what happens to outputs that are not finite"),
    key(Run, "max_rounds", Count, "1000000000", "most rounds of a loop that a condition ends"),
    key(Run, "stop_when_change", Number, "", "the outermost loop ends where no variable changes more, relative to its range, such as 1e-8"),
    key(Run, "audit", Words(&["no", "yes"]), "no", "balances of conserved quantities, at the end and in events"),
    key(Run, "checkpoint_every", Count, "", "rounds of the outermost loop between two checkpoints"),
    key(Run, "checkpoint_minutes", Number, "", "minutes between two checkpoints"),
    key(Run, "restart", Other("FILE|latest"), "", "the checkpoint from which the run goes on, or the last one in the output folder"),
    key(Run, "restart_anyway", Words(&["no", "yes"]), "no", "go on although program, grid or inputs differ, if the state fits"),
    key(Newton, "max_iter", Count, "10", "most iterations of Newton's method"),
    key(Newton, "abs_res_tol", Number, "", "largest norm of the residual, in its own unit"),
    key(Newton, "rel_res_tol", Number, "", "largest norm of the residual over that at the guess"),
    key(Newton, "update_tol", Number, "", "largest norm of a correction over that of the unknowns"),
    key(Newton, "newton_failure", Words(&["error", "warn", "continue"]), "error", "what happens where it does not converge"),
    key(Newton, "newton_line_search", Flag, "false", "shorten corrections that do not reduce the residual"),
    key(Newton, "newton_forcing", Number, "", "largest relative residual of linear solves, such as 0.1"),
    key(Newton, "newton_dump", Other("DIR"), "", "folder for the systems of failed solves"),
    key(Newton, "timestep_cuts", Count, "0", "how often a time step that fails is cut in half"),
    key(Newton, "verbose", Count, "0", "lines among the results: 1, 2 or 3"),
    key(Family, "abs_res_tol_", Number, "", "largest norm of the residual of an equation, by its number"),
    key(Family, "unknown_min_", Number, "", "least value of an unknown, by its name or number"),
    key(Family, "unknown_max_", Number, "", "largest value of an unknown, by its name or number"),
    key(Linear, "solver", Words(&["auto", "lu", "cg", "bicgstab", "gmres"]), "auto", "linear solver"),
    key(
        Linear,
        "preconditioner",
        Words(&["auto", "none", "jacobi", "ilu0", "fsai", "amg", "block_jacobi", "block_ilu0", "cpr"]),
        "auto",
        "preconditioner of the linear solver",
    ),
    key(Linear, "solver_tol", Number, "1e-8", "largest norm of the residual of a linear system over that of its right-hand side"),
    key(Linear, "solver_max_iter", Count, "5000", "most iterations of the linear solver"),
    key(Linear, "solver_restart", Count, "30", "iterations of gmres between restarts"),
    key(Linear, "amg_smoother", Words(&["auto", "chebyshev", "gauss_seidel", "jacobi"]), "auto", "smoother of multigrid"),
    key(Linear, "amg_cycle", Words(&["v", "k"]), "v", "cycle of multigrid"),
    key(Linear, "amg_strength", Number, "0.1", "couplings above this part of the largest of their rows are coarsened along"),
    key(Linear, "cpr_pressure", Count, "", "number of the elliptic unknown, from 1; by default found"),
    key(Old, "linsolver", Other("NAME"), "", ""),
    key(Old, "linsolver_type", Count, "", ""),
    key(Old, "linsolver_residual_tolerance", Number, "", ""),
    key(Old, "linsolver_max_iterations", Count, "", ""),
    key(Old, "linsolver_smooth_steps", Count, "", ""),
    key(Old, "linsolver_prolongate_factor", Number, "", ""),
    key(Old, "linsolver_verbosity", Count, "", ""),
    key(Old, "linsolver_save_system", Flag, "", ""),
    key(Old, "linsolver_save_filename", Other("FILE"), "", ""),
    key(Old, "ghost_width", Count, "", ""),
];

/// The keys with a whole name.
pub fn single() -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(|key| key.part != Family)
}

/// The beginnings of keys that end with a number or the name of an unknown.
pub fn families() -> impl Iterator<Item = &'static str> {
    KEYS.iter().filter(|key| key.part == Family).map(|key| key.name)
}

/// A way to give an input of the program.
#[derive(Clone, Copy, Debug)]
pub struct InputForm {
    /// Suffix of the key, after the name of the input.
    pub suffix: &'static str,
    /// Form of the value.
    pub value: &'static str,
    /// Meaning of the value, as part of a sentence.
    pub meaning: &'static str,
}

/// Suffix of the key that says whether the file of an input counts, which older parameter files
/// give without need.
pub const FROM_FILE: &str = "_from_file";

/// Suffix of the key of the column of a CSV file, by name or number.
pub const COLUMN: &str = "_column";

const fn form(suffix: &'static str, value: &'static str, meaning: &'static str) -> InputForm {
    InputForm { suffix, value, meaning }
}

impl InputKind {
    /// All ways to give an input of this kind; the shortest first.
    pub fn forms(&self) -> &'static [InputForm] {
        match self {
            InputKind::Scalar => const { &[form("", "NUMBER", "a number")] },
            InputKind::Collection => {
                const {
                    &[
                        form("", "NUMBER", "one value for all"),
                        form(
                            "_filename",
                            "FILE",
                            "one number per element, ascending; text, a column of .csv, .npy (of cells u[i], or u[k, j, i] with the last axis first), or results: .vtu, .npz",
                        ),
                        form("_property", "ARRAY", "the named array of the grid"),
                        form("_values", "SET:NUMBER,...", "a value for each named set of the grid, and `default`"),
                        form("_expression", "EXPRESSION", "of x, y, z in metres and named arrays of the grid"),
                    ]
                }
            }
            InputKind::Vectors => {
                const {
                    &[
                        form("", "NUMBER,...", "one Vector for all, as many numbers as the grid has dimensions"),
                        form(
                            "_filename",
                            "FILE",
                            "the components of one Vector after those of another, by element, ascending; or .npy (u[i, axis], or u[k, j, i, axis]), .vtu, .npz",
                        ),
                    ]
                }
            }
            InputKind::Bools => {
                const {
                    &[
                        form("", "true|false", "one truth value for all"),
                        form(
                            "_filename",
                            "FILE",
                            "one truth value per element, ascending: true or 1, false or 0; or .npy (u[i], or u[k, j, i]), .vtu, .npz",
                        ),
                    ]
                }
            }
            InputKind::Domain => {
                const {
                    &[
                        form(
                            "_set",
                            "SETS",
                            "named sets of the grid, sides such as x-, boxes, conditions; without a key, the set of its name",
                        ),
                        form("_filename", "FILE", "indices of entities of the grid, ascending, each once"),
                    ]
                }
            }
            InputKind::Table(_) => {
                const {
                    &[
                        form(
                            "_filename",
                            "FILE",
                            "rows of numbers under a line with names of columns, between blanks, commas or semicolons",
                        ),
                        form("_interpolation", "linear|monotone", "straight lines from row to row, or monotone cubics"),
                        form("_outside", "constant|linear|error", "beyond the rows: the nearest value, its tangent, or not a number"),
                    ]
                }
            }
            InputKind::Sequence => {
                const {
                    &[
                        form("", "NUMBERS", "such as 40*0.01, 0.02"),
                        form("_filename", "FILE", "numbers; text, a column of a table between commas, or .npy"),
                    ]
                }
            }
        }
    }

    /// Suffixes of the keys of an input of this kind.
    pub fn suffixes(&self) -> impl Iterator<Item = &'static str> {
        let from_file = match self {
            InputKind::Collection | InputKind::Vectors | InputKind::Bools | InputKind::Domain | InputKind::Sequence => Some(FROM_FILE),
            InputKind::Scalar | InputKind::Table(_) => None,
        };
        let column = match self {
            InputKind::Collection | InputKind::Vectors | InputKind::Bools | InputKind::Sequence => Some(COLUMN),
            InputKind::Scalar | InputKind::Domain | InputKind::Table(_) => None,
        };
        self.forms().iter().map(|form| form.suffix).chain(from_file).chain(column)
    }
}
