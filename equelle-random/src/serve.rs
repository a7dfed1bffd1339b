//! Runs of the programs of a binary, asked for and answered through pipes.

use std::io::{self, BufRead, Write};

use crate::outcome::{Ended, Outcome};
use crate::rank_cut::RankCut;

/// A run of a program in a binary.
pub struct Plan {
    /// The number of the program among the modules of the binary.
    pub module: usize,
    /// Ranks; none for one process.
    pub ranks: Option<RankCut>,
    /// As on the command line of a simulator.
    pub words: Vec<String>,
}

/// Stands for line ends in texts.
const LINE_END: &str = "\u{1f}";

/// The kind of the end of a run on ranks that there is not.
const NOT_RUN: &str = "not run";

/// Reads plans, a line each, from standard input, runs them, and writes outcomes to standard
/// output, numbers as bits. `run` gives none where a program or its grid has no such ranks.
///
/// # Errors
/// The pipes; a line that is no plan.
pub fn serve(run: impl Fn(usize, Option<RankCut>, &[String]) -> Option<Outcome>) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let line = line?;
        let mut words = line.split('\t').map(str::to_owned);
        let number = words.next().and_then(|word| word.parse().ok()).ok_or_else(|| io::Error::other("no number of a program"))?;
        let ranks = words.next().and_then(|word| RankCut::parse(&word));
        let Some(outcome) = run(number, ranks, &words.collect::<Vec<_>>()) else {
            writeln!(out, "={NOT_RUN}\t0\t")?;
            continue;
        };
        for (tag, values) in outcome.outputs {
            write!(out, ">{}", tag.replace('\n', LINE_END))?;
            for value in values {
                write!(out, "\t{:x}", value.to_bits())?;
            }
            writeln!(out)?;
        }
        match outcome.error {
            None => writeln!(out, "=")?,
            Some(Ended { kind, line, message }) => writeln!(out, "={kind}\t{line}\t{}", message.replace('\n', LINE_END))?,
        }
    }
    out.flush()
}

/// Plans as [`serve`] reads them.
#[cfg(feature = "compiler")]
pub(crate) fn written(plans: &[Plan]) -> String {
    let ranks = |plan: &Plan| plan.ranks.map_or_else(|| "-".to_owned(), RankCut::text);
    plans.iter().map(|plan| format!("{}\t{}\t{}\n", plan.module, ranks(plan), plan.words.join("\t"))).collect()
}

/// Reads the output of [`serve`]; none for runs that there are not.
#[cfg(feature = "compiler")]
pub(crate) fn outcomes(text: &str) -> Vec<Option<Outcome>> {
    let mut all = Vec::new();
    let mut outcome = Outcome::default();
    for line in text.lines() {
        if let Some(end) = line.strip_prefix('=') {
            let mut words = end.splitn(3, '\t').map(|word| word.replace(LINE_END, "\n"));
            let mut word = || words.next().unwrap_or_default();
            outcome.error = (!end.is_empty()).then(|| Ended { kind: word(), line: word().parse().expect("a line"), message: word() });
            let is_run = outcome.error.as_ref().is_none_or(|end| end.kind != NOT_RUN);
            all.push(Some(std::mem::take(&mut outcome)).filter(|_| is_run));
            continue;
        }
        let mut words = line.strip_prefix('>').expect("an output").split('\t');
        let tag = words.next().unwrap_or_default().replace(LINE_END, "\n");
        let values = words.map(|word| f64::from_bits(u64::from_str_radix(word, 16).expect("bits")));
        outcome.outputs.push((tag, values.collect()));
    }
    all
}
