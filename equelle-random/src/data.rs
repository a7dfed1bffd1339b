//! The grids that programs run on, and the data that they may read there.
//!
//! Spacings are powers of two, so that geometry worked out from indices and geometry read from
//! arrays are the same numbers. Inputs have fixed names; their files are written once and serve all
//! programs.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::grid::io::read_file;
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::{CanonicalSet, EntityKind, Extent, Program};

use crate::tree::{self, Grids, Kind};

/// A grid with its data.
pub struct Fixture {
    /// For messages.
    pub name: &'static str,
    /// Number of dimensions.
    pub dimensions: usize,
    /// True if the grid is the Cartesian one of `twin`, treated as unstructured.
    pub unstructured: bool,
    /// True if some faces have no geometry, so that programs that read it are refused.
    pub without_geometry: bool,
    /// The cells along each axis, where neighbours may be read by index.
    pub cells: Option<[usize; 3]>,
    /// True if it is for programs alone that read neighbours by index: some sets have no elements.
    pub small: bool,
    /// Parameters of every run, as words of a command line.
    pub words: Vec<String>,
    /// Parameters that name the data, likewise.
    pub inputs: Vec<String>,
}

/// All grids, and what holds on all of them.
pub struct Fixtures {
    /// The grids.
    pub all: Vec<Fixture>,
    /// Ranges that hold on all of them.
    pub ranges: GridRanges,
}

/// Ranges that hold on all grids.
#[derive(Clone, Debug)]
pub struct GridRanges {
    /// The largest number of entities, by kind.
    pub largest: [f64; 4],
    /// Smallest and largest measure, by kind.
    pub measures: [(f64, f64); 4],
    /// Smallest and largest coordinate of a centroid.
    pub position: (f64, f64),
    /// Faces of a cell.
    pub faces: f64,
}

/// Names of the canonical sets: kinds in the order of [`Kind::ALL`], of each all, interior and
/// boundary.
pub const CANONICAL: [(&str, &str); 12] = [
    ("AllCells()", "ac"),
    ("InteriorCells()", "ic"),
    ("BoundaryCells()", "bc"),
    ("AllFaces()", "af"),
    ("InteriorFaces()", "if"),
    ("BoundaryFaces()", "bf"),
    ("AllEdges()", "ae"),
    ("InteriorEdges()", "ie"),
    ("BoundaryEdges()", "be"),
    ("AllVertices()", "av"),
    ("InteriorVertices()", "iv"),
    ("BoundaryVertices()", "bv"),
];

/// Domains that programs may read: name, and the set that it lies in, by position in [`CANONICAL`]
/// and then in this list.
pub const SUBSETS: [(&str, usize); 13] = [
    ("sub_ac", 0),
    ("sub_ic", 1),
    ("sub_bc", 2),
    ("sub_af", 3),
    ("sub_if", 4),
    ("sub_bf", 5),
    ("sub_ae", 6),
    ("sub_av", 9),
    ("subsub_ac", 12),
    ("subsub_bf", 17),
    ("no_ac", 0),
    ("no_if", 4),
    ("no_bf", 5),
];

/// Number of [`SUBSETS`] with elements, which are the first ones. Only programs that may fail read
/// the others.
pub const SUBSETS_WITH_ELEMENTS: usize = 10;

/// The kind of entities of a set, by its position in [`CANONICAL`] and then in [`SUBSETS`].
pub fn kind(set: usize) -> Kind {
    match SUBSETS.get(set.wrapping_sub(CANONICAL.len())) {
        Some(&(_, parent)) => kind(parent),
        None => Kind::ALL[set / 3],
    }
}

/// The key of a set in the names of data on it.
pub fn key(set: usize) -> &'static str {
    SUBSETS.get(set.wrapping_sub(CANONICAL.len())).map_or_else(|| CANONICAL[set].1, |subset| subset.0)
}

/// Collections that programs may read are named `<prefix>_<key of the set>`; smallest and largest
/// value by prefix. Those of `w` are one number everywhere.
pub const COLLECTIONS: [(&str, f64, f64); 4] = [("p", 0.5, 2.0), ("q", 1.0, 3.0), ("s", -1.0, 1.0), ("w", 0.75, 0.75)];

