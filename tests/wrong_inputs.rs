//! Mistakes that people make who begin. Each is answered by the place, the cause and a remedy; the
//! remedy is applied, and then the run ends well.

use std::fs;
use std::path::Path;
use std::process::Command;

/// A mistake: what is run, what the answer says, and what it advises.
struct Mistake {
    /// Arguments before the program.
    verb: &'static [&'static str],
    program: &'static str,
    /// Names and texts.
    files: &'static [(&'static str, &'static str)],
    words: &'static [&'static str],
    code: i32,
    /// Parts of the answer: place and cause.
    says: &'static [&'static str],
    /// The part of the remedy that the answer shows.
    shows: &'static str,
    remedy: Remedy,
}

/// What is changed.
enum Remedy {
    /// Each text of the program by another one.
    Program(&'static [(&'static str, &'static str)]),
    /// The text of a file.
    File(&'static str, &'static str),
    /// A file gets another name.
    Renamed(&'static str, &'static str, &'static [&'static str]),
    /// All words after the program.
    Words(&'static [&'static str]),
    /// The arguments before the program, and the words after it.
    Command(&'static [&'static str], &'static [&'static str]),
}

use Remedy::{Command as Line, File, Program, Renamed, Words};

const RUN: &[&str] = &["run", "--interpret", "--quiet"];

const MISTAKE: Mistake =
    Mistake { verb: RUN, program: GROWTH, files: &[], words: &[], code: 1, says: &[], shows: "", remedy: Words(&[]) };

/// Growth: needs `u` and `timesteps`.
const GROWTH: &str = r#"k = InputScalarWithDefault("k", 1)
u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar("u", AllCells())
For dt In InputSequenceOfScalar("timesteps") {
    u = u + dt * k * u
}
Output("u", u)
"#;

/// A residual that jumps: heat that melts something within a narrow range of temperatures.
const MELTING: &str = r#"# dimensions: ignore
Import "equelle:boundaries" (dirichlet, transmissibility)
b = BoundaryFaces()
enthalpy(t) = {
    -> t + 50 * Min(Max((t + 0.1) / 0.2, 0), 1)
}
k = transmissibility(1 Extend AllCells())
u : Mutable Collection Of Scalar On AllCells() = -1 Extend AllCells()
For dt In InputSequenceOfScalar("timesteps") {
    old = enthalpy(u)
    residual(t) = {
        flux = (-k * Gradient(t) Extend AllFaces()) + (dirichlet(t, b, 5, 1) Extend AllFaces())
        -> |AllCells()| * (enthalpy(t) - old) + dt * Divergence(flux)
    }
    u = NewtonSolve(residual, u)
}
Output("u", u)
"#;

/// A conservation law with sources and closed boundaries.
const CLOSED: &str = r#"# dimensions: ignore
residual(u) = {
    -> Divergence(-1 * Gradient(u)) - 1
}
u = NewtonSolve(residual, 0 Extend AllCells())
Output("u", u)
"#;

/// The same with a conductivity of the unknown: no constant is in the null space.
const CLOSED_NONLINEAR: &str = r#"# dimensions: ignore
residual(u) = {
    f = InteriorFaces()
    m = (u On FirstCell(f)) + (u On SecondCell(f))
    -> Divergence(-(1 + 0.1 * m * m) * Gradient(u)) - 1
}
u = NewtonSolve(residual, Centroid(AllCells())[0] / 10)
Output("u", u)
"#;

/// An unknown beyond the rows of a table.
const FLAT: &str = r#"t = InputTable("t", "x", "y")
residual(u) = {
    -> Interpolate(t, u) - 3
}
u = NewtonSolve(residual, 20 Extend AllCells())
Output("u", u)
"#;

const FAILURE: &[&str] = &["output_dir=out", "output_format=npy"];

