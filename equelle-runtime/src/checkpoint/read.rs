//! Reading a checkpoint.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::header::{DomainInfo, Header, HeaderError, MEMBER, RunIdentity, StateInfo, VERSION};
use super::value::{SavedKind, SavedValue};
use crate::domain::Domain;
use crate::entity::{CanonicalSet, EntityKind};
use crate::error::{Error, ErrorKind};
use crate::io::npy::{self, ElementType};
use crate::io::npz;

/// The parts of a checkpoint that were not taken yet.
#[derive(Debug)]
pub struct Restart {
    path: PathBuf,
    /// Its header.
    pub header: Header,
    /// Arrays by name, with the bytes before their numbers.
    arrays: BTreeMap<String, Vec<u8>>,
    /// Domains made so far.
    domains: Vec<Option<Arc<Domain>>>,
}

/// Domains that a restart needs of the run that goes on.
pub trait Domains {
    /// A canonical set.
    ///
    /// # Errors
    /// `Data` if the grid does not have it.
    fn canonical(&mut self, set: CanonicalSet) -> Result<Arc<Domain>, Error>;

    /// A domain that the run has already, with these elements; one of this name where there is one.
    fn known(&self, name: &str, kind: EntityKind, elements: &[u32]) -> Option<Arc<Domain>>;
}

