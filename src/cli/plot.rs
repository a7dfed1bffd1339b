//! `equellec plot`, and `--plot` of `run`.

use std::fs;
use std::path::{Path, PathBuf};

use equelle_plot::{ColourMap, Format, Options, Run, Steps};
use equelle_runtime::Parameters;

use super::args::{Colours, PlotArgs};
use crate::console::Console;
use crate::failure::Failure;
use crate::pipeline;

/// Formats of the files of a run that is drawn, if the user names none.
const FORMATS: &str = "output_format=vtu,csv";

/// Draws what a run wrote.
pub(super) fn plot(args: &PlotArgs, console: &Console) -> Result<(), Failure> {
    let colours = match args.colours {
        Colours::Viridis => ColourMap::Viridis,
        Colours::Diverging => ColourMap::Diverging,
    };
    let options = Options {
        tags: args.tags.clone(),
        steps: args.step.clone().unwrap_or(Steps::Usual),
        range: args.range,
        size: args.size,
        colours,
        slice: args.slice,
        isolines: usize::from(args.isolines),
        is_animation: args.animate,
        ..Options::default()
    };
    draw(&args.folder, args.output.clone(), options, console)
}

/// Draws the run of a folder or a record to a file, and says where it is.
fn draw(folder: &Path, output: Option<PathBuf>, mut options: Options, console: &Console) -> Result<(), Failure> {
    if let Some(file) = &output {
        options.format = Format::of(file)?;
        if options.is_animation && options.format == Format::Svg {
            return Err(Failure::usage("animations are .png files"));
        }
    }
    let picture = equelle_plot::plot(folder, &options)?;
    let file = match output {
        Some(file) => file,
        None => {
            let run = Run::open(folder)?;
            run.dir().join(format!("{}.png", run.program))
        }
    };
    fs::write(&file, &picture.bytes).map_err(|error| Failure::io("write", &file, &error))?;
    picture.notes.iter().for_each(|note| console.progress(&format!("note: {note}")));
    console.progress(&format!("wrote {}", file.display()));
    Ok(())
}

/// Parameters of a run that is drawn: those of the user, and formats that can be drawn where he
/// names none.
pub(super) fn parameters(words: &[String]) -> Vec<String> {
    let names_formats = Parameters::from_words(words).is_ok_and(|parameters| parameters.contains("output_format"));
    let formats = (!names_formats).then(|| FORMATS.to_owned());
    words.iter().cloned().chain(formats).collect()
}

/// Draws a run that has ended, from its parameters.
pub(super) fn after_run(program: &Path, words: &[String], output: Option<PathBuf>, console: &Console) -> Result<(), Failure> {
    let folder = Parameters::from_words(words)?.path("output_dir")?.unwrap_or_else(|| PathBuf::from("."));
    let record = folder.join(format!("{}.run.json", pipeline::stem(program)));
    let place = if record.is_file() { record } else { folder };
    draw(&place, output, Options::default(), console)
}
