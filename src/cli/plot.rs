//! `equellec plot`, and `--plot`, `--html` and `--watch` of `run`.

use std::path::{Path, PathBuf};

use equelle_plot::{ColourMap, Format, Options, Picture, Run, Steps, sweep_table};
use equelle_runtime::Parameters;
use equelle_runtime::run::{FAILURE, read_plain_file};

use super::args::{Colours, PlotArgs, RunArgs};
use super::watch;
use crate::console::Console;
use equelle::failure::Failure;
use equelle::files;
use equelle::pipeline;

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
            return Err(Failure::usage("animations are .png or .gif files"));
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
    files::write(file, &picture.bytes).map_err(|error| Failure::io("write", file, &error))?;
    picture.notes.iter().for_each(|note| console.progress(&format!("note: {note}")));
    console.progress(&format!("wrote {}", file.display()));
    Ok(())
}

/// True if a run is drawn.
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

/// The records that a run may write: beside its outputs, or where a run has failed without any.
#[derive(Debug)]
pub(super) struct Records {
    folder: PathBuf,
    /// Each with its content before the run.
    before: [(PathBuf, Option<Vec<u8>>); 2],
}

impl Records {
    /// Those of a run that is about to begin, by its parameters.
    pub(super) fn before(args: &RunArgs, words: &[String]) -> Records {
        // The run tells what is wrong with parameters.
        let given = Parameters::from_words(words).and_then(|parameters| parameters.path("output_dir")).ok().flatten();
        let folder = given.unwrap_or_else(|| PathBuf::from("."));
        let name = format!("{}.run.json", pipeline::stem(&args.source.file));
        let before = [folder.join(&name), folder.join(FAILURE).join(&name)].map(|path| {
            let content = read_plain_file(&path).ok();
            (path, content)
        });
        Records { folder, before }
    }

    /// The one that the run has written.
    fn written(&self) -> Option<&Path> {
        let is_written =
            |(path, before): &&(PathBuf, Option<Vec<u8>>)| read_plain_file(path).is_ok_and(|now| Some(&now) != before.as_ref());
        self.before.iter().find(is_written).map(|(path, _)| path.as_path())
    }

    /// The record beside the outputs.
    pub(super) fn output_record(&self) -> &Path {
        &self.before[0].0
    }
}

/// Draws a run that has ended. A run that has failed has a page, too, if it has come to a record of
/// its own.
pub(super) fn after_run(args: &RunArgs, records: &Records, result: Result<(), Failure>, console: &Console) -> Result<(), Failure> {
    if let Some(file) = &args.html {
        match (&result, records.written()) {
            (Ok(()), written) => write_page(written.unwrap_or(&records.folder), file, &Options::default(), console)?,
            // The error of the run comes first.
            (Err(_), Some(written)) => {
                let _ = write_page(written, file, &Options::default(), console);
            }
            (Err(_), None) => {}
        }
    }
    result?;
    match &args.plot {
        Some(output) => draw(records.written().unwrap_or(&records.folder), output.clone(), Options::default(), console),
        None => Ok(()),
    }
}

/// Draws an output of a run while the run goes on.
pub(super) fn watched<T>(args: &RunArgs, records: &Records, run: impl FnOnce() -> T) -> T {
    match &args.watch {
        Some(tag) => watch::during(records.output_record(), tag, run),
        None => run(),
    }
}
