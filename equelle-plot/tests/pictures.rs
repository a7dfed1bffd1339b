//! Pictures of runs whose files are written here: colours at corners, ends of bars and labels are
//! read back from the pixels.

use std::fmt::Write as _;
use std::fs;
use std::io::Cursor;
use std::path::Path;

use equelle_plot::{
    Anchor, BLACK, Colour, ColourMap, Drawing, Format, Image, Item, Label, NAN, Options, Range, Slice, Steps, TEXT, page, plot,
};
use tempfile::TempDir;

const DARK: Colour = [0x44, 0x01, 0x54];
const BRIGHT: Colour = [0xfd, 0xe7, 0x25];

/// The pictures of a PNG file.
fn decode(file: &[u8]) -> Vec<Image> {
    let mut reader = png::Decoder::new(Cursor::new(file)).read_info().expect("a PNG file");
    let info = reader.info();
    assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
    let (width, height) = (info.width as usize, info.height as usize);
    let frames = info.animation_control.map_or(1, |control| control.num_frames);
    let pictures = (0..frames).map(|_| {
        let mut bytes = vec![0; 3 * width * height];
        reader.next_frame(&mut bytes).expect("a frame");
        Image { width, height, pixels: bytes.as_chunks::<3>().0.to_vec() }
    });
    pictures.collect()
}