impl Restart {
    /// From the bytes of a file; `path` is for messages.
    ///
    /// # Errors
    /// `Data` if it is no checkpoint, incomplete, damaged, or of another version.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Restart, Error> {
        let archive = npz::read(path, bytes)?;
        let header = archive.member(MEMBER).ok_or(HeaderError::NotAHeader).and_then(Header::parse);
        let header = header.map_err(|error| match error {
            HeaderError::NotAHeader => refused(path, "not a checkpoint: it has no header that can be read"),
            HeaderError::Version(version) => refused(path, &format!("a checkpoint of version {version}; version {VERSION} is read")),
        })?;
        let own = header.domains.iter().filter_map(|domain| domain.member.clone());
        let names: Vec<String> =
            own.chain(header.state.iter().filter(|(_, info)| info.kind != SavedKind::Domain).map(|(name, _)| member(name))).collect();
        let mut arrays = BTreeMap::new();
        for name in names {
            let bytes = archive.member(&name).ok_or_else(|| refused(path, &format!("a checkpoint without its array `{name}`")))?;
            arrays.insert(name, bytes.to_vec());
        }
        let domains = vec![None; header.domains.len()];
        Ok(Restart { path: path.to_path_buf(), header, arrays, domains })
    }

    /// One that another rank has read, of which nothing is taken here.
    pub fn without_arrays(header: Header) -> Restart {
        let domains = vec![None; header.domains.len()];
        Restart { path: PathBuf::new(), header, arrays: BTreeMap::new(), domains }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Difference between the run that goes on and the one that wrote this; `None` if there is
    /// none.
    pub fn difference(&self, run: &RunIdentity) -> Option<String> {
        let of = &self.header.origin;
        let mode = |mode: &str| if mode.is_empty() { "f64".to_owned() } else { mode.to_owned() };
        if of.program != run.program {
            return Some(format!("it is of program `{}`, and this is `{}`", of.program, run.program));
        }
        if of.text != run.text {
            return Some(format!("the text of program `{}` has changed since", run.program));
        }
        if of.mode != run.mode {
            return Some(format!("it was computed in {}, and this run computes in {}", mode(&of.mode), mode(&run.mode)));
        }
        if of.grid != run.grid {
            let [[dim, cells, faces], [own_dim, own_cells, own_faces]] = [of.grid, run.grid];
            return Some(format!(
                "its grid has {dim} dimensions, {cells} cells and {faces} faces, and this one {own_dim}, {own_cells} and {own_faces}"
            ));
        }
        (of.grid_hash != run.grid_hash).then(|| "its grid has as many cells and faces, and is another one".to_owned())
    }

    /// The error that this cannot be used.
    pub fn refuse(&self, what: &str) -> Error {
        refused(&self.path, what)
    }

    /// Takes a part of the state.
    ///
    /// # Errors
    /// `Data` if there is none of this name and kind, or its array does not fit its domain.
    pub fn take(&mut self, name: &str, kind: SavedKind, dim: usize, run: &mut impl Domains) -> Result<SavedValue, Error> {
        let info = self.header.state.get(name).cloned();
        let Some(StateInfo { domain, entities, .. }) = info.as_ref().filter(|info| info.kind == kind) else {
            let found = info.map_or_else(|| format!("no `{name}`"), |info| format!("`{name}` as {}", info.kind.word()));
            let what = format!(
                "it has {found}, and the program needs `{name}` as {}: another compiler or level of optimisation wrote it",
                kind.word()
            );
            return Err(self.refuse(&what));
        };
        let on = domain.map(|number| self.domain(number, run)).transpose()?;
        let Some(on) = on else {
            return self.single(name, kind, dim);
        };
        let n = on.len();
        Ok(match (kind, entities) {
            (SavedKind::Domain, _) => SavedValue::Domain(on),
            (SavedKind::Scalars, _) => {
                let values = numbers(&self.data(name, ElementType::F64, &[n])?);
                SavedValue::Scalars(Arc::clone(&on), on.from_file_order(values))
            }
            (SavedKind::Vectors, _) => {
                let rows = numbers(&self.data(name, ElementType::F64, &[n, dim])?);
                let component = |axis: usize| rows.iter().skip(axis).step_by(dim).copied().collect();
                SavedValue::Vectors(Arc::clone(&on), (0..dim).map(|axis| on.from_file_order(component(axis))).collect())
            }
            (SavedKind::Bools, _) => {
                let values = self.truths(name, &[n])?;
                SavedValue::Bools(Arc::clone(&on), on.from_file_order(values))
            }
            (SavedKind::Entities, Some(entities)) => {
                let count = on.grid().n_entities(*entities)? as i64;
                let indices = integers(&self.data(name, ElementType::I64, &[n])?);
                if let Some(bad) = indices.iter().find(|index| !(-1..count).contains(index)) {
                    return Err(self.refuse(&format!(
                        "`{name}` has {} {bad}, and the grid has {count} {}",
                        entities.noun(),
                        entities.nouns()
                    )));
                }
                let entity = |index: i64| u32::try_from(index).ok().map(|index| on.grid().entity_of_file(*entities, index));
                let values = indices.into_iter().map(entity).collect();
                SavedValue::Entities(Arc::clone(&on), *entities, on.from_file_order(values))
            }
            (SavedKind::Entities, None) | (SavedKind::Scalar | SavedKind::Bool | SavedKind::Vector | SavedKind::Sequence, _) => {
                return Err(self.refuse(&format!("`{name}` does not fit its domain")));
            }
        })
    }

    /// A value without a domain.
    fn single(&mut self, name: &str, kind: SavedKind, dim: usize) -> Result<SavedValue, Error> {
        Ok(match kind {
            SavedKind::Scalar => SavedValue::Scalar(numbers(&self.data(name, ElementType::F64, &[])?)[0]),
            SavedKind::Bool => SavedValue::Bool(self.truths(name, &[])?[0]),
            SavedKind::Vector => SavedValue::Vector(numbers(&self.data(name, ElementType::F64, &[dim])?)),
            SavedKind::Sequence => {
                // Its length is what its bytes say.
                let len = self.arrays.get(&member(name)).map_or(0, Vec::len);
                let start = npy::header(ElementType::F64, &[len / 8]).len();
                SavedValue::Sequence(numbers(&self.data(name, ElementType::F64, &[len.saturating_sub(start) / 8])?))
            }
            SavedKind::Domain | SavedKind::Scalars | SavedKind::Vectors | SavedKind::Bools | SavedKind::Entities => {
                return Err(self.refuse(&format!("`{name}` has no domain")));
            }
        })
    }

    fn domain(&mut self, number: usize, run: &mut impl Domains) -> Result<Arc<Domain>, Error> {
        if let Some(domain) = &self.domains[number] {
            return Ok(Arc::clone(domain));
        }
        let DomainInfo { name, set, member } = self.header.domains[number].clone();
        let superset = run.canonical(set)?;
        let domain = match member {
            None => superset,
            Some(member) => {
                let bytes = self.arrays.remove(&member).unwrap_or_default();
                let start = npy::header(ElementType::I64, &[bytes.len() / 8]).len();
                let len = bytes.len().saturating_sub(start) / 8;
                let damaged = || refused(&self.path, &format!("`{member}` is not an ascending list of elements of {}", superset.name()));
                let indices = integers(&checked(&bytes, ElementType::I64, &[len]).ok_or_else(damaged)?);
                let entity = |index: i64| u32::try_from(index).ok().map(|index| superset.grid().entity_of_file(superset.kind(), index));
                let mut elements = indices.into_iter().map(entity).collect::<Option<Vec<u32>>>().ok_or_else(damaged)?;
                elements.sort_unstable();
                match run.known(&name, superset.kind(), &elements) {
                    Some(known) => known,
                    None => Domain::subset(name, &superset, elements).map_err(|_| damaged())?,
                }
            }
        };
        self.domains[number] = Some(Arc::clone(&domain));
        Ok(domain)
    }

    /// The numbers of an array, which nobody else takes.
    fn data(&mut self, name: &str, element: ElementType, shape: &[usize]) -> Result<Vec<u8>, Error> {
        let bytes = self.arrays.remove(&member(name)).unwrap_or_default();
        checked(&bytes, element, shape).ok_or_else(|| {
            let sizes: Vec<String> = shape.iter().map(ToString::to_string).collect();
            self.refuse(&format!("the array `{name}` does not have the type and shape ({}) that this run needs", sizes.join(", ")))
        })
    }

    fn truths(&mut self, name: &str, shape: &[usize]) -> Result<Vec<bool>, Error> {
        let bytes = self.data(name, ElementType::Bool, shape)?;
        if bytes.iter().any(|&byte| byte > 1) {
            return Err(self.refuse(&format!("`{name}` has what is no truth value")));
        }
        Ok(bytes.into_iter().map(|byte| byte == 1).collect())
    }
}

