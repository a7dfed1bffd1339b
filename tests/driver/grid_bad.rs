//! Bad grid files: each is one error with a place and exit code 4, and nothing is written.

use std::fs;
use std::path::Path;
use std::process::Command;

const DECK: &str = "SPECGRID\n2 2 2 1 F /\nDX\n8*10 /\nDY\n8*20 /\nDZ\n8*5 /\nTOPS\n4*1000 /\n";

/// Two cells side by side; the last lines are COORD and ZCORN.
const CORNERS: &str = "SPECGRID\n2 1 1 1 F /\nCOORD\n0 0 0 0 0 9\n5 0 0 5 0 9\n10 0 0 10 0 9\n\
                       0 5 0 0 5 9\n5 5 0 5 5 9\n10 5 0 10 5 9 /\nZCORN\n8*0\n8*9 /\n";

const VTU: &str = "<?xml version=\"1.0\"?>
<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">
<UnstructuredGrid><Piece NumberOfPoints=\"4\" NumberOfCells=\"1\">
<Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">
0 0 0 1 0 0 0 1 0 0 0 1
</DataArray></Points>
<Cells><DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">0 1 2 3</DataArray>
<DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">4</DataArray>
<DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">10</DataArray></Cells>
</Piece></UnstructuredGrid></VTKFile>
";

/// A deck, a text in it, the text in its place, and the error that follows.
const DECKS: [(&str, &str, &str, &str); 28] = [
    (DECK, "8*5 /", "7*5 /", ":8: DZ of line 7 has 7 values: expected 8"),
    (DECK, "8*5 /", "9*5 /", ":8: DZ of line 7 has more than 8 values: expected its `/` before `9*5`"),
    (DECK, "8*5 /", "99999999999999999999*5 /", ":8: DZ[0]: `99999999999999999999*5` is not a number"),
    (DECK, "8*5 /", "8*NaN /", ":8: DZ[0]: `8*NaN` is not a number"),
    (DECK, "8*5 /", "8*1e999 /", ":8: DZ[0]: `8*1e999` is not a number"),
    (DECK, "8*5 /", "8*-5 /", ":8: DZ[0]: -5: expected a width"),
    (DECK, "8*5 /", "8*5", ":9: expected the `/` that ends DZ of line 7, found `TOPS`"),
    (DECK, "2 2 2 1 F", "2 2", ":1: SPECGRID: expected three numbers of cells"),
    (DECK, "2 2 2 1 F", "2 2 2 3 F", ":2: SPECGRID: expected 1 coordinate line system"),
    (DECK, "2 2 2 1 F", "99999 99999 99999", ":1: SPECGRID: 99999 x 99999 x 99999 cells are too many: at most 100000000 are read"),
    (DECK, "4*1000 /\n", "4*1000 /\nACTNUM\n7*1 /\n", ":12: ACTNUM of line 11 has 7 values: expected 8"),
    (DECK, "4*1000 /\n", "4*1000 /\nACTNUM\n8*0 /\n", ": no cell is active"),
    (DECK, "4*1000 /\n", "4*1000 /\nBOX\n1 3 1 1 1 1 /\n", ":12: BOX: `3` is outside of the grid, which has I from 1 to 2"),
    (DECK, "4*1000 /\n", "4*1000 /\nCOPY\nPERMX PERMY /\n/\n", ":12: COPY: array `PERMX` has no values yet"),
    (DECK, "4*1000 /\n", "4*1000 /\nMULTIPLY\nPERMX 2 /\n/\n", ":12: MULTIPLY: array `PERMX` has no values yet"),
    (DECK, "4*1000 /\n", "4*1000 /\nMINPV\n1 /\n", ":11: MINPV: expected PORO, of which pore volumes are made, found none"),
    (DECK, "4*1000 /\n", "4*1000 /\nGRIDUNIT\nYARDS /\n", ":12: GRIDUNIT: `YARDS`: expected METRES, FEET or CM"),
    (DECK, "4*1000 /\n", "4*1000 /\nFAULTS\nF 1 1 1 2 1 1 Q /\n/\n", ":12: FAULTS: `Q`: expected a side: I, J, K, I-, J- or K-"),
    (DECK, "4*1000 /\n", "4*1000 /\nMULTFLT\nF 0.5 /\n/\n", ":12: MULTFLT: there is no fault `F`"),
    (DECK, "4*1000 /\n", "4*1000 /\nCARFIN\nL 1 1 1 1 1 1 2 2 2 /\n", ":11: CARFIN: local refinement and coarsening of grids are not read"),
    (DECK, "4*1000 /\n", "4*1000 /\nNNC\n1 1 1 1 1 1 1 /\n/\n", ":11: NNC: cell (1, 1, 1) is connected to itself"),
    (DECK, "4*1000 /\n", "4*1000 /\nINCLUDE\n'bad.grdecl' /\n", ":12: INCLUDE: the file includes itself"),
    (
        DECK,
        "4*1000 /\n",
        "4*1000 /\nFAULTS\nF 1 18446744073709551615*1 /\n/\n",
        ":12: FAULTS: `18446744073709551615*1`: more values than a record has",
    ),
    (CORNERS, "8*9 /", "8*-9 /", ":12: ZCORN[8]: corners out of order: the bottom of cell (1, 1, 1) is above its top"),
    (CORNERS, "5 0 0 5 0 9", "15 0 0 15 0 9", ":5: COORD[6]: pillars cross, or turn the other way than elsewhere, at cell (2, 1, 1)"),
    (CORNERS, "5 0 0 5 0 9", "5 0 0 7 0 0", ":5: COORD[6]: the two points of a pillar are at the same depth"),
    (CORNERS, "10 5 0 10 5 9 /", "10 5 0 10 5 /", ":9: COORD of line 3 has 35 values: expected 36"),
    (CORNERS, "ZCORN\n8*0\n8*9 /\n", "", ": expected ZCORN beside COORD, found none"),
];

