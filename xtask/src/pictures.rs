//! Pictures of the examples and of programs on pages, for READMEs and the book.

use std::io::Cursor;
use std::path::Path;

use crate::blocks::blocks;
use crate::tools::{self, Failure, root};

/// A picture: its file, the example, and how `equellec plot` draws it.
struct Picture {
    file: &'static str,
    example: &'static str,
    /// Parameters beside those of the case.
    parameters: &'static [&'static str],
    options: &'static [&'static str],
}

const fn from_example(file: &'static str, example: &'static str, options: &'static [&'static str]) -> Picture {
    Picture { file, example, parameters: &[], options }
}

/// All pictures; those of an example stand together.
const PICTURES: &[Picture] = &[
    from_example("examples/dam_break/picture.png", "dam_break", &["--tag", "h", "--size", "640x400"]),
    from_example("examples/fisher/picture.png", "fisher", &["--tag", "u", "--size", "640x400"]),
    from_example("examples/gas_1d/picture.png", "gas_1d", &["--tag", "pressure", "--step", "all"]),
    from_example("examples/heat_explicit_2d/picture.png", "heat_explicit_2d", &["--tag", "expU", "--isolines", "9"]),
    from_example("docs/book/src/images/heat.png", "heat_explicit_2d", &["--tag", "expU", "--step", "1,10,50,100"]),
    from_example("examples/heat_explicit_3d/picture.png", "heat_explicit_3d", &["--tag", "expU", "--slice", "y=12", "--isolines", "7"]),
    from_example("examples/heat_implicit_2d/picture.png", "heat_implicit_2d", &["--tag", "u", "--step", "all"]),
    from_example("examples/heat_implicit_3d/picture.png", "heat_implicit_3d", &["--tag", "u", "--slice", "y=12", "--isolines", "7"]),
    from_example("examples/heat_implicit_triangles/picture.png", "heat_implicit_triangles", &["--tag", "u"]),
    from_example("examples/heat_stencils_3d/picture.png", "heat_stencils_3d", &["--tag", "u7,u19", "--slice", "x=0"]),
    from_example("examples/mhd/picture.png", "mhd", &["--tag", "ax", "--slice", "x=3", "--isolines", "9"]),
    from_example("examples/shallow_water/picture.png", "shallow_water", &["--tag", "q1", "--step", "last"]),
    from_example("examples/sod/picture.png", "sod", &["--tag", "density,velocity,pressure", "--size", "1000x320"]),
    from_example("examples/tracer_whirl/picture.png", "tracer_whirl", &["--tag", "u"]),
    from_example("examples/two_phase/picture.png", "two_phase", &["--tag", "pressure,saturation"]),
    from_example("examples/two_phase_conservation/picture.png", "two_phase_conservation", &["--tag", "pressure,saturation"]),
    from_example("examples/two_phase_gravity/picture.png", "two_phase_gravity", &["--tag", "pressure,saturation"]),
    from_example("examples/two_phase_implicit/picture.png", "two_phase_implicit", &["--tag", "pressure,saturation"]),
    from_example("examples/two_phase_wells/picture.png", "two_phase_wells", &["--tag", "pressure,saturation", "--slice", "z=1026"]),
    from_example(
        "examples/two_phase_wells_implicit/picture.png",
        "two_phase_wells_implicit",
        &["--tag", "pressure,saturation", "--slice", "z=1026"],
    ),
    Picture {
        file: "docs/book/src/images/convergence.png",
        example: "two_phase_implicit",
        parameters: &["event_log=true"],
        options: &["--convergence", "--size", "640x400"],
    },
];

/// Pictures that the commands of a page draw: the file, the page, and how they call it.
const PAGE_PICTURES: [(&str, &str, &str); 2] = [
    ("docs/book/src/images/patterns.png", "README.md", "output/patterns.png"),
    ("docs/book/src/images/first-program.png", "docs/book/src/first-program.md", "polygons/heat.png"),
];

/// Draws all of them, or with `check` fails where pixels would change.
pub(crate) fn draw(check: bool) -> Result<(), Failure> {
    let mut stale = draw_examples(check)?;
    for (file, page, drawn) in PAGE_PICTURES {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        follow(page, folder.path())?;
        place(&folder.path().join(drawn), file, check, &mut stale)?;
    }
    if stale.is_empty() { Ok(()) } else { Err(format!("run `cargo xtask pictures` and look at them; out of date: {}", stale.join(", "))) }
}

