//! Geometry that grid files store, against their nodes.

use std::ops::Range;
use std::path::Path;

use equelle_runtime::grid::io::opm;
use equelle_runtime::grid::{Grid, StoredGeometry};
use equelle_runtime::threads::Threads;
use equelle_runtime::{Error, ErrorKind};

use crate::common::*;
use crate::{polyhedra, triangles};

/// The words of a grid file, and which of them are numbers with decimals.
#[derive(Clone)]
struct File {
    words: Vec<String>,
    nodes: Range<usize>,
    face_nodes: Range<usize>,
    areas: Range<usize>,
    face_centroids: Range<usize>,
    normals: Range<usize>,
    volumes: Range<usize>,
    cell_centroids: Range<usize>,
}

impl File {
    /// Parses a file without tags and index map.
    fn new(text: &str) -> File {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let sizes: Vec<usize> = words[..6].iter().map(|word| word.parse().unwrap()).collect();
        let [dim, cells, faces, nodes, face_nodes, cell_faces] = sizes[..] else { panic!("six sizes") };
        let mut at = 8 + dim;
        let mut next = |len: usize| {
            at += len;
            at - len..at
        };
        let nodes = next(dim * nodes);
        next(faces + 1);
        let face_nodes = next(face_nodes);
        next(2 * faces);
        let (areas, face_centroids, normals) = (next(faces), next(dim * faces), next(dim * faces));
        next(cells + 1 + cell_faces);
        let (volumes, cell_centroids) = (next(cells), next(dim * cells));
        assert_eq!(cell_centroids.end, words.len());
        File { words, nodes, face_nodes, areas, face_centroids, normals, volumes, cell_centroids }
    }

    fn stored(&self) -> [Range<usize>; 5] {
        [&self.areas, &self.face_centroids, &self.normals, &self.volumes, &self.cell_centroids].map(Range::clone)
    }

    fn value(&self, word: usize) -> f64 {
        self.words[word].parse().unwrap()
    }

    /// All numbers written anew.
    fn written(mut self, write: impl Fn(f64) -> String) -> File {
        let nodes = self.nodes.clone();
        for word in self.stored().into_iter().chain([nodes]).flatten() {
            self.words[word] = write(self.value(word));
        }
        self
    }

    fn with(mut self, word: usize, text: impl ToString) -> File {
        self.words[word] = text.to_string();
        self
    }

    fn read(&self) -> Result<Grid, Error> {
        self.read_as(StoredGeometry::Check)
    }

    fn read_as(&self, stored: StoredGeometry) -> Result<Grid, Error> {
        opm::read_text_with(Path::new("g"), self.words.join("\n").as_bytes(), stored, &Threads::new(2))
    }

    fn refused(&self) -> String {
        let error = self.read().expect_err("the geometry is wrong");
        assert_eq!(error.kind, ErrorKind::Data);
        error.message
    }
}

fn plane() -> File {
    File::new(&triangles::triangles(6, 5, triangles::Order::Shuffled))
}

/// One of each kind: plane, tetrahedra, boxes with holes, boxes with bent faces.
fn files() -> [File; 4] {
    let space = [polyhedra::tetrahedra([3, 2, 2]), polyhedra::clusters([5, 4, 3], 40), polyhedra::bent([4, 3, 3])];
    let [a, b, c] = space.map(|mesh| File::new(&mesh.text()));
    [plane(), a, b, c]
}

/// A unit square with its nodes counter-clockwise, and a face each side.
const SQUARE: &str = "2 1 4 4 8 4 0 0 0 0  0 0 1 0 1 1 0 1  0 2 4 6 8  0 1 1 2 2 3 3 0  0 -1 0 -1 0 -1 0 -1
    1 1 1 1  0.5 0 1 0.5 0.5 1 0 0.5  0 -1 1 0 0 1 -1 0  0 4 0 1 2 3  1  0.5 0.5";

