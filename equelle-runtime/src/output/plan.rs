//! Output settings of a run, read once from its parameters: formats, steps, times and probes.

use super::schedule::Schedule;
use crate::error::{Error, ErrorKind};
use crate::params::{Parameters, near_match};
use crate::vtk::writer::Compression;

/// Words of `output_format`.
pub const FORMATS: [&str; 4] = ["vtu", "npy", "csv", "text"];

/// Formats of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Formats {
    /// The collections of a step in files of VTK, with a list of them.
    pub vtu: bool,
    /// A file of NumPy for each collection.
    pub npy: bool,
    /// A row of a table for each step, with single numbers and probes.
    pub csv: bool,
    /// A text for each collection.
    pub text: bool,
}

impl Formats {
    /// True if collections have files of their own.
    pub fn has_collection_files(self) -> bool {
        self.npy || self.text
    }

    /// True if the outputs of a step are written together, in one file or one row.
    pub fn has_step_files(self) -> bool {
        self.vtu || self.csv
    }
}

/// Output settings of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct OutputPlan {
    /// As given, or text.
    pub formats: Formats,
    /// True if `output_format` was given: all collections go to files.
    pub is_given: bool,
    /// Compression of VTK files.
    pub compression: Compression,
    /// The steps that are written.
    pub schedule: Schedule,
    /// Tag of the Scalar that is the time.
    pub time_from: Option<String>,
    /// Points of probes, as many coordinates as the grid has dimensions.
    pub probes: Vec<Vec<f64>>,
    /// Given keys without effect, with the reason.
    pub warnings: Vec<String>,
}

impl OutputPlan {
    /// Reads `output_format`, `output_compression`, `output_every`, `output_times`, `time_from` and
    /// `probe`.
    ///
    /// # Errors
    /// `Data` for an illegal or contradicting parameter.
    pub(super) fn from_parameters(parameters: &Parameters) -> Result<OutputPlan, Error> {
        let given = formats(parameters)?;
        let compression = compression(parameters)?;
        let probes = probes(parameters)?;
        let formats = given.unwrap_or(Formats { text: true, ..Formats::default() });
        if !probes.is_empty() && !formats.csv {
            let message = format!("parameter {} needs a table for its rows", parameters.shown("probe"));
            return Err(Error::new(ErrorKind::Data, message).hint("give output_format=csv, or csv beside other formats: vtu,csv"));
        }
        let mut warnings = Vec::new();
        if parameters.contains("output_compression") && !formats.vtu {
            warnings.push(format!("parameter {} has no effect: output_format is not vtu", parameters.shown("output_compression")));
        }
        Ok(OutputPlan {
            formats,
            is_given: given.is_some(),
            compression,
            schedule: Schedule::from_parameters(parameters)?,
            time_from: parameters.text("time_from").map(str::to_owned),
            probes,
            warnings,
        })
    }

    /// True if numbers of collections are needed at all.
    pub(super) fn takes_collections(&self) -> bool {
        self.formats.has_collection_files() || self.formats.vtu || !self.probes.is_empty()
    }

    /// True if collections of a step are kept until it is complete.
    pub(super) fn keeps_collections(&self) -> bool {
        self.formats.vtu || !self.probes.is_empty()
    }
}

fn formats(parameters: &Parameters) -> Result<Option<Formats>, Error> {
    const KEY: &str = "output_format";
    let Some(text) = parameters.text(KEY) else { return Ok(None) };
    let mut formats = Formats::default();
    for word in text.split(',').map(str::trim) {
        match word {
            "vtu" => formats.vtu = true,
            "npy" => formats.npy = true,
            "csv" => formats.csv = true,
            "text" => formats.text = true,
            other => {
                let place = parameters.place(KEY);
                let message = format!("parameter `{KEY}`{place} must be vtu, npy, csv, text or several of them with commas, not `{other}`");
                let error = Error::new(ErrorKind::Data, message);
                return Err(match near_match(other, FORMATS.into_iter()) {
                    Some(near) => error.hint(format!("did you mean `{near}`?")),
                    None => error.hint("ParaView reads vtu, NumPy npy; csv has a row a step for numbers and probes"),
                });
            }
        }
    }
    if parameters.flag("output_to_file")? == Some(false) {
        let message = format!("parameter {} contradicts {}", parameters.shown("output_to_file"), parameters.shown(KEY));
        return Err(Error::new(ErrorKind::Data, message).hint("a format is one of files: leave one of the two out"));
    }
    Ok(Some(formats))
}

