//! What a run that is continued needs to go on with its outputs.

use std::collections::BTreeMap;

use super::Outputs;

/// The state of the outputs of a run after a round.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputCounters {
    /// Rounds of outermost loops so far.
    pub step: u64,
    /// Sum of the elements of their sequences.
    pub time: f64,
    /// The Scalar of `time_from` in the last round.
    pub put_out_time: Option<f64>,
    /// The last one before that.
    pub earlier_time: Option<f64>,
    /// Times of `output_times` up to this one have been reached.
    pub reached: f64,
    /// Number of steps whose outputs went to files of steps, which is that of the table's rows.
    pub written_steps: u64,
    /// Number of outputs of collections by tag, written or not.
    pub counts: BTreeMap<String, u32>,
    /// Balances of conserved quantities.
    pub audits: Vec<AuditTotals>,
}

/// The balance of a conserved quantity since the run began.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditTotals {
    /// Its name.
    pub quantity: String,
    /// What there was before the first round; NaN before it is known.
    pub first: f64,
    /// What there is.
    pub content: f64,
    /// By how much that has changed.
    pub change: f64,
    /// What came in through the boundary.
    pub boundary: f64,
    /// What came from sources.
    pub sources: f64,
}

impl Default for OutputCounters {
    /// Before the first round.
    fn default() -> OutputCounters {
        OutputCounters {
            step: 0,
            time: 0.0,
            put_out_time: None,
            earlier_time: None,
            reached: f64::NEG_INFINITY,
            written_steps: 0,
            counts: BTreeMap::new(),
            audits: Vec::new(),
        }
    }
}

impl Outputs {
    /// What a run that is continued after this round needs.
    pub fn counters(&self) -> OutputCounters {
        let position = &self.position;
        let has_open = self.step.as_ref().is_some_and(|step| self.is_written(step));
        OutputCounters {
            step: position.step,
            time: position.sum,
            put_out_time: position.put_out,
            earlier_time: position.earlier,
            reached: self.plan.schedule.reached_after(position.scheduled().as_ref()),
            written_steps: self.written_steps + u64::from(has_open),
            counts: self.counts.clone(),
            audits: self.audit.totals(),
        }
    }

    /// Goes on where another run was, between two rounds.
    pub fn restore_counters(&mut self, counters: OutputCounters) {
        let OutputCounters { step, time, put_out_time, earlier_time, reached, written_steps, counts, audits } = counters;
        (self.position.step, self.position.sum) = (step, time);
        (self.position.put_out, self.position.earlier) = (put_out_time, earlier_time);
        self.plan.schedule.restore(reached);
        self.written_steps = written_steps;
        self.counts = counts;
        self.audit.restore(audits);
    }

    /// The outputs up to [`Outputs::resume`] exist, and are not written again.
    pub fn begin_replay(&mut self) {
        self.is_replay = true;
    }

    /// From here on outputs are written, after those of the checkpoint. `step_files`: how often
    /// files of VTK were written in its round.
    pub fn resume(&mut self, counters: OutputCounters, step_files: u32) {
        self.is_replay = false;
        self.continues_after = Some((counters.step, counters.written_steps));
        if let Some(record) = self.record() {
            record.keep(&counters, step_files);
        }
        self.restore_counters(counters);
    }
}
