//! Equations and unknowns that have nothing to do with each other, and dependences that must not be
//! overlooked.

use equelle_front::check::{CheckOptions, check_text};
use equelle_front::diagnostic::Code;

const PRELUDE: &str = "\
cells = AllCells()
faces = InteriorFaces()
g = InputCollectionOfScalar(\"g\", cells)
one = 1 Extend cells
seq = InputSequenceOfScalar(\"seq\")
";

/// Errors, by the text that they mark, and warnings of dropped derivatives.
fn found(text: &str) -> Vec<(Code, String)> {
    let text = format!("{PRELUDE}{text}\n");
    let checked = check_text(&text, &CheckOptions::default());
    let wanted = checked.diagnostics.iter().filter(|d| d.is_error() || d.code == Code::DroppedDerivative);
    wanted.map(|d| (d.code, text[d.primary.span.range()].to_owned())).collect()
}

/// A solve for one unknown with this body of the residual `r(u)`.
fn solve(body: &str) -> String {
    format!("r(u) = {{\n{body}\n}}\nx = NewtonSolve(r, g)")
}

#[test]
fn a_residual_that_ignores_its_unknown_is_an_error() {
    for body in [
        "-> g - one",
        "v = u\n-> g",
        "v : Mutable Collection Of Scalar On cells = g\nw = u * u\nFor s In seq {\nv = v + s * one\n}\n-> v",
        "a = [u, g]\n-> a[1] - one",
        "f(a, b) = {\n-> b\n}\n-> f(u, g)",
        "f(a) = {\n-> [a, one]\n}\n-> f(u)[1]",
        "f(a) = {\n-> a * a\n}\nv = f(u)\n-> f(g)",
        "f() = {\n-> g\n}\n-> f()",
        "Output(\"u\", u)\n-> g",
    ] {
        assert_eq!(found(&solve(body)), [(Code::NewtonIndependent, "r".to_owned())], "{body}");
    }
}

#[test]
fn so_is_one_that_has_no_derivatives() {
    for (body, dropped) in [
        ("-> u > g ? one : g", None),
        ("-> g - (SumReduce(u) Extend cells)", Some("SumReduce(u)")),
        ("m = MaxReduce(u)\n-> g * m", Some("MaxReduce(u)")),
        ("f() = {\n-> MinReduce(u)\n}\n-> g * f()", Some("MinReduce(u)")),
        ("-> Divergence(g On ((u On FirstCell(faces)) > (u On SecondCell(faces)) ? FirstCell(faces) : SecondCell(faces)))", None),
        ("v : Mutable Scalar = 0\nFor s In seq * SumReduce(u) {\nv = s\n}\n-> g * v", Some("SumReduce(u)")),
    ] {
        let mut expected = vec![(Code::NewtonIndependent, "r".to_owned())];
        expected.extend(dropped.map(|text| (Code::DroppedDerivative, text.to_owned())));
        let mut found = found(&solve(body));
        found.sort();
        assert_eq!(found, expected, "{body}");
    }
}

#[test]
fn every_path_of_a_derivative_is_seen() {
    for body in [
        "-> u",
        "-> (g - one) + u * one",
        "-> g > one ? u : g",
        "-> g > one ? g : u",
        "-> u^2 - g",
        "-> Sqrt(|u|) - g",
        "-> g + Divergence(Gradient(u))",
        "-> (u On InteriorCells()) Extend cells",
        "-> Divergence((g On FirstCell(faces)) * (u On SecondCell(faces)))",
        "-> Max(u, g)",
        "-> Dot(Centroid(cells) * u, Centroid(cells))",
        "-> (Centroid(cells) * u)[0]",
        "-> [g, u][1]",
        "v : Mutable Collection Of Scalar On cells = g\nv = u\n-> v",
        // The loop gives the unknown to `v` in the second round only.
        "v : Mutable Collection Of Scalar On cells = g\nw : Mutable Collection Of Scalar On cells = g\nFor s In seq {\nv = w\nw = u\n}\n-> v",
        "v : Mutable Array Of 2 Collection Of Scalar On cells = [g, g]\nv = [g, u]\n-> v[1]",
        "f(a, b) = {\n-> b\n}\n-> f(g, u)",
        "f(a) = {\n-> [a, one]\n}\n-> f(u)[0]",
        "f(a) = {\n-> a * a\n}\nv = f(g)\n-> f(u)",
        "f(a) = {\n-> a * u\n}\n-> f(g)",
        "f(a) = {\nh() = {\n-> u\n}\n-> a * h()\n}\n-> f(g)",
        "v : Mutable Collection Of Scalar On cells = g\nf(a) = {\nv = a\n-> one\n}\nw = f(u)\n-> v",
        // The second call is known already, and assigns again.
        "v : Mutable Collection Of Scalar On cells = g\nw : Mutable Collection Of Scalar On cells = g\nf(a) = {\nv = a\n-> one\n}\na = f(u)\nw = v\nb = f(u)\n-> w",
    ] {
        assert_eq!(found(&solve(body)), [], "{body}");
    }
}

#[test]
fn a_variable_of_the_program_carries_unknowns_from_equation_to_equation() {
    // The value of the second equation depends on `b` by way of what the first one left, one
    // iteration ago or in this one.
    let text = "v : Mutable Collection Of Scalar On cells = g\nr(a, b) = {\nv = b\n-> a - g\n}\nq(a, b) = {\n-> a * v - one\n}\n";
    for order in ["[r, q]", "[q, r]"] {
        assert_eq!(found(&format!("{text}x = NewtonSolveSystem({order}, [one, 2 * g])")), [], "{order}");
    }
    let one_way = text.replace("v = b", "v = one");
    assert_eq!(found(&format!("{one_way}x = NewtonSolveSystem([r, q], [one, 2 * g])")), [(Code::NewtonIndependent, "2 * g".to_owned())]);
    // Derivatives are not carried.
    let carried = text.replace("a * v", "v");
    assert_eq!(found(&format!("{carried}x = NewtonSolveSystem([r, q], [one, g])")), [(Code::NewtonIndependent, "q".to_owned())]);
}

#[test]
fn every_unknown_of_a_system_is_in_an_equation() {
    let system =
        |r: &str, q: &str| format!("r(a, b) = {{\n-> {r}\n}}\nq(a, b) = {{\n-> {q}\n}}\nx = NewtonSolveSystem([r, q], [g, 2 * g])");
    let wrong = |place: &str| vec![(Code::NewtonIndependent, place.to_owned())];
    assert_eq!(found(&system("a - one", "b - one")), []);
    assert_eq!(found(&system("b - one", "a - one")), []);
    assert_eq!(found(&system("a - b", "b - one")), []);
    assert_eq!(found(&system("a - one", "a - g")), wrong("2 * g"));
    assert_eq!(found(&system("b - one", "b * b")), wrong("g"));
    assert_eq!(found(&system("a - b", "g - one")), wrong("q"));
    assert_eq!(found(&system("g", "a - b")), wrong("r"));
    assert_eq!(found(&system("g", "one")), [wrong("r"), wrong("q")].concat());
    // An unknown that is read without a derivative is read; the solver may do without its column.
    assert_eq!(found(&system("a - one", "b > one ? a : g")), []);
    // The unknown behind the call is `a` for one equation and `b` for the other.
    let shared = "f(a) = {\n-> a * a - one\n}\n";
    assert_eq!(found(&format!("{shared}{}", system("f(a)", "f(b)"))), []);
    assert_eq!(found(&format!("{shared}{}", system("f(a)", "f(a)"))), wrong("2 * g"));
    // An instance depends on its arguments at each call.
    assert_eq!(found(&format!("{shared}{}", system("f(a) - b", "f(g)"))), wrong("q"));
    // Guesses in a variable.
    let text = "guesses = [g, one]\nr(a, b) = {\n-> a\n}\nx = NewtonSolveSystem([r, r], guesses)";
    assert_eq!(found(text), wrong("guesses"));
}

#[test]
fn a_dropped_derivative_names_the_unknowns_it_is_by() {
    let text = format!(
        "{PRELUDE}r(a, b) = {{\n-> a - (SumReduce(b) Extend cells)\n}}\nq(a, b) = {{\n-> b - a\n}}\nx = NewtonSolveSystem([r, q], [g, one])\n"
    );
    let checked = check_text(&text, &CheckOptions::default());
    let warning = checked.diagnostics.iter().find(|d| d.code == Code::DroppedDerivative).expect("the warning");
    assert!(warning.message.contains("with respect to `b` is dropped"), "{}", warning.message);
}

#[test]
fn many_calls_of_calls_take_no_longer_than_their_text() {
    // Each function calls the one before it twice, with arguments that depend on different things.
    let mut text = "f0(a, b) = {\n-> a + b\n}\n".to_owned();
    for i in 1..45 {
        text += &format!("f{i}(a, b) = {{\n-> f{}(a, b) + f{}(b, a)\n}}\n", i - 1, i - 1);
    }
    text += "r(u) = {\n-> f44(u, g)\n}\nx = NewtonSolve(r, g)";
    assert_eq!(found(&text), []);
}
