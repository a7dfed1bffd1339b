//! Derivatives of random residuals: by kernels and by sparse matrices, the same to round-off.

use std::path::Path;

use equelle_front::backend::visit::{Node, visit_block};
use equelle_front::ir::{self, KBlock, KStmt};
use equelle_front::ops::Elementary;
use equelle_front::passes::differentiate;
use equelle_front::verify::verify;
use equelle_interp::{Derivatives, Options};
use equelle_random::compare::{compile, fits, run};
use equelle_random::data::{Fixture, Fixtures, grids};
use equelle_random::generate::{Purpose, program};

/// Residuals that must have been compared, and those among them with an extreme over faces.
const RESIDUALS: usize = 500;
const EXTREMES: usize = 12;
/// Those with derivatives by cells at an offset.
const BY_INDEX: usize = 40;
const SEED: u64 = 700_000;

/// At every evaluation the interpreter compares residuals and derivatives of both ways. The
/// residuals need not be solvable, so how a solve ends does not matter.
#[test]
fn both_ways_give_the_same() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("random-residuals");
    let triangles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../grids/triangles-6x5.grid");
    let fixtures = Fixtures::write(&folder, &triangles).expect("the target folder can be written");
    let (mut compared, mut extremes, mut by_index, mut untreated) = (0, 0, 0, 0);
    let mut failures = Vec::new();
    let mut seed = SEED;
    while (compared < RESIDUALS || extremes < EXTREMES || by_index < BY_INDEX) && failures.len() < 5 {
        assert!(
            seed < SEED + 20 * RESIDUALS as u64,
            "only {compared} residuals have kernels, {extremes} an extreme, {by_index} reads by index, {untreated} solves have none"
        );
        let random = program(seed, Purpose::Derivatives, &fixtures.ranges);
        let text = random.text();
        let compiled = compile(&text, random.units).unwrap_or_else(|f| panic!("seed {seed}: {}\n{text}", f.text));
        // The residuals stay beside the kernels that are made of them.
        let before = compiled.passes.iter().take_while(|(name, _)| name != "differentiate").last();
        let mut module = before.map_or(&compiled.plain, |(_, module)| module).module().clone();
        untreated += differentiate(&mut module).len();
        let module = verify(module).unwrap_or_else(|errors| panic!("seed {seed}: {errors:?}\n{text}"));
        let equations = module.module().kernels.iter().filter(|k| k.jacobian.is_some()).count();
        let adds_at_offset = |body: &KBlock| {
            let mut found = false;
            visit_block(body, &mut |node| found |= matches!(node, Node::Stmt(KStmt::Add { at: ir::Path::Offset { .. }, .. })));
            found
        };
        let reads_around =
            module.module().kernels.iter().filter(|k| k.jacobian.as_ref().is_some_and(|form| adds_at_offset(&form.body))).count();
        let follows_extreme =
            module.module().kernels.iter().filter(|k| k.jacobian.as_ref().is_some_and(|form| names_faces(&form.body))).count();
        let suitable: Vec<&Fixture> = grids(&random, &fixtures).filter(|fixture| fits(fixture, &compiled)).collect();
        // Some reach farther than any grid has cells.
        if equations > 0 && !suitable.is_empty() {
            let fixture = suitable[seed as usize % suitable.len()];
            let options = Options { cartesian_forms: !fixture.unstructured, derivatives: Derivatives::Both, ..Options::default() };
            let outcome = run(&module, &compiled.runnable, fixture, options);
            match outcome.error {
                Some(error) if error.kind == "Backend" => {
                    failures.push(format!("seed {seed} on the grid {}: {error}\n{text}", fixture.name));
                }
                Some(_) | None => {
                    compared += equations;
                    extremes += follows_extreme;
                    by_index += reads_around;
                }
            }
        }
        seed += 1;
    }
    assert!(failures.is_empty(), "{} of {compared} residuals\n{}", failures.len(), failures.join("\n"));
}

