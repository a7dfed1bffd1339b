//! The elementary functions in CUDA C++, made of their text.
//!
//! Kernels call `eq_exp(x)` and its like for `double` and `float`.

use crate::binary_math::BinaryMath;
use crate::derivative::Algebra;
use crate::elementary::Elementary;
use crate::functions::{double_constants, elementary_functions, single_constants, two_over_pi};

macro_rules! cuda_constants {
    ({ $($name:ident: $type:ident = $value:expr;)* } { $($poly:ident: [$first:expr $(, $next:expr)* $(,)?];)* }) => {
        concat!(
            $("constexpr ", stringify!($type), " ", stringify!($name), " = ", stringify!($type), "(", stringify!($value), ");\n",)*
            $(
                "EQ_FUNCTION F ", stringify!($poly), "(F x) {\n  F r = F(", stringify!($first), ");\n",
                $("  r = r * x + F(", stringify!($next), ");\n",)*
                "  return r;\n}\n",
            )*
        )
    };
}

macro_rules! cuda_functions {
    ($($(#[$doc:meta])* fn $name:ident($first:ident: $first_type:ident $(, $argument:ident: $type:ident)*) -> $result:ident {
        $(let $local:ident: $of:ident = $value:expr;)*
        return $returned:expr;
    })*) => {
        concat!($(
            "EQ_FUNCTION ", stringify!($result), " ", stringify!($name),
            "(", stringify!($first_type), " ", stringify!($first), $(", ", stringify!($type), " ", stringify!($argument),)* ") {\n",
            $("  const ", stringify!($of), " ", stringify!($local), " = ", stringify!($value), ";\n",)*
            "  return ", stringify!($returned), ";\n}\n",
        )*)
    };
}

macro_rules! cuda_table {
    ($($word:literal),* $(,)?) => {
        concat!("static __device__ const unsigned int EQ_TWO_OVER_PI[] = {", $(stringify!($word), ", ",)* "};\n")
    };
}

/// Definitions that the text relies on, in both precisions.
const GIVEN: &str = "\
typedef unsigned long long W;
typedef bool B;
struct Pair {
  F hi, lo;
};
struct Angle {
  Pair rest;
  U quarter;
};
EQ_FUNCTION Pair pair(F hi, F lo) { return Pair{hi, lo}; }
EQ_FUNCTION Angle angle(Pair rest, U quarter) { return Angle{rest, quarter}; }
EQ_FUNCTION F root(F x) { return ::sqrt(x); }
EQ_FUNCTION F select(B condition, F a, F b) { return condition ? a : b; }
EQ_FUNCTION W select_word(B condition, W a, W b) { return condition ? a : b; }
EQ_FUNCTION W wide(U x) { return x; }
EQ_FUNCTION U narrow(W x) { return U(x); }
EQ_FUNCTION F piece(W x, F power) { return F(x) * power; }
EQ_FUNCTION W two_over_pi(W word) { return EQ_TWO_OVER_PI[word]; }
EQ_FUNCTION Angle angle_of(F x);
";

/// Behind the text: most angles are small, and the others take no registers of a kernel.
const ANGLE_OF: &str = "\
#ifdef EQ_SHIM
static Angle rare_angle(F x) { return far_angle(x); }
#else
static __device__ __noinline__ Angle rare_angle(F x) { return far_angle(x); }
#endif
EQ_FUNCTION Angle angle_of(F x) { return magnitude(x) <= NEAR_ANGLE ? near_angle(x) : rare_angle(x); }
";

const DOUBLE_BITS: &str = "\
typedef double F;
typedef unsigned long long U;
#ifdef EQ_SHIM
EQ_FUNCTION U bits(F x) { U u; __builtin_memcpy(&u, &x, sizeof u); return u; }
EQ_FUNCTION F number(U u) { F x; __builtin_memcpy(&x, &u, sizeof x); return x; }
#else
EQ_FUNCTION U bits(F x) { return U(__double_as_longlong(x)); }
EQ_FUNCTION F number(U u) { return __longlong_as_double((long long)u); }
#endif
";

