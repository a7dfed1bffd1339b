//! The grid of a run's parameters.

use crate::error::{Error, ErrorKind};
use crate::grid::io::gmsh::GmshOptions;
use crate::grid::io::grdecl::{DeckFeature, DeckOptions};
use crate::grid::{Cartesian, Grid, MAX_CELLS_OF_ARRAYS, StoredGeometry, io, too_many_of};
use crate::input::read_numbers;
use crate::io::sequence::{Sequence, parse_sequence};
use crate::io::unit::METRES;
use crate::params::{Origin, Parameters};
use crate::program::{InputKind, Program};
use crate::threads::Threads;

/// Keys of one axis.
struct AxisKeys {
    /// Number of cells.
    count: &'static str,
    /// Width of each cell, or widths.
    width: &'static str,
    /// A file with widths.
    file: &'static str,
    /// The column of that file.
    column: &'static str,
    /// Length of the grid.
    length: &'static str,
    /// Number of cells unless given.
    default: usize,
}

const AXES: [AxisKeys; 3] = [
    AxisKeys { count: "nx", width: "dx", file: "dx_filename", column: "dx_column", length: "lx", default: 6 },
    AxisKeys { count: "ny", width: "dy", file: "dy_filename", column: "dy_column", length: "ly", default: 1 },
    AxisKeys { count: "nz", width: "dz", file: "dz_filename", column: "dz_column", length: "lz", default: 1 },
];

/// Keys of a grid's shape, each with its axis.
pub(super) fn shape_keys() -> impl Iterator<Item = (usize, &'static str)> {
    let of_axes = AXES
        .iter()
        .enumerate()
        .flat_map(|(axis, keys)| [keys.count, keys.width, keys.file, keys.column, keys.length].map(|key| (axis, key)));
    std::iter::once((0, "grid_dim")).chain(of_axes)
}

/// Widths of the cells along an axis.
#[derive(Clone, Debug, PartialEq)]
enum Widths {
    /// All alike.
    Uniform(f64),
    /// One for each cell.
    Graded(Vec<f64>),
}

/// Key of the sides that are joined.
const PERIODIC: &str = "grid_periodic";

/// Whose data is in a file such as `dx_filename`.
#[derive(Clone, Copy)]
enum Files<'a> {
    /// The grid's.
    OfGrid,
    /// The program's, if it has a collection of that name; otherwise the grid's.
    OfProgram(&'a Program),
}

impl Files<'_> {
    /// True if the program reads a number of this name.
    fn have_number(self, name: &str) -> bool {
        match self {
            Files::OfGrid => false,
            Files::OfProgram(program) => program.inputs.iter().any(|input| &*input.name == name),
        }
    }

    fn are_of_grid(self, name: &str) -> bool {
        match self {
            Files::OfGrid => true,
            Files::OfProgram(program) => program.inputs.iter().all(|input| &*input.name != name || input.kind == InputKind::Scalar),
        }
    }
}

/// The cells along an axis.
#[derive(Clone, Debug, PartialEq)]
struct AxisCells {
    n: usize,
    widths: Widths,
    /// The parameter that gives the widths; empty if none does.
    from: &'static str,
}

impl AxisKeys {
    /// # Errors
    /// `Data` for two sources of widths, values that no grid has, and a number of cells that is not
    /// that of the widths.
    fn read(&self, parameters: &Parameters, files: Files<'_>) -> Result<AxisCells, Error> {
        let is_given = |key: &&'static str| parameters.contains(key) && (*key != self.file || files.are_of_grid(self.width));
        let mut given: Vec<&'static str> = [self.width, self.file, self.length].into_iter().filter(is_given).collect();
        // A number that the program reads itself is the grid's length only where no width is given.
        if given.len() > 1 && files.have_number(self.length) {
            given.retain(|key| *key != self.length);
        }
        // The command line replaces what files give.
        let in_words = |key: &&'static str| parameters.origin(key).is_some_and(Origin::replaces_files);
        if given.iter().any(in_words) {
            given.retain(in_words);
        }
        if let [first, second, ..] = given[..] {
            let shown = [first, second].map(|key| parameters.shown(key));
            let message = format!("the grid has two sources of widths: {} and {}", shown[0], shown[1]);
            return Err(Error::new(ErrorKind::Data, message).hint("leave one of them out"));
        }
        let count = parameters.integer(self.count)?;
        if count == Some(0) {
            let message = format!("parameter {} must be at least 1", parameters.shown(self.count));
            return Err(Error::new(ErrorKind::Data, message).hint(format!("such as `{}=10`", self.count)));
        }
        let n = count.unwrap_or(self.default);
        let from = given.first().copied().unwrap_or_default();
        let uniform = |width| Ok(AxisCells { n, widths: Widths::Uniform(width), from });
        if from == self.length {
            return uniform(positive(self.length, self.length_of(parameters)?)? / n as f64);
        }
        if from == self.width {
            let sequence = self.sequence(parameters, self.width)?;
            if let [width] = sequence.values[..] {
                return uniform(positive(self.width, width)?);
            }
            return self.graded(count, sequence.values, self.width);
        }
        match parameters.path(self.file)?.filter(|_| from == self.file) {
            Some(path) => self.graded(count, read_numbers(parameters, self.width, &path, 1)?, self.file),
            None => uniform(1.0),
        }
    }

