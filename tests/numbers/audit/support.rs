//! Runs programs with audits in the interpreter.

use std::io::Write;
use std::sync::{Arc, Mutex};

use equelle::interpret;
use equelle_front::check::{CheckOptions, check_text};
use equelle_front::lower;
use equelle_front::passes::{self, OptLevel, audit};
use equelle_front::source::SourceMap;
use equelle_front::verify::verify;
use equelle_runtime::io::Sink;
use equelle_runtime::report::MessageFormat;
use equelle_runtime::session::Options;
use serde_json::Value;

#[derive(Clone, Default)]
struct Printed(Arc<Mutex<Vec<u8>>>);

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Printed {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).expect("text")
    }
}

/// The last balance of each quantity, and what the run prints; at both levels.
pub fn audited(text: &str, words: &[&str]) -> Vec<(Vec<Value>, String)> {
    [OptLevel::O0, OptLevel::O2]
        .map(|level| {
            let source = SourceMap::new("case.equelle", text.to_owned());
            let checked = check_text(source.text(), &CheckOptions { nondimensional: true });
            let program = checked.program.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
            let mut module = lower::lower(&program, &source, "case");
            audit::run(&mut module);
            let verified = verify(passes::optimise(module, level)).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
            let (out, told) = (Printed::default(), Printed::default());
            let (stdout, stderr) = (Box::new(out.clone()), Box::new(told.clone()));
            let options = Options { stdout, stderr, format: MessageFormat::Json, sink: Sink::Files, ..Options::silent() };
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let result = interpret::run(interpret::program(&source, &verified), &verified, &words, options);
            result.unwrap_or_else(|error| panic!("{error}\n{}", told.text()));
            let mut last: Vec<Value> = Vec::new();
            for event in told.text().lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")) {
                if event["event"] == "audit" {
                    last.retain(|other| other["quantity"] != event["quantity"]);
                    last.push(event);
                }
            }
            last.sort_by_key(|event| event["quantity"].to_string());
            (last, out.text().replace(" =\n", " = "))
        })
        .into()
}

pub fn number(event: &Value, key: &str) -> f64 {
    event[key].as_f64().unwrap_or_else(|| panic!("{key} of {event}"))
}

pub fn names(events: &[Value]) -> Vec<&str> {
    events.iter().filter_map(|event| event["quantity"].as_str()).collect()
}

/// Numbers of the last line `tag = ...` that is printed.
pub fn last(printed: &str, tag: &str) -> Vec<f64> {
    let start = format!("{tag} = ");
    let line = printed.lines().rev().find_map(|line| line.strip_prefix(&start)).unwrap_or_else(|| panic!("no {tag}"));
    line.split_whitespace().map(|word| word.parse().expect("a number")).collect()
}

pub fn first(printed: &str, tag: &str) -> Vec<f64> {
    let reversed: Vec<&str> = printed.lines().rev().collect();
    last(&reversed.join("\n"), tag)
}

pub fn near(a: f64, b: f64, scale: f64) {
    // Sums of some hundred numbers in two orders.
    assert!((a - b).abs() <= 1e-13 * scale, "{a} and {b}");
}
