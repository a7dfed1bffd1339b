//! Entries of output files in the record of a run.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::{Value, json};

use crate::hash::StableHash;

/// Format of the files that hold one collection each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TagFormat {
    /// Text, one element a line.
    Text,
    /// An array of NumPy.
    Npy,
}

/// Format of the files that hold the collections of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepFormat {
    /// VTK's unstructured grid.
    Vtu,
    /// VTK's image data.
    Vti,
}

/// The entities that are the cells of a file of VTK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepPart {
    /// Cells of the grid.
    Cells,
    /// Its faces.
    Faces,
    /// Its edges.
    Edges,
}

impl StepPart {
    const ALL: [StepPart; 3] = [StepPart::Faces, StepPart::Edges, StepPart::Cells];

    /// Part of its files' names before the number, as series of files are named.
    fn suffix(self) -> &'static str {
        match self {
            StepPart::Cells => "",
            StepPart::Faces => "-faces",
            StepPart::Edges => "-edges",
        }
    }

    /// Its name in the list of files; none for the cells.
    pub(crate) fn name(self) -> &'static str {
        self.suffix().trim_start_matches('-')
    }
}

/// Content of a file, which gives its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileContent {
    /// One collection: `tag-00000.output`, numbered by the earlier outputs of this tag.
    Tag {
        /// Its tag.
        tag: String,
        /// Number of earlier outputs with this tag, written or not.
        number: u32,
        /// Its format.
        format: TagFormat,
    },
    /// The collections of a step: `program-00040.vtu`, numbered by the round of the outermost loop.
    Step {
        /// The round, from 1; 0 before the first.
        step: u64,
        /// Number of earlier such files of the round.
        repeat: u32,
        /// Whose collections it holds: `program-faces-00040.vtu`.
        part: StepPart,
        /// Its format.
        format: StepFormat,
    },
    /// The list of the files of steps with their times: `program.pvd`.
    Times,
    /// A row for each step: `program.csv`.
    Rows,
}

/// An output file of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileEntry {
    /// Its content.
    pub content: FileContent,
    /// Round of the outermost loop of the output, from 1; 0 before the first.
    pub step: u64,
    /// Time of that round.
    pub time: f64,
    /// Size in bytes.
    pub size: u64,
    /// Hash of its content.
    pub hash: String,
}

impl FileContent {
    /// Name of a file of a program.
    pub(crate) fn name(&self, program: &str) -> String {
        match self {
            FileContent::Tag { tag, number, format: TagFormat::Text } => format!("{tag}-{number:05}.output"),
            FileContent::Tag { tag, number, format: TagFormat::Npy } => format!("{tag}-{number:05}.npy"),
            FileContent::Step { step, repeat, part, format } => {
                let repeat = if *repeat == 0 { String::new() } else { format!("-{repeat}") };
                let extension = match format {
                    StepFormat::Vtu => "vtu",
                    StepFormat::Vti => "vti",
                };
                format!("{program}{}-{step:05}{repeat}.{extension}", part.suffix())
            }
            FileContent::Times => format!("{program}.pvd"),
            FileContent::Rows => format!("{program}.csv"),
        }
    }

    /// From a name and, where one collection is in the file, its tag. The name must be the one that
    /// follows.
    fn from_name(name: &str, tag: Option<&str>, program: &str) -> Option<FileContent> {
        let content = match tag {
            Some(tag) => {
                let (number, extension) = name.strip_prefix(tag)?.strip_prefix('-')?.split_once('.')?;
                let format = match extension {
                    "output" => TagFormat::Text,
                    "npy" => TagFormat::Npy,
                    _ => return None,
                };
                FileContent::Tag { tag: is_file_name(tag).then(|| tag.to_owned())?, number: number.parse().ok()?, format }
            }
            None => match name.strip_prefix(program)? {
                ".pvd" => FileContent::Times,
                ".csv" => FileContent::Rows,
                step => {
                    // Cells, which add nothing to the name, come last.
                    let (part, rest) = StepPart::ALL.iter().find_map(|part| Some((*part, step.strip_prefix(part.suffix())?)))?;
                    let (numbers, extension) = rest.strip_prefix('-')?.split_once('.')?;
                    let format = match extension {
                        "vtu" => StepFormat::Vtu,
                        "vti" => StepFormat::Vti,
                        _ => return None,
                    };
                    let (step, repeat) = numbers.split_once('-').unwrap_or((numbers, "0"));
                    FileContent::Step { step: step.parse().ok()?, repeat: repeat.parse().ok()?, part, format }
                }
            },
        };
        (content.name(program) == name).then_some(content)
    }

    /// The tag of a file of one collection.
    pub(crate) fn tag(&self) -> Option<&str> {
        match self {
            FileContent::Tag { tag, .. } => Some(tag),
            FileContent::Step { .. } | FileContent::Times | FileContent::Rows => None,
        }
    }

