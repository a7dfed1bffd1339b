// ---- Elements and ranks -------------------------------------------------------------------------

// Index of this thread in a one-dimensional launch.
EQ_FUNCTION EqEntity eq_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

// The k-th entity of a set.
EQ_FUNCTION EqEntity eq_entity(const EqSpace& space, EqEntity k) { return space.list ? space.list[k] : k; }

// Position of the element that is the k-th in the order of the grid's file.
EQ_FUNCTION EqEntity eq_in_file(const EqSpace& space, EqEntity k) { return space.order ? space.order[k] : k; }

// Rank of an entity (not Empty), or EQ_NONE outside the set. For ranks of general kernels.
EQ_FUNCTION EqEntity eq_rank(const EqRanks& ranks, EqEntity entity) {
  // Wraps for entities before the first.
  const EqEntity beyond = entity - ranks.first;
  const EqEntity rank = ranks.outer ? ranks.outer[entity] : beyond < ranks.count ? beyond : EQ_NONE;
  if (!ranks.inner || rank == EQ_NONE) return rank;
  return ranks.inner[rank];
}

// Reports that condition `check` of the kernel fails for an element of its space. The kernel
// launched first wins, as in a program that stops there; within a kernel the smallest check, then
// the smallest element, so that the message does not depend on the order of threads.
EQ_FUNCTION void eq_fail(const EqChecks& checks, unsigned int check, EqEntity element) {
  const unsigned long long mark = ((unsigned long long)(checks.first + check) << 32) | element;
  unsigned long long found = *(volatile unsigned long long*)checks.flag;
  // Numbers of conditions come in groups of 1024, one for each kernel.
  while (found == ~0ull || (found >> 42 == mark >> 42 && mark < found)) {
    const unsigned long long before = atomicCAS(checks.flag, found, mark);
    if (before == found) return;
    found = before;
  }
}

