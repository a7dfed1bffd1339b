//! Files of VTK: what is written is read back bit for bit, on grids of each kind; and files that
//! are refused. `tests/vtk/check.py` reads the same files with VTK itself.

use std::path::Path;

use equelle_runtime::grid::{Cartesian, CellShape, EntityShape, Geometry, Grid, Topology};
use equelle_runtime::io::npy as npy_reader;
use equelle_runtime::io::{DataSource, Sink};
use equelle_runtime::output::{Field, FieldValues, StepFields, Support, npy};
use equelle_runtime::session::Options;
use equelle_runtime::threads::Threads;
use equelle_runtime::vtk::Association;
use equelle_runtime::vtk::reader::{self, VtkFile};
use equelle_runtime::vtk::writer::vti::{self, ImageData};
use equelle_runtime::vtk::writer::vtu::{self, VtuMesh};
use equelle_runtime::vtk::writer::{Compression, VtkPart, pvd};
use equelle_runtime::{CanonicalSet, EntityKind, Error, OutputInfo, OutputKind, OutputUnit, Parameters, Program, Session};

use crate::common::*;
use crate::vtk_cases::{fields, grids};

const PARTS: [VtkPart; 3] = [VtkPart::Cells, VtkPart::Faces, VtkPart::Edges];
const COMPRESSIONS: [Compression; 2] = [Compression::None, Compression::Zlib];

fn step<'a>(fields: &'a [Field], scalars: &'a [(String, f64)]) -> StepFields<'a> {
    StepFields { step: 3, time: 0.75, fields, scalars }
}

fn vtu_of(grid: &Grid, part: VtkPart, compression: Compression, fields: &[Field]) -> Vec<u8> {
    let mesh = VtuMesh::new(grid, part, compression).expect("a mesh");
    let mut bytes = Vec::new();
    vtu::write(&mut bytes, &mesh, &step(fields, &[("mass".to_owned(), 0.1)])).expect("memory takes it");
    bytes
}

fn vti_of(grid: &Grid, compression: Compression, fields: &[Field]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let image = ImageData::of(grid, compression).expect("a uniform grid");
    vti::write(&mut bytes, &image, &step(fields, &[])).expect("memory takes it");
    bytes
}

/// The values of a field on all entities, as the file must have them, by tuple.
fn expected(field: &Field) -> Vec<f64> {
    let columns: Vec<Vec<f64>> = match &field.values {
        FieldValues::F64(columns) => columns.clone(),
        FieldValues::F32(columns) => columns.iter().map(|column| column.iter().map(|&x| f64::from(x)).collect()).collect(),
        FieldValues::Bool(values) => vec![values.iter().map(|&x| f64::from(x)).collect()],
        FieldValues::Entity(values) => vec![values.iter().map(|&x| x as f64).collect()],
    };
    let absent = if matches!(field.values, FieldValues::F64(_) | FieldValues::F32(_)) { f64::NAN } else { -1.0 };
    let place = |entity: u32| match &field.support.subset {
        None => Some(entity as usize),
        Some(subset) => subset.iter().position(|&other| other == entity),
    };
    let components = if columns.len() > 1 { 3 } else { 1 };
    (0..field.support.n_entities as u32)
        .flat_map(|entity| {
            let of = |axis: usize| columns.get(axis).map_or(0.0, |column| place(entity).map_or(absent, |place| column[place]));
            (0..components).map(of).collect::<Vec<_>>()
        })
        .collect()
}

fn assert_holds(name: &str, file: &VtkFile<'_>, field: &Field, association: Association) {
    let values = file.values(association, &field.tag).unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let bits = |numbers: &[f64]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&values.numbers), bits(&expected(field)), "{name}: {}", field.tag);
}