fn compression(parameters: &Parameters) -> Result<Compression, Error> {
    match parameters.text("output_compression") {
        None | Some("none") => Ok(Compression::None),
        Some("zlib") => Ok(Compression::Zlib),
        Some(other) => {
            let place = parameters.place("output_compression");
            Err(Error::new(ErrorKind::Data, format!("parameter `output_compression`{place} must be `none` or `zlib`, not `{other}`")))
        }
    }
}

/// Points: coordinates separated by commas, points by semicolons.
fn probes(parameters: &Parameters) -> Result<Vec<Vec<f64>>, Error> {
    let Some(text) = parameters.text("probe") else { return Ok(Vec::new()) };
    let wrong = |point: &str| {
        let place = parameters.place("probe");
        let message = format!("parameter `probe`{place} must be coordinates with commas, points with semicolons, not `{}`", point.trim());
        Error::new(ErrorKind::Data, message).hint("such as probe=0.1,0.1; 0.9,0.9")
    };
    let number = |word: &str| crate::number::parse_number(word.trim().as_bytes()).ok();
    let point = |text: &str| text.split(',').map(number).collect::<Option<Vec<f64>>>().ok_or_else(|| wrong(text));
    text.split(';').map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(text: &str) -> Result<OutputPlan, String> {
        let mut parameters = Parameters::default();
        parameters.read_text("a.param".as_ref(), text.as_bytes()).expect("good lines");
        OutputPlan::from_parameters(&parameters).map_err(|error| {
            assert_eq!(error.kind, ErrorKind::Data);
            error.message
        })
    }

    #[test]
    fn without_parameters_large_collections_go_to_texts() {
        let plan = plan("").unwrap();
        assert_eq!(plan.formats, Formats { text: true, ..Formats::default() });
        assert!(!plan.is_given && plan.takes_collections() && !plan.keeps_collections());
    }

    #[test]
    fn formats_in_any_order() {
        let found = plan("output_format = csv, vtu\nprobe=0.1,0.25; 1,2\noutput_compression=zlib\ntime_from=t").unwrap();
        assert_eq!(found.formats, Formats { vtu: true, csv: true, ..Formats::default() });
        assert_eq!((found.compression, found.time_from.as_deref()), (Compression::Zlib, Some("t")));
        assert_eq!(found.probes, [[0.1, 0.25], [1.0, 2.0]]);
        assert!(found.is_given && found.takes_collections() && !found.formats.has_collection_files());
        assert!(!plan("output_format=csv").unwrap().takes_collections(), "a table of single numbers");
        assert_eq!(plan("output_compression=zlib").unwrap().warnings.len(), 1);
    }

    #[test]
    fn illegal_parameters() {
        for (text, message) in [
            (
                "output_format=vtk",
                "parameter `output_format` (a.param:1) must be vtu, npy, csv, text or several of them with commas, not `vtk`",
            ),
            ("output_format=", "parameter `output_format` (a.param:1) must be vtu, npy, csv, text or several of them with commas, not ``"),
            (
                "output_format=npy\noutput_to_file=false",
                "parameter `output_to_file=false` (a.param:2) contradicts `output_format=npy` (a.param:1)",
            ),
            ("output_compression=lz4", "parameter `output_compression` (a.param:1) must be `none` or `zlib`, not `lz4`"),
            ("probe=0.5,0.5", "parameter `probe=0.5,0.5` (a.param:1) needs a table for its rows"),
            ("probe=0.5,;", "parameter `probe` (a.param:1) must be coordinates with commas, points with semicolons, not `0.5,`"),
        ] {
            assert_eq!(plan(text).unwrap_err(), message);
        }
    }
}
