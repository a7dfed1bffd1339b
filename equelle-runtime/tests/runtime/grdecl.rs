//! Corner-point decks: areas and volumes that follow from the shape, and what the keywords do.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use equelle_runtime::grid::io::grdecl::{self, DeckFeature, DeckOptions};
use equelle_runtime::grid::io::opm::OpmText;
use equelle_runtime::grid::{Grid, NONE, Renumber, StoredGeometry};
use equelle_runtime::io::{Bytes, DataSource};
use equelle_runtime::threads::Threads;
use equelle_runtime::{EntityKind, Error};

use crate::common::*;

/// Reads a deck in memory.
pub fn read(text: &str) -> Result<Grid, Error> {
    read_with(text, &DeckOptions::default())
}

fn read_with(text: &str, options: &DeckOptions) -> Result<Grid, Error> {
    grdecl::read(&DataSource::Files, Path::new("d"), Bytes::Owned(text.as_bytes().to_vec()), options, &Threads::one())
}

fn message(text: &str) -> String {
    read(text).unwrap_err().message
}

/// A deck of vertical or slanted pillars, with the depths of corners by cell and corner.
pub struct Deck {
    pub n: [usize; 3],
    pub coord: Vec<f64>,
    pub zcorn: Vec<f64>,
    pub rest: String,
}

impl Deck {
    /// Boxes of these widths; depths may be changed with [`Deck::set`].
    pub fn boxes(n: [usize; 3], width: [f64; 3]) -> Deck {
        let mut coord = Vec::new();
        for j in 0..=n[1] {
            for i in 0..=n[0] {
                let (x, y) = (i as f64 * width[0], j as f64 * width[1]);
                coord.extend([x, y, 0.0, x, y, n[2] as f64 * width[2]]);
            }
        }
        let mut deck = Deck { n, coord, zcorn: vec![0.0; 8 * n.iter().product::<usize>()], rest: String::new() };
        deck.set(|[_, _, k], corner| (k + (corner >> 2)) as f64 * width[2]);
        deck
    }

    /// Depths by cell and the bits of the corner.
    pub fn set(&mut self, depth: impl Fn([usize; 3], usize) -> f64) {
        let [nx, ny, nz] = self.n;
        for k in 0..nz {
            for j in 0..ny {
                for i in 0..nx {
                    for corner in 0..8 {
                        let [x, y, z] = [2 * i + (corner & 1), 2 * j + (corner >> 1 & 1), 2 * k + (corner >> 2)];
                        self.zcorn[(z * 2 * ny + y) * 2 * nx + x] = depth([i, j, k], corner);
                    }
                }
            }
        }
    }

    pub fn text(&self) -> String {
        let mut text = format!("SPECGRID\n{} {} {} 1 F /\nCOORD\n", self.n[0], self.n[1], self.n[2]);
        let mut numbers = |values: &[f64]| {
            for row in values.chunks(6) {
                row.iter().for_each(|value| write!(text, " {value:?}").expect("a String takes all"));
                text.push('\n');
            }
            text.push_str("/\nZCORN\n");
        };
        numbers(&self.coord);
        numbers(&self.zcorn);
        text.truncate(text.len() - "ZCORN\n".len());
        text + &self.rest
    }

    pub fn grid(&self) -> Grid {
        read(&self.text()).expect("a good deck")
    }
}

/// Area between two cells, over all faces that they share.
fn shared(grid: &Grid, cells: [u32; 2]) -> f64 {
    let (topology, geometry) = (grid.topology(), grid.geometry());
    (0..grid.n_faces()).filter(|&face| topology.face_cells[face] == cells).map(|face| geometry.face_areas[face]).sum()
}

/// Area of a cell on the boundary whose normals have a component along an axis, outwards or
/// inwards.
fn open(grid: &Grid, cell: u32, axis: usize, sign: f64) -> f64 {
    let (topology, geometry) = (grid.topology(), grid.geometry());
    let faces = topology.faces_of(cell as usize).iter().map(|&face| face as usize);
    let mine = faces.filter(|&face| topology.is_boundary_face(face) && geometry.face_normals[face][axis] * sign > 0.5);
    mine.map(|face| geometry.face_areas[face]).sum()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * b.abs()
}

fn volume(grid: &Grid) -> f64 {
    grid.geometry().cell_volumes.iter().sum()
}

/// Three layers of 10 m, the right column 4 m lower: layers overlap by 6 m and by 4 m in turn.
#[test]
fn layers_across_a_fault_of_four_metres() {
    let mut deck = Deck::boxes([2, 1, 3], [100.0, 100.0, 10.0]);
    deck.set(|[i, _, k], corner| (k + (corner >> 2)) as f64 * 10.0 + 4.0 * i as f64);
    let grid = deck.grid();
    assert_eq!((grid.dim(), grid.n_cells()), (3, 6));
    // Cells are numbered I first: the left column has 0, 2, 4.
    let left = |layer: u32| 2 * (layer - 1);
    let right = |layer: u32| 2 * (layer - 1) + 1;
    for (pair, area) in [([1, 1], 600.0), ([2, 1], 400.0), ([2, 2], 600.0), ([3, 2], 400.0), ([3, 3], 600.0)] {
        let mut cells = [left(pair[0]), right(pair[1])];
        cells.sort_unstable();
        assert!(near(shared(&grid, cells), area), "{pair:?}: {}", shared(&grid, cells));
    }
    let across = grid.topology().face_cells.iter().filter(|[a, b]| *b != NONE && a % 2 != b % 2).count();
    assert_eq!(across, 5);
    assert!(near(open(&grid, left(1), 0, 1.0), 400.0) && near(open(&grid, right(3), 0, -1.0), 400.0));
    assert!(near(volume(&grid), 2.0 * 3.0 * 1e5));
    assert_consistent(&grid);
    assert!(worst_closure(&grid) < 1e-13);
}

