//! The number of threads changes no byte of a result. Other tests say it too: programs run on all processors there, and give the bits of the interpreter, which has one thread; the grids here
//! are large enough for loops to be cut in every place that can cut them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{built, repository, scratch, stderr};

/// Names and bytes of the files that a program writes, and what it prints.
fn results(program: &Path, words: &[String], out: &Path, threads: &str) -> (Vec<(String, Vec<u8>)>, Vec<u8>) {
    let output = Command::new(program)
        .args(words)
        .args(["output_to_file=true".to_owned(), format!("output_dir={}", out.display()), format!("threads={threads}")])
        .output()
        .expect("a program that was built starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let told = stderr(&output).contains(&format!(", {threads} threads"));
    assert_eq!(told, threads != "1", "the summary says whether there were several: {}", stderr(&output));
    let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(out)
        .expect("the output folder")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), fs::read(&path).expect("a file")))
        .collect();
    files.sort();
    fs::remove_dir_all(out).expect("the output folder can be removed");
    (files, output.stdout)
}

/// Runs a program on 1, 2 and 4 threads, on the grid as it is and as an unstructured one. `fields` are the files that it must write.
fn same_bytes(program: &str, words: &[String], folder: &Path, fields: usize) {
    let program = built("-O2", program);
    for layout in ["auto", "unstructured"] {
        let words: Vec<String> = words.iter().cloned().chain([format!("grid_layout={layout}")]).collect();
        let one = results(&program, &words, &folder.join("out"), "1");
        assert_eq!(one.0.len(), fields, "{layout}");
        for threads in ["2", "4"] {
            let several = results(&program, &words, &folder.join("out"), threads);
            for ((name, a), (other, b)) in one.0.iter().zip(&several.0) {
                assert!(name == other && a == b, "{layout}, {threads} threads: {name} and {other} differ");
            }
            assert!(one.0.len() == several.0.len() && one.1 == several.1, "{layout}, {threads} threads: what is printed differs");
        }
    }
}

/// 19 x 24 x 20 cells, with a reduction every step.
#[test]
fn explicit_heat_in_a_box() {
    let folder = scratch("threads-heat");
    let param = repository("examples/heat_explicit_3d/case.param").display().to_string();
    same_bytes("examples/heat_explicit_3d/heat_explicit_3d.equelle", &[param], &folder, 151);
    fs::remove_dir_all(&folder).expect("a scratch folder can be removed");
}

/// 130 x 71 cells with a hump of water: kernels with three results.
#[test]
fn shallow_water() {
    let folder = scratch("threads-water");
    let mut depth = String::new();
    for j in 0..71 {
        for i in 0..130 {
            let _ = writeln!(depth, "{}", 1.0 + 0.5 * (-0.01 * (f64::from(i) - 60.0).powi(2) - 0.02 * (f64::from(j) - 30.0).powi(2)).exp());
        }
    }
    fs::write(folder.join("depth.txt"), depth).expect("a scratch folder can be written");
    fs::write(folder.join("steps.txt"), "0.01\n".repeat(5)).expect("a scratch folder can be written");
    let mut words: Vec<String> = ["nx=130", "ny=71", "dx=0.7", "dy=1.1", "u_init=0", "v_init=0"].map(str::to_owned).to_vec();
    words.extend(["north", "south", "east", "west"].map(|side| format!("b_{side}=0")));
    words.push(format!("timesteps_filename={}", folder.join("steps.txt").display()));
    words.extend(["h_init_from_file=true".to_owned(), format!("h_init_filename={}", folder.join("depth.txt").display())]);
    same_bytes("examples/shallow_water/shallow_water.equelle", &words, &folder, 23);
    fs::remove_dir_all(&folder).expect("a scratch folder can be removed");
}

/// What is no number of threads is refused before anything runs.
#[test]
fn what_is_no_number_of_threads_is_refused() {
    let program = built("-O2", "examples/heat_explicit_3d/heat_explicit_3d.equelle");
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
