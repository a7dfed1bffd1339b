//! Inputs of a program (`docs/language/data.md`): conversion of parameters into values.
//!
//! A file is read once per name and domain; its values are shared.

mod array;
pub mod choice;
mod data_file;
mod derived;
mod field;
mod hashes;
mod matching;
mod positions;
mod selection;
mod table;
mod variables;

use std::path::Path;
use std::sync::Arc;

use self::choice::{Choice, Derived, GivenBy, ListChoice, column_key, filename_key, from_file_key, set_key};
pub(crate) use self::data_file::read_numbers;
use self::data_file::{column, field_in_place, field_of, has_extension, read_truths, sorted, table_text};
pub use self::data_file::{numbers_in, read_entities, truths_in};
use crate::domain::Domain;
use crate::error::{Error, ErrorKind};
use crate::grid::Grid;
use crate::io::csv::Wanted;
use crate::io::expression::{Names, parse};
use crate::io::token::TextError;
use crate::io::{csv, quantity, sequence::parse_sequence, unit};
use crate::math::table::Table;
use crate::math::table2::Table2;
use crate::params::Parameters;
use crate::program::{InputKind, InputUnit, Program};

/// A collection as given in parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum CollectionInput<T = f64> {
    /// The same value for every element.
    Uniform(T),
    /// One value per element of the domain, in its order.
    Values(Arc<Vec<T>>),
}

impl<T: Copy> CollectionInput<T> {
    /// The values for a domain of `len` elements.
    pub fn to_vec(&self, len: usize) -> Vec<T> {
        match self {
            CollectionInput::Uniform(value) => vec![*value; len],
            CollectionInput::Values(values) => values.to_vec(),
        }
    }
}

/// A table that is constant outside of its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstantTable {
    /// Its input.
    pub name: String,
    /// Least and greatest value of each argument, in the unit that the program takes.
    pub arguments: Vec<[f64; 2]>,
}

/// The names of a formula that needs nothing of the grid.
struct Coordinates;

impl Names for Coordinates {
    fn variable(&mut self, name: &str, quoted: bool) -> Result<usize, TextError> {
        let axis = ["x", "y", "z"].iter().position(|own| !quoted && *own == name);
        axis.ok_or_else(|| TextError::new(0, "another name"))
    }
}

/// The inputs read so far.
#[derive(Debug, Default)]
pub struct Inputs {
    /// The program, which tells their units.
    program: Arc<Program>,
    /// The first value of each.
    scalars: Vec<(String, f64)>,
    collections: Vec<(String, Arc<Domain>, CollectionInput)>,
    /// By component.
    vectors: Vec<(String, Arc<Domain>, Vec<CollectionInput>)>,
    bools: Vec<(String, Arc<Domain>, CollectionInput<bool>)>,
    domains: Vec<(String, Arc<Domain>, Arc<Domain>)>,
    sequences: Vec<(String, Arc<Vec<f64>>)>,
    /// By name and columns.
    tables: Vec<([String; 3], Arc<Table>)>,
    /// Those of two arguments, by name, both arguments and values.
    tables2: Vec<([String; 4], Arc<Table2>)>,
    /// The first table that is not a number beyond its rows.
    table_with_ends: Option<String>,
    constant_tables: Vec<ConstantTable>,
    /// Widths of the grid's cells that follow from other parameters, by key.
    widths: Vec<(&'static str, f64)>,
    /// Notes on them for the user.
    notes: Vec<String>,
    /// Collections that share their names with numbers that something else reads.
    shared: Vec<Arc<str>>,
}

impl Inputs {
    /// Inputs of a program, nothing read; `shared` are collections that share their names with
    /// numbers that something else reads.
    pub fn of(program: Arc<Program>, shared: Vec<Arc<str>>) -> Inputs {
        Inputs { program, shared, ..Inputs::default() }
    }

    /// The unit that the program takes the inputs of a name in; `None` where it takes them in
    /// several.
    pub fn unit(&self, name: &str) -> Option<&InputUnit> {
        let mut units = self.program.inputs.iter().filter(|info| &*info.name == name).map(|info| info.unit.as_ref());
        let first = units.next()??;
        units.all(|unit| unit.is_some_and(|unit| (unit.factor, unit.dimension) == (first.factor, first.dimension))).then_some(first)
    }

    fn is_shared(&self, name: &str) -> bool {
        self.shared.iter().any(|shared| &**shared == name)
    }

