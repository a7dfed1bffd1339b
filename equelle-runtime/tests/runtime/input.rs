//! Inputs of a program, good and bad.

use std::sync::Arc;

use equelle_runtime::input::{CollectionInput, numbers_in};
use equelle_runtime::io::DataSource;
use equelle_runtime::session::Options;
use equelle_runtime::{Error, ErrorKind, Parameters, Session};

use crate::common::*;

const GRID: [&str; 4] = ["nx=4", "ny=3", "dx=0.5", "dy=0.3"];

/// A session on the worked example's grid with a parameter file made of `text` beside the data
/// files.
fn session(test: &str, text: &str, files: &[(&str, &str)]) -> (Session, std::path::PathBuf) {
    let dir = fresh_dir(test);
    for (name, content) in files {
        file(&dir, name, content);
    }
    let case = file(&dir, "case.param", text).display().to_string();
    let given: Vec<&str> = GRID.into_iter().chain([case.as_str()]).collect();
    (open(&given).expect("the session opens"), dir)
}

/// Kind, message without the directory, lines, hint.
fn shown(error: Error, dir: &std::path::Path) -> (ErrorKind, String, Vec<u32>, String) {
    (error.kind, error.message.replace(&format!("{}/", dir.display()), ""), error.lines, error.hint.unwrap_or_default())
}

#[test]
fn good_inputs() {
    let (mut session, _) = session(
        "input-good",
        "k=0.5\nu_initial=500\nv_filename=v.txt\ndir_filename=dir.txt\nempty_filename=empty.txt\ntimesteps_filename=dt.txt\n",
        &[("v.txt", "1 2\t3\r\n-4e-1"), ("dir.txt", "0 5\n10 30\n"), ("empty.txt", ""), ("dt.txt", "0.5\n0.5 0.25\n")],
    );
    assert_eq!(session.inputs().scalar("k", 0.3), Ok(0.5));
    assert_eq!(session.inputs().scalar("absent", 0.3), Ok(0.3));
    let cells = session.domain(ALL_CELLS).unwrap();
    assert_eq!(session.inputs().collection("u_initial", &cells), Ok(CollectionInput::Uniform(500.0)));
    let boundary = session.domain(BOUNDARY_FACES).unwrap();
    let dir = session.inputs().domain("dir", &boundary).unwrap();
    assert_eq!(dir.elements(), [0, 5, 10, 30]);
    let CollectionInput::Values(values) = session.inputs().collection("v", &dir).unwrap() else { panic!("values come from the file") };
    assert_eq!(*values, [1.0, 2.0, 3.0, -0.4]);
    assert!(session.inputs().domain("empty", &boundary).unwrap().is_empty());
    assert_eq!(*session.inputs().sequence("timesteps").unwrap(), [0.5, 0.5, 0.25]);
}

#[test]
fn files_are_read_once() {
    let text = "v_from_file=true\nv_filename=v.txt\ndir_filename=dir.txt\ndt_filename=dt.txt\n";
    let (mut session, folder) = session("input-once", text, &[("v.txt", "1 2"), ("dir.txt", "0 5"), ("dt.txt", "1")]);
    let boundary = session.domain(BOUNDARY_FACES).unwrap();
    let dir = session.inputs().domain("dir", &boundary).unwrap();
    let values = session.inputs().collection("v", &dir).unwrap();
    let sequence = session.inputs().sequence("dt").unwrap();
    for name in ["v.txt", "dir.txt", "dt.txt"] {
        std::fs::remove_file(folder.join(name)).unwrap();
    }
    assert!(Arc::ptr_eq(&session.inputs().domain("dir", &boundary).unwrap(), &dir));
    assert_eq!(session.inputs().collection("v", &dir).unwrap(), values);
    assert!(Arc::ptr_eq(&session.inputs().sequence("dt").unwrap(), &sequence));
}

