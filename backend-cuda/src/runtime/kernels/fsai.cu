// Factorised sparse approximate inverses on the device, with the operations of
// equelle_runtime::linalg::precond::fsai in their order.

// Workspace for the local system of each thread: `size` numbers, interleaved with those of
// neighbouring threads.
struct EqLocal {
  double* workspace;
  EqEntity threads;
};

static_assert(sizeof(EqLocal) == 16, "layout of arguments");

// Number k of the workspace of this thread.
EQ_FUNCTION double& eq_local(const EqLocal& local, unsigned int k) { return local.workspace[(size_t)k * local.threads + eq_index()]; }

// The entries of sign times the matrix in rows and columns J, dense, or their transpose; then e,
// the last unit vector.
EQ_CALLED void eq_gather_local(const EqLocal& local, const EqRows& a, double sign, const EqEntity* J, unsigned int m, bool transposed) {
  for (unsigned int k = 0; k < m * m + m; ++k) eq_local(local, k) = 0.0;
  eq_local(local, m * m + m - 1u) = 1.0;
  for (unsigned int i = 0; i < m; ++i) {
    unsigned int j = 0;
    const unsigned long long end = a.row_ptr[J[i] + 1];
    for (unsigned long long at = a.row_ptr[J[i]]; at < end; ++at) {
      const EqEntity column = a.columns[at];
      while (j < m && J[j] < column) ++j;
      if (j < m && J[j] == column) eq_local(local, transposed ? j * m + i : i * m + j) = sign * a.entries[at];
    }
  }
}

// Elimination with row pivoting; the solution follows the matrix, which is overwritten.
EQ_CALLED bool eq_solve_local(const EqLocal& local, unsigned int m) {
#define EQ_A(i, j) eq_local(local, (i) * m + (j))
#define EQ_B(i) eq_local(local, m * m + (i))
  double largest = 0.0;
  for (unsigned int k = 0; k < m * m; ++k) largest = fabs(eq_local(local, k)) > largest ? fabs(eq_local(local, k)) : largest;
  for (unsigned int step = 0; step < m; ++step) {
    unsigned int row_of_pivot = step;
    for (unsigned int row = step + 1; row < m; ++row)
      if (fabs(EQ_A(row, step)) > fabs(EQ_A(row_of_pivot, step))) row_of_pivot = row;
    const double pivot = EQ_A(row_of_pivot, step);
    if (!(eq_is_finite(pivot) && fabs(pivot) > 16.0 * 2.220446049250313e-16 * largest)) return false;
    if (row_of_pivot != step) {
      for (unsigned int column = 0; column <= m; ++column) {
        double& here = column < m ? EQ_A(step, column) : EQ_B(step);
        double& there = column < m ? EQ_A(row_of_pivot, column) : EQ_B(row_of_pivot);
        const double other = there;
        there = here;
        here = other;
      }
    }
    for (unsigned int row = step + 1; row < m; ++row) {
      const double factor = EQ_A(row, step) / pivot;
      if (factor == 0.0) continue;
      for (unsigned int column = step + 1; column < m; ++column) EQ_A(row, column) = EQ_A(row, column) - factor * EQ_A(step, column);
      EQ_B(row) = EQ_B(row) - factor * EQ_B(step);
    }
  }
  bool finite = true;
  for (unsigned int row = m; row-- > 0;) {
    double sum = EQ_B(row);
    for (unsigned int column = row + 1; column < m; ++column) sum = sum - EQ_A(row, column) * EQ_B(column);
    EQ_B(row) = sum / EQ_A(row, row);
    finite = finite && eq_is_finite(EQ_B(row));
  }
  return finite;
#undef EQ_A
#undef EQ_B
}

// One row of both factors. `left` has the pattern and the entries of the lower one; entry k of a
// row of `left` goes to right[places[k]] in the upper one.
EQ_FUNCTION void eq_fsai_row(EqEntity row, bool symmetric, const EqRows& a, double sign, const EqRows& left, const EqEntity* places, double* right,
                             const EqLocal& local) {
  const unsigned long long begin = left.row_ptr[row];
  const unsigned int m = (unsigned int)(left.row_ptr[row + 1] - begin), last = m - 1u;
  const EqEntity* J = left.columns + begin;
  double* g = left.entries + begin;
  eq_gather_local(local, a, sign, J, m, !symmetric);
  const double diagonal = eq_local(local, m * m - 1u);
  bool solved = eq_solve_local(local, m);
  // A local system without a solution uses the diagonal alone.
  double g_last = 1.0, h_last = 1.0 / diagonal;
  if (symmetric) {
    solved = solved && eq_local(local, m * m + last) > 0.0;
    const double factor = solved ? 1.0 / sqrt(eq_local(local, m * m + last)) : 0.0;
    if (solved)
      for (unsigned int k = 0; k < m; ++k) g[k] = right[places[begin + k]] = eq_local(local, m * m + k) * factor;
    else
      g_last = h_last = 1.0 / sqrt(fabs(diagonal));
  } else if (solved) {
    for (unsigned int k = 0; k < m; ++k) g[k] = eq_local(local, m * m + k);
    eq_gather_local(local, a, sign, J, m, false);
    solved = eq_solve_local(local, m) && g[last] != 0.0;
    if (solved) {
      const double divisor = g[last];
      for (unsigned int k = 0; k < m; ++k) {
        g[k] = g[k] / divisor;
        right[places[begin + k]] = eq_local(local, m * m + k);
      }
    }
  }
  bool finite = solved || (eq_is_finite(g_last) && eq_is_finite(h_last));
  if (solved)
    for (unsigned int k = 0; k < m; ++k) finite = finite && eq_is_finite(g[k]) && eq_is_finite(right[places[begin + k]]);
  if (solved && finite) return;
  for (unsigned int k = 0; k < m; ++k) {
    g[k] = k < last ? 0.0 : finite ? g_last : 1.0;
    right[places[begin + k]] = k < last ? 0.0 : finite ? h_last : 1.0;
  }
}

extern "C" __global__ void equelle_fsai(EqEntity n, unsigned int symmetric, const EqRows a, double sign, const EqRows left, const EqEntity* places,
                                        double* right, const EqLocal local) {
  if (eq_index() >= local.threads) return;
  for (EqEntity row = eq_index(); row < n; row += local.threads) eq_fsai_row(row, symmetric != 0u, a, sign, left, places, right, local);
}
