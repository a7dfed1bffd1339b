//! Writing a checkpoint.

use std::io::{Result, Write};
use std::sync::Arc;

use super::header::{DomainInfo, Header, MEMBER, StateInfo};
use super::value::SavedValue;
use crate::domain::Domain;
use crate::io::npy::{self, ElementType};
use crate::io::npz;

/// An array as it is written.
struct Array {
    header: Vec<u8>,
    data: Vec<u8>,
}

fn numbers(shape: &[usize], values: impl Iterator<Item = f64>) -> Array {
    let mut data = Vec::with_capacity(8 * shape.iter().product::<usize>());
    values.for_each(|value| data.extend(value.to_le_bytes()));
    Array { header: npy::header(ElementType::F64, shape), data }
}

fn indices(values: impl ExactSizeIterator<Item = i64>) -> Array {
    let header = npy::header(ElementType::I64, &[values.len()]);
    let mut data = Vec::with_capacity(8 * values.len());
    values.for_each(|value| data.extend(value.to_le_bytes()));
    Array { header, data }
}

fn truths(shape: &[usize], values: impl Iterator<Item = bool>) -> Array {
    Array { header: npy::header(ElementType::Bool, shape), data: values.map(u8::from).collect() }
}

/// The array of a part of the state, in the order of the grid's file; `None` for a domain.
fn array_of(value: &SavedValue) -> Option<Array> {
    Some(match value {
        SavedValue::Scalar(value) => numbers(&[], [*value].into_iter()),
        SavedValue::Bool(value) => truths(&[], [*value].into_iter()),
        SavedValue::Vector(values) | SavedValue::Sequence(values) => numbers(&[values.len()], values.iter().copied()),
        SavedValue::Domain(_) => return None,
        SavedValue::Scalars(domain, values) => numbers(&[values.len()], domain.in_file_order(values).iter().copied()),
        SavedValue::Vectors(domain, components) => {
            let ordered: Vec<_> = components.iter().map(|component| domain.in_file_order(component)).collect();
            let rows = (0..domain.len()).flat_map(|row| ordered.iter().map(move |component| component[row]));
            numbers(&[domain.len(), components.len()], rows)
        }
        SavedValue::Bools(domain, values) => truths(&[values.len()], domain.in_file_order(values).iter().copied()),
        SavedValue::Entities(domain, kind, values) => {
            let grid = domain.grid();
            let index = |entity: &Option<u32>| entity.map_or(-1, |entity| i64::from(grid.file_index(*kind, entity)));
            indices(domain.in_file_order(values).iter().map(index))
        }
    })
}

fn elements_of(domain: &Domain) -> Array {
    let mut elements: Vec<u32> = domain.elements().iter().map(|&element| domain.grid().file_index(domain.kind(), element)).collect();
    elements.sort_unstable();
    indices(elements.into_iter().map(i64::from))
}

/// Fills in domains and state of the header, and writes the file.
///
/// # Errors
/// Those of the system.
pub fn write<W: Write>(out: W, mut header: Header, state: &[(String, SavedValue)]) -> Result<W> {
    let mut domains: Vec<Arc<Domain>> = Vec::new();
    for (name, value) in state {
        let domain = value.domain().map(|domain| {
            domains.iter().position(|known| Arc::ptr_eq(known, domain)).unwrap_or_else(|| {
                domains.push(Arc::clone(domain));
                domains.len() - 1
            })
        });
        let entities = if let SavedValue::Entities(_, kind, _) = value { Some(*kind) } else { None };
        header.state.insert(name.clone(), StateInfo { kind: value.kind(), domain, entities });
    }
    header.domains = domains
        .iter()
        .enumerate()
        .map(|(number, domain)| {
            let member = domain.canonical_set().is_none().then(|| format!("domain-{number}.npy"));
            DomainInfo { name: domain.name().to_owned(), set: domain.superset(), member }
        })
        .collect();
    let mut writer = npz::Writer::new(out);
    writer.member(MEMBER, &[header.text().as_bytes()])?;
    for (info, domain) in header.domains.iter().zip(&domains) {
        if let Some(member) = &info.member {
            let Array { header, data } = elements_of(domain);
            writer.member(member, &[&header, &data])?;
        }
    }
    for (name, value) in state {
        if let Some(Array { header, data }) = array_of(value) {
            writer.member(&format!("{name}.npy"), &[&header, &data])?;
        }
    }
    writer.finish()
}