    fn graded(&self, count: Option<usize>, widths: Vec<f64>, from: &'static str) -> Result<AxisCells, Error> {
        let n = widths.len();
        if n == 0 {
            return Err(Error::new(ErrorKind::Data, format!("parameter `{from}` gives no width")));
        }
        if let Some(count) = count.filter(|&count| count != n) {
            let message = format!("`{}={count}`, and `{from}` gives {n} widths", self.count);
            return Err(Error::new(ErrorKind::Data, message).hint(format!("leave {} out: it follows from the widths", self.count)));
        }
        for &width in &widths {
            positive(from, width)?;
        }
        // Equal widths are a uniform grid, whose kernels are faster.
        let widths = if widths.iter().all(|&width| width == widths[0]) { Widths::Uniform(widths[0]) } else { Widths::Graded(widths) };
        Ok(AxisCells { n, widths, from })
    }

    fn sequence(&self, parameters: &Parameters, key: &str) -> Result<Sequence, Error> {
        let text = parameters.text(key).unwrap_or_default();
        let sequence = parse_sequence(text).map_err(|error| error.into_parameter_error(parameters, key))?;
        if sequence.dimension.is_some_and(|dimension| dimension != METRES) {
            let message = format!("parameter `{key}`{} must be a length, not `{text}`", parameters.place(key));
            return Err(Error::new(ErrorKind::Data, message));
        }
        Ok(sequence)
    }

    fn length_of(&self, parameters: &Parameters) -> Result<f64, Error> {
        match self.sequence(parameters, self.length)?.values[..] {
            [length] => Ok(length),
            _ => {
                Err(Error::new(ErrorKind::Data, format!("parameter `{}`{} must be one number", self.length, parameters.place(self.length))))
            }
        }
    }
}

fn positive(key: &str, width: f64) -> Result<f64, Error> {
    if width > 0.0 {
        return Ok(width);
    }
    Err(Error::new(ErrorKind::Data, format!("parameter `{key}` must be positive, not {width}")))
}

/// Dimension of the grid and the cells along its axes.
fn cells(parameters: &Parameters, files: Files<'_>) -> Result<Vec<AxisCells>, Error> {
    let [_, _, z] = &AXES;
    // A program may have numbers and collections of these names.
    let is_of_grid = |key: &str| parameters.contains(key) && !files.have_number(key) && (key != z.file || files.are_of_grid(z.width));
    let has_z = [z.count, z.width, z.file, z.length].into_iter().any(is_of_grid);
    let dim = parameters.integer("grid_dim")?.unwrap_or(if has_z { 3 } else { 2 });
    if !(1..=3).contains(&dim) {
        return Err(Error::new(ErrorKind::Data, format!("parameter `grid_dim` must be 1, 2 or 3, not {dim}")));
    }
    AXES[..dim].iter().map(|keys| keys.read(parameters, files)).collect()
}

/// The grid of the parameters: `grid_filename`, whose geometry is checked (`grid_geometry=check`,
/// the default) or not (`trust`), or `grid_dim` (default 2, or 3 with a parameter of the third
/// axis), `nx ny nz` (6 1 1) and either `dx dy dz` (1 1 1; one width or a sequence of widths),
/// files of widths (`dx_filename` ...) or `lx ly lz`. `grid_layout=unstructured` treats a Cartesian
/// grid as an unstructured one. `grid_periodic=x-:x+,west:east` joins sides, `none` not even those
/// that a mesh of Gmsh joins.
///
/// # Errors
/// `Data` for illegal values, `Io` and `Data` of the grid file.
pub fn grid_from_parameters(parameters: &Parameters) -> Result<Grid, Error> {
    grid(parameters, Files::OfGrid)
}

