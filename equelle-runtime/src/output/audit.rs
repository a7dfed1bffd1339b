//! Balances of conserved quantities: outputs that the compiler adds to a program (`--audit`).

use std::time::{Duration, Instant};

use super::counters::AuditTotals;
use super::record::{DeferredOutput, Record};
use crate::json;
use crate::report::Event;
use crate::report::event::Audit as Balance;

/// As in the compiler, which does not know this crate.
const TAG: &str = "audit\u{a0}of ";

/// Least time between two events of a quantity.
const BETWEEN_EVENTS: Duration = Duration::from_millis(100);

/// A part of a balance in one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Boundary,
    Sources,
    Change,
    /// The last of a round.
    Content,
}

/// The quantity and part that an output is.
pub(super) fn parse(tag: &str) -> Option<(&str, Part)> {
    let (quantity, part) = tag.strip_prefix(TAG)?.rsplit_once(": ")?;
    let part = match part {
        "boundary" => Part::Boundary,
        "sources" => Part::Sources,
        "change" => Part::Change,
        "content" => Part::Content,
        _ => return None,
    };
    Some((quantity, part))
}

/// The balances of a run.
#[derive(Default)]
pub(super) struct Audit {
    quantities: Vec<Quantity>,
}

struct Quantity {
    balance: Balance,
    /// Content before the first round.
    first: Option<f64>,
    /// True if there is something that no event has told.
    is_new: bool,
    told: Option<Instant>,
}

impl Audit {
    pub(super) fn put(&mut self, quantity: &str, part: Part, value: f64) {
        let index = self.quantities.iter().position(|known| known.balance.quantity == quantity).unwrap_or_else(|| {
            let balance =
                Balance { quantity: quantity.to_owned(), step: 0, time: f64::NAN, content: 0.0, change: 0.0, boundary: 0.0, sources: 0.0 };
            self.quantities.push(Quantity { balance, first: None, is_new: false, told: None });
            self.quantities.len() - 1
        });
        let Quantity { balance, first, is_new, .. } = &mut self.quantities[index];
        match part {
            Part::Boundary => balance.boundary += value,
            Part::Sources => balance.sources += value,
            Part::Change => balance.change += value,
            Part::Content => {
                balance.content = value;
                first.get_or_insert(value - balance.change);
                *is_new = true;
            }
        }
    }

    /// The balances so far.
    pub(super) fn totals(&self) -> Vec<AuditTotals> {
        let totals = |Quantity { balance, first, .. }: &Quantity| AuditTotals {
            quantity: balance.quantity.clone(),
            first: first.unwrap_or(f64::NAN),
            content: balance.content,
            change: balance.change,
            boundary: balance.boundary,
            sources: balance.sources,
        };
        self.quantities.iter().map(totals).collect()
    }

    /// Goes on with those of another run.
    pub(super) fn restore(&mut self, audits: Vec<AuditTotals>) {
        let quantity = |totals: AuditTotals| {
            let AuditTotals { quantity, first, content, change, boundary, sources } = totals;
            let balance = Balance { quantity, step: 0, time: f64::NAN, content, change, boundary, sources };
            Quantity { balance, first: Some(first).filter(|first| !first.is_nan()), is_new: false, told: None }
        };
        self.quantities = audits.into_iter().map(quantity).collect();
    }

    /// Balances that no event has told; unless `all`, those that were not told a moment ago.
    pub(super) fn events(&mut self, step: u64, time: f64, all: bool) -> Vec<Event> {
        let mut events = Vec::new();
        // Clocks are slow beside rounds on small grids.
        if self.quantities.is_empty() {
            return events;
        }
        let now = Instant::now();
        for quantity in &mut self.quantities {
            let is_due = all || quantity.told.is_none_or(|told| now.duration_since(told) >= BETWEEN_EVENTS);
            if std::mem::take(&mut quantity.is_new) && is_due {
                quantity.told = Some(now);
                events.push(Event::Audit(Balance { step, time, ..quantity.balance.clone() }));
            } else {
                quantity.is_new |= !is_due;
            }
        }
        events
    }

    /// A line for each quantity.
    pub(super) fn lines(&self) -> Option<Vec<String>> {
        let line = |Quantity { balance, first, .. }: &Quantity| {
            let before = first.unwrap_or_default();
            let rest = balance.rest();
            let share = rest.abs() / before.abs().max(balance.content.abs());
            let share = if share.is_finite() { format!(", {share:.1e} of the content") } else { String::new() };
            format!(
                "audit of `{}`: content {} to {}, change {}: boundary {}, sources {}, rest {rest:.1e}{share}",
                balance.quantity,
                json::number(before),
                json::number(balance.content),
                json::number(balance.change),
                json::number(balance.boundary),
                json::number(balance.sources)
            )
        };
        (!self.quantities.is_empty()).then(|| self.quantities.iter().map(line).collect())
    }
}

impl DeferredOutput {
    /// True if it is part of a balance, which all parts of a step have.
    pub(crate) fn is_audit(&self) -> bool {
        match self {
            DeferredOutput::Written { record: Record::Scalar { tag, .. }, .. } => parse(tag).is_some(),
            DeferredOutput::Written { .. } | DeferredOutput::File { .. } | DeferredOutput::Skipped { .. } => false,
        }
    }
}