    /// True if the file is written again as the run goes on.
    pub(crate) fn is_rewritten(&self) -> bool {
        match self {
            FileContent::Times | FileContent::Rows => true,
            FileContent::Tag { .. } | FileContent::Step { .. } => false,
        }
    }
}

impl FileEntry {
    /// An entry of a file that is not written yet.
    pub(crate) fn new(content: FileContent, step: u64, time: f64) -> FileEntry {
        FileEntry { content, step, time, size: 0, hash: String::new() }
    }

    /// As JSON, with the name of the program of the run.
    pub(super) fn json(&self, program: &str) -> Value {
        json!({
            "name": self.content.name(program),
            "tag": self.content.tag(),
            "step": self.step,
            "time": self.time,
            "size": self.size,
            "hash": self.hash,
        })
    }

    /// From JSON; `None` for entries that no run of the program has written, such as a name that
    /// does not follow from the tag.
    pub(super) fn from_json(value: &Value, program: &str) -> Option<FileEntry> {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        Some(FileEntry {
            content: FileContent::from_name(text("name")?, text("tag"), program)?,
            step: value.get("step").and_then(Value::as_u64).unwrap_or(0),
            time: value.get("time").and_then(Value::as_f64).unwrap_or(f64::NAN),
            size: value.get("size").and_then(Value::as_u64)?,
            hash: text("hash")?.to_owned(),
        })
    }

    /// True if the file exists with unchanged content.
    pub(super) fn is_unchanged(&self, path: &Path) -> bool {
        let same_size = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() == self.size);
        same_size && hash_of(path).is_ok_and(|hash| hash == self.hash)
    }
}

fn hash_of(path: &Path) -> std::io::Result<String> {
    let (mut file, mut hash, mut buffer) = (File::open(path)?, StableHash::default(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hash.digits()),
            n => hash = hash.bytes(&buffer[..n]),
        }
    }
}

pub(crate) fn not_in_names(c: char) -> bool {
    matches!(c, '/' | '\\' | ':') || c.is_control()
}

/// True if a tag can be part of a file name: it must not lead out of the output directory.
pub(crate) fn is_file_name(tag: &str) -> bool {
    !tag.contains(not_in_names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(content: FileContent) -> FileEntry {
        FileEntry { content, step: 3, time: 0.5, size: 2, hash: "00".into() }
    }

    #[test]
    fn names_follow_from_the_content() {
        let step = |repeat, part, format| FileContent::Step { step: 40, repeat, part, format };
        let named = [
            (FileContent::Tag { tag: "u-1".into(), number: 123_456, format: TagFormat::Text }, "u-1-123456.output"),
            (FileContent::Tag { tag: "two words".into(), number: 0, format: TagFormat::Npy }, "two words-00000.npy"),
            (step(0, StepPart::Cells, StepFormat::Vtu), "heat-2-00040.vtu"),
            (step(0, StepPart::Faces, StepFormat::Vtu), "heat-2-faces-00040.vtu"),
            (step(2, StepPart::Cells, StepFormat::Vti), "heat-2-00040-2.vti"),
            (step(1, StepPart::Edges, StepFormat::Vtu), "heat-2-edges-00040-1.vtu"),
            (FileContent::Times, "heat-2.pvd"),
            (FileContent::Rows, "heat-2.csv"),
        ];
        for (content, name) in named {
            assert_eq!(content.name("heat-2"), name);
            let entry = entry(content);
            assert_eq!(FileEntry::from_json(&entry.json("heat-2"), "heat-2"), Some(entry), "{name}");
        }
    }

    /// No reader may lose the last bit of a time's digits: a run that goes on lists it again.
    #[test]
    fn times_read_back_to_the_bit() {
        let mut random = fastrand::Rng::with_seed(1);
        for step in 0..5_000 {
            let time = random.f64() * 10_f64.powi(step % 40 - 20);
            let entry = FileEntry { time, ..entry(FileContent::Times) };
            let text = entry.json("heat").to_string();
            let read = FileEntry::from_json(&serde_json::from_str(&text).expect("JSON"), "heat").expect("an entry");
            assert_eq!(read.time.to_bits(), time.to_bits(), "{text}");
        }
    }

    #[test]
    fn entries_lead_nowhere_else() {
        let value = entry(FileContent::Tag { tag: "u".into(), number: 0, format: TagFormat::Text }).json("heat");
        for (tag, name) in [
            (json!("u"), "v-00000.output"),
            (json!("../u"), "../u-00000.output"),
            (json!("u"), "u-0.output"),
            (json!("u"), "u-00000.part"),
            (json!(""), "../../file"),
            (json!(null), "u-00000.output"),
            (json!(null), "flow.pvd"),
            (json!(null), "heat-1.vtu"),
            (json!(null), "heat-00001-0.vtu"),
            (json!(null), "heat-00001/../../file.vtu"),
            (json!(null), "heat.run.json"),
        ] {
            let mut value = value.clone();
            (value["tag"], value["name"]) = (tag, json!(name));
            assert_eq!(FileEntry::from_json(&value, "heat"), None, "{name}");
        }
    }
}
