//! Derivatives of random residuals: by kernels and by sparse matrices, the same to round-off.

use std::path::Path;

use equelle_front::backend::visit::{Node, visit_block};
use equelle_front::ir::{self, KBlock, KStmt};
use equelle_front::passes::differentiate;
use equelle_front::verify::verify;
use equelle_interp::{Derivatives, Options};
use equelle_random::compare::{compile, has_cells, run};
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
        if equations > 0 {
            let fits = |fixture: &&Fixture| compiled.structure.as_ref().is_none_or(|structure| has_cells(fixture, structure));
            let suitable: Vec<&Fixture> = grids(&random, &fixtures).filter(fits).collect();
            let fixture = suitable[seed as usize % suitable.len()];
            let options = Options { cartesian_forms: !fixture.unstructured, derivatives: Derivatives::Both };
            let outcome = run(&module, compiled.runnable, fixture, options);
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

/// Whether derivatives ask which face an extreme is of.
fn names_faces(body: &KBlock) -> bool {
    let mut found = false;
    visit_block(body, &mut |node| {
        found |= matches!(node, Node::Stmt(KStmt::ReduceFaces { extreme_faces, .. }) if !extreme_faces.is_empty());
    });
    found
}