/// Bits of every field, on every kind of entity of every kind of grid.
#[test]
fn what_is_written_is_read_back() {
    let path = Path::new("f.vtu");
    let mut found = 0;
    for (name, grid) in grids() {
        let fields = fields(&grid);
        let dim = grid.dim();
        for compression in COMPRESSIONS {
            for part in PARTS {
                if part == VtkPart::Faces && dim == 1 || part == VtkPart::Edges && dim < 3 {
                    continue;
                }
                let bytes = vtu_of(&grid, part, compression, &fields);
                let file = reader::read(path, &bytes).expect("our own file");
                for field in &fields {
                    let (of_part, association) = VtkPart::of(field.support.kind, dim);
                    if of_part == part {
                        assert_holds(name, &file, field, association);
                        found += 1;
                    } else {
                        assert!(!file.names(association).any(|name| name == field.label()), "{name}");
                    }
                }
            }
            if grid.cartesian_shape().is_some() {
                let bytes = vti_of(&grid, compression, &fields);
                let file = reader::read(path, &bytes).expect("our own file");
                assert_eq!(file.n_cells, grid.n_cells());
                for field in fields.iter().filter(|field| field.support.kind == EntityKind::Cell) {
                    assert_holds(name, &file, field, Association::Cells);
                }
            }
        }
    }
    assert!(found > 400, "{found} fields");
}

/// Opening and closing tags before the data, which are no text, are pairs; so are those after them.
#[test]
fn elements_are_closed() {
    for (name, grid) in grids() {
        let fields = fields(&grid);
        let mut files = vec![vtu_of(&grid, VtkPart::Cells, Compression::None, &fields)];
        if grid.cartesian_shape().is_some() {
            files.push(vti_of(&grid, Compression::None, &fields));
        }
        for bytes in files {
            let text = String::from_utf8_lossy(&bytes);
            let (head, data) = text.split_once("<AppendedData").expect("data at the end");
            let tail = data.rsplit_once("</AppendedData>").expect("an end of the data").1;
            let mut open: Vec<&str> = Vec::new();
            let mut closed = 0;
            for tag in head.split('<').chain(tail.split('<')).skip(1) {
                let word = tag.split([' ', '>', '\n']).next().unwrap_or_default();
                match word.strip_prefix('/') {
                    Some(end) => {
                        assert_eq!(open.pop(), Some(end), "{name}");
                        closed += 1;
                    }
                    None if word.is_empty() || word.starts_with('?') || tag.contains("/>") => {}
                    None => open.push(word),
                }
            }
            assert_eq!(open, [""; 0], "{name}");
            // The file, the grid, a piece, field, point and cell data; points and cells of a mesh.
            assert!(closed >= 6, "{name}: {closed} elements");
        }
    }
}

/// Single numbers stand beside time and step, whose names they cannot take.
#[test]
fn single_numbers_of_a_file() {
    let grid = Grid::cartesian(Cartesian::line(2, 1.0)).expect("a good shape");
    let mesh = VtuMesh::new(&grid, VtkPart::Cells, Compression::None).expect("a mesh");
    let numbers = [("mass".to_owned(), 0.1), ("TimeValue".to_owned(), 5.0), ("step".to_owned(), 7.0)];
    let mut bytes = Vec::new();
    vtu::write(&mut bytes, &mesh, &step(&[], &numbers)).expect("memory takes it");
    let text = String::from_utf8_lossy(&bytes);
    for name in ["mass", "TimeValue", "step"] {
        assert_eq!(text.matches(&format!("Name=\"{name}\"")).count(), 1, "{name}");
    }
}

