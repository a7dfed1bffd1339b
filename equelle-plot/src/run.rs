//! The record of a run, and which files of it hold what.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use equelle_runtime::params::near_match;
use equelle_runtime::run::{FAILURE, open_plain_file, read_plain_file};
use equelle_runtime::vtk::Association;
use equelle_runtime::vtk::reader;
use equelle_runtime::{Error, ErrorKind};
use serde_json::Value;

use crate::slice::AXES;

/// End of the name of a record.
const RECORD: &str = ".run.json";

/// Bytes of a file of VTK that are read for the names of its arrays: tags stand before the data.
const HEAD: u64 = 1 << 18;

/// Most files of VTK that are read for their tags, from the first and from the last on.
const SAMPLED: usize = 100;

/// A run: its program and its files.
#[derive(Clone, Debug)]
pub struct Run {
    /// Name of the program.
    pub program: String,
    /// `done`, `running`, `failed` or `interrupted`.
    pub state: String,
    /// Cells along each axis and their widths, if the grid is Cartesian.
    pub boxes: Option<(Vec<usize>, Vec<f64>)>,
    /// Number of cells.
    pub n_cells: usize,
    /// Units of its numbers.
    pub units: Units,
    /// Its record.
    pub record: Value,
    dir: PathBuf,
    files: Vec<OutputFile>,
}

/// Units of the numbers of a run; none where nobody knows them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Units {
    /// Unit of coordinates.
    pub coordinates: Option<String>,
    /// Unit of times.
    pub time: Option<String>,
    /// Units of outputs, by tag.
    outputs: BTreeMap<String, String>,
}

impl Units {
    fn of(value: &Value) -> Units {
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        let outputs = value["outputs"].as_object().into_iter().flatten();
        let outputs = outputs.filter_map(|(tag, unit)| Some((tag.clone(), unit.as_str()?.to_owned()))).collect();
        Units { coordinates: text("coordinates"), time: text("time"), outputs }
    }

    /// That of a tag, of a component `v_x` of a Vector, or of a column `u(0.5 0.5)` at a probe.
    pub fn output(&self, name: &str) -> Option<&str> {
        let at_probe = || name.strip_suffix(')')?.split_once('(').map(|(tag, _)| tag);
        let component = |name: &str| {
            let (tag, axis) = name.rsplit_once('_')?;
            self.outputs.get(tag).filter(|_| AXES.contains(&axis)).map(String::as_str)
        };
        let of = |name: &str| self.outputs.get(name).map(String::as_str).or_else(|| component(name));
        of(name).or_else(|| of(at_probe()?))
    }
}

/// A name with its unit: `x [m]`.
pub fn with_unit(name: &str, unit: Option<&str>) -> String {
    unit.map_or_else(|| name.to_owned(), |unit| format!("{name} [{unit}]"))
}

/// Content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Collections on cells and vertices of a step, as VTK.
    Step,
    /// One collection, as an array of NumPy.
    Npy(String),
    /// One collection, as text.
    Text(String),
    /// Single numbers of all steps.
    Rows,
}

/// A file of a run.
#[derive(Clone, Debug)]
pub struct OutputFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its content.
    pub content: Content,
    /// Round of the outermost loop, from 1; 0 before it.
    pub step: u64,
    /// `None` where nobody knows it.
    pub time: Option<f64>,
}

/// The tags of the collections of a run, and its files that may hold them.
#[derive(Clone, Debug)]
pub struct Tag {
    /// As the program gives it.
    pub name: String,
    /// By step; a file of VTK between those that were looked at may lack the tag.
    pub files: Vec<OutputFile>,
}