#[test]
fn a_wrong_square() {
    let square = File::new(SQUARE);
    square.read().unwrap();
    let (volume, centroid) = (square.volumes.start, square.cell_centroids.start);
    let wrong = square.clone().with(volume, 9.5);
    assert_eq!(wrong.refused(), format!("g:{}: cell_volumes[0]: 9.5 is not the volume of cell 0: its faces give 1", volume + 1));
    assert_eq!(wrong.read().unwrap_err().hint.as_deref(), Some("correct the file, or let it be believed with grid_geometry=trust"));
    assert_eq!(wrong.read_as(StoredGeometry::Trust).unwrap().geometry().cell_volumes, [9.5]);
    // (9.4^2)^(1/2) = 9.4, and the diameter is 2^(1/2).
    assert_eq!(
        square.clone().with(centroid, 9.9).refused(),
        format!(
            "g:{}: cell_centroids[0]: (9.9, 0.5) is not the centroid of cell 0: its faces give (0.5, 0.5), 6.64680374 of its diameter away",
            centroid + 1
        )
    );
    assert!(
        square
            .clone()
            .with(square.areas.start + 2, 1.00005)
            .refused()
            .ends_with("face_areas[2]: 1.00005 is not the area of face 2: its nodes give 1")
    );
    assert!(
        square
            .clone()
            .with(square.face_centroids.start + 4, 0.25)
            .refused()
            .contains("(0.25, 1) is not the centroid of face 2: its nodes give (0.5, 1)")
    );
    // Wrong by one in the last digit, whatever digit that is.
    for text in ["2", "1.1", "1.01", "1.00001", "1.000002", "0.9"] {
        assert!(square.clone().with(volume, text).refused().contains("volume of cell 0"), "{text}");
    }
    for text in ["1.0000009", "1.0", "1.00", "10e-1"] {
        square.clone().with(volume, text).read().expect(text);
    }
    // A normal that is turned by 2e-5 keeps its length, and the cell closed within what is asked of
    // that.
    let plane = plane();
    let [x, y] = [0, 1].map(|axis| plane.value(plane.normals.start + axis));
    let turned = plane.clone().with(plane.normals.start, x - 2e-5 * y).with(plane.normals.start + 1, y + 2e-5 * x);
    assert!(turned.refused().contains("is not area times normal of face 0: its nodes give ("), "{}", turned.refused());
    // A node that is moved is seen in its faces.
    assert!(
        square.clone().with(square.nodes.start, 0.5).refused().contains("face_areas[0]: 1 is not the area of face 0: its nodes give 0.5")
    );
}

/// Changes of 1e-7 of the size pass, those of 1e-5 do not, in every array and on every kind of
/// grid.
#[test]
fn differences_are_relative_to_the_entity() {
    for (kind, file) in files().into_iter().enumerate() {
        let grid = file.read().unwrap_or_else(|error| panic!("{kind}: {}", error.message));
        let dim = grid.dim();
        // The bent faces and cells of the last file have room for the ways to cut them; those at
        // its boundary are flat.
        let room = if kind == 3 { 0.05 } else { 0.0 };
        for (array, range) in file.stored().into_iter().enumerate() {
            for entry in [range.start, range.start + range.len() / 2 / dim * dim, range.end - 1] {
                let value = file.value(entry);
                // The diameters are about one for these grids of up to six cells a side; those of
                // boxes with holes are 50 m wide.
                let size = if matches!(array, 1 | 4) { if kind == 2 { 50.0 } else { 0.3 } } else { value };
                if size == 0.0 {
                    continue;
                }
                let changed = |part: f64| file.clone().with(entry, format!("{:?}", value + part * size));
                changed(1e-7).read().unwrap_or_else(|error| panic!("{kind} {array}: {}", error.message));
                let error = changed(room + 1e-4).read().err().unwrap_or_else(|| panic!("{kind} {array}: {value} changed"));
                let name = ["face_areas", "face_centroids", "face_normals", "cell_volumes", "cell_centroids"][array];
                assert!(
                    [name, "is not the area of the face"].iter().any(|what| error.message.contains(what)) || array == 2,
                    "{kind} {array}: {}",
                    error.message
                );
            }
        }
    }
}

