// A product with a matrix in slices and the sum that follows, in one pass.

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