/// The same of a mesh of one tetrahedron.
const MESHES: [(&str, &str, &str); 21] = [
    (
        "header_type=\"UInt64\"",
        "compressor=\"vtkLZ4DataCompressor\"",
        ": compression `vtkLZ4DataCompressor`; the one that is read is vtkZLibDataCompressor",
    ),
    ("header_type=\"UInt64\"", "header_type=\"UInt128\"", ": header type `UInt128`; it is UInt32 or UInt64"),
    ("LittleEndian", "MiddleEndian", ": byte order `MiddleEndian`; it is LittleEndian or BigEndian"),
    (" type=\"UnstructuredGrid\"", " type=\"PolyData\"", ": data set of type `PolyData`: a surface, or lines, and no grid"),
    (
        "NumberOfCells=\"1\"",
        "NumberOfCells=\"999999999999999999\"",
        ": array `offsets`: 1 numbers, where the number of entities needs 999999999999999999",
    ),
    ("NumberOfPoints=\"4\"", "NumberOfPoints=\"18446744073709551615\"", ": too many points"),
    ("NumberOfPoints=\"4\"", "NumberOfPoints=\"-4\"", ": tag `Piece` has no numbers of points and cells"),
    (">4<", ">5<", ": array `connectivity`: 4 numbers, where the number of entities needs 5"),
    (">4<", ">4294967295<", ": array `connectivity`: 4 numbers, where the number of entities needs 4294967295"),
    (">10<", ">99<", ": cell 0 is of type 99, of which no cells are made"),
    (">10<", ">24<", ": cell 0 is a quadratic tetrahedron (type 24), which is not read"),
    (">10<", ">12<", ": cell 0 has 4 points: expected 8"),
    (">10<", ">42<", ": no array `faces` or `polyhedron_to_faces`, which polyhedra need"),
    ("0 1 2 3", "0 1 2 9", ": a cell has a point that does not exist"),
    ("0 1 2 3", "0 1 2 -3", ": array `connectivity`: -3 is not an index"),
    ("0 1 2 3", "0 1 2 2", ": cell 0 names point 2 twice"),
    ("1 0 0 0 1\n", "1 0 0 0 inf\n", ": a point has a coordinate that is not finite"),
    ("1 0 0 0 1\n", "1 0 0 0 one\n", ": array `Points`: line 5, column 23: `one` is not a number"),
    ("Name=\"types\"", "Name=\"kinds\"", ": no array `types`"),
    (
        "format=\"ascii\">0 1 2 3",
        "format=\"appended\" offset=\"999999\">",
        ": array `connectivity`: the file has no appended data, or ends before them",
    ),
    ("format=\"ascii\">0 1 2 3", "format=\"binary\">0 1*", ": array `connectivity`: `*` is not in base 64"),
];

