// Patterns of equations: rows made of listed columns, and connected components of columns.

// Numbers behind the first of `sums`, for prefix sums.
extern "C" __global__ void equelle_lengths(EqEntity n, const EqEntity* __restrict__ counts, unsigned long long* __restrict__ sums) {
  const EqEntity k = eq_index();
  if (k >= n) return;
  if (k == 0) sums[0] = 0;
  sums[k + 1] = counts[k];
}

// Longest list that is sorted by insertion.
#define EQ_SHORT_LIST 48u

// Sorts numbers by a heap.
EQ_FUNCTION void eq_sift(EqEntity* values, unsigned int root, unsigned int count) {
  const EqEntity value = values[root];
  for (;;) {
    unsigned int child = 2 * root + 1;
    if (child >= count) break;
    if (child + 1 < count && values[child + 1] > values[child]) ++child;
    if (values[child] <= value) break;
    values[root] = values[child];
    root = child;
  }
  values[root] = value;
}
EQ_FUNCTION void eq_heap_sort(EqEntity* values, unsigned int count) {
  for (unsigned int k = count / 2; k > 0; --k) eq_sift(values, k - 1, count);
  for (unsigned int last = count - 1; last > 0; --last) {
    const EqEntity most = values[0];
    values[0] = values[last];
    values[last] = most;
    eq_sift(values, 0, last);
  }
}

// Sorts the listed columns of each row, each once and without EQ_NONE, and writes their numbers
// behind the first of `row_ptr`. `columns` may be `listed`.
extern "C" __global__ void equelle_sort_rows(EqEntity n, const unsigned long long* starts, const EqEntity* listed, EqEntity* columns,
                                             unsigned long long* row_ptr) {
  const EqEntity row = eq_index();
  if (row >= n) return;
  const unsigned long long begin = starts[row];
  const unsigned int count = (unsigned int)(starts[row + 1] - begin);
  EqEntity* own = columns + begin;
  if (count <= EQ_SHORT_LIST) {
    for (unsigned int k = 0; k < count; ++k) {
      const EqEntity column = listed[begin + k];
      unsigned int at = k;
      for (; at > 0 && own[at - 1] > column; --at) own[at] = own[at - 1];
      own[at] = column;
    }
  } else {
    for (unsigned int k = 0; k < count; ++k) own[k] = listed[begin + k];
    eq_heap_sort(own, count);
  }
  unsigned int kept = 0;
  for (unsigned int k = 0; k < count && own[k] != EQ_NONE; ++k)
    if (kept == 0 || own[kept - 1] != own[k]) own[kept++] = own[k];
  if (row == 0) row_ptr[0] = 0;
  row_ptr[row + 1] = kept;
}

// Rows without the gaps between them.
extern "C" __global__ void equelle_pack_rows(EqEntity n, const unsigned long long* __restrict__ starts, const EqEntity* __restrict__ sorted,
                                             const unsigned long long* __restrict__ row_ptr, EqEntity* __restrict__ columns) {
  const EqEntity row = eq_index();
  if (row >= n) return;
  const unsigned long long from = starts[row], begin = row_ptr[row], end = row_ptr[row + 1];
  for (unsigned long long k = begin; k < end; ++k) columns[k] = sorted[from + (k - begin)];
}

// The slot of each listed column in its row; 0 for EQ_NONE, to which nothing is added.
extern "C" __global__ void equelle_slots(EqEntity n, const unsigned long long* __restrict__ starts, const EqEntity* __restrict__ listed,
                                         const unsigned long long* __restrict__ row_ptr, const EqEntity* __restrict__ columns,
                                         EqSlot* __restrict__ slots) {
  const EqEntity row = eq_index();
  if (row >= n) return;
  const unsigned long long begin = row_ptr[row];
  const unsigned int width = (unsigned int)(row_ptr[row + 1] - begin);
  for (unsigned long long k = starts[row]; k < starts[row + 1]; ++k) {
    const EqEntity column = listed[k];
    unsigned int low = 0, high = width;
    while (high - low > 1) {
      const unsigned int middle = (low + high) / 2;
      if (columns[begin + middle] <= column) low = middle; else high = middle;
    }
    slots[k] = column == EQ_NONE ? (EqSlot)0 : (EqSlot)low;
  }
}

// Most entries of 32, 64, 128 and 256 rows from a multiple of that number on, and of one row.
extern "C" __global__ void equelle_longest(EqEntity n, const unsigned long long* __restrict__ row_ptr, unsigned long long* most) {
  const EqEntity row = eq_index();
  if (row >= n) return;
  const unsigned long long begin = row_ptr[row];
  const auto raise = [=](unsigned int which, unsigned long long count) {
    // Most threads change nothing; an outdated read only costs the attempt.
    if (count > *(volatile unsigned long long*)(most + which)) atomicMax(most + which, count);
  };
  for (unsigned int which = 0; which < 4u; ++which) {
    const EqEntity rows = 32u << which;
    if (row % rows == 0) raise(which, row_ptr[n - row < rows ? n : row + rows] - begin);
  }
  raise(4u, row_ptr[row + 1] - begin);
}

// ---- Connected components -----------------------------------------------------------------------

// Each member has a parent, itself or a smaller one. Components are joined as in ECL-CC (Jaiganesh
// and Burtscher 2018, doi:10.1145/3208040.3208041): the root is the least member in any order of
// threads.

// The root of a member; shortens the path to it.
EQ_FUNCTION EqEntity eq_root(EqEntity* parents, EqEntity member) {
  volatile EqEntity* at = parents;
  EqEntity current = at[member], previous = member, next;
  while (current > (next = at[current])) {
    at[previous] = next;
    previous = current;
    current = next;
  }
  return current;
}

// Joins the columns from `begin` to `end` of each row.
extern "C" __global__ void equelle_join_columns(EqEntity n, const EqRows rows, EqEntity begin, EqEntity end, EqEntity* parents) {
  const EqEntity row = eq_index();
  if (row >= n) return;
  EqEntity first = EQ_NONE;
  for (unsigned long long k = rows.row_ptr[row]; k < rows.row_ptr[row + 1]; ++k) {
    const EqEntity column = rows.columns[k];
    if (column < begin || column >= end) continue;
    if (first == EQ_NONE) {
      first = column - begin;
      continue;
    }
    EqEntity a = eq_root(parents, first), b = eq_root(parents, column - begin);
    while (a != b) {
      const EqEntity larger = a > b ? a : b, smaller = a > b ? b : a;
      const EqEntity found = atomicCAS(parents + larger, larger, smaller);
      if (found == larger) break;
      a = found;
      b = smaller;
    }
  }
}

// The root of each member, and behind the first of `roots` whether it is one.
extern "C" __global__ void equelle_find_roots(EqEntity n, EqEntity* parents, unsigned long long* roots) {
  const EqEntity member = eq_index();
  if (member >= n) return;
  volatile EqEntity* at = parents;
  EqEntity root = at[member], next;
  while (root > (next = at[root])) root = next;
  at[member] = root;
  if (member == 0) roots[0] = 0;
  roots[member + 1] = root == member;
}

// The number of each member's component, from prefix sums of roots.
extern "C" __global__ void equelle_number_parts(EqEntity n, const EqEntity* __restrict__ parents, const unsigned long long* __restrict__ roots,
                                                EqEntity* __restrict__ parts) {
  const EqEntity member = eq_index();
  if (member < n) parts[member] = (EqEntity)roots[parents[member]];
}