/// A run of a program `t` with files of VTK: steps with their values.
fn run(n: [usize; 3], name: &str, steps: &[(u64, Vec<f64>)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let extent = n.map(|n| format!("0 {n}")).join(" ");
    let mut files = Vec::new();
    for (step, values) in steps {
        let numbers: Vec<String> = values.iter().map(f64::to_string).collect();
        let file = format!("t-{step:05}.vti");
        let text = format!(
            "<VTKFile type=\"ImageData\"><ImageData WholeExtent=\"{extent}\" Origin=\"0 0 0\" Spacing=\"1 1 1\"><Piece Extent=\"{extent}\">\
             <CellData><DataArray type=\"Float64\" Name=\"{name}\" format=\"ascii\">{}</DataArray></CellData>\
             </Piece></ImageData></VTKFile>",
            numbers.join(" ")
        );
        fs::write(folder.path().join(&file), text).expect("a file");
        files.push(format!("{{\"name\":\"{file}\",\"tag\":null,\"step\":{step},\"time\":{}}}", *step as f64 / 10.0));
    }
    record(folder.path(), &files, "null");
    folder
}

fn record(folder: &Path, files: &[String], cartesian: &str) {
    let text = format!(
        "{{\"program\":{{\"name\":\"t\"}},\"state\":\"done\",\"grid\":{{\"cartesian\":{cartesian},\"cells\":4}},\"files\":[{}]}}",
        files.join(",")
    );
    fs::write(folder.join("t.run.json"), text).expect("a record");
}

fn picture(folder: &Path, options: &Options) -> Image {
    decode(&plot(folder, options).expect("a picture").bytes).remove(0)
}

/// Left, top, right and bottom of black frames, such as those of maps and bars.
fn frames(image: &Image) -> Vec<[usize; 4]> {
    let is_black = |x: usize, y: usize| image.at(x, y) == BLACK;
    let mut found: Vec<[usize; 4]> = Vec::new();
    for y in 0..image.height - 1 {
        let row: Vec<bool> = (0..image.width).map(|x| is_black(x, y)).collect();
        let mut start = 0;
        for run in row.chunk_by(|a, b| a == b) {
            let (from, to) = (start, start + run.len());
            start = to;
            // A mark of the axis may lengthen the upper side.
            let mut sides = (from..to).filter(|&x| run[0] && is_black(x, y + 1));
            let (Some(left), Some(right)) = (sides.next(), sides.next_back()) else { continue };
            let is_inside = found.iter().any(|frame| left >= frame[0] && right <= frame[2] && y <= frame[3]);
            let bottom = (y + 1..image.height).find(|&y| (left..=right).all(|x| is_black(x, y)));
            if let Some(bottom) = bottom.filter(|bottom| right > left + 12 && *bottom > y + 12 && !is_inside) {
                found.push([left, y, right, bottom]);
            }
        }
    }
    found
}

/// Reads a text from pixels: letter by letter, the one whose pixels fit best from there on.
fn read(image: &Image, at: [f64; 2], size: f64, n: usize) -> String {
    let mut text = String::new();
    for _ in 0..n {
        let difference = |c: char| {
            let next = Label { text: format!("{text}{c}"), at, size, anchor: Anchor::Start, is_upward: false };
            let bounds = next.bounds();
            let mut drawing = Drawing::new(image.width, image.height);
            drawing.items.push(Item::Label(next));
            let drawn = drawing.pixels();
            let places = (bounds.top as usize..bounds.bottom as usize)
                .flat_map(|y| (bounds.left as usize..(bounds.right as usize + 2).min(image.width)).map(move |x| (x, y)));
            let differences = places.map(|(x, y)| (f64::from(image.at(x, y)[0]) - f64::from(drawn.at(x, y)[0])).abs());
            differences.sum::<f64>() / bounds.width()
        };
        text.extend((' '..='~').min_by(|a, b| difference(*a).total_cmp(&difference(*b))));
    }
    text
}

/// Labels of a picture as SVG.
fn labels(folder: &Path, options: &Options) -> Vec<String> {
    let options = Options { format: Format::Svg, ..options.clone() };
    let text = String::from_utf8(plot(folder, &options).expect("a picture").bytes).expect("text");
    text.split("<text ").skip(1).filter_map(|rest| Some(rest.split_once('>')?.1.split_once('<')?.0.to_owned())).collect()
}

/// On 2 by 2 cells with 0, 1, 2, 3 from below the corners are the colours of 0, 1/3, 2/3 and 1.
#[test]
fn corners_bar_and_labels_are_read_back() {
    let folder = run([2, 2, 0], "p [Bar]", &[(1, vec![0.0, 1.0, 2.0, 3.0])]);
    let image = picture(folder.path(), &Options::default());
    let frames = frames(&image);
    let [map, bar] = frames[..] else { panic!("a map and a bar: {frames:?}") };
    let table = ColourMap::Viridis.table();
    let [left, top, right, bottom] = [map[0] + 3, map[1] + 3, map[2] - 3, map[3] - 3];
    let corners = [image.at(left, bottom), image.at(right, bottom), image.at(left, top), image.at(right, top)];
    assert_eq!(corners, [DARK, table[85], table[170], BRIGHT]);
    let middle = (bar[0] + bar[2]) / 2;
    assert_eq!([image.at(middle, bar[3] - 2), image.at(middle, bar[1] + 2)], [DARK, BRIGHT]);
    // Numbers begin 6 pixels from the bar, their middle at its ends; digits are 9 pixels high.
    let (x, below) = (bar[2] as f64 + 6.0, 4.5);
    let number = |end: usize| read(&image, [x, end as f64 + below], TEXT, 1);
    assert_eq!([number(bar[3]), number(bar[1] + 1)], ["0", "3"]);
    let labels = labels(folder.path(), &Options::default());
    for label in ["p   time 0.1", "[Bar]", "x", "y", "0", "3"] {
        assert!(labels.iter().any(|found| found == label), "no label {label}: {labels:?}");
    }
}

#[test]
fn nan_has_its_own_colour_and_is_counted() {
    let folder = run([2, 2, 0], "u", &[(1, vec![0.0, f64::NAN, 2.0, f64::NAN])]);
    let image = picture(folder.path(), &Options::default());
    let map = frames(&image).into_iter().max_by_key(|frame| frame[2] - frame[0]).expect("a map");
    assert_eq!([image.at(map[0] + 3, map[3] - 3), image.at(map[2] - 3, map[3] - 3)], [DARK, NAN]);
    assert!(labels(folder.path(), &Options::default()).contains(&"2 cells are NaN".to_owned()));
    let all = run([2, 2, 0], "u", &[(1, vec![f64::NAN; 4])]);
    assert!(labels(all.path(), &Options::default()).contains(&"4 cells are NaN".to_owned()));
}

/// One cell, equal values and an infinite one: a picture each, and a single number at the bar.
#[test]
fn one_cell_and_equal_values() {
    let one = run([1, 1, 0], "u", &[(1, vec![7.5])]);
    let shown = labels(one.path(), &Options::default());
    assert_eq!(shown.iter().filter(|label| *label == "7.5").count(), 1, "{shown:?}");
    let image = picture(one.path(), &Options::default());
    let middle = ColourMap::Viridis.table()[128];
    assert!(image.pixels.iter().filter(|&&pixel| pixel == middle).count() > 100_000);
    let line = run([1, 0, 0], "u", &[(1, vec![7.5])]);
    assert!(labels(line.path(), &Options::default()).contains(&"u   time 0.1".to_owned()));
    let endless = run([2, 1, 0], "u", &[(1, vec![f64::INFINITY, 1.0])]);
    picture(endless.path(), &Options::default());
    let huge = run([2, 1, 0], "u", &[(1, vec![f64::MAX, -f64::MAX])]);
    picture(huge.path(), &Options { isolines: 3, ..Options::default() });
    let huge_line = run([2, 0, 0], "u", &[(1, vec![f64::MAX, -f64::MAX])]);
    picture(huge_line.path(), &Options::default());
}

#[test]
fn steps_stand_side_by_side_with_one_range() {
    let folder = run([2, 1, 0], "u", &[(1, vec![0.0, 1.0]), (2, vec![0.0, 4.0]), (5, vec![0.0, 2.0])]);
    let options = Options { steps: Steps::These(vec![1, 5]), ..Options::default() };
    let shown = labels(folder.path(), &options);
    assert!(shown.contains(&"u   time 0.1".to_owned()) && shown.contains(&"u   time 0.5".to_owned()), "{shown:?}");
    // The largest value of both is 2, at both bars.
    assert!(shown.iter().filter(|label| *label == "2").count() >= 2, "{shown:?}");
    let error = plot(folder.path(), &Options { steps: Steps::These(vec![3]), ..options.clone() }).expect_err("no step 3");
    assert_eq!((error.kind.exit_code(), error.hint.as_deref()), (2, Some("the nearest are 2 and 5")));
    let fixed = Options { range: Some(Range { low: -1.0, high: 9.0 }), ..options };
    let shown = labels(folder.path(), &fixed);
    assert!(shown.contains(&"-1".to_owned()) && shown.contains(&"9".to_owned()), "{shown:?}");
}

/// Three pictures of 200 by 150 pixels, each with the colour of its value in the range of all.
#[test]
fn animations_have_one_range() {
    let folder = run([1, 1, 0], "u", &[(1, vec![0.0]), (2, vec![1.0]), (3, vec![2.0])]);
    let options = Options { is_animation: true, size: Some((300, 250)), ..Options::default() };
    let images = decode(&plot(folder.path(), &options).expect("a picture").bytes);
    let colours: Vec<Colour> = images
        .iter()
        .map(|image| {
            let map = frames(image).into_iter().max_by_key(|frame| frame[2] - frame[0]).expect("a map");
            image.at((map[0] + map[2]) / 2, (map[1] + map[3]) / 2)
        })
        .collect();
    assert_eq!(colours, [DARK, ColourMap::Viridis.table()[128], BRIGHT]);
    // As GIF the same, but for the greys of letters.
    let file = plot(folder.path(), &Options { format: Format::Gif, ..options }).expect("a picture").bytes;
    let mut decoder = gif::DecodeOptions::new().read_info(&file[..]).expect("a GIF file");
    assert_eq!((decoder.width(), decoder.height(), decoder.repeat()), (300, 250, gif::Repeat::Infinite));
    let palette: Vec<Colour> = decoder.global_palette().expect("colours").as_chunks::<3>().0.to_vec();
    for image in &images {
        let frame = decoder.read_next_frame().expect("a frame").expect("as many frames");
        assert_eq!(frame.delay, 10);
        for (&number, exact) in frame.buffer.iter().zip(&image.pixels) {
            let distance = palette[usize::from(number)].iter().zip(exact).map(|(a, b)| a.abs_diff(*b)).max();
            assert!(distance <= Some(8), "{:?} for {exact:?}", palette[usize::from(number)]);
        }
    }
    assert!(decoder.read_next_frame().expect("the end").is_none());
}

/// In 2 by 2 by 2 cells with their numbers, z = 1.5 has 4 to 7 and y = 0.5 has 0, 1, 4, 5.
#[test]
fn slices_of_three_dimensions() {
    let folder = run([2, 2, 2], "u", &[(1, (0..8).map(f64::from).collect())]);
    let colours = |slice| {
        let image = picture(folder.path(), &Options { slice, ..Options::default() });
        let map = frames(&image).into_iter().max_by_key(|frame| frame[2] - frame[0]).expect("a map");
        let [left, top, right, bottom] = [map[0] + 3, map[1] + 3, map[2] - 3, map[3] - 3];
        [image.at(left, bottom), image.at(right, bottom), image.at(left, top), image.at(right, top)]
    };
    let table = ColourMap::Viridis.table();
    // The range is that of the field: n / 7 of 256 colours.
    let of = |n: usize| table[(n * 256 / 7).min(255)];
    assert_eq!(colours(Some(Slice { axis: 2, at: 1.5 })), [of(4), of(5), of(6), of(7)]);
    assert_eq!(colours(Some(Slice { axis: 1, at: 0.5 })), [of(0), of(1), of(4), of(5)]);
    assert_eq!(colours(None), colours(Some(Slice { axis: 2, at: 1.0 })));
    let error = plot(folder.path(), &Options { slice: Some(Slice { axis: 0, at: 9.0 }), ..Options::default() }).expect_err("outside");
    assert_eq!(error.hint.as_deref(), Some("the grid reaches from x=0 to x=2"));
}

/// Two triangles that make the unit square, lower right 1 and upper left 2.
#[test]
fn cells_of_meshes_are_polygons() {
    let folder = tempfile::tempdir().expect("a folder");
    let array = |name: &str, kind: &str, numbers: &str| {
        format!("<DataArray type=\"{kind}\" Name=\"{name}\" format=\"ascii\">{numbers}</DataArray>")
    };
    let mesh = |connectivity: &str| {
        format!(
            "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece NumberOfPoints=\"4\" NumberOfCells=\"2\"><CellData>{}</CellData>\
             <Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">0 0 0 1 0 0 1 1 0 0 1 0</DataArray></Points>\
             <Cells>{}{}{}</Cells></Piece></UnstructuredGrid></VTKFile>",
            array("u", "Float64", "1 2"),
            array("connectivity", "Int32", connectivity),
            array("offsets", "Int32", "3 6"),
            array("types", "UInt8", "5 5")
        )
    };
    let file = folder.path().join("t-00001.vtu");
    record(folder.path(), &["{\"name\":\"t-00001.vtu\",\"tag\":null,\"step\":1,\"time\":null}".to_owned()], "null");
    fs::write(&file, mesh("0 1 2 0 2 3")).expect("a file");
    let image = picture(folder.path(), &Options::default());
    let map = frames(&image).into_iter().max_by_key(|frame| frame[2] - frame[0]).expect("a map");
    assert_eq!([image.at(map[2] - 4, map[3] - 4), image.at(map[0] + 4, map[1] + 4)], [DARK, BRIGHT]);
    assert!(labels(folder.path(), &Options::default()).contains(&"u   step 1".to_owned()));
    fs::write(&file, mesh("0 1 2 0 2 9")).expect("a file");
    let error = plot(folder.path(), &Options::default()).expect_err("no such point");
    assert!(error.message.contains("t-00001.vtu: a cell has a point that does not exist"), "{}", error.message);
}

/// The record lists 100,000 steps, of which 12 are read.
#[test]
fn some_of_many_steps_are_chosen_and_a_note_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let last = 99_999;
    let entry = |step: usize| format!("{{\"name\":\"u-{step:05}.output\",\"tag\":\"u\",\"step\":{},\"time\":{step}}}", step + 1);
    let files: Vec<String> = (0..=last).map(entry).collect();
    record(folder.path(), &files, "{\"n\":[4],\"spacing\":[0.25]}");
    for index in (0..12).map(|index| index * last / 11) {
        fs::write(folder.path().join(format!("u-{index:05}.output")), "1\n2\n3\n4\n").expect("a file");
    }
    let all = Options { steps: Steps::All, ..Options::default() };
    let picture = plot(folder.path(), &all).expect("a picture");
    assert_eq!(picture.notes, ["`u`: 12 of 100000 steps are drawn, evenly chosen"]);
    let shown = labels(folder.path(), &all);
    assert!(shown.contains(&"time 0".to_owned()) && shown.contains(&"time 99999".to_owned()), "{shown:?}");
}

