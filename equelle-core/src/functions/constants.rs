//! Constants and polynomials of the elementary functions in double and in single precision.
//!
//! Polynomials are near-minimax (Chebyshev series of 60 digits, then rounded), highest power first.
//! Constants that end in `_HI` have a rest `_LO`; products of `LN2_HI` and of `HALF_PI_1` to `_3`
//! with the whole numbers that occur are exact.

/// Calls a macro with the constants and the polynomials in double precision.
macro_rules! double_constants {
    ($callback:ident) => {
        $callback! { {
            ZERO: F = 0.0;
            ONE: F = 1.0;
            TWO: F = 2.0;
            HALF: F = 0.5;
            QUARTER: F = 0.25;
            THREE_HALVES: F = 1.5;
            ATAN_BOUND_1: F = 0.4375;
            ATAN_BOUND_2: F = 0.6875;
            ATAN_BOUND_3: F = 1.1875;
            ATAN_BOUND_4: F = 2.4375;
            ERF_BOUND: F = 0.84375;
            ERF_HIGH: F = 6.0;
            WORD: W = 0xffffffff;
            PIECE_1: F = 1.52587890625e-05;
            PIECE_2: F = 2.3283064365386963e-10;
            PIECE_3: F = 3.552713678800501e-15;
            PIECE_4: F = 5.421010862427522e-20;
            PIECE_5: F = 8.271806125530277e-25;
            PIECE_6: F = 1.262177448353619e-29;
            PIECE_7: F = 1.925929944387236e-34;
            PIECE_8: F = 2.938735877055719e-39;
            MANTISSA_BITS: U = 52;
            INFINITE_BITS: U = 0x7ff0000000000000;
            NAN_BITS: U = 0x7ff8000000000000;
            SIGN: U = 0x8000000000000000;
            MAGNITUDE: U = 0x7fffffffffffffff;
            MANTISSA: U = 0xfffffffffffff;
            IMPLICIT: U = 0x10000000000000;
            MIN_NORMAL: F = 2.2250738585072014e-308;
            WHOLE: F = 4503599627370496.0;
            SHIFT: F = 6755399441055744.0;
            SPLIT: F = 134217729.0;
            EXP_BITS: U = 0x4337fffffffff802;
            POWER_BITS: U = 0x4337fffffffffc01;
            INV_LN2: F = 1.4426950408889634;
            LN2_HI: F = 0.6931471805598903;
            LN2_LO: F = 5.497923018708371e-14;
            EXP_LOW: F = -746.0;
            EXP_HIGH: F = 710.0;
            COSH_HIGH: F = 712.0;
            TANH_HIGH: F = 22.0;
            SQRT_HALF_BITS: U = 0x3fe6a09e667f3bcd;
            LOG_OFFSET: U = 0x95f619980c433;
            SUBNORMAL_SCALE: F = 1.8014398509481984e+16;
            SUBNORMAL_EXPONENT: F = 54.0;
            WHOLE_BITS: U = 0x4330000000000000;
            WHOLE_AND_BIAS: F = 4503599627371519.0;
            THREE: F = 3.0;
            THIRD_LOG2: F = 0.9617966939259756;
            THIRD_LOG2_TOP: F = 0.9617966860532761;
            THIRD_LOG2_REST: F = 7.872699542894897e-09;
            LOG10_2: F = 0.3010299956639812;
            LOG10_2_TOP: F = 0.3010299950838089;
            LOG10_2_REST: F = 5.801722962879576e-10;
            LN2: F = 0.6931471805599453;
            LN2_TOP: F = 0.6931471675634384;
            LN2_REST: F = 1.2996506893889889e-08;
            POW_LOW: F = -1076.0;
            POW_HIGH: F = 1025.0;
            POW_EXPONENT: F = 7.378697629483821e+19;
            TWO_OVER_PI: F = 0.6366197723675814;
            HALF_PI_1: F = 1.5707963267341256;
            HALF_PI_2: F = 6.077100506303966e-11;
            HALF_PI_3: F = 2.0222662487111665e-21;
            HALF_PI_4: F = 8.4784276603689e-32;
            HALF_PI_HI: F = 1.5707963267948966;
            HALF_PI_LO: F = 6.123233995736766e-17;
            PI_HI: F = 3.141592653589793;
            PI_LO: F = 1.2246467991473532e-16;
            QUARTER_PI: F = 0.7853981633974483;
            THREE_QUARTER_PI: F = 2.356194490192345;
            NEAR_ANGLE: F = 100000.0;
            FAR_OFFSET: U = 1013;
            ATAN_HALF_HI: F = 0.4636476090008061;
            ATAN_HALF_LO: F = 2.2698777452961687e-17;
            ATAN_ONE_HI: F = 0.7853981633974483;
            ATAN_ONE_LO: F = 3.061616997868383e-17;
            ATAN_THREE_HALVES_HI: F = 0.982793723247329;
            ATAN_THREE_HALVES_LO: F = 1.3903311031230998e-17;
            HIGH_HALF: U = 0xfffffffff8000000;
        } {
            exp_poly: [
                2.09147553258932e-09, 2.5105312729622103e-08, 2.755727347871858e-07,
                2.755725517000089e-06, 2.480158732567746e-05, 0.0001984126987500228,
                0.0013888888888883711, 0.008333333333326084, 0.04166666666666667, 0.1666666666666667,
                0.5,
            ];
            exp_even_poly: [0.04166666666666667, 0.5];
            exp_odd_poly: [0.008333333333326084, 0.1666666666666667];
            exp_high_even_poly: [2.09147553258932e-09, 2.755727347871858e-07, 2.480158732567746e-05, 0.0013888888888883711];
            exp_high_odd_poly: [2.5105312729622103e-08, 2.755725517000089e-06, 0.0001984126987500228];
            sin_poly: [
                -7.586636882825159e-13, 1.6058530596645953e-10, -2.50521062259944e-08,
                2.755731921932058e-06, -0.0001984126984126504, 0.008333333333333331,
                -0.16666666666666666,
            ];
            cos_poly: [
                4.745838412531023e-14, -1.1470460319209511e-11, 2.0876755787492604e-09,
                -2.755731922139249e-07, 2.4801587301584632e-05, -0.0013888888888888887,
                0.041666666666666664,
            ];
            sinh_poly: [
                2.8445264169895285e-15, 7.646625361656657e-13, 1.6059048396350562e-10,
                2.505210836405804e-08, 2.755731922404034e-06, 0.00019841269841269773,
                0.008333333333333333, 0.16666666666666666,
            ];
            log_poly: [
                0.13088034850927555, 0.13268638369266825, 0.15386244737621665, 0.18181795547521137,
                0.22222222392581045, 0.28571428570799784, 0.40000000000000885, 0.6666666666666666,
            ];
            log2_even_poly: [0.17559336203184334, 0.23076892431206913, 0.3333333333248331, 0.6];
            log2_odd_poly: [0.1758495935118541, 0.20002207724418122, 0.2727272750320686, 0.4285714285714405];
            atan_poly: [
                0.014759380407779157, -0.033114228762660534, 0.044916556747777434, -0.05216532007308444,
                0.05876924062763387, -0.06666239748865294, 0.07692285419714515, -0.09090908350382436,
                0.111111110965279, -0.14285714285565465, 0.19999999999999404, -0.3333333333333333,
            ];
            asin_poly: [
                0.02961201126495512, -0.01924167174674304, 0.019554513336123378, 0.0030448799094556773,
                0.009319560794767446, 0.009621842970100282, 0.011566459612121669, 0.01396378001220357,
                0.017352816540325496, 0.02237215744350722, 0.03038194447553234, 0.044642857142551895,
                0.07500000000000118, 0.16666666666666666,
            ];
            erf_poly: [
                -8.879702704985848e-10, 1.4205594850504056e-08, -1.630309508468887e-07,
                1.6457914349746103e-06, -1.4925463570287675e-05, 0.00012055327421282683,
                -0.000854832691425112, 0.005223977624080742, -0.026866170645031, 0.11283791670954745,
                -0.3761263890318375, 0.1283791670955126,
            ];
            erfc_poly: [
                2.810391650090736e-08, -4.676338221752263e-07, -5.165769235908189e-07,
                1.190195359806584e-06, 3.7805908273840453e-06, 1.3923024312972677e-06,
                -1.3966688519098736e-05, -2.7580052103090973e-05, 2.752538446808035e-05,
                0.0001743611891846946, 4.35556046510914e-05, -0.0009819770277223214,
                -0.0008471432508948585, 0.006997461739224512, 0.003732892404325694, -0.0789785810157323,
                0.24165819424246648, -0.4271858474139584, 0.25539567631050575,
            ];
        } }
    };
}

