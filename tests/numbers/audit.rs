//! Audits: the balances that a run tells, against sums of its outputs, by the interpreter.

pub mod support;

use support::{audited, first, last, names, near, number};

const GRID: [&str; 6] = ["nx=9", "ny=7", "dx=0.5", "dy=0.25", "output_to_file=false", "u0_expression=1+0.3*x+0.7*y*x"];

/// The same closed heat flow in other words: each is found, and nothing is lost.
#[test]
fn closed_heat_flow_in_any_words_keeps_its_content() {
    let updates = [
        "u = u - dt / |AllCells()| * Divergence(-0.1 * Gradient(u))",
        "u = u + (dt * Divergence(0.1 * Gradient(u))) / |AllCells()|",
        "volume = |AllCells()|\n rate = -(1 / volume) * Divergence(-0.1 * Gradient(u))\n u = dt * rate + u",
        "q = -0.1 * Gradient(u)\n u = u - FaceSum(q, -q) * dt / |AllCells()|",
        "step(v, h) = { -> v - 0.1 * h / |AllCells()| * Divergence(-Gradient(v)) }\n a = step(u, dt)\n u = 0.5 * u + 0.5 * step(a, dt)",
        "old : Mutable Collection Of Scalar On AllCells()\n old = u\n u = u - dt / |AllCells()| * Divergence(-0.1 * Gradient(u))\n \
         u = 0.5 * (old + u - dt / |AllCells()| * Divergence(-0.1 * Gradient(u)))",
        "residual(v) = { -> v - u + dt / |AllCells()| * Divergence(-0.1 * Gradient(v)) }\n u = NewtonSolve(residual, u)",
        "residual(v) = { -> (v - u) * |AllCells()| / dt - Divergence(0.1 * Gradient(v)) }\n u = NewtonSolve(residual, u)",
    ];
    for update in updates {
        let text = format!(
            "u0 = InputCollectionOfScalar(\"u0\", AllCells())\nu : Mutable Collection Of Scalar On AllCells()\nu = u0\n\
             Output(\"u\", u)\nFor dt In InputSequenceOfScalar(\"steps\") {{\n {update}\n Output(\"u\", u)\n}}\n"
        );
        for (events, printed) in audited(&text, &[&GRID[..], &["steps=8*0.02"]].concat()) {
            assert_eq!(names(&events), ["u"], "{update}");
            let event = &events[0];
            let content = number(event, "content");
            // The widths are powers of two: the volume is 0.125.
            near(content, 0.125 * last(&printed, "u").iter().sum::<f64>(), content);
            assert!(number(event, "rest").abs() < 1e-13 * content, "{update}: {event}");
            assert_eq!((number(event, "boundary"), number(event, "sources"), event["step"].as_u64()), (0.0, 0.0, Some(8)), "{update}");
            assert_ne!(first(&printed, "u"), last(&printed, "u"));
        }
    }
}

/// Heat that comes in at a side and from a source, with a capacity: against sums of the outputs.
#[test]
fn boundaries_and_sources_are_told_apart() {
    let text = r#"
u0 = InputCollectionOfScalar("u0", AllCells())
cv = InputScalarWithDefault("cv", 3)
u : Mutable Collection Of Scalar On AllCells()
u = u0
Output("u", u)
For dt In InputSequenceOfScalar("steps") {
    wall = 0.25 * OutwardSign(BoundaryFaces()) * (Centroid(BoundaryFaces())[0] - 1)
    flux = (-Gradient(u) Extend AllFaces()) + (wall Extend AllFaces())
    u = u + dt / (cv * |AllCells()|) * (2 * u * |AllCells()| - Divergence(flux))
    Output("in", SumReduce(-wall * OutwardSign(BoundaryFaces())))
    Output("u", u)
}
"#;
    for (events, printed) in audited(text, &[&GRID[..], &["steps=6*0.01"]].concat()) {
        assert_eq!(names(&events), ["u"]);
        let fields: Vec<Vec<f64>> = printed.lines().filter(|line| line.starts_with("u = ")).map(|line| last(line, "u")).collect();
        let content: Vec<f64> = fields.iter().map(|field| 3.0 * 0.125 * field.iter().sum::<f64>()).collect();
        let boundary: f64 = printed.lines().filter(|line| line.starts_with("in = ")).map(|line| 0.01 * last(line, "in")[0]).sum();
        let sources: f64 = fields[..6].iter().map(|field| 0.01 * 2.0 * 0.125 * field.iter().sum::<f64>()).sum();
        let event = &events[0];
        let scale = content[6];
        near(number(event, "content"), scale, scale);
        near(number(event, "change"), content[6] - content[0], scale);
        near(number(event, "boundary"), boundary, scale);
        near(number(event, "sources"), sources, scale);
        assert!(boundary.abs() > 1e-3 && sources > 1e-3, "{boundary} {sources}");
        assert!(number(event, "rest").abs() < 1e-13 * scale, "{event}");
    }
}