#[test]
fn single_numbers_are_drawn_over_time() {
    let folder = tempfile::tempdir().expect("a folder");
    record(folder.path(), &["{\"name\":\"t.csv\",\"tag\":null,\"step\":2,\"time\":1}".to_owned()], "null");
    let mut text = "step,time,mass\n".to_owned();
    for step in 0..10 {
        let _ = writeln!(text, "{step},{},{}", f64::from(step) / 10.0, 5 - step);
    }
    fs::write(folder.path().join("t.csv"), text).expect("a file");
    let shown = labels(folder.path(), &Options::default());
    assert!(shown.contains(&"mass".to_owned()) && shown.contains(&"time".to_owned()), "{shown:?}");
    let error = plot(folder.path(), &Options { tags: vec!["mas".to_owned()], ..Options::default() }).expect_err("no such tag");
    assert_eq!((error.message.as_str(), error.hint.as_deref()), ("the run has no output with the tag `mas`", Some("do you mean `mass`?")));
}

/// Errors in files name the files, and nothing panics.
#[test]
fn bad_folders_and_files() {
    let message = |folder: &Path| {
        let error = plot(folder, &Options::default()).expect_err("bad");
        (error.kind.exit_code(), error.message)
    };
    let folder = tempfile::tempdir().expect("a folder");
    assert!(message(folder.path()).1.contains("has no outputs"));
    assert_eq!(message(&folder.path().join("none")).0, 5);
    record(folder.path(), &[], "null");
    assert!(message(folder.path()).1.contains("no outputs that can be drawn"));
    fs::write(folder.path().join("u.run.json"), "{}").expect("a file");
    assert!(message(folder.path()).1.contains("several runs: t.run.json, u.run.json"));
    assert!(message(&folder.path().join("u.run.json")).1.contains("not the record of a run"));
    fs::write(folder.path().join("u.run.json"), "]").expect("a file");
    assert_eq!(message(&folder.path().join("u.run.json")).0, 4);
    fs::remove_file(folder.path().join("u.run.json")).expect("removed");
    let entry = |name: &str| vec![format!("{{\"name\":\"{name}\",\"tag\":\"u\",\"step\":1,\"time\":1}}")];
    record(folder.path(), &entry("u-00000.output"), "{\"n\":[2,2],\"spacing\":[1,1]}");
    assert_eq!(message(folder.path()).0, 5);
    for (text, what) in [("1 2 3 x", "line 1: `x` is not a number"), ("1\n2\n3\n", "3 values on a grid of 4 cells"), ("", "0 values")] {
        fs::write(folder.path().join("u-00000.output"), text).expect("a file");
        assert!(message(folder.path()).1.contains(what), "{}", message(folder.path()).1);
    }
    record(folder.path(), &entry("u-00000.output"), "{\"n\":[18446744073709551615,2],\"spacing\":[1,1]}");
    assert_eq!(message(folder.path()).0, 4);
    record(folder.path(), &entry("u.vti"), "null");
    for (extent, values) in [("0 0 0 0 0 2", "1 2"), ("0 -1 0 0 0 0", "1"), ("0 1 0", "1"), ("0 9223372036854775807 0 9 0 9", "1")] {
        let text = format!(
            "<VTKFile type=\"ImageData\"><ImageData><Piece Extent=\"{extent}\"><CellData>\
             <DataArray type=\"Float64\" Name=\"u\" format=\"ascii\">{values}</DataArray></CellData></Piece></ImageData></VTKFile>"
        );
        fs::write(folder.path().join("u.vti"), text).expect("a file");
        assert_eq!(message(folder.path()).0, 4, "{extent}");
    }
}