/// The same in single precision.
macro_rules! single_constants {
    ($callback:ident) => {
        $callback! { {
            ZERO: F = 0.0;
            ONE: F = 1.0;
            TWO: F = 2.0;
            HALF: F = 0.5;
            QUARTER: F = 0.25;
            THREE_HALVES: F = 1.5;
            ATAN_BOUND_1: F = 0.4375;
            ATAN_BOUND_2: F = 0.6875;
            ATAN_BOUND_3: F = 1.1875;
            ATAN_BOUND_4: F = 2.4375;
            ERF_BOUND: F = 0.84375;
            ERF_HIGH: F = 6.0;
            WORD: W = 0xffffffff;
            PIECE_1: F = 1.5258789e-5;
            PIECE_2: F = 2.3283064e-10;
            PIECE_3: F = 3.5527137e-15;
            PIECE_4: F = 5.421011e-20;
            PIECE_5: F = 8.271806e-25;
            PIECE_6: F = 1.26217745e-29;
            PIECE_7: F = 1.92593e-34;
            PIECE_8: F = 2.938735877e-39;
            MANTISSA_BITS: U = 23;
            INFINITE_BITS: U = 0x7f800000;
            NAN_BITS: U = 0x7fc00000;
            SIGN: U = 0x80000000;
            MAGNITUDE: U = 0x7fffffff;
            MANTISSA: U = 0x7fffff;
            IMPLICIT: U = 0x800000;
            MIN_NORMAL: F = 1.1754944e-38;
            WHOLE: F = 8.388608e6;
            SHIFT: F = 1.2582912e7;
            SPLIT: F = 4.097e3;
            EXP_BITS: U = 0x4b3fff02;
            POWER_BITS: U = 0x4b3fff81;
            INV_LN2: F = 1.442695;
            LN2_HI: F = 6.9314575e-1;
            LN2_LO: F = 1.4286068e-6;
            EXP_LOW: F = -1.05e2;
            EXP_HIGH: F = 8.9e1;
            COSH_HIGH: F = 9.1e1;
            TANH_HIGH: F = 1.0e1;
            SQRT_HALF_BITS: U = 0x3f3504f3;
            LOG_OFFSET: U = 0x4afb0d;
            SUBNORMAL_SCALE: F = 3.3554432e7;
            SUBNORMAL_EXPONENT: F = 2.5e1;
            WHOLE_BITS: U = 0x4b000000;
            WHOLE_AND_BIAS: F = 8.388735e6;
            THREE: F = 3.0;
            THIRD_LOG2: F = 9.617967e-1;
            THIRD_LOG2_TOP: F = 9.616699e-1;
            THIRD_LOG2_REST: F = 1.2677205e-4;
            LOG10_2: F = 3.0103e-1;
            LOG10_2_TOP: F = 3.010254e-1;
            LOG10_2_REST: F = 4.605039e-6;
            LN2: F = 6.931472e-1;
            LN2_TOP: F = 6.9311523e-1;
            LN2_REST: F = 3.1946183e-5;
            POW_LOW: F = -1.51e2;
            POW_HIGH: F = 1.29e2;
            POW_EXPONENT: F = 6.871948e10;
            TWO_OVER_PI: F = 6.3661975e-1;
            HALF_PI_1: F = 1.5707397;
            HALF_PI_2: F = 5.657971e-5;
            HALF_PI_3: F = 9.920882e-10;
            HALF_PI_4: F = 5.390303e-15;
            HALF_PI_HI: F = 1.5707964;
            HALF_PI_LO: F = -4.371139e-8;
            PI_HI: F = 3.1415927;
            PI_LO: F = -8.742278e-8;
            QUARTER_PI: F = 7.853982e-1;
            THREE_QUARTER_PI: F = 2.3561945;
            NEAR_ANGLE: F = 4.0e2;
            FAR_OFFSET: U = 88;
            ATAN_HALF_HI: F = 4.636476e-1;
            ATAN_HALF_LO: F = 5.0121587e-9;
            ATAN_ONE_HI: F = 7.853982e-1;
            ATAN_ONE_LO: F = -2.1855694e-8;
            ATAN_THREE_HALVES_HI: F = 9.8279375e-1;
            ATAN_THREE_HALVES_LO: F = -2.5131424e-8;
            HIGH_HALF: U = 0xfffff000;
        } {
            exp_poly: [1.989108e-4, 1.3933731e-3, 8.3333105e-3, 4.1666463e-2, 1.6666667e-1, 5.0e-1];
            exp_even_poly: [4.1666463e-2, 5.0e-1];
            exp_odd_poly: [8.3333105e-3, 1.6666667e-1];
            exp_high_even_poly: [1.3933731e-3];
            exp_high_odd_poly: [1.989108e-4];
            sin_poly: [2.724962e-6, -1.9840084e-4, 8.333332e-3, -1.6666667e-1];
            cos_poly: [-2.7300703e-7, 2.4800598e-5, -1.3888888e-3, 4.1666668e-2];
            sinh_poly: [2.8062802e-6, 1.9838102e-4, 8.333339e-3, 1.6666667e-1];
            log_poly: [2.3331614e-1, 2.855078e-1, 4.0000123e-1, 6.666667e-1];
            log2_even_poly: [3.3307138e-1, 6.0e-1];
            log2_odd_poly: [2.8680828e-1, 4.2857298e-1];
            atan_poly: [
                4.8201866e-2, -8.531211e-2, 1.10580906e-1, -1.4283392e-1, 1.9999963e-1, -3.3333334e-1,
            ];
            asin_poly: [
                3.3690847e-2, 1.7149238e-2, 3.1100662e-2, 4.4599403e-2, 7.500094e-2, 1.6666666e-1,
            ];
            erf_poly: [
                -6.3530606e-4, 5.0574434e-3, -2.6806252e-2, 1.1282805e-1, -3.7612578e-1, 1.2837917e-1,
            ];
            erfc_poly: [
                1.2272471e-4, -9.17525e-4, -8.720248e-4, 6.9890306e-3, 3.7354503e-3, -7.897815e-2,
                2.416581e-1, -4.2718586e-1, 2.5539568e-1,
            ];
        } }
    };
}

/// 2/pi: 64 bits that are 0, then the binary digits, 32 in each word.
macro_rules! two_over_pi {
    ($callback:ident) => {
        $callback! {
            0x00000000, 0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041,
            0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e,
            0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b,
            0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d,
            0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab,
            0xf0cfbc20, 0x9af4361d, 0xa9e39161, 0x5ee61b08, 0x6599855f, 0x14a06840,
        }
    };
}

pub(crate) use {double_constants, single_constants, two_over_pi};
