//! Parameters: precedence, comments, types, messages.

use std::path::{Path, PathBuf};

use equelle_runtime::params::{Origin, near_match};
use equelle_runtime::{ErrorKind, Parameters};

use crate::common::*;

fn read(text: &str) -> Result<Parameters, equelle_runtime::Error> {
    let mut parameters = Parameters::default();
    parameters.read_text(Path::new("dir/case.param"), text.as_bytes())?;
    Ok(parameters)
}

#[test]
fn blanks_comments_and_line_ends() {
    let text = "\u{feff}// a comment\r\n# another\r\n\r\n  nx = 10 \r\ndx=0.5//half\nname = a#b # tail\n\tflag\t=\ttrue\t\nempty=\nlast=1";
    let parameters = read(text).unwrap();
    assert_eq!(parameters.integer("nx").unwrap(), Some(10));
    assert_eq!(parameters.number("dx").unwrap(), Some(0.5));
    assert_eq!(parameters.text("name"), Some("a#b"));
    assert_eq!(parameters.flag("flag").unwrap(), Some(true));
    assert_eq!(parameters.text("empty"), Some(""));
    assert_eq!(parameters.number("last").unwrap(), Some(1.0));
    assert_eq!(parameters.text("absent"), None);
    assert_eq!(parameters.origin("dx"), Some(&Origin::File { path: "dir/case.param".into(), line: 5 }));
}

#[test]
fn malformed_lines_name_file_and_line() {
    let refused = |text: &str, expected: &str| {
        let error = read(text).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Data, expected));
    };
    refused("nx=1\nny 2\n", "dir/case.param:2: `ny 2`: there is no `=`");
    refused("nx=1=2", "dir/case.param:1: `nx=1=2`: there is more than one `=`");
    refused("\n=3", "dir/case.param:2: `=3`: there is no key before `=`");
    refused("n x=3", "dir/case.param:1: `n x=3`: the key has a blank in it");
    let mut parameters = Parameters::default();
    let error = parameters.read_text(Path::new("p.param"), b"a=1\nb=\xff\n").unwrap_err();
    assert_eq!(error.message, "p.param:2: not UTF-8 text");
}

#[test]
fn later_values_win_and_the_command_line_over_files() {
    let dir = fresh_dir("params-order");
    let a = file(&dir, "a.param", "k=1\nm=1\nn=1\nn=2\n");
    let b = file(&dir, "b.param", "m=2\n");
    let name = |path: &Path| path.display().to_string();
    // The assignment comes first on the command line and still wins.
    let parameters = Parameters::from_words(&[s("k=9"), name(&a), name(&b), s("j=1"), s("j=2")]).unwrap();
    let value = |key: &str| parameters.number(key).unwrap().unwrap();
    assert_eq!(["k", "m", "n", "j"].map(value), [9.0, 2.0, 2.0, 2.0]);
    assert_eq!(parameters.origin("k"), Some(&Origin::CommandLine));
}

fn s(text: &str) -> String {
    text.to_string()
}

#[test]
fn words_that_are_neither() {
    let refused = |word: &str, kind: ErrorKind, part: &str| {
        let error = Parameters::from_words(&[s(word)]).unwrap_err();
        assert_eq!(error.kind, kind);
        assert!(error.message.contains(part), "{}", error.message);
    };
    refused("case.txt", ErrorKind::Usage, "neither a parameter file nor key=value");
    refused("a=b=c", ErrorKind::Usage, "more than one `=`");
    refused("=c", ErrorKind::Usage, "no key");
    refused("no-such-file.param", ErrorKind::Io, "`no-such-file.param`");
    // A name without a dot counts as its own extension.
    refused("no-such-dir/param", ErrorKind::Io, "`no-such-dir/param`");
}

#[test]
fn flags_and_comparisons() {
    let parameters = read("a=True\nb=yes\nc=1\nd=FALSE\ne=no\nf=0\ng = where x <= 1 And y != 2 Or z==3\n").unwrap();
    let flags: Vec<bool> = ["a", "b", "c", "d", "e", "f"].map(|key| parameters.flag(key).unwrap().unwrap()).to_vec();
    assert_eq!(flags, [true, true, true, false, false, false]);
    assert_eq!(parameters.text("g"), Some("where x <= 1 And y != 2 Or z==3"));
    for line in ["a==1\n", "a=b=c\n", "a=1 =\n"] {
        assert!(read(line).unwrap_err().message.ends_with("there is more than one `=`"), "{line}");
    }
}

