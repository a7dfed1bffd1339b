//! Inputs that follow from the grid: chosen sets, values by set, arrays, expressions; data in other
//! files than text.

use equelle_runtime::grid::{Cartesian, Geometry, Grid, Named, NamedArray, NamedSet, Renumber};
use equelle_runtime::io::{DataSource, npz};
use equelle_runtime::session::Options;
use equelle_runtime::{CanonicalSet, EntityKind, Error, ErrorKind, Parameters, Session};

use crate::common::*;

/// How a grid is given.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Cartesian,
    /// Made of the same arrays, which know no shape.
    Arrays,
    /// The same, renumbered.
    Renumbered,
}

const FORMS: [Form; 3] = [Form::Cartesian, Form::Arrays, Form::Renumbered];

/// 4 x 3 cells of 1 x 1 with named sets and arrays: cells `left` (the columns x < 2), `right` (the
/// others), `corner` (cell 0), faces `inlet` (those of x-), and `PORO`, 0.1 times the number of the
/// cell.
fn grid(form: Form) -> Grid {
    let cartesian = Grid::cartesian(Cartesian::plane([4, 3], [1.0, 1.0])).expect("a grid");
    let mut named = Named::default();
    let mut set = |name: &str, kind, members: &[u32]| {
        named.add_set(NamedSet { name: name.into(), kind, members: members.to_vec() }).expect("a new set");
    };
    set("left", EntityKind::Cell, &[0, 1, 4, 5, 8, 9]);
    set("right", EntityKind::Cell, &[2, 3, 6, 7, 10, 11]);
    set("corner", EntityKind::Cell, &[0]);
    set("dir", EntityKind::Face, &[0, 5, 10]);
    set("left wall", EntityKind::Face, &[0, 5, 10]);
    set("inner", EntityKind::Face, &[1]);
    let poro = (0..12).map(|cell| 0.1 * f64::from(cell)).collect();
    named.add_array(NamedArray { name: "PORO".into(), kind: EntityKind::Cell, values: poro }).expect("a new array");
    named.add_array(NamedArray { name: "T R".into(), kind: EntityKind::Face, values: vec![2.0; 31] }).expect("a new array");
    let mut grid = match form {
        Form::Cartesian => cartesian,
        Form::Arrays | Form::Renumbered => {
            let (topology, geometry): (_, Geometry) = (cartesian.topology().clone(), cartesian.geometry().clone());
            Grid::unstructured(2, topology, geometry).expect("a grid")
        }
    };
    if form == Form::Renumbered {
        grid.renumber(Renumber::Yes);
    }
    grid.with_named(named).expect("sets of its entities")
}

fn session_of(form: Form, files: Vec<(&str, Vec<u8>)>, text: &str) -> Result<Session, Error> {
    let mut all = vec![("case.param", text.as_bytes().to_vec())];
    all.extend(files);
    let parameters = Parameters::from_words_in(DataSource::memory(all), &["case.param".to_string()])?;
    let mut session = Session::on_grid(heat(), parameters, grid(form), Options::silent())?;
    // As a program does that reads no geometry.
    session.keep_geometry(&[]);
    Ok(session)
}

/// The chosen elements of `dir` in the numbering of the file, the same for each form of the grid.
fn chosen(text: &str, within: CanonicalSet) -> Result<Vec<u32>, (String, String)> {
    let of = |form| {
        let read = session_of(form, Vec::new(), text).and_then(|mut session| {
            let within = session.domain(within)?;
            let domain = session.inputs().domain("dir", &within)?;
            let mut elements: Vec<u32> = domain.elements().iter().map(|&e| domain.grid().file_index(domain.kind(), e)).collect();
            elements.sort_unstable();
            Ok(elements)
        });
        read.map_err(|error| {
            assert_eq!(error.kind, ErrorKind::Data);
            (error.message, error.hint.unwrap_or_default())
        })
    };
    let [first, second, third] = FORMS.map(of);
    assert_eq!(first, second, "{text}");
    assert_eq!(first, third, "{text}");
    first
}