const MISTAKES: &[(&str, Mistake)] = &[
    (
        "an input without a value",
        Mistake {
            words: &["nx=3", "u=1"],
            code: 4,
            says: &["timesteps: Sequence Of Scalar (line 3)"],
            shows: "40*0.01",
            remedy: Words(&["nx=3", "u=1", "timesteps=40*0.01"]),
            ..MISTAKE
        },
    ),
    (
        "a misspelt key",
        Mistake {
            words: &["xn=3", "u=1", "timesteps=0.1"],
            code: 0,
            says: &["parameter `xn` (command line) is not used"],
            shows: "nx",
            remedy: Words(&["nx=3", "u=1", "timesteps=0.1"]),
            ..MISTAKE
        },
    ),
    (
        "a key of the grid that is none",
        Mistake {
            words: &["grid_dimension=1", "u=1", "timesteps=0.1"],
            code: 0,
            says: &["parameter `grid_dimension` (command line) is not used"],
            shows: "grid_dim",
            remedy: Words(&["grid_dim=1", "u=1", "timesteps=0.1"]),
            ..MISTAKE
        },
    ),
    (
        "an assignment with blanks",
        Mistake {
            words: &["u=1", "timesteps=0.1", "nx", "=", "5"],
            code: 2,
            says: &["`nx` is neither a parameter file nor key=value"],
            shows: "nx=5",
            remedy: Words(&["u=1", "timesteps=0.1", "nx=5"]),
            ..MISTAKE
        },
    ),
    (
        "a parameter as an option",
        Mistake {
            verb: &["run", "--interpret", "--quiet", "--nx=5"],
            words: &["u=1", "timesteps=0.1"],
            code: 2,
            says: &["there is no option `--nx=5`"],
            shows: "nx=5",
            remedy: Line(RUN, &["u=1", "timesteps=0.1", "nx=5"]),
            ..MISTAKE
        },
    ),
    (
        "no cells",
        Mistake {
            words: &["nx=0", "u=1", "timesteps=0.1"],
            code: 4,
            says: &["parameter `nx=0` (command line) must be at least 1"],
            shows: "nx=10",
            remedy: Words(&["nx=10", "u=1", "timesteps=0.1"]),
            ..MISTAKE
        },
    ),
    (
        "a decimal comma in a parameter",
        Mistake {
            words: &["u=1", "timesteps=0.1", "k=0,5"],
            code: 4,
            says: &["parameter `k` (command line) must be a number, not `0,5`", "p.equelle:1"],
            shows: "k=0.5",
            remedy: Words(&["u=1", "timesteps=0.1", "k=0.5"]),
            ..MISTAKE
        },
    ),
    (
        "steps as a range",
        Mistake {
            words: &["u=1", "timesteps=0:0.1:1"],
            code: 4,
            says: &["character 2 of `0:0.1:1`", "p.equelle:3"],
            shows: "timesteps=40*0.01",
            remedy: Words(&["u=1", "timesteps=40*0.01"]),
            ..MISTAKE
        },
    ),
    (
        "times as steps",
        Mistake {
            words: &["u=1", "timesteps=10*0.1", "output_times=3*0.1"],
            code: 4,
            says: &["parameter `output_times` (command line)", "`3*0.1`"],
            shows: "output_times=0.1, 0.2, 0.3",
            remedy: Words(&["u=1", "timesteps=10*0.1", "output_times=0.1, 0.2, 0.3", "output_to_file=true", "output_dir=out"]),
            ..MISTAKE
        },
    ),
    (
        "a formula in place of a number",
        Mistake {
            words: &["u=x+1", "timesteps=0.1"],
            code: 4,
            says: &["parameter `u` (command line) must be a number, not `x+1`"],
            shows: "u_expression=x+1",
            remedy: Words(&["u_expression=x+1", "timesteps=0.1"]),
            ..MISTAKE
        },
    ),
    (
        "too few values in a file",
        Mistake {
            files: &[("u.txt", "1 2\n")],
            words: &["nx=3", "u_filename=u.txt", "timesteps=0.1"],
            code: 4,
            says: &["`u.txt`: input `u` on AllCells(): expected 3 values, found 2"],
            shows: "one value per element",
            remedy: File("u.txt", "# one value per element\n1 2 3\n"),
            ..MISTAKE
        },
    ),
    (
        "a decimal comma in a file",
        Mistake {
            files: &[("u.txt", "1,5\n2\n3\n")],
            words: &["nx=3", "u_filename=u.txt", "timesteps=0.1"],
            code: 4,
            says: &["u.txt:1:1: `1,5` is not a number"],
            shows: "1.5",
            remedy: File("u.txt", "1.5\n2\n3\n"),
            ..MISTAKE
        },
    ),
    (
        "decimal commas beside semicolons",
        Mistake {
            files: &[("u.csv", "x;u\n0,5;1\n1,5;2\n")],
            words: &["nx=2", "u_filename=u.csv", "timesteps=0.1"],
            code: 4,
            says: &["u.csv:2: column `x`: `0,5` is not a number"],
            shows: "0.5",
            remedy: File("u.csv", "x;u\n0.5;1\n1.5;2\n"),
            ..MISTAKE
        },
    ),
    (
        "a line of names in a text",
        Mistake {
            files: &[("u.txt", "temperature\n1\n2\n3\n")],
            words: &["nx=3", "u_filename=u.txt", "timesteps=0.1"],
            code: 4,
            says: &["u.txt:1:1: `temperature` is not a number"],
            shows: "#",
            remedy: File("u.txt", "# temperature\n1\n2\n3\n"),
            ..MISTAKE
        },
    ),
    (
        "columns in a text",
        Mistake {
            files: &[("u.txt", "# x u\n0.5 1\n1.5 2\n2.5 3\n")],
            words: &["nx=3", "u_filename=u.txt", "timesteps=0.1"],
            code: 4,
            says: &["`u.txt`: input `u` on AllCells(): expected 3 values, found 6"],
            shows: ".csv",
            remedy: Renamed("u.csv", "# x, u\n0.5,1\n1.5,2\n2.5,3\n", &["nx=3", "u_filename=u.csv", "timesteps=0.1"]),
            ..MISTAKE
        },
    ),
    (
        "columns of other names, after semicolons",
        Mistake {
            files: &[("rock.csv", "T;p\n1;2\n3;4\n")],
            words: &["nx=2", "u_filename=rock.csv", "timesteps=0.1"],
            code: 4,
            says: &["rock.csv: 2 columns: `T`, `p`, of which none is called `u`"],
            shows: "u_column=T",
            remedy: Words(&["nx=2", "u_filename=rock.csv", "u_column=T", "timesteps=0.1"]),
            ..MISTAKE
        },
    ),
    (
        "a column that is not there, after tabs",
        Mistake {
            files: &[("rock.csv", "perm\tporo\n1\t2\n3\t4\n")],
            words: &["nx=2", "u_filename=rock.csv", "u_column=prom", "timesteps=0.1"],
            code: 4,
            says: &["rock.csv: there is no column `prom`: columns are `perm`, `poro`"],
            shows: "perm",
            remedy: Words(&["nx=2", "u_filename=rock.csv", "u_column=perm", "timesteps=0.1"]),
            ..MISTAKE
        },
    ),
    (
        "a side in words",
        Mistake {
            program: "inflow = InputDomainSubsetOf(\"inflow\", BoundaryFaces())\nOutput(\"area\", SumReduce(|inflow|))\n",
            words: &["inflow_set=left"],
            code: 4,
            says: &["parameter `inflow_set` (command line): character 1 of `left`", "p.equelle:1"],
            shows: "x-",
            remedy: Words(&["inflow_set=x-"]),
            ..MISTAKE
        },
    ),
    (
        "a value with a blank that the shell has cut",
        Mistake {
            program: "cold = InputDomainSubsetOf(\"cold\", BoundaryFaces())\nOutput(\"area\", SumReduce(|cold|))\n",
            files: &[("plate.msh", PLATE)],
            words: &["grid_filename=plate.msh", "cold_set=cold", "plate"],
            code: 2,
            says: &["`plate` is neither a parameter file nor key=value"],
            shows: "cold_set=cold plate",
            remedy: Words(&["grid_filename=plate.msh", "cold_set=cold plate"]),
            ..MISTAKE
        },
    ),
    (
        "a misspelt set with a blank",
        Mistake {
            program: "cold = InputDomainSubsetOf(\"cold\", BoundaryFaces())\nOutput(\"area\", SumReduce(|cold|))\n",
            files: &[("plate.msh", PLATE)],
            words: &["grid_filename=plate.msh", "cold_set=cold plat"],
            code: 4,
            says: &["the grid has no named set `cold plat` of faces"],
            shows: "cold plate",
            remedy: Words(&["grid_filename=plate.msh", "cold_set=cold plate"]),
            ..MISTAKE
        },
    ),
    (
        "a number without its unit",
        Mistake {
            program: "x = 2 [Meter] + 3\nOutput(\"x\", x)\n",
            says: &["E0302", "p.equelle:1:15"],
            shows: "3 [Meter]",
            remedy: Program(&[("+ 3", "+ 3 [Meter]")]),
            ..MISTAKE
        },
    ),
    (
        "a time that begins without a unit",
        Mistake {
            program: "t : Mutable Scalar = 0\nWhile t < 3 [Second] {\n    t = t + 1 [Second]\n}\nOutput(\"t\", t)\n",
            says: &["E0303", "p.equelle:2:9", "`t` lacks a unit"],
            shows: "0 [Second]",
            remedy: Program(&[("Scalar = 0", "Scalar = 0 [Second]")]),
            ..MISTAKE
        },
    ),
    (
        "an argument of the library without its unit",
        Mistake {
            program: "Import \"equelle:boundaries\" (dirichlet)\nu = InputCollectionOfScalar(\"u\", AllCells()) * 1 [Kelvin]\n\
                      hot = InputScalarWithDefault(\"hot\", 300)\nq = dirichlet(u, BoundaryFaces(), hot, 1)\nOutput(\"q\", q)\n",
            words: &["u=1"],
            says: &["E0302", "p.equelle:4:5", "in `dirichlet` of `equelle:boundaries`", "`value` has no dimension", "equelle:boundaries:13:30"],
            shows: "1 [Kelvin]",
            remedy: Program(&[(", hot, 1)", ", hot * 1 [Kelvin], 1)")]),
            ..MISTAKE
        },
    ),
    (
        "one value where the library takes a collection",
        Mistake {
            program: "Import \"equelle:boundaries\" (transmissibility)\nt = transmissibility(3)\nOutput(\"t\", t)\n",
            says: &["E0214", "p.equelle:2:5", "in `transmissibility` of `equelle:boundaries`", "give `k` as a collection"],
            shows: "Extend AllCells()",
            remedy: Program(&[("(3)", "(3 Extend AllCells())")]),
            ..MISTAKE
        },
    ),
    (
        "millidarcies",
        Mistake {
            program: "k = 5 [mD]\nOutput(\"k\", k)\n",
            says: &["E0014", "p.equelle:1:8"],
            shows: "Milli*Darcy",
            remedy: Program(&[("mD", "Milli*Darcy")]),
            ..MISTAKE
        },
    ),
    (
        "centipoises in a quotient",
        Mistake {
            program: "m = 5 [Darcy/cP]\nOutput(\"m\", m)\n",
            says: &["E0014", "p.equelle:1:14"],
            shows: "(Centi*Poise)",
            remedy: Program(&[("cP", "(Centi*Poise)")]),
            ..MISTAKE
        },
    ),
    (
        "degrees Celsius",
        Mistake {
            program: "t = 20 [Celsius]\nOutput(\"t\", t)\n",
            says: &["E0301", "p.equelle:1:9", "there is no unit `Celsius`"],
            shows: "293.15 [Kelvin]",
            remedy: Program(&[("20 [Celsius]", "293.15 [Kelvin]")]),
            ..MISTAKE
        },
    ),
    (
        "a unit of a parameter by its symbol",
        Mistake {
            program: "k = InputScalarWithDefault(\"k\", 1) * 1 [Milli*Darcy]\nOutput(\"k\", k)\n",
            words: &["k=5 [mD]"],
            code: 4,
            says: &["parameter `k` (command line): character 4 of `5 [mD]`: there is no unit `mD`"],
            shows: "Milli*Darcy",
            remedy: Words(&["k=5 [Milli*Darcy]"]),
            ..MISTAKE
        },
    ),
    (
        "a misspelt built-in function",
        Mistake {
            program: "u = InputCollectionOfScalar(\"u\", AllCells())\nOutput(\"g\", Gradinet(u))\n",
            words: &["u=1"],
            says: &["E0103", "p.equelle:2:13"],
            shows: "Gradient",
            remedy: Program(&[("Gradinet", "Gradient")]),
            ..MISTAKE
        },
    ),
    (
        "a second value of a variable",
        Mistake {
            program: "u = InputCollectionOfScalar(\"u\", AllCells())\nu = u + 1\nOutput(\"u\", u)\n",
            words: &["u=1"],
            says: &["E0105", "p.equelle:2:1"],
            shows: "u : Mutable Collection Of Scalar On AllCells()",
            remedy: Program(&[("u = InputC", "u : Mutable Collection Of Scalar On AllCells()\nu = InputC")]),
            ..MISTAKE
        },
    ),
    (
        "a comparison with one sign",
        Mistake {
            program: "u = InputCollectionOfScalar(\"u\", AllCells())\nOutput(\"v\", (u = 1) ? 2 : 3)\n",
            words: &["u=1"],
            says: &["E0005", "p.equelle:2:16"],
            shows: "==",
            remedy: Program(&[("u = 1)", "u == 1)")]),
            ..MISTAKE
        },
    ),
    (
        "an assignment with two signs",
        Mistake {
            program: "v : Mutable Scalar = 1\nv += 2\nOutput(\"v\", v)\n",
            says: &["E0005", "p.equelle:2:4"],
            shows: "v = v +",
            remedy: Program(&[("v += 2", "v = v + 2")]),
            ..MISTAKE
        },
    ),
    (
        "a function that returns",
        Mistake {
            program: "f(x) = {\n    return x^2\n}\nOutput(\"v\", f(3))\n",
            says: &["E0005", "p.equelle:2:5"],
            shows: "->",
            remedy: Program(&[("return", "->")]),
            ..MISTAKE
        },
    ),
    (
        "a function of another language",
        Mistake {
            program: "u = InputCollectionOfScalar(\"u\", AllCells())\nprint(u)\n",
            words: &["u=1"],
            says: &["E0102", "p.equelle:2:1"],
            shows: "Output(\"",
            remedy: Program(&[("print(u)", "Output(\"u\", u)")]),
            ..MISTAKE
        },
    ),
    (
        "fluxes inside and on the boundary",
        Mistake {
            program: "u = InputCollectionOfScalar(\"u\", AllCells())\nq = Gradient(u) + (1 Extend BoundaryFaces())\nOutput(\"d\", Divergence(q))\n",
            words: &["u=1"],
            says: &["E0203", "p.equelle:2:17", "InteriorFaces() and BoundaryFaces()"],
            shows: "Extend AllFaces()",
            remedy: Program(&[(
                "Gradient(u) + (1 Extend BoundaryFaces())",
                "(Gradient(u) Extend AllFaces()) + (1 Extend BoundaryFaces() Extend AllFaces())",
            )]),
            ..MISTAKE
        },
    ),
    (
        "a reduction in a residual",
        Mistake {
            program: "# dimensions: ignore\nu : Mutable Collection Of Scalar On AllCells() = 2 Extend AllCells()\nr(v) = {\n    -> v - 0.1 * (MaxReduce(v) Extend AllCells()) - 1\n}\n\
                      u = NewtonSolve(r, u)\nOutput(\"u\", u)\n",
            words: &["max_iter=30"],
            code: 0,
            says: &["W0501", "p.equelle:4:19"],
            shows: "For n In Range(0, 10) {",
            remedy: Program(&[
                ("r(v) = {", "For n In Range(0, 10) {\ngreatest = MaxReduce(u)\nr(v) = {"),
                ("MaxReduce(v)", "greatest"),
                ("NewtonSolve(r, u)\n", "NewtonSolve(r, u)\n}\n"),
            ]),
            ..MISTAKE
        },
    ),
    (
        "a residual that alternates",
        Mistake {
            program: MELTING,
            words: &["grid_dim=1", "nx=20", "timesteps=5*1"],
            code: 3,
            says: &["p.equelle:16", "the residual alternates"],
            shows: "newton_line_search=true",
            remedy: Words(&["grid_dim=1", "nx=20", "timesteps=5*1", "newton_line_search=true"]),
            ..MISTAKE
        },
    ),
    (
        "sources between closed boundaries",
        Mistake {
            program: CLOSED,
            words: FAILURE,
            code: 3,
            says: &["p.equelle:5", "the sources do not sum to zero", "once the program or its data are corrected"],
            shows: "sources",
            remedy: Program(&[("- 1\n", "- (x < 3 ? 1 : -1) # sources sum to zero\n"), ("-> ", "x = Centroid(AllCells())[0]\n    -> ")]),
            ..MISTAKE
        },
    ),
    (
        "sources between closed boundaries, with a conductivity that changes",
        Mistake {
            program: CLOSED_NONLINEAR,
            words: FAILURE,
            code: 3,
            says: &["p.equelle:7", "whatever the unknowns are", "once the program or its data are corrected"],
            shows: "time derivative",
            remedy: Program(&[("- 1\n", "- 1 + u # a time derivative\n")]),
            ..MISTAKE
        },
    ),
    (
        "an unknown beyond a table",
        Mistake {
            program: FLAT,
            files: &[("t.txt", "x y\n0 0\n10 10\n")],
            words: &["t_filename=t.txt", "output_dir=out", "output_format=npy"],
            code: 3,
            says: &["p.equelle:5", "outside of its rows a table is constant", "`t` (rows from 0 to 10)"],
            shows: "t_outside=linear",
            remedy: Words(&["t_filename=t.txt", "t_outside=linear"]),
            ..MISTAKE
        },
    ),
    (
        "a misspelt key of a sweep",
        Mistake {
            verb: &["sweep", "--interpret"],
            words: &["u=1", "timesteps=0.1", "kk=1,2"],
            code: 2,
            says: &["`kk=1,2`: no run reads a parameter `kk`"],
            shows: "k",
            remedy: Words(&["u=1", "timesteps=0.1", "k=1,2"]),
            ..MISTAKE
        },
    ),
    (
        "a language server",
        Mistake {
            verb: &["lsp"],
            program: "",
            code: 2,
            says: &["`lsp` is neither a verb nor a file", "`editors`"],
            shows: "check --message-format json",
            remedy: Line(&["check", "--message-format", "json"], &[]),
            ..MISTAKE
        },
    ),
    (
        "a misspelt verb",
        Mistake {
            verb: &["chekc"],
            program: "",
            code: 2,
            says: &["`chekc` is neither a verb nor a file"],
            shows: "equellec check",
            remedy: Line(&["check"], &[]),
            ..MISTAKE
        },
    ),
    (
        "a program without its ending",
        Mistake {
            verb: &["check", "p"],
            program: "",
            code: 5,
            says: &["cannot read `p`"],
            shows: "p.equelle",
            remedy: Line(&["check"], &[]),
            ..MISTAKE
        },
    ),
];

