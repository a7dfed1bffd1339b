//! Mistakes that people make who begin. Each is answered by the place, the cause and a remedy; the
//! remedy is applied, and then the run ends well.

mod data;
mod programs;

use std::fs;
use std::path::Path;
use std::process::Command;

/// A mistake: what is run, what the answer says, and what it advises.
struct Mistake {
    /// Arguments before the program.
    verb: &'static [&'static str],
    program: &'static str,
    /// Names and texts.
    files: &'static [(&'static str, &'static str)],
    words: &'static [&'static str],
    code: i32,
    /// Parts of the answer: place and cause.
    says: &'static [&'static str],
    /// The part of the remedy that the answer shows.
    shows: &'static str,
    remedy: Remedy,
}

/// A change that repairs the mistake.
enum Remedy {
    /// Each text of the program by another one.
    Program(&'static [(&'static str, &'static str)]),
    /// The text of a file.
    File(&'static str, &'static str),
    /// All words after the program.
    Words(&'static [&'static str]),
    /// The arguments before the program, and the words after it.
    Line(&'static [&'static str], &'static [&'static str]),
}

use Remedy::{File, Line, Program, Words};

const RUN: &[&str] = &["run", "--interpret", "--quiet"];

const MISTAKE: Mistake = Mistake { verb: RUN, program: GROWTH, files: &[], words: &[], code: 1, says: &[], shows: "", remedy: Words(&[]) };

/// Growth: needs `u` and `timesteps`.
const GROWTH: &str = r#"k = InputScalarWithDefault("k", 1)
u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar("u", AllCells())
For dt In InputSequenceOfScalar("timesteps") {
    u = u + dt * k * u
}
Output("u", u)
"#;

/// Runs `equellec` in a folder; the exit code, and what it wrote to standard error.
fn run(folder: &Path, verb: &[&str], has_program: bool, words: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equellec"));
    command.current_dir(folder).args(verb).args(has_program.then_some("p.equelle")).args(words);
    let output = command.output().expect("equellec starts");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The changed text or words of a remedy.
fn changed(remedy: &Remedy) -> String {
    match remedy {
        Program(changes) => changes.iter().map(|(_, to)| *to).collect::<Vec<_>>().join("\n"),
        File(_, text) => (*text).to_owned(),
        Words(words) => words.join("\n"),
        Line(verb, words) => format!("equellec {} p.equelle {}", verb.join(" "), words.join(" ")),
    }
}

/// Runs the mistake and then the remedy; an error for a wrong answer, or a remedy that fails.
fn fault(mistake: &Mistake) -> Result<(), String> {
    let Mistake { verb, program, files, words, code, says, shows, remedy } = mistake;
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let write = |file: &str, text: &str| fs::write(dir.join(file), text).expect("written");
    let require = |holds: bool, what: String| if holds { Ok(()) } else { Err(what) };
    write("p.equelle", if program.is_empty() { GROWTH } else { program });
    files.iter().for_each(|(file, text)| write(file, text));
    let (found, said) = run(dir, verb, !program.is_empty(), words);
    require(found == Some(*code), format!("exit code {found:?}\n{said}"))?;
    for part in says.iter().chain([shows]) {
        require(said.contains(part), format!("`{part}` is not in\n{said}"))?;
    }
    require(changed(remedy).contains(shows), format!("the remedy is another one than `{shows}`"))?;
    let errors = said.lines().filter(|line| line.starts_with("error")).count();
    require(errors == usize::from(*code != 0), format!("one mistake has {errors} messages\n{said}"))?;

    let (mut verb, mut words) = (*verb, *words);
    match remedy {
        Program(changes) => {
            let mut text = (*program).to_owned();
            for (from, to) in *changes {
                require(text.contains(from), format!("`{from}` is not in the program"))?;
                text = text.replacen(from, to, 1);
            }
            write("p.equelle", &text);
        }
        File(file, text) => write(file, text),
        Words(new) => words = new,
        Line(new, after) => (verb, words) = (new, after),
    }
    let (found, said) = run(dir, verb, true, words);
    require(found == Some(0) && !said.contains(says[0]), format!("after the remedy: exit code {found:?}\n{said}"))
}

#[test]
fn mistakes_are_answered_with_a_remedy_that_works() {
    let all: Vec<&(&str, Mistake)> = data::MISTAKES.iter().chain(programs::MISTAKES).collect();
    assert!(all.len() >= 25);
    let faults = all.iter().filter_map(|(name, mistake)| Some(format!("{name}: {}\n", fault(mistake).err()?)));
    let faults: Vec<String> = faults.collect();
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), all.len(), faults.concat());
}