/// Shapes of cells from their faces, which stand in any order and sense: the volume of a standard
/// cell by its corners is ours, with the sign that the order of corners says.
#[test]
fn cells_have_their_shapes() {
    for (name, shape, n) in [
        ("hexahedra", CellShape::Hexahedron, 8),
        ("prisms", CellShape::Prism, 16),
        ("pyramids", CellShape::Pyramid, 48),
        ("tetrahedra", CellShape::Tetrahedron, 72),
        ("renumbered-prisms", CellShape::Prism, 54),
    ] {
        let grid = grids().into_iter().find(|(known, _)| *known == name).expect("a grid").1;
        let corners = grid.corners(EntityKind::Cell).expect("nodes").expect("cells have corners");
        let positions = grid.corner_positions().expect("nodes");
        assert_eq!(corners.shapes(), vec![EntityShape::Cell(shape); n], "{name}");
        for cell in 0..n {
            let at = |corner: u8| positions[corners.of(cell)[usize::from(corner)] as usize];
            // Cones over triangles around the mean of each face.
            let mut volume = 0.0;
            for face in shape.faces() {
                let mean: [f64; 3] =
                    std::array::from_fn(|axis| face.iter().map(|&corner| at(corner)[axis]).sum::<f64>() / face.len() as f64);
                for (i, &corner) in face.iter().enumerate() {
                    let [a, b] = [at(corner), at(face[(i + 1) % face.len()])];
                    volume += (mean[0] * (a[1] * b[2] - a[2] * b[1])
                        + mean[1] * (a[2] * b[0] - a[0] * b[2])
                        + mean[2] * (a[0] * b[1] - a[1] * b[0]))
                        / 6.0;
                }
            }
            let ours = grid.geometry().cell_volumes[grid.entity_of_file(EntityKind::Cell, cell as u32) as usize];
            // Positions of up to 3, some twenty operations.
            assert!((volume - ours).abs() < 1e-13, "{name}: cell {cell}: {volume} {ours}");
        }
    }
    // A cube with a face in two parts is a polyhedron beside hexahedra.
    let hanging = grids().into_iter().find(|(name, _)| *name == "hanging").expect("a grid").1;
    let corners = hanging.corners(EntityKind::Cell).expect("nodes").expect("cells");
    assert_eq!(corners.shapes()[0], EntityShape::Polyhedron);
    assert_eq!(corners.shapes()[1..], [EntityShape::Cell(CellShape::Hexahedron); 2]);
    assert_eq!((corners.of(0).len(), corners.faces_of(0).len()), (10, 7 + 5 * 4 + 2 * 5));
}

/// The whole text of a tiny file, and its bytes behind the mark: two cells, 0.5 and -2.
#[test]
fn the_bytes_of_a_tiny_file() {
    let grid = Grid::cartesian(Cartesian::line(2, 0.25)).expect("a grid");
    let support = Support { kind: EntityKind::Cell, n_entities: 2, subset: None };
    let field = Field { tag: "a<b".to_owned(), support, values: FieldValues::F64(vec![vec![0.5, -2.0]]), unit: Some("Bar".into()) };
    let mut bytes = Vec::new();
    let image = ImageData::of(&grid, Compression::None).expect("a uniform grid");
    let fields = StepFields { step: 1, time: 0.1, fields: &[field], scalars: &[] };
    vti::write(&mut bytes, &image, &fields).expect("memory takes it");
    let text = "<?xml version=\"1.0\"?>\n\
<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n  \
<ImageData WholeExtent=\"0 2 0 0 0 0\" Origin=\"0 0 0\" Spacing=\"0.25 1 1\">\n    \
<FieldData>\n      \
<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"appended\" offset=\"40\"/>\n      \
<DataArray type=\"Int64\" Name=\"step\" NumberOfTuples=\"1\" format=\"appended\" offset=\"24\"/>\n    \
</FieldData>\n    \
<Piece Extent=\"0 2 0 0 0 0\">\n      \
<PointData>\n      \
</PointData>\n      \
<CellData>\n        \
<DataArray type=\"Float64\" Name=\"a&lt;b [Bar]\" format=\"appended\" offset=\"0\"/>\n      \
</CellData>\n    \
</Piece>\n  \
</ImageData>\n  \
<AppendedData encoding=\"raw\">\n_";
    let mut expected = text.as_bytes().to_vec();
    let block = |numbers: &[[u8; 8]]| [&(8 * numbers.len() as u64).to_le_bytes()[..], &numbers.concat()].concat();
    expected.extend(block(&[0.5_f64.to_le_bytes(), (-2.0_f64).to_le_bytes()]));
    expected.extend(block(&[1_i64.to_le_bytes()]));
    expected.extend(block(&[0.1_f64.to_le_bytes()]));
    expected.extend(b"\n  </AppendedData>\n</VTKFile>\n");
    assert_eq!(String::from_utf8_lossy(&bytes), String::from_utf8_lossy(&expected));
    assert!(bytes == expected);
    let file = reader::read(Path::new("u.vti"), &bytes).expect("our own file");
    assert_eq!(file.values(Association::Cells, "a<b").expect("an array").numbers, [0.5, -2.0]);
}

