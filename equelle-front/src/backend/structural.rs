//! The current axis, as a Cartesian form asks for it: the normal of a face is 1 along its axis and
//! 0 along the others.
//!
//! Passes build what depends on the axis once for each and choose by this test. A target that
//! unrolls the axes, or writes a function for each, decides it beforehand.

use crate::ir::{KExpr, Path};
use crate::ops::Comparison;

/// Condition that this is the axis of the current face.
pub fn axis_is(face: &Path, axis: u32) -> KExpr {
    let component = KExpr::Component(Box::new(KExpr::Normal(face.clone())), axis);
    KExpr::Compare(Comparison::Equal, Box::new(component), Box::new(KExpr::Real(1.0)))
}

/// The axis that an expression of a Cartesian form compares with the current one.
pub fn asked_axis(expr: &KExpr) -> Option<u32> {
    let KExpr::Compare(Comparison::Equal, component, one) = expr else { return None };
    let KExpr::Component(normal, axis) = &**component else { return None };
    let of_face = matches!(&**normal, KExpr::Normal(Path::SideFace(_) | Path::Here));
    (of_face && matches!(**one, KExpr::Real(x) if x == 1.0)).then_some(*axis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{LocalId, Side};

    #[test]
    fn a_question_for_an_axis_is_recognised() {
        assert_eq!(asked_axis(&axis_is(&Path::SideFace(Side::Low), 1)), Some(1));
        assert_eq!(asked_axis(&axis_is(&Path::Here, 2)), Some(2));
        // The normal of a face that a path has crossed has no known axis.
        assert_eq!(asked_axis(&axis_is(&Path::Local(LocalId(0)), 0)), None);
    }

    #[test]
    fn other_comparisons_of_normals_are_none() {
        let KExpr::Compare(_, component, one) = axis_is(&Path::Here, 0) else { panic!("a comparison") };
        assert_eq!(asked_axis(&KExpr::Compare(Comparison::Less, component.clone(), one.clone())), None);
        let half = Box::new(KExpr::Real(0.5));
        assert_eq!(asked_axis(&KExpr::Compare(Comparison::Equal, component, half)), None);
        assert_eq!(asked_axis(&one), None);
    }
}
