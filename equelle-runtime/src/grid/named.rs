//! Named sets and arrays that come with a grid: regions of a mesh and properties of its cells.
//!
//! They are in the numbering of the grid's file, so that renumbering does not touch them;
//! [`super::Grid::entity_of_file`] translates.

use std::collections::BTreeMap;

use crate::entity::EntityKind;
use crate::error::{Error, ErrorKind};

/// A set of cells or faces with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedSet {
    /// As the file has it.
    pub name: String,
    /// Kind of its entities.
    pub kind: EntityKind,
    /// Entities in the numbering of the file, ascending.
    pub members: Vec<u32>,
}

/// One number for each cell or each face, with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedArray {
    /// As the file has it.
    pub name: String,
    /// Kind of the entities it belongs to.
    pub kind: EntityKind,
    /// In the numbering of the file, in the unit of the file. `[n_cells]` or `[n_faces]`
    pub values: Vec<f64>,
}

/// The named sets and arrays of a grid, by kind and name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Named {
    sets: BTreeMap<(EntityKind, String), NamedSet>,
    arrays: BTreeMap<(EntityKind, String), NamedArray>,
}

impl Named {
    /// Adds a set.
    ///
    /// # Errors
    /// `Data` if there is one of its kind and name, or its members are not ascending.
    pub fn add_set(&mut self, set: NamedSet) -> Result<(), Error> {
        let what = format!("set `{}` of {}", set.name, set.kind.nouns());
        if set.members.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(Error::new(ErrorKind::Data, format!("the members of {what} do not ascend")));
        }
        match self.sets.insert((set.kind, set.name.clone()), set) {
            None => Ok(()),
            Some(_) => Err(twice(&what)),
        }
    }

    /// Adds an array.
    ///
    /// # Errors
    /// `Data` if there is one of its kind and name.
    pub fn add_array(&mut self, array: NamedArray) -> Result<(), Error> {
        let what = format!("array `{}` of {}", array.name, array.kind.nouns());
        match self.arrays.insert((array.kind, array.name.clone()), array) {
            None => Ok(()),
            Some(_) => Err(twice(&what)),
        }
    }

    /// A set of entities of a kind.
    pub fn set(&self, kind: EntityKind, name: &str) -> Option<&NamedSet> {
        self.sets.get(&(kind, name.to_string()))
    }

    /// An array over the entities of a kind.
    pub fn array(&self, kind: EntityKind, name: &str) -> Option<&NamedArray> {
        self.arrays.get(&(kind, name.to_string()))
    }

    /// All sets, by kind and name.
    pub fn sets(&self) -> impl Iterator<Item = &NamedSet> {
        self.sets.values()
    }

    /// All arrays, by kind and name.
    pub fn arrays(&self) -> impl Iterator<Item = &NamedArray> {
        self.arrays.values()
    }
}

fn twice(what: &str) -> Error {
    Error::new(ErrorKind::Data, format!("the grid has {what} twice"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Cartesian, Grid, Renumber};

    fn line() -> Grid {
        Grid::cartesian(Cartesian { dim: 1, n: [3, 1, 1], spacing: [1.0; 3], joined: [false; 3], place: None }).unwrap()
    }

    fn set(kind: EntityKind, members: &[u32]) -> Named {
        let mut named = Named::default();
        named.add_set(NamedSet { name: "rock".into(), kind, members: members.to_vec() }).unwrap();
        named
    }

    #[test]
    fn sets_and_arrays_stay_in_the_numbering_of_the_file() {
        let mut named = set(EntityKind::Cell, &[0, 2]);
        named.add_array(NamedArray { name: "PORO".into(), kind: EntityKind::Face, values: vec![1.0, 2.0, 3.0, 4.0] }).unwrap();
        let mut grid = line().as_unstructured().with_named(named.clone()).unwrap();
        grid.renumber(Renumber::Yes);
        assert_eq!(grid.named(), &named);
        assert_eq!(grid.named().set(EntityKind::Cell, "rock").unwrap().members, [0, 2]);
        assert_eq!(grid.named().set(EntityKind::Face, "rock"), None);
        assert_eq!(grid.named().array(EntityKind::Face, "PORO").unwrap().values[3], 4.0);
    }

    #[test]
    fn what_does_not_fit_is_refused_by_name() {
        let message = |result: Result<Grid, Error>| result.unwrap_err().message;
        assert_eq!(message(line().with_named(set(EntityKind::Cell, &[3]))), "set `rock` has cell 3, and the grid has 3 cells");
        assert!(line().with_named(set(EntityKind::Face, &[3])).is_ok());
        assert!(message(line().with_named(set(EntityKind::Vertex, &[0]))).contains("not of vertices"));
        let mut named = set(EntityKind::Cell, &[0]);
        named.add_array(NamedArray { name: "p".into(), kind: EntityKind::Cell, values: vec![1.0] }).unwrap();
        assert_eq!(message(line().with_named(named)), "array `p` has 1 values, and the grid has 3 cells");
        let mut named = set(EntityKind::Cell, &[]);
        let again = NamedSet { name: "rock".into(), kind: EntityKind::Cell, members: vec![1] };
        assert_eq!(named.add_set(again.clone()).unwrap_err().message, "the grid has set `rock` of cells twice");
        let twice = NamedSet { members: vec![1, 1], name: "clay".into(), ..again };
        assert_eq!(named.add_set(twice).unwrap_err().message, "the members of set `clay` of cells do not ascend");
    }
}