impl Run {
    /// Opens the run of a folder with one record, or of a record.
    ///
    /// # Errors
    /// `Io` for what cannot be read; `Data` for a folder without a record or with several, and for
    /// a record that is damaged.
    pub fn open(path: &Path) -> Result<Run, Error> {
        let record = if path.is_dir() { only_record(path)? } else { path.to_owned() };
        let text = read_plain_file(&record).map_err(|error| cannot_read(&record, &error))?;
        let bad = |what: &str| Error::new(ErrorKind::Data, format!("{}: {what}", record.display()));
        let value: Value = serde_json::from_slice(&text)
            .map_err(|error| bad(&format!("not the record of a run: {error}")).hint("give the folder of a run, or its PROGRAM.run.json"))?;
        let program = value["program"]["name"].as_str().ok_or_else(|| bad("not the record of a run: there is no name of a program"))?;
        let dir = record.parent().map(Path::to_owned).unwrap_or_default();
        let state = value["state"].as_str().unwrap_or("running").to_owned();
        let mut entries: Vec<Value> = value["files"].as_array().cloned().unwrap_or_default();
        if state == "running" {
            // A run that goes on, or was killed, has its list in a file of its own.
            let journal = read_plain_file(&dir.join(format!(".{program}.run.files"))).unwrap_or_default();
            entries.extend(String::from_utf8_lossy(&journal).lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()));
        }
        let files = entries.iter().filter_map(|entry| OutputFile::of(entry, &dir)).collect();
        let grid = &value["grid"];
        let (boxes, n_cells, units) = (boxes(&grid["cartesian"]), count(&grid["cells"]), Units::of(&value["units"]));
        Ok(Run { program: program.to_owned(), state, boxes, n_cells, units, record: value, dir, files })
    }

    /// The folder of its files.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The error of a later run that has failed without an output, so that the files are still
    /// those of this one.
    pub fn later_failure(&self) -> Option<String> {
        let path = self.dir.join(FAILURE).join(format!("{}{RECORD}", self.program));
        let record: Value = serde_json::from_slice(&read_plain_file(&path).ok()?).ok()?;
        let is_beside = ["started", "process"].iter().all(|key| record["beside"][key] == self.record[key] && !self.record[key].is_null());
        let error = record["error"].as_str().unwrap_or("nothing is known of it");
        is_beside.then(|| format!("a later run has no output: {error}; its record is `{}`", path.display()))
    }

    /// The table of single numbers.
    pub fn rows(&self) -> Option<&OutputFile> {
        self.files.iter().find(|file| file.content == Content::Rows)
    }

    /// The tags of collections on cells and vertices, by name. Of a tag in several formats the
    /// files of VTK count, which hold the grid.
    ///
    /// # Errors
    /// `Io` and `Data` of a file of VTK whose tags cannot be read.
    pub fn tags(&self) -> Result<Vec<Tag>, Error> {
        let steps: Vec<&OutputFile> = self.files.iter().filter(|file| file.content == Content::Step).collect();
        let mut names = BTreeSet::new();
        for (index, file) in steps.iter().enumerate() {
            if index < SAMPLED || index + SAMPLED >= steps.len() {
                names.extend(names_of(&file.path)?);
            }
        }
        let mut tags: Vec<Tag> = Vec::new();
        for name in &names {
            tags.push(Tag { name: name.clone(), files: steps.iter().copied().cloned().collect() });
        }
        for is_npy in [true, false] {
            let mut others: Vec<Tag> = Vec::new();
            for file in &self.files {
                let name = match &file.content {
                    Content::Npy(name) if is_npy => name,
                    Content::Text(name) if !is_npy => name,
                    Content::Npy(_) | Content::Text(_) | Content::Step | Content::Rows => continue,
                };
                if tags.iter().any(|tag| tag.name == *name) {
                    continue;
                }
                match others.iter_mut().find(|tag| tag.name == *name) {
                    Some(tag) => tag.files.push(file.clone()),
                    None => others.push(Tag { name: name.clone(), files: vec![file.clone()] }),
                }
            }
            tags.extend(others);
        }
        Ok(tags)
    }
}

impl OutputFile {
    /// Reads an entry of a record; `None` for files that are not drawn, and for a name that leaves
    /// the folder.
    fn of(entry: &Value, dir: &Path) -> Option<OutputFile> {
        let name = entry["name"].as_str()?;
        if Path::new(name).file_name() != Some(name.as_ref()) {
            return None;
        }
        let (stem, extension) = name.rsplit_once('.')?;
        let tag = || entry["tag"].as_str().map(str::to_owned);
        let content = match extension {
            "npy" => Content::Npy(tag()?),
            "output" => Content::Text(tag()?),
            "csv" => Content::Rows,
            "vti" | "vtu" if !has_part(stem) => Content::Step,
            _ => return None,
        };
        Some(OutputFile { path: dir.join(name), content, step: entry["step"].as_u64().unwrap_or(0), time: entry["time"].as_f64() })
    }

    /// Its bytes.
    ///
    /// # Errors
    /// `Io`, also for a file that was removed after the run.
    pub fn read(&self) -> Result<Vec<u8>, Error> {
        read_plain_file(&self.path).map_err(|error| cannot_read(&self.path, &error).hint("the record of the run lists it; was it removed?"))
    }
}