/// The same run gives the same bytes.
#[test]
fn pictures_are_byte_stable() {
    let folder = run([3, 2, 0], "u", &[(1, vec![0.0, 0.5, 0.25, 1.0, 2.0, 3.0])]);
    for format in [Format::Png, Format::Svg, Format::Gif] {
        let options = Options { format, isolines: 3, ..Options::default() };
        assert_eq!(plot(folder.path(), &options).expect("a").bytes, plot(folder.path(), &options).expect("b").bytes);
    }
}

/// A run with files of raw numbers: steps of waves on `n` by `n` cells.
fn waves(n: usize, steps: usize) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let extent = format!("0 {n} 0 {n} 0 0");
    let mut entries = Vec::new();
    for step in 1..=steps {
        let begin = format!(
            "<VTKFile type=\"ImageData\" byte_order=\"LittleEndian\" header_type=\"UInt64\"><ImageData WholeExtent=\"{extent}\"><Piece Extent=\"{extent}\"><CellData>\
             <DataArray type=\"Float64\" Name=\"u\" format=\"appended\" offset=\"0\"/></CellData></Piece></ImageData><AppendedData encoding=\"raw\">_"
        );
        let mut file = begin.into_bytes();
        file.extend((8 * n as u64 * n as u64).to_le_bytes());
        for cell in 0..n * n {
            let [x, y] = [cell % n, cell / n].map(|at| at as f64 / n as f64);
            let value: f64 = (10.0 * x - 0.1 * step as f64).sin() * (7.0 * y).cos();
            file.extend(value.to_le_bytes());
        }
        file.extend(b"</AppendedData></VTKFile>");
        let name = format!("t-{step:05}.vti");
        fs::write(folder.path().join(&name), file).expect("a file");
        entries.push(format!("{{\"name\":\"{name}\",\"tag\":null,\"step\":{step},\"time\":{step}}}"));
    }
    record(folder.path(), &entries, "null");
    folder
}

