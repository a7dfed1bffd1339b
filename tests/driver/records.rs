//! A good run, then runs that fail: what lies in the folder can be drawn, and is told apart.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Puts out `u` and `sum` in each round; fails in the round whose number is `bad`, before its
/// output.
const PROGRAM: &str = "\
start = InputScalarWithDefault(\"start\", 1) * 1 [Kelvin]
bad = InputScalarWithDefault(\"bad\", 100)
weight = InputCollectionOfScalar(\"weight\", AllCells())
u : Mutable Collection Of Scalar On AllCells() = start * weight
round : Mutable Scalar = 0
For dt In InputSequenceOfScalar(\"steps\") * 1 [Second] {
    round = round + 1
    u = u / (round == bad ? 0 : 1)
    Output(\"u\", u)
    Output(\"sum\", SumReduce(u))
}
";

/// The line of `Output(\"u\", u)`.
const LINE: &str = "rise.equelle, line 9";

/// A folder with the program, and the outputs in `out`.
struct Case(PathBuf);

impl Case {
    fn new(name: &str) -> Case {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("records-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("the target folder can be written");
        fs::write(folder.join("rise.equelle"), PROGRAM).expect("a program");
        Case(folder)
    }

    /// Runs `equellec` in the folder; returns its exit code and what it says.
    fn equellec(&self, words: &[&str]) -> (i32, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_equellec"));
        let output = command.args(words).current_dir(&self.0).output().expect("equellec starts");
        (output.status.code().expect("an exit code"), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// A run of two rounds with more parameters.
    fn run(&self, more: &[&str]) -> (i32, String) {
        let words = ["run", "--interpret", "rise.equelle", "grid_dim=1", "nx=8", "steps=2*0.5", "output_dir=out"];
        self.equellec(&[&words, more].concat())
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The folder of outputs drawn: the picture as SVG, and what is said.
    fn drawn(&self) -> (String, String) {
        let (code, said) = self.equellec(&["plot", "out", "-o", "picture.svg"]);
        assert_eq!(code, 0, "{said}");
        (self.read("picture.svg"), said)
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

const FORMATS: [&str; 2] = ["weight=1", "output_format=vtu,csv"];

#[test]
fn a_run_that_fails_without_an_output_leaves_the_good_one() {
    let case = Case::new("good");
    assert_eq!(case.run(&[&FORMATS[..], &["start=3"]].concat()).0, 0);
    let record = case.read("out/rise.run.json");
    let (picture, _) = case.drawn();
    assert!(picture.contains(">u [K]</text>") && picture.contains(">time 1 s</text>"), "{picture}");
    assert!(picture.contains(">time [s]</text>"), "{picture}");
    assert!(picture.contains(">x [m]</text>") && picture.contains(">sum [K]</text>"), "{picture}");
    // A word that is no parameter, an unknown one, a missing input, a grid without cells, a number
    // that is not finite in the first output.
    let failing: [(i32, &[&str]); 5] = [
        (2, &["output_format=vtu,csv", "weight"]),
        (4, &["output_format=vtu,csv", "weihgt=1"]),
        (4, &["output_format=vtu,csv"]),
        (4, &["weight=1", "nx=0", "output_format=vtu,csv"]),
        (3, &["weight=1", "bad=1", "output_format=vtu,csv", "event_log=true"]),
    ];
    for (code, more) in failing {
        let (found, said) = case.run(more);
        assert_eq!(found, code, "{more:?}: {said}");
        assert_eq!(case.read("out/rise.run.json"), record, "{more:?}");
        assert_eq!(case.drawn().0, picture, "{more:?}");
        let (code, said) = case.equellec(&["plot", "out", "--html", "good.html"]);
        assert!(code == 0 && case.read("good.html").contains("<span class=\"state\">done</span>"), "{more:?}: {said}");
    }
    // The last one came to a record, which the others had not; both pictures and pages tell of it.
    let (_, said) = case.drawn();
    assert!(said.contains("a later run has no output: output `u` is not finite"), "{said}");
    assert!(case.read("good.html").contains("a later run has no output: output `u` is not finite"));
    let (code, said) = case.equellec(&["plot", "out/failure", "--html", "bad.html"]);
    assert_eq!(code, 0, "{said}");
    let page = case.read("bad.html");
    assert!(page.contains("<span class=\"state bad\">failed</span>") && page.contains(LINE), "{page}");
    // After the next good run nothing is said of it.
    assert_eq!(case.run(&FORMATS).0, 0);
    assert!(!case.drawn().1.contains("a later run"));
}

/// `--html` of a run that fails before it has a record leaves the page of the good run alone; one
/// that has a record of its own gets its page: error, hint, line and text.
#[test]
fn pages_of_runs_that_fail() {
    let case = Case::new("pages");
    assert_eq!(case.run(&["weight=1", "--html", "page.html"]).0, 0);
    let good = case.read("page.html");
    for part in ["<h2>Final values</h2>", "<th>sum</th><td class=\"n\">8</td><td>K</td>", "<summary>rise.equelle</summary>"] {
        assert!(good.contains(part), "{part} in {good}");
    }
    assert_eq!(case.run(&["--html", "page.html"]).0, 4);
    assert_eq!(case.read("page.html"), good);
    assert_eq!(case.run(&["weight=1", "bad=1", "--html", "page.html"]).0, 3);
    let page = case.read("page.html");
    for part in ["state bad", "output `u` is not finite", &format!("{LINE}: <code>Output(&quot;u&quot;, u)</code>"), "<h2>Program</h2>"] {
        assert!(page.contains(part), "{part} in {page}");
    }
    // Beside no outputs its record is where it always is, and its page has the error's hint.
    let case = Case::new("hints");
    assert_eq!(case.run(&["weight=1", "bad=1", "--html", "page.html"]).0, 3);
    assert!(case.read("out/rise.run.json").contains("\"state\": \"failed\""));
    let mut record: serde_json::Value = serde_json::from_str(&case.read("out/rise.run.json")).expect("JSON");
    record["hint"] = "take <shorter> steps".into();
    fs::write(case.0.join("out/rise.run.json"), record.to_string()).expect("a file");
    assert_eq!(case.equellec(&["plot", "out", "--html", "page.html"]).0, 0);
    assert!(case.read("page.html").contains("<br>hint: take &lt;shorter&gt; steps"));
}

/// Outputs of a failed run are its own: they replace those of the good one, and say so.
#[test]
fn outputs_of_a_failed_run_are_drawn_as_such() {
    let case = Case::new("partial");
    assert_eq!(case.run(&FORMATS).0, 0);
    assert_eq!(case.run(&[&FORMATS[..], &["bad=2", "start=5"]].concat()).0, 3);
    let (picture, said) = case.drawn();
    assert!(picture.contains(">u   time 0.5 s   failed</text>"), "{picture}");
    assert!(said.contains("its record says `failed`"), "{said}");
    let (code, said) = case.equellec(&["plot", "out", "--html", "page.html"]);
    assert!(code == 0 && case.read("page.html").contains("state bad"), "{said}");
}
