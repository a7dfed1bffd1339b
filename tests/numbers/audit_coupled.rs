//! Audits of two quantities, of which one is a source of the other, in many words: against sums of
//! what the programs put out.

use super::audit::support::{audited, first, last, names, near, number};

/// Two quantities on five cells of 0.5 with fluxes inside and through both sides; `w` is a cell.
const HEAD: &str = r#"
u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar("u0", AllCells())
v : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar("v0", AllCells())
on = InputScalarWithDefault("on", 1)
k = InputScalarWithDefault("k", 0.7)
capacity = InputScalarWithDefault("capacity", 3)
halves = InputSequenceOfScalar("halves")
w = |AllCells()|
sides = BoundaryFaces()
net(x, c) = {
    out = OutwardSign(sides) * (c * x On InnerCell(sides))
    -> Divergence((-c * Gradient(x) Extend AllFaces()) + (out Extend AllFaces()))
}
step(x, h) = {
    -> x - h / w * net(x, 0.1)
}
Output("u", u)
Output("v", v)
"#;
const WORDS: [&str; 6] = ["nx=5", "grid_dim=1", "dx=0.5", "u0_expression=1+0.3*x", "v0_expression=2-x*x/9", "output_to_file=false"];

/// How `u` is updated: what makes its new value, its assignment, and a value of it that the other
/// quantity may take between the two, or after both.
const FIRST: [(&str, &str, &str); 12] = [
    ("", "u = u - dt / w * net(u, 0.1)", "u"),
    ("n = u - dt / w * net(u, 0.1)", "u = n", "n"),
    ("m = capacity * w * u - capacity * dt * net(u, 0.1)", "u = m / (capacity * w)", "m / (capacity * w)"),
    ("n : Mutable Collection Of Scalar On AllCells() = step(u, dt)", "u = n", "n"),
    // Half a step, whose flux alone reaches `u`.
    ("n = step(u, 0.5 * dt)", "u = u - dt / w * net(n, 0.1)", "n"),
    ("n = step(u, dt)", "u = 0.5 * u + 0.5 * step(n, dt)", "n"),
    ("n = step(step(u, dt), dt)", "u = n", "step(n, dt)"),
    ("n = step(u, dt)", "u = on > 0 ? n : u", "n"),
    ("n = on > 0 ? step(u, dt) : u", "u = n", "n"),
    ("r(y) = { -> (y - u) * w / dt + net(y, 0.1) }\n    n = NewtonSolve(r, u)", "u = n", "n"),
    ("n = step(u, dt)\n    r(y) = { -> (y - n) * w / dt + net(y, 0.1) }", "u = NewtonSolve(r, u)", "n"),
    ("", "For h In halves {\n        u = step(u, h)\n    }", "u"),
];

/// How `v` is updated, with `s` as its source per time.
const SECOND: [&str; 6] = [
    "v = v - dt / w * net(v, 0.2) + dt * s",
    "v = v + dt * (s - net(v, 0.2) / w)",
    "v = v - dt / w * net(v, 0.2)\n    v = v + dt * s",
    "c = v - dt / w * net(v, 0.2) + dt * s\n    v = 0.5 * v + 0.5 * (c - dt / w * net(c, 0.2) + dt * s)",
    "q(y) = { -> y - v + dt / w * net(y, 0.2) - dt * s }\n    v = NewtonSolve(q, v)",
    "For h In halves {\n        v = v - h / w * net(v, 0.2) + h * s\n    }",
];

/// Where `v` stands, and which value of `u` it takes.
const PLACES: [&str; 4] = ["before", "between", "after, of a name", "after, of the variable"];

