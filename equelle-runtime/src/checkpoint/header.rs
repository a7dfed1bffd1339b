//! The header of a checkpoint, as JSON.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::value::SavedKind;
use crate::entity::{CanonicalSet, EntityKind, Extent};
use crate::output::{AuditTotals, OutputCounters};

/// Name of the header among the members of the file.
pub const MEMBER: &str = "checkpoint.json";

/// Version of the format.
pub const VERSION: u64 = 2;

/// Header of a checkpoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Header {
    /// The run that wrote it.
    pub origin: RunIdentity,
    /// Number of the loop among those of the main program's body, from 1.
    pub loop_number: u32,
    /// Rounds of it that are done.
    pub round: u64,
    /// State that outputs need to go on.
    pub counters: OutputCounters,
    /// Hash of the elements of the sequence of the rounds that are done; `None` if the back-end
    /// does not know them.
    pub sequence: Option<String>,
    /// Hashes of the inputs read so far, by name and domain.
    pub inputs: BTreeMap<(String, String), String>,
    /// Number of files of VTK written in this round.
    pub step_files: u32,
    /// Domains of the state.
    pub domains: Vec<DomainInfo>,
    /// The state, by name.
    pub state: BTreeMap<String, StateInfo>,
}

/// Identity of a run, which must be the same in a run that goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunIdentity {
    /// Name of the program.
    pub program: String,
    /// Hash of its text.
    pub text: String,
    /// Precision and rounding, if not the default.
    pub mode: String,
    /// `[dimension, cells, faces]`
    pub grid: [u64; 3],
    /// Hash of the grid.
    pub grid_hash: String,
}

/// A domain of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainInfo {
    /// Its name.
    pub name: String,
    /// The canonical set; for another domain the smallest one that has it.
    pub set: CanonicalSet,
    /// Name of the array of its elements; `None` for a canonical set.
    pub member: Option<String>,
}

/// A part of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateInfo {
    /// Its kind.
    pub kind: SavedKind,
    /// Number of its domain.
    pub domain: Option<usize>,
    /// Kind of its entities.
    pub entities: Option<EntityKind>,
}

/// Reason why a header cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// Not a header of a checkpoint.
    NotAHeader,
    /// Another version.
    Version(u64),
}

const KINDS: [EntityKind; 4] = [EntityKind::Cell, EntityKind::Face, EntityKind::Edge, EntityKind::Vertex];
const EXTENTS: [(Extent, &str); 3] = [(Extent::All, "all"), (Extent::Interior, "interior"), (Extent::Boundary, "boundary")];

fn extent_word(extent: Extent) -> &'static str {
    match extent {
        Extent::All => "all",
        Extent::Interior => "interior",
        Extent::Boundary => "boundary",
    }
}

impl Header {
    /// As JSON.
    pub fn text(&self) -> String {
        let RunIdentity { program, text, mode, grid: [dimension, cells, faces], grid_hash } = &self.origin;
        let inputs: Vec<Value> =
            self.inputs.iter().map(|((name, domain), hash)| json!({ "name": name, "domain": domain, "hash": hash })).collect();
        let domains: Vec<Value> = self
            .domains
            .iter()
            .map(|domain| {
                let DomainInfo { name, set, member } = domain;
                json!({ "name": name, "entities": set.kind.noun(), "extent": extent_word(set.extent), "member": member })
            })
            .collect();
        let state: Map<String, Value> = self
            .state
            .iter()
            .map(|(name, info)| {
                let entities = info.entities.map(EntityKind::noun);
                (name.clone(), json!({ "type": info.kind.word(), "domain": info.domain, "entities": entities }))
            })
            .collect();
        let OutputCounters { step, time, put_out_time, earlier_time, reached, written_steps, counts, audits } = &self.counters;
        let audits: Vec<Value> = audits
            .iter()
            .map(|audit| {
                let AuditTotals { quantity, first, content, change, boundary, sources } = audit;
                let numbers = [first, content, change, boundary, sources].map(|number| digits(*number));
                json!({ "quantity": quantity, "bits": numbers })
            })
            .collect();
        let header = json!({
            "format": "equelle checkpoint",
            "version": VERSION,
            "program": { "name": program, "hash": text },
            "mode": mode,
            "grid": { "dimension": dimension, "cells": cells, "faces": faces, "hash": grid_hash },
            "loop": self.loop_number,
            "round": self.round,
            "step": step,
            "time": time,
            // JSON has no infinity and no NaN.
            "time_bits": digits(*time),
            "put_out_time_bits": put_out_time.map(digits),
            "earlier_time_bits": earlier_time.map(digits),
            "reached_bits": digits(*reached),
            "written_steps": written_steps,
            "audits": audits,
            "step_files": self.step_files,
            "sequence": self.sequence,
            "inputs": inputs,
            "outputs": counts,
            "domains": domains,
            "state": state,
        });
        format!("{header:#}\n")
    }