/// The same for a run of a program; a file that it reads itself has no widths of the grid.
///
/// # Errors
/// As [`grid_from_parameters`].
pub fn grid_for_program(program: &Program, parameters: &Parameters) -> Result<Grid, Error> {
    grid(parameters, Files::OfProgram(program))
}

/// Number of cells of the Cartesian grid of a run of a program, before it is made; `None` for a
/// grid from a file.
///
/// # Errors
/// As [`grid_from_parameters`]; of a grid file `Io` alone.
pub fn cartesian_cells(program: &Program, parameters: &Parameters) -> Result<Option<usize>, Error> {
    if let Some(path) = parameters.path("grid_filename")? {
        parameters.source().check(&path, "grid file")?;
        return Ok(None);
    }
    let axes = cells(parameters, Files::OfProgram(program))?;
    Ok(Some(axes.iter().map(|axis| axis.n).fold(1, usize::saturating_mul)))
}

/// An error of a parameter that is one of some words.
fn bad(key: &str, expected: &str, found: &str) -> Error {
    Error::new(ErrorKind::Data, format!("parameter `{key}` must be {expected}, not `{found}`"))
}

/// True if a parameter leaves out a part of grid files that is refused otherwise.
fn ignores(parameters: &Parameters, key: &str) -> Result<bool, Error> {
    match parameters.text(key) {
        None | Some("refuse") => Ok(false),
        Some("ignore") => Ok(true),
        Some(other) => Err(bad(key, "`refuse` or `ignore`", other)),
    }
}

/// Options of decks: `grid_unit`, and a parameter for each part that may be left out.
fn deck_options(parameters: &Parameters) -> Result<DeckOptions, Error> {
    let mut options = DeckOptions::default();
    if let Some(name) = parameters.text("grid_unit") {
        options.grid_unit = Some(DeckOptions::unit(name).ok_or_else(|| bad("grid_unit", "`metres`, `feet` or `cm`", name))?);
    }
    for part in DeckFeature::ALL {
        if ignores(parameters, part.parameter())? {
            options = options.without(part);
        }
    }
    Ok(options)
}

/// The grid of the parameters, with the sides that `grid_periodic` joins.
fn grid(parameters: &Parameters, files: Files<'_>) -> Result<Grid, Error> {
    let grid = open_grid(parameters, files)?;
    let Some(sides) = parameters.text(PERIODIC) else { return Ok(grid) };
    grid.with_periodic_sides(sides).map_err(|error| {
        let message = format!("parameter `{PERIODIC}`{}: {}", parameters.place(PERIODIC), error.message);
        Error { message, ..error }
    })
}

/// The same before sides are joined.
fn open_grid(parameters: &Parameters, files: Files<'_>) -> Result<Grid, Error> {
    let unstructured = match parameters.text("grid_layout") {
        None | Some("auto") => false,
        Some("unstructured") => true,
        Some(other) => {
            let message = format!("parameter `grid_layout` must be `auto` or `unstructured`, not `{other}`");
            return Err(Error::new(ErrorKind::Data, message));
        }
    };
    let stored = StoredGeometry::from_parameters(parameters)?;
    if let Some(path) = parameters.path("grid_filename")? {
        let options =
            io::ReadOptions { stored, deck: deck_options(parameters)?, gmsh: GmshOptions { joins_sides: !parameters.contains(PERIODIC) } };
        return io::read_file_as(parameters.source(), &path, &options, &Threads::from_parameters(parameters)?);
    }
    let axes = cells(parameters, files)?;
    let mut shape = Cartesian { dim: axes.len(), n: [1; 3], spacing: [1.0; 3], joined: [false; 3], place: None };
    let mut graded = false;
    for (axis, cells) in axes.iter().enumerate() {
        shape.n[axis] = cells.n;
        match cells.widths {
            Widths::Uniform(width) => shape.spacing[axis] = width,
            Widths::Graded(_) => graded = true,
        }
    }
    let grid = if graded {
        let mut widths: [Vec<f64>; 3] = Default::default();
        for (along, cells) in widths.iter_mut().zip(axes) {
            *along = match cells.widths {
                Widths::Uniform(width) => vec![width; cells.n],
                Widths::Graded(widths) => widths,
            };
        }
        Grid::rectilinear(shape.dim, [&widths[0], &widths[1], &widths[2]])?
    } else {
        Grid::cartesian(shape)?
    };
    if (unstructured || graded) && grid.n_cells() > MAX_CELLS_OF_ARRAYS {
        return Err(too_many_of("cells", MAX_CELLS_OF_ARRAYS));
    }
    Ok(if unstructured { grid.as_unstructured() } else { grid })
}

