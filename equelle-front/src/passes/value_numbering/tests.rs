//! From text to text.

use super::run;
use crate::ir::text::{parse, print};

/// The body of a kernel after the pass.
fn numbered(body: &str) -> String {
    let text = format!(
        "module m\n\nkernel k over AllCells() {{\n  param h: Scalar On AllCells()\n  param q: Scalar On AllCells()\n  \
         param dt: Scalar\n  result r: Scalar On AllCells()\n  body {{\n{body}  }}\n}}\n\nmain {{\n}}\n"
    );
    let mut module = parse(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    run(&mut module);
    let text = print(&module);
    let body = text.split("  body {\n").nth(1).and_then(|rest| rest.split("\n  }\n}\n").next());
    body.unwrap_or_else(|| panic!("{text}")).to_owned()
}

#[test]
fn locals_are_seen_through_and_operands_may_be_exchanged() {
    let body = "    a: Scalar = h[here]\n    b: Scalar = (a * q[here])\n    c: Scalar = sqrt((q[here] * h[here]))\n    yield (b + c)\n";
    assert_eq!(numbered(body), "    a: Scalar = h[here]\n    b: Scalar = (a * q[here])\n    c: Scalar = sqrt(b)\n    yield (b + c)");
}

/// `Min` of two zeros of different sign gives one of them; a swapped difference changes its sign.
#[test]
fn operands_stay_where_the_order_may_change_a_bit() {
    let body = "    a: Scalar = min(h[here], q[here])\n    b: Scalar = min(q[here], h[here])\n    c: Scalar = (h[here] - q[here])\n    \
                d: Scalar = (q[here] - h[here])\n    yield ((a + b) + (c + d))\n";
    assert_eq!(numbered(body), body.trim_end());
}

/// The quotient of one branch stays there, however often that asks for it.
#[test]
fn what_one_branch_asks_for_stays_in_it() {
    let body = "    yield ((h[here] > 0.05) ? ((q[here] / h[here]) * (q[here] / h[here])) : 3.0)\n";
    assert_eq!(numbered(body), body.trim_end());
}

#[test]
fn what_is_evaluated_in_any_case_is_evaluated_once() {
    let both = "    yield ((h[here] > 0.05) ? ((q[here] / h[here]) * 2.0) : (q[here] / h[here]))\n";
    let text = numbered(both);
    assert!(text.starts_with("    q_h: Scalar = (q[here] / h[here])\n") && text.matches('/').count() == 1, "{text}");
    let later = "    a: Scalar = ((h[here] > 0.05) ? sqrt((q[here] / h[here])) : 3.0)\n    yield (a + (q[here] / h[here]))\n";
    let text = numbered(later);
    assert!(text.starts_with("    q_h: Scalar = (q[here] / h[here])\n") && text.matches('/').count() == 1, "{text}");
}

/// `0.05 < h` is `h > 0.05`: one choice, though the second reads what the first gives.
#[test]
fn choices_by_the_same_condition_come_together() {
    let body = "    v: Scalar = if (h[here] > 0.05) {\n      yield (q[here] / h[here])\n    } else {\n      yield 0.0\n    }\n    \
                w: Scalar = if (0.05 < h[here]) {\n      yield (v * (q[here] / h[here]))\n    } else {\n      yield v\n    }\n    \
                yield (v + w)\n";
    let text = numbered(body);
    assert_eq!((text.matches("if ").count(), text.matches('/').count()), (1, 1), "{text}");
    assert!(text.contains("yield 0.0, 0.0"), "{text}");
}

/// Conditions inside paths decide loads: where they are known, the path is the branch taken.
#[test]
fn a_path_is_the_branch_that_is_known_to_be_taken() {
    let body = "    s: Scalar = sum faces f of here interior {\n      t: Scalar = if (dt > 0.0) {\n        \
                yield (h[((dt > 0.0) ? first(f) : second(f))] * q[((dt > 0.0) ? first(f) : second(f))])\n      } else {\n        \
                yield 1.0\n      }\n      yield t\n    }\n    yield s\n";
    let text = numbered(body);
    assert!(text.contains("yield (h[first(f)] * q[first(f)])") && !text.contains("second"), "{text}");
}

/// Values that do not change in a sum stay in it where the text has them there: a term of a face is
/// one of the face alone. A name from outside stays one.
#[test]
fn a_sum_takes_names_from_outside_and_nothing_else() {
    let body = "    a: Scalar = (dt * 0.5)\n    b: Scalar = (dt * 0.25)\n    s: Scalar = sum faces f of here interior {\n      \
                yield ((a * h[first(f)]) + ((dt * 0.25) * q[first(f)]))\n    }\n    yield ((s * a) + b)\n";
    let text = numbered(body);
    assert!(text.contains("(a * h[first(f)])") && text.contains("((dt * 0.25) * q[first(f)])"), "{text}");
}