/// A tetrahedron in VTK's legacy format.
const LEGACY: &str = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n0 0 0 1 0 0 0 1 0 0 0 1\n\
                      CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\nCELL_DATA 1\nSCALARS p float\nLOOKUP_TABLE default\n1\n";

const LEGACIES: [(&str, &str, &str); 14] = [
    ("ASCII", "EBCDIC", ":4: expected ASCII or BINARY in the third line"),
    ("UNSTRUCTURED_GRID", "POLYDATA", ":5: data set POLYDATA: a surface, or lines, and no grid"),
    ("POINTS 4", "POINTS 999999999999999999", ":6: POINTS: the file ends before its 2999999999999999997 numbers"),
    ("POINTS 4", "POINTS 99999999", ":6: POINTS: the file ends before its 299999997 numbers"),
    ("POINTS 4", "POINTS 3", ":7: `0` is not a keyword that is read"),
    ("POINTS 4 float", "POINTS 4 quad", ":6: `quad` is not a type of numbers"),
    ("0 0 1\n", "0 0 nan\n", ":6: POINTS: a coordinate is not finite"),
    ("0 0 1\n", "0 0 x\n", ":6: POINTS[11]: `x` is not a number"),
    ("4 0 1 2 3", "4 0 1 2 4", ": cell 0 has a point that does not exist"),
    ("4 0 1 2 3", "5 0 1 2 3", ":8: CELLS: the list ends in cell 0 of 1"),
    ("4 0 1 2 3", "3 0 1 2 3", ":8: CELLS: 1 numbers are left over after 1 cells"),
    ("4 0 1 2 3", "4 0 1 2 -3", ":8: CELLS: -3 is not an index"),
    ("CELL_TYPES 1\n10\n", "", ": CELL_TYPES has 0 types: expected 1"),
    ("CELL_DATA 1", "CELL_DATA 2", ":14: p: the file ends before its 2 numbers"),
];

/// The error of a file, after its name.
fn error_of(folder: &Path, name: &str, text: &str) -> String {
    fs::write(folder.join(name), text).expect("the test's own file");
    let equellec =
        |words: &[&str]| Command::new(env!("CARGO_BIN_EXE_equellec")).args(words).current_dir(folder).output().expect("it starts");
    let output = equellec(&["--message-format", "short", "grid", "convert", name, "out.vtu"]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{text}\n{errors}");
    assert!(output.stdout.is_empty() && !folder.join("out.vtu").exists() && errors.lines().count() == 1, "{text}\n{errors}");
    let error = errors.strip_prefix("error: ").and_then(|error| error.strip_prefix(name)).unwrap_or_else(|| panic!("{text}\n{errors}"));
    error.trim_end().to_string()
}

#[test]
fn bad_files_end_with_code_4() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bad-grids-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("the target folder can be written");
    let mut wrong = Vec::new();
    let mut check = |name: &str, text: &str, from: &str, to: &str, expected: &str| {
        assert!(text.contains(from), "{from}");
        let found = error_of(&folder, name, &text.replacen(from, to, 1));
        if found != expected {
            wrong.push(format!("{to:?}: {found:?} instead of {expected:?}"));
        }
    };
    for (text, from, to, expected) in DECKS {
        check("bad.grdecl", text, from, to, expected);
    }
    for (from, to, expected) in MESHES {
        check("bad.vtu", VTU, from, to, expected);
    }
    for (from, to, expected) in LEGACIES {
        check("bad.vtk", LEGACY, from, to, expected);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    fs::remove_dir_all(&folder).expect("the test's own folder");
}
