//! Parameters, data files and the command line.

use super::Remedy::{File, Line, Words};
use super::{MISTAKE, Mistake, RUN};

/// Two triangles, with a name for a side and one for the triangles.
const PLATE: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n1 1 \"cold plate\"\n2 2 \"body\"\n$EndPhysicalNames\n\
$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n$EndNodes\n$Elements\n3\n1 1 2 1 1 1 2\n2 2 2 2 1 1 2 3\n3 2 2 2 1 1 3 4\n$EndElements\n";

pub const MISTAKES: &[(&str, Mistake)] = &[
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
            files: &[("u.txt", "# of a thermometer\n0.5 1\n1.5 2\n2.5 3\n")],
            words: &["nx=3", "u_filename=u.txt", "timesteps=0.1"],
            code: 4,
            says: &["`u.txt`: input `u` on AllCells(): expected 3 values, found 6"],
            shows: "u_column=2",
            remedy: Words(&["nx=3", "u_filename=u.txt", "u_column=2", "timesteps=0.1"]),
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
