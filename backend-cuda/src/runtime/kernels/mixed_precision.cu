// Conversions between double and single precision, for cycles of multigrid in single precision.

// `scale` times numbers, rounded.
extern "C" __global__ void equelle_narrow_entries(EqEntity n, const double* in, double scale, float* out) {
  const EqEntity k = eq_index();
  if (k < n) out[k] = (float)(in[k] * scale);
}

// The power of two with an exponent between -1022 and 1023.
EQ_FUNCTION double eq_power_of_two(int exponent) { return eq_of_bits((unsigned long long)(exponent + 1023) << 52); }

// The exponent of the largest power of two in a number, which is positive and finite.
EQ_FUNCTION int eq_exponent(double value) {
  const int field = (int)(eq_bits(value) >> 52);
  return (field < 1 ? 1 : field) - 1023;
}

// The exponent of the power of two that scales a residual into single precision, from a measure of
// its size: the largest magnitude of the residual or of the one before it (0), the dot product of
// that one with the cycle's result (1), or the square norm of the residual (2). The cycle is near
// the inverse of the matrix, so the dot product over `scale` is the square of the residual times a
// factor between the inverses of the eigenvalues of `scale` times the matrix, the largest of which
// is near 1. A residual may thus be smaller than its power of two by the root of a condition
// number, and change by as much until the next measure: the range of 1e-38 to 1e38 has room for
// both. Values out of range become infinite or zero in the cycle and in its dot product, which ends
// methods as in double precision. 0 for a measure that is not positive or not finite: a zero
// residual, one that is not finite, or a method that has broken down.
EQ_FUNCTION int eq_size(unsigned int told, double number, double scale) {
  if (!(number > 0.0) || !(number <= 1.7976931348623157e308)) return 0;
  int exponent = eq_exponent(number);
  if (told != 0) {
    if (told == 1) exponent -= eq_exponent(scale);
    exponent = (exponent - (exponent & 1)) / 2;
  }
  // Its inverse is a normal number too.
  return exponent < -1022 ? -1022 : exponent > 1022 ? 1022 : exponent;
}

// Divides a residual by a power of two for a cycle that is set up for `scale` times a matrix, after
// r = r - a q if there is an a. The cycle's result must be multiplied by factors[0], and its
// product with the residual by factors[1]. 12 bytes an element, 28 with the update.
extern "C" __global__ void equelle_narrow(EqEntity n, unsigned int told, const double* number, double scale, double* r, const double* a, const double* q,
                                          float* narrow, double* factors) {
  EQ_START
  const EqEntity k = eq_index();
  if (k >= n) return;
  const int exponent = eq_size(told, *number, scale);
  double value = r[k];
  if (a) {
    value = value - *a * q[k];
    r[k] = value;
  }
  narrow[k] = (float)(value * eq_power_of_two(-exponent));
  if (k != 0) return;
  const double size = eq_power_of_two(exponent);
  factors[0] = scale * size;
  factors[1] = scale * size * size;
}

// z = factor narrow. 12 bytes an element.
extern "C" __global__ void equelle_widen(EqEntity n, const float* narrow, const double* factor, double* z) {
  EQ_START
  const EqEntity k = eq_index();
  if (k < n) z[k] = (double)narrow[k] * *factor;
}

// x = x + a p, then p = factor narrow + b p. 36 bytes an element.
extern "C" __global__ void equelle_step_narrow(EqEntity n, double* x, const double* a, double* p, const double* b, const float* narrow, const double* factor) {
  EQ_START
  const EqEntity k = eq_index();
  if (k >= n) return;
  const double old = p[k];
  x[k] = x[k] + *a * old;
  p[k] = (double)narrow[k] * *factor + *b * old;
}
