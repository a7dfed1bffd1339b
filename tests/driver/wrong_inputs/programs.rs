//! Programs, and solves that fail.

use super::Remedy::{Program, Words};
use super::{MISTAKE, Mistake};

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

pub const MISTAKES: &[(&str, Mistake)] = &[
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
            says: &[
                "E0302",
                "p.equelle:4:5",
                "in `dirichlet` of `equelle:boundaries`",
                "`value` has no dimension",
                "equelle:boundaries:13:30",
            ],
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
                "(Gradient(u) Extend AllFaces()) + ((1 Extend BoundaryFaces()) Extend AllFaces())",
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
            says: &["p.equelle:15", "the residual alternates"],
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
];
