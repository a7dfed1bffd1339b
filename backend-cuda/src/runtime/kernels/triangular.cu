// Triangular solves and Gauss-Seidel sweeps, a group of independent rows at a time
// (equelle_runtime::linalg::matrix::schedule). Vectors are read with plain loads, because other
// threads of the same launch may have written them.

// One row of either substitution with scalars. 12 bytes an entry of the triangle and 44 a row.
EQ_FUNCTION void eq_substitute_point(const EqFactors& f, EqEntity row, EqEntity p, bool back, const double* r, double* z) {
  const unsigned long long begin = f.row_ptr[p], diagonal = begin + f.lower[p];
  if (back) {
    const unsigned long long end = f.row_ptr[p + 1];
    double sum = 0.0;
    for (unsigned long long at = diagonal + 1; at < end; ++at) sum = sum + f.blocks[at] * z[f.columns[at]];
    z[row] = z[row] - sum * f.inverse[p];
  } else {
    double sum = r[row];
    for (unsigned long long at = begin; at < diagonal; ++at) sum = sum - f.blocks[at] * z[f.columns[at]];
    z[row] = sum * f.inverse[p];
  }
}

// One row with blocks; `sum` is a workspace of k numbers, `step` apart.
template <unsigned int K>
EQ_FUNCTION void eq_substitute_block(const EqFactors& f, EqEntity row, EqEntity p, bool back, const double* r, double* z, double* sum, size_t step) {
  const unsigned int k = K == 0 ? f.k : K;
  const size_t n = f.n, size = (size_t)k * k;
  const unsigned long long diagonal = f.row_ptr[p] + f.lower[p];
  const unsigned long long begin = back ? diagonal + 1 : f.row_ptr[p], end = back ? f.row_ptr[p + 1] : diagonal;
  for (unsigned int e = 0; e < k; ++e) sum[e * step] = back ? 0.0 : r[e * n + row];
  for (unsigned long long at = begin; at < end; ++at) {
    const double* block = f.blocks + at * size;
    const size_t column = f.columns[at];
    for (unsigned int g = 0; g < k; ++g) {
      const double x = z[g * n + column];
      for (unsigned int e = 0; e < k; ++e) sum[e * step] = sum[e * step] - block[e * k + g] * x;
    }
  }
  const double* inverse = f.inverse + p * size;
  for (unsigned int e = 0; e < k; ++e) {
    double product = 0.0;
    for (unsigned int g = 0; g < k; ++g) product = product + inverse[e * k + g] * sum[g * step];
    z[e * n + row] = back ? z[e * n + row] + product : product;
  }
}

EQ_FUNCTION void eq_substitute(const EqSchedule& schedule, const EqFactors& f, EqEntity p, bool back, const double* r, double* z) {
  const EqEntity row = schedule.rows[p];
  if (f.k == 1u) {
    eq_substitute_point(f, row, p, back, r, z);
  } else if (f.k == 2u) {
    double sum[2];
    eq_substitute_block<2>(f, row, p, back, r, z, sum, 1);
  } else if (f.k == 3u) {
    double sum[3];
    eq_substitute_block<3>(f, row, p, back, r, z, sum, 1);
  } else if (f.k == 4u) {
    double sum[4];
    eq_substitute_block<4>(f, row, p, back, r, z, sum, 1);
  } else {
    eq_substitute_block<0>(f, row, p, back, r, z, f.work + row, f.n);
  }
}

// Rows `from` to `to` of the schedule, all of one group: forward z = D^-1 (r - L z), backward z =
// z - D^-1 U z.
extern "C" __global__ void equelle_substitute(EqEntity from, EqEntity to, unsigned int back, const EqSchedule schedule, const EqFactors f,
                                              const double* r, double* z) {
  EQ_START
  const EqEntity p = from + eq_index();
  if (p < to) eq_substitute(schedule, f, p, back != 0u, r, z);
}

// Several groups of few rows.
extern "C" __global__ void equelle_substitute_groups(EqEntity first, EqEntity count, unsigned int back, const EqSchedule schedule,
                                                     const EqFactors f, const double* r, double* z) {
  EQ_START
  EQ_GROUPS(schedule, first, count, back != 0u, eq_substitute(schedule, f, p, back != 0u, r, z))
}

// x_i = x_i + d_i (b - A x)_i for a row of a schedule. 12 bytes an entry and 44 a row.
EQ_FUNCTION void eq_relax(const EqSchedule& schedule, const EqRows& a, EqEntity p, const double* d, const double* b, double* x) {
  const EqEntity row = schedule.rows[p];
  double sum = 0.0;
  const unsigned long long end = a.row_ptr[row + 1];
  for (unsigned long long k = a.row_ptr[row]; k < end; ++k) sum = sum + a.entries[k] * x[a.columns[k]];
  x[row] = x[row] + d[row] * (b[row] - sum);
}

extern "C" __global__ void equelle_relax(EqEntity from, EqEntity to, unsigned int, const EqSchedule schedule, const EqRows a, const double* d,
                                         const double* b, double* x) {
  EQ_START
  const EqEntity p = from + eq_index();
  if (p < to) eq_relax(schedule, a, p, d, b, x);
}

extern "C" __global__ void equelle_relax_groups(EqEntity first, EqEntity count, unsigned int back, const EqSchedule schedule, const EqRows a,
                                                const double* d, const double* b, double* x) {
  EQ_START
  EQ_GROUPS(schedule, first, count, back != 0u, eq_relax(schedule, a, p, d, b, x))
}