#[test]
fn threads_change_no_byte() {
    let bytes = |threads: Threads| {
        let mut grid = Grid::rectilinear(2, [&[1.0; 200], &[0.5; 150], &[]]).expect("a grid");
        grid.set_threads(threads);
        let fields = fields(&grid);
        COMPRESSIONS.map(|compression| vtu_of(&grid, VtkPart::Cells, compression, &fields))
    };
    let [plain, zlib] = bytes(Threads::one());
    assert!([plain.clone(), zlib.clone()] == bytes(Threads::new(3)));
    assert!(zlib.len() < plain.len());
}

#[test]
fn a_collection_has_times_and_parts() {
    let text = pvd::text(&[(0.0, "", "heat-00000.vtu"), (0.1, "", "a&b.vtu"), (0.1, "-faces", "heat-faces-00001.vtu")]);
    let expected = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n  <Collection>\n    \
        <DataSet timestep=\"0\" part=\"0\" file=\"heat-00000.vtu\"/>\n    \
        <DataSet timestep=\"0.1\" part=\"0\" file=\"a&amp;b.vtu\"/>\n    \
        <DataSet timestep=\"0.1\" part=\"1\" name=\"-faces\" file=\"heat-faces-00001.vtu\"/>\n  \
        </Collection>\n</VTKFile>\n";
    assert_eq!(text, expected);
}

/// Our arrays of NumPy by our reader; the header ends at a multiple of 64 bytes.
#[test]
fn arrays_of_numpy() {
    let grid = Grid::cartesian(Cartesian::plane([4, 3], [1.0, 1.0])).expect("a grid");
    for field in fields(&grid) {
        let mut bytes = Vec::new();
        npy::write(&mut bytes, &field).expect("memory takes it");
        let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        assert!(header % 64 == 0 && bytes[header - 1] == b'\n', "{header}");
        let array = npy_reader::read(Path::new("u.npy"), &bytes).expect("our own file");
        assert_eq!(
            (array.shape()[0], array.shape().get(1).copied().unwrap_or(1)),
            (field.support.len(), field.values.components()),
            "{}",
            field.tag
        );
        match &field.values {
            FieldValues::F64(columns) => {
                let rows: Vec<f64> = (0..array.shape()[0]).flat_map(|row| columns.iter().map(move |column| column[row])).collect();
                // Numbers without NaN have equal bits if their signs and values are equal.
                let signs = |numbers: &[f64]| numbers.iter().map(|x| x.is_sign_negative()).collect::<Vec<_>>();
                let found = array.numbers().expect("numbers");
                assert_eq!((signs(&found), found), (signs(&rows), rows), "{}", field.tag);
            }
            FieldValues::F32(columns) => {
                assert_eq!(array.numbers(), Ok(columns[0].iter().map(|&x| f64::from(x)).collect()));
            }
            FieldValues::Bool(values) => assert_eq!(array.truths(), Ok(values.iter().map(|&x| x == 1).collect())),
            FieldValues::Entity(values) => assert_eq!(array.numbers(), Ok(values.iter().map(|&x| x as f64).collect())),
        }
    }
}

