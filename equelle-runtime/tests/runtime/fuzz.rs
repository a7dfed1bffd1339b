//! Damaged files: any byte may be anything, and nothing may panic. The sequence of random numbers
//! is fixed, so that a failure can be repeated.

use std::path::Path;

use equelle_runtime::grid::StoredGeometry;
use equelle_runtime::grid::io::gmsh::{self, GmshOptions};
use equelle_runtime::grid::io::opm;
use equelle_runtime::input::{numbers_in, read_entities};
use equelle_runtime::number::parse_number;
use equelle_runtime::params::near_match;
use equelle_runtime::threads::Threads;
use equelle_runtime::vtk::reader::{read_grid, read_legacy_grid};
use equelle_runtime::{Domain, EntityKind, Parameters};

use crate::common::*;

/// Xorshift (Marsaglia 2003).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// One to four changes: a byte replaced (often by one that matters), removed, doubled, or a
    /// stretch cut out or the end cut off.
    fn damaged(&mut self, text: &[u8]) -> Vec<u8> {
        const USEFUL: &[u8] = b"0123456789-+.eE \n\t=#/\r,naif\x00\xff";
        let mut text = text.to_vec();
        for _ in 0..1 + self.below(4) {
            let at = self.below(text.len());
            match self.below(8) {
                0..=3 if !text.is_empty() => text[at] = USEFUL[self.below(USEFUL.len())],
                4 if !text.is_empty() => text[at] = self.next() as u8,
                5 if !text.is_empty() => drop(text.remove(at)),
                6 => text.insert(at, USEFUL[self.below(USEFUL.len())]),
                _ => {
                    let end = (at + self.below(20)).min(text.len());
                    text.drain(at..end);
                    if self.below(10) == 0 {
                        text.truncate(at);
                    }
                }
            }
        }
        text
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.next() as u8).collect()
    }
}

#[test]
fn grid_files() {
    let plane = crate::triangles::triangles(2, 2, crate::triangles::Order::Rows);
    let space = crate::polyhedra::bent([2, 2, 2]).text();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut accepted, mut refused, mut believed) = (0, 0, 0);
    for round in 0..20_000 {
        let text = if round % 3 == 0 { &space } else { &plane };
        let damaged = if round % 20 == 0 { random.bytes(60) } else { random.damaged(text.as_bytes()) };
        let read = |stored| opm::read_text_with(Path::new("g"), &damaged, stored, &Threads::one());
        match read(StoredGeometry::Check) {
            Ok(grid) => {
                // An accepted grid holds together, however its file was damaged.
                assert_consistent(&grid);
                assert!(grid.geometry().face_areas.iter().chain(&grid.geometry().cell_volumes).all(|&m| m > 0.0 && m.is_finite()));
                accepted += 1;
            }
            Err(error) => {
                assert!(error.message.starts_with("g:"), "{}", error.message);
                believed += usize::from(read(StoredGeometry::Trust).is_ok());
                refused += 1;
            }
        }
    }
    // All ways are taken: damage to blanks and last digits goes unnoticed, and to nodes where they
    // are not looked at.
    assert!(accepted > 100 && believed > 100 && refused > 10_000, "{accepted} accepted, {refused} refused, {believed} of them believed");
}

#[test]
fn gmsh_meshes() {
    let mesh = crate::gmsh::mixed();
    let mut random = Random(0x1234_5678_9abc_def1);
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..20_000 {
        let bytes = mesh.bytes(crate::msh::Encoding::ALL[round % 7]);
        match gmsh::read(Path::new("g"), &random.damaged(&bytes), &GmshOptions::default(), &Threads::one()) {
            Ok(grid) => {
                assert_consistent(&grid);
                assert!(grid.geometry().face_areas.iter().chain(&grid.geometry().cell_volumes).all(|&m| m > 0.0 && m.is_finite()));
                assert!(worst_closure(&grid) < 1e-12, "{}", worst_closure(&grid));
                accepted += 1;
            }
            Err(error) => {
                assert!(error.message.starts_with("g:"), "{}", error.message);
                refused += 1;
            }
        }
    }
    assert!(accepted > 100 && refused > 5_000, "{accepted} accepted, {refused} refused");
}