/// The throw changes its sign along the fault: lines of the two sides cross.
#[test]
fn a_throw_that_changes_its_sign() {
    let mut deck = Deck::boxes([2, 1, 1], [100.0, 100.0, 10.0]);
    deck.set(|[i, _, _], corner| {
        (corner >> 2) as f64 * 10.0
            + if i == 0 {
                0.0
            } else if corner & 2 == 0 {
                6.0
            } else {
                -6.0
            }
    });
    let grid = deck.grid();
    assert!(near(shared(&grid, [0, 1]), 700.0), "{}", shared(&grid, [0, 1]));
    for (cell, sign) in [(0, 1.0), (1, -1.0)] {
        let (topology, geometry) = (grid.topology(), grid.geometry());
        let faces = topology.faces_of(cell).iter().map(|&face| face as usize);
        let on_fault = faces.filter(|&face| topology.is_boundary_face(face) && geometry.face_normals[face][0] * sign > 0.5);
        let areas: Vec<f64> = on_fault.map(|face| geometry.face_areas[face]).collect();
        assert!(areas.len() == 2 && areas.iter().all(|&area| near(area, 150.0)), "{areas:?}");
    }
    assert_consistent(&grid);
    assert!(worst_closure(&grid) < 1e-13);
    assert!(near(volume(&grid), 2e5));
}

/// Depths of the ends of layers of one column of 50 m x 50 m, and what stands behind them.
fn column(depths: &[f64], rest: &str) -> String {
    let mut deck = Deck::boxes([1, 1, depths.len() / 2], [50.0, 50.0, 10.0]);
    deck.set(|[_, _, k], corner| depths[2 * k + (corner >> 2)]);
    deck.rest = format!("METRIC\n{rest}");
    deck.text()
}

/// Transmissibilities along Z of interior faces, each with the permeabilities of its own cells and
/// the ways to its own sides of the face, times the array MULT.
fn transmissibilities(grid: &Grid) -> Vec<f64> {
    let (topology, geometry) = (grid.topology(), grid.geometry());
    let permeability = array(grid, "PERMZ");
    let multipliers = grid.named().array(EntityKind::Face, "MULT").map(|array| &array.values);
    let interior = (0..grid.n_faces()).filter(|&face| !topology.is_boundary_face(face));
    let of_face = |face: usize| {
        let [first, second] = topology.face_cells[face].map(|cell| cell as usize);
        let centre = geometry.face_centroids[face][2];
        let to_first = (centre - geometry.cell_centroids[first][2]) / permeability[first];
        let to_second = (geometry.cell_centroids[second][2] - centre + geometry.face_gap(face)[2]) / permeability[second];
        multipliers.map_or(1.0, |multipliers| multipliers[face]) * geometry.face_areas[face] / (to_first + to_second)
    };
    interior.map(of_face).collect()
}

/// The published table of the Open Porous Media project's pinch-out tests, which agrees with
/// Eclipse 100; transmissibilities are those of OPM Flow 2026.4, in its METRIC unit.
#[test]
fn pinched_layers_and_gaps() {
    let darcy = 0.008_527_02;
    let thin = [1000.0, 1002.0, 1002.0, 1002.25, 1002.25, 1002.5, 1002.5, 1005.0];
    let open = [1000.0, 1002.0, 1002.0, 1002.5, 1003.5, 1005.0];
    let closed = [1000.0, 1003.0, 1003.0, 1003.0, 1003.0, 1005.0];
    let of_thin =
        |permeability: &str, rest: &str| format!("PORO\n0.25 0.05 0.05 0.25 /\nPERMZ\n10 {permeability} 10 /\nMINPV\n100 /\n{rest}");
    let of_closed = |rest: &str| format!("PORO\n3*0.25 /\nPERMZ\n21 0 21 /\nMINPV\n100 /\n{rest}");
    let of_open = |rest: &str| format!("PORO\n3*0.25 /\nPERMZ\n3*10 /\n{rest}");
    let cases: [(&[f64], String, &[f64]); 18] = [
        (&thin, of_thin("2*10", ""), &[]),
        (&thin, of_thin("2*10", "PINCH\n/\n"), &[94.744_636]),
        (&thin, of_thin("2*10", "PINCH\n1* NOGAP /\n"), &[]),
        // Each layer is thinner than the threshold, both together are not.
        (&thin, of_thin("2*10", "PINCH\n0.3 NOGAP /\n"), &[]),
        (&thin, of_thin("2*10", "PINCH\n0.6 NOGAP /\n"), &[94.744_636]),
        (&thin, of_thin("2*0", "PINCH\n0.6 NOGAP 1* ALL /\n"), &[0.0]),
        (&thin, of_thin("2*10", "EQUALS\nPERMZ 0 4* 1 1 /\n/\nPINCH\n0.6 NOGAP 1* ALL /\n"), &[0.0]),
        (&thin, of_thin("2*10", "MULTZ\n1 0 0 1 /\nPINCH\n/\n"), &[94.744_636]),
        // All layers resist: 2/2 + 0.25 + 0.25 + 2.5/2 of 10 mD.
        (&thin, of_thin("2*10", "PINCH\n1* GAP 1* ALL /\n"), &[0.008_527_02 * 2500.0 * 10.0 / 2.75]),
        (&open, of_open(""), &[170.540_4, 213.175_5]),
        (&open, of_open("PINCH\n/\n"), &[170.540_4, 213.175_5]),
        (&open, of_open("PINCH\n1* GAP 0.9 /\n"), &[170.540_4]),
        (&closed, of_closed(""), &[]),
        (&closed, of_closed("PINCH\n/\n"), &[179.067_42]),
        (&closed, of_closed("PINCH\n1* GAP 1* ALL /\n"), &[179.067_42]),
        (&closed, of_closed("MULTZ\n0 1 1 /\nPINCH\n/\n"), &[0.0]),
        (&closed, of_closed("MULTZ\n1 0 1 /\nPINCH\n1* GAP 1* TOPBOT ALL /\n"), &[0.0]),
        (&closed, of_closed("MULTZ\n1 0 1 /\nPINCH\n/\n"), &[179.067_42]),
    ];
    for (depths, rest, expected) in cases {
        let grid = read(&column(depths, &rest)).unwrap();
        let found: Vec<f64> = transmissibilities(&grid).iter().map(|value| darcy * value).collect();
        // Flow's numbers have seven digits.
        let fits = found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-6 * b);
        assert!(fits, "{rest}: {found:?} {expected:?}");
        // Volumes are those of the corners, whatever is bridged.
        let layers = array(&grid, "K").iter().map(|&k| 2500.0 * (depths[2 * k as usize - 1] - depths[2 * k as usize - 2]));
        assert!(layers.zip(&grid.geometry().cell_volumes).all(|(a, b)| near(a, *b)), "{rest}");
        assert_consistent(&grid);
    }
}

