//! Names that generated functions use for their own purposes stay theirs, whatever the variables
//! of a program are called: each of them is given to a variable, and no function binds it twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use equelle::pipeline;
use equelle::registry::{BACKENDS, costs};
use equelle_front::backend::Backend;
use equellec::console::{Console, MessageFormat};

/// A name that no generator uses.
const NEUTRAL: &str = "zz";

/// Programs in `own_names/` whose variable is [`NEUTRAL`]; no others take them for theirs.
const PROGRAMS: [&str; 4] = ["index", "strips", "faces", "residual"];

/// The texts of a program's functions, and whether each is Rust; `None` if the program may not call
/// a variable so.
fn functions_of(program: &str, variable: &str, backend: &'static dyn Backend, folder: &Path) -> Option<Vec<(bool, String)>> {
    let path = folder.join("names.equelle");
    fs::write(&path, program.replace(NEUTRAL, variable)).expect("a file");
    let source = pipeline::read(&path).expect("it is there");
    let options = pipeline::Options { nondimensional: true, costs: costs(&[backend]), ..Default::default() };
    let console = Console { format: MessageFormat::Json, color: false };
    let verified = pipeline::compile(&source, options, &console).ok()?;
    let package = pipeline::package(&source, &verified, &[backend], folder).expect("a package");
    let files =
        package.files.into_iter().filter(|(name, _)| name.starts_with("src/") && !["src/main.rs", "src/kernels.rs"].contains(&&name[..]));
    Some(files.map(|(name, text)| (name.ends_with(".rs"), text)).collect())
}

/// The functions of texts, each with the names that it binds and how often.
fn bindings(texts: &[(bool, String)]) -> Vec<BTreeMap<&str, usize>> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins =
        |line: &str| ["fn ", "pub fn ", "    fn ", "__global__", "static", "template", "extern"].iter().any(|word| line.starts_with(word));
    let mut functions = vec![BTreeMap::new()];
    for (is_rust, line) in texts.iter().flat_map(|(is_rust, text)| text.lines().map(move |line| (*is_rust, line))) {
        if begins(line) {
            functions.push(BTreeMap::new());
        }
        let line = line.split("//").next().unwrap_or_default();
        let mut from = 0;
        while let Some(start) = line[from..].find(is_word).map(|at| from + at) {
            let end = line[start..].find(|c| !is_word(c)).map_or(line.len(), |at| start + at);
            from = end;
            let (word, before, after) = (&line[start..end], line[..start].trim_end(), &line[end..]);
            let is_name = word.starts_with(|c: char| c.is_ascii_lowercase());
            let is_let = ["let", "let mut", "for", "|"].iter().any(|bind| before.ends_with(bind));
            // `double x = ...`, `const double* __restrict__ x,`
            let last = before.rsplit(|c| !is_word(c)).next().unwrap_or_default();
            let is_declared = !["", "return", "else", "const", "unsigned"].contains(&last)
                && before.len() < start
                && [" =", ";", ",", ")", "["].iter().any(|next| after.starts_with(next));
            if is_name && if is_rust { is_let } else { is_declared } {
                *functions.last_mut().expect("one").entry(word).or_default() += 1;
            }
        }
    }
    functions
}

#[test]
fn variables_take_no_name_that_functions_use() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut checked, mut taken) = (0, BTreeSet::new());
    for &backend in BACKENDS {
        for program in PROGRAMS {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/texts/own_names").join(program).with_extension("txt");
            let program = &fs::read_to_string(path).expect("a program");
            let neutral = functions_of(program, NEUTRAL, backend, folder.path()).expect("a program");
            let functions = bindings(&neutral);
            let is_own = |name: &&str| !name.starts_with(NEUTRAL);
            let own: BTreeSet<&str> = functions.iter().flat_map(BTreeMap::keys).copied().filter(is_own).collect();
            assert!(own.len() > 8, "{}: {own:?}", backend.name());
            for name in own {
                let Some(text) = functions_of(program, name, backend, folder.path()) else { continue };
                let named = bindings(&text);
                assert_eq!(named.len(), functions.len(), "functions with a variable `{name}`");
                for (before, after) in functions.iter().zip(&named) {
                    let [own, variable] = [name, NEUTRAL].map(|name| before.get(name).copied().unwrap_or(0));
                    let found = after.get(name).copied().unwrap_or(0);
                    if own > 0 && variable > 0 && found > own.max(variable) {
                        taken.insert(format!("{}: `{name}` is bound {found} times, else {own} and {variable}", backend.name()));
                    }
                    checked += usize::from(own > 0 && variable > 0);
                }
            }
        }
    }
    assert!(taken.is_empty(), "{taken:#?}");
    assert!(checked > 100, "{checked} names");
}
