//! Shared by the tests.

use std::path::{Path, PathBuf};

use equelle_runtime::grid::{Cartesian, Grid, NONE};
use equelle_runtime::session::{Options, Session};
use equelle_runtime::{
    AxisUnits, CanonicalSet, EntityKind, Error, Extent, InputInfo, InputKind, InputUnit, OutputInfo, OutputKind, OutputUnit, Parameters,
    Program, RankNeeds, Source,
};

pub const ALL_CELLS: CanonicalSet = CanonicalSet::new(EntityKind::Cell, Extent::All);
pub const INTERIOR_CELLS: CanonicalSet = CanonicalSet::new(EntityKind::Cell, Extent::Interior);
pub const BOUNDARY_CELLS: CanonicalSet = CanonicalSet::new(EntityKind::Cell, Extent::Boundary);
pub const ALL_FACES: CanonicalSet = CanonicalSet::new(EntityKind::Face, Extent::All);
pub const INTERIOR_FACES: CanonicalSet = CanonicalSet::new(EntityKind::Face, Extent::Interior);
pub const BOUNDARY_FACES: CanonicalSet = CanonicalSet::new(EntityKind::Face, Extent::Boundary);
pub const ALL_EDGES: CanonicalSet = CanonicalSet::new(EntityKind::Edge, Extent::All);
pub const INTERIOR_EDGES: CanonicalSet = CanonicalSet::new(EntityKind::Edge, Extent::Interior);
pub const BOUNDARY_EDGES: CanonicalSet = CanonicalSet::new(EntityKind::Edge, Extent::Boundary);
pub const ALL_VERTICES: CanonicalSet = CanonicalSet::new(EntityKind::Vertex, Extent::All);
pub const INTERIOR_VERTICES: CanonicalSet = CanonicalSet::new(EntityKind::Vertex, Extent::Interior);
pub const BOUNDARY_VERTICES: CanonicalSet = CanonicalSet::new(EntityKind::Vertex, Extent::Boundary);
pub const SETS: [CanonicalSet; 12] = [
    ALL_CELLS,
    INTERIOR_CELLS,
    BOUNDARY_CELLS,
    ALL_FACES,
    INTERIOR_FACES,
    BOUNDARY_FACES,
    ALL_EDGES,
    INTERIOR_EDGES,
    BOUNDARY_EDGES,
    ALL_VERTICES,
    INTERIOR_VERTICES,
    BOUNDARY_VERTICES,
];

pub fn heat() -> Program {
    let text = "k = InputScalarWithDefault(\"k\", 0.3)\n  u = InputCollectionOfScalar(\"u\", AllCells())\n";
    let input =
        |name: &str, kind, domain: &str, line| InputInfo { name: name.into(), kind, domain: domain.into(), line, ..InputInfo::default() };
    let kelvin = InputUnit { text: "Kelvin".into(), factor: 1.0, dimension: [0, 0, 0, 1, 0, 0, 0] };
    let output = |tag: &str, unit| OutputInfo { tag: tag.into(), kind: OutputKind::Numbers(EntityKind::Cell), unit };
    Program {
        source: Source { file: "heat.equelle".into(), text: text.into(), imports: Vec::new() },
        inputs: vec![
            InputInfo { default: "0.3".into(), ..input("k", InputKind::Scalar, "", 1) },
            InputInfo { unit: Some(kelvin), ..input("u_initial", InputKind::Collection, "AllCells()", 2) },
            input("dir", InputKind::Domain, "BoundaryFaces()", 3),
            input("timesteps", InputKind::Sequence, "", 4),
        ],
        outputs: vec![output("u", None), output("v", Some(OutputUnit::Si("m/s".into())))],
        axes: AxisUnits { coordinates: Some("m".into()), time: Some("s".into()) },
        ranks: RankNeeds::Unknown,
        ..Program::named("heat")
    }
}