#[test]
fn faces_are_chosen_by_names_sides_boxes_and_conditions() {
    // Faces across x: 0 to 14, five in a row; across y: 15 to 30, four in a row.
    for (set, faces) in [
        ("dir", vec![0, 5, 10]),
        ("\"left wall\"", vec![0, 5, 10]),
        ("x-", vec![0, 5, 10]),
        ("x+", vec![4, 9, 14]),
        ("y-", vec![15, 16, 17, 18]),
        ("y+", vec![27, 28, 29, 30]),
        ("x- | x+ - dir", vec![4, 9, 14]),
        ("x- | (x+ - dir)", vec![0, 4, 5, 9, 10, 14]),
        ("y- & box(0, 0, 2, 1)", vec![15, 16]),
        ("box(-1, -1, 0, 0.5, 9, 0)", vec![0, 5, 10, 15, 27]),
        ("where x < 0.5 And y <= 1.5", vec![0, 5]),
        ("(where y == 3) | dir", vec![0, 5, 10, 27, 28, 29, 30]),
        ("where \"T R\" > 2", vec![]),
        ("where Not (x != 0 Or y > 1)", vec![0]),
    ] {
        assert_eq!(chosen(&format!("dir_set = {set}\n"), BOUNDARY_FACES), Ok(faces), "{set}");
    }
    // Without a key, the grid's set of the name of the input.
    assert_eq!(chosen("", BOUNDARY_FACES), Ok(vec![0, 5, 10]));
}

#[test]
fn cells_are_chosen() {
    for (set, cells) in [
        ("x-", vec![0, 4, 8]),
        ("corner | y+", vec![0, 8, 9, 10, 11]),
        ("left & where PORO > 0.35 And y < 2", vec![4, 5]),
        ("left - box(0,0,1,3)", vec![1, 5, 9]),
    ] {
        assert_eq!(chosen(&format!("dir_set = {set}\n"), ALL_CELLS), Ok(cells), "{set}");
    }
}

#[test]
fn what_chooses_nothing() {
    let refused = |set: &str, within, message: &str, hint: &str| {
        assert_eq!(chosen(&format!("dir_set = {set}\n"), within), Err((message.to_owned(), hint.to_owned())), "{set}");
    };
    let at =
        |character: usize, set: &str, what: &str| format!("parameter `dir_set` (case.param:1): character {character} of `{set}`: {what}");
    let sets = "it has `dir`, `inner`, `left wall`";
    let faces = BOUNDARY_FACES;
    refused("inlet", faces, &at(1, "inlet", "the grid has no named set `inlet` of faces"), sets);
    refused(
        "dir | Inner",
        faces,
        &at(7, "dir | Inner", "the grid has no named set `Inner` of faces"),
        &format!("did you mean `inner`? {sets}"),
    );
    refused("corner", faces, &at(1, "corner", "`corner` is a named set of cells, not of faces"), "");
    refused("x -", faces, &at(1, "x -", "the grid has no named set `x` of faces"), "a side is written without a blank: `x-` or `x+`");
    refused("z-", faces, &at(1, "z-", "side `z-` of a grid of dimension 2"), "");
    let expected = "the name of a set, a side such as `x-`, `box(...)`, `where ...` or `(`";
    refused("dir |", faces, &at(6, "dir |", &format!("expected {expected}, the text ends")), "");
    let side_by_side = "sets are joined as `a | b`; a name with a blank in it stands between double quotes";
    refused("dir x-", faces, &at(5, "dir x-", "expected `|`, `-` or `&`, found `x`"), side_by_side);
    refused("(dir", faces, &at(5, "(dir", "expected `|`, `-`, `&` or `)`, the text ends"), "");
    let corners = "give the low corner, then the high one: `box(x0, y0, x1, y1)`";
    refused("box(1,2)", faces, &at(1, "box(1,2)", "a box of 2 numbers on a grid of dimension 2"), corners);
    refused("box(1,0,0,1)", faces, &at(1, "box(1,0,0,1)", "a box whose first corner is not the low one"), "");
    refused("box(1,x)", faces, &at(7, "box(1,x)", "expected a number, found `x`"), "");
    refused("where x", faces, &at(7, "where x", "the condition must be a truth value, and this is a number"), "compare it: `x > 0`");
    refused("where z > 0", faces, &at(7, "where z > 0", "`z` on a grid of dimension 2"), "");
    let no_array = "the grid has no named array `PERMX` of cells";
    refused("where PERMX > 0", ALL_CELLS, &at(7, "where PERMX > 0", no_array), "it has `PORO`");
    refused("where PORO > 0", faces, &at(7, "where PORO > 0", "`PORO` is a named array of cells, not of faces"), "");
    refused(
        "where 1/x > 0",
        faces,
        "parameter `dir_set`: `where 1/x > 0` has no finite value in face 0 at (0, 0.5)",
        "choose another value there: `x > 0 ? 1/x : 1`",
    );
    refused(
        "dir | inner",
        faces,
        "parameter `dir_set`: `dir | inner` chooses face 1, which is not in BoundaryFaces()",
        "choose elements of BoundaryFaces() alone: `a & b` has what is in both",
    );
    let deep = format!("{}dir", "(".repeat(200));
    assert!(chosen(&format!("dir_set = {deep}\n"), faces).is_err_and(|(message, _)| message.ends_with("nested more than 100 deep")));
    // The grid's own set, outside the domain.
    let message = chosen("", INTERIOR_FACES).expect_err("faces of the boundary").0;
    assert_eq!(message, "the grid's set `dir`: face 0 is not in InteriorFaces()");
    // No key and no set of that name.
    let (message, hint) = chosen("", ALL_CELLS).expect_err("no source");
    assert_eq!(message, "missing parameter `dir_filename`: the file with indices of elements of AllCells()");
    assert_eq!(hint, "give dir_filename=FILE or dir_set=SETS");
    let (message, _) = chosen("dir_set=x-\ndir_filename=d.txt\n", faces).expect_err("two sources");
    assert_eq!(message, "input `dir` has two sources: `dir_set=x-` (case.param:1) and `dir_filename=d.txt` (case.param:2)");
}

