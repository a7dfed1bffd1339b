//! `equellec plot`, and `--plot`, `--html` and `--watch` of `run`.

use std::fs;
use std::path::{Path, PathBuf};

use equelle_plot::{ColourMap, Format, Options, Picture, Run, Steps, sweep_table};
use equelle_runtime::Parameters;

use super::args::{Colours, PlotArgs, RunArgs};
use super::watch;
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
        is_convergence: args.convergence,
        against: args.against.clone(),
        is_log: args.log,
        ..Options::default()
    };
    if let Some(file) = &args.html {
        return write_page(&args.folder, file, &options, console);
    }
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
    let file = match (output, sweep_table(folder)) {
        (Some(file), _) => file,
        (None, Some(table)) => table.with_extension("png"),
        (None, None) => {
            let run = Run::open(folder)?;
            run.dir().join(format!("{}.png", run.program))
        }
    };
    write(&file, &picture, console)
}

/// Writes the page of the run of a folder or a record.
fn write_page(folder: &Path, file: &Path, options: &Options, console: &Console) -> Result<(), Failure> {
    if !file.extension().is_some_and(|extension| extension == "html" || extension == "htm") {
        return Err(Failure::usage(format!("`{}`: pages are .html files", file.display())));
    }
    if sweep_table(folder).is_some() {
        return Err(Failure::usage("a sweep has no page: give the folder of one of its runs"));
    }
    write(file, &equelle_plot::page(folder, options)?, console)
}

fn write(file: &Path, picture: &Picture, console: &Console) -> Result<(), Failure> {
    fs::write(file, &picture.bytes).map_err(|error| Failure::io("write", file, &error))?;
    picture.notes.iter().for_each(|note| console.progress(&format!("note: {note}")));
    console.progress(&format!("wrote {}", file.display()));
    Ok(())
}

/// Whether a run is drawn.
pub(super) fn is_drawn(args: &RunArgs) -> bool {
    args.plot.is_some() || args.html.is_some() || args.watch.is_some()
}

/// Parameters of a run: those of the user, the checkpoint that it goes on from; where it is drawn
/// formats that can be drawn, if he names none, and for a page a log of events.
pub(super) fn parameters(args: &RunArgs) -> Vec<String> {
    let mut words = args.parameters.clone();
    words.extend(args.restart.as_ref().map(|file| format!("restart={file}")));
    if is_drawn(args) {
        let given = Parameters::from_words(&words).ok();
        let names = |key: &str| given.as_ref().is_some_and(|parameters| parameters.contains(key));
        let added = [(!names("output_format"), FORMATS), (args.html.is_some() && !names("event_log"), "event_log=true")];
        words.extend(added.into_iter().filter(|(is_missing, _)| *is_missing).map(|(_, word)| word.to_owned()));
    }
    words
}

/// The record of a run by its parameters, or the folder where that would be.
fn place(program: &Path, words: &[String]) -> Result<PathBuf, Failure> {
    let folder = Parameters::from_words(words)?.path("output_dir")?.unwrap_or_else(|| PathBuf::from("."));
    let record = folder.join(format!("{}.run.json", pipeline::stem(program)));
    Ok(if record.is_file() { record } else { folder })
}

/// Draws a run that has ended, from its parameters. A run that failed has a page, too.
pub(super) fn after_run(args: &RunArgs, words: &[String], result: Result<(), Failure>, console: &Console) -> Result<(), Failure> {
    if let Some(file) = &args.html {
        let written = place(&args.source.file, words).and_then(|place| write_page(&place, file, &Options::default(), console));
        // The error of the run comes first.
        if result.is_ok() {
            written?;
        }
    }
    result?;
    match &args.plot {
        Some(output) => draw(&place(&args.source.file, words)?, output.clone(), Options::default(), console),
        None => Ok(()),
    }
}

/// Draws an output of a run while the run goes on.
pub(super) fn watched<T>(args: &RunArgs, words: &[String], run: impl FnOnce() -> T) -> Result<T, Failure> {
    let Some(tag) = &args.watch else { return Ok(run()) };
    let folder = Parameters::from_words(words)?.path("output_dir")?.unwrap_or_else(|| PathBuf::from("."));
    let record = folder.join(format!("{}.run.json", pipeline::stem(&args.source.file)));
    Ok(watch::during(&record, tag, run))
}
