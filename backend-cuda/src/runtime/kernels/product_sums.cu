// Products with matrices and sums that follow, in one pass: matrices in rows, and two sums.

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