/// A grid of arrays without nodes has no mesh; the error names formats that do without.
#[test]
fn a_grid_without_nodes_is_refused() {
    let cartesian = Grid::cartesian(Cartesian::plane([2, 2], [1.0, 1.0])).expect("a grid");
    let (topology, geometry): (Topology, Geometry) = (cartesian.topology().clone(), cartesian.geometry().clone());
    let grid = Grid::unstructured(2, topology, geometry).expect("a grid");
    let error = VtuMesh::new(&grid, VtkPart::Cells, Compression::None).err().expect("refused");
    assert_eq!(error.message, "the grid has no nodes, so that a file of a mesh cannot have it");
    assert_eq!(error.hint.as_deref(), Some("write results as `npy` or `text`: output_format=npy"));
}

const ALL_CELLS: CanonicalSet = crate::common::ALL_CELLS;

/// Reads `u_initial` from a file in a run on 4 x 3 cells.
fn read(text: &str, name: &'static str, bytes: Vec<u8>) -> Result<Vec<f64>, Error> {
    let all = vec![("case.param", text.as_bytes().to_vec()), (name, bytes)];
    let parameters = Parameters::from_words_in(DataSource::memory(all), &["case.param".to_string()])?;
    let grid = Grid::cartesian(Cartesian::plane([4, 3], [1.0, 1.0])).expect("a grid");
    let mut session = Session::on_grid(heat(), parameters, grid, Options::silent())?;
    let domain = session.domain(ALL_CELLS)?;
    Ok(session.inputs().collection("u_initial", &domain)?.to_vec(domain.len()))
}

fn plane(n: [usize; 2]) -> (Grid, Vec<Field>) {
    let grid = Grid::cartesian(Cartesian::plane(n, [1.0, 1.0])).expect("a grid");
    let support = Support { kind: EntityKind::Cell, n_entities: grid.n_cells(), subset: None };
    let values = |shift: f64| FieldValues::F64(vec![(0..grid.n_cells()).map(|cell| cell as f64 / 3.0 + shift).collect()]);
    let fields = [("u", 0.0), ("v", 1.0)].map(|(tag, shift)| Field {
        tag: tag.to_owned(),
        support: support.clone(),
        values: values(shift),
        unit: None,
    });
    (grid, fields.to_vec())
}

#[test]
fn initial_data_from_results() {
    let (grid, fields) = plane([4, 3]);
    let expected: Vec<f64> = (0..12).map(|cell| f64::from(cell) / 3.0).collect();
    let of = |n: usize| vtu_of(&grid, VtkPart::Cells, Compression::Zlib, &fields[..n]);
    // The only array, or the one that is named; of either format.
    assert_eq!(read("u_initial_filename=a.vtu\n", "a.vtu", of(1)), Ok(expected.clone()));
    assert_eq!(read("u_initial_filename=a.vtu\nu_initial_column=u\n", "a.vtu", of(2)), Ok(expected.clone()));
    let image = vti_of(&grid, Compression::None, &fields);
    assert_eq!(read("u_initial_filename=a.vti\nu_initial_column=u\n", "a.vti", image), Ok(expected.clone()));
    // The input's own name comes first.
    let own: Vec<Field> = [("u_initial", 0), ("v", 1)].map(|(tag, i)| Field { tag: tag.to_owned(), ..fields[i].clone() }).to_vec();
    let both = vtu_of(&grid, VtkPart::Cells, Compression::None, &own);
    assert_eq!(read("u_initial_filename=a.vtu\n", "a.vtu", both), Ok(expected));
    let refused = |text: &str, bytes: Vec<u8>| {
        let error = read(text, "a.vtu", bytes).expect_err("refused");
        (error.message, error.hint.unwrap_or_default())
    };
    let (message, hint) = refused("u_initial_filename=a.vtu\n", of(2));
    assert_eq!(message, "a.vtu: no array `u_initial` of cells; there are `u`, `v`");
    assert_eq!(hint, "give u_initial_column=ARRAY, the name of one of them");
    let (other, fields) = plane([5, 3]);
    let (message, _) = refused("u_initial_filename=a.vtu\n", vtu_of(&other, VtkPart::Cells, Compression::None, &fields));
    assert_eq!(message, "a.vtu: the file has 15 cells, and the grid has 12 cells");
    let (grid, mut fields) = plane([4, 3]);
    let support = Support { subset: Some(vec![1, 2].into()), ..fields[0].support.clone() };
    fields[0] = Field { support, values: FieldValues::F64(vec![vec![1.0, 2.0]]), ..fields[0].clone() };
    let (message, hint) = refused("u_initial_filename=a.vtu\n", vtu_of(&grid, VtkPart::Cells, Compression::None, &fields[..1]));
    assert_eq!(message, "a.vtu: array `u`: cell 0: NaN is not a finite number");
    assert_eq!(hint, "a field on a part of the grid is NaN on the rest");
}

