// ---- Threads that go from plane to plane --------------------------------------------------------
// They have adjacent cells of a row in several planes, one after the other.

// The first of the cells of this thread in its first plane.
template <int ROW>
EQ_FUNCTION bool eq_column_here(const EqCartesian& g, EqCell& row) {
  row.ijk[0] = ROW * (blockIdx.x * blockDim.x + threadIdx.x);
  row.ijk[1] = blockIdx.y * blockDim.y + threadIdx.y;
  row.ijk[2] = blockIdx.z * g.cells_per_thread;
  row.index = row.ijk[0] + g.n[0] * (row.ijk[1] + g.n[1] * row.ijk[2]);
  return row.ijk[0] < g.n[0] && row.ijk[1] < g.n[1];
}

// The plane after them.
EQ_FUNCTION unsigned int eq_end_of_planes(const EqCartesian& g, const EqCell& first) {
  const unsigned int end = first.ijk[2] + g.cells_per_thread;
  return end < g.n[2] ? end : g.n[2];
}

// The cell above.
EQ_FUNCTION void eq_next_plane(const EqCartesian& g, EqCell& cell) {
  ++cell.ijk[2];
  cell.index += g.n[0] * g.n[1];
}

// Values of adjacent cells of a row, and of those from LOW to HIGH planes away from them.
template <class T, int ROW, int LOW, int HIGH>
struct EqColumn {
  T values[HIGH - LOW + 1][ROW];

  EQ_OPERATOR T (&operator[](int plane))[ROW] { return values[plane - LOW]; }

  // For the plane above: what is HIGH planes away is to be loaded.
  EQ_OPERATOR void go_on() {
#pragma unroll
    for (int plane = 0; plane < HIGH - LOW; ++plane)
#pragma unroll
      for (int at = 0; at < ROW; ++at) values[plane][at] = values[plane + 1][at];
  }
};

// Values of adjacent cells of a row, and of at least LOW before and HIGH after them, numbered from
// the first of the cells on.
template <class T, int ROW, int LOW, int HIGH>
struct EqAdjacent {
  enum { BEFORE = (LOW + ROW - 1) / ROW, AFTER = (HIGH + ROW - 1) / ROW };
  T values[BEFORE + 1 + AFTER][ROW];

  EQ_OPERATOR T& operator[](int at) { return values[(BEFORE * ROW + at) / ROW][(BEFORE * ROW + at) % ROW]; }
  EQ_OPERATOR T (&own())[ROW] { return values[BEFORE]; }

  EQ_OPERATOR void take(const T (&row)[ROW]) {
#pragma unroll
    for (int at = 0; at < ROW; ++at) values[BEFORE][at] = row[at];
  }
};

// Loads what is before and after the cells from x on of a row of n cells, whose own values are
// there. NEAR: who goes around does so once. Rows are multiples of ROW, so that where the grid
// begins again, values are adjacent beyond its end too.
template <bool NEAR, int LOW_MAP, int HIGH_MAP, class T, int ROW, int LOW, int HIGH, class Stored>
EQ_FUNCTION void eq_load_adjacent(EqAdjacent<T, ROW, LOW, HIGH>& adjacent, const Stored* values, EqEntity row, unsigned int x, unsigned int n) {
#pragma unroll
  for (int part = -adjacent.BEFORE; part <= adjacent.AFTER; ++part) {
    if (part == 0) continue;
    T(&to)[ROW] = adjacent.values[adjacent.BEFORE + part];
    const int first = int(x) + part * ROW;
    if ((part < 0 ? LOW_MAP : HIGH_MAP) == EQ_WRAP) {
      eq_load_row(to, values, row + (NEAR ? eq_near_place(x, part * ROW, n, LOW_MAP, HIGH_MAP) : eq_place(x, part * ROW, n, LOW_MAP, HIGH_MAP)));
    } else if (part < 0 ? first >= 0 : first < int(n)) {
      eq_load_row(to, values, row + first);
    } else {
#pragma unroll
      for (int at = 0; at < ROW; ++at) to[at] = T(values[row + eq_mapped(first + at, int(n), LOW_MAP, HIGH_MAP)]);
    }
  }
}