/// Two triangles, with a name for a side and one for the triangles.
const PLATE: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n1 1 \"cold plate\"\n2 2 \"body\"\n$EndPhysicalNames\n\
$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n$EndNodes\n$Elements\n3\n1 1 2 1 1 1 2\n2 2 2 2 1 1 2 3\n3 2 2 2 1 1 3 4\n$EndElements\n";

/// Runs `equellec` in a folder; the exit code, and what it wrote to standard error.
fn run(folder: &Path, verb: &[&str], has_program: bool, words: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equellec"));
    command.current_dir(folder).args(verb).args(has_program.then_some("p.equelle")).args(words);
    let output = command.output().expect("equellec starts");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// What a remedy changes, as text.
fn changed(remedy: &Remedy) -> String {
    match remedy {
        Program(changes) => changes.iter().map(|(_, to)| *to).collect::<Vec<_>>().join("\n"),
        File(_, text) => (*text).to_owned(),
        Renamed(name, text, _) => format!("{name}\n{text}"),
        Words(words) => words.join("\n"),
        Line(verb, words) => format!("equellec {} p.equelle {}", verb.join(" "), words.join(" ")),
    }
}

#[test]
fn mistakes_are_answered_with_a_remedy_that_works() {
    assert!(MISTAKES.len() >= 25);
    for (name, mistake) in MISTAKES {
        let Mistake { verb, program, files, words, code, says, shows, remedy } = mistake;
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path();
        let write = |file: &str, text: &str| fs::write(dir.join(file), text).expect("written");
        write("p.equelle", if program.is_empty() { GROWTH } else { program });
        files.iter().for_each(|(file, text)| write(file, text));
        let (found, said) = run(dir, verb, !program.is_empty(), words);
        assert_eq!(found, Some(*code), "{name}: {said}");
        for part in says.iter().chain([shows]) {
            assert!(said.contains(part), "{name}: `{part}` is not in\n{said}");
        }
        assert!(changed(remedy).contains(shows), "{name}: the remedy does not do what is advised");
        let errors = said.lines().filter(|line| line.starts_with("error")).count();
        assert_eq!(errors, usize::from(*code != 0), "{name}: one mistake, one message\n{said}");

        let (mut verb, mut words) = (*verb, *words);
        match remedy {
            Program(changes) => {
                let mut text = (*program).to_owned();
                for (from, to) in *changes {
                    assert!(text.contains(from), "{name}: {from}");
                    text = text.replacen(from, to, 1);
                }
                write("p.equelle", &text);
            }
            File(file, text) => write(file, text),
            Renamed(file, text, new) => {
                write(file, text);
                words = new;
            }
            Words(new) => words = new,
            Line(new, after) => (verb, words) = (new, after),
        }
        let (found, said) = run(dir, verb, true, words);
        assert_eq!(found, Some(0), "{name}, after the remedy: {said}");
        assert!(!said.contains(says[0]), "{name}, after the remedy: {said}");
    }
}