/// Cells of a file go by their places; those of another grid with as many cells are refused.
#[test]
fn results_in_another_order_or_on_another_grid() {
    let cell = |cells: &[[u32; 4]], shift: f64| {
        let points: String = (0..4).flat_map(|y| (0..5).map(move |x| format!("{} {y} 0 ", f64::from(x) + shift))).collect();
        let list = |numbers: &mut dyn Iterator<Item = u32>| numbers.map(|number| format!("{number} ")).collect::<String>();
        let (corners, n) = (list(&mut cells.iter().flatten().copied()), cells.len() as u32);
        let (ends, types) = (list(&mut (1..=n).map(|cell| 4 * cell)), list(&mut (0..n).map(|_| 9)));
        // The value of a cell is the number of its lowest corner.
        let values = list(&mut cells.iter().map(|corners| corners[0]));
        format!(
            "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece NumberOfPoints=\"20\" NumberOfCells=\"{n}\">\
             <CellData><DataArray type=\"Float64\" Name=\"u\">{values}</DataArray></CellData>\
             <Points><DataArray type=\"Float64\" NumberOfComponents=\"3\">{points}</DataArray></Points>\
             <Cells><DataArray type=\"Int32\" Name=\"connectivity\">{corners}</DataArray>\
             <DataArray type=\"Int32\" Name=\"offsets\">{ends}</DataArray>\
             <DataArray type=\"UInt8\" Name=\"types\">{types}</DataArray></Cells></Piece></UnstructuredGrid></VTKFile>"
        )
        .into_bytes()
    };
    let mut cells: Vec<[u32; 4]> = (0..3).flat_map(|y| (0..4).map(move |x| 5 * y + x)).map(|i| [i, i + 1, i + 6, i + 5]).collect();
    let expected: Vec<f64> = cells.iter().map(|corners| f64::from(corners[0])).collect();
    let of = |cells: &[[u32; 4]], shift: f64| read("u_initial_filename=a.vtu\n", "a.vtu", cell(cells, shift));
    assert_eq!(of(&cells, 0.0), Ok(expected.clone()));
    cells.reverse();
    assert_eq!(of(&cells, 0.0), Ok(expected.clone()));
    // Numbers in single precision are off by less than a tenth of the distance of cells.
    assert_eq!(of(&cells, 0.05), Ok(expected));
    let error = of(&cells, 0.5).expect_err("another grid");
    assert_eq!(
        error.message,
        "a.vtu: cell 0 of the file, at (4, 2.5), is no cell of the grid: the nearest is cell 11 at (3.5, 2.5), 0.5 away"
    );
    cells[1] = cells[0];
    let error = of(&cells, 0.0).expect_err("a cell twice");
    assert_eq!(error.message, "a.vtu: cell 1 of the file, at (3.5, 2.5), is cell 11 of the grid, and cell 0 of the file is it, too");
    // Boxes of other widths.
    let image = |width: f64| {
        vti_of(&Grid::cartesian(Cartesian::plane([4, 3], [width, 1.0])).expect("a grid"), Compression::None, &plane([4, 3]).1[..1])
    };
    assert!(read("u_initial_filename=a.vti\n", "a.vti", image(1.0)).is_ok());
    let error = read("u_initial_filename=a.vti\n", "a.vti", image(2.0)).expect_err("another grid");
    assert_eq!(
        error.message,
        "a.vti: cell 0 of the file, at (1, 0.5), is no cell of the grid: the nearest is cell 0 at (0.5, 0.5), 0.5 away"
    );
}

