//! The parameter `threads`. That it changes no bit of a result is shown for all programs in
//! `equelle-random/tests/random/all_programs.rs`.

use std::process::Command;

use crate::support::{built, repository, stderr};

const PROGRAM: &str = "examples/heat_explicit_3d/heat_explicit_3d.equelle";

/// A run on one thread is the usual case of a small grid, and not worth a word.
#[test]
fn the_summary_says_whether_there_were_several() {
    let program = built("-O2", PROGRAM);
    for threads in ["1", "2", "4"] {
        let output = Command::new(&program)
            .arg(repository("examples/heat_explicit_3d/case.param"))
            .args(["output_to_file=false".to_owned(), format!("threads={threads}")])
            .output()
            .expect("a program that was built starts");
        assert!(output.status.success(), "{}", stderr(&output));
        let told = stderr(&output).contains(&format!(", {threads} threads"));
        assert_eq!(told, threads != "1", "{}", stderr(&output));
    }
}

/// A word that is no number of threads is refused before anything runs.
#[test]
fn what_is_no_number_of_threads_is_refused() {
    let program = built("-O2", PROGRAM);
    for text in ["0", "-1", "many", "1.5"] {
        let output = Command::new(&program)
            .arg(repository("examples/heat_explicit_3d/case.param"))
            .arg(format!("threads={text}"))
            .output()
            .expect("a program that was built starts");
        assert_eq!(output.status.code(), Some(4), "{text}");
        let messages = stderr(&output);
        assert!(messages.contains("parameter `threads` (command line) must be a whole number from 1 to 1024"), "{messages}");
        assert!(messages.contains(&format!("not `{text}`")) && messages.contains("hint: such as threads=4"), "{messages}");
    }
}