/// Sides that are damaged meet no more, or within the tolerance.
#[test]
fn periodic_meshes() {
    let mut random = Random(0x0bad_cafe_1234_5678);
    let (mut joined, mut refused) = (0, 0);
    for _ in 0..5_000 {
        let damaged = random.damaged(crate::gmsh_repairs::PERIODIC.as_bytes());
        match gmsh::read(Path::new("g"), &damaged, &GmshOptions::default(), &Threads::one()) {
            Ok(grid) => {
                assert_consistent(&grid);
                joined += usize::from(grid.has_joined_sides());
            }
            Err(error) => {
                assert!(error.message.starts_with("g:"), "{}", error.message);
                refused += 1;
            }
        }
    }
    assert!(joined > 50 && refused > 1_000, "{joined} joined, {refused} refused");
}

#[test]
fn meshes_of_vtk() {
    let legacy = [crate::vtk_legacy::text().into_bytes(), crate::vtk_legacy::binary()];
    let forms = crate::vtk_mesh::Form::ALL.map(|form| crate::vtk_mesh::all_kinds().bytes(form));
    let files: Vec<Vec<u8>> = legacy.into_iter().chain(forms).collect();
    let mut random = Random(0x0f1e_2d3c_4b5a_6978);
    let (mut accepted, mut refused) = (vec![0; files.len()], vec![0; files.len()]);
    for round in 0..10_000 * files.len() {
        let at = round % files.len();
        let damaged = random.damaged(&files[at]);
        let is_xml = files[at].starts_with(b"<");
        let read = if is_xml { read_grid } else { read_legacy_grid };
        match read(Path::new("g"), &damaged, &Threads::one()) {
            Ok(grid) => {
                assert_consistent(&grid);
                assert!(grid.geometry().face_areas.iter().chain(&grid.geometry().cell_volumes).all(|&m| m > 0.0 && m.is_finite()));
                assert!(grid.named().arrays().all(|array| array.values.len() == grid.n_cells()));
                accepted[at] += 1;
            }
            Err(error) => {
                assert!(error.message.starts_with("g:"), "{}", error.message);
                refused[at] += 1;
            }
        }
    }
    assert!(accepted.iter().chain(&refused).all(|&n| n > 100), "{accepted:?} accepted, {refused:?} refused");
}

#[test]
fn parameter_files() {
    let text = b"// case\ngrid_dim=3\nnx = 19 # cells\nu_initial_from_file=true\r\nu_initial_filename=u.txt\nk=2.85e-3\n\n";
    let mut random = Random(42);
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..20_000 {
        let damaged = if round % 20 == 0 { random.bytes(60) } else { random.damaged(text) };
        let mut parameters = Parameters::default();
        match parameters.read_text(Path::new("p"), &damaged) {
            Ok(()) => {
                accepted += 1;
                let keys: Vec<String> = parameters.keys().map(String::from).collect();
                for key in keys {
                    assert!(!key.is_empty() && !key.contains(char::is_whitespace), "{key:?}");
                    let _ = (parameters.number(&key), parameters.integer(&key), parameters.flag(&key), parameters.path(&key));
                }
                parameters.unknown(|key| key == "nx", |key| near_match(key, ["nx", "k"].into_iter()).map(str::to_owned));
            }
            Err(error) => {
                assert!(error.message.starts_with("p:"), "{}", error.message);
                refused += 1;
            }
        }
    }
    assert!(accepted > 1000 && refused > 1000, "{accepted} accepted, {refused} refused");
}

