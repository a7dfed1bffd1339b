//! Meshes of other programs in both formats of VTK: cells of several dimensions and their groups,
//! orders of nodes, cells that are turned, and what is refused by name.

use std::fmt::Write as _;
use std::path::Path;

use equelle_runtime::grid::{Grid, NamedSet};
use equelle_runtime::threads::Threads;
use equelle_runtime::vtk::reader::{read_grid, read_legacy_grid};
use equelle_runtime::{EntityKind, Error};

use crate::common::*;

/// A mesh to be written.
#[derive(Clone, Default)]
pub struct VtkMesh {
    pub points: Vec<[f64; 3]>,
    /// Type and points of each cell; of a polyhedron its list of faces.
    pub cells: Vec<(u8, Vec<i64>)>,
    /// Whole numbers of cells.
    pub arrays: Vec<(&'static str, Vec<i64>)>,
}

/// How a mesh is written.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    Text42,
    Text51,
    Binary51,
    Vtu,
    /// With the lists of faces of VTK 9.4.
    Vtu23,
}

impl Form {
    pub const ALL: [Form; 5] = [Form::Text42, Form::Text51, Form::Binary51, Form::Vtu, Form::Vtu23];
}

fn joined(numbers: impl IntoIterator<Item = i64>) -> String {
    numbers.into_iter().fold(String::new(), |text, number| text + &number.to_string() + " ")
}

impl VtkMesh {
    pub fn bytes(&self, form: Form) -> Vec<u8> {
        match form {
            Form::Text42 | Form::Text51 => self.text(matches!(form, Form::Text51)).into_bytes(),
            Form::Binary51 => self.binary(),
            Form::Vtu | Form::Vtu23 => self.vtu(matches!(form, Form::Vtu23)).into_bytes(),
        }
    }

    fn coordinates(&self) -> String {
        self.points.iter().flatten().fold(String::new(), |text, x| text + &format!("{x} "))
    }

    /// Where the points of cells begin and end.
    fn offsets(&self) -> Vec<i64> {
        let ends = self.cells.iter().scan(0, |end, (_, points)| {
            *end += points.len() as i64;
            Some(*end)
        });
        std::iter::once(0).chain(ends).collect()
    }

    fn all_points(&self) -> Vec<i64> {
        self.cells.iter().flat_map(|(_, points)| points.iter().copied()).collect()
    }

    fn text(&self, has_offsets: bool) -> String {
        let (n, all, offsets) = (self.cells.len(), self.all_points(), self.offsets());
        let version = if has_offsets { "5.1" } else { "4.2" };
        let mut text =
            format!("# vtk DataFile Version {version}\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {} double\n", self.points.len());
        text += &format!("{}\n", self.coordinates());
        if has_offsets {
            let (offsets, all_text) = (joined(offsets), joined(all.iter().copied()));
            let _ = write!(text, "CELLS {} {}\nOFFSETS vtktypeint64\n{offsets}\nCONNECTIVITY vtktypeint64\n{all_text}\n", n + 1, all.len());
        } else {
            let rows = self.cells.iter().flat_map(|(_, points)| std::iter::once(points.len() as i64).chain(points.iter().copied()));
            let _ = write!(text, "CELLS {n} {}\n{}\n", n + all.len(), joined(rows));
        }
        let _ = write!(text, "CELL_TYPES {n}\n{}\n", joined(self.cells.iter().map(|(shape, _)| i64::from(*shape))));
        if !self.arrays.is_empty() {
            let _ = write!(text, "CELL_DATA {n}\nFIELD FieldData {}\n", self.arrays.len());
        }
        for (name, numbers) in &self.arrays {
            let _ = write!(text, "{name} 1 {n} int\n{}\n", joined(numbers.iter().copied()));
        }
        text
    }

