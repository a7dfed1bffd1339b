//! The table of the elementary functions.

/// Calls a macro with the rows of the table, one for each function of one number. The order is that
/// of the numbers that kernels of back-ends give them, from 0.
///
/// A row begins with the variant, which is the name in the language, and the word for it in the
/// text of the IR, in Rust and, after `eq_`, in CUDA C++. Its facts follow; their types say what
/// they mean. `derivative` is made of the argument `x` and the value `y`.
#[macro_export]
macro_rules! elementary_table {
    ($callback:ident) => {
        $callback! {
            Exp exp Function {
                doc: "The exponential function.",
                derivative: |_x, y| Derivative::Is(y),
                unit: Pure,
                argument: Any(-3.0, 3.0),
                monotonicity: Increasing,
                values: (0.0, f64::INFINITY),
            }
            Expm1 expm1 Function {
                doc: "The exponential function less 1, exact to the last digits near 0 too.",
                derivative: |x, _y| Derivative::Is(x.function(Elementary::Exp)),
                unit: Pure,
                argument: Any(-3.0, 3.0),
                monotonicity: Increasing,
                values: (-1.0, f64::INFINITY),
            }
            Log log Function {
                doc: "The natural logarithm.",
                derivative: |x, _y| Derivative::Ratio(A::number(1.0), x),
                unit: Pure,
                argument: Positive,
                monotonicity: Increasing,
                values: ALL_NUMBERS,
            }
            Sin sin Long {
                doc: "The sine of an angle in radians.",
                derivative: |x, _y| Derivative::Is(x.function(Elementary::Cos)),
                unit: Pure,
                argument: Any(f64::NEG_INFINITY, f64::INFINITY),
                monotonicity: Neither,
                values: (-1.0, 1.0),
            }
            Cos cos Long {
                doc: "The cosine of an angle in radians.",
                derivative: |x, _y| Derivative::Is(-x.function(Elementary::Sin)),
                unit: Pure,
                argument: Any(f64::NEG_INFINITY, f64::INFINITY),
                monotonicity: Neither,
                values: (-1.0, 1.0),
            }
            Tan tan Long {
                doc: "The tangent of an angle in radians.",
                derivative: |_x, y| Derivative::Is(A::number(1.0) + y.square()),
                unit: Pure,
                argument: Any(-1.0, 1.0),
                monotonicity: Increasing,
                values: ALL_NUMBERS,
            }
            Tanh tanh Function {
                doc: "The hyperbolic tangent.",
                derivative: |_x, y| Derivative::Is(A::number(1.0) - y.square()),
                unit: Pure,
                argument: Any(f64::NEG_INFINITY, f64::INFINITY),
                monotonicity: Increasing,
                values: (-1.0, 1.0),
            }
            Sinh sinh Function {
                doc: "The hyperbolic sine.",
                derivative: |x, _y| Derivative::Is(x.function(Elementary::Cosh)),
                unit: Pure,
                argument: Any(-2.0, 2.0),
                monotonicity: Increasing,
                values: ALL_NUMBERS,
            }
            Cosh cosh Function {
                doc: "The hyperbolic cosine.",
                derivative: |x, _y| Derivative::Is(x.function(Elementary::Sinh)),
                unit: Pure,
                argument: Any(-2.0, 2.0),
                monotonicity: Quasiconvex,
                values: (1.0, f64::INFINITY),
            }
            ASin asin Function {
                doc: "The arcus sine, in radians. NaN outside of -1 to 1.",
                derivative: |x, _y| Derivative::Ratio(A::number(1.0), other_leg(x)),
                unit: Pure,
                argument: SineOrCosine,
                monotonicity: Increasing,
                values: ALL_NUMBERS,
            }
            ACos acos Function {
                doc: "The arcus cosine, in radians. NaN outside of -1 to 1.",
                derivative: |x, _y| Derivative::Ratio(A::number(-1.0), other_leg(x)),
                unit: Pure,
                argument: SineOrCosine,
                monotonicity: Decreasing,
                values: ALL_NUMBERS,
            }
            ATan atan Function {
                doc: "The arcus tangent, in radians.",
                derivative: |x, _y| Derivative::Ratio(A::number(1.0), A::number(1.0) + x.square()),
                unit: Pure,
                argument: Any(f64::NEG_INFINITY, f64::INFINITY),
                monotonicity: Increasing,
                values: ALL_NUMBERS,
            }
            Log10 log10 Function {
                doc: "The logarithm of base 10.",
                derivative: |x, _y| Derivative::Ratio(A::number(std::f64::consts::LOG10_E), x),
                unit: Pure,
                argument: Positive,
                monotonicity: Increasing,
                values: ALL_NUMBERS,
            }
            Erf erf Function {
                doc: "The error function.",
                derivative: |x, _y| Derivative::Is(A::number(std::f64::consts::FRAC_2_SQRT_PI) * (-x.square()).function(Elementary::Exp)),
                unit: Pure,
                argument: Any(f64::NEG_INFINITY, f64::INFINITY),
                monotonicity: Increasing,
                values: (-1.0, 1.0),
            }
            Floor floor Steps {
                doc: "The largest whole number that is not above `x`. Its derivative is 0.",
                derivative: |_x, _y| Derivative::Zero,
                unit: Pure,
                argument: Any(f64::NEG_INFINITY, f64::INFINITY),
                monotonicity: Increasing,
                values: ALL_NUMBERS,
            }
            Ceil ceil Steps {
                doc: "The smallest whole number that is not below `x`. Its derivative is 0.",
                derivative: |_x, _y| Derivative::Zero,
                unit: Pure,
                argument: Any(f64::NEG_INFINITY, f64::INFINITY),
                monotonicity: Increasing,
                values: ALL_NUMBERS,
            }
            Sign sign Steps {
                doc: "The sign: -1 or 1 for negative and positive numbers; zeros, of either sign, and NaN stay. The number may have a dimension. Its derivative is 0.",
                derivative: |_x, _y| Derivative::Zero,
                unit: Dropped,
                argument: Any(f64::NEG_INFINITY, f64::INFINITY),
                monotonicity: Increasing,
                values: (-1.0, 1.0),
            }
            Round round Steps {
                doc: "The whole number nearest to `x`; of two, the one farther from zero: `Round(2.5)` is 3, `Round(-2.5)` is -3. Its derivative is 0.",
                derivative: |_x, _y| Derivative::Zero,
                unit: Pure,
                argument: Any(f64::NEG_INFINITY, f64::INFINITY),
                monotonicity: Increasing,
                values: ALL_NUMBERS,
            }
        }
    };
}