#[test]
fn number_and_domain_files() {
    let grid = four_by_three().shared();
    let boundary = Domain::canonical(&grid, BOUNDARY_FACES).unwrap();
    let mut random = Random(7);
    let mut accepted = [0, 0];
    for _ in 0..50_000 {
        let damaged = random.damaged(b"0.5 1e8\n-4.37e+04 17 .5\n");
        if let Ok(values) = numbers_in(Path::new("n"), &damaged) {
            assert!(values.iter().all(|v| v.is_finite()));
            accepted[0] += 1;
        }
        let damaged = random.damaged(b"0 4 5\n9 10 14 15\n");
        if let Ok(elements) = read_entities(Path::new("d"), &damaged, &boundary) {
            assert!(elements.is_sorted_by(|a, b| a < b) && elements.iter().all(|&e| boundary.rank(e).is_some()));
            accepted[1] += 1;
        }
        let n = random.below(12);
        let word = random.bytes(n);
        if let Ok(value) = parse_number(&word) {
            assert!(value.is_finite());
        }
    }
    assert!(accepted.iter().all(|&n| n > 1000), "{accepted:?}");
}

/// Texts of parameters that choose domains and give collections, with words exchanged, doubled and
/// damaged: errors of data that name the parameter, or values that are finite.
#[test]
fn texts_that_choose_and_compute() {
    use equelle_runtime::ErrorKind;
    use equelle_runtime::grid::{Named, NamedArray, NamedSet};
    use equelle_runtime::input::Inputs;
    let mut named = Named::default();
    named.add_set(NamedSet { name: "a".into(), kind: EntityKind::Cell, members: vec![0, 2] }).unwrap();
    named.add_array(NamedArray { name: "P".into(), kind: EntityKind::Cell, values: (0..12).map(f64::from).collect() }).unwrap();
    let grid = four_by_three().with_named(named).unwrap();
    let within = Domain::canonical(&grid.without_geometry().shared(), ALL_CELLS).unwrap();
    let words = [
        "x",
        "y",
        "P",
        "a",
        "\"a\"",
        "1",
        "0.5",
        "2",
        "+",
        "-",
        "*",
        "/",
        "^",
        "(",
        ")",
        "(",
        ")",
        ",",
        ":",
        "?",
        "<",
        ">=",
        "==",
        "And ",
        "Or ",
        "Not ",
        "where ",
        "box(0,0,1,1)",
        "x-",
        "y+",
        "|",
        "&",
        "Sqrt(",
        "Min(",
        "default",
        "True",
        "\u{e9}",
        "\"",
    ];
    let mut random = Random(25);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..60_000 {
        let n = 1 + random.below(8);
        let text: String = (0..n).map(|_| words[random.below(words.len())]).collect();
        for key in ["u_set", "u_values", "u_expression"] {
            let mut parameters = Parameters::default();
            parameters.set(key, &text);
            let mut inputs = Inputs::default();
            let found = match key {
                "u_set" => inputs.domain(&parameters, &grid, "u", &within).map(drop),
                _ => inputs.collection(&parameters, &grid, "u", &within).map(|values| {
                    assert!(values.to_vec(12).iter().all(|value| value.is_finite()), "{text}");
                }),
            };
            match found {
                Ok(()) => accepted += 1,
                Err(error) => {
                    assert!(error.kind == ErrorKind::Data && error.message.starts_with(&format!("parameter `{key}`")), "{text}: {error:?}");
                    refused += 1;
                }
            }
        }
    }
    assert!(accepted > 1000 && refused > 1000, "{accepted} accepted, {refused} refused");
}