    fn binary(&self) -> Vec<u8> {
        let (n, all) = (self.cells.len(), self.all_points());
        let mut bytes = b"# vtk DataFile Version 5.1\nt\nBINARY\nDATASET UNSTRUCTURED_GRID\n".to_vec();
        let mut put = |head: String, data: Vec<u8>| bytes.extend([head.into_bytes(), data, b"\n".to_vec()].concat());
        let long = |numbers: &[i64]| numbers.iter().flat_map(|x| x.to_be_bytes()).collect::<Vec<u8>>();
        let int = |numbers: &mut dyn Iterator<Item = i64>| numbers.flat_map(|x| (x as i32).to_be_bytes()).collect::<Vec<u8>>();
        put(format!("POINTS {} double\n", self.points.len()), self.points.iter().flatten().flat_map(|x| x.to_be_bytes()).collect());
        put(format!("CELLS {} {}\nOFFSETS vtktypeint64\n", n + 1, all.len()), long(&self.offsets()));
        put("CONNECTIVITY vtktypeint64\n".into(), long(&all));
        put(format!("CELL_TYPES {n}\n"), int(&mut self.cells.iter().map(|(shape, _)| i64::from(*shape))));
        if !self.arrays.is_empty() {
            put(format!("CELL_DATA {n}\nFIELD FieldData {}", self.arrays.len()), Vec::new());
        }
        for (name, numbers) in &self.arrays {
            put(format!("{name} 1 {n} int\n"), int(&mut numbers.iter().copied()));
        }
        bytes
    }

    fn vtu(&self, has_shared_faces: bool) -> String {
        let (n_points, n_cells) = (self.points.len(), self.cells.len());
        let array = |name: &str, numbers: Vec<i64>| {
            format!("<DataArray type=\"Int64\" Name=\"{name}\" format=\"ascii\">{}</DataArray>\n", joined(numbers))
        };
        let data: String = self.arrays.iter().map(|(name, numbers)| array(name, numbers.clone())).collect();
        // Points of a polyhedron, and its faces.
        let own = |list: &[i64]| {
            let (mut faces, mut rest) = (Vec::new(), &list[1..]);
            while let [n, others @ ..] = rest {
                faces.push(others[..*n as usize].to_vec());
                rest = &others[*n as usize..];
            }
            let mut points = faces.concat();
            points.sort_unstable();
            points.dedup();
            (points, faces)
        };
        let is_polyhedron = |(shape, _): &&(u8, Vec<i64>)| *shape == 42;
        let points_of = |cell: &(u8, Vec<i64>)| if cell.0 == 42 { own(&cell.1).0 } else { cell.1.clone() };
        let ends = |lengths: &mut dyn Iterator<Item = usize>| {
            lengths.scan(0, |end, length| Some(std::mem::replace(end, *end + length as i64) + length as i64)).collect::<Vec<i64>>()
        };
        let mut cells = array("connectivity", self.cells.iter().flat_map(points_of).collect());
        cells += &array("offsets", ends(&mut self.cells.iter().map(|cell| points_of(cell).len())));
        cells += &array("types", self.cells.iter().map(|(shape, _)| i64::from(*shape)).collect());
        let faces: Vec<Vec<i64>> = self.cells.iter().filter(is_polyhedron).flat_map(|(_, list)| own(list).1).collect();
        if has_shared_faces && !faces.is_empty() {
            cells += &array("face_connectivity", faces.concat());
            cells += &array("face_offsets", ends(&mut faces.iter().map(Vec::len)));
            cells += &array("polyhedron_to_faces", (0..faces.len() as i64).collect());
            let n_faces = |cell: &(u8, Vec<i64>)| if cell.0 == 42 { cell.1[0] as usize } else { 0 };
            cells += &array("polyhedron_offsets", ends(&mut self.cells.iter().map(n_faces)));
        } else if !faces.is_empty() {
            cells += &array("faces", self.cells.iter().filter(is_polyhedron).flat_map(|(_, list)| list.clone()).collect());
            cells += &array("faceoffsets", ends(&mut self.cells.iter().map(|cell| if cell.0 == 42 { cell.1.len() } else { 0 })));
        }
        format!(
            "<VTKFile type=\"UnstructuredGrid\" version=\"2.3\"><UnstructuredGrid>\
             <Piece NumberOfPoints=\"{n_points}\" NumberOfCells=\"{n_cells}\"><CellData>{data}</CellData>\
             <Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">{}</DataArray></Points>\
             <Cells>{cells}</Cells></Piece></UnstructuredGrid></VTKFile>",
            self.coordinates()
        )
    }

    fn read(&self, form: Form) -> Result<Grid, Error> {
        read(&self.bytes(form))
    }
}

pub fn read(bytes: &[u8]) -> Result<Grid, Error> {
    let path = Path::new("m");
    let is_xml = bytes.starts_with(b"<");
    if is_xml { read_grid(path, bytes, &Threads::one()) } else { read_legacy_grid(path, bytes, &Threads::one()) }
}