/// Text, base 64, big-endian numbers and short headers, as other programs write them.
#[test]
fn encodings_of_other_programs() {
    let file = |attributes: &str, array: &str| {
        format!(
            "<VTKFile type=\"RectilinearGrid\" {attributes}><!-- > --><RectilinearGrid><Piece Extent=\"2 4 0 1 0 0\">\
             <CellData><DataArray Name='u' {array}</DataArray></CellData></Piece></RectilinearGrid></VTKFile>"
        )
    };
    let values = |attributes: &str, array: &str| {
        let text = file(attributes, array);
        let file = reader::read(Path::new("u.vtr"), text.as_bytes()).map_err(|error| error.message)?;
        assert_eq!((file.n_points, file.n_cells), (6, 2));
        file.values(Association::Cells, "u").map(|values| values.numbers).map_err(|error| error.message)
    };
    assert_eq!(values("", "type=\"Float64\">\n 1.5 -2e3 "), Ok(vec![1.5, -2000.0]));
    // 8 bytes: the numbers 1 and -2 of 4 bytes; in parts of their own or together.
    assert_eq!(values("", "type=\"Int32\" format=\"binary\">CAAAAA==AQAAAP7///8="), Ok(vec![1.0, -2.0]));
    assert_eq!(values("", "type=\"Int32\" format=\"binary\">\n  CAAAAAEAAAD+////\n"), Ok(vec![1.0, -2.0]));
    assert_eq!(values("byte_order=\"BigEndian\"", "type=\"Int16\" format=\"binary\">AAAABAAB//4="), Ok(vec![1.0, -2.0]));
    for (attributes, array, expected) in [
        ("", "type=\"Float64\">1 x", "u.vtr: array `u`: line 1, column 136: `x` is not a number"),
        ("", "type=\"Float64\">1 2 3", "u.vtr: array `u`: 3 numbers, where the number of entities needs 2"),
        (
            "",
            "type=\"Float16\" format=\"binary\">",
            "u.vtr: array `u`: numbers of type `Float16`; types that are read are Int8 to UInt64, Float32 and Float64",
        ),
        ("", "type=\"Int32\" format=\"binary\">CAAAAA==AQAAAP7/", "u.vtr: array `u`: the file ends before its 8 bytes"),
        ("", "type=\"Int32\" format=\"binary\">CAAAAA==AQA", "u.vtr: array `u`: its data in base 64 are cut off"),
        ("", "type=\"Int32\" format=\"binary\">B", "u.vtr: array `u`: its data in base 64 are cut off"),
        ("", "type=\"Int32\" format=\"binary\">*", "u.vtr: array `u`: `*` is not in base 64"),
        (
            "",
            "type=\"Int64\" format=\"binary\">CAAAAA==AQAAAP7///8=",
            "u.vtr: array `u`: 8 bytes, where its type and the number of entities need 16",
        ),
        ("", "type=\"Int32\" format=\"appended\" offset=\"0\">", "u.vtr: array `u`: the file has no appended data, or ends before them"),
        ("", "type=\"Int32\" format=\"hex\">", "u.vtr: array `u`: format `hex`; formats that are read are ascii, binary and appended"),
        ("byte_order=\"Middle\"", ">", "u.vtr: byte order `Middle`; it is LittleEndian or BigEndian"),
        ("header_type=\"Int8\"", ">", "u.vtr: header type `Int8`; it is UInt32 or UInt64"),
        (
            "compressor=\"vtkLZ4DataCompressor\"",
            ">",
            "u.vtr: compression `vtkLZ4DataCompressor`; the one that is read is vtkZLibDataCompressor",
        ),
    ] {
        assert_eq!(values(attributes, array), Err(expected.to_owned()));
    }
    let message = |text: &str| reader::read(Path::new("f"), text.as_bytes()).expect_err("refused").message;
    assert_eq!(message("<?xml version=\"1.0\"?>"), "f: not a file of VTK: there is no tag `VTKFile`");
    assert_eq!(message("<VTKFile type=\"ImageData\"></VTKFile>"), "f: there is no tag `Piece`");
    assert_eq!(message("<VTKFile\n <"), "f: the tag at line 1, column 1 is damaged or does not end");
    let piece = "<Piece Extent=\"0 1 0 1 0 1\"/>";
    assert_eq!(message(&format!("<VTKFile type=\"ImageData\">{piece}{piece}</VTKFile>")), "f: 2 pieces; files of one piece are read");
    assert_eq!(
        message("<VTKFile type=\"ImageData\"><Piece Extent=\"0 1 0\"/></VTKFile>"),
        "f: tag `Piece` has no numbers of points and cells"
    );
    assert_eq!(
        message("<VTKFile type=\"PUnstructuredGrid\">"),
        "f: data set of type `PUnstructuredGrid`; types that are read are UnstructuredGrid, ImageData and RectilinearGrid"
    );
}