/// Position of a domain with these elements: the first one of this name, else the first one.
pub(crate) fn position_of<'d>(
    domains: impl Iterator<Item = Option<&'d Arc<Domain>>>,
    name: &str,
    kind: EntityKind,
    elements: &[u32],
) -> Option<usize> {
    let mut other = None;
    for (position, domain) in domains.enumerate() {
        let has = |domain: &&Arc<Domain>| domain.kind() == kind && domain.len() == elements.len() && domain.elements() == elements;
        match domain.filter(has) {
            Some(domain) if domain.name() == name => return Some(position),
            Some(_) => other = other.or(Some(position)),
            None => {}
        }
    }
    other
}

fn member(name: &str) -> String {
    format!("{name}.npy")
}

/// The numbers of an array of this type and shape.
fn checked(bytes: &[u8], element: ElementType, shape: &[usize]) -> Option<Vec<u8>> {
    let data = bytes.strip_prefix(&npy::header(element, shape)[..])?;
    let count = shape.iter().try_fold(element.size(), |product, &size| product.checked_mul(size))?;
    (data.len() == count).then(|| data.to_vec())
}

fn numbers(data: &[u8]) -> Vec<f64> {
    data.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()
}

fn integers(data: &[u8]) -> Vec<i64> {
    data.as_chunks().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect()
}

fn refused(path: &Path, what: &str) -> Error {
    Error::new(ErrorKind::Data, format!("{}: {what}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The differences of two runs, the first of which is told.
    #[test]
    fn differences_name_both_runs() {
        let own =
            RunIdentity { program: "heat".into(), text: "0123".into(), mode: String::new(), grid: [2, 12, 31], grid_hash: "4567".into() };
        let restart = |origin: RunIdentity| {
            let header = Header { origin, ..Header::default() };
            Restart { path: "a.npz".into(), header, arrays: BTreeMap::new(), domains: Vec::new() }
        };
        let told = |of: RunIdentity| restart(of).difference(&own).unwrap_or_default();
        assert_eq!(told(own.clone()), "");
        let single = RunIdentity { mode: "f32".into(), ..own.clone() };
        assert_eq!(told(single.clone()), "it was computed in f32, and this run computes in f64");
        assert_eq!(restart(own.clone()).difference(&single).unwrap_or_default(), "it was computed in f64, and this run computes in f32");
        let other = RunIdentity { text: "3210".into(), ..single.clone() };
        assert_eq!(told(other.clone()), "the text of program `heat` has changed since");
        assert_eq!(told(RunIdentity { program: "water".into(), ..other }), "it is of program `water`, and this is `heat`");
        let finer = RunIdentity { grid: [2, 48, 110], ..own.clone() };
        assert_eq!(told(finer), "its grid has 2 dimensions, 48 cells and 110 faces, and this one 2, 12 and 31");
    }
}
