//! State with which a continued run goes on with its outputs.

use std::collections::BTreeMap;

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
    /// Amount before the first round; NaN before it is known.
    pub first: f64,
    /// Amount now.
    pub content: f64,
    /// Change of the amount.
    pub change: f64,
    /// Inflow through the boundary.
    pub boundary: f64,
    /// Gain from sources.
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
