// Products with sparse matrices that are used many times.

// y = A x; y = y + A x; y = y - A x; y = b - A x: operation 0 to 3.
extern "C" __global__ void equelle_format_product(unsigned int operation, EqEntity n, const EqSparseMatrix a, const EqReal* b, const EqReal* x,
                                                EqReal* y) {
  EQ_START
  const EqRowLane at = eq_row_lane(n, a.lanes);
  const EqReal sum = eq_form_sum(a, at.row, at.is_there, at.lane, [=](EqEntity column) { return x[column]; });
  if (!at.is_there || at.lane != 0) return;
  switch (operation) {
    case 0: y[at.row] = sum; break;
    case 1: y[at.row] = y[at.row] + sum; break;
    case 2: y[at.row] = y[at.row] - sum; break;
    default: y[at.row] = b[at.row] - sum; break;
  }
}
