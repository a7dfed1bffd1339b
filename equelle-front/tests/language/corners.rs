//! Reads at corners where nothing says what a rule gives: refused, with a hint that works.

use equelle_front::check::{CheckOptions, check_source};
use equelle_front::diagnostic::{Code, Diagnostic};
use equelle_front::source::SourceMap;

const HEAD: &str = "i = StencilI()
j = StencilJ()
k = StencilK()
u = InputCollectionOfScalar(\"u\", AllCells())
v = InputCollectionOfScalar(\"v\", AllCells())
hot = u > v
y = Centroid(AllCells())[1]
walled(f, g) = { -> Halo(f, AtFace(i, g), Mirror(j, k)) }
corner(h) = { -> h(i+1, j+1) }
";

fn errors(text: &str) -> Vec<Diagnostic> {
    let checked = check_source(&SourceMap::new("", text), &CheckOptions { nondimensional: true });
    checked.diagnostics.into_iter().filter(Diagnostic::is_error).collect()
}

/// The text of a hint in place of the text marked beside it.
fn with_hint(text: &str, error: &Diagnostic) -> String {
    let hint = error.hint.as_deref().expect("a hint");
    let given = hint.split('`').nth(3).expect("a text");
    let place = error.secondary.first().expect("a place").span.range();
    // A name is marked where it is assigned: it is given where rules stand.
    let name = &text[place.clone()];
    let at = if given.starts_with(&format!("Halo({name},")) && text[place.end..].starts_with(" =") {
        let used = text.rfind(&format!("{name})")).expect("a use");
        used..used + name.len()
    } else {
        place
    };
    format!("{}{given}{}", &text[..at.start], &text[at.end..])
}

#[test]
fn hints_are_followed_until_nothing_is_refused() {
    for (rules, read, steps) in [
        ("Halo(u, AtFace(i, v), Mirror(j))", "h(i+1, j+1)", 1),
        ("Halo(u, Slope(Low(i), 2 * v), Mirror(j))", "h(i-1, j+1)", 1),
        ("Halo(u, Value(j, u + v), Mirror(k))", "h(j-1, k+1)", 1),
        ("Halo(u, Value(i, v), Copy(j, k))", "h(i-1, j+1, k-1)", 1),
        ("Halo(hot, Value(i, hot), Copy(j))", "h(i-1, j+1)", 1),
        ("Halo(u, Value(i, Halo(v, Copy(Low(j)))), Copy(j))", "h(i-1, j+1)", 1),
        ("Halo(u, Value(i, Halo(u, Copy(k), AtFace(j, 2 * v))), Copy(j, k))", "h(i-1, j+1, k+1)", 1),
        ("Halo(u, Value(i, y * v), Value(j, u * v), Copy(k))", "h(i-1, j+1, k-1)", 2),
    ] {
        let mut text = format!("{HEAD}h = {rules}\nOutput(\"x\", {read})\n");
        for _ in 0..steps {
            let found = errors(&text);
            assert_eq!(found.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::StencilBeyond], "{text}");
            assert_eq!(&text[found[0].primary.span.range()], read);
            text = with_hint(&text, &found[0]);
        }
        assert_eq!(errors(&text), [], "{text}");
    }
}

/// A function that reads at corners, and one that writes the rules.
#[test]
fn calls_are_told_which_data_they_lack() {
    let found = errors(&format!("{HEAD}Output(\"x\", corner(walled(u, 2 * v)))\n"));
    assert_eq!(found.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::StencilBeyond]);
    assert!(found[0].hint.as_deref().is_some_and(|hint| hint.contains("Halo(g, Copy(j))")), "{:?}", found[0].hint);
    assert_eq!(found[0].trail.len(), 1);
    for data in ["2 * y", "Halo(v, Copy(j))", "3", "2 + MaxReduce(v)"] {
        assert_eq!(errors(&format!("{HEAD}Output(\"x\", corner(walled(u, {data})))\n")), [], "{data}");
    }
}

/// Data that are no expressions of geometry: values of inputs, of mutable variables on cells, of
/// functions that do more than compute, of values with rules that ended.
#[test]
fn what_is_known_at_cells_only() {
    let mutable = "m : Mutable Collection Of Scalar On AllCells()\nm = y\n";
    let count = "n : Mutable Scalar\nn = 0\ncounted(y) = {\nn = n + 1\n-> n * y\n}\n";
    let loops = "summed(y) = {\ns : Mutable Collection Of Scalar On AllCells()\ns = y\nFor l In Range(0, 2) {\ns = s + y\n}\n-> s\n}\n";
    for (before, data) in [
        ("", "y + v"),
        (mutable, "m"),
        (mutable, "2 * m"),
        (count, "counted(y)"),
        (loops, "summed(y)"),
        ("", "Divergence(Gradient(y))"),
        ("", "2 * Halo(v, Negate(j))"),
        ("w = Halo(y, Periodic(i, j))\n", "w(i+1) * v"),
        ("", "(IndexOf(i) > 0 ? u : y)"),
    ] {
        let found = errors(&format!("{HEAD}{before}h = Halo(u, AtFace(i, {data}), Mirror(j))\nOutput(\"x\", h(i+1, j+1))\n"));
        assert_eq!(found.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::StencilBeyond], "{before}{data}");
        // Along the sides they may be read as ever.
        let straight = format!("{HEAD}{before}h = Halo(u, AtFace(i, {data}), Mirror(j))\nOutput(\"x\", h(i+1) + h(j-1))\n");
        assert_eq!(errors(&straight), [], "{before}{data}");
    }
}

/// Expressions and chains of calls of any length and depth end: with a program or a diagnostic.
#[test]
fn long_expressions_end() {
    let sum = format!("y{}", " + y".repeat(3000));
    let mut names = String::from("a0 = y\n");
    let mut calls = String::from("f0(y) = { -> y + 1 }\n");
    for n in 1..60 {
        names += &format!("a{n} = a{} * a{} + a{}\n", n - 1, n - 1, n - 1);
        calls += &format!("f{n}(y) = {{ -> f{}(y) + f{}(2 * y) }}\n", n - 1, n - 1);
    }
    for (before, data) in [("", sum.as_str()), (names.as_str(), "a59"), (calls.as_str(), "f40(y)")] {
        let found = errors(&format!("{HEAD}{before}h = Halo(u, AtFace(i, {data}), Mirror(j))\nOutput(\"x\", h(i+1, j+1))\n"));
        assert!(found.iter().all(|d| d.code == Code::StencilBeyond), "{found:?}");
    }
    let twice = format!("{HEAD}{names}h = Halo(u, AtFace(i, a40), Mirror(j))\nOutput(\"x\", h(i+1, j+1))\n");
    assert_eq!(errors(&twice), []);
}
