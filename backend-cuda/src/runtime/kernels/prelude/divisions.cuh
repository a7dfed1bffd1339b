// ---- Divisions by one number --------------------------------------------------------------------
// a / b without a branch, bit for bit, from the inverse of b: two steps of correction, of which the
// last gives the rounded quotient (Markstein 1990, doi:10.1147/rd.341.0111). That no step may leave
// the normal numbers is what the bounds are for; `rare` tells that an operand is beyond them.

#ifdef EQ_SHIM
EQ_FUNCTION unsigned int eq_high_word(double x) { unsigned long long u; __builtin_memcpy(&u, &x, sizeof u); return (unsigned int)(u >> 32); }
EQ_FUNCTION unsigned int eq_word(float x) { unsigned int u; __builtin_memcpy(&u, &x, sizeof u); return u; }
#else
EQ_FUNCTION unsigned int eq_high_word(double x) { return (unsigned int)__double2hiint(x); }
EQ_FUNCTION unsigned int eq_word(float x) { return __float_as_uint(x); }
#endif

// From 2^-200 to 2^200, and from 2^-40 to 2^40.
EQ_FUNCTION double eq_inverse(double b, bool& rare) {
  rare = rare || (eq_high_word(b) & 0x7fffffffu) - 0x33700000u >= 0x19000000u;
  return 1.0 / b;
}
EQ_FUNCTION float eq_inverse(float b, bool& rare) {
  rare = rare || (eq_word(b) & 0x7fffffffu) - 0x2b800000u >= 0x28000000u;
  return 1.0f / b;
}

// The dividend is 0, or from 2^-700 to 2^700. A zero has the sign of the first product.
EQ_FUNCTION double eq_divide_by(double a, double b, double inverse, bool& rare) {
  rare = rare || ((eq_high_word(a) & 0x7fffffffu) - 0x14300000u >= 0x57800000u && a != 0.0);
  const double about = a * inverse, near = fma(fma(-about, b, a), inverse, about);
  return copysign(fma(fma(-near, b, a), inverse, near), about);
}
// Singles come near their smallest number: small dividends are 2^64 times as large on the way, and
// quotients are 0, or from 2^-126 to 2^121. Beyond these, products of the steps may be inexact.
EQ_FUNCTION float eq_divide_by(float a, float b, float inverse, bool& rare) {
  const bool small = fabsf(a) < 1.0f;
  const float scaled = small ? a * 0x1p64f : a;
  const float about = scaled * inverse, near = fmaf(fmaf(-about, b, scaled), inverse, about);
  const float exact = copysignf(fmaf(fmaf(-near, b, scaled), inverse, near), about), quotient = small ? exact * 0x1p-64f : exact;
  rare = rare || ((eq_word(quotient) & 0x7fffffffu) - 0x00800000u >= 0x7b800000u && a != 0.0f);
  return quotient;
}