/// A unit cube and, on its right, one that is cut into two prisms; each of the others is on its
/// side.
fn solids() -> VtkMesh {
    let points = (0..2).flat_map(|z| (0..2).flat_map(move |y| (0..3).map(move |x| [x, y, z].map(f64::from)))).collect();
    let cells = vec![(12, vec![0, 1, 4, 3, 6, 7, 10, 9]), (13, vec![1, 2, 5, 7, 8, 11]), (13, vec![1, 5, 4, 7, 11, 10])];
    VtkMesh { points, cells, arrays: Vec::new() }
}

/// A mesh with each kind of cell that is read, groups and sides: for damage.
pub fn all_kinds() -> VtkMesh {
    let mut mesh = solids();
    mesh.points.extend([[0.5, 0.5, 2.0], [0.5, 0.5, -1.0], [9.0, 9.0, 9.0]]);
    mesh.cells.push((14, vec![6, 7, 10, 9, 12]));
    let list = vec![5, 4, 0, 1, 4, 3, 3, 1, 0, 13, 3, 4, 1, 13, 3, 3, 4, 13, 3, 0, 3, 13];
    mesh.cells.push((42, list));
    mesh.cells.extend([(9, vec![0, 3, 9, 6]), (5, vec![2, 1, 5]), (1, vec![0])]);
    mesh.arrays = vec![("MaterialIds", vec![0, 1, 1, 2, 2, 7, 8, 9]), ("set:low", vec![0, 0, 0, 0, 1, 0, 1, 0])];
    mesh
}

fn sets(grid: &Grid) -> Vec<(EntityKind, &str, &[u32])> {
    grid.named().sets().map(|NamedSet { name, kind, members }| (*kind, &name[..], &members[..])).collect()
}

/// The place of a face in the plane or in space.
fn centroid(grid: &Grid, face: u32) -> [f64; 3] {
    grid.geometry().face_centroids[face as usize]
}

#[test]
fn lower_cells_are_faces_in_groups() {
    // Two triangles of a square with its sides; a vertex is left out.
    let square = VtkMesh {
        points: vec![[0.0, 0.0, 2.0], [1.0, 0.0, 2.0], [1.0, 1.0, 2.0], [0.0, 1.0, 2.0]],
        cells: vec![(3, vec![1, 0]), (5, vec![0, 1, 2]), (1, vec![3]), (4, vec![2, 3, 0]), (5, vec![0, 2, 3])],
        arrays: Vec::new(),
    };
    for form in Form::ALL {
        let grid = square.read(form).unwrap();
        assert_eq!((grid.dim(), grid.n_cells(), grid.n_faces()), (2, 2, 5));
        assert_eq!(grid.notes(), ["left out: 3 cells of dimension 1, which are faces that no array names"]);
        for (array, prefix) in [("gmsh:physical", "physical"), ("CellEntityIds", "entity"), ("MaterialIds", "material")] {
            let mesh = VtkMesh { arrays: vec![(array, vec![5, 1, 0, 6, 2])], ..square.clone() };
            let grid = mesh.read(form).unwrap();
            let name = |number: u32| format!("{prefix}_{number}");
            let members = |kind: EntityKind, number: u32| grid.named().set(kind, &name(number)).map(|set| set.members.clone());
            assert_eq!((members(EntityKind::Cell, 1), members(EntityKind::Cell, 2)), (Some(vec![0]), Some(vec![1])), "{form:?} {array}");
            let bottom = members(EntityKind::Face, 5).unwrap();
            assert_eq!((bottom.len(), centroid(&grid, bottom[0])), (1, [0.5, 0.0, 0.0]));
            let mut others: Vec<[f64; 3]> = members(EntityKind::Face, 6).unwrap().iter().map(|&face| centroid(&grid, face)).collect();
            others.sort_by(|a, b| a[0].total_cmp(&b[0]));
            assert_eq!(others, [[0.0, 0.5, 0.0], [0.5, 1.0, 0.0]]);
            assert_eq!((grid.named().sets().count(), grid.notes().len()), (4, 0));
            assert_eq!(grid.named().array(EntityKind::Cell, array).unwrap().values, [1.0, 2.0]);
        }
        // 0 is no group of Gmsh.
        let mesh = VtkMesh { arrays: vec![("gmsh:physical", vec![0, 1, 0, 6, 0])], ..square.clone() };
        assert_eq!(mesh.read(form).unwrap().named().sets().count(), 2);
        let mesh = VtkMesh { arrays: vec![("set:left", vec![0, 0, 0, 1, 0]), ("set:all", vec![0, 1, 0, 0, 1])], ..square.clone() };
        let grid = mesh.read(form).unwrap();
        let kinds: Vec<(EntityKind, &str, usize)> = sets(&grid).iter().map(|(kind, name, members)| (*kind, *name, members.len())).collect();
        assert_eq!(kinds, [(EntityKind::Cell, "all", 2), (EntityKind::Face, "left", 2)]);
        // A line across the square.
        let mut mesh = square.clone();
        mesh.cells.push((3, vec![1, 3]));
        let message = mesh.read(form).unwrap_err().message;
        assert_eq!(message, "m: cell 5 has dimension 1, the others have 2, and it is no face of one");
    }
}