/// Seconds of some work, with what it made.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = std::time::Instant::now();
    let made = work();
    (start.elapsed().as_secs_f64(), made)
}

/// A map of a million cells as PNG: `cargo test --release -p equelle-plot -- --ignored --nocapture`
/// prints the time, which is to be below 1 s.
#[test]
#[ignore = "measures times of release builds; .ci/full runs it"]
fn a_million_cells() {
    let folder = waves(1000, 1);
    let (seconds, image) = timed(|| picture(folder.path(), &Options::default()));
    println!("10^6 cells as PNG, and read back: {seconds:.3} s");
    assert!(image.height == 600 && seconds < 1.0);
}

/// 100 steps of 256 by 256 cells as an animated PNG, to be made in 5 s.
#[test]
#[ignore = "measures times of release builds; .ci/full runs it"]
fn an_animation_of_100_steps() {
    let folder = waves(256, 100);
    let options = Options { is_animation: true, ..Options::default() };
    let (seconds, picture) = timed(|| plot(folder.path(), &options).expect("a picture"));
    println!("100 pictures of 256^2 cells: {seconds:.3} s, {} bytes", picture.bytes.len());
    let images = decode(&picture.bytes);
    assert!(images.len() == 100 && images[0] != images[99] && seconds < 5.0);
}

/// The page of the same run has all its steps in less than 5 MB.
#[test]
#[ignore = "measures times of release builds; .ci/full runs it"]
fn a_page_of_100_steps() {
    let folder = waves(256, 100);
    let (seconds, made) = timed(|| page(folder.path(), &Options::default()).expect("a page"));
    println!("a page of 100 steps of 256^2 cells: {seconds:.3} s, {} bytes", made.bytes.len());
    // No note says that steps were left out.
    assert!(made.notes.len() == 1 && made.notes[0].starts_with("without a log of events"), "{:?}", made.notes);
    assert!(made.bytes.len() < 5_000_000);
}