#[test]
fn types() {
    let parameters = read("a=1.5\nb=abc\nc=on\nd=-1\ne=12x\nf=1e999\ng=\n").unwrap();
    let messages = [
        parameters.number("b").unwrap_err().message,
        parameters.number("e").unwrap_err().message,
        parameters.number("f").unwrap_err().message,
        parameters.number("g").unwrap_err().message,
        parameters.integer("a").unwrap_err().message,
        parameters.integer("d").unwrap_err().message,
        parameters.flag("c").unwrap_err().message,
        parameters.path("g").unwrap_err().message,
    ];
    assert_eq!(
        messages,
        [
            "parameter `b` (dir/case.param:2) must be a number, not `abc`",
            "parameter `e` (dir/case.param:5) must be a number, not `12x`",
            "parameter `f` (dir/case.param:6) `1e999` is beyond the range of numbers",
            "parameter `g` (dir/case.param:7) must be a number, not ``",
            "parameter `a` (dir/case.param:1) must be a whole number, 0 or more, not `1.5`",
            "parameter `d` (dir/case.param:4) must be a whole number, 0 or more, not `-1`",
            "parameter `c` (dir/case.param:3) must be `true` or `false`, not `on`",
            "parameter `g` (dir/case.param:7) must be a file name, not ``",
        ]
    );
}

#[test]
fn file_names_are_relative_to_the_file_that_gives_them() {
    let mut parameters = read("u=data/u.txt\nv=/abs/v.txt\n").unwrap();
    parameters.set("w", "w.txt");
    let path = |key: &str| parameters.path(key).unwrap().unwrap();
    assert_eq!(path("u"), PathBuf::from("dir/data/u.txt"));
    assert_eq!(path("v"), PathBuf::from("/abs/v.txt"));
    assert_eq!(path("w"), PathBuf::from("w.txt"));
}

#[test]
fn unknown_keys() {
    let parameters = read("k=1\nu_inital=500\nzzz=1\nnx=3\n").unwrap();
    let near = |key: &str| (key == "u_inital").then(|| "u_initial".to_owned());
    assert_eq!(
        parameters.unknown(|key| ["k", "nx"].contains(&key), near),
        [
            "parameter `u_inital` (dir/case.param:2) is not used: this program has no input of that name; did you mean `u_initial`?",
            "parameter `zzz` (dir/case.param:3) is not used: this program has no input of that name"
        ]
    );
    parameters.number("k").unwrap();
    assert_eq!(parameters.near_unused("u_initial"), Some("u_inital"));
    assert_eq!(parameters.near_unused("timesteps_filename"), None);
}

/// In one file a value that a later line replaces is a slip; another file, or the command line,
/// replaces values on purpose.
#[test]
fn values_replaced_in_the_same_file_are_warned_of() {
    let dir = fresh_dir("params-replaced");
    let a = file(&dir, "a.param", "n=1\nm=1\nn=2\nm=1\n");
    let b = file(&dir, "b.param", "n=3\n");
    let name = |path: &Path| path.display().to_string();
    let parameters = Parameters::from_words(&[name(&a), name(&b), s("m=7")]).unwrap();
    assert_eq!(parameters.replaced(), [format!("parameter `n=1` ({}:1) is replaced in line 3: `n=2`", a.display())]);
    assert_eq!(parameters.number("n").unwrap(), Some(3.0));
}

#[test]
fn near_matches() {
    let near = |word: &str| near_match(word, ["timesteps", "nx", "ny", "k", "Dir"].into_iter());
    assert_eq!(near("timestpes"), Some("timesteps"));
    assert_eq!(near("timestep"), Some("timesteps"));
    assert_eq!(near("dir"), Some("Dir"));
    assert_eq!(near("nz"), Some("nx"));
    assert_eq!(near("q"), None);
    assert_eq!(near("velocity"), None);
}