/// A face over a gap has two sides, also where cells are numbered anew and in files for ParaView.
#[test]
fn both_sides_of_a_gap() {
    let mut grid = read(&column(&[0.0, 2.0, 2.5, 4.5], "PERMZ\n2*10 /\n")).unwrap();
    assert!(grid.notes()[0].starts_with("faces between layers with a gap: 1;"), "{:?}", grid.notes());
    let gap = |grid: &Grid| {
        let face = (0..grid.n_faces()).find(|&face| !grid.topology().is_boundary_face(face)).unwrap();
        (grid.geometry().face_centroids[face], grid.geometry().face_gap(face))
    };
    assert_eq!(gap(&grid), ([25.0, 25.0, 2.0], [0.0, 0.0, -0.5]));
    // Each cell has its own corners.
    let corners = grid.corners(EntityKind::Cell).unwrap().unwrap();
    let positions = grid.corner_positions().unwrap();
    let depths = |cell: usize| {
        let mut depths: Vec<f64> = corners.of(cell).iter().map(|&corner| positions[corner as usize][2]).collect();
        depths.sort_by(f64::total_cmp);
        depths
    };
    assert_eq!(depths(0), [0.0, 0.0, 0.0, 0.0, 2.0, 2.0, 2.0, 2.0]);
    assert_eq!(depths(1), [2.5, 2.5, 2.5, 2.5, 4.5, 4.5, 4.5, 4.5]);
    grid.renumber(Renumber::Yes);
    assert_eq!(gap(&grid), ([25.0, 25.0, 2.0], [0.0, 0.0, -0.5]));
    assert!(OpmText::new(&grid).unwrap_err().message.contains("faces over gaps: 1,"));
}

#[test]
fn layers_that_overlap() {
    for (overlap, told) in [(1e-6, "1e-6 m"), (0.1, "0.1 m")] {
        let grid = read(&column(&[1000.0, 1005.0, 1005.0 - overlap, 1010.0], "")).unwrap();
        assert!(grid.notes()[0].contains(told), "{:?}", grid.notes());
        assert!(near(grid.geometry().cell_volumes[1], 2500.0 * (5.0 + overlap)));
        // Midway between its own ends.
        assert!(near(grid.geometry().cell_centroids[1][2], 1007.5 - 0.5 * overlap));
        assert_eq!((0..grid.n_faces()).filter(|&face| !grid.topology().is_boundary_face(face)).count(), 1);
    }
    let deep = column(&[1000.0, 1005.0, 1001.0, 1010.0], "");
    let error = read(&deep).unwrap_err();
    assert!(error.message.contains("cell (1, 1, 2) begins above the middle of the cell above it"), "{}", error.message);
    assert!(read_with(&deep, &DeckOptions::default().with_stored(StoredGeometry::Trust)).is_ok());
}

/// Keywords whose data could be taken for something else, and those that compute.
#[test]
fn keywords_as_decks_have_them() {
    let boxes =
        "DIMENS\n4 1 1 /\nMETRIC\nGRID   ==========\nDX\n4*10 /\nDY\n4*10 /\nDZ\n4*2 /\nTOPS\n4*1000 /\nPORO\n4*0.2 /\nPERMX\n4*100 /\n";
    let with = |rest: &str| read(&format!("{boxes}{rest}")).unwrap_or_else(|error| panic!("{rest}: {}", error.message));
    let permx = |rest: &str| array(&with(rest), "PERMX").to_vec();
    let all = [100.0; 4];
    assert_eq!(permx("SKIP\nPERMX\n4*7 /\nENDSKIP\n"), all);
    assert_eq!(permx("SKIP100\nPERMX\n4*7 /\nENDSKIP\n"), all);
    assert_eq!(permx("SKIP300\nPERMX\n4*7 /\nENDSKIP\n"), [7.0; 4]);
    assert_eq!(permx("PERMX\n1 2* 7 /\n"), [1.0, 100.0, 100.0, 7.0]);
    assert_eq!(permx("permx\n4*3 /\nPROPS  ====\nPERMX\n1 /\n"), [3.0; 4]);
    let regions = "FLUXNUM\n1 1 2 2 /\nMULTNUM\n1 2 2 2 /\n";
    assert_eq!(permx(&format!("{regions}EQUALREG\nPERMX 7 2 F /\n/\n")), [100.0, 100.0, 7.0, 7.0]);
    assert_eq!(permx(&format!("{regions}ADDREG\nPERMX 7 2 M /\n/\n")), [100.0, 107.0, 107.0, 107.0]);
    // GRIDOPTS tells whose regions are meant where no letter stands.
    assert_eq!(permx(&format!("{regions}MULTIREG\nPERMX 0.1 2 /\n/\n")), [100.0, 100.0, 10.0, 10.0]);
    assert_eq!(permx(&format!("GRIDOPTS\nYES 2 /\n{regions}MULTIREG\nPERMX 0.1 2 /\n/\n")), [100.0, 10.0, 10.0, 10.0]);
    assert_eq!(
        array(&with("OPERATE\nPERMY 1 2 4* MULTX PERMX 0.5 /\nPERMY 3 4 4* MULTP PERMX 2 2 /\n/\n"), "PERMY"),
        [50.0, 50.0, 20_000.0, 20_000.0]
    );
    assert_eq!(permx("MAXVALUE\nPERMX 60 1 2 /\n/\nMINVALUE\nPERMX 300 4 4 /\n/\n"), [60.0, 60.0, 100.0, 300.0]);
    let pore = |rest: &str| with(rest).n_cells();
    assert_eq!([pore("MINPORV\n50 /\nMULTPV\n1 2 2 1 /\n"), pore("MINPV\n40 /\n"), pore("MINPVV\n30 50 30 50 /\n")], [2, 4, 2]);
    // Pore volumes of FIELD are in barrels.
    let field = "DIMENS\n2 1 1 /\nFIELD\nDX\n2*100 /\nDY\n2*10 /\nDZ\n1 10 /\nTOPS\n2*1000 /\nPORO\n2*0.3 /\nMINPV\n100 /\n";
    assert_eq!(read(field).unwrap().n_cells(), 1);
    let multipliers = |rest: &str| {
        let grid = with(rest);
        let values = &grid.named().array(EntityKind::Face, "MULT").unwrap().values;
        (0..grid.n_faces()).filter(|&face| !grid.topology().is_boundary_face(face)).map(|face| values[face]).collect::<Vec<f64>>()
    };
    // The last of GRID times that of EDIT.
    let fault = "FAULTS\nF 2 2 1 1 1 1 X /\n/\nMULTFLT\nF 0.0001 /\n/\nMULTFLT\nF 0.001 /\n/\nEDIT\nMULTFLT\nF 10 /\n/\n";
    assert_eq!(multipliers(fault), [1.0, 0.01, 1.0]);
    assert_eq!(multipliers("MULTX\n4*2 /\nMULTX\n4*3 /\nEDIT\nMULTX\n1 2 2 1 /\n"), [3.0, 6.0, 6.0]);
    assert_eq!(multipliers("EDIT\nMULTIPLY\nTRANX 0.5 1 2 /\n/\nEQUALS\nTRANX 0 2 2 /\n/\n"), [0.5, 0.0, 1.0]);
    // The last record of a pair of regions holds; one of a region with itself is for all its cells.
    for (records, expected) in [
        ("1 2 0.1 /\n1 2 0.5 /\n", [1.0, 0.5, 1.0]),
        ("1* 1* 0.1 /\n2 2 0.5 /\n", [1.0, 0.1 * 0.5, 0.5]),
        ("1 2 0.1 Y /\n", [1.0, 1.0, 1.0]),
        ("1 2 0.1 X NNC /\n", [1.0, 1.0, 1.0]),
    ] {
        assert_eq!(multipliers(&format!("{regions}MULTREGT\n{records}/\n")), expected, "{records}");
    }
    // Tops of all layers, and depths of pillars.
    let tops = read("DIMENS\n2 1 2 /\nDX\n4*10 /\nDY\n4*10 /\nDZ\n4*2 /\nEQUALS\nTOPS 1000 /\n/\n").unwrap();
    assert!(near(volume(&tops), 800.0) && tops.geometry().face_gaps.is_empty() && tops.geometry().cell_centroids[2][2] == 1003.0);
    let depths = read("DIMENS\n2 1 1 /\nDXV\n2*10 /\nDYV\n10 /\nDZV\n2 /\nDEPTHZ\n1000 1001 1002 1000 1001 1002 /\n").unwrap();
    assert!(near(volume(&depths), 400.0) && near(depths.geometry().cell_centroids[1][2], 1002.5));
    // Rows of different widths: pillars where the first cell with their indices puts them.
    let rows = "DIMENS\n2 2 1 /\nDX\n10 20 30 40 /\nDY\n5 6 7 8 /\nDZ\n2 2 2 3 /\nTOPS\n1000 1001 1002 1003 /\n";
    let volumes = read(rows).unwrap().geometry().cell_volumes.clone();
    // Pore volumes of OPM Flow 2026.4 with a porosity of 0.2.
    assert!([210.0, 360.0, 450.0, 960.0].iter().zip(volumes).all(|(a, b)| near(*a, b)));
}