#[test]
fn every_kind_of_cell_in_every_form() {
    let mesh = all_kinds();
    for form in Form::ALL {
        let grid = mesh.read(form).unwrap();
        assert_consistent(&grid);
        assert_eq!((grid.n_cells(), grid.n_faces()), (5, 6 + 5 + 5 + 5 + 5 - 4));
        let expected = [1.0, 0.5, 0.5, 1.0 / 3.0, 1.0 / 3.0];
        let volumes = &grid.geometry().cell_volumes;
        assert!(volumes.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{form:?}: {volumes:?}");
        assert_eq!(grid.notes(), ["point 14 belongs to no cell and is left out"]);
        let low = grid.named().set(EntityKind::Face, "low").unwrap().members[0];
        let expected = [5.0 / 3.0, 1.0 / 3.0, 0.0];
        assert!(centroid(&grid, low).iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15));
        assert_eq!(grid.named().set(EntityKind::Face, "material_7").unwrap().members.len(), 1);
        assert_eq!(grid.named().set(EntityKind::Cell, "material_2").unwrap().members, [3, 4]);
    }
}

/// The order of VTK's documentation, and that of its code.
#[test]
fn prisms_in_both_orders() {
    for form in Form::ALL {
        for (first, second) in [([1, 2, 5, 7, 8, 11], [1, 4, 5, 7, 10, 11]), ([7, 8, 11, 1, 2, 5], [1, 5, 4, 7, 11, 10])] {
            let mut mesh = solids();
            mesh.cells[1].1 = first.to_vec();
            mesh.cells[2].1 = second.to_vec();
            let grid = mesh.read(form).unwrap();
            assert_eq!(grid.geometry().cell_volumes, [1.0, 0.5, 0.5]);
            assert_eq!((grid.n_faces(), grid.notes().len()), (6 + 5 + 5 - 2, 0));
            assert_consistent(&grid);
        }
    }
}

#[test]
fn cells_inside_out_are_turned_with_a_note() {
    let note = |cell: usize| format!("cell {cell} was inside out and has been turned");
    let cube = |change: &dyn Fn(&mut Vec<i64>)| {
        let mut list = vec![6];
        let faces = [[0, 3, 4, 1], [6, 7, 10, 9], [0, 1, 7, 6], [1, 4, 10, 7], [4, 3, 9, 10], [3, 0, 6, 9]];
        faces.iter().for_each(|face| list.extend(std::iter::once(4).chain(*face)));
        change(&mut list);
        list
    };
    let mixed = |list: &mut Vec<i64>| list[2..6].reverse();
    let all = |list: &mut Vec<i64>| list[1..].chunks_mut(5).for_each(|face| face[1..].reverse());
    for form in Form::ALL {
        let mut mesh = solids();
        mesh.cells[0].1 = vec![0, 3, 4, 1, 6, 9, 10, 7];
        let grid = mesh.read(form).unwrap();
        assert_eq!((&grid.geometry().cell_volumes[..], grid.notes()), (&[1.0, 0.5, 0.5][..], &[note(0)][..]));
        for (list, notes) in [(cube(&|_| ()), vec![]), (cube(&mixed), vec![note(0)]), (cube(&all), vec![note(0)])] {
            let mut mesh = solids();
            mesh.cells[0] = (42, list);
            let grid = mesh.read(form).unwrap();
            assert_eq!((&grid.geometry().cell_volumes[..], grid.notes()), (&[1.0, 0.5, 0.5][..], &notes[..]), "{form:?}");
            assert_consistent(&grid);
        }
        let tetrahedra = VtkMesh {
            points: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]],
            cells: vec![(10, vec![0, 2, 1, 3]), (10, vec![0, 1, 2, 4])],
            arrays: Vec::new(),
        };
        let grid = tetrahedra.read(form).unwrap();
        assert_eq!(grid.notes(), ["2 cells were inside out and have been turned, the first is cell 0"]);
        assert!(grid.geometry().cell_volumes.iter().all(|volume| (volume - 1.0 / 6.0).abs() < 1e-16));
        // On the same side of a face, no turn helps.
        let mut overlap = tetrahedra.clone();
        overlap.points[4][2] = 2.0;
        let message = overlap.read(form).unwrap_err().message;
        assert_eq!(message, "m: cell 0 and cell 1 overlap: they are on the same side of their common face");
    }
}