    /// With widths of the grid's cells that follow from other parameters: the values of the scalars
    /// of these names.
    #[must_use]
    pub fn with_widths(self, widths: Vec<(&'static str, f64)>) -> Inputs {
        Inputs { widths, ..self }
    }

    /// The source of a collection's values.
    ///
    /// # Errors
    /// See [`choice::collection_choice`].
    pub fn choice(&self, parameters: &Parameters, name: &str) -> Result<Choice, Error> {
        let number = |parameters: &Parameters, key: &str| {
            quantity::number(parameters, key, self.unit(name)).map_err(|error| match parameters.text(key) {
                Some(text) if parse(text, &mut Coordinates).is_ok() => {
                    error.hint(format!("`{key}` is one number for all elements; a formula is `{}={text}`", Derived::Expression.key(name)))
                }
                Some(_) | None => error,
            })
        };
        choice::collection_choice(parameters, name, &Derived::ALL, self.is_shared(name), number)
    }

    /// Number of elements of the first domain that was read under this name.
    pub fn domain_len(&self, name: &str) -> Option<usize> {
        self.domains.iter().find(|(n, _, _)| n == name).map(|(_, _, domain)| domain.len())
    }

    /// [`Inputs::scalar`] for the program, which has read it from here on.
    ///
    /// # Errors
    /// `Data` if it is not a number.
    pub fn read_scalar(&mut self, parameters: &Parameters, name: &str, default: f64) -> Result<f64, Error> {
        let value = self.scalar(parameters, name, default)?;
        if self.scalars.iter().all(|(read, _)| read != name) {
            self.scalars.push((name.to_owned(), value));
        }
        Ok(value)
    }

    /// Parameter `name`, or the default.
    ///
    /// # Errors
    /// `Data` if it is not a number.
    pub fn scalar(&self, parameters: &Parameters, name: &str, default: f64) -> Result<f64, Error> {
        if let Some((_, width)) = self.widths.iter().find(|(key, _)| *key == name) {
            let metres = self.unit(name).map(|_| unit::METRES);
            let mut width = [*width];
            quantity::from_si(&mut width, metres, self.unit(name)).map_err(|error| error.into_parameter_error(parameters, name))?;
            return Ok(width[0]);
        }
        Ok(quantity::number(parameters, name, self.unit(name))?.unwrap_or(default))
    }

    /// The numbers in `<name>_filename`, in ascending order of the entities in the numbering of the
    /// grid's file; the value `<name>` for all; or what follows from the grid ([`Derived`]), which
    /// has the geometry that [`Inputs::needs_geometry`] tells. [`choice`] defines which of them
    /// counts.
    ///
    /// # Errors
    /// `Data` for a missing parameter, two sources, a word that is no number (file, line, column)
    /// or a wrong number of values, a text that means nothing; `Io` if the file cannot be read.
    pub fn collection(&mut self, parameters: &Parameters, grid: &Grid, name: &str, domain: &Arc<Domain>) -> Result<CollectionInput, Error> {
        if let Some((_, _, values)) = self.collections.iter().find(|(n, d, _)| n == name && Arc::ptr_eq(d, domain)) {
            return Ok(values.clone());
        }
        let (input, note) = self.read_collection(parameters, grid, name, domain)?;
        self.notes.extend(note);
        self.collections.push((name.to_string(), Arc::clone(domain), input.clone()));
        Ok(input)
    }

    /// The Vectors in `<name>_filename`, element by element as [`Inputs::collection`] has numbers,
    /// each with as many numbers as the grid has dimensions; or `<name>`, one for all. By
    /// component.
    ///
    /// # Errors
    /// As for [`Inputs::collection`].
    pub fn vectors(&mut self, parameters: &Parameters, name: &str, domain: &Arc<Domain>) -> Result<Vec<CollectionInput>, Error> {
        if let Some((_, _, values)) = self.vectors.iter().find(|(n, d, _)| n == name && Arc::ptr_eq(d, domain)) {
            return Ok(values.clone());
        }
        let dim = domain.grid().dim();
        let components: Vec<CollectionInput> = match self.vectors_choice(parameters, name, dim)? {
            Choice::Uniform(vector) => vector.into_iter().map(CollectionInput::Uniform).collect(),
            Choice::File(path) => {
                let (numbers, note) = match field_in_place(parameters, name, &path, domain, dim)? {
                    Some(field) => field,
                    None => field_of(parameters, name, &path, &parameters.source().read(&path, "")?, domain, dim)?,
                };
                self.notes.extend(note);
                let rows = values_of_elements(&path, name, domain, dim, numbers)?;
                components_of(&rows, dim, domain)
            }
            Choice::Array(array) => {
                let rows = array::numbers(name, &array, domain, dim)?;
                components_of(&rows, dim, domain)
            }
            Choice::Derived(_) | Choice::Nothing => {
                return Err(no_source(parameters, name, domain, &vec!["NUMBER"; dim].join(", ")));
            }
        };
        self.vectors.push((name.to_string(), Arc::clone(domain), components.clone()));
        Ok(components)
    }

    /// The source of Vectors of `dim` components.
    fn vectors_choice(&self, parameters: &Parameters, name: &str, dim: usize) -> Result<Choice<Vec<f64>>, Error> {
        choice::collection_choice(parameters, name, &[], self.is_shared(name), |parameters, key| {
            match quantity::numbers(parameters, key, self.unit(name))? {
                Some(vector) if vector.len() != dim => Err(wrong_components(parameters, key, vector.len(), dim)),
                vector => Ok(vector),
            }
        })
    }

    /// The truth values in `<name>_filename`, element by element as [`Inputs::collection`] has
    /// numbers; or `<name>`, one for all.
    ///
    /// # Errors
    /// As for [`Inputs::collection`].
    pub fn bools(&mut self, parameters: &Parameters, name: &str, domain: &Arc<Domain>) -> Result<CollectionInput<bool>, Error> {
        if let Some((_, _, values)) = self.bools.iter().find(|(n, d, _)| n == name && Arc::ptr_eq(d, domain)) {
            return Ok(values.clone());
        }
        let input = match self.bools_choice(parameters, name)? {
            Choice::Uniform(value) => CollectionInput::Uniform(value),
            Choice::File(path) => {
                let (truths, note) = read_truths(parameters, name, &path, domain)?;
                self.notes.extend(note);
                let values = values_of_elements(&path, name, domain, 1, truths)?;
                CollectionInput::Values(Arc::new(domain.from_file_order(values)))
            }
            Choice::Array(array) => in_order(array::truths(name, &array, domain)?, domain),
            Choice::Derived(_) | Choice::Nothing => return Err(no_source(parameters, name, domain, "true|false")),
        };
        self.bools.push((name.to_string(), Arc::clone(domain), input.clone()));
        Ok(input)
    }

    fn bools_choice(&self, parameters: &Parameters, name: &str) -> Result<Choice<bool>, Error> {
        choice::collection_choice(parameters, name, &[], self.is_shared(name), Parameters::truth)
    }

    /// The source of an input by the parameters, checked before anything is read.
    ///
    /// # Errors
    /// `Data` for two sources in one place, a file without a name, and a value that is not of its
    /// type.
    pub fn given(&self, parameters: &Parameters, name: &str, kind: &InputKind) -> Result<GivenBy, Error> {
        let shared = self.is_shared(name);
        Ok(match kind {
            InputKind::Scalar => GivenBy::Value,
            InputKind::Collection => self.choice(parameters, name)?.into(),
            InputKind::Vectors => {
                let numbers = |parameters: &Parameters, key: &str| quantity::numbers(parameters, key, self.unit(name));
                choice::collection_choice(parameters, name, &[], shared, numbers)?.into()
            }
            InputKind::Bools => self.bools_choice(parameters, name)?.into(),
            InputKind::Domain => choice::list_choice(parameters, name, &set_key(name), false)?.into(),
            InputKind::Sequence => choice::list_choice(parameters, name, name, shared)?.into(),
            InputKind::Table(_) if parameters.has_array(name) => GivenBy::Elements,
            InputKind::Table(_) => parameters.path(&filename_key(name))?.map_or(GivenBy::Value, GivenBy::File),
        })
    }

    /// With a note, if there is something that the user should know.
    fn read_collection(
        &self,
        parameters: &Parameters,
        grid: &Grid,
        name: &str,
        domain: &Domain,
    ) -> Result<(CollectionInput, Option<String>), Error> {
        let mut note = None;
        let input = match self.choice(parameters, name)? {
            Choice::Uniform(value) => CollectionInput::Uniform(value),
            Choice::File(path) => {
                let (values, note_on_order) = match field_in_place(parameters, name, &path, domain, 1)? {
                    Some(field) => field,
                    None => {
                        let bytes = parameters.source().read(&path, "")?;
                        match table_text(parameters, name, &path, &bytes) {
                            Some(text) => {
                                let located =
                                    csv::read_located(&path, &text, Wanted { input: name, column: column(parameters, name, true) })?;
                                let (values, is_sorted) = positions::in_file_order(&path, located, name, grid, domain)?;
                                (values, is_sorted.then(|| sorted(&path, name, domain)))
                            }
                            None => field_of(parameters, name, &path, &bytes, domain, 1)?,
                        }
                    }
                };
                note = note_on_order;
                let values = values_of_elements(&path, name, domain, 1, values)?;
                CollectionInput::Values(Arc::new(domain.from_file_order(values)))
            }
            Choice::Array(array) => in_order(array::numbers(name, &array, domain, 1)?, domain),
            Choice::Derived(derived) => {
                CollectionInput::Values(Arc::new(derived::values(parameters, &derived.key(name), self.unit(name), derived, grid, domain)?))
            }
            Choice::Nothing => return Err(no_source(parameters, name, domain, "NUMBER")),
        };
        Ok((input, note))
    }

    /// True if inputs are chosen, computed or ordered by positions and sides: then the grid must
    /// have its centroids and normals when they are read.
    pub fn needs_geometry<'n>(parameters: &Parameters, names: impl Iterator<Item = &'n str>) -> bool {
        // Positions stand in text, whatever its file is called.
        let may_be_text = |path: &str| !["npy", "npz", "vtu", "vti", "vtr"].iter().any(|other| has_extension(Path::new(path), other));
        let has_table = |name| parameters.text(&filename_key(name)).is_some_and(may_be_text);
        names
            .into_iter()
            .any(|name| parameters.contains(&set_key(name)) || parameters.contains(&Derived::Expression.key(name)) || has_table(name))
    }