const ALL_NUMBERS: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// Rules for the units of argument and value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitRule {
    /// Neither has a dimension.
    Pure,
    /// The argument may have a dimension, the value has none.
    Dropped,
}

/// Arguments of a function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument {
    /// All numbers; random programs and tests take some between these.
    Any(f64, f64),
    /// Positive numbers.
    Positive,
    /// -1 to 1.
    SineOrCosine,
}

impl Argument {
    /// A factor that takes positive numbers up to `largest` to where the function has moderate
    /// values.
    pub fn scale(self, largest: f64) -> f64 {
        match self {
            Argument::Any(_, high) => (high / largest).min(1.0),
            Argument::Positive => 1.0,
            Argument::SineOrCosine => 0.5 / largest,
        }
    }
}

/// Monotonicity of a function, from which bounds of its values on an interval follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Monotonicity {
    /// The larger the argument, the larger the value, or the same.
    Increasing,
    /// The larger the argument, the smaller the value, or the same.
    Decreasing,
    /// Largest at an end of every interval.
    Quasiconvex,
    /// None of these: the bounds of all values hold.
    Neither,
}

/// Time of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A few additions.
    Steps,
    /// That of the exponential function; loops become vector instructions.
    Function,
    /// That of a power, or one with branches, which keep loops from becoming vector instructions.
    Long,
}

macro_rules! define {
    ($($variant:ident $function:ident $work:ident {
        doc: $doc:literal,
        derivative: |$x:ident, $y:ident| $derivative:expr,
        unit: $unit:ident,
        argument: $argument:ident $(($low:expr, $high:expr))?,
        monotonicity: $monotonicity:ident,
        values: $values:expr,
    })*) => {
        /// Functions of one number: the same bits on every target ([`crate::math`]). Kernels of
        /// back-ends number them in this order, from 0.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Elementary {
            $(#[doc = $doc] $variant,)*
        }

        impl Elementary {
            /// All of them.
            pub const ALL: [Elementary; [$(Elementary::$variant),*].len()] = [$(Elementary::$variant),*];

            /// As in the language.
            pub const fn name(self) -> &'static str {
                match self { $(Elementary::$variant => stringify!($variant),)* }
            }

            /// As in the text form of the IR and in Rust; in CUDA C++ `eq_` is before it.
            pub const fn word(self) -> &'static str {
                match self { $(Elementary::$variant => stringify!($function),)* }
            }

            /// A sentence of documentation, in Markdown; the argument is `x`.
            pub const fn doc(self) -> &'static str {
                match self { $(Elementary::$variant => $doc,)* }
            }

            /// Rule for units.
            pub const fn unit(self) -> UnitRule {
                match self { $(Elementary::$variant => UnitRule::$unit,)* }
            }

            /// Arguments that it has a value for.
            pub const fn argument(self) -> Argument {
                match self { $(Elementary::$variant => Argument::$argument $(($low, $high))?,)* }
            }

            /// Monotonicity.
            pub const fn monotonicity(self) -> Monotonicity {
                match self { $(Elementary::$variant => Monotonicity::$monotonicity,)* }
            }

            /// Bounds of all values.
            pub const fn values(self) -> (f64, f64) {
                match self { $(Elementary::$variant => $values,)* }
            }

            /// Time.
            pub const fn work(self) -> Work {
                match self { $(Elementary::$variant => Work::$work,)* }
            }
        }
    };
}

elementary_table!(define);
