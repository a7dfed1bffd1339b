//! `equellec grid convert` and `equellec grid make`: what is written comes back as the same grid.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use equelle_runtime::grid::io::read_file;
use equelle_runtime::grid::{Grid, NONE};
use equelle_runtime::hash::StableHash;

/// A folder of a test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("the target folder can be written");
        Folder(folder)
    }

    fn run(&self, words: &[&str]) -> (Option<i32>, String, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_equellec")).args(words).current_dir(&self.0).output().expect("it starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    /// Runs it without an error; returns its standard error.
    fn equellec(&self, words: &[&str]) -> String {
        let (code, _, errors) = self.run(words);
        assert_eq!(code, Some(0), "{words:?}: {errors}");
        errors
    }

    fn grid(&self, name: &str) -> Grid {
        read_file(&self.0.join(name)).unwrap_or_else(|error| panic!("{name}: {}", error.message))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Cells on both sides of faces, and the area that they share.
fn areas(grid: &Grid) -> BTreeMap<[u32; 2], f64> {
    let mut areas = BTreeMap::new();
    for (face, &cells) in grid.topology().face_cells.iter().enumerate() {
        let cells = [cells[0].min(cells[1]), cells[0].max(cells[1])];
        *areas.entry(cells).or_insert(0.0) += grid.geometry().face_areas[face];
    }
    areas
}

fn assert_near(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    let (at, worst) =
        a.iter().zip(b).map(|(a, b)| (a - b).abs() / b.abs()).enumerate().fold((0, 0.0), |w, v| if v.1 > w.1 { v } else { w });
    assert!(worst < 1e-11, "{at}: {} {}", a[at], b[at]);
}

/// OPM's text has all numbers; a VTU has cells, from which faces are made anew, and names.
fn comes_back(folder: &Folder, name: &str) {
    let errors = folder.equellec(&["grid", "convert", name, "o.grid"]);
    assert!(errors.contains("wrote o.grid"), "{errors}");
    let (grid, text) = (folder.grid(name), folder.grid("o.grid"));
    assert!(text.topology() == grid.topology(), "{name}");
    let (a, b) = (text.geometry(), grid.geometry());
    assert!((&a.cell_volumes, &a.face_areas) == (&b.cell_volumes, &b.face_areas), "{name}");
    assert!((&a.cell_centroids, &a.face_centroids) == (&b.cell_centroids, &b.face_centroids), "{name}");
    assert!(text.vertex_positions() == grid.vertex_positions());
    let worst = a.face_normals.iter().flatten().zip(b.face_normals.iter().flatten()).fold(0.0_f64, |w, (a, b)| w.max((a - b).abs()));
    assert!(worst < 4.0 * f64::EPSILON, "{worst}");
    folder.equellec(&["grid", "convert", name, "v.vtu"]);
    let vtu = folder.grid("v.vtu");
    assert_eq!((vtu.dim(), vtu.n_cells()), (grid.dim(), grid.n_cells()));
    assert!(vtu.vertex_positions() == grid.vertex_positions(), "{name}");
    assert_near(&vtu.geometry().cell_volumes, &grid.geometry().cell_volumes);
    let (found, expected) = (areas(&vtu), areas(&grid));
    assert!(found.keys().eq(expected.keys()));
    assert_near(&found.into_values().collect::<Vec<_>>(), &expected.into_values().collect::<Vec<_>>());
    let is_of_cells = |kind| kind == equelle_runtime::EntityKind::Cell;
    let arrays = |grid: &Grid| grid.named().arrays().filter(|array| is_of_cells(array.kind)).cloned().collect::<Vec<_>>();
    let sets = |grid: &Grid| grid.named().sets().filter(|set| is_of_cells(set.kind)).cloned().collect::<Vec<_>>();
    assert_eq!((arrays(&vtu), sets(&vtu)), (arrays(&grid), sets(&grid)));
    // Once more from the VTU, whose cells may begin with another corner then.
    folder.equellec(&["grid", "convert", "v.vtu", "w.vtu"]);
    let again = folder.grid("w.vtu");
    assert!(again.vertex_positions() == vtu.vertex_positions() && areas(&again).keys().eq(areas(&vtu).keys()));
    assert_eq!((arrays(&again), sets(&again)), (arrays(&vtu), sets(&vtu)));
}

#[test]
fn what_is_converted_comes_back() {
    let folder = Folder::new("convert");
    for name in ["plate.msh", "triangles-6x5.grid"] {
        fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("grids").join(name), folder.0.join(name)).expect("it is committed");
        comes_back(&folder, name);
    }
    assert!(folder.grid("plate.msh").named().sets().count() == 4);
    folder.equellec(&["grid", "convert", "plate.msh", "p.vtu"]);
    let faces = fs::read(folder.0.join("p-faces.vtu")).expect("sets of faces are in a file of their own");
    assert!(faces.windows(8).any(|window| window == b"set:hole"));
    folder.equellec(&["grid", "make", "deck", "d.grdecl", "--cells", "8,5,6", "--size", "80,50,12", "--shear", "0.25"]);
    comes_back(&folder, "d.grdecl");
    let grid = folder.grid("d.grdecl");
    assert!(grid.named().arrays().count() >= 7 && grid.named().sets().count() == 1);
    for (words, dim) in
        [(&["box", "--cells", "4,3,2"][..], 3), (&["triangles", "--cells", "4,3"], 2), (&["tetrahedra", "--cells", "2,2,3"], 3)]
    {
        folder.equellec(&[&["grid", "make", words[0], "m.vtu", "--perturb", "0.25", "--grade", "3"], &words[1..]].concat());
        assert_eq!(folder.grid("m.vtu").dim(), dim);
        comes_back(&folder, "m.vtu");
    }
}

#[test]
fn units_and_connections_of_decks() {
    let folder = Folder::new("convert-units");
    let deck = "SPECGRID\n2 1 1 1 F /\nDX\n2*10 /\nDY\n2*10 /\nDZ\n2*10 /\nTOPS\n2*0 /\nTRANX\n2*0.5 /\n";
    fs::write(folder.0.join("d.grdecl"), deck).expect("the test's own file");
    for verb in [&["grid", "info", "d.grdecl"][..], &["grid", "check", "d.grdecl"], &["grid", "convert", "d.grdecl", "d.vtu"]] {
        let (code, _, errors) = folder.run(verb);
        assert!(code == Some(4) && errors.contains("TRANX"), "{verb:?}: {errors}");
        folder.equellec(&[verb, &["--ignore", "tran"]].concat());
    }
    for (unit, metre) in [("feet", 0.3048_f64), ("cm", 0.01), ("metres", 1.0)] {
        folder.equellec(&["grid", "convert", "d.grdecl", "d.vtu", "--ignore", "tran", "--grid-unit", unit]);
        let volume: f64 = folder.grid("d.vtu").geometry().cell_volumes.iter().sum();
        assert!((volume / (2000.0 * metre.powi(3)) - 1.0).abs() < 1e-14, "{unit}: {volume}");
    }
    assert_eq!(folder.run(&["grid", "convert", "d.grdecl", "d.msh"]).0, Some(2));
    assert_eq!(folder.run(&["grid", "convert", "d.grdecl", "no-such/d.vtu", "--ignore", "tran"]).0, Some(5));
}

/// Numbers of cells and faces follow from those of boxes; volumes from the lengths.
#[test]
fn what_is_made() {
    let folder = Folder::new("make");
    let made = |kind: &str, out: &str, options: &[&str]| {
        folder.equellec(&[&["grid", "make", kind, out], options].concat());
        let grid = folder.grid(out);
        let interior = grid.topology().face_cells.iter().filter(|cells| !cells.contains(&NONE)).count();
        let volume = grid.geometry().cell_volumes.iter().sum::<f64>();
        (grid.n_cells(), interior, grid.n_faces() - interior, volume)
    };
    let near = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-13, "{found} {expected}");
    let moved = ["--perturb", "0.3", "--shear", "0.5", "--grade", "4"];
    for options in [&[][..], &moved] {
        let with = |more: &[&'static str]| [options, more].concat();
        let (cells, interior, boundary, volume) = made("box", "b.grid", &with(&["--cells", "4,3,2", "--size", "8,9,4"]));
        assert_eq!((cells, interior, boundary), (24, 3 * 6 + 4 * 2 * 2 + 12, 2 * (12 + 8 + 6)));
        near(volume, 288.0);
        let (cells, interior, boundary, volume) = made("box", "b.vtu", &with(&["--cells", "4,3"]));
        assert_eq!((cells, interior, boundary), (12, 3 * 3 + 4 * 2, 14));
        near(volume, 12.0);
        let (cells, interior, boundary, volume) = made("triangles", "t.vtu", &with(&["--cells", "4,3", "--size", "2,1"]));
        assert_eq!((cells, interior, boundary), (24, 17 + 12, 14));
        near(volume, 2.0);
        let (cells, interior, boundary, volume) = made("tetrahedra", "t.grid", &with(&["--cells", "4,3,2"]));
        assert_eq!((cells, interior, boundary), (6 * 24, (4 * 6 * 24 - 104) / 2, 2 * 2 * (12 + 8 + 6)));
        near(volume, 24.0);
    }
    // Grading: the last width is four times the first, and twice for the one between.
    folder.equellec(&["grid", "make", "box", "g.grid", "--cells", "3,1", "--grade", "4"]);
    assert_near(&folder.grid("g.grid").geometry().cell_volumes, &[3.0 / 7.0, 6.0 / 7.0, 12.0 / 7.0]);
    folder.equellec(&["grid", "make", "box", "again.grid", "--cells", "3,1", "--grade", "4"]);
    let read = |name: &str| fs::read(folder.0.join(name)).expect("it was made");
    assert!(read("g.grid") == read("again.grid"));
}

/// Two layers of three have the thickness of the box at all pillars, and a third one ends.
#[test]
fn a_deck_is_made() {
    let folder = Folder::new("make-deck");
    let deck = |out: &str, options: &[&str]| {
        folder.equellec(&[&["grid", "make", "deck", out, "--cells", "10,6,3", "--size", "100,60,9"], options].concat());
        folder.grid(out)
    };
    let all = deck("all.grdecl", &["--inactive", "0"]);
    // The second half of the middle layer has no volume: five columns of six rows.
    assert_eq!(all.n_cells(), 180 - 30);
    let fault = all.named().sets().next().expect("a fault");
    assert_eq!(fault.name, "MIDDLE");
    // Rows whose throw differs from zero have more than a face for each layer.
    assert!(fault.members.len() > 3 * 6, "{}", fault.members.len());
    let joined = all.topology().face_cells.iter().filter(|cells| !cells.contains(&NONE)).count();
    let some = deck("some.grdecl", &[]);
    assert!(some.n_cells() < all.n_cells() && some.n_cells() > 120, "{}", some.n_cells());
    let flat = deck("flat.grdecl", &["--inactive", "0", "--throw", "0", "--tilt", "0"]);
    let interior = flat.topology().face_cells.iter().filter(|cells| !cells.contains(&NONE)).count();
    // Along x two whole layers and half of the third; along y likewise; along z two layers in the
    // first half, one in the second, where PINCH joins what is above and below.
    assert_eq!(interior, 6 * (9 + 9 + 4) + 5 * (10 + 10 + 5) + 6 * (2 * 5 + 5));
    assert!(joined > interior, "{joined}");
    let volume = |grid: &Grid| grid.geometry().cell_volumes.iter().sum::<f64>();
    let tilted = deck("tilted.grdecl", &["--inactive", "0", "--throw", "0"]);
    assert!((volume(&tilted) / volume(&flat) - 1.0).abs() < 1e-12);
    // A bent top with one more corner, where it crosses the fault, is bent in another way.
    assert!((volume(&all) / volume(&flat) - 1.0).abs() < 1e-4);
    for (words, expected) in [
        (&["deck", "d.vtu"][..], "decks are written as .grdecl"),
        (&["box", "b.grdecl"], "grids are written as .vtu"),
        (&["box", "b.vtu", "--cells", "3"], "--cells: expected 2 or 3 numbers, found 1"),
        (&["tetrahedra", "b.vtu", "--cells", "3,3"], "--cells: expected 3 numbers, found 2"),
        (&["box", "b.vtu", "--cells", "3,0"], "--cells: expected from 1 to"),
        (&["box", "b.vtu", "--cells", "99999999999,99999999999"], "--cells: expected from 1 to"),
        (&["box", "b.vtu", "--size", "1,2,-3"], "--size: expected 3 positive lengths"),
        (&["box", "b.vtu", "--perturb", "0.5"], "--perturb: expected a number from 0 to 0.3, found 0.5"),
        (&["deck", "d.grdecl", "--inactive", "NaN"], "--inactive: expected a number up to 0.99, found NaN"),
    ] {
        let (code, _, errors) = folder.run(&[&["grid", "make"], words].concat());
        assert!(code == Some(2) && errors.contains(expected), "{words:?}: {errors}");
    }
}

/// Cells of random seeds fill the box; inside, three meet at each corner (Euler: so many faces).
#[test]
fn voronoi_cells_are_made() {
    let folder = Folder::new("make-voronoi");
    for (cells, size, options) in
        [("12,8", "6,4", &["--perturb", "0.3"][..]), ("5,7", "1,1", &[]), ("1,1", "2,3", &[]), ("40,3", "4,9", &["--grade", "9"])]
    {
        folder.equellec(&[&["grid", "make", "voronoi", "v.vtu", "--cells", cells, "--size", size], options].concat());
        let grid = folder.grid("v.vtu");
        let number = |text: &str| text.split(',').map(|word| word.parse::<usize>().expect("a number")).product::<usize>();
        assert_eq!(grid.n_cells(), number(cells));
        let volume = grid.geometry().cell_volumes.iter().sum::<f64>();
        assert!((volume / number(size) as f64 - 1.0).abs() < 1e-12, "{cells}: {volume}");
        let boundary: Vec<usize> = (0..grid.n_faces()).filter(|&face| grid.topology().is_boundary_face(face)).collect();
        let sides: f64 = size.split(',').map(|word| 2.0 * word.parse::<f64>().expect("a number")).sum();
        let length: f64 = boundary.iter().map(|&face| grid.geometry().face_areas[face]).sum();
        assert!((length / sides - 1.0).abs() < 1e-12, "{cells}: {length}");
        // V - E + F = 1; each corner has three faces, but the four of the box, which have two.
        let n_vertices = grid.n_entities(equelle_runtime::EntityKind::Vertex).expect("vertices");
        assert_eq!((n_vertices + grid.n_cells(), 2 * grid.n_faces()), (grid.n_faces() + 1, 3 * n_vertices - 4), "{cells}");
        comes_back(&folder, "v.vtu");
    }
    assert_eq!(folder.run(&["grid", "make", "voronoi", "v.vtu", "--cells", "3,3", "--shear", "1"]).0, Some(2));
    assert_eq!(folder.run(&["grid", "make", "voronoi", "v.vtu"]).0, Some(2));
}

/// Grids of `grids/made.txt` have the counts and the checksum that stand there.
#[test]
fn made_grids_have_their_checksums() {
    let folder = Folder::new("make-checksums");
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("grids/made.txt");
    let text = fs::read_to_string(&list).expect("the list");
    let mut made = String::new();
    for line in text.lines() {
        let Some((options, _)) = line.split_once(':').filter(|_| !line.starts_with('#')) else {
            made.push_str(&format!("{line}\n"));
            continue;
        };
        let mut words: Vec<&str> = options.split_whitespace().collect();
        let file = if words[0] == "deck" { "g.grdecl" } else { "g.grid" };
        words.insert(1, file);
        folder.equellec(&[&["grid", "make"], &words[..]].concat());
        let grid = folder.grid(file);
        let n_boundary = (0..grid.n_faces()).filter(|&face| grid.topology().is_boundary_face(face)).count();
        let bytes = fs::read(folder.0.join(file)).expect("it was made");
        let sum = StableHash::default().bytes(&bytes).digits();
        made.push_str(&format!("{options}: {} {} {n_boundary} {sum}\n", grid.n_cells(), grid.n_faces() - n_boundary));
    }
    if std::env::var_os("EQUELLE_BLESS").is_some() {
        fs::write(&list, &made).expect("the list can be written");
        return;
    }
    assert!(made == text, "`cargo xtask bless` writes grids/made.txt:\n{made}");
}
