//! Exchanges for ranks, text to text: `tests/passes/halo/<case>.eqir` must give `<case>.out`, which
//! begins with the layers of the halo and the exchanges. `EQUELLE_BLESS=1` rewrites the outputs.

use std::path::{Path, PathBuf};

use equelle_front::ir::{self, Module};
use equelle_front::passes::halo::{HaloLayers, HaloRefusal};
use equelle_front::passes::{OptLevel, for_ranks, optimise};
use equelle_front::source::SourceMap;
use equelle_front::{check, lower, syntax, verify};

/// The answer of the pass as comments of the IR.
fn heading(found: &Result<HaloLayers, HaloRefusal>) -> String {
    match found {
        Ok(halo) => {
            let mut text = format!("; layers {}\n", halo.layers);
            for exchange in &halo.exchanges {
                let when = if exchange.rounds.is_some() { "in each round" } else { "once" };
                text += &format!("; `{}` to depth {} {when}\n", exchange.name, exchange.depth);
            }
            for unknown in &halo.unknowns {
                text += &format!("; unknown `{}` to depth {} before each evaluation\n", unknown.name, unknown.depth);
            }
            text
        }
        Err(refusal) => format!("; refused at {}..{}: {}\n", refusal.span.start, refusal.span.end, refusal.construct),
    }
}

fn parse(text: &str) -> Module {
    let module = ir::text::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify::verify(module).unwrap_or_else(|e| panic!("{e:?}\n{text}")).into_module()
}

#[test]
fn programs_for_ranks_have_the_expected_text() {
    let bless = std::env::var_os("EQUELLE_BLESS").is_some();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes/halo");
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut inputs: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "eqir")).collect();
    inputs.sort();
    assert!(inputs.len() >= 14, "only {} cases found", inputs.len());
    for input in inputs {
        let mut module = parse(&std::fs::read_to_string(&input).unwrap());
        let found = for_ranks(&mut module);
        let mut printed = heading(&found);
        if let Ok(halo) = found {
            let text = ir::text::print(&module);
            let again = parse(&text);
            assert_eq!(ir::text::print(&again), text, "{}", input.display());
            verify::halo::check(&module, halo.layers).unwrap_or_else(|e| panic!("{}: {e:?}\n{text}", input.display()));
            printed += &text;
        }
        let output = input.with_extension("out");
        if bless {
            std::fs::write(&output, &printed).unwrap();
        } else {
            assert_eq!(printed, std::fs::read_to_string(&output).unwrap_or_default(), "{}", input.display());
        }
    }
}

