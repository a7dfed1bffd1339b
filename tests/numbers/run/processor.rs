//! Programs for this processor and for any.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use equelle_front::ops::{Argument, Elementary};

use crate::support::{built, equellec, repository, scratch, stderr};

const PROGRAM: &str = "examples/shallow_water/shallow_water.equelle";

/// A program built for any processor of the architecture.
fn built_for_any(program: &Path, package: &Path) -> PathBuf {
    let output =
        equellec().args(["build", "--target-cpu", "generic", "--force", "-o"]).arg(package).arg(program).output().expect("equellec starts");
    assert!(output.status.success(), "{}", stderr(&output));
    PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
}

/// Names and bytes of the files that a run puts out.
fn results(command: &mut Command, words: &[&str], out: &Path) -> Vec<(String, Vec<u8>)> {
    let output = command.args(words).arg(format!("output_dir={}", out.display())).output().expect("a program that was built starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(out)
        .expect("the output folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "output"))
        .map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), fs::read(&path).expect("a file")))
        .collect();
    files.sort();
    files
}

fn assert_same(a: &[(String, Vec<u8>)], b: &[(String, Vec<u8>)]) {
    for ((name, a), (other, b)) in a.iter().zip(b) {
        assert_eq!(name, other);
        assert!(a == b, "{name} differs");
    }
    assert_eq!(a.len(), b.len());
}

/// Rust neither contracts nor reorders operations, whatever the processor can do: 20 steps of a
/// program with products, quotients and square roots in vectorised loops, with spacings that have
/// no finite binary form, give files of the same bytes.
#[test]
#[ignore = "builds the runtime for any processor; .ci/full does it"]
fn the_processor_changes_no_bit() {
    let folder = scratch("processor");
    let steps = folder.join("steps.txt");
    fs::write(&steps, "0.01\n".repeat(20)).expect("a scratch folder can be written");
    let generic = built_for_any(&repository(PROGRAM), &folder.join("package"));
    let native = built("-O2", PROGRAM);
    let same_program = fs::read(&generic).expect("a program") == fs::read(&native).expect("a program");
    // Where the processor has no more than the architecture promises, there is nothing to compare.
    #[cfg(target_arch = "x86_64")]
    assert!(!(same_program && std::arch::is_x86_feature_detected!("avx")), "flags reach the Rust compiler");
    #[cfg(not(target_arch = "x86_64"))]
    let _ = same_program;
    let (case, steps) = (repository("examples/shallow_water/case.param"), format!("timesteps_filename={}", steps.display()));
    let words = [&case.display().to_string(), "dx=0.7", "dy=1.1", &steps];
    let [generic, native] =
        [(generic, "generic"), (native, "native")].map(|(program, name)| results(&mut Command::new(program), &words, &folder.join(name)));
    assert!(generic.len() > 60, "three fields, 21 times: {}", generic.len());
    assert_same(&generic, &native);
    fs::remove_dir_all(&folder).expect("a scratch folder can be removed");
}

/// Every elementary function at 10^5 numbers, one by one in kernels of their own and together in
/// one, at widths of rows that are no multiple of a vector: for any processor, for this one, and
/// interpreted.
#[test]
#[ignore = "builds a program twice; .ci/full does it"]
fn functions_have_the_same_bits_on_every_processor() {
    let functions = Elementary::ALL.map(|function| {
        let argument = match function.argument() {
            Argument::Any(..) => "x",
            Argument::Positive => "y",
            Argument::SineOrCosine => "x / 40",
        };
        format!("{}({argument})", function.name())
    });
    let others = ["Sqrt(y)", "Pow(y, x)", "ATan2(x, y)"];
    let mut text = "# dimensions: ignore\nx = InputCollectionOfScalar(\"x\", AllCells())\ny = Max(x, -x) + 0.001\n".to_owned();
    let all: Vec<String> = functions.into_iter().chain(others.map(str::to_owned)).collect();
    for (k, value) in all.iter().enumerate() {
        text += &format!("Output(\"f{k}\", {value})\n");
    }
    text += &format!("Output(\"all\", {})\n", all.join(" + "));
    let folder = scratch("functions");
    let program = folder.join("functions.equelle");
    fs::write(&program, text).expect("a scratch folder can be written");
    let generic = built_for_any(&program, &folder.join("package"));
    let native = built("-O2", &program.display().to_string());
    let words = ["nx=333", "ny=307", "x_expression=30 * Sin(x * 1.7 + y)", "output_to_file=true"];
    let mut interpreter = equellec();
    interpreter.args(["run", "--interpret"]).arg(&program);
    let runs = [(Command::new(generic), "generic"), (Command::new(native), "native"), (interpreter, "interpreted")];
    let [generic, native, interpreted] = runs.map(|(mut command, name)| results(&mut command, &words, &folder.join(name)));
    assert_eq!(generic.len(), all.len() + 1);
    assert_same(&generic, &native);
    assert_same(&generic, &interpreted);
    fs::remove_dir_all(&folder).expect("a scratch folder can be removed");
}

#[test]
fn what_is_no_processor_is_refused() {
    let output = equellec().args(["build", "--target-cpu", "a b", PROGRAM]).output().expect("equellec starts");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("rustc --print target-cpus"), "{}", stderr(&output));
}
