// Fused steps of smoothers.

// c0 d + c1 D (b - A x) of a row; d is not read where c0 is 0.
EQ_FUNCTION EqReal eq_smoothing(EqReal c0, EqReal d, EqReal c1, EqReal inverse, EqReal residual) {
  const EqReal step = c1 * (inverse * residual);
  return c0 == 0 ? step : c0 * d + step;
}

// Two steps from zero: the first, c0 D b, is recomputed by each row that needs it. The second goes
// to d if `keep`.
extern "C" __global__ void equelle_smooth_from_zero(EqEntity n, const EqSparseMatrix a, double c0, double c1, double c2, const EqReal* inverse,
                                                    const EqReal* b, EqReal* y, EqReal* d, unsigned int keep) {
  EQ_START
  const EqRowLane at = eq_row_lane(n, a.lanes);
  const auto first = [=](EqEntity column) { return (EqReal)c0 * (inverse[column] * b[column]); };
  const EqReal sum = eq_form_sum(a, at.row, at.is_there, at.lane, first);
  if (!at.is_there || at.lane != 0) return;
  const EqReal begin = first(at.row), step = eq_smoothing((EqReal)c1, begin, (EqReal)c2, inverse[at.row], b[at.row] - sum);
  y[at.row] = begin + step;
  if (keep) d[at.row] = step;
}

// d = c0 d + c1 D (b - A x), y = x + d; d is written if `keep`.
extern "C" __global__ void equelle_smooth(EqEntity n, const EqSparseMatrix a, double c0, double c1, const EqReal* inverse, const EqReal* b,
                                          const EqReal* x, EqReal* y, EqReal* d, unsigned int keep) {
  EQ_START
  const EqRowLane at = eq_row_lane(n, a.lanes);
  const EqReal sum = eq_form_sum(a, at.row, at.is_there, at.lane, [=](EqEntity column) { return x[column]; });
  if (!at.is_there || at.lane != 0) return;
  const EqReal step = eq_smoothing((EqReal)c0, c0 == 0.0 ? 0 : d[at.row], (EqReal)c1, inverse[at.row], b[at.row] - sum);
  y[at.row] = x[at.row] + step;
  if (keep) d[at.row] = step;
}

// The same for a matrix in slices, without keeping d, and b . y.
extern "C" __global__ void EQ_SUMS_OF_ROWS equelle_smooth_dot(EqEntity n, const EqSparseMatrix a, double c0, double c1, const EqReal* inverse, const EqReal* b,
                                              const EqReal* x, EqReal* y, const EqReal* d, const EqSums sums,
                                              const EqNumbers numbers) {
  EQ_START
  EQ_SUM_WORKSPACE(1)
  eq_sums<1>(n, sums, numbers, workspace, [=](EqEntity row) {
    const EqReal sum = eq_slice_sum(a, row, [=](EqEntity column) { return x[column]; });
    const EqReal right = b[row];
    const EqReal value = x[row] + eq_smoothing((EqReal)c0, c0 == 0.0 ? 0 : d[row], (EqReal)c1, inverse[row], right - sum);
    y[row] = value;
    return EqValues{eq_product(right, value), 0.0};
  });
}

// x = x + P e, d = c D (r - A P e), x = x + d, where `image` is A P.
extern "C" __global__ void equelle_correct(EqEntity n, const EqSparseMatrix image, const EqRows prolongation, const EqReal* e, const EqReal* r,
                                           const EqReal* inverse, double c, EqReal* x, EqReal* d) {
  EQ_START
  const EqRowLane at = eq_row_lane(n, image.lanes);
  const auto coarse = [=](EqEntity column) { return e[column]; };
  const EqReal lost = eq_form_sum(image, at.row, at.is_there, at.lane, coarse);
  const EqReal gained = eq_row_sum(prolongation, at.row, at.is_there, at.lane, image.lanes, coarse);
  if (!at.is_there || at.lane != 0) return;
  const EqReal step = (EqReal)c * (inverse[at.row] * (r[at.row] - lost));
  x[at.row] = (x[at.row] + gained) + step;
  d[at.row] = step;
}