fn values_on(form: Form, text: &str, files: &[(&'static str, Vec<u8>)], on: CanonicalSet) -> Result<Vec<f64>, (String, String)> {
    let read = session_of(form, files.to_vec(), text).and_then(|mut session| {
        let domain = session.domain(on)?;
        let values = session.inputs().collection("u_initial", &domain)?.to_vec(domain.len());
        Ok(domain.in_file_order(&values).into_owned())
    });
    read.map_err(|error| (error.message, error.hint.unwrap_or_default()))
}

/// Values of `u_initial` in the order of the file, the same for each form of the grid.
fn values(text: &str, files: &[(&'static str, Vec<u8>)], on: CanonicalSet) -> Result<Vec<f64>, (String, String)> {
    let [first, second, third] = FORMS.map(|form| values_on(form, text, files, on));
    assert_eq!(first, second, "{text}");
    assert_eq!(first, third, "{text}");
    first
}

#[test]
fn values_of_arrays_sets_and_expressions() {
    let poro: Vec<f64> = (0..12).map(|cell| 0.1 * f64::from(cell)).collect();
    assert_eq!(values("u_initial_property = PORO\n", &[], ALL_CELLS), Ok(poro.clone()));
    assert_eq!(values("u_initial_property = \"T R\"\n", &[], INTERIOR_FACES), Ok(vec![2.0; 17]));
    let by_set = values("u_initial_values = left: -1e-12, right: 3\n", &[], ALL_CELLS);
    assert_eq!(by_set, Ok([-1e-12, -1e-12, 3.0, 3.0].repeat(3)));
    let by_set = values("u_initial_values = corner: 7, default: 2\n", &[], ALL_CELLS).expect("values");
    assert_eq!((by_set[0], by_set[1], by_set[11]), (7.0, 2.0, 2.0));
    let computed = values("u_initial_expression = 1 + x*y + PORO\n", &[], ALL_CELLS).expect("values");
    for (cell, &value) in computed.iter().enumerate() {
        let (x, y) = ((cell % 4) as f64 + 0.5, (cell / 4) as f64 + 0.5);
        assert_eq!(value, 1.0 + x * y + poro[cell], "cell {cell}");
    }
    let on_faces = values("u_initial_expression = x >= 4 ? 1 : 0\n", &[], BOUNDARY_FACES).expect("values");
    assert_eq!(on_faces.iter().sum::<f64>(), 3.0);
}

#[test]
fn what_gives_no_values() {
    let refused = |text: &str, message: &str, hint: &str| {
        assert_eq!(values(&format!("u_initial_{text}\n"), &[], ALL_CELLS), Err((message.to_owned(), hint.to_owned())), "{text}");
    };
    let at = |key: &str, character: usize, text: &str, what: &str| {
        format!("parameter `u_initial_{key}` (case.param:1): character {character} of `{text}`: {what}")
    };
    refused("property=PERM", &at("property", 1, "PERM", "the grid has no named array `PERM` of cells"), "it has `PORO`");
    refused("expression=1 +", &at("expression", 4, "1 +", "expected a number, a name or `(`, the text ends"), "");
    refused(
        "expression=x > 1",
        &at("expression", 1, "x > 1", "a truth value, where a number is needed"),
        "choose numbers by it: `condition ? 1 : 0`",
    );
    refused(
        "expression=1/(x - 1.5)",
        "parameter `u_initial_expression`: `1/(x - 1.5)` has no finite value in cell 1 at (1.5, 0.5)",
        "choose another value there: `x > 0 ? 1/x : 1`",
    );
    refused("values=left 1", &at("values", 6, "left 1", "expected `:`, found `1`"), "");
    refused("values=left: x", &at("values", 7, "left: x", "expected a number, found `x`"), "");
    refused("values=: 1", &at("values", 1, ": 1", "expected the name of a set, or `default`, found `:`"), "");
    refused("values=left: 1,", &at("values", 9, "left: 1,", "expected the name of a set, or `default`, the text ends"), "");
    refused("values=left: 1 right: 2", &at("values", 9, "left: 1 right: 2", "expected `,`, found `right`"), "");
    refused("values=left: 1, left: 2", &at("values", 10, "left: 1, left: 2", "a second value for `left`"), "");
    refused("values=default: 1, default: 2", &at("values", 13, "default: 1, default: 2", "a second value for `default`"), "");
    let sets = "did you mean `left`? it has `corner`, `left`, `right`";
    refused("values=lefd: 1", &at("values", 1, "lefd: 1", "the grid has no named set `lefd` of cells"), sets);
    refused(
        "values=left: 1, corner: 2, default: 3",
        "parameter `u_initial_values`: cell 0 is in `left` and in `corner`",
        "give sets that have no element in common",
    );
    refused(
        "values=left: 1",
        "parameter `u_initial_values`: cell 2 is in none of the sets",
        "add a value for the others: `default: NUMBER`",
    );
    let two = "input `u_initial` has two sources: `u_initial=1` (case.param:1) and `u_initial_property=PORO` (case.param:2)";
    let (message, hint) = values("u_initial=1\nu_initial_property=PORO\n", &[], ALL_CELLS).expect_err("two sources");
    assert_eq!((message.as_str(), hint.as_str()), (two, "leave one of them out; the command line replaces what files give"));
}

#[test]
fn data_by_the_extension_of_its_file() {
    let csv = (
        "rock.csv",
        b"id,KX\n0,1.0D-2\n".iter().copied().chain((1..12).flat_map(|i| format!("{i},{i}\n").into_bytes())).collect::<Vec<u8>>(),
    );
    let read = values("u_initial_filename=rock.csv\nu_initial_column=KX\n", std::slice::from_ref(&csv), ALL_CELLS).expect("a column");
    assert_eq!((read[0], read[11]), (0.01, 11.0));
    let message = |text: &str, file: (&'static str, Vec<u8>)| values(text, &[file], ALL_CELLS).expect_err("refused").0;
    let several = "rock.csv: 2 columns: `id`, `KX`, of which none is called `u_initial`";
    assert_eq!(message("u_initial_filename=rock.csv\n", csv.clone()), several);
    let npy = |shape: &str, count: usize| {
        let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.bytes());
        bytes.extend((0..count).flat_map(|i| (i as f64).to_le_bytes()));
        bytes
    };
    // An archive gives the array that has the input's name, or that a key names, or the only one.
    let archive = |names: &[&str]| {
        let mut writer = npz::Writer::new(Vec::new());
        names.iter().for_each(|name| writer.member(name, &[&npy("(12,)", 12)]).expect("in memory"));
        writer.finish().expect("in memory")
    };
    for (names, keys) in [
        (&["v.npy", "u_initial.npy"][..], "u_initial_filename=state.npz\n"),
        (&["v.npy", "checkpoint.json"], "u_initial_filename=state.npz\n"),
        (&["v.npy", "w.npy"], "u_initial_filename=state.npz\nu_initial_column=w\n"),
    ] {
        let read = values(keys, &[("state.npz", archive(names))], ALL_CELLS).expect("an array");
        assert_eq!(read.len(), 12, "{names:?}");
    }
    let absent = message("u_initial_filename=state.npz\n", ("state.npz", archive(&["v.npy", "w.npy"])));
    assert_eq!(absent, "state.npz: no array `u_initial`; the file has v, w");
    let read = values("u_initial_filename=u.npy\n", &[("u.npy", npy("(12,)", 12))], ALL_CELLS).expect("an array");
    assert_eq!(read, (0..12).map(f64::from).collect::<Vec<_>>());
    let axes = |shape: &str, form: Form| {
        let file = ("u.npy", npy(shape, 12));
        values_on(form, "u_initial_filename=u.npy\n", std::slice::from_ref(&file), ALL_CELLS)
    };
    let (shape, _) = axes("(6, 2)", Form::Cartesian).unwrap_err();
    assert_eq!(shape, "u.npy: input `u_initial` on AllCells(): expected shape (12,) or (3, 4), found (6, 2)");
    assert_eq!(axes("(3, 4)", Form::Cartesian), Ok((0..12).map(f64::from).collect()));
    let (_, hint) = axes("(4, 3)", Form::Cartesian).unwrap_err();
    assert!(hint.contains("u[k, j, i]") && hint.contains("transpose"), "{hint}");
    let (shape, _) = axes("(3, 4)", Form::Arrays).unwrap_err();
    assert_eq!(shape, "u.npy: input `u_initial` on AllCells(): expected shape (12,), found (3, 4)");
    let short = message("u_initial_filename=u.npy\n", ("u.npy", npy("(3,)", 3)));
    assert_eq!(short, "`u.npy`: input `u_initial` on AllCells(): expected 12 values, found 3");
    let column = message("u_initial_filename=u.txt\nu_initial_column=KX\n", ("u.txt", b"1".to_vec()));
    assert_eq!(column, "parameter `u_initial_column`: `u.txt` has no columns that are read by name");
    // Columns in text, with remarks and as decks end tables; positions order them.
    let rows: String = (0..12).map(|cell| format!("{} {} {}\n", f64::from(cell % 4) + 0.5, f64::from(cell / 4) + 0.5, 7 * cell)).collect();
    let reversed: String = rows.lines().rev().fold(String::new(), |text, line| text + line + " -- of a log\n");
    for text in [
        format!("# x y u_initial\n{rows}"),
        format!("x y u_initial\n{reversed}/\n"),
        format!("-- X Y U_INITIAL\n{reversed}"),
        format!("# x, y, u_initial\n{}", rows.replace(' ', ",")),
        format!("x;y;u_initial\n{}", rows.replace(' ', "; ")),
    ] {
        let read = values("u_initial_filename=u.dat\n", &[("u.dat", text.into_bytes())], ALL_CELLS).expect("a column");
        assert_eq!(read, (0..12).map(|cell| f64::from(7 * cell)).collect::<Vec<_>>());
    }
    let by_number = values("u_initial_filename=u.dat\nu_initial_column=3\n", &[("u.dat", rows.clone().into_bytes())], ALL_CELLS);
    assert_eq!(by_number.expect("a column")[11], 77.0);
    let list = "-- of a deck\n1 2 3 4 -- a row\n5 6 7 8\n9 10 11 12\n/\n";
    let read = values("u_initial_filename=u.inc\n", &[("u.inc", list.into())], ALL_CELLS).expect("numbers");
    assert_eq!((read[0], read[11]), (1.0, 12.0));
    let two = message("u_initial_filename=u.inc\n", ("u.inc", b"1 2 /\n3 4 /\n".to_vec()));
    assert_eq!(two, "u.inc:1:5: `/` is not a number");
    // A text with a mark of its byte order, and Fortran's exponents.
    let text = ("u.txt", format!("\u{feff}1.0D2{}", " 3d-1".repeat(11)).into_bytes());
    let read = values("u_initial_filename=u.txt\n", std::slice::from_ref(&text), ALL_CELLS).expect("numbers");
    assert_eq!((read[0], read[11]), (100.0, 0.3));
}

/// Facts that follow from the shape are worked out once: for each cell it would take minutes.
#[test]
fn expressions_on_a_long_grid() {
    let parameters = Parameters::from_words(&["u_initial_expression=2*x".to_owned()]).expect("parameters");
    let grid = Grid::cartesian(Cartesian::line(300_000, 0.5)).expect("a grid");
    let mut session = Session::on_grid(heat(), parameters, grid, Options::silent()).expect("a session");
    let cells = session.domain(ALL_CELLS).expect("cells");
    let values = session.inputs().collection("u_initial", &cells).expect("values").to_vec(cells.len());
    assert_eq!((values.len(), values[299_999]), (300_000, 299_999.5));
}

#[test]
fn sequences_in_parameters() {
    let sequence = |text: &str| {
        let mut session = session_of(Form::Cartesian, Vec::new(), text)?;
        session.inputs().sequence("timesteps").map(|values| values.to_vec())
    };
    assert_eq!(sequence("timesteps = 3*0.5, 2\n"), Ok(vec![0.5, 0.5, 0.5, 2.0]));
    let message = |text: &str| sequence(text).expect_err("refused").message;
    assert_eq!(
        message("timesteps = 0.5*3\n"),
        "parameter `timesteps` (case.param:1): character 1 of `0.5*3`: expected a count, a whole number of at least 1, found `0.5`"
    );
    assert_eq!(
        message("timesteps = 1\ntimesteps_filename = dt.txt\n"),
        "input `timesteps` has two sources: `timesteps=1` (case.param:1) and `timesteps_filename=dt.txt` (case.param:2)"
    );
}