/// An assignment that cuts values off is neither a flux nor a source: it is the rest.
#[test]
fn what_a_program_cuts_off_is_the_rest() {
    let text = r#"
u0 = InputCollectionOfScalar("u0", AllCells())
u : Mutable Collection Of Scalar On AllCells()
u = u0
Output("u", u)
For dt In InputSequenceOfScalar("steps") {
    u = u - dt / |AllCells()| * Divergence(-0.1 * Gradient(u))
    u = u < 2 ? u : (2 Extend AllCells())
    Output("u", u)
}
"#;
    for (events, printed) in audited(text, &[&GRID[..], &["steps=6*0.01"]].concat()) {
        let lost = 0.125 * (last(&printed, "u").iter().sum::<f64>() - first(&printed, "u").iter().sum::<f64>());
        assert!(lost < -1e-3);
        near(number(&events[0], "rest"), lost, 10.0);
    }
}

/// Loops in loops, and a variable that is not conserved.
#[test]
fn inner_loops_have_balances_and_other_updates_none() {
    let text = r#"
u0 = InputCollectionOfScalar("u0", AllCells())
u : Mutable Collection Of Scalar On AllCells()
w : Mutable Collection Of Scalar On AllCells()
u = u0
w = u0
steps = InputSequenceOfScalar("steps")
For dt In steps {
    For h In steps {
        u = u - h / |AllCells()| * Divergence(-0.1 * Gradient(u))
    }
    w = w * (1 + dt)
}
Output("u", u)
"#;
    for (events, printed) in audited(text, &[&GRID[..], &["steps=3*0.01"]].concat()) {
        assert_eq!(names(&events), ["u"]);
        let content = number(&events[0], "content");
        near(content, 0.125 * last(&printed, "u").iter().sum::<f64>(), content);
        assert!(number(&events[0], "rest").abs() < 1e-13 * content);
    }
}

fn example(name: &str) -> (String, String) {
    let folder = format!("{}/examples/{name}", env!("CARGO_MANIFEST_DIR"));
    (std::fs::read_to_string(format!("{folder}/{name}.equelle")).expect("a program"), format!("{folder}/case.param"))
}

/// Water and oil with wells, solved together: against the saturation that is put out.
#[test]
fn water_and_oil_of_two_phase_flow() {
    let (text, case) = example("two_phase_conservation");
    for (events, printed) in audited(&text, &[&case, "output_to_file=false"]) {
        assert_eq!(names(&events), ["s0 in oil_balance", "s0 in water_balance"]);
        let saturation = last(&printed, "saturation").iter().sum::<f64>() - first(&printed, "saturation").iter().sum::<f64>();
        // The pore volume of a cell of the case follows from the content.
        let pores = number(&events[1], "content") / last(&printed, "saturation").iter().sum::<f64>();
        let water = pores * saturation;
        near(number(&events[1], "change"), water, 10.0 * water);
        near(number(&events[0], "change"), -water, 10.0 * water);
        // The rest is the residual of the solve.
        assert!(events.iter().all(|event| number(event, "rest").abs() < 1e-10 * water), "{events:?}");
    }
}

/// The mass of shallow water between walls, of second order in time, with its momentum.
#[test]
fn the_mass_of_shallow_water() {
    let (text, case) = example("shallow_water");
    let folder = tempfile::tempdir().expect("a folder");
    let dir = format!("output_dir={}", folder.path().display());
    for (events, _) in audited(&text, &[&case, "timesteps=3*0.05", "output_to_file=true", &dir]) {
        assert_eq!(names(&events), ["q_0", "q_1", "q_2"]);
        let mass = number(&events[0], "content");
        assert!(mass > 0.0 && number(&events[0], "rest").abs() < 1e-13 * mass);
        assert_eq!(number(&events[0], "boundary"), 0.0);
        let scale = number(&events[1], "change").abs();
        assert!(scale > 0.0 && number(&events[1], "rest").abs() < 1e-11 * scale, "{}", events[1]);
    }
}

/// A step that is taken in parts has the balance of all of them.
#[test]
fn steps_in_parts_are_audited_as_a_whole() {
    let text = r#"
u0 = InputCollectionOfScalar("u0", AllCells())
u : Mutable Collection Of Scalar On AllCells()
u = u0
Output("u", u)
For dt In InputSequenceOfScalar("steps") {
    residual(v) = { -> v - u - dt * (1 Extend AllCells()) + dt / |AllCells()| * Divergence(-Gradient(v)) + (dt > 0.3 ? 1 : 0) * (v * v + 100) }
    u = NewtonSolve(residual, u)
    Output("u", u)
}
"#;
    for (events, printed) in audited(text, &[&GRID[..], &["steps=2*0.5", "timestep_cuts=3"]].concat()) {
        let fields = [first(&printed, "u"), last(&printed, "u")].map(|field| 0.125 * field.iter().sum::<f64>());
        near(number(&events[0], "change"), fields[1] - fields[0], 100.0);
        // 63 cells of 0.125 for a time of 1; the solves leave 1e-10 or so.
        assert!((number(&events[0], "sources") - 63.0 * 0.125).abs() < 1e-9, "{}", events[0]);
    }
}
