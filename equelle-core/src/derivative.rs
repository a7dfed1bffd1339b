//! Values and derivatives of the elementary functions. Derivatives are written once for numbers,
//! kernels, CUDA C++ and bounds.

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::elementary::Elementary;
use crate::elementary_table;
use crate::math;
use crate::real::Float;

/// Numbers, expressions, text or intervals, of which derivatives are made.
pub trait Algebra: Clone + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self> {
    /// A number.
    fn number(value: f64) -> Self;
    /// Square root.
    #[must_use]
    fn root(self) -> Self;
    /// The product with itself.
    #[must_use]
    fn square(self) -> Self {
        self.clone() * self
    }
    /// A function of it.
    #[must_use]
    fn function(self, function: Elementary) -> Self;
}

/// A derivative.
#[derive(Clone, Debug, PartialEq)]
pub enum Derivative<A> {
    /// 0, between jumps of the function.
    Zero,
    /// A factor.
    Is(A),
    /// A quotient.
    Ratio(A, A),
}

impl<A: Algebra + Div<Output = A>> Derivative<A> {
    /// The derivative as one factor.
    pub fn factor(self) -> A {
        match self {
            Derivative::Zero => A::number(0.0),
            Derivative::Is(factor) => factor,
            Derivative::Ratio(above, below) => above / below,
        }
    }
}

impl<R: Float> Algebra for R {
    #[inline(always)]
    fn number(value: f64) -> Self {
        R::from_f64(value)
    }

    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }

    #[inline(always)]
    fn function(self, function: Elementary) -> Self {
        function.of(self)
    }
}

/// The root of `(1 - x) (1 + x)`: the cosine of an angle whose sine is `x`, and the other way.
fn other_leg<A: Algebra>(x: A) -> A {
    ((A::number(1.0) - x.clone()) * (A::number(1.0) + x)).root()
}

macro_rules! define {
    ($($variant:ident $function:ident $work:ident {
        doc: $doc:literal,
        derivative: |$x:ident, $y:ident| $derivative:expr,
        $($facts:tt)*
    })*) => {
        impl Elementary {
            /// The value at `x`. Not inlined: all functions would be wherever one may be.
            #[inline(never)]
            pub fn of<R: Float>(self, x: R) -> R {
                match self { $(Elementary::$variant => math::$function(x),)* }
            }

            /// The derivative at the argument `x`, where the value is `y`.
            pub fn derivative<A: Algebra>(self, x: A, y: A) -> Derivative<A> {
                match self {
                    $(Elementary::$variant => { let ($x, $y) = (x, y); $derivative })*
                }
            }
        }
    };
}

elementary_table!(define);

/// Inputs of a derivative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// The argument of the function.
    pub argument: bool,
    /// Its value.
    pub value: bool,
}

impl Reads {
    fn or(self, other: Reads) -> Reads {
        Reads { argument: self.argument | other.argument, value: self.value | other.value }
    }
}

impl Elementary {
    /// Returns the inputs of its derivative.
    pub fn reads(self) -> Reads {
        let (x, y) = (Reads { argument: true, value: false }, Reads { argument: false, value: true });
        match self.derivative(x, y) {
            Derivative::Zero => Reads::default(),
            Derivative::Is(reads) => reads,
            Derivative::Ratio(above, below) => above.or(below),
        }
    }
}

impl Add for Reads {
    type Output = Reads;

    fn add(self, other: Reads) -> Reads {
        self.or(other)
    }
}

impl Sub for Reads {
    type Output = Reads;

    fn sub(self, other: Reads) -> Reads {
        self.or(other)
    }
}

impl Mul for Reads {
    type Output = Reads;

    fn mul(self, other: Reads) -> Reads {
        self.or(other)
    }
}

impl Neg for Reads {
    type Output = Reads;

    fn neg(self) -> Reads {
        self
    }
}

impl Algebra for Reads {
    fn number(_: f64) -> Self {
        Reads::default()
    }

    fn root(self) -> Self {
        self
    }

    fn function(self, _: Elementary) -> Self {
        self
    }
}
