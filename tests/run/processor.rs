//! Programs for this processor and for any.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::support::{built, equellec, repository, scratch, stderr};

const PROGRAM: &str = "examples/shallow_water/shallow_water.equelle";

/// Rust neither contracts nor reorders operations, whatever the processor can do: 20 steps of a
/// program with products, quotients and square roots in vectorised loops, with spacings that have
/// no finite binary form, give files of the same bytes.
#[test]
fn the_processor_changes_no_bit() {
    let folder = scratch("processor");
    let steps = folder.join("steps.txt");
    fs::write(&steps, "0.01\n".repeat(20)).expect("a scratch folder can be written");
    let generic = {
        let output = equellec()
            .args(["build", "--target-cpu", "generic", "--force", "-o"])
            .arg(folder.join("package"))
            .arg(repository(PROGRAM))
            .output()
            .expect("equellec starts");
        assert!(output.status.success(), "{}", stderr(&output));
        PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
    };
    let native = built("-O2", PROGRAM);
    let same_program = fs::read(&generic).expect("a program") == fs::read(&native).expect("a program");
    // Where the processor has no more than the architecture promises, there is nothing to compare.
    #[cfg(target_arch = "x86_64")]
    assert!(!(same_program && std::arch::is_x86_feature_detected!("avx")), "flags reach the Rust compiler");
    #[cfg(not(target_arch = "x86_64"))]
    let _ = same_program;
    let results = |program: &PathBuf, name: &str| {
        let out = folder.join(name);
        let output = Command::new(program)
            .arg(repository("examples/shallow_water/case.param"))
            .args(["dx=0.7", "dy=1.1"])
            .arg(format!("timesteps_filename={}", steps.display()))
            .arg(format!("output_dir={}", out.display()))
            .output()
            .expect("a program that was built starts");
        assert!(output.status.success(), "{}", stderr(&output));
        let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(&out)
            .expect("the output folder")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "output"))
            .map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), fs::read(&path).expect("a file")))
            .collect();
        files.sort();
        files
    };
    let (generic, native) = (results(&generic, "generic"), results(&native, "native"));
    assert!(generic.len() > 60, "three fields, 21 times: {}", generic.len());
    for ((name, a), (other, b)) in generic.iter().zip(&native) {
        assert_eq!(name, other);
        assert!(a == b, "{name} differs");
    }
    assert_eq!(generic.len(), native.len());
    fs::remove_dir_all(&folder).expect("a scratch folder can be removed");
}

#[test]
fn what_is_no_processor_is_refused() {
    let output = equellec().args(["build", "--target-cpu", "a b", PROGRAM]).output().expect("equellec starts");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("rustc --print target-cpus"), "{}", stderr(&output));
}
