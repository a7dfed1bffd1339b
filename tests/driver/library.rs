//! The texts of the compiler's library, by values worked out by hand.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use equelle_front::check::{CheckOptions, check_text};
use equelle_front::library;
use equelle_front::syntax::{self, ast::StmtKind};

/// Outputs of an interpreted program, by tag.
fn run(text: &str, parameters: &[&str], files: &[(&str, String)]) -> BTreeMap<String, Vec<f64>> {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("writes");
    }
    fs::write(folder.path().join("p.equelle"), text).expect("writes");
    let output = Command::new(env!("CARGO_BIN_EXE_equellec"))
        .current_dir(folder.path())
        .args(["run", "--interpret", "--quiet", "p.equelle", "output_to_file=false"])
        .args(parameters)
        .output()
        .expect("starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut outputs: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut tag = String::new();
    for word in String::from_utf8_lossy(&output.stdout).replace('=', " = ").split_whitespace() {
        match word.parse() {
            Ok(number) => outputs.entry(tag.clone()).or_default().push(number),
            Err(_) if word == "=" => {}
            Err(_) => word.clone_into(&mut tag),
        }
    }
    outputs
}

/// Compares to a few rounding errors of numbers of this size.
fn near(outputs: &BTreeMap<String, Vec<f64>>, tag: &str, expected: &[f64]) {
    let found = &outputs[tag];
    let close = found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-14 * b.abs().max(1.0));
    assert!(close, "{tag}: {found:?}, not {expected:?}");
}

#[test]
fn every_text_is_formatted_and_without_warnings() {
    for name in library::names() {
        let text = library::text(name).expect("a text");
        let parsed = syntax::parse(text);
        assert_eq!(parsed.diagnostics, [], "{name}");
        assert_eq!(syntax::format(&parsed.program, text), text, "{name}");
        let functions = parsed.program.statements.iter().filter_map(|statement| match &statement.kind {
            StmtKind::FunctionDefinition { name, .. } => Some(name.name.as_str()),
            _ => None,
        });
        let functions: Vec<&str> = functions.collect();
        let imported = format!("Import \"{name}\" ({})\n", functions.join(", "));
        let found = check_text(&imported, &CheckOptions::default()).diagnostics;
        let others: Vec<_> = found.iter().filter(|d| d.code.as_str() != "W0104").collect();
        assert!(others.is_empty(), "{name}: {others:?}");
        // Each function has a line in the book.
        let book = include_str!("../../docs/book/src/imports.md");
        for function in functions {
            assert!(book.contains(&format!("`{function}(")), "{name}: {function}");
        }
    }
}

#[test]
fn limiters_take_the_smaller_or_nothing() {
    let found = run(
        r#"Import "equelle:limiters" (minmod, vanleer, superbee, barth_jespersen)
m = 1 [Meter]
Output("minmod", [minmod(m, 2 * m), minmod(-m, 2 * m), minmod(-3 * m, -2 * m)])
Output("vanleer", [vanleer(1, 3), vanleer(0, 0), vanleer(-1, 3), vanleer(-1, -3)])
Output("superbee", [superbee(1, 3), superbee(1, 1.5), superbee(-3, -1), superbee(1, -1)])
x = Centroid(AllCells())[0]
slope = Vector(1, 0) Extend AllCells()
Output("linear", barth_jespersen(x, slope))
Output("steep", barth_jespersen(x, 4 * slope))
Output("even", barth_jespersen(0 * x, 0 * slope / 1 [Meter] * 1 [Meter]))
"#,
        &["nx=3", "ny=1"],
        &[],
    );
    let flat = |tag: &str, n: usize| (0..n).map(|i| found[&format!("{tag}_{i}")][0]).collect::<Vec<f64>>();
    assert_eq!(flat("minmod", 3), [1.0, 0.0, -2.0]);
    // 2ab / (a + b)
    assert_eq!(flat("vanleer", 4), [1.5, 0.0, 0.0, -1.5]);
    assert_eq!(flat("superbee", 4), [2.0, 1.5, -2.0, 0.0]);
    near(&found, "linear", &[1.0; 3]);
    // Four times the slope rises by 2 to a face, and the neighbour is higher by 1.
    near(&found, "steep", &[0.5; 3]);
    near(&found, "even", &[1.0; 3]);
}