/// Collections of Vectors that programs may read, named likewise; smallest and largest component.
pub const VECTORS: (&str, f64, f64) = ("v", -1.0, 1.0);

/// Collections of truth values that programs may read, named likewise.
pub const BOOLS: &str = "b";

/// Numbers that programs may read, and what they are if given; the others take the default that the
/// program writes.
pub const SCALARS: [(&str, Option<f64>); 4] = [("k0", Some(0.75)), ("k1", Some(1.5)), ("k2", None), ("k3", None)];

/// Sequences that programs may read.
pub const SEQUENCES: [(&str, &[f64]); 3] = [("steps", &[0.5, 0.25, 0.375]), ("pair", &[0.25, 0.5]), ("never", &[])];

/// Number of [`SEQUENCES`] with elements, which are the first ones. Only programs that may fail
/// read the others.
pub const SEQUENCES_WITH_ELEMENTS: usize = 2;

/// Tables that programs may read, the rows of both: column `x` ascends, `y` is between the numbers
/// here. The second one is monotone.
pub const TABLES: [&str; 2] = ["curve", "smooth"];

/// Rows of [`TABLES`].
const ROWS: [(f64, f64); 6] = [(-2.0, 0.5), (-0.75, 0.5), (0.0, 1.0), (0.5, 1.75), (1.25, 1.5), (3.0, 2.0)];

/// The steepest slope of [`TABLES`]: three times that between two rows, which cubics do not exceed.
pub const STEEPEST: f64 = 4.5;

/// Rows of the table of two arguments `plane`; it also has values between [`TABLE_VALUES`].
const PLANE: [(f64, f64, f64); 9] = [
    (-1.0, -0.5, 0.5),
    (-1.0, 0.75, 1.0),
    (-1.0, 2.0, 1.25),
    (0.5, -0.5, 2.0),
    (0.5, 0.75, 0.75),
    (0.5, 2.0, 1.5),
    (2.0, -0.5, 1.0),
    (2.0, 0.75, 1.75),
    (2.0, 2.0, 0.5),
];

/// At least the steepest slope of it by one argument: 1.25 / 1.25 and 1.5 / 1.5.
pub const STEEPEST2: f64 = 1.0;

/// Smallest and largest value of [`TABLES`].
pub const TABLE_VALUES: (f64, f64) = (0.5, 2.0);