/// Keywords that change the answer are refused, unless a parameter leaves them out.
#[test]
fn keywords_that_change_the_answer() {
    for (keyword, part) in [
        ("NNCGEN\n'A' 1 1 1 'B' 2 2 2 0.5 /\n/\n", DeckFeature::Nnc),
        ("DUALPORO\n", DeckFeature::DualPorosity),
        ("CARFIN\n'L' 1 1 1 1 1 1 2 2 2 /\nPORO\n8*0.5 /\nENDFIN\n", DeckFeature::Refinement),
        ("TRANX\n8*2 /\n", DeckFeature::Transmissibility),
        ("AQUNUM\n1 1 1 1 1e6 /\n/\n", DeckFeature::Aquifer),
        ("PINCHREG\n0.1 /\n/\n", DeckFeature::PinchRegions),
    ] {
        let text = format!("{BOX}{keyword}PORO\n8*0.2 /\n");
        let error = read(&text).unwrap_err();
        let name = keyword.split('\n').next().unwrap();
        assert!(error.message.starts_with(&format!("d:11: {name}: ")), "{}", error.message);
        let opt_out = format!("{}=ignore", part.parameter());
        assert!(error.hint.as_ref().is_some_and(|hint| hint.contains(&opt_out)), "{:?}", error.hint);
        let grid = read_with(&text, &DeckOptions::default().without(part)).unwrap();
        assert!(grid.notes().iter().any(|note| note.contains(&opt_out)), "{:?}", grid.notes());
        assert_eq!(array(&grid, "PORO"), [0.2; 8]);
    }
    // Only a grid that has connections of other cells than neighbours by index.
    assert!(read(&format!("{BOX}NONNC\n")).is_ok());
    // Across a fault between two rows, numbers of cells may differ as those of neighbours do.
    let mut rows = Deck::boxes([1, 2, 2], [10.0, 10.0, 5.0]);
    rows.set(|[_, j, k], corner| (k + (corner >> 2)) as f64 * 5.0 + 2.0 * j as f64);
    rows.rest = "NONNC\n".to_string();
    assert!(read(&rows.text()).unwrap_err().message.contains("NONNC: "));
    let bridged = column(&[0.0, 2.0, 2.0, 2.0, 2.0, 4.0], "PINCH\n/\nNONNC\n");
    assert!(read(&bridged).unwrap_err().message.contains("NONNC: faults and pinched layers are connected here"));
    assert!(read_with(&bridged, &DeckOptions::default().without(DeckFeature::NeighboursOnly)).is_ok());
    assert_eq!(message(&format!("{BOX}GDFILE\n'x' /\n")), "d:11: GDFILE: grids in files of their own are not read");
    // Notes: what matters first, and keywords without effect in one line.
    let grid = read(&format!("{BOX}RPTGRID\n1 /\nSTART\n1 JAN 2000 /\nNOSUCH\n1 'bar' /\n")).unwrap();
    let notes = grid.notes();
    assert_eq!(notes[notes.len() - 2..], ["not known, left out: NOSUCH", "without effect on the grid: RPTGRID, START"]);
}

#[test]
fn included_files() {
    let files: [(&str, &[u8]); 3] = [
        ("a/d", b"DIMENS\n1 1 1 /\nPATHS\n'IN' 'b' /\n/\nINCLUDE\n'$IN\\x.inc' /\nPORO\n0.2 /\n"),
        ("a/b/x.inc", b"DX\n10 /\nDY\n10 /\nDZ\n2 /\nTOPS\n1000 /\nENDINC\nPORO\n7 7 7 /\n"),
        ("a/b/y.inc", b""),
    ];
    let source = DataSource::memory(files.map(|(name, bytes)| (name, bytes.to_vec())));
    let bytes = source.read(Path::new("a/d"), "").unwrap();
    let grid = grdecl::read(&source, Path::new("a/d"), bytes, &DeckOptions::default(), &Threads::one()).unwrap();
    assert_eq!(array(&grid, "PORO"), [0.2]);
}

