//! Physical groups: their names, and to which of them geometric entities belong.

use std::collections::{BTreeMap, BTreeSet};

use super::reader::Reader;
use crate::error::Error;
use crate::number::quoted;

/// Names of groups, and groups of entities.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// By dimension and number.
    names: BTreeMap<(usize, u32), String>,
    /// Groups of each entity, by dimension and tag (version 4.1).
    entities: BTreeMap<(usize, i32), Vec<u32>>,
}

impl Groups {
    /// Groups that have a name, by dimension and number.
    pub(super) fn named(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.names.keys().copied()
    }

    /// The name of a group, or one made of its number.
    pub(super) fn name(&self, dim: usize, group: u32) -> String {
        self.names.get(&(dim, group)).cloned().unwrap_or_else(|| format!("physical_{group}"))
    }

    /// True if an entity is listed (version 4.1).
    pub(super) fn has_entity(&self, dim: usize, entity: i32) -> bool {
        self.entities.contains_key(&(dim, entity))
    }

    /// Groups of an entity; none if it is not listed.
    pub(super) fn entity_groups(&self, dim: usize, entity: i32) -> &[u32] {
        self.entities.get(&(dim, entity)).map_or(&[], Vec::as_slice)
    }

    /// Reads `$PhysicalNames`, which is text in binary files as well.
    pub(super) fn read_names(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        let start = reader.next_item();
        let expected = |what: &str, line: &[u8]| format!("expected {what}, found {}", quoted(line));
        let line = reader.rest_of_line();
        let Some(count) = std::str::from_utf8(line).ok().and_then(|line| line.parse::<u64>().ok()) else {
            return Err(reader.error_at(start, &expected("the number of names", line)));
        };
        let mut found = BTreeSet::new();
        for _ in 0..count {
            let start = reader.next_item();
            let line = reader.rest_of_line();
            let Some((dim, group, name)) = parse_name(line) else {
                return Err(reader.error_at(start, &expected("a dimension, a number and a name in quotes", line)));
            };
            let once = "expected each name and number once for a dimension, found";
            if !found.insert((dim, name)) {
                return Err(reader.error_at(start, &format!("{once} name `{name}` again")));
            }
            if self.names.insert((dim, group), name.to_string()).is_some() {
                return Err(reader.error_at(start, &format!("{once} number {group} again")));
            }
        }
        Ok(())
    }

    /// Reads `$Entities` of version 4.1.
    pub(super) fn read_entities(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        let mut counts = [0; 4];
        for count in &mut counts {
            *count = reader.size("the number of entities of a dimension")?;
        }
        for (dim, count) in counts.into_iter().enumerate() {
            let n_reals = if dim == 0 { 3 } else { 6 };
            let count = reader.checked(count, "entities", [1, 1 + usize::from(dim > 0), n_reals])?;
            for _ in 0..count {
                let start = reader.next_item();
                let tag = reader.int("the tag of an entity")?;
                for _ in 0..n_reals {
                    reader.skip_real("the place of an entity")?;
                }
                let mut groups = Vec::new();
                for _ in 0..read_length(reader, "the number of physical groups of an entity")? {
                    groups.push(reader.int("a physical group of an entity")?.unsigned_abs());
                }
                groups.sort_unstable();
                groups.dedup();
                if dim > 0 {
                    for _ in 0..read_length(reader, "the number of entities around an entity")? {
                        reader.int("an entity around an entity")?;
                    }
                }
                if self.entities.insert((dim, tag), groups).is_some() {
                    return Err(reader.error_at(start, &format!("entity {tag} of dimension {dim} is there twice")));
                }
            }
        }
        Ok(())
    }
}

fn read_length(reader: &mut Reader<'_>, item: &str) -> Result<usize, Error> {
    let count = reader.size(item)?;
    reader.checked(count, "tags", [1, 0, 0])
}

/// A line `2 7 "rock"`; a name may be empty, which is none, and hold blanks.
fn parse_name(line: &[u8]) -> Option<(usize, u32, &str)> {
    let line = std::str::from_utf8(line).ok()?;
    let (numbers, name) = line.split_once('"')?;
    let mut numbers = numbers.split_ascii_whitespace();
    let dim = numbers.next()?.parse().ok().filter(|dim| *dim <= 3)?;
    let group = numbers.next()?.parse().ok()?;
    let name = name.strip_suffix('"')?;
    (numbers.next().is_none() && !name.is_empty()).then_some((dim, group, name))
}