impl Fixtures {
    /// Writes the data of all grids below a folder.
    ///
    /// # Errors
    /// The folder cannot be written.
    ///
    /// # Panics
    /// If a grid of ours is not valid.
    pub fn write(folder: &Path, triangles: &Path) -> io::Result<Fixtures> {
        let decks = [("layers", ""), ("connected layers", CONNECTION)].map(|(name, connection)| {
            let path = folder.join(format!("{}.grdecl", name.replace(' ', "-")));
            (name, path, layers() + connection)
        });
        fs::create_dir_all(folder)?;
        for (_, path, text) in &decks {
            fs::write(path, text)?;
        }
        let plane = Cartesian::plane([5, 4], [0.5, 0.25]);
        let shapes = [
            ("cartesian", Some("unstructured"), Source::Shape(plane)),
            ("block", Some("unstructured block"), Source::Shape(Cartesian::block([3, 4, 3], [0.5, 0.25, 0.5]))),
            ("line", Some("unstructured line"), Source::Shape(Cartesian::line(6, 0.5))),
            ("triangles", None, Source::File(triangles)),
            (decks[0].0, None, Source::File(&decks[0].1)),
            (decks[1].0, None, Source::File(&decks[1].1)),
            ("joined plane", None, Source::JoinedShape(plane, "x-:x+")),
            ("joined block", None, Source::JoinedShape(Cartesian::block([3, 2, 3], [0.5, 0.25, 0.5]), "y-:y+,z+:z-")),
            ("joined triangles", None, Source::JoinedFile(triangles, "y-:y+")),
        ];
        let (mut all, mut grids) = (Vec::new(), Vec::new());
        let small = small_grids().map(|(name, shape)| (name, None, Source::Shape(shape)));
        for (name, twin, source) in shapes.into_iter().chain(small) {
            let is_small = small.iter().any(|(small, ..)| *small == name);
            let joined = |grid: Grid, sides| grid.with_periodic_sides(sides).expect("sides that meet");
            let (grid, shape) = match source {
                Source::Shape(shape) => (Grid::cartesian(shape).expect("a small grid"), Some(shape)),
                Source::File(path) => (read_file(path).expect("a valid grid"), None),
                Source::JoinedShape(shape, sides) => (joined(Grid::cartesian(shape).expect("a small grid"), sides), None),
                Source::JoinedFile(path, sides) => (joined(read_file(path).expect("a valid grid"), sides), None),
            };
            let grid = Arc::new(grid);
            let dimensions = grid.dim();
            let without_geometry = shape.is_none() && !grid.geometry().faces_without_geometry.is_empty();
            let mut words = match source {
                Source::Shape(shape) => sizes(&shape),
                Source::File(path) => vec![format!("grid_filename={}", path.display())],
                Source::JoinedShape(shape, sides) => [sizes(&shape), vec![format!("grid_periodic={sides}")]].concat(),
                Source::JoinedFile(path, sides) => vec![format!("grid_filename={}", path.display()), format!("grid_periodic={sides}")],
            };
            let folder = folder.join(name.replace(' ', "-"));
            fs::create_dir_all(&folder)?;
            let inputs = files(&folder, &grid)?;
            // Newton's method ends at round-off or fails: see `generate::newton`.
            words.extend(["solver=lu", "abs_res_tol=1e-10", "max_iter=60", "max_rounds=1000"].map(str::to_owned));
            let fixture = |name, unstructured| {
                let mut words = words.clone();
                if unstructured {
                    words.push("grid_layout=unstructured".to_owned());
                }
                let cells = shape.filter(|_| !unstructured).map(|shape| shape.n);
                Fixture { name, dimensions, unstructured, without_geometry, cells, small: is_small, words, inputs: inputs.clone() }
            };
            all.extend(twin.map(|twin| fixture(twin, true)));
            all.push(fixture(name, false));
            if !is_small {
                grids.push(grid);
            }
        }
        let ranges = GridRanges::of(grids.iter().map(Arc::as_ref));
        Ok(Fixtures { all, ranges })
    }
}

/// Source of a grid.
#[derive(Clone, Copy)]
enum Source<'a> {
    Shape(Cartesian),
    File(&'a Path),
    /// With joined sides.
    JoinedShape(Cartesian, &'static str),
    JoinedFile(&'a Path, &'static str),
}

/// A deck of 3 x 3 x 3 cells with a gap between its first two layers, and a throw between its first
/// two columns.
fn layers() -> String {
    let mut text = "SPECGRID\n3 3 3 1 F /\nCOORD\n".to_owned();
    for (j, i) in (0..4).flat_map(|j| (0..4).map(move |i| (j, i))) {
        let (x, y) = (0.5 * f64::from(i), 0.25 * f64::from(j));
        let _ = writeln!(text, "{x} {y} 0 {x} {y} 2");
    }
    text.push_str("/\nZCORN\n");
    for depth in [0.0, 0.5, 0.75, 1.25, 1.25, 1.5] {
        // Two corners of each cell along either axis.
        text.push_str(&format!("2*{depth} 4*{}\n", depth + 0.125).repeat(6));
    }
    text + "/\n"
}

/// A connection without geometry, of 1 cubic metre.
const CONNECTION: &str = "NNC\n1 1 1 2 3 3 8.64e12 /\n/\n";

/// Grids of few cells: as many as programs reach, and fewer. Measures and places are within
/// [`Fixtures::ranges`].
fn small_grids() -> [(&'static str, Cartesian); 8] {
    let (plane, block) = ([0.5, 0.25], [0.5, 0.25, 0.5]);
    [
        ("line of 1", Cartesian::line(1, 0.5)),
        ("line of 2", Cartesian::line(2, 0.5)),
        ("line of 3", Cartesian::line(3, 0.25)),
        ("line of 8", Cartesian::line(8, 0.25)),
        ("plane of 2 by 3", Cartesian::plane([2, 3], plane)),
        ("plane of 3 by 1", Cartesian::plane([3, 1], plane)),
        ("block of 2 by 3 by 1", Cartesian::block([2, 3, 1], block)),
        ("block of 3 by 2 by 2", Cartesian::block([3, 2, 2], block)),
    ]
}

/// Parameters that make a grid.
fn sizes(shape: &Cartesian) -> Vec<String> {
    let axes = [("x", 0), ("y", 1), ("z", 2)].into_iter().take(shape.dim);
    let sizes = axes.flat_map(|(axis, i)| [format!("n{axis}={}", shape.n[i]), format!("d{axis}={:?}", shape.spacing[i])]);
    [format!("grid_dim={}", shape.dim)].into_iter().chain(sizes).collect()
}

/// The grids that a program is for; of those that read neighbours by index also some that are
/// refused.
pub fn grids<'w>(program: &tree::Program, fixtures: &'w Fixtures) -> impl Iterator<Item = &'w Fixture> {
    let grids = program.grids;
    fixtures.all.iter().filter(move |fixture| match grids {
        Grids::Any => !fixture.small,
        Grids::Plane => !fixture.small && fixture.dimensions == 2,
        Grids::Space => !fixture.small && fixture.dimensions == 3,
        Grids::Structured(n) => fixture.dimensions == n,
    })
}

