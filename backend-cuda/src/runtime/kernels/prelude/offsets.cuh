// ---- Reads by index on a Cartesian grid ---------------------------------------------------------

// Which cell stands for one beyond a side, m = 0, 1, ... cells out.
enum { EQ_WRAP, EQ_MIRROR, EQ_MIRROR_AT, EQ_CLAMP };

// An offset along each axis, and the map of each side.
struct EqOffset3 {
  int by[3];
  int maps[6];
  int unused;
};

// The number of a cell along an axis of n cells: `at`, or what the maps of low and high side make
// of it. Always in the grid.
EQ_FUNCTION int eq_mapped(int at, int n, int low, int high) {
  if (at >= 0 && at < n) return at;
  const int map = at < 0 ? low : high, beyond = at < 0 ? -1 - at : at - n;
  if (map == EQ_WRAP) {
    // Sums of offsets may go around more than once.
    const int once = at < 0 ? at + n : at - n;
    return once >= 0 && once < n ? once : at < 0 ? n - 1 - beyond % n : beyond % n;
  }
  const int inside = map == EQ_MIRROR ? beyond : map == EQ_MIRROR_AT ? beyond + 1 : 0;
  const int within = inside < n ? inside : n - 1;
  return at < 0 ? within : n - 1 - within;
}

// The place along an axis of n cells that is `by` cells further than another one.
EQ_FUNCTION unsigned int eq_place(unsigned int at, int by, unsigned int n, int low, int high) { return eq_mapped(int(at) + by, int(n), low, high); }

// The same where the axis has at least as many cells as that: who goes around does so once.
EQ_FUNCTION unsigned int eq_near_place(unsigned int at, int by, unsigned int n, int low, int high) {
  const int to = int(at) + by;
  if (by < 0 && low == EQ_WRAP) return to < 0 ? to + int(n) : to;
  if (by > 0 && high == EQ_WRAP) return to >= int(n) ? to - int(n) : to;
  return eq_mapped(to, int(n), low, high);
}

// True if the place `by` cells further along an axis is beyond the side there.
EQ_FUNCTION bool eq_is_beyond(unsigned int at, int by, unsigned int n) { return int(at) + by < 0 || int(at) + by >= int(n); }

// The cell at an offset.
EQ_FUNCTION EqEntity eq_offset_cell(const EqCartesian& g, EqEntity cell, int i, int j, int k, int low_i, int high_i, int low_j, int high_j,
                                    int low_k, int high_k) {
  const EqCell at = eq_cell(g, cell);
  const EqEntity x = i == 0 ? at.ijk[0] : eq_mapped(int(at.ijk[0]) + i, g.n[0], low_i, high_i);
  const EqEntity y = j == 0 ? at.ijk[1] : eq_mapped(int(at.ijk[1]) + j, g.n[1], low_j, high_j);
  const EqEntity z = k == 0 ? at.ijk[2] : eq_mapped(int(at.ijk[2]) + k, g.n[2], low_k, high_k);
  return x + g.n[0] * (y + g.n[1] * z);
}

// The number of a cell along an axis.
EQ_FUNCTION unsigned int eq_index_along(const EqCartesian& g, EqEntity cell, int axis) { return eq_at(eq_cell(g, cell).ijk, axis); }

// True if the cell `by` cells further along an axis is beyond the side there.
EQ_FUNCTION bool eq_is_outside(const EqCartesian& g, EqEntity cell, int axis, int by) {
  return eq_is_beyond(eq_index_along(g, cell, axis), by, eq_at(g.n, axis));
}

// True if the sum of the numbers of a cell along some axes is even.
EQ_FUNCTION bool eq_is_even(const EqCartesian& g, EqEntity cell, bool i, bool j, bool k) {
  const EqCell at = eq_cell(g, cell);
  return (((i ? at.ijk[0] : 0) + (j ? at.ijk[1] : 0) + (k ? at.ijk[2] : 0)) & 1) == 0;
}
