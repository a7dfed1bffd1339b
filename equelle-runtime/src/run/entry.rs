//! Entries of output files in the record of a run.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::{Value, json};

use crate::hash::StableHash;

/// An output file of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileEntry {
    /// Its tag.
    pub tag: String,
    /// Number of earlier files with this tag.
    pub number: u32,
    /// Round of the outermost loop of the output, from 1; 0 before the first.
    pub step: u64,
    /// Sum of the elements of the sequence up to that round.
    pub time: f64,
    /// Size in bytes.
    pub size: u64,
    /// Hash of its content.
    pub hash: String,
}

impl FileEntry {
    /// Its name.
    pub(crate) fn name(&self) -> String {
        format!("{}-{:05}.output", self.tag, self.number)
    }

    /// As JSON.
    pub(super) fn json(&self) -> Value {
        json!({ "name": self.name(), "tag": self.tag, "step": self.step, "time": self.time, "size": self.size, "hash": self.hash })
    }

    /// From JSON; `None` for entries that no run has written, such as a name that does not follow
    /// from the tag.
    pub(super) fn from_json(value: &Value) -> Option<FileEntry> {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let (name, tag) = (text("name")?, text("tag")?.to_owned());
        let number = name.strip_prefix(&tag)?.strip_prefix('-')?.strip_suffix(".output")?.parse().ok()?;
        let entry = FileEntry {
            tag,
            number,
            step: value.get("step").and_then(Value::as_u64).unwrap_or(0),
            time: value.get("time").and_then(Value::as_f64).unwrap_or(f64::NAN),
            size: value.get("size").and_then(Value::as_u64)?,
            hash: text("hash")?.to_owned(),
        };
        (entry.name() == name && is_file_name(&entry.tag)).then_some(entry)
    }

    /// Whether the file exists with unchanged content.
    pub(super) fn is_unchanged(&self, dir: &Path) -> bool {
        let path = dir.join(self.name());
        let same_size = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_file() && found.len() == self.size);
        same_size && hash_of(&path).is_ok_and(|hash| hash == self.hash)
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

/// Whether a tag can be part of a file name: it must not lead out of the output directory.
pub(crate) fn is_file_name(tag: &str) -> bool {
    !tag.contains(not_in_names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_read_back_and_lead_nowhere_else() {
        let entry = FileEntry { tag: "u-1".into(), number: 123_456, step: 3, time: 0.5, size: 2, hash: "00".into() };
        assert_eq!(FileEntry::from_json(&entry.json()), Some(entry.clone()));
        for (tag, name) in
            [("u", "v-00000.output"), ("../u", "../u-00000.output"), ("u", "u-0.output"), ("u", "u-00000.part"), ("", "../../file")]
        {
            let mut value = entry.json();
            (value["tag"], value["name"]) = (json!(tag), json!(name));
            assert_eq!(FileEntry::from_json(&value), None, "{tag} {name}");
        }
    }
}