#[test]
fn what_another_quantity_gives_is_a_source() {
    let source = ["k * (VALUE)", "VALUE", "(VALUE) / capacity", "0.5 * (VALUE) + k"];
    let mut seen = 0;
    for (n, (make, assign, value)) in FIRST.iter().enumerate() {
        for (m, second) in SECOND.iter().enumerate() {
            for (place, place_name) in PLACES.iter().enumerate() {
                let s = source[(n + m + place) % source.len()];
                let second = |value: &str| format!("s = {}\n    {second}\n    Output(\"s\", s)", s.replace("VALUE", value));
                let round = match place {
                    0 => format!("{}\n    {make}\n    {assign}", second("u")),
                    1 => format!("{make}\n    {}\n    {assign}", second(value)),
                    2 => format!("{make}\n    {assign}\n    {}", second(value)),
                    _ => format!("{make}\n    {assign}\n    {}", second("u")),
                };
                let text = format!(
                    "{HEAD}For dt In InputSequenceOfScalar(\"steps\") {{\n    {round}\n    Output(\"u\", u)\n    Output(\"v\", v)\n}}\n"
                );
                // Newton's method leaves a residual, of each round.
                let tolerance = if text.contains("NewtonSolve") { 1e-9 } else { 1e-13 };
                let what = format!("`u` {n}, `v` {m}, {place_name}:\n{text}");
                for (events, printed) in audited(&text, &[&WORDS[..], &["steps=3*0.2", "halves=2*0.1"]].concat()) {
                    let event = |name: &str| events.iter().find(|event| event["quantity"] == name);
                    let content = |field: Vec<f64>| 0.5 * field.iter().sum::<f64>();
                    let change = |name: &str| content(last(&printed, name)) - content(first(&printed, name));
                    let fields = printed.lines().filter(|line| line.starts_with("s = ")).map(|line| content(last(line, "s")));
                    let sources = 0.2 * fields.sum::<f64>();
                    let of_v = event("v").unwrap_or_else(|| panic!("{:?} of {what}", names(&events)));
                    let close = |found: f64, expected: f64| {
                        assert!((found - expected).abs() <= tolerance * 10.0, "{found}, not {expected}: {what}{of_v}")
                    };
                    close(number(of_v, "content"), content(last(&printed, "v")));
                    close(number(of_v, "sources"), sources);
                    close(number(of_v, "boundary"), change("v") - sources);
                    assert!(number(of_v, "rest").abs() < tolerance * 10.0, "{what}{of_v}");
                    // A choice is an assignment of another form.
                    if !round.contains("on > 0") {
                        let of_u = event("u").unwrap_or_else(|| panic!("{:?} of {what}", names(&events)));
                        close(number(of_u, "boundary"), change("u"));
                        close(number(of_u, "sources"), 0.0);
                    }
                    seen += 1;
                }
            }
        }
    }
    assert_eq!(seen, 2 * FIRST.len() * SECOND.len() * PLACES.len());
}

/// Two cells of 1 with 1 in both, of `u` a tenth flows out: by hand.
#[test]
fn sums_of_two_cells_by_hand() {
    let head = "u : Mutable Collection Of Scalar On AllCells() = 1 Extend AllCells()\n\
                v : Mutable Collection Of Scalar On AllCells() = 1 Extend AllCells()\nb = BoundaryFaces()\nw = |AllCells()|\n\
                out(x) = { -> Divergence((OutwardSign(b) * (x On InnerCell(b))) Extend AllFaces()) }\nd(x) = { -> Divergence(-Gradient(x)) }\n";
    // Boundary and sources of `v`.
    let rounds = [
        ("u = u - dt / w * out(u)\n v = v - dt / w * d(v) + dt * u", 0.0, 0.1 * 1.8),
        // The outflow of the first is the inflow of the second: a flux of both.
        ("f = out(u) / w\n v = v + dt * f\n u = u - dt * f", 0.2, 0.0),
        // A flux of its own beside a multiple of the other, which is no stage.
        ("rate = u - out(v) / w\n v = v + dt * rate\n u = u - dt / w * d(u)", -0.2, 0.2),
        ("rate = 2 * u - out(v) / w\n v = v + 0.1 * rate\n u = u - 0.1 / w * out(u) + 0 * dt * u", -0.2, 0.4),
        // A variable that is not conserved is a source too, as it is after the round.
        ("u = u * (1 - dt)\n v = v - dt / w * out(v) + dt * u", -0.2, 0.1 * 1.8),
        ("u = u * (1 - dt)\n For h In hs {\n v = v - h / w * out(v) + h * u\n }", -0.2, 0.1 * 1.8),
    ];
    for (round, boundary, sources) in rounds {
        let text = format!("hs = InputSequenceOfScalar(\"steps\")\n{head}For dt In InputSequenceOfScalar(\"steps\") {{\n {round}\n}}\n");
        for (events, _) in audited(&text, &["grid_dim=1", "nx=2", "steps=0.1"]) {
            let event = events.iter().find(|event| event["quantity"] == "v").unwrap_or_else(|| panic!("{round}: {events:?}"));
            near(number(event, "boundary"), boundary, 10.0);
            near(number(event, "sources"), sources, 10.0);
        }
    }
}