/// Terms that depend on the unknown `u`, from 0.5 to 2, each for one rule of the pass. `c` is a
/// constant from 1 to 3, `v` a Vector that depends on `u`, `w` one that does not, `q` is on faces.
/// A solve divides by the derivative, which none of them has zero everywhere.
const RULES: [&str; 34] = [
    "-(u * u * u)",
    "(c / u) / (u + c)",
    "u * u / c",
    "Abs((u - c) * u)",
    "Sqrt(u) / u",
    "Exp(-u) * u",
    "Log(u + c)",
    "Cos(u * u)",
    "ATan(u * u)",
    "ATan2(u, c)",
    "ATan2(c, u)",
    "ATan2(u * u, c - u)",
    "u ^ 0 + u",
    "u ^ 1 * u",
    "u ^ 2",
    "u ^ 3 * c",
    "u ^ 0.5",
    "u ^ (-1.5)",
    "u ^ c",
    "c ^ u",
    "(u * u) ^ u",
    "(u * u) ^ (c - c + u)",
    "Min(u, 1) * u + Max(u * u, c)",
    "((u > 1) ? (u * u) : (c * u)) * u",
    "Interpolate(curve, u) * u + Interpolate(curve, u * u - 1)",
    "Dot(v, w)",
    "Dot(v, v * u)",
    "|v| * u",
    "|v - u * w|",
    "(v * u + w)[0] + (v / u)[0]",
    "(-v)[0] * v[0]",
    "Divergence(q * q)",
    "FaceSum(q, c0) * FaceSum(c0 * q, q * q) + u",
    "FaceMax(q, q * c0, u) * u + FaceMin(c0, q * q, -u)",
];

/// Each rule by itself, and beside another term that reads the same values.
#[test]
fn every_rule_by_itself() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rules-of-residuals");
    let triangles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../grids/triangles-6x5.grid");
    let fixtures = Fixtures::write(&folder, &triangles).expect("the target folder can be written");
    let functions = Elementary::ALL.map(|function| format!("{}({:?} * u) * u", function.name(), function.argument().scale(2.0)));
    for rule in RULES.map(str::to_owned).into_iter().chain(functions) {
        let text = format!(
            "start = InputCollectionOfScalar(\"p_ac\", AllCells())\n\
             c = InputCollectionOfScalar(\"q_ac\", AllCells())\n\
             c0 = InputCollectionOfScalar(\"q_af\", AllFaces())\n\
             curve = InputTable(\"curve\", \"x\", \"y\")\n\
             interior = InteriorFaces()\n\
             residual(u) = {{\n\
             w = Centroid(AllCells())\n\
             v = u * u * w + w / u\n\
             q = (Gradient(u * u) + (u On FirstCell(interior)) * (u On SecondCell(interior))) Extend AllFaces()\n\
             term = {rule}\n\
             -> term * 0.25 + u * c - start\n\
             }}\n\
             Output(\"u\", NewtonSolve(residual, start))\n"
        );
        let compiled = compile(&text, false).unwrap_or_else(|f| panic!("{}\n{text}", f.text));
        let before = compiled.passes.iter().take_while(|(name, _)| name != "differentiate").last();
        for plain in [Some(&compiled.plain), before.map(|(_, module)| module)].into_iter().flatten() {
            let mut module = plain.module().clone();
            let untreated = differentiate(&mut module);
            assert!(untreated.is_empty(), "`{rule}` has no kernel: {untreated:?}");
            let module = verify(module).unwrap_or_else(|errors| panic!("`{rule}`: {errors:?}"));
            for fixture in fixtures.all.iter().filter(|fixture| !fixture.small && fixture.dimensions == 2) {
                let options = Options { cartesian_forms: !fixture.unstructured, derivatives: Derivatives::Both, ..Options::default() };
                let outcome = run(&module, &compiled.runnable, fixture, options);
                let error = outcome.error.filter(|error| error.kind == "Backend");
                assert!(error.is_none(), "`{rule}` on the grid {}: {error:?}", fixture.name);
            }
        }
    }
}

/// True if derivatives ask which face an extreme is of.
fn names_faces(body: &KBlock) -> bool {
    let mut found = false;
    visit_block(body, &mut |node| {
        found |= matches!(node, Node::Stmt(KStmt::ReduceFaces { extreme_faces, .. }) if !extreme_faces.is_empty());
    });
    found
}
