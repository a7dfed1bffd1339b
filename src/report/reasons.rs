//! The reasons of the passes in words, and their codes for programs.

use equelle_front::passes::{CallNotInlined, Need, Why};
use equelle_front::report::ResultItem;

/// Why a value is computed on its own, as the end of a sentence that begins with its name.
pub(super) fn sentence(why: &Why) -> String {
    match why {
        Why::Needed(needs) => needs.iter().map(|need| need_text(*need)).collect::<Vec<_>>().join("; "),
        Why::Reduction => "a reduction ends its kernel: its value is known when all elements are".to_owned(),
        Why::SumElsewhere => {
            "a sum over faces that is evaluated at other cells: each cell would sum over the faces of its neighbours".to_owned()
        }
        Why::SharedSum { places } => format!("contains a sum over faces and is used at {places} places"),
        Why::Invariant { cost, load } => format!("does not change in the loop and costs {cost}, more than {load} for a load"),
        Why::Shared { places, cost, limit } => format!("used at {places} places and costs {cost}, more than {limit}"),
        Why::ReadAtOffsets { places, cost, limit } => {
            format!("read at {places} places around a cell and costs {cost}: all but one of them again would cost more than {limit}")
        }
        Why::ChosenByUser => "--store asks for it".to_owned(),
        Why::Tall { limit } => format!("more than {limit} operations would stand above one another"),
        Why::NoKernel => "an operation that kernels cannot compute".to_owned(),
        Why::NotBuilt => "no kernel can be built for it from what it reads".to_owned(),
        Why::NotStorable => "values of its type are not kept by kernels".to_owned(),
    }
}

/// Why a result is stored: for what a solve needs, also why its equations do not evaluate it.
pub(super) fn of_result(result: &ResultItem) -> Option<String> {
    let why = result.why.as_ref().map(sentence)?;
    Some(match &result.before_solve {
        // In a solve, evaluations are the rounds of a loop.
        Some(Why::Needed(needs)) if needs.iter().all(|need| *need == Need::Solve) => why,
        Some(Why::Invariant { cost, load }) => {
            format!("{why}, does not depend on its unknowns and costs {cost}, more than {load} for a load")
        }
        Some(other) => format!("{why}: {}", sentence(other)),
        None => why,
    })
}

fn need_text(need: Need) -> &'static str {
    match need {
        Need::Output => "put out",
        Need::Variable => "kept in a variable",
        Need::Result => "returned by the function",
        Need::Call => "taken by a function that is not inlined",
        Need::Solve => "read by a solve",
        Need::Operation => "read by an operation outside kernels",
        Need::ReducedSum => "reduced, and contains a sum over faces",
    }
}

/// Why a call stays.
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
        Why::ChosenByUser => vec!["chosen_by_user"],
        Why::Tall { .. } => vec!["tall"],
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
    }
}

/// Code of a call that stays.
pub(super) fn call_code(why: CallNotInlined) -> &'static str {
    match why {
        CallNotInlined::Budget { .. } => "inline_budget",
        CallNotInlined::Large { .. } => "large_function",
    }
}