/// Layers that end at a point: prisms and pyramids are left of boxes.
#[test]
fn wedges() {
    let mut deck = Deck::boxes([2, 2, 2], [10.0, 10.0, 4.0]);
    deck.set(|[i, j, k], corner| {
        let (x, y) = (i + (corner & 1), j + (corner >> 1 & 1));
        let middle = if x == 2 || y == 2 { 0.0 } else { 4.0 };
        [0.0, middle, 8.0][k + (corner >> 2)]
    });
    let grid = deck.grid();
    assert_eq!(grid.n_cells(), 8);
    assert_consistent(&grid);
    assert!(worst_closure(&grid) < 1e-13 && near(volume(&grid), 20.0 * 20.0 * 8.0));
}

/// Slanted pillars: the base times the height, whatever the shear.
#[test]
fn a_sheared_box() {
    let mut deck = Deck::boxes([3, 2, 4], [10.0, 20.0, 5.0]);
    for pillar in deck.coord.chunks_mut(6) {
        pillar[3] += 7.0;
        pillar[4] -= 3.0;
    }
    let grid = deck.grid();
    assert!(
        grid.geometry().cell_volumes.iter().all(|volume| (volume - 1000.0).abs() < 1e-14 * 1000.0 * 10.0),
        "{:?}",
        grid.geometry().cell_volumes
    );
    assert!((volume(&grid) - 24_000.0).abs() <= 1e-14 * 24_000.0, "{}", volume(&grid));
}

/// Left-handed in the map: cells are turned, not refused.
#[test]
fn a_deck_whose_rows_run_south() {
    let mut deck = Deck::boxes([2, 2, 2], [10.0, 20.0, 5.0]);
    deck.coord.chunks_mut(6).for_each(|pillar| (pillar[1], pillar[4]) = (-pillar[1], -pillar[4]));
    let grid = deck.grid();
    assert_consistent(&grid);
    assert!(grid.geometry().cell_volumes.iter().all(|&volume| near(volume, 1000.0)) && worst_closure(&grid) < 1e-13);
}

#[test]
fn spe10_model_1() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/spe10-model1");
    let file: PathBuf = folder.join("SPE10MODEL1.GRDECL");
    let Ok(bytes) = std::fs::read(&file) else {
        eprintln!("skipped: there is no {}", file.display());
        return;
    };
    let grid = grdecl::read(&DataSource::Files, &file, Bytes::Owned(bytes), &DeckOptions::default(), &Threads::one()).unwrap();
    let n_interior = grid.topology().face_cells.iter().filter(|cells| cells[1] != NONE).count();
    assert_eq!((grid.n_cells(), grid.n_faces(), n_interior), (2000, 8120, 3880));
    assert!(grid.geometry().cell_volumes.iter().all(|&volume| near(volume, 1562.5)));
    assert!(near(volume(&grid), 3_125_000.0));
    assert!(grid.notes().iter().any(|note| note.contains("GRIDUNIT")), "{:?}", grid.notes());
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Columns between flat lids at 0 and 100, their layers displaced at random: the tops of layers
/// differ from column to column and corner to corner, on slanted pillars.
fn faulted(random: &mut Random) -> Deck {
    let n = [0; 3].map(|_: i32| 1 + (random.next() * 4.0) as usize);
    let mut deck = Deck::boxes(n, [10.0, 8.0, 100.0 / n[2] as f64]);
    // All slanted alike, so that the pillars of a row lie in a plane and areas are those of
    // polygons.
    let shear = [random.next() * 6.0 - 3.0, random.next() * 6.0 - 3.0];
    for pillar in deck.coord.chunks_mut(6) {
        (pillar[3], pillar[4], pillar[5]) = (pillar[0] + shear[0], pillar[1] + shear[1], 100.0);
    }
    let mut layers: Vec<[Vec<f64>; 4]> = (0..n[0] * n[1])
        .map(|_| {
            [(); 4].map(|()| {
                let mut depths: Vec<f64> = (1..n[2]).map(|_| (random.next() * 20.0).round() * 5.0).collect();
                depths.insert(0, 0.0);
                depths.push(100.0);
                depths.sort_by(f64::total_cmp);
                depths
            })
        })
        .collect();
    // One layer of a column in two is pinched out.
    for layers in &mut layers {
        let layer = (random.next() * 2.0 * n[2] as f64) as usize;
        if layer + 1 < n[2] {
            layers.iter_mut().for_each(|depths| depths[layer + 1] = depths[layer]);
        }
    }
    deck.set(|[i, j, k], corner| layers[j * n[0] + i][corner & 3][k + (corner >> 2)]);
    deck
}

#[test]
fn random_faulted_grids() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut n_faulted, mut n_pinched) = (0, 0);
    for round in 0..1000 {
        let mut deck = faulted(&mut random);
        deck.rest = "PINCH\n/\n".to_string();
        let grid = deck.grid();
        let [nx, ny, nz] = deck.n;
        let whole = nx as f64 * 10.0 * ny as f64 * 8.0 * 100.0;
        assert!((volume(&grid) - whole).abs() < 1e-12 * whole, "{round}: {} {whole}", volume(&grid));
        assert!(worst_closure(&grid) < 1e-13, "{round}: {}", worst_closure(&grid));
        assert_consistent(&grid);
        // Nothing is open inside: the boundary is that of the sheared box.
        let (topology, geometry) = (grid.topology(), grid.geometry());
        let nodes = deck.coord.chunks(6).next().map(|pillar| [pillar[3], pillar[4]]).unwrap();
        let side = |along: f64, shift: f64| (100.0_f64.powi(2) + shift * shift).sqrt() * along;
        let box_surface =
            2.0 * (nx as f64 * ny as f64 * 80.0) + 2.0 * side(ny as f64 * 8.0, nodes[0]) + 2.0 * side(nx as f64 * 10.0, nodes[1]);
        let boundary = (0..grid.n_faces()).filter(|&face| topology.is_boundary_face(face));
        let surface: f64 = boundary.map(|face| geometry.face_areas[face]).sum();
        assert!((surface - box_surface).abs() < 1e-10 * box_surface, "{round}: {surface} {box_surface}");
        n_faulted += usize::from(grid.n_entities(EntityKind::Vertex).unwrap() > 2 * (nx + 1) * (ny + 1));
        n_pinched += usize::from(grid.n_cells() < nx * ny * nz);
    }
    assert!(n_faulted > 500 && n_pinched > 100, "{n_faulted} {n_pinched}");
}