#[test]
fn missing_parameters_name_key_and_line() {
    let (mut session, dir) = session("input-missing", "u_inital=500\nw_filename=w.txt\nw_from_file=false\n", &[]);
    let cells = session.domain(ALL_CELLS).unwrap();
    session.line(2);
    let error = session.inputs().collection("u_initial", &cells).unwrap_err();
    assert_eq!(
        shown(error, &dir),
        (
            ErrorKind::Data,
            "missing parameter `u_initial`: a value for every element of AllCells()".to_string(),
            vec![2],
            "`u_inital` is given but not used; is it meant to be `u_initial`?".to_string()
        )
    );
    let error = session.inputs().collection("q", &cells).unwrap_err();
    assert_eq!(shown(error, &dir).3, "give q=NUMBER or q_filename=FILE");
    let error = session.inputs().collection("w", &cells).unwrap_err();
    assert_eq!(shown(error, &dir).3, format!("w_from_file=false ({}/case.param:3) keeps w_filename out", dir.display()));
    session.line(4);
    let error = session.inputs().sequence("timesteps").unwrap_err();
    assert_eq!(
        shown(error, &dir),
        (
            ErrorKind::Data,
            "missing parameter `timesteps_filename`: the file with the numbers of the sequence".to_string(),
            vec![4],
            "give timesteps_filename=FILE, or timesteps=NUMBERS such as 40*0.01".to_string()
        )
    );
    let error = session.inputs().domain("dir", &cells).unwrap_err();
    assert_eq!(shown(error, &dir).1, "missing parameter `dir_filename`: the file with indices of elements of AllCells()");
}

/// Kinds of sources by what a parameter file and the command line give; the file holds 12 times 7,
/// the numbers are 3 in the file and 5 on the command line.
#[test]
fn which_source_counts() {
    let source = |text: &str, given: &[&str]| {
        let dir = fresh_dir("input-sources");
        file(&dir, "u.txt", &"7 ".repeat(12));
        let case = file(&dir, "case.param", text).display().to_string();
        let on_command_line: Vec<String> = given.iter().map(|word| word.replace("DIR", &dir.display().to_string())).collect();
        let words: Vec<&str> = GRID.into_iter().chain([case.as_str()]).chain(on_command_line.iter().map(String::as_str)).collect();
        let read = open(&words).and_then(|mut session| {
            let cells = session.domain(ALL_CELLS)?;
            session.inputs().collection("u_initial", &cells)
        });
        match read {
            Ok(CollectionInput::Uniform(value)) => Ok(value),
            Ok(CollectionInput::Values(values)) => Ok(values[11]),
            Err(error) => Err(shown(error, &dir).1),
        }
    };
    const FILE: &str = "u_initial_filename=u.txt\n";
    const NAMED: &str = "u_initial_filename=DIR/u.txt";
    // The file name is enough; the flag changes nothing.
    assert_eq!(source(FILE, &[]), Ok(7.0));
    assert_eq!(source(&format!("{FILE}u_initial_from_file=true\n"), &[]), Ok(7.0));
    // The flag keeps the file out.
    let both = format!("{FILE}u_initial=3\n");
    assert_eq!(source(&format!("{both}u_initial_from_file=false\n"), &[]), Ok(3.0));
    assert_eq!(source(&both, &["u_initial_from_file=false"]), Ok(3.0));
    let missing = "missing parameter `u_initial`: a value for every element of AllCells()".to_owned();
    assert_eq!(source(&format!("{FILE}u_initial_from_file=false\n"), &[]), Err(missing));
    // Two sources in files, with both places, wherever they stand.
    let two = |number: &str, file: &str| Err(format!("input `u_initial` has two sources: `u_initial={number} and `u_initial_{file}"));
    assert_eq!(source(&both, &[]), two("3` (case.param:2)", "filename=u.txt` (case.param:1)"));
    assert_eq!(source(&format!("{both}u_initial_from_file=true\n"), &[]), two("3` (case.param:2)", "filename=u.txt` (case.param:1)"));
    // And on the command line.
    assert_eq!(source("", &["u_initial=5", "u_initial_filename=u.txt"]), two("5` (command line)", "filename=u.txt` (command line)"));
    assert_eq!(source(FILE, &["u_initial=5", "u_initial_from_file=true"]), two("5` (command line)", "from_file=true` (command line)"));
    // The command line replaces what files give, whatever it was.
    assert_eq!(source(FILE, &["u_initial=5"]), Ok(5.0));
    assert_eq!(source(&format!("{FILE}u_initial_from_file=true\n"), &["u_initial=5"]), Ok(5.0));
    assert_eq!(source("u_initial_from_file=true\n", &["u_initial=5"]), Ok(5.0));
    assert_eq!(source("u_initial=3\n", &[NAMED]), Ok(7.0));
    assert_eq!(source("u_initial=3\nu_initial_from_file=false\n", &[NAMED]), Ok(7.0));
    assert_eq!(source(&both, &["u_initial_from_file=true"]), Ok(7.0));
    assert_eq!(source("u_initial=3\n", &[NAMED, "u_initial_from_file=false"]), Ok(3.0));
    // The flag without a file.
    let nameless =
        |place: &str| Err(format!("missing parameter `u_initial_filename`: `u_initial_from_file=true` ({place}) asks for a file"));
    assert_eq!(source("u_initial_from_file=true\n", &[]), nameless("case.param:1"));
    assert_eq!(source("u_initial=3\n", &["u_initial_from_file=true"]), nameless("command line"));
}