#[test]
fn fluxes_through_the_boundary_go_the_right_way() {
    // Cells of 1/4: a face has 1/4 m^2 and is 1/8 m from the middle of its cell. u - value is 2 K.
    let found = run(
        r#"Import "equelle:boundaries" (dirichlet, neumann, robin, transmissibility)
u = (3 [Kelvin]) Extend AllCells()
k = 2 [Watt/(Meter*Kelvin)]
sides = Where(BoundaryFaces(), |Normal(BoundaryFaces())[0]| > 0.5)
Output("dirichlet", Divergence(dirichlet(u, sides, 1 [Kelvin], k) Extend AllFaces()) / 1 [Watt])
Output("neumann", Divergence(neumann(sides, 3 [Watt/Meter^2]) Extend AllFaces()) / 1 [Watt])
Output("robin", Divergence(robin(u, sides, 1 [Kelvin], 4 [Watt/(Meter^2*Kelvin)], k) Extend AllFaces()) / 1 [Watt])
x = Centroid(AllCells())[0]
Output("trans", transmissibility(x > 0.25 [Meter] ? 3 : (1 Extend AllCells())) / 1 [Meter])
"#,
        &["nx=2", "ny=1", "dx=0.25", "dy=0.25"],
        &[],
    );
    near(&found, "dirichlet", &[0.25 * 2.0 * 2.0 / 0.125; 2]);
    near(&found, "neumann", &[-0.75; 2]);
    // Resistances in a row: 1/h and distance/k.
    near(&found, "robin", &[0.25 * 2.0 / (1.0 / 4.0 + 0.125 / 2.0); 2]);
    near(&found, "trans", &[0.25 / (0.125 + 0.125 / 3.0)]);
}

#[test]
fn gradients_of_linear_values_are_exact() {
    let found = run(
        r#"Import "equelle:gradients" (green_gauss, least_squares_2d)
u = 2 * Centroid(AllCells())[0] + 3 * Centroid(AllCells())[1]
Output("least", least_squares_2d(u))
Output("gauss", green_gauss(u) On InteriorCells())
"#,
        &["nx=4", "ny=3", "dx=0.25", "dy=0.5"],
        &[],
    );
    near(&found, "least", &[2.0, 3.0].repeat(12));
    near(&found, "gauss", &[2.0, 3.0].repeat(2));
}

#[test]
fn two_phase_functions_have_their_closed_forms() {
    let found = run(
        r#"Import "equelle:twophase" (corey, van_genuchten_wetting, van_genuchten_nonwetting, van_genuchten_pressure, upwind, fraction)
Output("corey", corey(0.5, 0.1, 0.2, 2, 0.8))
Output("ends", [corey(0.05, 0.1, 0.2, 2, 0.8), corey(0.9, 0.1, 0.2, 2, 0.8)])
Output("wetting", van_genuchten_wetting(0.6, 0.5))
Output("nonwetting", van_genuchten_nonwetting(0.6, 0.5))
Output("pressure", van_genuchten_pressure(0.6, 0.5, 3 [Bar]) / 1 [Bar])
Output("fraction", fraction(1, 3))
x = Centroid(AllCells())[0]
Output("along", upwind(Gradient(x), x))
Output("against", upwind(-Gradient(x), x))
"#,
        &["nx=3", "ny=1"],
        &[],
    );
    // (0.5 - 0.1) / (1 - 0.3) = 4/7
    near(&found, "corey", &[0.8 * (4.0_f64 / 7.0).powi(2)]);
    near(&found, "ends_0", &[0.0]);
    near(&found, "ends_1", &[0.8]);
    // m = 1/2: 1 - s^2 = 0.64, and its root is 0.8.
    near(&found, "wetting", &[0.6_f64.sqrt() * 0.04]);
    near(&found, "nonwetting", &[0.4_f64.sqrt() * 0.64]);
    near(&found, "pressure", &[3.0 * 0.8 / 0.6]);
    near(&found, "fraction", &[0.25]);
    near(&found, "along", &[0.5, 1.5]);
    near(&found, "against", &[1.5, 2.5]);
}