/// Values of the inputs `dx`, `dy` and `dz` of a program that are not numbers under these keys, but
/// follow from `lx`, a file or a sequence. None for a grid from a file.
///
/// # Errors
/// `Data` where widths differ along the axis; names the line of the input.
pub(super) fn widths_for_program(program: &Program, parameters: &Parameters) -> Result<Vec<(&'static str, f64)>, Error> {
    let read = |key: &str| program.inputs.iter().find(|input| input.kind == InputKind::Scalar && &*input.name == key);
    if parameters.contains("grid_filename") || AXES.iter().all(|keys| read(keys.width).is_none()) {
        return Ok(Vec::new());
    }
    let mut widths = Vec::new();
    for (keys, cells) in AXES.iter().zip(cells(parameters, Files::OfProgram(program))?) {
        let Some(input) = read(keys.width).filter(|_| !cells.from.is_empty()) else { continue };
        // A number alone is in the unit of the program, as for every input.
        if cells.from == keys.width && parameters.number(keys.width).is_ok() {
            continue;
        }
        match cells.widths {
            Widths::Uniform(width) => widths.push((keys.width, width)),
            Widths::Graded(_) => {
                let message =
                    format!("the program reads `{}`, the width of all cells, but `{}` gives widths that differ", keys.width, cells.from);
                return Err(Error::new(ErrorKind::Data, message).at(input.line));
            }
        }
    }
    Ok(widths)
}