/// A grid with crossing faults comes back from `.vtu` files as the same grid: polyhedra, and their
/// numbers to the last bit.
#[test]
fn polyhedra_through_vtu() {
    use equelle_runtime::output::{Field, FieldValues, StepFields, Support};
    use equelle_runtime::vtk::reader;
    use equelle_runtime::vtk::writer::vtu::{VtuMesh, write};
    use equelle_runtime::vtk::writer::{Compression, VtkPart};
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut n_cells = 0;
    for round in 0..20 {
        let grid = faulted(&mut random).grid();
        n_cells += grid.n_cells();
        let porosity: Vec<f64> = (0..grid.n_cells()).map(|_| random.next()).collect();
        let support = Support { kind: EntityKind::Cell, n_entities: grid.n_cells(), subset: None };
        let fields = [Field { tag: "PORO".to_string(), support, values: FieldValues::F64(vec![porosity.clone()]), unit: None }];
        let step = StepFields { step: 0, time: 0.0, fields: &fields, scalars: &[] };
        let compression = if round % 2 == 0 { Compression::None } else { Compression::Zlib };
        let mut bytes = Vec::new();
        write(&mut bytes, &VtuMesh::new(&grid, VtkPart::Cells, compression).unwrap(), &step).unwrap();
        let back = reader::read_grid(Path::new("g.vtu"), &bytes, &Threads::one()).unwrap();
        assert_eq!((back.n_cells(), back.vertex_positions()), (grid.n_cells(), grid.vertex_positions()));
        assert_eq!(array(&back, "PORO"), porosity);
        assert!(grid.geometry().cell_volumes.iter().zip(&back.geometry().cell_volumes).all(|(a, b)| (a - b).abs() < 1e-12 * a));
        assert_consistent(&back);
        // Without PINCH, faces of cells that a pinched one keeps apart are joined by their points.
        assert!(back.n_faces() <= grid.n_faces());
        bytes.truncate(bytes.len() / 2);
        assert!(reader::read_grid(Path::new("g.vtu"), &bytes, &Threads::one()).unwrap_err().message.starts_with("g.vtu: "));
    }
    assert!(n_cells > 100);
}

const BOX: &str = "SPECGRID\n2 2 2 1 F /\nDX\n8*10 /\nDY\n8*20 /\nDZ\n8*5 /\nTOPS\n4*1000 /\n";

/// Values of an array of cells.
fn array<'g>(grid: &'g Grid, name: &str) -> &'g [f64] {
    &grid.named().array(EntityKind::Cell, name).unwrap_or_else(|| panic!("no array {name}")).values
}

#[test]
fn arrays_in_boxes() {
    let text = format!(
        "{BOX}PORO\n 2*.1 .2 -- remark\n 5*0.3 / rest\n/\nEQUALS\n PERMX 100 /\n 'PERMX' 1D2 1 1 1 2 2 2 /\n PERMX 5 4* 1 1 / \n/\n\
         COPY\n PERMX PERMY /\n/\nMULTIPLY\n PERMY 2 /\n/\nADD\n PERMY 1 2 2 /\n/\nBOX\n 1 1 1 2 1 1 /\nPERMY\n7 8 /\nENDBOX\nSATNUM\n8*3 /\n"
    );
    let grid = read(&text).unwrap();
    assert_eq!(array(&grid, "PORO"), [0.1, 0.1, 0.2, 0.3, 0.3, 0.3, 0.3, 0.3]);
    // Ends that a record leaves out are those of the record before it.
    assert_eq!(array(&grid, "PERMX"), [5.0, 100.0, 5.0, 100.0, 100.0, 100.0, 100.0, 100.0]);
    assert_eq!(array(&grid, "PERMY"), [7.0, 201.0, 8.0, 201.0, 200.0, 201.0, 200.0, 201.0]);
    assert_eq!(array(&grid, "K"), [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0]);
    assert!(grid.geometry().cell_volumes.iter().all(|&volume| near(volume, 1000.0)));
    assert!(near(grid.geometry().cell_centroids[7][2], 1007.5));
}

#[test]
fn units_multipliers_and_faults() {
    let feet = read(&BOX.replace("DX\n", "GRIDUNIT\n'FEET' /\nDX\n")).unwrap();
    assert!(near(volume(&feet), 8000.0 * 0.3048_f64.powi(3)));
    let mut options = DeckOptions::default();
    options.grid_unit = DeckOptions::unit("cm");
    assert!(near(volume(&read_with(BOX, &options).unwrap()), 8000.0 * 1e-6));
    let text = format!(
        "{BOX}MULTX\n 8*2 /\nMULTZ-\n 4*1 4*.5 /\nFAULTS\n 'F' 1 1 1 2 1 1 I /\n 'G' 1 2 2 2 1 2 'J-' /\n/\nMULTFLT\n F 0.25 /\n/\n"
    );
    let grid = read(&text).unwrap();
    let multipliers = &grid.named().array(EntityKind::Face, "MULT").unwrap().values;
    let of = |cells: [u32; 2]| multipliers[grid.topology().face_cells.iter().position(|&found| found == cells).unwrap()];
    assert_eq!([of([0, 1]), of([4, 5]), of([0, 2]), of([0, 4]), of([3, 7])], [0.5, 2.0, 1.0, 0.5, 0.5]);
    assert_eq!(grid.named().set(EntityKind::Face, "F").unwrap().members.len(), 2);
    assert_eq!(grid.named().set(EntityKind::Face, "G").unwrap().members.len(), 4);
}

#[test]
fn cells_that_are_not_active() {
    let grid = read(&format!("{BOX}ACTNUM\n 1 0 6*1 /\nPORO\n 0.1 0 6*.3 /\n")).unwrap();
    assert_eq!((grid.n_cells(), array(&grid, "PORO").len(), array(&grid, "I")[1]), (7, 7, 1.0));
    assert_consistent(&grid);
    // The missing cell leaves three faces open.
    assert_eq!(grid.topology().face_cells.iter().filter(|cells| cells[1] == NONE).count(), 24);
}

