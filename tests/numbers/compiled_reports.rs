//! Compiled runs tell the same as interpreted ones: the audit of a run, and what is left where
//! Newton's method fails.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::{equellec, scratch, stderr};
use serde_json::Value;

/// Heat that reacts; the third step is the hard one.
const PROGRAM: &str = "u0 = InputCollectionOfScalar(\"u0\", AllCells())
u : Mutable Collection Of Scalar On AllCells()
u = u0
For dt In InputSequenceOfScalar(\"steps\") {
    residual(v) = {
        -> v - u + dt / |AllCells()| * Divergence(-Gradient(v)) + dt * (v * v * v - 20)
    }
    u = NewtonSolve(residual, u)
    Output(\"u\", u)
}
";

/// Differences of linear solves and fused operations, of the largest value.
const TOLERANCE: f64 = 1e-12;

/// Standard error of a run with this exit code.
fn run(folder: &Path, out: &str, how: &[&str], more: &[&str], code: i32) -> String {
    let words = ["nx=5", "ny=4", "dx=0.5", "dy=2", "steps=0.01,0.01,1,0.01", "u0_expression=1+0.1*x", "output_format=vtu"];
    let output = equellec()
        .current_dir(folder)
        .env("EQUELLE_CUDA_DEVICE", "host")
        .args(["--message-format", "json", "run", "--nondimensional"])
        .args(how)
        .args(["case.equelle", "audit=yes", &format!("output_dir={out}")])
        .args(words)
        .args(more)
        .output()
        .expect("equellec starts");
    assert_eq!(output.status.code(), Some(code), "{how:?}: {}", stderr(&output));
    stderr(&output)
}

/// Numbers of the last event `audit`.
fn audit(messages: &str) -> BTreeMap<String, f64> {
    let mut events = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let last = events.rfind(|event| event["event"] == "audit").unwrap_or_else(|| panic!("no audit: {messages}"));
    assert_eq!(last["quantity"], "u");
    let fields = last.as_object().expect("an object");
    fields.iter().filter_map(|(key, value)| Some((key.clone(), value.as_f64()?))).collect()
}

/// Words of a text, numbers among them.
fn near(found: &str, expected: &str) {
    let words = |text: &str| text.split([',', '\n']).map(str::to_owned).collect::<Vec<_>>();
    let (found, expected) = (words(found), words(expected));
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().filter_map(|word| word.parse::<f64>().ok()).fold(0.0, |scale: f64, x| scale.max(x.abs()));
    for (a, b) in found.iter().zip(&expected) {
        match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(a), Ok(b)) => assert!((a - b).abs() <= TOLERANCE * scale, "{a} {b}"),
            _ => assert_eq!(a, b),
        }
    }
}

fn as_interpreted(name: &str, how: &[&str]) {
    let folder = scratch(&format!("compiled-reports-{name}"));
    fs::write(folder.join("case.equelle"), PROGRAM).expect("the folder can be written");
    let ways = [("interpreted", &["--interpret"][..]), ("compiled", how)];
    let [expected, found] = ways.map(|(out, how)| audit(&run(&folder, out, how, &["max_iter=50", "abs_res_tol=1e-13"], 0)));
    assert!(expected.keys().eq(found.keys()) && expected["change"].abs() > 1.0, "{expected:?} {found:?}");
    let scale = expected["change"].abs();
    for (key, value) in &expected {
        assert!((value - found[key]).abs() <= TOLERANCE * scale.max(value.abs()), "{key}: {value} {}", found[key]);
    }
    assert!(found["rest"].abs() <= TOLERANCE * scale, "{found:?}");
    for (out, how) in ways {
        let messages = run(&folder, out, how, &["max_iter=4"], 3);
        assert!(messages.contains("goes on from there") && messages.contains("max_iter=50"), "{messages}");
    }
    let names = |out: &str| {
        let entries = fs::read_dir(folder.join(out).join("failure")).expect("a folder");
        let mut names: Vec<String> = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        // A clock decides of which of the two good steps the state was kept last.
        for name in &mut names {
            *name = name.replace("checkpoint-00001", "checkpoint-00002");
        }
        names.sort();
        names
    };
    assert_eq!(names("compiled"), names("interpreted"));
    assert!(names("compiled").iter().any(|name| name.ends_with("checkpoint-00002.npz")), "{:?}", names("compiled"));
    let [expected, found] = ["interpreted", "compiled"].map(|out| fs::read_to_string(folder.join(out).join("failure/case-worst.csv")));
    let sorted = |text: String| {
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_by_key(|line| line.split(',').nth(2).and_then(|index| index.parse::<usize>().ok()));
        lines.join("\n")
    };
    near(&sorted(found.expect("a table")), &sorted(expected.expect("a table")));
}

#[test]
fn serial() {
    as_interpreted("serial", &["--compiled"]);
}

/// On the emulator; takes a while to build.
#[test]
#[ignore = "builds a package of CUDA; .ci/full runs it"]
fn cuda_on_the_host() {
    if std::process::Command::new("c++").arg("--version").output().is_ok_and(|output| output.status.success()) {
        as_interpreted("cuda", &["--compiled", "--backend", "cuda"]);
    } else {
        eprintln!("skipped: there is no C++ compiler named c++");
    }
}