const SINGLE_BITS: &str = "\
typedef float F;
typedef unsigned int U;
#ifdef EQ_SHIM
EQ_FUNCTION U bits(F x) { U u; __builtin_memcpy(&u, &x, sizeof u); return u; }
EQ_FUNCTION F number(U u) { F x; __builtin_memcpy(&x, &u, sizeof x); return x; }
#else
EQ_FUNCTION U bits(F x) { return __float_as_uint(x); }
EQ_FUNCTION F number(U u) { return __uint_as_float(u); }
#endif
";

/// The functions of two numbers that kernels may call.
const OF_TWO: [BinaryMath; 2] = [BinaryMath::Pow, BinaryMath::ATan2];

/// CUDA C++ text of the functions, for the prelude of kernels. It needs `EQ_FUNCTION`.
pub fn cuda_text() -> String {
    let functions = elementary_functions!(cuda_functions);
    let mut text = two_over_pi!(cuda_table).to_owned();
    for (name, bits, constants) in
        [("double", DOUBLE_BITS, double_constants!(cuda_constants)), ("float", SINGLE_BITS, single_constants!(cuda_constants))]
    {
        text += &format!("namespace eq_{name} {{\n{bits}{GIVEN}{constants}{functions}{ANGLE_OF}}}\n");
        for function in Elementary::ALL.map(Elementary::word) {
            text += &format!("EQ_FUNCTION {name} eq_{function}({name} x) {{ return eq_{name}::{function}(x); }}\n");
        }
        for function in OF_TWO.map(BinaryMath::word) {
            text += &format!("EQ_FUNCTION {name} eq_{function}({name} a, {name} b) {{ return eq_{name}::{function}(a, b); }}\n");
        }
    }
    text
}

/// CUDA C++ text of a function by its number, and of its derivative `d` at the argument `x`, where
/// the value is `y`, for kernels that do one operation. It needs `EqReal`.
pub fn cuda_dispatch_text() -> String {
    let mut values = String::from("EQ_FUNCTION EqReal eq_elementary(unsigned int function, EqReal x) {\n  switch (function) {\n");
    let mut derivatives =
        String::from("EQ_FUNCTION EqReal eq_elementary_derivative(unsigned int function, EqReal x, EqReal y) {\n  switch (function) {\n");
    for (number, function) in Elementary::ALL.into_iter().enumerate() {
        let derivative = function.derivative(Text("x".to_owned()), Text("y".to_owned())).factor().0;
        values += &format!("    case {number}: return eq_{}(x);\n", function.word());
        derivatives += &format!("    case {number}: return {derivative};\n");
    }
    let end = "  }\n  return EqReal(0) / EqReal(0);\n}\n";
    values + end + &derivatives + end
}

/// An expression in CUDA C++.
#[derive(Clone)]
struct Text(String);

macro_rules! text_operator {
    ($($operator:ident $method:ident $symbol:literal)*) => {
        $(impl std::ops::$operator for Text {
            type Output = Text;

            fn $method(self, other: Text) -> Text {
                Text(format!("({} {} {})", self.0, $symbol, other.0))
            }
        })*
    };
}

text_operator!(Add add "+" Sub sub "-" Mul mul "*" Div div "/");

impl std::ops::Neg for Text {
    type Output = Text;

    fn neg(self) -> Text {
        Text(format!("(-{})", self.0))
    }
}

impl Algebra for Text {
    fn number(value: f64) -> Self {
        Text(format!("EqReal({value:?})"))
    }

    fn root(self) -> Self {
        Text(format!("sqrt({})", self.0))
    }

    fn function(self, function: Elementary) -> Self {
        Text(format!("eq_{}({})", function.word(), self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_has_a_number_and_a_derivative() {
        let text = cuda_dispatch_text();
        let number = Elementary::Cos as u32;
        assert!(text.contains(&format!("    case {number}: return eq_cos(x);\n")), "{text}");
        assert!(text.contains(&format!("    case {number}: return (-eq_sin(x));\n")), "{text}");
        assert!(text.contains("return (EqReal(1.0) / sqrt(((EqReal(1.0) - x) * (EqReal(1.0) + x))));\n"), "{text}");
        assert_eq!(text.matches("    case ").count(), 2 * Elementary::ALL.len());
    }
}
