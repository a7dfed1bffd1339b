// Fused operations of Krylov methods on vectors, and operations on scalars.

// By one warp.
extern "C" __global__ void equelle_numbers(const EqNumbers numbers) {
  EQ_START
#ifdef EQ_SHIM
  if (eq_index() == 0) eq_numbers(numbers);
#else
  eq_numbers(numbers, eq_operands(numbers, 0, 0));
#endif
}

// ---- Updates of two vectors, or with two --------------------------------------------------------

// x = x + a p, then p = z + b p; with a diagonal d, p = d z + b p. 40 bytes an element, or 48.
extern "C" __global__ void equelle_step(EqEntity n, double* x, const double* a, double* p, const double* b, const double* d, const double* z) {
  EQ_START
  const EqEntity k = eq_index();
  if (k >= n) return;
  const double old = p[k], direction = d ? d[k] * z[k] : z[k];
  x[k] = x[k] + *a * old;
  p[k] = direction + *b * old;
}

// y = (y + a x) + b z. 32 bytes an element.
extern "C" __global__ void equelle_add_two(EqEntity n, double* y, const double* a, const double* x, const double* b, const double* z) {
  EQ_START
  const EqEntity k = eq_index();
  if (k < n) y[k] = (y[k] + *a * x[k]) + *b * z[k];
}

// p = r + b (p - a v). 32 bytes an element.
extern "C" __global__ void equelle_turn(EqEntity n, double* p, const double* a, const double* v, const double* b, const double* r) {
  EQ_START
  const EqEntity k = eq_index();
  if (k < n) p[k] = r[k] + *b * (p[k] - *a * v[k]);
}