/// A small grid whose sets, areas and differences are worked out by hand.
pub fn four_by_three() -> Grid {
    Grid::cartesian(Cartesian::plane([4, 3], [0.5, 0.3])).expect("a good shape")
}

/// An empty directory of a test's own.
pub fn fresh_dir(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if dir.exists() {
        std::fs::remove_dir_all(&dir).expect("the test's own directory can be removed");
    }
    std::fs::create_dir_all(&dir).expect("the test's own directory can be made");
    dir
}

/// Names of what is in a directory, sorted.
pub fn names_in(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).expect("the test's own directory can be read");
    let mut names: Vec<String> = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

/// Writes a file and gives its name.
pub fn file(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, text).expect("the test's own file can be written");
    path
}

pub fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

pub fn parameters(given: &[&str]) -> Parameters {
    Parameters::from_words(&words(given)).expect("good parameters")
}

pub fn open(given: &[&str]) -> Result<Session, Error> {
    Session::open_with(heat(), &words(given), Options::silent())
}

/// Second minus first, per interior face.
pub fn gradient(grid: &Grid, values: &[f64]) -> Vec<f64> {
    let cells = &grid.topology().face_cells;
    let faces = grid.canonical_elements(INTERIOR_FACES).expect("faces are supported");
    faces.iter().map(|&f| cells[f as usize]).map(|[a, b]| values[b as usize] - values[a as usize]).collect()
}

/// Signed sum per cell in ascending face index, of values on interior faces.
pub fn divergence(grid: &Grid, values: &[f64]) -> Vec<f64> {
    let topology = grid.topology();
    let faces = grid.canonical_elements(INTERIOR_FACES).expect("faces are supported");
    let mut on_all = vec![0.0; grid.n_faces()];
    faces.iter().zip(values).for_each(|(&face, &value)| on_all[face as usize] = value);
    (0..grid.n_cells())
        .map(|cell| {
            topology.faces_of(cell).iter().fold(0.0, |sum, &face| {
                let sign = if topology.face_cells[face as usize][0] == cell as u32 { 1.0 } else { -1.0 };
                sum + sign * on_all[face as usize]
            })
        })
        .collect()
}

/// Largest, over the cells, of |sum of outward area vectors| / sum of areas.
pub fn worst_closure(grid: &Grid) -> f64 {
    let (topology, geometry) = (grid.topology(), grid.geometry());
    let mut worst = 0.0f64;
    for cell in 0..grid.n_cells() {
        let (mut sum, mut total) = ([0.0f64; 3], 0.0);
        for &face in topology.faces_of(cell) {
            let face = face as usize;
            let sign = if topology.face_cells[face][0] == cell as u32 { 1.0 } else { -1.0 };
            for (component, normal) in sum.iter_mut().zip(geometry.face_normals[face]) {
                *component += sign * normal * geometry.face_areas[face];
            }
            total += geometry.face_areas[face];
        }
        worst = worst.max(sum.iter().map(|c| c * c).sum::<f64>().sqrt() / total);
    }
    worst
}

/// Relations that every grid has.
pub fn assert_consistent(grid: &Grid) {
    let topology = grid.topology();
    for cell in 0..grid.n_cells() {
        let faces = topology.faces_of(cell);
        let in_file = |face: &u32| grid.file_index(EntityKind::Face, *face);
        // Joined faces keep the places of those that they were.
        let ascend = grid.has_joined_sides() || faces.is_sorted_by(|a, b| in_file(a) < in_file(b));
        assert!(ascend, "faces of cell {cell} ascend in the file: {faces:?}");
        for &face in faces {
            assert!(topology.face_cells[face as usize].contains(&(cell as u32)), "face {face} knows cell {cell}");
        }
    }
    let sides = topology.face_cells.iter().flatten().filter(|&&cell| cell != NONE).count();
    assert_eq!(sides, topology.cell_faces.len(), "each side of a face is listed by one cell");
}
