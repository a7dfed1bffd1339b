//! The elementary functions in Rust, made of their text.

use super::constants::{double_constants, single_constants, two_over_pi};
use super::text::elementary_functions;

/// Constants, and polynomials by Horner's rule.
macro_rules! rust_constants {
    ({ $($name:ident: $type:ident = $value:expr;)* } { $($poly:ident: [$first:expr $(, $next:expr)* $(,)?];)* }) => {
        $(const $name: $type = $value;)*
        $(
            #[inline(always)]
            #[allow(unused_variables, reason = "a polynomial of degree 0 has no use for it")]
            fn $poly(x: F) -> F {
                let r: F = $first;
                $(let r = r * x + $next;)*
                r
            }
        )*
    };
}

macro_rules! rust_functions {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ident),*) -> $result:ident {
        $(let $local:ident: $of:ident = $value:expr;)*
        return $returned:expr;
    })*) => {
        $(
            $(#[$doc])*
            #[inline(always)]
            pub(crate) fn $name($($argument: $type),*) -> $result {
                $(let $local: $of = $value;)*
                $returned
            }
        )*
    };
}

macro_rules! rust_table {
    ($($word:literal),* $(,)?) => { &[$($word),*] };
}

/// Digits of 2/pi.
const TWO_OVER_PI_DIGITS: &[u32] = two_over_pi!(rust_table);

/// A module with the functions in one precision, and what the text takes as given.
macro_rules! precision {
    ($name:ident, $float:ident, $bits:ident, $constants:ident) => {
        #[allow(clippy::eq_op, reason = "the text asks so whether a number is one")]
        #[allow(clippy::approx_constant, clippy::excessive_precision, reason = "constants have the digits of their precision")]
        pub(crate) mod $name {
            use super::{TWO_OVER_PI_DIGITS, elementary_functions, $constants};

            type F = $float;
            type U = $bits;
            type W = u64;
            type B = bool;

            $constants!(rust_constants);
            elementary_functions!(rust_functions);

            /// A number and what rounding left over.
            #[derive(Clone, Copy)]
            pub(crate) struct Pair {
                pub hi: F,
                pub lo: F,
            }

            /// Right angles, the last two bits of which count, and what is left.
            #[derive(Clone, Copy)]
            pub(crate) struct Angle {
                pub rest: Pair,
                pub quarter: U,
            }

            #[inline(always)]
            fn pair(hi: F, lo: F) -> Pair {
                Pair { hi, lo }
            }

            #[inline(always)]
            fn angle(rest: Pair, quarter: U) -> Angle {
                Angle { rest, quarter }
            }

            #[inline(always)]
            fn angle_of(x: F) -> Angle {
                if magnitude(x) <= NEAR_ANGLE { near_angle(x) } else { rare_angle(x) }
            }

            #[cold]
            #[inline(never)]
            fn rare_angle(x: F) -> Angle {
                far_angle(x)
            }

            #[inline(always)]
            fn bits(x: F) -> U {
                x.to_bits()
            }

            #[inline(always)]
            fn number(bits: U) -> F {
                F::from_bits(bits)
            }

            #[inline(always)]
            fn root(x: F) -> F {
                x.sqrt()
            }

            #[inline(always)]
            fn select(condition: B, a: F, b: F) -> F {
                if condition { a } else { b }
            }

            #[inline(always)]
            fn select_word(condition: B, a: W, b: W) -> W {
                if condition { a } else { b }
            }

            #[inline(always)]
            fn wide(x: U) -> W {
                W::from(x)
            }

            #[inline(always)]
            fn narrow(x: W) -> U {
                x as U
            }

            /// 16 bits, times a power of two.
            #[inline(always)]
            fn piece(x: W, power: F) -> F {
                x as F * power
            }

            #[inline(always)]
            fn two_over_pi(word: W) -> W {
                W::from(TWO_OVER_PI_DIGITS[word as usize])
            }
        }
    };
}

precision!(double, f64, u64, double_constants);
precision!(single, f32, u32, single_constants);