/// As printed by writers of all sorts, from three digits on.
#[test]
fn rounded_files_are_not_refused() {
    let general = |digits: usize| {
        move |value: f64| {
            let text = format!("{value:.*e}", digits - 1);
            let value: f64 = text.parse().unwrap();
            // As `%g`: plain where that is short.
            if (1e-4..1e6).contains(&value.abs()) { value.to_string() } else { text }
        }
    };
    for (kind, file) in files().into_iter().enumerate() {
        for digits in 3..=17 {
            let readable = |how: &str, file: File| {
                if let Err(error) = file.read() {
                    panic!("kind {kind} in {digits} {how}: {}", error.message);
                }
            };
            readable("significant digits", file.clone().written(general(digits)));
            readable("digits with an exponent", file.clone().written(|value| format!("{value:.*e}", digits - 1)));
            readable("decimals", file.clone().written(|value| format!("{value:.digits$}")));
            readable(
                "decimals without zeros",
                file.clone().written(|value| format!("{value:.digits$}").parse::<f64>().unwrap().to_string()),
            );
        }
        for (how, write) in [
            ("singles", (|value| (value as f32).to_string()) as fn(f64) -> String),
            ("singles as doubles", |value| f64::from(value as f32).to_string()),
        ] {
            if let Err(error) = file.clone().written(write).read() {
                panic!("kind {kind} in {how}: {}", error.message);
            }
        }
    }
    // Thirds in three digits; the corners are whole numbers, which nobody rounded.
    let thirds = "2 1 3 3 6 3 0 0 0 0  0 0 1 0 0 1  0 2 4 6  0 1 1 2 2 0  0 -1 0 -1 0 -1
        1 1.41 1  0.5 0 0.5 0.5 0 0.5  0 -1 1 1 -1 0  0 3 0 1 2  0.5  0.333 0.333";
    let thirds = File::new(thirds);
    thirds.read().unwrap();
    thirds.clone().with(thirds.cell_centroids.start, 0.334).refused();
    thirds.clone().with(thirds.volumes.start, 0.51).refused();
}

/// Few digits hide small errors, and no large ones.
#[test]
fn rounded_files_are_still_checked() {
    for file in files() {
        let file = file.written(|value| format!("{value:.5e}"));
        file.read().unwrap();
        for range in [&file.areas, &file.volumes] {
            let entry = range.start + range.len() / 2;
            let wrong = file.clone().with(entry, format!("{:.5e}", 1.2 * file.value(entry)));
            wrong.refused();
        }
        let entry = file.cell_centroids.start;
        file.clone().with(entry, format!("{:.5e}", file.value(entry) * 1.5 + 1.0)).refused();
    }
}