fn compile(text: &str, level: OptLevel) -> Module {
    let parsed = syntax::parse(text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let checked = check::check(&parsed.program, &check::CheckOptions { nondimensional: true });
    let typed = checked.program.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    optimise(lower::lower(&typed, &SourceMap::new("program.equelle", text), "program"), level)
}

/// Explicit heat, as in `examples/heat_explicit_2d`.
const HEAT: &str = include_str!("../passes/heat_explicit.equelle");

#[test]
fn explicit_heat_exchanges_its_temperature_once_a_round() {
    for level in [OptLevel::O0, OptLevel::O2] {
        let mut module = compile(HEAT, level);
        let halo = for_ranks(&mut module).unwrap_or_else(|e| panic!("{level:?}: {e:?}"));
        assert_eq!(halo.layers, 1, "{level:?}");
        let exchanges: Vec<(&str, u32, bool)> = halo.exchanges.iter().map(|e| (e.name.as_str(), e.depth, e.rounds.is_some())).collect();
        assert_eq!(exchanges, [("u", 1, true)], "{level:?}\n{}", ir::text::print(&module));
        assert!(module.main.body.statements.len() > 3, "calls are inlined");
        assert!(verify::halo::check(&module, 1).is_ok(), "{level:?}");
        let errors = verify::halo::check(&module, 0).expect_err("no halo is too little");
        assert!(!errors.is_empty());
    }
}

/// A residual that is a kernel, functions of operations, and a variable that residuals assign.
#[test]
fn solves_exchange_their_unknowns_and_read_what_is_right() {
    let implicit = include_str!("../programs/heat_implicit.equelle");
    // The variable has a gradient that leads one layer further in each evaluation but for
    // exchanges.
    let carrying = "u0 = InputCollectionOfScalar(\"u\", AllCells())\n\
        k : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar(\"k\", AllCells())\n\
        residual : Function(u : Collection Of Scalar On AllCells()) -> Collection Of Scalar On AllCells()\n\
        residual(u) = {\n    flux = -Gradient(u) * (k On FirstCell(InteriorFaces()))\n    k = u * 0.5\n\
            -> u - u0 + Divergence(flux)\n}\nu = NewtonSolve(residual, u0)\nOutput(\"u\", u)\nOutput(\"k\", k)\n";
    for (program, unknowns) in [(implicit, 1), (carrying, 1)] {
        for level in [OptLevel::O0, OptLevel::O2] {
            let mut module = compile(program, level);
            let halo = for_ranks(&mut module).unwrap_or_else(|e| panic!("{level:?}: {e:?}"));
            assert_eq!((halo.layers, halo.unknowns.len()), (1, unknowns), "{level:?}\n{}", ir::text::print(&module));
            assert_eq!(halo.unknowns[0].depth, 1);
            let module = verify::verify(module).unwrap_or_else(|e| panic!("{level:?}: {e:?}")).into_module();
            verify::halo::check(&module, 1).unwrap_or_else(|e| panic!("{level:?}: {e:?}\n{}", ir::text::print(&module)));
            assert!(verify::halo::check(&module, 0).is_err(), "{level:?}: no halo is too little");
        }
    }
}

#[test]
fn stale_reads_are_noticed_by_the_verifier() {
    let stale = compile(HEAT, OptLevel::O2);
    let errors = verify::halo::check(&stale, 1).expect_err("nothing is exchanged");
    assert!(errors[0].message.contains("is read at layer 1 of the halo and is right up to layer 0"), "{}", errors[0].message);
}

#[test]
fn an_exchange_is_of_values_on_a_set_and_has_a_layer() {
    let errors = |statement: &str| -> Vec<String> {
        let text = format!(
            "module m main {{ %t: Text = \"u\" %n: Scalar = 1.0 %cells: Domain AllCells() = AllCells() \
             %u: Scalar On AllCells() = InputCollection(%t, %cells) {statement} }}"
        );
        let module = ir::text::parse(&text).unwrap_or_else(|e| panic!("{e}"));
        verify::verify(module).map_or_else(|errors| errors.into_iter().map(|e| e.message).collect(), |_| Vec::new())
    };
    assert_eq!(errors("exchange(%u, 1)"), Vec::<String>::new());
    assert_eq!(errors("%v: Scalar On AllCells() = exchange(%u, 1)"), ["1 results are assigned, but there are 0"]);
    assert_eq!(errors("exchange(%u, 0)"), ["an exchange has a layer at least"]);
    let of = |shown: &str| format!("an exchange is of a collection of Scalars, Vectors or Bools, not of {shown}");
    assert_eq!(errors("exchange(%n, 1)"), [of("Scalar")]);
    assert_eq!(errors("exchange(%cells, 1)"), [of("Domain AllCells()")]);
    let cells = "%c: Cell On AllCells() In AllCells() = Shift(%cells, 1, 0, 0, wrap, wrap, never, never, never, never)";
    let found = errors(&format!("{cells} exchange(%c, 1)"));
    assert!(found.contains(&of("Cell On AllCells() In AllCells()")), "{found:?}");
}

#[test]
fn a_set_and_an_exchange_deeper_than_the_halo_are_noticed() {
    let text = "module m main {
          %t: Text = \"u\"
          %cells: Domain AllCells() = AllCells()
          %walls: Domain BoundaryFaces() = BoundaryFaces()
          %u: Scalar On AllCells() = InputCollection(%t, %cells)
          %q: Scalar On BoundaryFaces() = InputCollection(%t, %walls)
          exchange(%u, 2)
          exchange(%q, 2)
          Output(%t, %u)
          Output(%t, %q)
        }";
    let module = parse(text);
    let messages =
        |layers| verify::halo::check(&module, layers).map_or_else(|e| e.into_iter().map(|e| e.message).collect(), |_| Vec::new());
    let deep = "an exchange of 2 layers is deeper than what ranks have";
    assert_eq!(messages(1), [deep, deep]);
    assert_eq!(messages(2), [deep], "of boundary faces the last layer is not known");
    assert_eq!(messages(3), Vec::<String>::new());
}
