// Fused operations of Krylov methods: sums with updates of vectors before, in one pass, and with
// operations on scalars after.

// By one warp.
extern "C" __global__ void equelle_numbers(const EqNumbers numbers) {
  EQ_START
#ifdef EQ_SHIM
  if (eq_index() == 0) eq_numbers(numbers);
#else
  eq_numbers(numbers, eq_operands(numbers, 0, 0));
#endif
}

EQ_FUNCTION double eq_row_product(const EqRows& a, EqEntity row, const double* x) {
  double sum = 0.0;
  const unsigned long long end = a.row_ptr[row + 1];
  for (unsigned long long k = a.row_ptr[row]; k < end; ++k) sum = sum + a.entries[k] * x[a.columns[k]];
  return sum;
}

// y = A x, and w . y. 12 bytes an entry, 16 a row, x, y and w.
extern "C" __global__ void equelle_rows_dot(EqEntity n, const EqRows a, double* y, const double* x, const double* w, const EqSums sums,
                                            const EqNumbers numbers) {
  EQ_START
  EQ_SUM_WORKSPACE(1)
  eq_sums<1>(n, sums, numbers, workspace, [=](EqEntity row) {
    const double value = eq_row_product(a, row, x);
    y[row] = value;
    return EqValues{w[row] * value, 0.0};
  });
}

// y = A x, w . y and y . y.
extern "C" __global__ void equelle_rows_dots(EqEntity n, const EqRows a, double* y, const double* x, const double* w, const EqSums sums,
                                             const EqNumbers numbers) {
  EQ_START
  EQ_SUM_WORKSPACE(2)
  eq_sums<2>(n, sums, numbers, workspace, [=](EqEntity row) {
    const double value = eq_row_product(a, row, x);
    y[row] = value;
    return EqValues{w[row] * value, value * value};
  });
}

// y = A x, and w . y, of a matrix in slices.
extern "C" __global__ void EQ_SUMS_OF_ROWS equelle_format_dot(EqEntity n, const EqSparseMatrix a, double* y, const double* x, const double* w, const EqSums sums,
                                            const EqNumbers numbers) {
  EQ_START
  EQ_SUM_WORKSPACE(1)
  eq_sums<1>(n, sums, numbers, workspace, [=](EqEntity row) {
    const double value = eq_slice_sum(a, row, [=](EqEntity column) { return x[column]; });
    y[row] = value;
    return EqValues{w[row] * value, 0.0};
  });
}

// y = A x, w . y and y . y, of a matrix in slices.
extern "C" __global__ void EQ_SUMS_OF_ROWS equelle_format_dots(EqEntity n, const EqSparseMatrix a, double* y, const double* x, const double* w, const EqSums sums,
                                             const EqNumbers numbers) {
  EQ_START
  EQ_SUM_WORKSPACE(2)
  eq_sums<2>(n, sums, numbers, workspace, [=](EqEntity row) {
    const double value = eq_slice_sum(a, row, [=](EqEntity column) { return x[column]; });
    y[row] = value;
    return EqValues{w[row] * value, value * value};
  });
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