fn runtime_kind(kind: Kind) -> EntityKind {
    match kind {
        Kind::Cell => EntityKind::Cell,
        Kind::Face => EntityKind::Face,
        Kind::Edge => EntityKind::Edge,
        Kind::Vertex => EntityKind::Vertex,
    }
}

impl Fixture {
    /// The words that a program needs: those of the run, and those of its inputs.
    pub fn words_for(&self, program: &Program) -> impl Iterator<Item = &str> {
        let used = |word: &str| word.split_once('=').is_some_and(|(key, _)| program.inputs.iter().any(|input| input.has_key(key)));
        let inputs = self.inputs.iter().map(String::as_str).filter(move |word| used(word));
        self.words.iter().map(String::as_str).chain(inputs)
    }
}

/// Writes the data for a grid; the parameters that name it.
fn files(folder: &Path, grid: &Arc<Grid>) -> io::Result<Vec<String>> {
    // The data are the same in every run of every program.
    let mut random = fastrand::Rng::with_seed(grid.n_faces() as u64);
    let mut words = Vec::new();
    let mut elements: Vec<Vec<u32>> = Vec::new();
    for kind in Kind::ALL {
        for extent in [Extent::All, Extent::Interior, Extent::Boundary] {
            let set = CanonicalSet::new(runtime_kind(kind), extent);
            let domain = Domain::canonical(grid, set).expect("a grid of ours has nodes");
            elements.push(domain.elements().to_vec());
        }
    }
    let write = |name: &str, text: String| -> io::Result<PathBuf> {
        let path = folder.join(format!("{name}.txt"));
        fs::write(&path, text)?;
        Ok(path)
    };
    for (subset, (name, parent)) in SUBSETS.into_iter().enumerate() {
        let mut chosen: Vec<u32> = Vec::new();
        if subset < SUBSETS_WITH_ELEMENTS {
            chosen = elements[parent].iter().copied().filter(|_| random.u8(..3) > 0).collect();
            if chosen.is_empty() {
                chosen.extend(elements[parent].first());
            }
        }
        let text: Vec<String> = chosen.iter().map(u32::to_string).collect();
        words.push(format!("{name}_filename={}", write(name, text.join(" "))?.display()));
        elements.push(chosen);
    }
    for (set, elements) in elements.iter().enumerate() {
        for (prefix, lo, hi) in COLLECTIONS {
            let name = format!("{prefix}_{}", key(set));
            if lo == hi {
                words.push(format!("{name}={lo:?}"));
                continue;
            }
            let values: Vec<String> = elements.iter().map(|_| format!("{:?}", lo + (hi - lo) * random.f64())).collect();
            words.push(format!("{name}_from_file=true"));
            words.push(format!("{name}_filename={}", write(&name, values.join("\n"))?.display()));
        }
    }
    for (set, elements) in elements.iter().enumerate() {
        let (prefix, lo, hi) = VECTORS;
        let vectors: Vec<String> = (0..elements.len() * grid.dim()).map(|_| format!("{:?}", lo + (hi - lo) * random.f64())).collect();
        let truths: Vec<&str> = elements.iter().map(|_| if random.bool() { "true" } else { "0" }).collect();
        for (prefix, text) in [(prefix, vectors.join("\n")), (BOOLS, truths.join(" "))] {
            let name = format!("{prefix}_{}", key(set));
            words.push(format!("{name}_filename={}", write(&name, text)?.display()));
        }
    }
    for (name, values) in SEQUENCES {
        let values: Vec<String> = values.iter().map(|v| format!("{v:?}")).collect();
        words.push(format!("{name}_filename={}", write(name, values.join("\n"))?.display()));
    }
    for name in TABLES {
        let rows: Vec<String> = ROWS.iter().map(|(x, y)| format!("{x:?} {y:?}")).collect();
        words.push(format!("{name}_filename={}", write(name, format!("x y\n{}\n", rows.join("\n")))?.display()));
    }
    let plane: Vec<String> = PLANE.iter().map(|(x, y, z)| format!("{x:?} {y:?} {z:?}")).collect();
    words.push(format!("plane_filename={}", write("plane", format!("x y z\n{}\n", plane.join("\n")))?.display()));
    words.push("smooth_interpolation=monotone".to_owned());
    words.extend(SCALARS.iter().filter_map(|(name, value)| value.map(|value| format!("{name}={value:?}"))));
    Ok(words)
}