    /// From JSON.
    ///
    /// # Errors
    /// Text that [`Header::text`] does not write.
    pub fn parse(bytes: &[u8]) -> Result<Header, HeaderError> {
        let json: Value = serde_json::from_slice(bytes).map_err(|_| HeaderError::NotAHeader)?;
        if json.get("format").and_then(Value::as_str) != Some("equelle checkpoint") {
            return Err(HeaderError::NotAHeader);
        }
        match json.get("version").and_then(Value::as_u64) {
            Some(VERSION) => parsed(&json).ok_or(HeaderError::NotAHeader),
            Some(other) => Err(HeaderError::Version(other)),
            None => Err(HeaderError::NotAHeader),
        }
    }
}

fn text_of(json: &Value, key: &str) -> Option<String> {
    json.get(key)?.as_str().map(str::to_owned)
}

/// The bits of a number, in hexadecimal digits.
fn digits(number: f64) -> String {
    format!("{:016x}", number.to_bits())
}

fn bits(text: &str) -> Option<f64> {
    Some(f64::from_bits(u64::from_str_radix(text, 16).ok()?))
}

fn entity_kind(word: &str) -> Option<EntityKind> {
    KINDS.into_iter().find(|kind| kind.noun() == word)
}

fn parsed(json: &Value) -> Option<Header> {
    let number = |json: &Value, key: &str| json.get(key)?.as_u64();
    let (program, grid) = (json.get("program")?, json.get("grid")?);
    let number_of_bits = |key: &str| bits(&text_of(json, key)?);
    let optional_bits = |key: &str| text_of(json, key).map(|text| bits(&text).ok_or(())).transpose().ok();
    let mut counters = OutputCounters {
        step: number(json, "step")?,
        time: number_of_bits("time_bits")?,
        put_out_time: optional_bits("put_out_time_bits")?,
        earlier_time: optional_bits("earlier_time_bits")?,
        reached: number_of_bits("reached_bits")?,
        written_steps: number(json, "written_steps")?,
        ..OutputCounters::default()
    };
    for (tag, count) in json.get("outputs")?.as_object()? {
        counters.counts.insert(tag.clone(), u32::try_from(count.as_u64()?).ok()?);
    }
    for audit in json.get("audits")?.as_array()? {
        let numbers: Option<Vec<f64>> = audit.get("bits")?.as_array()?.iter().map(|digits| bits(digits.as_str()?)).collect();
        let [first, content, change, boundary, sources] = numbers?[..].try_into().ok()?;
        counters.audits.push(AuditTotals { quantity: text_of(audit, "quantity")?, first, content, change, boundary, sources });
    }
    let mut header = Header {
        origin: RunIdentity {
            program: text_of(program, "name")?,
            text: text_of(program, "hash")?,
            mode: text_of(json, "mode")?,
            grid: [number(grid, "dimension")?, number(grid, "cells")?, number(grid, "faces")?],
            grid_hash: text_of(grid, "hash")?,
        },
        loop_number: u32::try_from(number(json, "loop")?).ok()?,
        round: number(json, "round")?,
        counters,
        step_files: u32::try_from(number(json, "step_files")?).ok()?,
        sequence: text_of(json, "sequence"),
        ..Header::default()
    };
    for input in json.get("inputs")?.as_array()? {
        header.inputs.insert((text_of(input, "name")?, text_of(input, "domain")?), text_of(input, "hash")?);
    }
    for domain in json.get("domains")?.as_array()? {
        let word = text_of(domain, "extent")?;
        let (extent, _) = EXTENTS.into_iter().find(|(_, own)| *own == word)?;
        let set = CanonicalSet::new(entity_kind(&text_of(domain, "entities")?)?, extent);
        header.domains.push(DomainInfo { name: text_of(domain, "name")?, set, member: text_of(domain, "member") });
    }
    for (name, info) in json.get("state")?.as_object()? {
        let domain = info.get("domain").and_then(Value::as_u64).map(|domain| domain as usize);
        if domain.is_some_and(|domain| domain >= header.domains.len()) {
            return None;
        }
        let entities = info.get("entities").and_then(Value::as_str).map(|word| entity_kind(word).ok_or(())).transpose().ok()?;
        header.state.insert(name.clone(), StateInfo { kind: SavedKind::from_word(&text_of(info, "type")?)?, domain, entities });
    }
    Some(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        let info = |kind, domain, entities| StateInfo { kind, domain, entities };
        Header {
            origin: RunIdentity {
                program: "heat".into(),
                text: "0123".into(),
                mode: "f32".into(),
                grid: [2, 12, 31],
                grid_hash: "4567".into(),
            },
            loop_number: 2,
            round: 7,
            counters: OutputCounters {
                step: 47,
                // No short decimal.
                time: 0.1 + 0.2,
                put_out_time: Some(0.1),
                earlier_time: None,
                reached: f64::NEG_INFINITY,
                written_steps: 9,
                counts: [("u".to_owned(), 3)].into(),
                audits: vec![AuditTotals {
                    quantity: "u".to_owned(),
                    first: 0.1 + 0.2,
                    content: -0.0,
                    change: 1e-300,
                    boundary: f64::INFINITY,
                    sources: 7.0,
                }],
            },
            step_files: 2,
            sequence: Some("89ab".into()),
            inputs: [(("k".to_owned(), String::new()), "cdef".to_owned())].into(),
            domains: vec![DomainInfo {
                name: "wells".into(),
                set: CanonicalSet::new(EntityKind::Cell, Extent::All),
                member: Some("domain-0.npy".into()),
            }],
            state: [
                ("m".to_owned(), info(SavedKind::Scalar, None, None)),
                ("e".to_owned(), info(SavedKind::Entities, Some(0), Some(EntityKind::Face))),
            ]
            .into(),
        }
    }

    #[test]
    fn headers_read_back() {
        let header = header();
        assert_eq!(Header::parse(header.text().as_bytes()), Ok(header));
    }

    #[test]
    fn other_texts_are_no_headers() {
        let text = header().text();
        assert_eq!(Header::parse(text.replace("\"version\": 2", "\"version\": 1").as_bytes()), Err(HeaderError::Version(1)));
        for (from, to) in [
            ("equelle checkpoint", "zip"),
            ("\"round\": 7", "\"round\": -7"),
            ("Scalar", "Text"),
            ("\"face\"", "\"wheel\""),
            ("\"domain\": 0", "\"domain\": 1"),
            ("\"all\"", "\"none\""),
            ("{", ""),
        ] {
            assert_eq!(Header::parse(text.replacen(from, to, 1).as_bytes()), Err(HeaderError::NotAHeader), "{from}");
        }
    }
}