/// A number that the grid reads too is no second source; then the file counts where it is given.
#[test]
fn names_that_are_shared() {
    use equelle_runtime::session::Options;
    use equelle_runtime::{InputInfo, InputKind, Program};
    let collection = InputInfo { name: "dx".into(), kind: InputKind::Collection, domain: "AllCells()".into(), ..InputInfo::default() };
    let shared = Program { inputs: vec![collection], ..heat() };
    let dir = fresh_dir("input-shared");
    let name = format!("dx_filename={}", file(&dir, "dx.txt", "1 2").display());
    let read = |given: &[&str]| {
        let mut session = Session::open_with(shared.clone(), &words(given), Options::silent()).unwrap();
        let cells = session.domain(ALL_CELLS).unwrap();
        session.inputs().collection("dx", &cells).unwrap().to_vec(2)
    };
    assert_eq!(read(&["nx=2", "dx=0.5", &name]), [1.0, 2.0]);
    assert_eq!(read(&["nx=2", "dx=0.5"]), [0.5, 0.5]);
}

/// Files of domains and sequences that are kept out, or have no name.
#[test]
fn files_of_lists() {
    let dir = fresh_dir("input-lists");
    let list = file(&dir, "dt.txt", "1 2").display().to_string();
    let case = file(&dir, "case.param", "timesteps_from_file=false\n").display().to_string();
    let refused = |given: &[&str]| open(given).err().map(|error| (error.message, error.lines));
    let kept_out = format!("`timesteps_from_file=false` ({case}:1) keeps the file out, and `timesteps` has no other source");
    assert_eq!(refused(&[&case]), Some((kept_out, vec![4])));
    let nameless = "missing parameter `dir_filename`: `dir_from_file=true` (command line) asks for a file".to_owned();
    assert_eq!(refused(&["dir_from_file=true"]), Some((nameless, vec![3])));
    // A file that the command line names is wanted.
    let mut session = open(&[&case, &format!("timesteps_filename={list}")]).unwrap();
    assert_eq!(*session.inputs().sequence("timesteps").unwrap(), [1.0, 2.0]);
}

#[test]
fn wrong_number_of_values() {
    let text = "few_from_file=true\nfew_filename=few.txt\nmany_from_file=true\nmany_filename=many.txt\n";
    let (mut session, dir) = session("input-count", text, &[("few.txt", "1 2 3"), ("many.txt", "1 2 3 4 5 6 7 8 9 10 11 12 13")]);
    let cells = session.domain(ALL_CELLS).unwrap();
    for (name, found) in [("few", 3), ("many", 13)] {
        let error = session.inputs().collection(name, &cells).unwrap_err();
        let (kind, message, ..) = shown(error, &dir);
        assert_eq!(kind, ErrorKind::Data);
        assert_eq!(message, format!("`{name}.txt`: input `{name}` on AllCells(): expected 12 values, found {found}"));
    }
}