impl GridRanges {
    fn of<'g>(grids: impl Iterator<Item = &'g Grid>) -> GridRanges {
        let mut ranges =
            GridRanges { largest: [0.0; 4], measures: [(f64::INFINITY, 0.0); 4], position: (f64::INFINITY, f64::NEG_INFINITY), faces: 0.0 };
        for grid in grids {
            for (k, kind) in Kind::ALL.into_iter().enumerate() {
                let kind = runtime_kind(kind);
                ranges.largest[k] = ranges.largest[k].max(grid.n_entities(kind).expect("a grid of ours has nodes") as f64);
                // Programs never read the measures of faces without geometry.
                for &measure in grid.measures(kind).iter().filter(|&&measure| measure > 0.0) {
                    let (lo, hi) = &mut ranges.measures[k];
                    (*lo, *hi) = (lo.min(measure), hi.max(measure));
                }
                for &coordinate in grid.centroids(kind).iter().flatten() {
                    let (lo, hi) = &mut ranges.position;
                    (*lo, *hi) = (lo.min(coordinate), hi.max(coordinate));
                }
            }
            let faces = (0..grid.n_cells()).map(|cell| grid.topology().faces_of(cell).len()).max().unwrap_or(0);
            ranges.faces = ranges.faces.max(faces as f64);
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::{GridRanges, small_grids};
    use equelle_runtime::grid::{Cartesian, Grid};

    /// Bounds of programs are those of the other grids.
    #[test]
    fn small_grids_are_within_the_ranges_of_the_others() {
        let of = |shapes: Vec<Cartesian>| {
            let grids: Vec<Grid> = shapes.into_iter().map(|shape| Grid::cartesian(shape).expect("a small grid")).collect();
            GridRanges::of(grids.iter())
        };
        let plane = Cartesian::plane([5, 4], [0.5, 0.25]);
        let others = of(vec![plane, Cartesian::block([3, 4, 3], [0.5, 0.25, 0.5]), Cartesian::line(6, 0.5)]);
        let small = of(small_grids().map(|(_, shape)| shape).to_vec());
        let within = |inner: (f64, f64), outer: (f64, f64)| inner.0 >= outer.0 && inner.1 <= outer.1;
        assert!(within(small.position, others.position), "{:?}, {:?}", small.position, others.position);
        for kind in 0..small.measures.len() {
            assert!(within(small.measures[kind], others.measures[kind]), "{:?}, {:?}", small.measures, others.measures);
            assert!(small.largest[kind] <= others.largest[kind]);
        }
        assert!(small.faces <= others.faces);
    }
}
