//! Time-step rescue in loops that compute their steps: a round that fails is redone with a part of
//! its step, and the loop goes on from there.

use std::fs;
use std::path::Path;

use super::scalar::{interpret, program};
use crate::support::{How, assert_same_bits, equellec, run, scratch, stderr};

/// Backward Euler for u' = -u^3, with these rounds around the body. The longer a step, the more
/// iterations it takes; five reach a quarter and not 16.
fn decay(head: &str, rounds: &str) -> String {
    format!(
        "Import \"equelle:time\" (next_step)
{head}u : Mutable Collection Of Scalar On AllCells()
u = InputCollectionOfScalar(\"u\", AllCells())
time : Mutable Scalar = 0
dt : Mutable Scalar = 0.00390625
count : Mutable Scalar = 0
end = 20
{rounds}
    residual(v) = {{
        -> v - u + dt * v * v * v
    }}
    u = NewtonSolve(residual, u)
    time = time + dt
    count = count + 1
    Output(\"u\", u)
    Output(\"length\", dt)
    Output(\"now\", time)
    Output(\"count\", count)
}}
"
    )
}

const WAYS: [How; 3] = [How::Interpreted0, How::Interpreted2, How::Compiled2];

/// Computes steps: 1/4, then 16, then 64 times what the last round took, up to the end.
const GROWING: &str = "    dt = next_step(time, 64 * dt, end)";

fn words(folder: &Path) -> Vec<String> {
    fs::write(folder.join("u.txt"), "1 0.5 2").unwrap();
    let file = format!("u_filename={}", folder.join("u.txt").display());
    ["nx=3", "ny=1", "max_iter=5", "abs_res_tol=1e-9", "u_from_file=true", &file].map(str::to_owned).to_vec()
}

fn borrowed(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

/// `While` and `Repeat Until`: the failed round is said with its parts, the shortened step is what
/// the next round computes from, the loop reaches its end exactly once, and every round is the one
/// that a loop over the same lengths takes, bit for bit, interpreted and compiled.
#[test]
fn rounds_that_decide_go_on_with_a_part_of_the_step() {
    for (name, head) in [("while", "While time < end {"), ("until", "Repeat Until time >= end {")] {
        let folder = scratch(&format!("rescue-{name}"));
        let path = program(&folder, &decay("", &format!("{head}\n{GROWING}")));
        let text_path = path.to_string_lossy().into_owned();
        let plain = interpret(&path, &borrowed(&words(&folder)));
        assert_eq!(plain.status.code(), Some(3), "{name}: a step of 16 cannot be taken as a whole: {}", stderr(&plain));
        let rescued_words = [words(&folder), vec!["timestep_cuts=6".to_owned()]].concat();
        let told = interpret(&path, &borrowed(&rescued_words));
        let text = stderr(&told);
        assert!(told.status.success(), "{name}: {text}");
        assert!(text.contains("warning: line 8, step 2: "), "{name}: {text}");
        assert!(text.contains("the step of 16 failed, the round is tried again with 1/2 of it"), "{name}: {text}");

        let rescued = WAYS.map(|how| run(how, &text_path, &borrowed(&rescued_words)));
        for (other, how) in rescued.iter().zip(WAYS) {
            assert_same_bits(&rescued[0], other, &format!("{name}, {how:?}"));
        }
        let lengths = rescued[0].scalars["length"].clone();
        assert_eq!(lengths[0], 0.25);
        let parts = 16.0 / lengths[1];
        assert!(parts > 1.0 && parts.log2().fract() == 0.0, "{name}: {lengths:?}");
        assert!(text.contains(&format!("the round was taken with 1/{parts} of the step of 16")), "{name}: {text}");
        assert_eq!(rescued[0].scalars["now"].last(), Some(&20.0), "{name}: {lengths:?}");
        let numbers: Vec<f64> = (1..=lengths.len()).map(|count| count as f64).collect();
        assert_eq!(rescued[0].scalars["count"], numbers, "{name}: attempts that failed do not count");

        // The same lengths, given.
        let given = "lengths = InputSequenceOfScalar(\"lengths\")\n";
        fs::create_dir_all(folder.join("given")).unwrap();
        let reference = program(&folder.join("given"), &decay(given, "For length In lengths {\n    dt = length"));
        fs::write(folder.join("lengths.txt"), lengths.iter().map(f64::to_string).collect::<Vec<_>>().join(" ")).unwrap();
        let lengths = format!("lengths_filename={}", folder.join("lengths.txt").display());
        let reference_words = [words(&folder), vec![lengths]].concat();
        let reference = run(How::Interpreted0, &reference.to_string_lossy(), &borrowed(&reference_words));
        assert_same_bits(&rescued[0], &reference, &format!("{name} beside given lengths"));
        fs::remove_dir_all(&folder).unwrap();
    }
}

/// The report names the Scalar that is halved, or says that there is none; then `timestep_cuts` is
/// refused before the run, at the line of the loop.
#[test]
fn report_names_the_step_or_says_that_there_is_none() {
    let folder = scratch("rescue-step");
    let report = |path: &Path| {
        let output = equellec().args(["emit", "manifest", "--nondimensional", "--report"]).arg(path).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        // Lines of the report end anywhere between words.
        stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for head in ["While time < end {", "Repeat Until time >= end {"] {
        let path = program(&folder, &decay("", &format!("{head}\n{GROWING}")));
        let text = report(&path);
        assert!(text.contains("the loop of line 8, below, `dt` is the time step: a step that fails can be taken again in parts"), "{text}");
    }
    for head in ["While MaxReduce(u) > 0.25 {", "Repeat Until MaxReduce(u) <= 0.25 {"] {
        let path = program(&folder, &decay("", &format!("{head}\n    dt = 0.25")));
        let text = report(&path);
        assert!(text.contains("the loop of line 8, below, no Scalar is the time step"), "{text}");
        let good = interpret(&path, &borrowed(&words(&folder)));
        assert!(good.status.success(), "{}", stderr(&good));
        let refused = interpret(&path, &borrowed(&[words(&folder), vec!["timestep_cuts=2".to_owned()]].concat()));
        let message = stderr(&refused);
        assert_eq!(refused.status.code(), Some(4), "{message}");
        assert!(message.contains("because of a body without a Scalar that plays the step"), "{message}");
        assert!(message.contains("program.equelle:8: "), "{message}");
        assert!(refused.stdout.is_empty(), "nothing has been computed");
    }
    fs::remove_dir_all(&folder).unwrap();
}
