//! The elementary functions in CUDA C++, made of their text.
//!
//! Kernels call `eq_exp(x)` and its like for `double` and `float`.

use super::constants::{double_constants, single_constants, two_over_pi};
use super::functions::elementary_functions;

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

/// The functions of one number that kernels may call; those of two are [`OF_TWO`].
const OF_ONE: [&str; 17] =
    ["exp", "log", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "erf", "floor", "ceil", "sign", "round"];
const OF_TWO: [&str; 2] = ["pow", "atan2"];

/// CUDA C++ text of the functions and of tables, for the prelude of kernels. It needs
/// `EQ_FUNCTION`.
pub fn cuda_text() -> String {
    let functions = elementary_functions!(cuda_functions);
    let mut text = two_over_pi!(cuda_table).to_owned();
    for (name, bits, constants) in
        [("double", DOUBLE_BITS, double_constants!(cuda_constants)), ("float", SINGLE_BITS, single_constants!(cuda_constants))]
    {
        text += &format!("namespace eq_{name} {{\n{bits}{GIVEN}{constants}{functions}{ANGLE_OF}}}\n");
        for function in OF_ONE {
            text += &format!("EQ_FUNCTION {name} eq_{function}({name} x) {{ return eq_{name}::{function}(x); }}\n");
        }
        for function in OF_TWO {
            text += &format!("EQ_FUNCTION {name} eq_{function}({name} a, {name} b) {{ return eq_{name}::{function}(a, b); }}\n");
        }
    }
    text + super::table::CUDA_TEXT
}