/// Copies a picture to its place, or with `check` notes it where pixels differ.
fn place(drawn: &Path, file: &'static str, check: bool, stale: &mut Vec<&'static str>) -> Result<(), Failure> {
    let place = root().join(file);
    if !check {
        std::fs::create_dir_all(place.parent().unwrap_or(&place)).map_err(|error| error.to_string())?;
        std::fs::copy(drawn, &place).map_err(|error| format!("{file}: {error}"))?;
    } else if pixels(&place).ok() != Some(pixels(drawn)?) {
        stale.push(file);
    }
    Ok(())
}

/// Writes the files of a page and runs its commands that do not fail. `tests/driver/book.rs` checks
/// their output.
fn follow(page: &str, folder: &Path) -> Result<(), Failure> {
    for block in blocks(&tools::read(&root().join(page))?) {
        if let Some(file) = block.file() {
            tools::write(&folder.join(file), &block.text)?;
        }
        if block.word.as_deref() == Some("fails") {
            continue;
        }
        for (words, _) in block.commands() {
            let mut command = tools::equellec("dev")?;
            command.current_dir(folder).arg(&words[1]);
            if words[1] == "run" {
                command.arg("--interpret");
            }
            finish(command.args(&words[2..]))?;
        }
    }
    Ok(())
}

/// Draws those of examples; returns the files that are out of date.
fn draw_examples(check: bool) -> Result<Vec<&'static str>, Failure> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let examples = tools::examples()?;
    let (mut stale, mut done) = (Vec::new(), None);
    for picture in PICTURES {
        let example = examples.iter().find(|example| example.name == picture.example);
        let example = example.ok_or_else(|| format!("there is no example {}", picture.example))?;
        let results = folder.path().join(picture.example);
        if done != Some((picture.example, picture.parameters)) {
            let mut run = tools::equellec("dev")?;
            run.args(["run", "--interpret", "--quiet", &example.program(), &example.case(), "output_format=vtu,csv"]);
            run.arg(format!("output_dir={}", results.display())).args(picture.parameters);
            finish(&mut run)?;
            done = Some((picture.example, picture.parameters));
        }
        let drawn = folder.path().join("picture.png");
        finish(tools::equellec("dev")?.arg("plot").arg(&results).args(picture.options).arg("-o").arg(&drawn))?;
        place(&drawn, picture.file, check, &mut stale)?;
    }
    Ok(stale)
}

/// Runs a command, and shows what it printed if it fails.
fn finish(command: &mut std::process::Command) -> Result<(), Failure> {
    let output = command.output().map_err(|error| format!("equellec cannot be run: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}\n{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)))
}

/// Width, height and decoded pixels of a PNG file, which do not depend on its compression.
fn pixels(path: &Path) -> Result<(u32, u32, Vec<u8>), Failure> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let bad = |error: png::DecodingError| format!("{}: {error}", path.display());
    let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().map_err(bad)?;
    let mut pixels = vec![0; reader.output_buffer_size().unwrap_or(0)];
    let frame = reader.next_frame(&mut pixels).map_err(bad)?;
    Ok((frame.width, frame.height, pixels))
}

#[cfg(test)]
mod tests {
    use super::{PAGE_PICTURES, PICTURES};
    use crate::tools;

    /// Every example has a picture, which its README shows.
    #[test]
    fn every_example_shows_its_picture() {
        for example in tools::examples().expect("examples") {
            let file = format!("examples/{}/picture.png", example.name);
            assert!(PICTURES.iter().any(|picture| picture.file == file), "{file}");
            let page = tools::read(&tools::root().join(format!("examples/{}/README.md", example.name))).expect("a README");
            assert!(page.contains("](picture.png)"), "{} does not show its picture", example.name);
        }
    }

    /// Pictures are small, and those of the book are on a page.
    #[test]
    fn pictures_are_small_and_shown() {
        let mut sum = 0;
        for file in PICTURES.iter().map(|picture| picture.file).chain(PAGE_PICTURES.map(|(file, _, _)| file)) {
            sum += std::fs::metadata(tools::root().join(file)).expect(file).len();
            if let Some(name) = file.strip_prefix("docs/book/src/") {
                let pages = tools::tracked_files(&["md"]).expect("pages");
                let is_shown = pages
                    .iter()
                    .filter(|page| page.starts_with("docs/book/src/"))
                    .any(|page| tools::read(&tools::root().join(page)).expect("a page").contains(&format!("]({name})")));
                assert!(is_shown, "{name} is on no page of the book");
            }
        }
        assert!(sum < 1_000_000, "{sum} bytes");
    }
}