/// A file that is cut anywhere, and one with bytes changed: refused with its name, or numbers.
#[test]
fn damaged_files_are_refused() {
    let (grid, fields) = plane([4, 3]);
    let path = Path::new("f");
    let (mut whole, mut refused) = (0, 0);
    for compression in COMPRESSIONS {
        let bytes = vtu_of(&grid, VtkPart::Cells, compression, &fields);
        let read = |bytes: &[u8]| reader::read(path, bytes).and_then(|file| file.values(Association::Cells, "u"));
        assert_eq!(read(&bytes).expect("a whole file").numbers.len(), 12);
        for end in 0..bytes.len() {
            match read(&bytes[..end]) {
                Ok(values) => {
                    assert_eq!(values.numbers.len(), 12);
                    whole += 1;
                }
                Err(error) => {
                    assert!(error.message.starts_with("f: "), "{error:?}");
                    refused += 1;
                }
            }
        }
        let mut random = crate::cells::Random(5);
        for _ in 0..5_000 {
            let mut damaged = bytes.clone();
            let at = random.below(damaged.len());
            damaged[at] = random.next() as u8;
            if let Err(error) = read(&damaged) {
                assert!(error.message.starts_with("f: "), "{error:?}");
            }
        }
    }
    // The array stands before the other one and the mesh is before both.
    assert!(refused > 2000 && whole > 100, "{refused} refused, {whole} whole");
}

/// The unit that a program divides an output by stands behind its name.
#[test]
fn units_of_outputs_are_in_names() {
    let unit = Some(OutputUnit::Divided("Bar".into()));
    let output = OutputInfo { tag: "p".into(), kind: OutputKind::Numbers(EntityKind::Cell), unit };
    let pressure = Program { outputs: vec![output], ..Program::named("pressure") };
    let sink = Sink::memory();
    let options = Options { sink: sink.clone(), ..Options::silent() };
    let grid = Grid::cartesian(Cartesian::line(2, 0.5)).expect("a grid");
    let mut session = Session::on_grid(pressure, parameters(&["output_format=vtu"]), grid, options).expect("good parameters");
    let domain = session.domain(ALL_CELLS).expect("cells");
    // The second one completes the file of the first.
    for value in [1.0, 2.0] {
        session.outputs().collection("p", &domain, &[value, value]).expect("memory takes it");
    }
    session.outputs().wait().expect("memory takes it");
    let files = sink.contents();
    let (_, bytes) = files.iter().find(|(name, _)| name.extension().is_some_and(|end| end == "vti")).expect("a file");
    let file = reader::read(Path::new("p.vti"), bytes).expect("our own file");
    assert_eq!(file.names(Association::Cells).collect::<Vec<_>>(), ["p [Bar]"]);
    assert_eq!(file.values(Association::Cells, "p").expect("an array").numbers, [1.0, 1.0]);
}