/// Decks with errors: one error each, with its line.
#[test]
fn bad_decks() {
    let corners = Deck::boxes([2, 1, 1], [10.0, 10.0, 5.0]);
    let with = |change: &dyn Fn(&mut Deck)| {
        let mut deck = Deck::boxes([2, 1, 1], [10.0, 10.0, 5.0]);
        change(&mut deck);
        deck.text()
    };
    let crossed = with(&|deck| (deck.coord[0], deck.coord[3]) = (25.0, 25.0));
    let upside_down = with(&|deck| deck.set(|_, corner| if corner >> 2 == 0 { 5.0 } else { 0.0 }));
    for (text, expected) in [
        (BOX.replace("8*5 /", "7*5 /"), "d:8: DZ of line 7 has 7 values: expected 8"),
        (BOX.replace("8*5 /", "9*5 /"), "d:8: DZ of line 7 has more than 8 values: expected its `/` before `9*5`"),
        (BOX.replace("8*5 /", "99999999999999999999*5 /"), "d:8: DZ[0]: `99999999999999999999*5` is not a number"),
        (BOX.replace("8*5 /", "8*NaN /"), "d:8: DZ[0]: `8*NaN` is not a number"),
        (BOX.replace("8*5 /", "8*5"), "d:9: expected the `/` that ends DZ of line 7, found `TOPS`"),
        (BOX.replace("2 2 2 1 F", "2 2"), "d:1: SPECGRID: expected three numbers of cells"),
        (BOX.replace("2 2 2 1 F", "2 2 -2"), "d:2: SPECGRID: `-2` is not a number of cells"),
        (
            BOX.replace("2 2 2 1 F", "100000 100000 100000"),
            "d:1: SPECGRID: 100000 x 100000 x 100000 cells are too many: at most 100000000 are read",
        ),
        (format!("{BOX}ACTNUM\n7*1 /\n"), "d:12: ACTNUM of line 11 has 7 values: expected 8"),
        (format!("{BOX}ACTNUM\n7*1 2 /\n"), "d:12: ACTNUM[7]: 2: expected 0 or 1"),
        (format!("{BOX}BOX\n1 3 1 1 1 1 /\n"), "d:12: BOX: `3` is outside of the grid, which has I from 1 to 2"),
        (format!("{BOX}COPY\nPERMX PERMY /\n/\n"), "d:12: COPY: array `PERMX` has no values yet"),
        (format!("{BOX}EQUALS\nPORO 0.2 1 1 1 1 1 1 /\n/\n"), "d:12: PORO has no value for cell (2, 1, 1), which is active"),
        (crossed, "d:4: COORD[0]: pillars cross, or turn the other way than elsewhere, at cell (1, 1, 1)"),
        (upside_down, "d:13: ZCORN[8]: corners out of order: the bottom of cell (1, 1, 1) is above its top"),
        ("PORO\n1 /\n".to_string(), "d:1: PORO: expected SPECGRID or DIMENS before it"),
    ] {
        assert_eq!(message(&text), expected, "{text}");
    }
    assert!(corners.grid().n_cells() == 2);
    let source = DataSource::memory([("a", b"SPECGRID\n1 1 1 /\nINCLUDE\n'a' /\n".to_vec())]);
    let bytes = source.read(Path::new("a"), "").unwrap();
    let error = grdecl::read(&source, Path::new("a"), bytes, &DeckOptions::default(), &Threads::one()).unwrap_err();
    assert_eq!(error.message, "a:4: INCLUDE: the file includes itself");
}

/// NNC adds faces without geometry; EDITNNC multiplies and EDITNNCR replaces what is there.
#[test]
fn connections_without_geometry() {
    let given = |rest: &str| {
        let grid = read(&format!("{BOX}{rest}")).unwrap();
        let multipliers = grid.named().array(EntityKind::Face, "MULT").map(|array| array.values.clone());
        let unit = 1e-3 / (86_400.0 * 1e5);
        let faces = grid.topology().face_cells.iter().enumerate().filter(|(face, _)| grid.geometry().face_transmissibility(*face) >= 0.0);
        let found = faces.map(|(face, cells)| {
            let multiplier = multipliers.as_ref().map_or(1.0, |values| values[face]);
            (*cells, multiplier * grid.geometry().face_transmissibility(face) / unit, grid.geometry().face_areas[face] > 0.0)
        });
        (found.collect::<Vec<_>>(), multipliers, grid)
    };
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-14;
    let (found, multipliers, grid) = given("NNC\n1 1 1 2 2 2 0.5 /\n2 1 2 1 1 2 3 /\n/\n");
    assert!(matches!(found[..], [([0, 7], a, false), ([4, 5], b, false)] if near(a, 0.5) && near(b, 3.0)), "{found:?}");
    // Behind the 36 faces of 2 x 2 x 2 boxes; halfway between their cells.
    assert_eq!(grid.geometry().faces_without_geometry, [36, 37]);
    assert_eq!((grid.n_faces(), multipliers), (38, None));
    assert_eq!(grid.geometry().face_normals[36], [0.0; 3]);
    let centroids = &grid.geometry().cell_centroids;
    let middle: [f64; 3] = std::array::from_fn(|axis| 0.5 * (centroids[0][axis] + centroids[7][axis]));
    assert_eq!(grid.geometry().face_centroids[36], middle);
    assert!(grid.notes().iter().any(|note| note == "connections without geometry (NNC): 2"), "{:?}", grid.notes());
    // A pair may be listed twice and in either order, in units of the field.
    let (found, ..) = given("FIELD\nNNC\n1 1 1 2 2 2 1 /\n2 2 2 1 1 1 1 /\n/\nEDIT\nEDITNNC\n2 2 2 1 1 1 0.25 /\n/\n");
    // bbl / (day psi) in m3 / (day bar).
    let field = 0.158_987_294_928 / 6_894.757_293_168 * 1e5;
    assert!(found.len() == 2 && found.iter().all(|(cells, value, _)| *cells == [0, 7] && near(*value, 0.25 * field)), "{found:?}");
    // EDITNNCR replaces the product with MULT, and the sum over all faces of a pair.
    // Across a fault of half a layer, which connects (1, 1, 1) and (1, 2, 2).
    let mut rows = Deck::boxes([1, 2, 2], [10.0, 10.0, 5.0]);
    rows.set(|[_, j, k], corner| (k + (corner >> 2)) as f64 * 5.0 - 2.5 * j as f64);
    rows.rest = "PERMX\n4*1 /\nMULTY\n4*0.5 /\nNNC\n1 1 1 1 2 2 3 /\n/\nEDIT\nEDITNNCR\n1 1 1 1 2 2 7 /\n1 1 1 1 2 1 9 /\n/\n".to_string();
    let grid = read(&rows.text()).unwrap();
    let multipliers = &grid.named().array(EntityKind::Face, "MULT").unwrap().values;
    let joined: Vec<(f64, f64)> = (0..grid.n_faces())
        .filter(|&face| grid.topology().face_cells[face] == [0, 3])
        .map(|face| (multipliers[face], grid.geometry().face_transmissibility(face) / (1e-3 / (86_400.0 * 1e5))))
        .collect();
    assert!(matches!(joined[..], [(1.0, a), (1.0, b)] if near(a, 7.0) && b == 0.0), "{joined:?}");
    let neighbours = (0..grid.n_faces()).find(|&face| grid.topology().face_cells[face] == [0, 1]).unwrap();
    assert_eq!((multipliers[neighbours], grid.geometry().face_transmissibility(neighbours)), (0.5, -1.0));
    assert!(grid.notes().iter().any(|note| note == "EDITNNC of neighbours by index, without effect: 1"), "{:?}", grid.notes());
    // MULTREGT multiplies connections of two regions.
    let (found, ..) = given("FLUXNUM\n4*1 4*2 /\nNNC\n1 1 1 2 2 2 1 /\n1 1 1 2 2 1 1 /\n/\nMULTREGT\n1 2 0.1 XYZ ALL F /\n/\n");
    assert!(near(found[0].1, 0.1) && found[1].1 > 0.99, "{found:?}");
    // Cells that are not there have no connections.
    let (found, _, grid) = given("ACTNUM\n0 7*1 /\nNNC\n1 1 1 2 2 2 1 /\n/\n");
    assert!(found.is_empty() && grid.geometry().face_transmissibilities.is_empty());
    assert!(grid.notes().iter().any(|note| note == "NNC of cells that are not there, left out: 1"), "{:?}", grid.notes());
    let left_out = read_with(&format!("{BOX}NNC\n1 1 1 2 2 2 0.5 /\n/\n"), &DeckOptions::default().without(DeckFeature::Nnc)).unwrap();
    assert!(left_out.n_faces() == 36 && left_out.notes().iter().any(|note| note.contains("nnc=ignore")), "{:?}", left_out.notes());
    assert_eq!(message(&format!("{BOX}NNC\n1 1 1 1 1 1 1 /\n/\n")), "d:11: NNC: cell (1, 1, 1) is connected to itself");
    assert_eq!(message(&format!("{BOX}NNC\n1 1 1 2 1 /\n/\n")), "d:11: NNC: expected the three indices of each of two cells");
    assert_eq!(message(&format!("{BOX}NNC\n1 1 1 3 1 1 1 /\n/\n")), "d:12: NNC: `3` is outside of the grid, which has I from 1 to 2");
    assert_eq!(message(&format!("{BOX}NNC\n1 1 1 2 1 1 -1 /\n/\n")), "d:12: NNC: `-1` is not a number of 0 or more");
}

