//! The text of the elementary functions, from which both Rust ([`rust`](super::rust)) and CUDA C++
//! ([`cuda`](crate::cuda)) are made.
//!
//! The text has additions, subtractions, multiplications, divisions and square roots, each rounded
//! once, and operations on the bits of numbers: the same bits on every target. It has no branches,
//! so that compilers make vector instructions of loops; `select` evaluates both sides. `F` is the
//! type of numbers, `U` that of their bits, `W` one of 64 bits, `B` that of truth values. A `Pair`
//! is the sum of a number and of what rounding left over.
//!
//! Reductions of angles after Cody and Waite (1980), beyond after Payne and Hanek (1983,
//! doi:10.1145/1057600.1057602); pairs after Dekker (1971, doi:10.1007/BF01397083). Rests of sine,
//! cosine and logarithms are summed as in FDLIBM (Sun Microsystems, 1993).

/// Calls a macro with all functions, in an order in which each needs earlier ones only.
macro_rules! elementary_functions {
    ($callback:ident) => {
        $callback! {
            // ---- Pairs --------------------------------------------------------------------------

            /// The sum of two numbers of which the first has the larger magnitude.
            fn fast_two_sum(a: F, b: F) -> Pair {
                let s: F = a + b;
                return pair(s, b - (s - a));
            }
            fn two_sum(a: F, b: F) -> Pair {
                let s: F = a + b;
                let t: F = s - a;
                return pair(s, (a - (s - t)) + (b - t));
            }
            /// The leading half of the bits.
            fn high_half(a: F) -> F {
                let t: F = SPLIT * a;
                return t - (t - a);
            }
            /// The leading half of the bits, so that products of two such numbers are exact.
            fn top(x: F) -> F {
                return number(bits(x) & HIGH_HALF);
            }
            fn two_product(a: F, b: F) -> Pair {
                let p: F = a * b;
                let a1: F = high_half(a);
                let a2: F = a - a1;
                let b1: F = high_half(b);
                let b2: F = b - b1;
                return pair(p, (((a1 * b1 - p) + a1 * b2) + a2 * b1) + a2 * b2);
            }
            fn pair_product(a: Pair, b: Pair) -> Pair {
                let p: Pair = two_product(a.hi, b.hi);
                return fast_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
            }
            fn pair_quotient(a: Pair, b: Pair) -> Pair {
                let q: F = a.hi / b.hi;
                let p: Pair = two_product(q, b.hi);
                return fast_two_sum(q, ((((a.hi - p.hi) - p.lo) + a.lo) - q * b.lo) / b.hi);
            }
            fn magnitude(x: F) -> F {
                return number(bits(x) & MAGNITUDE);
            }
            /// A number that is not negative, with the sign of another.
            fn with_sign(size: F, x: F) -> F {
                return number(bits(size) | (bits(x) & SIGN));
            }

            // ---- Whole numbers ------------------------------------------------------------------

            /// The largest whole number that is not above: -0 and what is not finite stay.
            fn floor(x: F) -> F {
                let size: F = magnitude(x);
                let near: F = with_sign((size + WHOLE) - WHOLE, x);
                let below: F = select(near > x, near - ONE, near);
                return select(size < WHOLE, below, x);
            }
            fn ceil(x: F) -> F {
                return -floor(-x);
            }
            /// The nearest whole number, halves away from zero: -0 and what is not finite stay. The
            /// distance from the whole number below has no rounding error.
            fn round(x: F) -> F {
                let size: F = magnitude(x);
                let below: F = floor(size);
                return with_sign(select(size - below >= HALF, below + ONE, below), x);
            }
            /// -1, 0 or 1; a zero and what is not a number stay.
            fn sign(x: F) -> F {
                return select(x > ZERO, ONE, select(x < ZERO, -ONE, x));
            }

            // ---- Exponential function -----------------------------------------------------------

            /// An exponent, or the next one whose exponential function is zero or infinite.
            fn exp_argument(x: F) -> F {
                let y: F = select(x < EXP_LOW, EXP_LOW, x);
                return select(y > EXP_HIGH, EXP_HIGH, y);
            }
            /// `x` by log 2, added to what leaves a whole number in the low bits.
            fn shifted_power(x: F) -> F {
                return x * INV_LN2 + SHIFT;
            }
            /// The rest of an exponent without its multiple of log 2.
            fn exp_rest(x: F, tail: F) -> Pair {
                let k: F = shifted_power(x) - SHIFT;
                let h: F = x - k * LN2_HI;
                let l: F = k * LN2_LO;
                let r: F = h - l;
                return pair(r, ((h - r) - l) + tail);
            }
            /// The term to add to `r.hi` for the exponential function of a rest less one.
            fn exp_correction(r: Pair) -> F {
                let t: F = r.hi * r.hi * exp_poly(r.hi);
                return t + (r.lo + r.lo * (r.hi + t));
            }
            /// A number times a power of two, in two steps, of which one rounds.
            fn scaled(y: F, shifted: F) -> F {
                let both: U = bits(shifted) - EXP_BITS;
                let half: U = both >> 1;
                return (y * number(half << MANTISSA_BITS)) * number((both - half) << MANTISSA_BITS);
            }
            /// The exponential function of a rest, less 1 and the rest: even and odd, low and high
            /// powers, short chains of operations that processors work on at the same time.
            fn exp_series(r: F) -> F {
                let z: F = r * r;
                let q: F = z * z;
                let even: F = exp_even_poly(z) + q * exp_high_even_poly(z);
                let odd: F = exp_odd_poly(z) + q * exp_high_odd_poly(z);
                return z * (even + r * odd);
            }
            /// Exponential function, within 1 ulp. Only the polynomial has the rounded rest; what
            /// is added to 1 has both parts of it, so that no rest of the rest is needed.
            fn exp(x: F) -> F {
                let y: F = exp_argument(x);
                let shifted: F = shifted_power(y);
                let k: F = shifted - SHIFT;
                let h: F = y - k * LN2_HI;
                let l: F = k * LN2_LO;
                let r: F = h - l;
                return scaled(ONE + (h - (l - exp_series(r))), shifted);
            }
            /// Half of the exponential function of a number that is not below twice -`TANH_HIGH`.
            fn half_exp(x: F) -> Pair {
                let y: F = select(x > COSH_HIGH, COSH_HIGH, x);
                let r: Pair = exp_rest(y, ZERO);
                let less_one: Pair = fast_two_sum(r.hi, exp_correction(r));
                let whole: Pair = fast_two_sum(ONE, less_one.hi);
                let shifted: F = shifted_power(y);
                return pair(scaled(HALF * whole.hi, shifted), scaled(HALF * (whole.lo + less_one.lo), shifted));
            }

            /// The exponential function less 1, within 1 ulp: the sum of a pair, or a small number
            /// as it is.
            fn expm1(x: F) -> F {
                let low: F = -(TWO * TANH_HIGH);
                let h: Pair = half_exp(select(x < low, low, x));
                let less: Pair = two_sum(h.hi, -HALF);
                let finite: B = h.hi < number(INFINITE_BITS);
                let value: F = TWO * select(finite, less.hi + (less.lo + h.lo), h.hi);
                return select(magnitude(x) * WHOLE < QUARTER, x, value);
            }

            // ---- Hyperbolic functions -----------------------------------------------------------

            /// Hyperbolic sine, within 2 ulp.
            fn sinh(x: F) -> F {
                let size: F = magnitude(x);
                let square: F = size * size;
                let h: Pair = half_exp(size);
                let large: F = h.hi + (h.lo - QUARTER / h.hi);
                let small: F = size + size * square * sinh_poly(square);
                return with_sign(select(size < ONE, small, large), x);
            }
            /// Hyperbolic cosine, within 2 ulp.
            fn cosh(x: F) -> F {
                let h: Pair = half_exp(magnitude(x));
                return h.hi + (h.lo + QUARTER / h.hi);
            }
            /// Hyperbolic tangent, within 1 ulp: `e / (e + 2)` with `e = exp(2 x) - 1` as a pair.
            fn tanh(x: F) -> F {
                let size: F = magnitude(x);
                let y: F = TWO * select(size > TANH_HIGH, TANH_HIGH, size);
                let r: Pair = exp_rest(y, ZERO);
                let less_one: Pair = fast_two_sum(r.hi, exp_correction(r));
                let power: F = number((bits(shifted_power(y)) - POWER_BITS) << MANTISSA_BITS);
                let sum: Pair = two_sum(power - ONE, power * less_one.hi);
                let e: Pair = fast_two_sum(sum.hi, sum.lo + power * less_one.lo);
                let below: Pair = two_sum(TWO, e.hi);
                let quotient: Pair = pair_quotient(e, pair(below.hi, below.lo + e.lo));
                return with_sign(magnitude(quotient.hi), x);
            }

            // ---- Logarithms ---------------------------------------------------------------------

            /// The bits of a positive number, brought out of the subnormal range, with an exponent
            /// that changes at the root of 1/2.
            fn log_bits(x: F) -> U {
                let normal: F = select(x < MIN_NORMAL, x * SUBNORMAL_SCALE, x);
                return (bits(normal) & MAGNITUDE) + LOG_OFFSET;
            }
            /// The exponent of the power of two next to a positive number.
            fn log_exponent(x: F) -> F {
                let exponent: U = log_bits(x) >> MANTISSA_BITS;
                let k: F = number(WHOLE_BITS | exponent) - WHOLE_AND_BIAS;
                return select(x < MIN_NORMAL, k - SUBNORMAL_EXPONENT, k);
            }
            /// A positive number by that power of two, between the roots of 1/2 and 2.
            fn log_mantissa(x: F) -> F {
                return number((log_bits(x) & MANTISSA) + SQRT_HALF_BITS);
            }
            /// The logarithm where it is no finite number, or as given.
            fn log_special(x: F, value: F) -> F {
                let ordinary: F = select(x < number(INFINITE_BITS), value, x);
                return select(x > ZERO, ordinary, select(x == ZERO, -number(INFINITE_BITS), number(NAN_BITS)));
            }
            /// Natural logarithm, within 1 ulp.
            fn log(x: F) -> F {
                let k: F = log_exponent(x);
                let f: F = log_mantissa(x) - ONE;
                let s: F = f / (TWO + f);
                let z: F = s * s;
                let half: F = HALF * f * f;
                let rest: F = (half - (s * (half + z * log_poly(z)) + k * LN2_LO)) - f;
                return log_special(x, k * LN2_HI - rest);
            }
            /// The logarithm of base 2 of a positive number as a pair, to 64 bits and more; `hi`
            /// has half of the bits. With `s = (m - 1) / (m + 1)` that of the mantissa is
            /// `2 s (3 + s^2 + s^4 ..) / (3 log 2)`; leading halves alone are multiplied exactly.
            fn log2_pair(x: F) -> Pair {
                let k: F = log_exponent(x);
                let m: F = log_mantissa(x);
                let below: F = m + ONE;
                let inverse: F = ONE / below;
                let s: F = (m - ONE) * inverse;
                let s1: F = top(s);
                let below_1: F = top(below);
                let below_2: F = m - (below_1 - ONE);
                let s2: F = inverse * (((m - ONE) - s1 * below_1) - s1 * below_2);
                let z: F = s * s;
                let q: F = z * z;
                let square: F = s1 * s1;
                let rest: F = q * (log2_even_poly(q) + z * log2_odd_poly(q)) + s2 * (s1 + s);
                let t1: F = top(THREE + square + rest);
                let t2: F = rest - ((t1 - THREE) - square);
                let first: F = s1 * t1;
                let second: F = s2 * t1 + t2 * s;
                let p1: F = top(first + second);
                let p2: F = second - (p1 - first);
                let hi: F = THIRD_LOG2_TOP * p1;
                let lo: F = THIRD_LOG2_REST * p1 + p2 * THIRD_LOG2;
                let sum: F = top(k + (hi + lo));
                return pair(sum, lo - ((sum - k) - hi));
            }
            /// Logarithm of base 10, within 2 ulp.
            fn log10(x: F) -> F {
                let log: Pair = log2_pair(x);
                return log_special(x, LOG10_2_TOP * log.hi + (LOG10_2_REST * log.hi + LOG10_2 * log.lo));
            }

            // ---- Powers -------------------------------------------------------------------------

            /// 2 to the power of a sum of which the first number is larger.
            fn exp2_of_sum(x: F, tail: F) -> F {
                let shifted: F = x + SHIFT;
                let f: F = x - (shifted - SHIFT);
                let f1: F = top(f + tail);
                let f2: F = tail - (f1 - f);
                let u: F = f1 * LN2_TOP;
                let v: F = f2 * LN2 + f1 * LN2_REST;
                let r: Pair = fast_two_sum(u, v);
                return scaled(ONE + (r.hi + exp_correction(r)), shifted);
            }
            /// `a` to the power of `b`, within 2 ulp; special cases as in C: 1 for `b = 0` and for
            /// `a = 1`.
            fn pow(a: F, b: F) -> F {
                let size: F = magnitude(a);
                let whole: B = floor(b) == b;
                let odd: B = whole & !(floor(HALF * b) == HALF * b);
                let most: F = select(b > POW_EXPONENT, POW_EXPONENT, b);
                let y: F = select(most < -POW_EXPONENT, -POW_EXPONENT, most);
                let y1: F = top(y);
                let log: Pair = log2_pair(select((size > ZERO) & (size < number(INFINITE_BITS)), size, ONE));
                let tail: F = (y - y1) * log.hi + y * log.lo;
                let exponent: F = y1 * log.hi;
                let least: F = select(exponent < POW_LOW, POW_LOW, exponent);
                let limited: F = select(least > POW_HIGH, POW_HIGH, least);
                let finite: F = exp2_of_sum(limited, select(limited == exponent, tail, ZERO));
                let zero: F = select(b < ZERO, number(INFINITE_BITS), ZERO);
                let infinite: F = select(b < ZERO, ZERO, number(INFINITE_BITS));
                let value: F = select(size == ZERO, zero, select(size == number(INFINITE_BITS), infinite, finite));
                let directed: F = select(odd & ((bits(a) & SIGN) == SIGN), -value, value);
                let real: F = select((a < ZERO) & (size < number(INFINITE_BITS)) & !whole, number(NAN_BITS), directed);
                let known: F = select((a == a) & (b == b), real, a + b);
                return select((b == ZERO) | (a == ONE), ONE, known);
            }

            // ---- Angles -------------------------------------------------------------------------

            /// An angle of moderate size less the nearest multiple of a right angle.
            fn near_angle(x: F) -> Angle {
                let shifted: F = x * TWO_OVER_PI + SHIFT;
                let n: F = shifted - SHIFT;
                let first: F = x - n * HALF_PI_1;
                let second: Pair = two_sum(first, -(n * HALF_PI_2));
                let third: Pair = two_sum(second.hi, -(n * HALF_PI_3));
                let rest: Pair = fast_two_sum(third.hi, (second.lo + third.lo) - n * HALF_PI_4);
                return angle(rest, bits(shifted));
            }
            /// 32 digits of 2/pi from a position on.
            fn digits(position: W, word: W) -> W {
                let at: W = (position >> 5) + word;
                let both: W = (two_over_pi(at) << 32) | two_over_pi(at + 1);
                return (both << (position & 31)) >> 32;
            }
            /// A sum of products of 32 bits, without what goes to the next word.
            fn low(x: W) -> W {
                return x & WORD;
            }
            /// The same for any angle: 192 bits of its product with 2/pi, whole right angles in the
            /// first two. What is not finite gives what is not a number.
            fn far_angle(x: F) -> Angle {
                let raw: W = wide(bits(x) & MAGNITUDE);
                let position: W = (raw >> wide(MANTISSA_BITS)) - wide(FAR_OFFSET);
                let mantissa: W = (raw & wide(MANTISSA)) | wide(IMPLICIT);
                let m0: W = low(mantissa);
                let m1: W = mantissa >> 32;
                let d0: W = digits(position, 0);
                let d1: W = digits(position, 1);
                let d2: W = digits(position, 2);
                let d3: W = digits(position, 3);
                let d4: W = digits(position, 4);
                let d5: W = digits(position, 5);
                let x5: W = d5 * m0;
                let x4: W = d4 * m0;
                let y4: W = d5 * m1;
                let s4: W = (x5 >> 32) + low(x4) + low(y4);
                let x3: W = d3 * m0;
                let y3: W = d4 * m1;
                let s3: W = (s4 >> 32) + (x4 >> 32) + (y4 >> 32) + low(x3) + low(y3);
                let x2: W = d2 * m0;
                let y2: W = d3 * m1;
                let s2: W = (s3 >> 32) + (x3 >> 32) + (y3 >> 32) + low(x2) + low(y2);
                let x1: W = d1 * m0;
                let y1: W = d2 * m1;
                let s1: W = (s2 >> 32) + (x2 >> 32) + (y2 >> 32) + low(x1) + low(y1);
                let s0: W = (s1 >> 32) + (x1 >> 32) + (y1 >> 32) + low(d0 * m0) + low(d1 * m1);
                // The fraction of a right angle; from one half on, what is missing to a whole one.
                let over: W = (low(s0) >> 29) & 1;
                let flip: W = over * WORD;
                let f0: W = low((s0 << 2) | (low(s1) >> 30)) ^ flip;
                let f1: W = low((s1 << 2) | (low(s2) >> 30)) ^ flip;
                let f2: W = low((s2 << 2) | (low(s3) >> 30)) ^ flip;
                let f3: W = low((s3 << 2) | (low(s4) >> 30)) ^ flip;
                let a1: Pair = fast_two_sum(piece(f0 >> 16, PIECE_1), piece(f0 & 65535, PIECE_2));
                let a2: Pair = fast_two_sum(a1.hi, piece(f1 >> 16, PIECE_3));
                let a3: Pair = fast_two_sum(a2.hi, piece(f1 & 65535, PIECE_4));
                let a4: Pair = fast_two_sum(a3.hi, piece(f2 >> 16, PIECE_5));
                let a5: Pair = fast_two_sum(a4.hi, piece(f2 & 65535, PIECE_6));
                let a6: Pair = fast_two_sum(a5.hi, piece(f3 >> 16, PIECE_7));
                let a7: Pair = fast_two_sum(a6.hi, piece(f3 & 65535, PIECE_8));
                let rest: F = (a1.lo + a2.lo) + (a3.lo + a4.lo) + (a5.lo + a6.lo) + a7.lo;
                let fraction: Pair = fast_two_sum(a7.hi, rest);
                let part: Pair = pair_product(fraction, pair(HALF_PI_HI, HALF_PI_LO));
                let quarter: W = (low(s0) >> 30) + over;
                let down: B = (over == 1) == (x > ZERO);
                let nothing: F = x - x;
                let hi: F = select(down, -part.hi, part.hi) + nothing;
                let lo: F = select(down, -part.lo, part.lo) + nothing;
                return angle(pair(hi, lo), narrow(select_word(x < ZERO, 8 - quarter, quarter)));
            }
            fn sin_correction(r: Pair) -> F {
                let z: F = r.hi * r.hi;
                return r.hi * z * sin_poly(z) + r.lo * (ONE - HALF * z);
            }
            /// The cosine of a rest: its leading part with what is to be added.
            fn cos_parts(r: Pair) -> Pair {
                let z: F = r.hi * r.hi;
                let half: F = HALF * z;
                let w: F = ONE - half;
                return pair(w, ((ONE - w) - half) + (z * z * cos_poly(z) - r.hi * r.lo));
            }
            fn wave(rest: Pair, quarter: U) -> F {
                let c: Pair = cos_parts(rest);
                let value: F = select((quarter & 1) == 1, c.hi + c.lo, rest.hi + sin_correction(rest));
                return select((quarter & 2) == 2, -value, value);
            }
            /// Sine, within 1 ulp.
            fn sin(x: F) -> F {
                let a: Angle = angle_of(x);
                return select(x == ZERO, x, wave(a.rest, a.quarter));
            }
            /// Cosine, within 1 ulp.
            fn cos(x: F) -> F {
                let a: Angle = angle_of(x);
                return wave(a.rest, (a.quarter & 3) + 1);
            }
            /// Tangent, within 2 ulp.
            fn tan(x: F) -> F {
                let a: Angle = angle_of(x);
                let odd: B = (a.quarter & 1) == 1;
                let s: Pair = fast_two_sum(a.rest.hi, sin_correction(a.rest));
                let parts: Pair = cos_parts(a.rest);
                let c: Pair = fast_two_sum(parts.hi, parts.lo);
                let above: Pair = pair(select(odd, -c.hi, s.hi), select(odd, -c.lo, s.lo));
                let below: Pair = pair(select(odd, s.hi, c.hi), select(odd, s.lo, c.lo));
                return select(x == ZERO, x, pair_quotient(above, below).hi);
            }

            // ---- Inverse functions of angles ----------------------------------------------------

            /// Arcus tangent of a number that is not negative: that of the nearest of 0, 1/2, 1,
            /// 3/2 and infinity, and that of what is left.
            fn atan_positive(x: F) -> F {
                let in_1: B = x < ATAN_BOUND_1;
                let in_2: B = x < ATAN_BOUND_2;
                let in_3: B = x < ATAN_BOUND_3;
                let in_4: B = x < ATAN_BOUND_4;
                let from_2: F = select(in_2, TWO * x - ONE, select(in_3, x - ONE, select(in_4, x - THREE_HALVES, -ONE)));
                let by_2: F = select(in_2, TWO + x, select(in_3, x + ONE, select(in_4, ONE + THREE_HALVES * x, x)));
                let hi_3: F = select(in_3, ATAN_ONE_HI, select(in_4, ATAN_THREE_HALVES_HI, HALF_PI_HI));
                let lo_3: F = select(in_3, ATAN_ONE_LO, select(in_4, ATAN_THREE_HALVES_LO, HALF_PI_LO));
                let hi: F = select(in_1, ZERO, select(in_2, ATAN_HALF_HI, hi_3));
                let lo: F = select(in_1, ZERO, select(in_2, ATAN_HALF_LO, lo_3));
                let t: F = select(in_1, x, from_2) / select(in_1, ONE, by_2);
                let z: F = t * t;
                return hi + (t + (lo + t * (z * atan_poly(z))));
            }
            /// Arcus tangent, within 2 ulp.
            fn atan(x: F) -> F {
                return with_sign(atan_positive(magnitude(x)), x);
            }
            /// The angle of the point `(x, y)`, within 2 ulp; special cases as in C.
            fn atan2(y: F, x: F) -> F {
                let over: F = magnitude(y);
                let along: F = magnitude(x);
                let same: B = over == along;
                let corner: F = select(over == ZERO, ZERO, ONE);
                let first: F = atan_positive(select(same, corner, over / along));
                let behind: F = select(same & (over > ZERO), THREE_QUARTER_PI, PI_HI - (first - PI_LO));
                let value: F = select((bits(x) & SIGN) == SIGN, behind, first);
                return select((x == x) & (y == y), with_sign(value, y), x + y);
            }
            /// Arcus sine of a number between 1/2 and 1: right angle less twice that of the root.
            fn asin_far(z: F, s: F, high: F, rest: F) -> F {
                let p: F = TWO * (s * (z * asin_poly(z))) - (HALF_PI_LO - TWO * rest);
                let q: F = QUARTER_PI - TWO * high;
                return QUARTER_PI - (p - q);
            }
            /// The rest of a root without the leading half of its bits.
            fn root_rest(z: F, s: F, high: F) -> F {
                return select(s == ZERO, ZERO, (z - high * high) / (s + high));
            }
            /// Arcus sine, within 2 ulp; not a number outside -1 to 1.
            fn asin(x: F) -> F {
                let size: F = magnitude(x);
                let square: F = size * size;
                let z: F = HALF * (ONE - size);
                let s: F = root(z);
                let high: F = top(s);
                let far: F = asin_far(z, s, high, root_rest(z, s, high));
                let near: F = size + size * (square * asin_poly(square));
                return with_sign(select(size < HALF, near, far), x);
            }
            /// Arcus cosine, within 2 ulp; not a number outside -1 to 1.
            fn acos(x: F) -> F {
                let size: F = magnitude(x);
                let square: F = x * x;
                let z: F = HALF * (ONE - size);
                let s: F = root(z);
                let high: F = top(s);
                let r: F = z * asin_poly(z);
                let right: F = TWO * (high + (r * s + root_rest(z, s, high)));
                let left: F = PI_HI - TWO * (s + (r * s - HALF_PI_LO));
                let near: F = HALF_PI_HI - (x - (HALF_PI_LO - x * (square * asin_poly(square))));
                return select(size < HALF, near, select(x < ZERO, left, right));
            }

            // ---- Error function -----------------------------------------------------------------

            /// Error function, within 2 ulp: an odd polynomial, then 1 less an exponential function
            /// times a polynomial in `(x - 2) / (x + 2)`.
            fn erf(x: F) -> F {
                let size: F = magnitude(x);
                let square: F = size * size;
                let small: F = size + size * erf_poly(square);
                let y: F = select(size > ERF_HIGH, ERF_HIGH, size);
                let t: F = (y - TWO) / (y + TWO);
                let large: F = ONE - exp(-(y * y)) * erfc_poly(t);
                return with_sign(select(size < ERF_BOUND, small, large), x);
            }
        }
    };
}

pub(crate) use elementary_functions;
