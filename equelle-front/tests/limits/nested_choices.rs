//! Chains of choices, each between two that were made before: kernels and the time of the passes
//! grow with the text, though a formula without sharing would double with every link.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use equelle_front::check::{CheckOptions, check_text};
use equelle_front::ir::visit::visit_block;
use equelle_front::ir::{CartesianForm, Module};
use equelle_front::lower::lower;
use equelle_front::passes::{OptLevel, Options, optimise_by};
use equelle_front::report::Report;
use equelle_front::source::SourceMap;
use equelle_front::verify::verify;

/// A program with two chains.
struct Chains {
    name: &'static str,
    /// The two values that they begin with.
    first: [&'static str; 2],
    /// Their links, where `A` and `B` are the values before and `#` is the number of the link.
    links: [&'static str; 2],
    /// Line before the chains, and what is done with the last values.
    around: [&'static str; 2],
}

const CELLS: [&str; 2] = ["FirstCell(f)", "SecondCell(f)"];
const SUM_OF_CELLS: &str = "Output(\"r\", SumReduce((u On A) - 2 * (u On B)))";
const FLUX_OF_CELLS: &str = "Output(\"r\", u + Divergence((u On A) - 2 * (u On B)))";
const SUM_OF_FACES: &str = "Output(\"r\", SumReduce(A - 2 * B))";
const LOOP: &str = "v: Mutable Collection Of Scalar On AllCells()\nv = u\nFor t In InputSequenceOfScalar(\"t\") {";
const RESIDUAL: &str = "residual(v) = {";

/// Cells, Scalars, Bools and Vectors on faces and cells; with conditions of the grid, of data and
/// of what was chosen before; in formulas, loops and residuals.
#[rustfmt::skip]
const CHAINS: [Chains; 17] = [
    Chains { name: "cells", first: CELLS, links: ["Normal(f)[0] > 0.# ? A : B", "Normal(f)[0] > 0.# ? B : A"], around: ["", "Output(\"r\", SumReduce(Dot(Centroid(A) - Centroid(f), Normal(f))))"] },
    Chains { name: "cells by data", first: CELLS, links: ["(u On FirstCell(f)) > 0.# ? B : A", "|f| > 0.# ? A : B"], around: ["", SUM_OF_CELLS] },
    Chains { name: "cells by cells", first: CELLS, links: ["(u On A) > (u On B) ? A : B", "(u On A) > 0.# ? B : A"], around: ["", SUM_OF_CELLS] },
    Chains { name: "cells of fluxes", first: CELLS, links: ["(u On FirstCell(f)) > 0.# ? A : B", "|f| > 0.# ? B : A"], around: ["", FLUX_OF_CELLS] },
    Chains { name: "cells by Empty", first: ["FirstCell(AllFaces())", "SecondCell(AllFaces())"], links: ["IsEmpty(A) ? A : B", "IsEmpty(A) ? B : A"], around: ["", "Output(\"r\", SumReduce(IsEmpty(A) ? 1 : 0))"] },
    Chains { name: "faces", first: ["f On f", "f On f"], links: ["|f| > 0.# ? B : A", "Normal(f)[0] > 0.# ? A : B"], around: ["", "Output(\"r\", SumReduce((u On FirstCell(A)) - 2 * (u On SecondCell(B))))"] },
    Chains { name: "cells in a loop", first: CELLS, links: ["(v On FirstCell(f)) > 0.# ? B : A", "|f| > 0.# ? A : B"], around: [LOOP, "v = v + t * Divergence((v On A) - 2 * (v On B))\n}\nOutput(\"r\", v)"] },
    Chains { name: "cells in a residual", first: CELLS, links: ["(v On FirstCell(f)) > 0.# ? B : A", "|f| > 0.# ? A : B"], around: [RESIDUAL, "-> v - u - 0.01 * Divergence((v On A) - (v On B))\n}\nOutput(\"r\", NewtonSolve(residual, u))"] },
    Chains { name: "numbers in a residual", first: ["v", "2 * v"], links: ["v > 0.# ? B : A", "(u + v) > 0.# ? A : B"], around: [RESIDUAL, "-> A + 0.1 * B - u - 0.01 * Divergence(Gradient(v))\n}\nOutput(\"r\", NewtonSolve(residual, u))"] },
    Chains { name: "numbers on faces", first: ["u On FirstCell(f)", "u On SecondCell(f)"], links: ["|f| > 0.# ? B : A", "Normal(f)[0] > 0.# ? A : B"], around: ["", SUM_OF_FACES] },
    Chains { name: "fluxes", first: ["u On FirstCell(f)", "u On SecondCell(f)"], links: ["|f| > 0.# ? B : A", "Normal(f)[0] > 0.# ? A : B"], around: ["", "Output(\"r\", u + Divergence(A - 2 * B))"] },
    Chains { name: "numbers on cells", first: ["u", "2 * u"], links: ["u > 0.# ? B : A", "2 * u > 0.# ? A : B"], around: ["", "Output(\"r\", A - B)"] },
    Chains { name: "sums on cells", first: ["u", "Divergence(Gradient(u))"], links: ["u > 0.# ? B : A", "2 * u > 0.# ? A : B"], around: ["", "Output(\"r\", A - B)"] },
    Chains { name: "single numbers", first: ["p", "2 * p"], links: ["p > 0.# ? B : A", "2 * p > 0.# ? A : B"], around: ["p = InputScalarWithDefault(\"p\", 0.5)", "Output(\"r\", A - B)"] },
    Chains { name: "truths on faces", first: ["|f| > 0.5", "Normal(f)[0] > 0.5"], links: ["|f| > 0.# ? B : A", "A ? B : A"], around: ["", "Output(\"r\", SumReduce(A ? 1 : (B ? 2 : 3)))"] },
    Chains { name: "vectors on faces", first: ["Normal(f)", "Centroid(f)"], links: ["|f| > 0.# ? B : A", "Normal(f)[0] > 0.# ? A : B"], around: ["", "Output(\"r\", SumReduce(Dot(A, B)))"] },
    Chains { name: "calls", first: ["u On FirstCell(f)", "u On SecondCell(f)"], links: ["larger(A, B)", "larger(B, A)"], around: ["larger(a, b) = {\n-> (a > b ? a : b) + 0.1 * (a < 0.5 ? b : a)\n}", SUM_OF_FACES] },
];

/// The program with so many links.
fn program(chains: &Chains, links: usize) -> String {
    let between = |text: &str, before: usize| text.replace('A', &format!("a{before}")).replace('B', &format!("b{before}"));
    // Names of the language begin with capitals, too.
    let named = |text: &str, before: usize| {
        let words = text.split_inclusive(|c: char| !c.is_alphanumeric());
        words
            .map(
                |word| {
                    if word.trim_end_matches(|c: char| !c.is_alphanumeric()).len() == 1 { between(word, before) } else { word.to_owned() }
                },
            )
            .collect::<String>()
    };
    let [before, after] = chains.around;
    let mut text = format!("# dimensions: ignore\nf = InteriorFaces()\nu = InputCollectionOfScalar(\"u\", AllCells())\n{before}\n");
    let _ = writeln!(text, "a0 = {}\nb0 = {}", chains.first[0], chains.first[1]);
    for link in 1..=links {
        let [a, b] = chains.links.map(|text| named(&text.replace('#', &format!("{link:03}")), link - 1));
        let _ = writeln!(text, "a{link} = {a}\nb{link} = {b}");
    }
    let _ = writeln!(text, "{}", named(after, links));
    text
}

fn optimised(chains: &Chains, links: usize) -> Module {
    let text = program(chains, links);
    let checked = check_text(&text, &CheckOptions::default());
    let typed = checked.program.unwrap_or_else(|| panic!("{}: {:?}\n{text}", chains.name, checked.diagnostics));
    let module = lower(&typed, &SourceMap::new("chains.equelle", text.as_str()), "chains");
    let (module, notes) = optimise_by(module, &Options { level: OptLevel::O2, ..Options::default() }, &mut |_, _| {});
    let _ = Report::of(&module, &notes);
    assert!(verify(module.clone()).is_ok(), "{}", chains.name);
    module
}

/// Statements, expressions and paths of all kernels.
fn nodes(module: &Module) -> usize {
    let mut count = 0;
    for kernel in &module.kernels {
        let cartesian = kernel.cartesian.iter().map(|form| match form {
            CartesianForm::Full(block) | CartesianForm::PerAxis(block) => block,
        });
        let jacobian = kernel.jacobian.iter().flat_map(|form| [&form.body].into_iter().chain(&form.cartesian));
        [&kernel.body].into_iter().chain(cartesian).chain(jacobian).for_each(|block| visit_block(block, &mut |_| count += 1));
    }
    count
}

#[test]
fn kernels_grow_with_the_text_of_nested_choices() {
    for chains in &CHAINS {
        let count = nodes(&optimised(chains, 60));
        // At most 42 for each of the 120 links are needed; copies at each use would be 2^60.
        assert!(count < 120 * 60, "{}: {count}", chains.name);
    }
}

/// As [`kernels_grow_with_the_text_of_nested_choices`], with longer chains and their times.
#[test]
#[ignore = "takes long: .ci/run asks for it"]
fn long_chains_of_choices_take_no_time_to_speak_of() {
    for chains in &CHAINS {
        let start = Instant::now();
        let count = nodes(&optimised(chains, 200));
        assert!(count < 400 * 60, "{}: {count}", chains.name);
        // A few seconds in a build without optimisation.
        assert!(start.elapsed() < Duration::from_secs(60), "{}: {:?}", chains.name, start.elapsed());
    }
}
