//! Variables of expressions in parameters: the centroid of an entity, `x`, `y` and `z` in metres,
//! and the named arrays of the grid.

use std::sync::{Mutex, PoisonError};

use crate::entity::EntityKind;
use crate::error::{Error, ErrorKind};
use crate::grid::{Centroids, Grid, NamedArray};
use crate::io::expression::{BLOCK, Names, Scratch};
use crate::io::token::TextError;
use crate::params::near_match;

enum Variable<'g> {
    Coordinate(usize),
    Array(&'g NamedArray),
}

/// Variables of expressions over the entities of a kind.
pub struct Variables<'g> {
    grid: &'g Grid,
    kind: EntityKind,
    centroids: Centroids<'g>,
    used: Vec<Variable<'g>>,
}

impl<'g> Variables<'g> {
    /// None used yet. The grid has the centroids of its entities.
    pub fn new(grid: &'g Grid, kind: EntityKind) -> Variables<'g> {
        Variables { grid, kind: kind.on_grid_of(grid.dim()), centroids: grid.centroids_of(kind), used: Vec::new() }
    }

    /// The values of the used variables at some entities, in the numbering of the grid: an array
    /// for each variable.
    ///
    /// # Errors
    /// A defect: the centroid is not there.
    pub fn at(&self, entities: impl Iterator<Item = u32>, values: &mut Vec<Vec<f64>>) -> Result<(), Error> {
        values.resize_with(self.used.len(), Vec::new);
        values.iter_mut().for_each(Vec::clear);
        let has_coordinates = self.used.iter().any(|variable| matches!(variable, Variable::Coordinate(_)));
        for entity in entities {
            let centroid = match has_coordinates {
                true => {
                    let centroid = self.centroids.at(entity);
                    centroid.ok_or_else(|| Error::internal("centroids were given back before inputs were read"))?
                }
                false => [0.0; 3],
            };
            for (variable, values) in self.used.iter().zip(&mut *values) {
                values.push(match variable {
                    Variable::Coordinate(axis) => centroid[*axis],
                    Variable::Array(array) => array.values[self.grid.file_index(self.kind, entity) as usize],
                });
            }
        }
        Ok(())
    }

    /// A value for each position, given by `evaluate` from the values of the variables of a block
    /// of positions; on all threads of the grid.
    ///
    /// # Errors
    /// As [`Variables::at`].
    pub fn each<T: Copy + Send + Default>(
        &self,
        len: usize,
        entity: impl Fn(usize) -> u32 + Sync,
        evaluate: impl Fn(&[Vec<f64>], &mut [T], &mut Scratch) + Sync,
    ) -> Result<Vec<T>, Error> {
        let mut all = vec![T::default(); len];
        let failure = Mutex::new(None);
        self.grid.threads().each(len, &mut all[..], |range, out| {
            let (mut values, mut scratch) = (Vec::new(), Scratch::default());
            for (begin, out) in range.step_by(BLOCK).zip(out.chunks_mut(BLOCK)) {
                match self.at((begin..begin + out.len()).map(&entity), &mut values) {
                    Ok(()) => evaluate(&values, out, &mut scratch),
                    Err(error) => *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error),
                }
            }
        });
        failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(all), Err)
    }

    /// An entity for a message: `cell 3 at (0.5, 1)`.
    pub fn shown(&self, entity: u32) -> String {
        let name = format!("{} {}", self.kind.noun(), self.grid.file_index(self.kind, entity));
        match self.grid.centroid(self.kind, entity) {
            Some(centroid) => {
                let position: Vec<String> = centroid[..self.grid.dim()].iter().map(|&x| crate::number::general(x)).collect();
                format!("{name} at ({})", position.join(", "))
            }
            None => name,
        }
    }

    /// The error of an expression without a finite value at an entity.
    pub fn not_finite(&self, key: &str, text: &str, entity: u32) -> Error {
        let message = format!("parameter `{key}`: `{}` has no finite value in {}", crate::io::token::shown(text), self.shown(entity));
        Error::new(ErrorKind::Data, message).hint("choose another value there: `x > 0 ? 1/x : 1`")
    }
}

impl Names for Variables<'_> {
    fn variable(&mut self, name: &str, quoted: bool) -> Result<usize, TextError> {
        let axis = ["x", "y", "z"].iter().position(|axis| *axis == name).filter(|_| !quoted);
        let variable = match axis {
            Some(axis) if axis < self.grid.dim() => Variable::Coordinate(axis),
            Some(_) => return Err(TextError::new(0, format!("`{name}` on a grid of dimension {}", self.grid.dim()))),
            None => Variable::Array(array(self.grid, self.kind, name)?),
        };
        let same = |used: &Variable<'_>| match (used, &variable) {
            (Variable::Coordinate(a), Variable::Coordinate(b)) => a == b,
            (Variable::Array(a), Variable::Array(b)) => std::ptr::eq(*a, *b),
            (Variable::Coordinate(_), Variable::Array(_)) | (Variable::Array(_), Variable::Coordinate(_)) => false,
        };
        Ok(self.used.iter().position(same).unwrap_or_else(|| {
            self.used.push(variable);
            self.used.len() - 1
        }))
    }
}

/// A named array of the grid over entities of a kind.
///
/// # Errors
/// There is none of this name; what there is.
pub fn array<'g>(grid: &'g Grid, kind: EntityKind, name: &str) -> Result<&'g NamedArray, TextError> {
    let kind = kind.on_grid_of(grid.dim());
    if let Some(array) = grid.named().array(kind, name) {
        return Ok(array);
    }
    let all: Vec<(EntityKind, &str)> = grid.named().arrays().map(|array| (array.kind, &array.name[..])).collect();
    Err(absent("array", kind, name, &all))
}

/// The error of a name that the grid has no set or array of.
pub fn absent(what: &str, kind: EntityKind, name: &str, all: &[(EntityKind, &str)]) -> TextError {
    let nouns = kind.nouns();
    if let Some((other, _)) = all.iter().find(|(_, known)| *known == name) {
        return TextError::new(0, format!("`{name}` is a named {what} of {}, not of {nouns}", other.nouns()));
    }
    let error = TextError::new(0, format!("the grid has no named {what} `{name}` of {nouns}"));
    let names: Vec<&str> = all.iter().filter(|(of, _)| *of == kind).map(|(_, name)| *name).collect();
    if names.is_empty() {
        let sides = if what == "set" { "; sides are `x-`, `x+`, `y-` and so on" } else { "" };
        return error.hint(format!("it has no named {what} of {nouns} at all{sides}"));
    }
    let listed: Vec<String> = names.iter().take(20).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > 20 { ", ..." } else { "" };
    let listed = format!("it has {}{more}", listed.join(", "));
    match near_match(name, names.into_iter()) {
        Some(near) => error.hint(format!("did you mean `{near}`? {listed}")),
        None => error.hint(listed),
    }
}