/// Values of the inputs `dx`, `dy` and `dz` of a program on a grid that no parameters describe: the
/// widths of its cells where they are the same, for inputs that are not given.
pub(super) fn widths_of_grid(program: &Program, parameters: &Parameters, grid: &Grid) -> Vec<(&'static str, f64)> {
    let Some(shape) = grid.cartesian_shape() else { return Vec::new() };
    let axes = AXES.iter().zip(shape.spacing).take(shape.dim);
    let is_read = |key: &str| program.inputs.iter().any(|input| input.kind == InputKind::Scalar && *input.name == *key);
    axes.filter(|(keys, _)| is_read(keys.width) && !parameters.contains(keys.width)).map(|(keys, width)| (keys.width, width)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::DataSource;
    use crate::program::InputInfo;

    fn given(words: &[&str]) -> Parameters {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        Parameters::from_words_in(DataSource::memory([("w.txt", b"1 2 4".to_vec())]), &words).unwrap()
    }

    fn grid(words: &[&str]) -> Result<Grid, String> {
        grid_from_parameters(&given(words)).map_err(|error| error.message)
    }

    fn x_of_last(words: &[&str]) -> f64 {
        let grid = grid(words).unwrap();
        grid.geometry().cell_centroids[grid.n_cells() - 1][0]
    }

    #[test]
    fn lengths_and_widths() {
        let of_length = grid(&["nx=4", "ny=2", "lx=2", "ly=10 [Centi*Meter]"]).unwrap();
        assert_eq!(of_length.cartesian_shape(), Some(&Cartesian::plane([4, 2], [0.5, 0.1 / 2.0])));
        assert_eq!(grid(&["grid_dim=1", "dx=4*0.5"]).unwrap().cartesian_shape(), Some(&Cartesian::line(4, 0.5)));
        for words in [&["grid_dim=1", "dx=1, 2, 4"][..], &["grid_dim=1", "dx_filename=w.txt"], &["grid_dim=1", "nx=3", "dx_filename=w.txt"]]
        {
            assert!(grid(words).unwrap().cartesian_shape().is_none());
            assert_eq!(x_of_last(words), 5.0);
        }
        assert_eq!(x_of_last(&["dx=1, 2, 4", "ny=3", "ly=6"]), 5.0);
    }

    #[test]
    fn shapes_that_no_grid_has() {
        for (words, expected) in [
            (&["dx=1", "lx=2"][..], "the grid has two sources of widths: `dx=1` (command line) and `lx=2` (command line)"),
            (&["dx_filename=w.txt", "nx=4"], "`nx=4`, and `dx_filename` gives 3 widths"),
            (&["dx=1, -2"], "parameter `dx` must be positive, not -2"),
            (&["lx=0"], "parameter `lx` must be positive, not 0"),
            (&["lx=1, 2"], "parameter `lx` (command line) must be one number"),
            (&["ly=1 [Second]"], "parameter `ly` (command line) must be a length, not `1 [Second]`"),
            (&["dx="], "parameter `dx` gives no width"),
            (&["dx=ten"], "parameter `dx` (command line): character 1 of `ten`: expected a number, found `ten`"),
            (&["dx=1e300,1"], "the width of cell 1 along x must be positive and not lost beside 1e300, not 1.0"),
        ] {
            assert_eq!(grid(words).unwrap_err(), expected, "{words:?}");
        }
    }

    #[test]
    fn the_command_line_replaces_what_files_give() {
        let mut parameters = Parameters::default();
        parameters.read_text("a.param".as_ref(), b"nx=4\ndx=0.1\n").unwrap();
        parameters.set("lx", "2");
        assert_eq!(grid_from_parameters(&parameters).unwrap().cartesian_shape().unwrap().spacing[0], 0.5);
    }

    /// A program that reads a number.
    fn reading(name: &str) -> Program {
        let input = InputInfo { name: name.into(), default: "1".into(), line: 3, ..InputInfo::default() };
        Program { inputs: vec![input], ..Program::named("p") }
    }

    /// A program may have read a number `lx` before grids did.
    #[test]
    fn a_length_that_the_program_reads_yields_to_a_width() {
        let program = reading("lx");
        let parameters = given(&["nx=4", "dx=0.1", "lx=1"]);
        assert_eq!(grid_for_program(&program, &parameters).unwrap().cartesian_shape().unwrap().spacing[0], 0.1);
        let mut of_file = Parameters::default();
        of_file.read_text("a.param".as_ref(), b"nx=4\ndx=0.1\n").unwrap();
        of_file.set("lx", "1");
        assert_eq!(grid_for_program(&program, &of_file).unwrap().cartesian_shape().unwrap().spacing[0], 0.1);
        assert!(grid_from_parameters(&parameters).is_err());
    }

    /// A parameter of the third axis makes a grid of three dimensions, but not an input of that
    /// name.
    #[test]
    fn the_third_axis_makes_three_dimensions() {
        let dim = |program: &Program, words: &[&str]| grid_for_program(program, &given(words)).unwrap().dim();
        for name in ["dz", "lz", "nz"] {
            let (program, word) = (reading(name), format!("{name}=2"));
            assert_eq!((dim(&Program::named("p"), &[&word]), dim(&program, &[&word])), (3, 2), "{name}");
            assert_eq!(dim(&program, &[&word, "grid_dim=3"]), 3, "{name}");
        }
        assert_eq!(dim(&reading("dz"), &["nz=4", "dz=0.5"]), 3);
        let mut collection = reading("dz");
        collection.inputs[0].kind = InputKind::Collection;
        assert_eq!((dim(&collection, &["dz_filename=w.txt"]), dim(&collection, &["dz_filename=w.txt", "nz=4"])), (2, 3));
    }

    #[test]
    fn programs_that_read_the_width() {
        let program = reading("dx");
        let widths = |words: &[&str]| widths_for_program(&program, &given(words)).map_err(|error| (error.message, error.lines));
        assert_eq!(widths(&["nx=4", "lx=2", "ly=8"]).unwrap(), [("dx", 0.5)]);
        assert_eq!(widths(&["dx=3*0.25"]).unwrap(), [("dx", 0.25)]);
        assert_eq!(widths(&["ny=3"]).unwrap(), []);
        assert_eq!(widths(&["dx=3"]).unwrap(), []);
        assert_eq!(widths(&["dx=3 [Kilo*Meter]"]).unwrap(), [("dx", 3000.0)]);
        assert_eq!(widths(&["grid_filename=g", "dx=1, 2"]).unwrap(), []);
        let message = "the program reads `dx`, the width of all cells, but `dx_filename` gives widths that differ";
        assert_eq!(widths(&["dx_filename=w.txt"]), Err((message.to_owned(), vec![3])));
    }
}