#[test]
fn words_among_numbers_are_placed() {
    let (mut session, dir) = session("input-words", "dt_filename=dt.txt\n", &[("dt.txt", "0.5 0.5\n  0.5 half 0.5\n")]);
    let error = session.inputs().sequence("dt").unwrap_err();
    assert_eq!(shown(error, &dir).1, "dt.txt:2:7: `half` is not a number");
    let error = numbers_in("x".as_ref(), b"1 2 nan").unwrap_err();
    assert_eq!(error.message, "x:1:5: `nan` is not a number");
    let error = numbers_in("x".as_ref(), b"1\n1e400").unwrap_err();
    assert_eq!(error.message, "x:2:1: `1e400` is beyond the range of numbers");
}

#[test]
fn bad_domains_are_placed() {
    let refused = |content: &str, message: &str| {
        let (mut session, dir) = session("input-domain", "dir_filename=dir.txt\n", &[("dir.txt", content)]);
        let boundary = session.domain(BOUNDARY_FACES).unwrap();
        session.line(3);
        let (kind, found, lines, hint) = shown(session.inputs().domain("dir", &boundary).unwrap_err(), &dir);
        assert_eq!((kind, found.as_str(), lines), (ErrorKind::Data, message, vec![3]));
        assert!(!hint.is_empty());
    };
    refused("0 5\n31\n", "dir.txt:2:1: face index `31` is out of range: the grid has 31 faces (0 to 30)");
    refused("-1 5\n", "dir.txt:1:1: face index `-1` is out of range: the grid has 31 faces (0 to 30)");
    refused("99999999999999999999", "dir.txt:1:1: face index `99999999999999999999` is out of range: the grid has 31 faces (0 to 30)");
    refused("0 10\n5\n", "dir.txt:2:1: not sorted: face 5 comes after 10");
    refused("0 5 5\n", "dir.txt:1:5: face 5 occurs twice");
    refused("0 1\n", "dir.txt:1:3: face 1 is not in BoundaryFaces()");
    refused("0.0 6 7\n", "dir.txt:1:1: `0.0` is not a face index");
    refused("0 five\n", "dir.txt:1:3: `five` is not a face index");
}

#[test]
fn files_that_are_not_there() {
    let (mut session, dir) = session("input-nofile", "dt_filename=dt.txt\n", &[]);
    let (kind, message, ..) = shown(session.inputs().sequence("dt").unwrap_err(), &dir);
    assert_eq!(kind, ErrorKind::Io);
    assert!(message.starts_with("cannot read `dt.txt`: "), "{message}");
}

#[test]
fn many_numbers_are_read_in_reasonable_time() {
    // Two million numbers; 10 s would be 5 us a number in a debug build, ten times what it takes.
    let text = "0.123456789012345\n".repeat(2_000_000);
    let begin = std::time::Instant::now();
    let values = numbers_in("x".as_ref(), text.as_bytes()).unwrap();
    assert_eq!((values.len(), values[1_999_999]), (2_000_000, 0.123_456_789_012_345));
    assert!(begin.elapsed().as_secs() < 10, "{:?}", begin.elapsed());
}

/// Parameters, grid and data in memory; file names of a parameter file are relative to it there,
/// too.
#[test]
fn a_run_from_memory_reads_no_file() {
    let grid = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../grids/triangles-6x5.grid")).unwrap();
    let source = DataSource::memory([
        ("case/case.param", b"grid_filename=mesh.grid\nu_filename=u.txt\n".to_vec()),
        ("case/mesh.grid", grid),
        ("case/u.txt", "2.5\n".repeat(60).into_bytes()),
    ]);
    let parameters = Parameters::from_words_in(source, &["case/case.param".to_string()]).unwrap();
    let mut session = Session::from_parameters(heat(), parameters, Options::silent()).unwrap();
    let cells = session.domain(ALL_CELLS).unwrap();
    assert_eq!(session.inputs().collection("u", &cells).unwrap().to_vec(60), [2.5; 60]);
    let error = session.inputs().sequence("dt").unwrap_err();
    assert!(error.message.starts_with("missing parameter `dt_filename`"), "{error:?}");
}