/// Faces that are not flat may be cut in any way: areas, centroids and volumes of one way do.
#[test]
fn bent_faces_have_a_range() {
    // A unit cube whose corner 7 is lifted by 1: its top has area vector (-1/2, -1/2, 1), of length
    // (3/2)^(1/2). Cut through corner 7 it has two triangles of area 2^(1/2)/2, and the volume is 1
    // + 1/3; cut the other way 1/2 and 3^(1/2)/2, and 1 + 1/6; around the mean of the nodes it is
    // half way.
    let text = "3 1 6 8 24 6 0 0 0 0 0
        0 0 0  1 0 0  0 1 0  1 1 0  0 0 1  1 0 1  0 1 1  1 1 2  0 4 8 12 16 20 24
        0 4 6 2  1 3 7 5  0 1 5 4  2 6 7 3  0 2 3 1  4 5 7 6  0 -1 0 -1 0 -1 0 -1 0 -1 0 -1
        1 1.5 1 1.5 1 AREA  0 0.5 0.5  1 0.5555555555555556 0.7777777777777778  0.5 0 0.5  0.5555555555555556 1 0.7777777777777778  0.5 0.5 0  TOP
        -1 0 0  1.5 0 0  0 -1 0  0 1.5 0  0 0 -1  NORMAL  0 6 0 1 2 3 4 5  VOLUME  CENTROID";
    let file = |area: f64, top: [f64; 3], length: f64, volume: f64, centroid: [f64; 3]| {
        let point = |p: [f64; 3]| p.map(|x| format!("{x:?}")).join(" ");
        let normal = [-0.5, -0.5, 1.0].map(|x: f64| x * length / 1.5f64.sqrt());
        let text = text.replace("AREA", &format!("{area:?}")).replace("TOP", &point(top)).replace("NORMAL", &point(normal));
        File::new(&text.replace("VOLUME", &format!("{volume:?}")).replace("CENTROID", &point(centroid)))
    };
    let vector = 1.5f64.sqrt();
    // Through corner 7: two triangles of equal area, whose centroids are at (2/3, 1/3, 4/3) and
    // (1/3, 2/3, 4/3). The moments of what is above the cube: two tetrahedra of 1/6 with centroids
    // ((0+1+1+1)/4, (0+0+1+1)/4, (1+1+1+2)/4) and the same with x and y exchanged, hence x = (1/2 +
    // 2/6 * 5/8) / (4/3), z = (1/2 + 2/6 * 5/4) / (4/3).
    let through =
        ([0.5, 0.5, 4.0 / 3.0], 2f64.sqrt(), 4.0 / 3.0, [(0.5 + 5.0 / 24.0) * 0.75, (0.5 + 5.0 / 24.0) * 0.75, (0.5 + 5.0 / 12.0) * 0.75]);
    // The other way: the flat triangle at (1/3, 1/3, 1), and the other with corners (1,0,1),
    // (1,1,2), (0,1,1) at (2/3, 2/3, 4/3); above it one tetrahedron of 1/6 at (3/4, 3/4, 5/4).
    let (flat, steep) = (0.5, 3f64.sqrt() / 2.0);
    let mean = |a: f64, b: f64| (flat * a + steep * b) / (flat + steep);
    let across = (
        [mean(1.0 / 3.0, 2.0 / 3.0), mean(1.0 / 3.0, 2.0 / 3.0), mean(1.0, 4.0 / 3.0)],
        flat + steep,
        7.0 / 6.0,
        [(0.5 + 0.125) * 6.0 / 7.0, (0.5 + 0.125) * 6.0 / 7.0, (0.5 + 5.0 / 24.0) * 6.0 / 7.0],
    );
    for (top, area, volume, centroid) in [through, across] {
        // Normals as long as the area vector, or as the area.
        for length in [vector, area] {
            file(area, top, length, volume, centroid).read().unwrap_or_else(|error| panic!("{}", error.message));
        }
        assert!(
            file(area, top, vector, 1.16, centroid)
                .refused()
                .contains("1.16 is not the volume of cell 0: its faces give 1.16666667 to 1.33333333, by the triangles")
        );
        file(area, top, vector, 1.34, centroid).refused();
        assert!(file(1.6, top, vector, volume, centroid).refused().contains("1.6 is not the area of face 5: its nodes give 1.22474487 to"));
        file(1.22, top, vector, volume, centroid).refused();
        assert!(file(area, [0.5, 0.5, 2.0], vector, volume, centroid).refused().contains("centroid of face 5"));
        assert!(file(area, top, vector, volume, [0.5, 0.5, 1.5]).refused().contains("centroid of cell 0"));
    }
}

/// Cells are put together from stored faces where these have no nodes: areas alone are then
/// believed.
#[test]
fn files_without_nodes() {
    for file in [plane(), File::new(&polyhedra::clusters([5, 4, 3], 40).text())] {
        let sizes: Vec<usize> = file.words[..6].iter().map(|word| word.parse().unwrap()).collect();
        let mut words = file.words.clone();
        words[file.face_nodes.start - sizes[2] - 1..file.face_nodes.start].fill("0".to_owned());
        words.drain(file.face_nodes.clone());
        words.drain(file.nodes.clone());
        (words[3], words[4]) = ("0".to_owned(), "0".to_owned());
        let bare = File::new(&words.join(" "));
        bare.read().unwrap_or_else(|error| panic!("{}", error.message));
        let [volume, centroid] = [bare.volumes.start, bare.cell_centroids.start];
        assert!(bare.clone().with(volume, 1.01 * bare.value(volume)).refused().contains("volume of cell 0"));
        assert!(bare.clone().with(centroid, 0.9 * bare.value(centroid)).refused().contains("centroid of cell 0"));
    }
}

