//! The types of numbers in the text of a kernel.
//!
//! A kernel of a program of single precision computes as [`Kernel::computes_in`] says. In single
//! precision Scalars, literals and geometry are rounded where they enter; in double precision
//! results are rounded where they are stored.

use equelle_front::ir::{Kernel, Numbers, Precision};
use equelle_front::types::{Basic, Shape, Type};

use super::text::Text;

/// Precisions of a kernel: of its arithmetic, and of the elements of collections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen) struct Reals {
    computed: Precision,
    kept: Precision,
}

impl Reals {
    /// Everything in double precision.
    pub(in crate::codegen) const DOUBLE: Reals = Reals { computed: Precision::Double, kept: Precision::Double };

    /// Returns the precisions of a kernel.
    pub(in crate::codegen) fn of(kernel: &Kernel, numbers: Numbers) -> Self {
        Reals { computed: kernel.computes_in(numbers), kept: numbers.precision }
    }

    /// Precision of the elements of collections.
    pub(in crate::codegen) fn stored_precision(self) -> Precision {
        self.kept
    }

    /// C++ type of a number.
    pub(in crate::codegen) fn number(self) -> &'static str {
        name(self.computed)
    }

    /// C++ type of one value.
    pub(in crate::codegen) fn value(self, basic: Basic) -> &'static str {
        match (basic, self.computed) {
            (Basic::Scalar | Basic::Text | Basic::Table | Basic::Axis(_), _) => self.number(),
            (Basic::Vector, Precision::Double) => "EqVector",
            (Basic::Vector, Precision::Single) => "EqVectorOf<float>",
            (Basic::Bool, _) => "bool",
            (Basic::Entity(_), _) => "EqEntity",
        }
    }

    /// C++ type of a stored element. Single values, sequences and partial results of reductions
    /// (`reduced`) are doubles.
    pub(in crate::codegen) fn stored(self, ty: &Type, reduced: bool) -> &'static str {
        let of_collection = matches!(ty.shape, Shape::Collection(_)) && !reduced;
        match ty.basic {
            Basic::Scalar | Basic::Vector | Basic::Text | Basic::Table | Basic::Axis(_) => {
                name(if of_collection { self.kept } else { Precision::Double })
            }
            Basic::Bool => "unsigned char",
            Basic::Entity(_) => "EqEntity",
        }
    }

    /// Converts a number that is a double in the text to the precision of expressions.
    pub(in crate::codegen) fn entering(self, number: &str) -> String {
        match self.computed {
            Precision::Double => number.to_owned(),
            Precision::Single => format!("float({number})"),
        }
    }

    /// [`Reals::entering`] for a Vector.
    pub(in crate::codegen) fn entering_vector(self, vector: &str) -> String {
        match self.computed {
            Precision::Double => vector.to_owned(),
            Precision::Single => format!("eq_converted<float>({vector})"),
        }
    }

    /// Converts a value to the double precision of reductions.
    pub(in crate::codegen) fn reduced(self, value: Text, basic: Basic) -> Text {
        match (self.computed, basic) {
            (Precision::Single, Basic::Scalar) => Text::atom(format!("double({})", value.bare())),
            (Precision::Single, Basic::Vector) => Text::atom(format!("eq_converted<double>({value})")),
            (Precision::Double, _) | (Precision::Single, Basic::Bool | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_)) => {
                value
            }
        }
    }

    /// A number, rounded if need be, as a literal that reads back to the same bits.
    pub(in crate::codegen) fn literal(self, x: f64) -> Text {
        let (x, text, suffix) = match self.computed {
            Precision::Double => (x, format!("{x:?}"), ""),
            Precision::Single => (f64::from(x as f32), format!("{:?}", x as f32), "f"),
        };
        if x.is_nan() {
            return Text::compound(format!("0.0{suffix} / 0.0{suffix}"));
        }
        if x.is_infinite() {
            let sign = if x > 0.0 { "" } else { "-" };
            return Text::compound(format!("{sign}1.0{suffix} / 0.0{suffix}"));
        }
        let text = format!("{text}{suffix}");
        if x.is_sign_negative() { Text::compound(text) } else { Text::atom(text) }
    }

    /// The Vector of zeros.
    pub(in crate::codegen) fn zero_vector(self) -> Text {
        Text::atom(match self.computed {
            Precision::Double => "eq_zero_vector()",
            Precision::Single => "eq_zero_vector<float>()",
        })
    }
}

fn name(precision: Precision) -> &'static str {
    match precision {
        Precision::Double => "double",
        Precision::Single => "float",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals() {
        let of = |computed| Reals { computed, kept: Precision::Single };
        let texts = |reals: Reals| [0.1, -2.0, 1e39, f64::NAN, -1e-60].map(|x| reals.literal(x).to_string());
        assert_eq!(texts(of(Precision::Double)), ["0.1", "(-2.0)", "1e39", "(0.0 / 0.0)", "(-1e-60)"]);
        assert_eq!(texts(of(Precision::Single)), ["0.1f", "(-2.0f)", "(1.0f / 0.0f)", "(0.0f / 0.0f)", "(-0.0f)"]);
    }
}