/// A deck that ends at any byte: refused with a place, or a grid of what there is.
#[test]
fn decks_that_end_early() {
    let text = format!(
        "{BOX}SKIP\nPORO\n/\nENDSKIP\nPORO\n8*0.2 /\nPERMZ\n4*10 4* /\nFLUXNUM\n4*1 4*2 /\nEQUALREG\nPERMZ 5 2 F /\n/\n\
         OPERATE\nPERMX 6* MULTX PERMZ 2 /\n/\nOPERATER\nPERMY 2 MULTA PERMZ 2 1 F /\nPERMY 1 COPY PERMZ 1* 1* F /\n/\n\
         MULTREGT\n1 2 0.5 Z ALL F /\n/\nMULTREGP\n2 2 F /\n/\nFAULTS\nF 1 1 1 2 1 2 X /\n/\nMULTFLT\nF 0.5 /\n/\n\
         PATHS\n'A' 'b' /\n/\nMINPV\n1 /\nPINCH\n0.1 NOGAP 2 ALL ALL /\nNNC\n1 1 1 2 2 2 1 /\n/\nEDIT\nEDITNNC\n1 1 1 2 2 2 3 /\n/\nMULTX\n8*2 /\nPROPS\n"
    );
    assert!(read(&text).is_ok(), "{:?}", read(&text).err());
    let mut n_refused = 0;
    for end in 0..text.len() {
        if let Err(error) = read(&text[..end]) {
            assert!(error.message.starts_with("d:"), "{end}: {}", error.message);
            n_refused += 1;
        }
    }
    assert!(n_refused > text.len() / 2, "{n_refused}");
}

/// Damaged decks: refused with a place, or grids that hold together.
#[test]
fn damaged_decks() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut options = DeckOptions::default();
    options.most_cells = 10_000;
    let (mut accepted, mut refused) = (0, 0);
    let texts = [
        faulted(&mut random).text() + "PINCH\n/\n",
        format!(
            "{BOX}EQUALS\nPORO 0.2 /\n/\nMINPV\n1 /\nMULTX\n8*2 /\nFLUXNUM\n4*1 4*2 /\nMULTREGT\n1 2 0.5 Z ALL F /\n/\nPINCH\n1 GAP /\n"
        ),
    ];
    for round in 0..20_000 {
        let mut bytes = texts[round % 2].clone().into_bytes();
        for _ in 0..1 + (random.next() * 3.0) as usize {
            let at = (random.next() * bytes.len() as f64) as usize;
            match (random.next() * 4.0) as usize {
                0 => bytes[at] = b"0123456789.-*/ \n'EX"[(random.next() * 19.0) as usize],
                1 if bytes.len() > 1 => drop(bytes.remove(at)),
                2 => bytes.truncate(at.max(1)),
                _ => bytes[at] = (random.next() * 256.0) as u8,
            }
        }
        match grdecl::read(&DataSource::memory([("x", Vec::new())]), Path::new("d"), Bytes::Owned(bytes), &options, &Threads::one()) {
            Ok(grid) => {
                let geometry = grid.geometry();
                assert!(geometry.cell_volumes.iter().chain(&geometry.face_areas).all(|&measure| measure > 0.0 && measure.is_finite()));
                accepted += 1;
            }
            Err(error) => {
                assert!(error.message.starts_with("d:"), "{}", error.message);
                refused += 1;
            }
        }
    }
    assert!(accepted > 100 && refused > 1000, "{accepted} {refused}");
}