/// Entities without extent are refused with their place, or as before where the file says so too;
/// nothing panics.
#[test]
fn degenerate_entities() {
    let square = File::new(SQUARE);
    // An edge of no length: both nodes of face 2 are the same.
    let entry = square.face_nodes.start + 5;
    assert!(square.clone().with(entry, 2).refused().contains("face_areas[2]: 1 is not the area of face 2: its nodes give 0"));
    // All nodes at one place.
    let mut point = square.clone();
    point.nodes.clone().for_each(|word| point.words[word] = "7".to_owned());
    assert!(point.refused().contains("its nodes give 0"));
    // So far away that squares are beyond the range of numbers.
    let mut far = square.clone();
    far.nodes.clone().for_each(|word| far.words[word] = if far.words[word] == "1" { "1e300".to_owned() } else { "-1e300".to_owned() });
    far.refused();
    // Too few nodes, too many.
    let few = SQUARE.replace("4 8 4 0 0 0 0", "4 7 4 0 0 0 0").replace("0 2 4 6 8  0 1 1 2 2 3 3 0", "0 2 4 6 7  0 1 1 2 2 3 3");
    assert!(File::new(&few).refused().contains("face_nodes[6]: face 3 has 1 nodes, in 2 dimensions it needs 2"));
    let many = SQUARE.replace("4 8 4 0 0 0 0", "4 9 4 0 0 0 0").replace("0 2 4 6 8  0 1 1 2 2 3 3 0", "0 3 5 7 9  0 0 1 1 2 2 3 3 0");
    assert!(File::new(&many).refused().contains("face_nodes[0]: face 0 has 3 nodes, in 2 dimensions it needs 2"));
    File::new(&many).read_as(StoredGeometry::Trust).unwrap();
    // A face with a node twice in a row is the polygon without it.
    let mut doubled = File::new(&polyhedra::clusters([1, 1, 1], 1).text());
    let node = doubled.words[doubled.face_nodes.start].clone();
    doubled.words.insert(doubled.face_nodes.start, node);
    doubled.words[4] = "25".to_owned();
    for word in doubled.face_nodes.start - 6..doubled.face_nodes.start {
        doubled.words[word] = (doubled.words[word].parse::<usize>().unwrap() + 1).to_string();
    }
    File::new(&doubled.words.join(" ")).read().unwrap();
}

/// Coordinates of a map, millions of metres, with cells of some metres; volumes from products of
/// such coordinates.
#[test]
fn far_from_the_origin() {
    let mut file = plane();
    let (dx, dy) = (458_312.25, 6_781_234.5);
    for range in [file.nodes.clone(), file.face_centroids.clone(), file.cell_centroids.clone()] {
        for (axis, word) in range.enumerate() {
            file.words[word] = format!("{:?}", 100.0 * file.value(word) + if axis % 2 == 0 { dx } else { dy });
        }
    }
    for range in [file.areas.clone(), file.normals.clone()] {
        range.for_each(|word| file.words[word] = format!("{:?}", 100.0 * file.value(word)));
    }
    // 2^-52 * 7e6^2, of about 170 square metres.
    file.volumes.clone().enumerate().for_each(|(i, word)| {
        let off = if i % 2 == 0 { 0.005 } else { -0.005 };
        file.words[word] = format!("{:?}", 10_000.0 * file.value(word) + off);
    });
    file.read().unwrap_or_else(|error| panic!("{}", error.message));
    let volume = file.volumes.start;
    file.clone().with(volume, 1.001 * file.value(volume)).refused();
}

/// The word of the parameter.
#[test]
fn checked_unless_trusted() {
    let dir = fresh_dir("stored");
    let square = File::new(SQUARE);
    let path = file(&dir, "square.txt", &square.clone().with(square.volumes.start, 9.5).words.join(" "));
    let grid = format!("grid_filename={}", path.display());
    let message = |words: &[&str]| open(words).err().map(|error| (error.kind.exit_code(), error.message));
    let (code, text) = message(&[&grid]).expect("9.5 is not the volume");
    assert!(code == 4 && text.contains("cell_volumes[0]"), "{text}");
    assert_eq!(message(&[&grid, "grid_geometry=check"]), Some((code, text)));
    assert_eq!(message(&[&grid, "grid_geometry=trust"]), None);
    let other = message(&[&grid, "grid_geometry=believe"]).map(|(_, message)| message);
    assert_eq!(other.as_deref(), Some("parameter `grid_geometry` must be `check` or `trust`, not `believe`"));
}