    /// Takes the notes for the user on the inputs read so far.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// The entities in `<name>_filename`, ascending, in the numbering of the grid's file; those
    /// that `<name>_set` chooses; or without either, the grid's named set `<name>`. The grid has
    /// the geometry that [`Inputs::needs_geometry`] tells.
    ///
    /// # Errors
    /// `Data` for a missing parameter, for a word that is no index, is out of range, repeated,
    /// unsorted or not in `within` (file, line, column), and for a text that chooses nothing; `Io`
    /// if the file cannot be read.
    pub fn domain(&mut self, parameters: &Parameters, grid: &Grid, name: &str, within: &Arc<Domain>) -> Result<Arc<Domain>, Error> {
        if let Some((_, _, domain)) = self.domains.iter().find(|(n, w, _)| n == name && Arc::ptr_eq(w, within)) {
            return Ok(Arc::clone(domain));
        }
        let (filename, key) = (filename_key(name), set_key(name));
        let domain = match choice::list_choice(parameters, name, &key, false)? {
            ListChoice::File(path) => {
                let elements = read_entities(&path, &parameters.source().read(&path, "")?, within)?;
                subset(name, within, elements)
            }
            ListChoice::Array(array) => subset(name, within, array::entities(name, &array, within)?),
            ListChoice::Text => selection::select(parameters, &key, name, grid, within)?,
            ListChoice::Nothing => {
                let Some(domain) = selection::find_set(name, grid, within)? else {
                    let error = missing(parameters, &filename, &format!("the file with indices of elements of {}", within.name()));
                    return Err(if error.hint.is_some() { error } else { error.hint(format!("give {filename}=FILE or {key}=SETS")) });
                };
                let noun = if domain.len() == 1 { within.kind().noun() } else { within.kind().nouns() };
                self.notes.push(format!("domain `{name}`: the grid's set of that name, {} {noun}", domain.len()));
                domain
            }
        };
        self.domains.push((name.to_string(), Arc::clone(within), Arc::clone(&domain)));
        Ok(domain)
    }

