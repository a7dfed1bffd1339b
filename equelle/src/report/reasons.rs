//! The reasons of the passes in words, and their codes for programs.

use equelle_front::passes::{CallNotInlined, Need, Why};
use equelle_front::report::ResultItem;

/// A reason, without the stop at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// A sentence about the value, without its subject: `is an output`.
    OfValue(String),
    /// A sentence of its own.
    Whole(String),
}

impl Reason {
    /// A sentence about "it".
    pub(super) fn sentence(&self) -> String {
        self.without_stop() + "."
    }

    fn without_stop(&self) -> String {
        match self {
            Reason::OfValue(rest) => format!("It {rest}"),
            Reason::Whole(text) => text.clone(),
        }
    }

    fn followed_by(self, more: &str) -> Reason {
        match self {
            Reason::OfValue(rest) => Reason::OfValue(rest + more),
            Reason::Whole(text) => Reason::Whole(text + more),
        }
    }
}

/// Reason why a value is computed on its own.
pub(super) fn reason(why: &Why) -> Reason {
    let whole = |text: &str| Reason::Whole(text.to_owned());
    match why {
        Why::Needed(needs) => Reason::OfValue(format!("is {}", listed(&needs.iter().map(|need| need_text(*need)).collect::<Vec<_>>()))),
        Why::Reduction => whole("A reduction ends its kernel: its value is known when all elements are"),
        Why::SumElsewhere => whole("Other cells evaluate this sum over faces: each would sum over the faces of its neighbours"),
        Why::SharedSum { places } => Reason::OfValue(format!("contains a sum over faces and is used at {places} places")),
        Why::Invariant { cost, load } => {
            Reason::OfValue(format!("does not change in the loop: computing it in each round costs {}, loading it {load}", number(*cost)))
        }
        Why::Shared { places, cost, limit } => {
            Reason::OfValue(format!("is used at {places} places and costs {cost} additions, more than the limit of {limit}"))
        }
        Why::ReadAtOffsets { places, cost, limit } => Reason::OfValue(format!(
            "is read at {places} places around a cell and costs {cost} additions: evaluating it at each instead of once \
             would exceed the limit of {limit}"
        )),
        Why::ReadByFaces { evaluations, cost, limit } => Reason::Whole(format!(
            "Faces read it: it would be evaluated {evaluations} times a cell instead of once. It costs {cost} additions, \
             and the repetitions would exceed the limit of {limit}"
        )),
        Why::MixedForms => whole(
            "The kernel that reads it would mix kinds of sums over faces, reads by index or centroids, which have no fast form in common",
        ),
        Why::ChosenByUser => whole("`--store` asks for it"),
        Why::Tall { limit } => Reason::Whole(format!("Its formula would be nested more than {limit} operations deep")),
        Why::Repeated { evaluations, limit } => Reason::Whole(format!(
            "Choices inside others read it: kernels would evaluate it {evaluations} times, more than {limit} times for each use"
        )),
        Why::NoKernel => whole("Kernels cannot compute this operation"),
        Why::NotBuilt => whole("No kernel can be built for it from what it reads"),
        Why::NotStorable => whole("Kernels do not keep values of its type"),
    }
}

/// Reason why a result is stored; for values that a solve needs, also why its equations do not
/// evaluate them.
pub(super) fn result_reason(result: &ResultItem) -> Option<Reason> {
    let why = result.why.as_ref().map(reason)?;
    Some(match &result.before_solve {
        // In a solve, evaluations are the rounds of a loop.
        Some(Why::Needed(needs)) if needs.iter().all(|need| *need == Need::Solve) => why,
        Some(Why::Invariant { cost, load }) => why.followed_by(&format!(
            ", whose unknowns it does not depend on: computing it in each evaluation costs {}, loading it {load}",
            number(*cost)
        )),
        Some(other) => why.followed_by(&format!(". {}", reason(other).without_stop())),
        None => why,
    })
}

/// Costs without bound are those of a sum over faces.
fn number(cost: u32) -> String {
    if cost == u32::MAX { "a sum over faces".to_owned() } else { format!("{cost} additions") }
}

/// `a, b and c`
pub(super) fn listed(words: &[impl AsRef<str>]) -> String {
    match words {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}

fn need_text(need: Need) -> &'static str {
    match need {
        Need::Output => "an output",
        Need::Variable => "the value of a mutable variable",
        Need::Result => "a result of the function",
        Need::Call => "an argument of a function that is not inlined",
        Need::Solve => "read by a solve",
        Need::Operation => "read by an operation outside kernels",
        Need::ReducedSum => "reduced (reductions do not evaluate sums over faces themselves)",
        Need::Membership => "a set in which kernels look up members",
    }
}

/// Reason why a call stays.
pub(super) fn call_sentence(why: CallNotInlined) -> String {
    match why {
        CallNotInlined::Budget { budget } => format!("not inlined: the caller has reached {budget} statements"),
        CallNotInlined::Large { statements, limit } => {
            format!("not inlined: it has {statements} statements, more than {limit}, and is called more than once")
        }
    }
}

/// Codes of a reason, for programs.
pub(super) fn codes(why: &Why) -> Vec<&'static str> {
    match why {
        Why::Needed(needs) => needs.iter().map(|need| need_code(*need)).collect(),
        Why::Reduction => vec!["reduction"],
        Why::SumElsewhere => vec!["sum_at_other_cells"],
        Why::SharedSum { .. } => vec!["shared_sum"],
        Why::Invariant { .. } => vec!["invariant"],
        Why::Shared { .. } => vec!["shared"],
        Why::ReadAtOffsets { .. } => vec!["read_at_offsets"],
        Why::ReadByFaces { .. } => vec!["read_by_faces"],
        Why::MixedForms => vec!["mixed_forms"],
        Why::ChosenByUser => vec!["chosen_by_user"],
        Why::Tall { .. } => vec!["tall"],
        Why::Repeated { .. } => vec!["repeated"],
        Why::NoKernel => vec!["no_kernel"],
        Why::NotBuilt => vec!["not_built"],
        Why::NotStorable => vec!["not_storable"],
    }
}

fn need_code(need: Need) -> &'static str {
    match need {
        Need::Output => "output",
        Need::Variable => "variable",
        Need::Result => "result",
        Need::Call => "call",
        Need::Solve => "solve",
        Need::Operation => "operation",
        Need::ReducedSum => "reduced_sum",
        Need::Membership => "membership",
    }
}

/// Code of a call that stays.
pub(super) fn call_code(why: CallNotInlined) -> &'static str {
    match why {
        CallNotInlined::Budget { .. } => "inline_budget",
        CallNotInlined::Large { .. } => "large_function",
    }
}