/// Prisms over pentagons and hexagons, in both orders.
#[test]
fn columns_over_polygons() {
    for n in [5, 6] {
        let corner = |i: usize, z: f64| {
            let angle = std::f64::consts::TAU * i as f64 / n as f64;
            [angle.cos(), angle.sin(), z]
        };
        let points: Vec<[f64; 3]> = (0..2 * n).map(|i| corner(i % n, (i / n) as f64)).collect();
        let area = 0.5 * n as f64 * (std::f64::consts::TAU / n as f64).sin();
        for reversed in [false, true] {
            let order = |i: usize| if reversed { (n - i) % n } else { i };
            let own: Vec<i64> = (0..2 * n).map(|i| (order(i % n) + n * (i / n)) as i64).collect();
            let mesh = VtkMesh { points: points.clone(), cells: vec![(if n == 5 { 15 } else { 16 }, own)], arrays: Vec::new() };
            let grid = mesh.read(Form::Vtu).unwrap();
            assert!((grid.geometry().cell_volumes[0] - area).abs() < 1e-14 && grid.n_faces() == n + 2);
        }
    }
}

#[test]
fn what_is_no_grid_is_refused_by_name() {
    for form in Form::ALL {
        for (number, name) in [
            (21, "a quadratic line"),
            (22, "a quadratic triangle"),
            (24, "a quadratic tetrahedron"),
            (25, "a quadratic hexahedron"),
            (26, "a quadratic prism (wedge)"),
            (27, "a quadratic pyramid"),
            (28, "a biquadratic quadrangle"),
            (29, "a triquadratic hexahedron"),
            (71, "a Lagrange tetrahedron"),
        ] {
            let mut mesh = solids();
            mesh.cells.push((number, vec![0, 1, 2]));
            let error = mesh.read(form).unwrap_err();
            assert_eq!(error.message, format!("m: cell 3 is {name} (type {number}), which is not read"));
            assert!(error.hint.unwrap().contains("first order"));
        }
        let mut surface = solids();
        surface.cells = vec![(9, vec![0, 1, 4, 3]), (9, vec![0, 1, 7, 6])];
        let message = surface.read(form).unwrap_err().message;
        assert_eq!(message, "m: a surface in space, which is no grid: point 7 is outside of the plane z = const of the first");
        let lines = VtkMesh { cells: vec![(3, vec![0, 1])], ..solids() };
        assert_eq!(lines.read(form).unwrap_err().message, "m: there are no cells of dimension 2 or 3, only points and lines");
        let none = VtkMesh { cells: Vec::new(), ..solids() };
        assert!(none.read(form).unwrap_err().message.starts_with("m"));
        let mut few = solids();
        few.cells[0].1.pop();
        assert_eq!(few.read(form).unwrap_err().message, "m: cell 0 has 7 points: expected 8");
    }
    let surface = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 0 float\n";
    assert!(read(surface.as_bytes()).unwrap_err().message.contains("a surface"));
    let surface = "<VTKFile type=\"PolyData\"><PolyData></PolyData></VTKFile>";
    assert!(read(surface.as_bytes()).unwrap_err().message.contains("a surface"));
}

/// An array of a type that is not read is no reason to refuse a mesh.
#[test]
fn arrays_of_other_types_are_left_out() {
    let text = String::from_utf8(all_kinds().bytes(Form::Vtu)).unwrap();
    let bits = text.replacen("<DataArray type=\"Int64\" Name=\"MaterialIds\"", "<DataArray type=\"Bit\" Name=\"MaterialIds\"", 1);
    let grid = read(bits.as_bytes()).unwrap();
    assert_eq!(grid.notes()[0], "array `MaterialIds` is left out: its numbers are of type `Bit`");
    assert_eq!(grid.named().sets().count(), 2);
}

/// Cut anywhere: an error with the name of the file, or behind the cells a grid with fewer arrays.
#[test]
fn truncated_anywhere() {
    for form in Form::ALL {
        let bytes = all_kinds().bytes(form);
        for len in 0..bytes.len() {
            match read(&bytes[..len]) {
                Ok(grid) => assert_eq!(grid.n_cells(), 5),
                Err(error) => assert!(error.message.starts_with('m'), "{}", error.message),
            }
        }
    }
}