/// Damaged archives: refused with their name, or all members as they were written.
#[test]
fn archives() {
    use equelle_runtime::checkpoint::read::Restart;
    use equelle_runtime::io::npz;
    let mut writer = npz::Writer::new(Vec::new());
    writer.member("checkpoint.json", &[b"{}"]).unwrap();
    writer.member("u.npy", &[b"numbers"]).unwrap();
    let archive = writer.finish().unwrap();
    let path = Path::new("f");
    let mut random = Random(27);
    let mut refused = 0;
    for _ in 0..50_000 {
        let damaged = random.damaged(&archive);
        match npz::read(path, &damaged) {
            Ok(archive) => assert!(archive.names().all(|name| archive.member(name).is_some())),
            Err(error) => {
                assert!(error.message.starts_with("f: "), "{error:?}");
                refused += 1;
            }
        }
        assert!(Restart::parse(path, &damaged).is_err());
    }
    assert!(refused > 1000, "{refused}");
}

/// Damaged files of CSV and NumPy: refused with their name, or finite numbers.
#[test]
fn tables_and_arrays() {
    use equelle_runtime::io::table::{between_blanks, read_columns};
    use equelle_runtime::io::{csv, npy};
    let mut array = b"\x93NUMPY\x01\x00\x46\x00{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }".to_vec();
    array.resize(80, b' ');
    array.extend([1.0f64, 2.5, -3.0].iter().flat_map(|value| value.to_le_bytes()));
    let path = Path::new("f");
    assert_eq!(npy::read(path, &array).and_then(|array| array.numbers()).unwrap(), [1.0, 2.5, -3.0]);
    let mut halves = b"\x93NUMPY\x01\x00\x46\x00{'descr': '<f2', 'fortran_order': True, 'shape': (2, 1, 3), }".to_vec();
    halves.resize(80, b' ');
    halves.extend([0x3c00_u16, 0x4000, 0xc000, 0x0001, 0x7bff, 0x3555].iter().flat_map(|value| value.to_le_bytes()));
    let mut random = Random(26);
    let mut accepted = [0; 4];
    for round in 0..50_000 {
        let damaged = random.damaged(if round % 2 == 0 { &array } else { &halves });
        match npy::read(path, &damaged).and_then(|array| array.numbers()) {
            Ok(values) => {
                assert!(values.iter().all(|value| value.is_finite()));
                accepted[0] += 1;
            }
            Err(error) => assert!(error.message.starts_with("f: "), "{error:?}"),
        }
        let damaged = random.damaged(b"x,\"KX\",Y [Kilo*Meter]\n1,1e-3,1\n2,2.5,2\n3,4,3\n");
        match csv::read_located(path, &damaged, csv::Wanted { input: "u", column: Some("2") }) {
            Ok(csv::Located { values, positions }) => {
                assert!(values.iter().all(|value| value.is_finite()));
                let points = positions.map_or_else(Vec::new, |positions| positions.points);
                assert!(points.iter().flatten().all(|x| x.is_finite()) && (points.is_empty() || points.len() == values.len()));
                accepted[1] += 1;
            }
            Err(error) => assert!(error.message.starts_with("f:"), "{error:?}"),
        }
        let tables: [&[u8]; 3] = [b"-- a b\n1 2 -- x\n3 4\n/\n", b"# a, b [Bar]\n1,2\n3,4 /\n", b"a;b\n1;2\n# c\n3;4\n"];
        let damaged = random.damaged(tables[round % 3]);
        match read_columns(path, &damaged, ["a", "b"]) {
            Ok((columns, lines)) => {
                assert!(columns.iter().all(|column| column.numbers.len() == lines.len() && column.numbers.iter().all(|x| x.is_finite())));
                accepted[2] += 1;
            }
            Err(error) => assert!(error.message.starts_with("f:"), "{error:?}"),
        }
        if let Some(text) = between_blanks(&random.damaged(tables[0]), |_| true) {
            let read = csv::read_column(path, &text, csv::Wanted { input: "b", column: None });
            accepted[3] += usize::from(read.is_ok_and(|values| values.iter().all(|value| value.is_finite())));
        }
    }
    assert!(accepted.iter().all(|&n| n > 100), "{accepted:?}");
}
