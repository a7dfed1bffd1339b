//! Outputs of a run that goes on from a checkpoint.

use super::Outputs;
use super::counters::OutputCounters;

impl Outputs {
    /// State for a run that is continued after this round.
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
        self.files.continues_after = Some((counters.step, counters.written_steps));
        if let Some(record) = self.record() {
            record.keep(&counters, step_files);
        }
        self.restore_counters(counters);
    }
}
