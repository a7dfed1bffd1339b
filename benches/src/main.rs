//! Programs that `equellec` generates against loops written by hand: the same problem, in one
//! process, with the same compiler flags. `cargo xtask bench` builds this beside the generated
//! packages and starts it; what it prints is Markdown.
//!
//! Only steps are timed: all of a run but the first, which warms caches and touches the memory.
//! Copies, loops by hand and generated programs take turns, and medians over the turns are printed,
//! so that a busy machine disturbs all of them alike. Times of one thread are those that the thread
//! was running; others are by the clock.

#[cfg(any(feature = "heat", feature = "residual"))]
mod cube;
mod generated;
mod harness;
#[cfg(feature = "heat")]
mod heat;
mod measure;
#[cfg(feature = "residual")]
mod residual;
#[cfg(feature = "shallow_water")]
mod shallow_water;

use std::hint::black_box;

use equelle_runtime::report::{bytes, peak_memory};

use harness::{Report, Suite};

/// Suites that are built in.
const SUITES: &[&Suite] = &[
    #[cfg(feature = "heat")]
    &heat::SUITE,
    #[cfg(feature = "shallow_water")]
    &shallow_water::SUITE,
    #[cfg(feature = "residual")]
    &residual::SUITE,
];

const USAGE: &str = "usage: compare time|scaling|threads SUITE STEPS REPETITIONS JSON|- N... | compare memory SUITE CASE N";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["memory", suite, name, n] => {
            let suite = find(suite);
            let case = suite.cases.iter().find(|case| case.name == *name).expect("a case");
            black_box((case.run)(&(suite.prepare)(number(n), 3)).values);
            println!("{}", peak_memory().map_or("unknown".to_owned(), bytes));
        }
        [what, suite, steps, repetitions, json, sizes @ ..] => {
            let suite = find(suite);
            let sizes: Vec<usize> = sizes.iter().map(|n| number(n)).collect();
            let (steps, repetitions) = (number(steps), number(repetitions));
            let mut report = Report::default();
            (suite.check)();
            match *what {
                "time" => sizes.iter().for_each(|&n| harness::time(suite, n, steps, repetitions, &mut report)),
                "scaling" => harness::scaling(suite, &sizes, steps, repetitions, &mut report),
                "threads" => sizes.iter().for_each(|&n| harness::threads(suite, n, steps, repetitions, &mut report)),
                _ => panic!("{USAGE}"),
            }
            if *json != "-" {
                report.append(json);
            }
        }
        _ => panic!("{USAGE}"),
    }
}

fn find(name: &str) -> &'static Suite {
    SUITES.iter().find(|suite| suite.name == name).unwrap_or_else(|| panic!("no suite `{name}` was built in"))
}

fn number(word: &str) -> usize {
    word.parse().expect("a number")
}