/// True if a file of VTK holds faces or edges: `heat-faces-00040`, also `heat-faces-00040-1`.
fn has_part(stem: &str) -> bool {
    let without_number = |stem: &str| match stem.rsplit_once('-') {
        Some((rest, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => rest.to_owned(),
        Some(_) | None => stem.to_owned(),
    };
    let name = without_number(&without_number(stem));
    name.ends_with("-faces") || name.ends_with("-edges")
}

fn only_record(dir: &Path) -> Result<PathBuf, Error> {
    let listed = std::fs::read_dir(dir).map_err(|error| cannot_read(dir, &error))?;
    let mut records: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
    records.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(RECORD)));
    records.sort();
    match &records[..] {
        [record] => Ok(record.clone()),
        [] => Err(Error::new(ErrorKind::Data, format!("`{}` has no outputs: there is no record of a run, PROGRAM{RECORD}", dir.display()))
            .hint("a run that prints everything leaves none: run with output_format=vtu,csv output_dir=DIR")),
        [first, ..] => {
            let names: Vec<String> = records.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect();
            Err(Error::new(ErrorKind::Data, format!("`{}` has the records of several runs: {}", dir.display(), names.join(", ")))
                .hint(format!("name one: equellec plot {}", first.display())))
        }
    }
}

fn cannot_read(path: &Path, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("cannot read `{}`: {error}", path.display()))
}

fn count(value: &Value) -> usize {
    value.as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
}

fn boxes(cartesian: &Value) -> Option<(Vec<usize>, Vec<f64>)> {
    let n: Vec<usize> = cartesian["n"].as_array()?.iter().map(count).collect();
    let spacing: Vec<f64> = cartesian["spacing"].as_array()?.iter().filter_map(Value::as_f64).filter(|&width| width > 0.0).collect();
    let is_sound = (1..=3).contains(&n.len()) && n.len() == spacing.len() && n.iter().all(|&n| n > 0);
    is_sound.then_some((n, spacing))
}

/// Tags of the arrays of a file of VTK: their names without units.
fn names_of(path: &Path) -> Result<Vec<String>, Error> {
    let mut head = Vec::new();
    let file = open_plain_file(path).map_err(|error| cannot_read(path, &error))?;
    file.take(HEAD).read_to_end(&mut head).map_err(|error| cannot_read(path, &error))?;
    let file = reader::read(path, &head)?;
    let both = [Association::Cells, Association::Points];
    Ok(both.iter().flat_map(|&association| file.names(association)).map(|name| split_unit(name).0.to_owned()).collect())
}

/// A name of an array as tag and unit.
pub fn split_unit(name: &str) -> (&str, Option<&str>) {
    match name.strip_suffix(']').and_then(|rest| rest.rsplit_once(" [")) {
        Some((tag, unit)) => (tag, Some(unit)),
        None => (name, None),
    }
}

/// The error of a name that is not there.
pub fn no_such(what: &str, name: &str, known: &[String]) -> Error {
    let error = Error::new(ErrorKind::Usage, format!("the run has no {what} `{name}`"));
    let listed: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    match near_match(name, known.iter().map(String::as_str)) {
        Some(near) => error.hint(format!("do you mean `{near}`?")),
        None if known.is_empty() => error,
        None => error.hint(format!("it has {}", listed.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_parts_are_in_names() {
        assert_eq!(split_unit("p [Bar]"), ("p", Some("Bar")));
        assert_eq!(split_unit("p"), ("p", None));
        assert_eq!(["heat-00040", "heat-faces-00040", "heat-edges-00040-1", "two-faces"].map(has_part), [false, true, true, true]);
    }

    #[test]
    fn units_of_tags_components_and_probes() {
        let outputs = serde_json::json!({"v": "m/s", "u_1": "K"});
        let units = Units::of(&serde_json::json!({"coordinates": "m", "time": null, "outputs": outputs}));
        let found = ["v", "v_x", "v(0.5 1)", "v_x(0.5 1)", "u_1", "u_1(2)", "u", "v_1", "w"].map(|name| units.output(name));
        let speed = Some("m/s");
        assert_eq!(found, [speed, speed, speed, speed, Some("K"), Some("K"), None, None, None]);
        assert_eq!((units.coordinates.as_deref(), units.time), (Some("m"), None));
    }

    #[test]
    fn names_that_leave_the_folder_are_no_files() {
        let entry = |name: &str| serde_json::json!({ "name": name, "tag": "u", "step": 1, "time": null });
        let of = |name: &str| OutputFile::of(&entry(name), Path::new("/data")).map(|file| file.path);
        assert_eq!(of("u-00000.npy"), Some(PathBuf::from("/data/u-00000.npy")));
        assert_eq!([of("../u-00000.npy"), of("/etc/u.npy"), of(".."), of("heat.pvd")], [None, None, None, None]);
    }
}