/// How many rounds a loop has, its last step, and the end that it reaches.
fn rounds_of(longest: &str, end: &str, begin: &str) -> [f64; 3] {
    let text = format!(
        "# dimensions: ignore
Import \"equelle:time\" (next_step)
end = {end}
time : Mutable Scalar = {begin}
rounds : Mutable Scalar = 0
dt : Mutable Scalar = 0
While time < end {{
    dt = next_step(time, {longest}, end)
    time = time + dt
    rounds = rounds + 1
}}
Output(\"rounds\", rounds)
Output(\"last\", dt)
Output(\"now\", time)
"
    );
    let found = run(&text, &[], &[]);
    ["rounds", "last", "now"].map(|tag| found[tag][0])
}

/// Whatever sums of rounded steps are, loops have the rounds of exact numbers.
#[test]
fn steps_end_at_the_end_and_none_is_one_of_rounding() {
    for (longest, end, rounds) in [("0.1", 1.0, 10.0), ("0.1", 0.7, 7.0), ("1 / 3", 1.0, 3.0), ("0.01", 4.35, 435.0), ("1.1", 3.3, 3.0)] {
        let [found, last, time] = rounds_of(longest, &end.to_string(), "0");
        assert_eq!((found, time), (rounds, end), "{longest} {end}");
        // Sums of some hundred rounded numbers are off by less than the hundredth part of 1e-9.
        assert!((last * rounds - end).abs() < 1e-9, "{longest} {end}: {last}");
    }
    // A remainder that is no rounding is a step of its own: 1e-11 of the end.
    let [rounds, last, _] = rounds_of("0.1", "1.00000000001", "0");
    assert!(rounds == 11.0 && (last - 1e-11).abs() < 1e-15, "{rounds} {last}");
    // Shorter steps than that do not leave less either.
    assert_eq!(rounds_of("1e-13", "1", "1 - 2.5e-13")[0], 1.0);
    // From 2^-53 to 1 + 2^-52 there is 1, rounded, and 2^-53 + 1 is 1, rounded, short of the end:
    // the step is longer by one rounding.
    assert_eq!(rounds_of("5", "1 + 2^-52", "2^-53"), [1.0, 1.0 + f64::EPSILON, 1.0 + 2.0 * f64::EPSILON]);
    // Times before 0, and an end at 0.
    assert_eq!(rounds_of("0.1", "0", "-0.3"), [3.0, 0.09999999999999998, 0.0]);
    // An infinite step is cut.
    assert_eq!(rounds_of("MaxReduce(1 Extend AllCells()) * 1e308 * 10", "2", "0.5"), [1.0, 1.5, 2.0]);
}

#[test]
fn wells_follow_peaceman_and_their_control() {
    let found = run(
        r#"Import "equelle:wells" (peaceman, at_pressure, at_rate, at_pressure_up_to, source)
k = 1e-13 [Meter^2]
m = 1 [Meter]
Output("index", peaceman(k, k, 10 * m, 10 * m, 5 * m, 0.1 * m) / (k * m))
Output("oblong", peaceman(k, 4 * k, 10 * m, 20 * m, 5 * m, 0.1 * m) / (k * m))
well = Where(AllCells(), Centroid(AllCells())[0] > m)
p = (1e5 [Pascal]) Extend AllCells()
index = 1e-12 [Meter^3] * (Centroid(well)[0] / m)
mobility = 1000 / 1 [Pascal*Second]
rate = 1e-6 [Meter^3/Second]
per = 1e-6 [Meter^3/Second]
Output("free", at_pressure(well, p, index, mobility, 2e5 [Pascal]) / per)
Output("given", at_rate(index, mobility, rate) / per)
Output("limited", at_pressure_up_to(well, p, index, mobility, 2e5 [Pascal], 100 * rate) / per)
Output("producer", at_pressure_up_to(well, p, index, mobility, 0 [Pascal], -1000 * rate) / per)
Output("source", source("rates", at_rate(index, mobility, rate)) / per)
"#,
        &["nx=3", "ny=1"],
        &[],
    );
    // Peaceman's radius of a square is 0.14 sqrt(2) of its diagonal: 0.28 sqrt(dx^2 + dy^2) / 2.
    let square = 0.14 * 200.0_f64.sqrt();
    near(&found, "index", &[10.0 * std::f64::consts::PI / (square / 0.1).ln()]);
    // ky/kx = 4: 0.28 sqrt(2 dx^2 + dy^2 / 2) / (sqrt 2 + 1 / sqrt 2), and sqrt(kx ky) = 2 k.
    let oblong = 0.28 * (200.0_f64 + 200.0).sqrt() / (2.0_f64.sqrt() + 0.5_f64.sqrt());
    near(&found, "oblong", &[20.0 * std::f64::consts::PI / (oblong / 0.1).ln()]);
    // Centroids 1.5 and 2.5: 1e-12 * 1.5 * 1000 * 1e5 m^3/s and so on; shares 3/8 and 5/8.
    near(&found, "free", &[150.0, 250.0]);
    near(&found, "given", &[0.375, 0.625]);
    near(&found, "limited", &[37.5, 62.5]);
    near(&found, "producer", &[-150.0, -250.0]);
    near(&found, "source", &[0.0, 0.375, 0.625]);
    near(&found, "rates", &[0.375e-6, 0.625e-6]);
}

/// Two cells at 1 and 3 bar, index times mobility 1e-9 m^3/(Pa s) and 3e-9, and a well at 2 bar.
#[test]
fn wells_do_not_flow_the_other_way() {
    let found = run(
        r#"Import "equelle:wells" (producer_at_pressure, injector_at_pressure, at_pressure_up_to, at_pressure)
m = 1 [Meter]
p = 1e5 [Pascal] * (2 * Centroid(AllCells())[0] / m)
well = AllCells()
index = 1e-12 [Meter^3] * (2 * Centroid(AllCells())[0] / m)
mobility = 1000 / 1 [Pascal*Second]
per = 1e-6 [Meter^3/Second]
at = 2e5 [Pascal]
Output("both", at_pressure(well, p, index, mobility, at) / per)
Output("producer", producer_at_pressure(well, p, index, mobility, at) / per)
Output("injector", injector_at_pressure(well, p, index, mobility, at) / per)
Output("closed", producer_at_pressure(well, p, index, mobility, 4 [Bar]) / per)
Output("shut", injector_at_pressure(well, p, index, mobility, 1 [Bar]) / per)
Output("out", at_pressure_up_to(well, p, index, mobility, at, -1000 * per) / per)
Output("into", at_pressure_up_to(well, p, index, mobility, at, 1000 * per) / per)
Output("limited", at_pressure_up_to(well, p, index, mobility, at, -100 * per) / per)
Output("none", at_pressure_up_to(well, p, index, mobility, 4 [Bar], -100 * per) / per)
"#,
        &["nx=2", "ny=1"],
        &[],
    );
    // 1e-9 * 1e5 = 1e-4 m^3/s into the first cell, 3e-9 * 1e5 out of the second.
    near(&found, "both", &[100.0, -300.0]);
    near(&found, "producer", &[0.0, -300.0]);
    near(&found, "injector", &[100.0, 0.0]);
    near(&found, "closed", &[0.0, 0.0]);
    near(&found, "shut", &[0.0, 0.0]);
    near(&found, "out", &[0.0, -300.0]);
    near(&found, "into", &[100.0, 0.0]);
    // Shares 1/4 and 3/4.
    near(&found, "limited", &[-25.0, -75.0]);
    near(&found, "none", &[0.0, 0.0]);
}

/// Three cells in a row, a producer in the first one and a supply at 3 bar in the last one, both
/// with resistance 1/2, and 1 between cells: a third of the drop per resistance. A producer above
/// the supply takes nothing, and all cells are at 3 bar. Newton's method finds both from guesses
/// below, at and above the pressure of the well.
#[test]
fn producers_close_in_newtons_method() {
    for guess in ["bhp", "1e5", "3e5", "9e5"] {
        for (bhp, expected) in [(1e5, [4e5 / 3.0, 2e5, 8e5 / 3.0]), (3e5, [3e5; 3]), (5e5, [3e5; 3])] {
            let text = format!(
                r#"# dimensions: ignore
Import "equelle:wells" (producer_at_pressure)
bhp = InputScalarWithDefault("bhp", 1)
well = Where(AllCells(), Centroid(AllCells())[0] < 1)
fed = Where(AllCells(), Centroid(AllCells())[0] > 2)
balance(p) = {{
    taken = producer_at_pressure(well, p, 2, 1, bhp)
    supply = 2 * (3e5 - (p On fed))
    -> Divergence(-Gradient(p)) - (taken Extend AllCells()) - (supply Extend AllCells())
}}
p = NewtonSolve(balance, {guess} Extend AllCells())
Output("p", p / 1e5)
Output("taken", producer_at_pressure(well, p, 2, 1, bhp))
"#
            );
            let found = run(&text, &["nx=3", "ny=1", &format!("bhp={bhp}"), "abs_res_tol=1e-7"], &[]);
            // Residual error of Newton's method, of 1 bar.
            let close = found["p"].iter().zip(expected).all(|(p, expected)| (p - expected / 1e5).abs() < 1e-9);
            assert!(close && found["taken"][0] <= 0.0, "{guess} {bhp}: {found:?}");
        }
    }
}

/// Where nothing can flow there is no rate; a share without flow leaves the others what they are.
#[test]
fn a_rate_where_nothing_flows_is_zero() {
    let text = r#"# dimensions: ignore
Import "equelle:wells" (at_rate, at_pressure_up_to)
well = AllCells()
mobility = InputCollectionOfScalar("mobility", well)
Output("rates", at_rate(2, mobility, 8))
Output("limited", at_pressure_up_to(well, 1 Extend well, 2, mobility, 0, -4))
"#;
    let none = run(text, &["nx=2", "ny=1", "mobility=0"], &[]);
    assert_eq!((&none["rates"], &none["limited"]), (&vec![0.0; 2], &vec![0.0; 2]));
    let one = run(text, &["nx=2", "ny=1", "mobility_expression=x < 1 ? 0 : 4"], &[]);
    assert_eq!((&one["rates"], &one["limited"]), (&vec![0.0, 8.0], &vec![0.0, -4.0]));
}

/// A step of water after a step, as the limit of signals allows.
const LAKE: &str = r#"Import "equelle:shallow" (rate, longest_step)
gravity = 9.81 [Meter/Second^2]
dry = 1e-6 [Meter]
x = Centroid(AllCells())[0]
y = Centroid(AllCells())[1]
# A hill of 1.4 m in water of 1 m.
r = ((x - 5 [Meter])^2 + (y - 4 [Meter])^2) / (9 [Meter^2])
bottom = (1.4 [Meter]) * Max(0, 1 - r)
level = 1 [Meter]
h : Mutable Collection Of Scalar On AllCells()
hu : Mutable Collection Of Scalar On AllCells()
hv : Mutable Collection Of Scalar On AllCells()
h = Max(level - bottom, 0 * bottom)
wet = h > 0 * h
hu = (0 [Meter^2/Second]) Extend AllCells()
hv = hu
For n In InputSequenceOfScalar("rounds") {
    dt = 0.4 * longest_step([h, hu, hv], gravity, dry)
    change = rate([h, hu, hv], bottom, gravity, dry)
    h = h + dt * change[0]
    hu = hu + dt * change[1]
    hv = hv + dt * change[2]
}
Output("surface", MaxReduce(wet ? |h + bottom - level| : 0 * h))
Output("island", MaxReduce(wet ? 0 * h : |h|))
Output("discharge", MaxReduce(|hu| + |hv|))
Output("cells", SumReduce(wet ? 0 : (1 Extend AllCells())))
Output("least", MinReduce(h))
"#;

#[test]
fn a_lake_with_an_island_stays_at_rest() {
    let rounds: String = (1..=1000).map(|round| format!("{round}\n")).collect();
    let found = run(LAKE, &["nx=8", "ny=7", "dx=1.25", "dy=1.25", "rounds_filename=rounds.txt"], &[("rounds.txt", rounds)]);
    // The island is dry, so that this is no lake without a shore.
    assert!(found["cells"][0] > 0.0, "{found:?}");
    assert!(found["surface"][0] <= 1e-13 && found["discharge"][0] <= 1e-12, "{found:?}");
    assert!(found["least"][0] >= 0.0 && found["island"][0] == 0.0, "{found:?}");
}

const DAM: &str = r#"Import "equelle:shallow" (rate, longest_step)
gravity = 9.81 [Meter/Second^2]
dry = 1e-6 [Meter]
x = Centroid(AllCells())[0]
y = Centroid(AllCells())[1]
bottom = (0.2 [Meter]) * Max(0, 1 - ((x - 7 [Meter])^2 + (y - 4 [Meter])^2) / (2 [Meter^2]))
h : Mutable Collection Of Scalar On AllCells()
hu : Mutable Collection Of Scalar On AllCells()
hv : Mutable Collection Of Scalar On AllCells()
least : Mutable Scalar
h = x < 4 [Meter] ? 1 [Meter] : 0 [Meter]
hu = (0 [Meter^2/Second]) Extend AllCells()
hv = hu
least = 0 [Meter]
time : Mutable Scalar
time = 0 [Second]
before = SumReduce(h * |AllCells()|)
For n In InputSequenceOfScalar("rounds") {
    dt = 0.4 * longest_step([h, hu, hv], gravity, dry)
    change = rate([h, hu, hv], bottom, gravity, dry)
    h = h + dt * change[0]
    hu = hu + dt * change[1]
    hv = hv + dt * change[2]
    least = Min(least, MinReduce(h))
    time = time + dt
}
Output("t", time)
Output("lost", SumReduce(h * |AllCells()|) / before - 1)
Output("least", least)
Output("front", SumReduce(x > 9 [Meter] ? h : 0 * h))
Output("most", MaxReduce(h))
Output("speed", MaxReduce(|hu|+|hv|))
"#;

#[test]
fn a_dam_break_on_a_dry_bed_loses_no_water() {
    let rounds: String = (1..=120).map(|round| format!("{round}\n")).collect();
    let found = run(DAM, &["nx=16", "ny=4", "dx=0.625", "dy=2", "rounds_filename=rounds.txt"], &[("rounds.txt", rounds)]);
    assert!(found["lost"][0].abs() <= 1e-12 && found["least"][0] >= 0.0, "{found:?}");
    // The front, at most 2 sqrt(g h) = 6.26 m/s fast, has gone the 5 m over the dry bed.
    assert!(found["t"][0] > 5.0 / 6.26 && found["front"][0] > 0.0, "{found:?}");
}