    /// All numbers in `<name>_filename`, or those of the text `<name>`; possibly none.
    ///
    /// # Errors
    /// `Data` for a missing parameter or a word that is no number (file, line, column); `Io` if the
    /// file cannot be read.
    pub fn sequence(&mut self, parameters: &Parameters, name: &str) -> Result<Arc<Vec<f64>>, Error> {
        if let Some((_, values)) = self.sequences.iter().find(|(n, _)| n == name) {
            return Ok(Arc::clone(values));
        }
        let values = match choice::list_choice(parameters, name, name, self.is_shared(name))? {
            ListChoice::File(path) => Arc::new(read_numbers(parameters, name, &path, 1)?),
            ListChoice::Array(array) => array::sequence(name, &array)?,
            ListChoice::Text => {
                let text = parameters.text(name).unwrap_or_default();
                let located = |error: TextError| {
                    let error = error.into_parameter_error(parameters, name);
                    let has_hint = error.hint.is_some();
                    if has_hint { error } else { error.hint(format!("give {name}=NUMBERS such as `{name}=40*0.01` or `{name}=0.1, 0.2`")) }
                };
                let mut sequence = parse_sequence(text).map_err(located)?;
                if sequence.values.is_empty() {
                    return Err(located(TextError::new(0, "no number")).hint(format!("give {name}=NUMBERS such as 40*0.01")));
                }
                quantity::from_si(&mut sequence.values, sequence.dimension, self.unit(name)).map_err(located)?;
                Arc::new(sequence.values)
            }
            ListChoice::Nothing => {
                let filename = filename_key(name);
                let error = missing(parameters, &filename, "the file with the numbers of the sequence");
                return Err(if error.hint.is_some() {
                    error
                } else {
                    error.hint(format!("give {filename}=FILE, or {name}=NUMBERS such as 40*0.01"))
                });
            }
        };
        self.sequences.push((name.to_string(), Arc::clone(&values)));
        Ok(values)
    }
}

/// Values in the order of the grid's file, in that of a domain.
fn in_order<T: Copy + Default>(values: Arc<Vec<T>>, domain: &Domain) -> CollectionInput<T> {
    match domain.has_file_order() {
        true => CollectionInput::Values(values),
        false => CollectionInput::Values(Arc::new(domain.from_file_order(values.to_vec()))),
    }
}

/// The components of Vectors, which come element by element.
fn components_of(rows: &[f64], dim: usize, domain: &Domain) -> Vec<CollectionInput> {
    let component = |axis: usize| rows.iter().skip(axis).step_by(dim).copied().collect();
    let in_order = |values: Vec<f64>| CollectionInput::Values(Arc::new(domain.from_file_order(values)));
    (0..dim).map(component).map(in_order).collect()
}

/// A subset of these entities, in the numbering of the grid's file.
fn subset(name: &str, within: &Arc<Domain>, mut elements: Vec<u32>) -> Arc<Domain> {
    for element in &mut elements {
        *element = within.grid().entity_of_file(within.kind(), *element);
    }
    elements.sort_unstable();
    Domain::trusted_subset(name.to_string(), within, elements)
}

/// The error for a collection without a source; `value` is what one value for all looks like.
fn no_source(parameters: &Parameters, name: &str, domain: &Domain, value: &str) -> Error {
    let error = missing(parameters, name, &format!("a value for every element of {}", domain.name()));
    let (from_file, filename) = (from_file_key(name), filename_key(name));
    match parameters.origin(&from_file) {
        Some(origin) if parameters.contains(&filename) => error.hint(format!("{from_file}=false ({origin}) keeps {filename} out")),
        _ if error.hint.is_none() => error.hint(format!("give {name}={value} or {filename}=FILE")),
        _ => error,
    }
}

/// The values of a file, if there are `each` for every element.
///
/// # Errors
/// `Data` for another number of them.
fn values_of_elements<T>(path: &Path, name: &str, domain: &Domain, each: usize, values: Vec<T>) -> Result<Vec<T>, Error> {
    let (len, found) = (domain.len(), values.len());
    if Some(found) == len.checked_mul(each) {
        return Ok(values);
    }
    let expected = if each == 1 { format!("{len} values") } else { format!("{each} numbers for each of {len} elements") };
    let message = format!("`{}`: input `{name}` on {}: expected {expected}, found {found}", path.display(), domain.name());
    let columns = found.checked_div(len).filter(|columns| columns * len == found && *columns > 1);
    let rule = match (each, columns) {
        (1, Some(columns)) => format!(
            "{columns} numbers for each element may be columns: give the one that is meant, such as `{}={columns}`",
            column_key(name)
        ),
        (1, None) => "the file needs one value per element of the domain, in ascending order of the elements".to_owned(),
        (_, _) => "the file needs the components of one Vector after those of another, in ascending order of the elements".to_owned(),
    };
    Err(Error::new(ErrorKind::Data, message).hint(rule))
}

/// The error for one Vector of another number of components than the grid has dimensions.
fn wrong_components(parameters: &Parameters, key: &str, found: usize, dim: usize) -> Error {
    let place = parameters.place(key);
    let message = format!("parameter `{key}`{place} has {found} numbers, and the Vectors of this grid have {dim} components");
    Error::new(ErrorKind::Data, message).hint(format!("give {key}={}", vec!["NUMBER"; dim].join(", ")))
}

fn missing(parameters: &Parameters, key: &str, what: &str) -> Error {
    let error = Error::new(ErrorKind::Data, format!("missing parameter `{key}`: {what}"));
    match parameters.near_unused(key) {
        Some(near) => error.hint(format!("`{near}` is given but not used; is it meant to be `{key}`?")),
        None => error,
    }
}
