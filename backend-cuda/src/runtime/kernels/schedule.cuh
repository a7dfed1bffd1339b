// Common part of kernels that follow a schedule.

// Rows of a schedule, group after group.
struct EqSchedule {
  const EqEntity* rows;
  // Index of the first row of each group.
  const EqEntity* starts;
};

// Factors of a matrix of k by k blocks, rows in the order of a schedule. Unknown f of element e is
// number f n + e of a vector.
struct EqFactors {
  const unsigned long long* row_ptr;
  // Number of blocks before the diagonal, in each row.
  const EqEntity* lower;
  // Elements, in the order of elimination.
  const EqEntity* columns;
  const double* blocks;
  const double* inverse;
  // Workspace of a vector, for block sizes without a case.
  double* work;
  EqEntity n;
  unsigned int k;
};

static_assert(sizeof(EqSchedule) == 16 && sizeof(EqFactors) == 56, "layout of arguments");

// Runs `row` for every row of groups, one block for all of them: descending groups with `back`.
#ifdef EQ_SHIM
#define EQ_GROUPS(schedule, first, count, back, row)                                                        \
  if (threadIdx.x != 0) return;                                                                             \
  for (unsigned int g = 0; g < (count); ++g) {                                                              \
    const EqEntity group = (back) ? (first) + (count) - 1u - g : (first) + g;                               \
    for (EqEntity p = (schedule).starts[group]; p < (schedule).starts[group + 1]; ++p) row;                 \
  }
#else
#define EQ_GROUPS(schedule, first, count, back, row)                                                        \
  for (unsigned int g = 0; g < (count); ++g) {                                                              \
    const EqEntity group = (back) ? (first) + (count) - 1u - g : (first) + g;                               \
    for (EqEntity p = (schedule).starts[group] + threadIdx.x; p < (schedule).starts[group + 1]; p += blockDim.x) row; \
    __syncthreads();                                                                                        \
  }
#endif

