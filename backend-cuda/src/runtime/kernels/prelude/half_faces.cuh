// ---- Half-faces of any grid ---------------------------------------------------------------------

#define EQ_NO_SIDE 0xfffffffeu
// Number of cells of a slice, and so the distance from one half-face of a cell to the next.
#define EQ_SLICE 32u
// Number of half-faces whose values are loaded before the first is used. A step of explicit heat on
// 256^3 cells takes 0.547 ms on an H100 with 2, 0.538 with 3; with neighbours of 16 bits 0.505 with
// 2, 0.483 with 3, 0.854 with 6.
#define EQ_PREFETCH 3u

// The half-faces of a cell: every EQ_SLICE-th from `begin` on.
struct EqSides {
  EqOffset begin, end;
};
EQ_FUNCTION EqSides eq_sides(const EqGrid& grid, EqEntity cell) {
  EqSides sides;
  sides.begin = grid.side_starts[cell / EQ_SLICE] + cell % EQ_SLICE;
  sides.end = grid.side_starts[cell / EQ_SLICE + 1];
  return sides;
}
// The neighbour across a half-face, with its mark; EQ_NO_SIDE where the cell has no more.
EQ_FUNCTION EqEntity eq_neighbour_at(const EqGrid& grid, EqOffset at) {
#ifdef EQ_NARROW_SIDES
  const unsigned int packed = grid.side_neighbours[at];
  const EqEntity offset = packed & 0x7fffu;
  const EqEntity mark = (packed >> 15) << 31;
  const EqEntity cell = grid.side_bases[at / EQ_SLICE] + offset;
  if (offset < 0x7ffeu) return mark | cell;
  return offset == 0x7fffu ? mark | (EQ_NONE >> 1) : EQ_NO_SIDE;
#else
  return grid.side_neighbours[at];
#endif
}
// The same, also after the last half-face of the slice.
EQ_FUNCTION EqEntity eq_side_neighbour(const EqGrid& grid, const EqSides& sides, EqOffset at) { return at < sides.end ? eq_neighbour_at(grid, at) : EQ_NO_SIDE; }
// True if there is a neighbour.
EQ_FUNCTION bool eq_is_inside(EqEntity neighbour) { return !(neighbour & 0x40000000u); }
// The neighbour, or EQ_NONE: bit 30 is set only for EQ_NONE, and moves to the bit of the mark.
EQ_FUNCTION EqEntity eq_neighbour_cell(EqEntity neighbour) { return (EqEntity)((int)(neighbour << 1) >> 1); }
// True if the normal of the face points to the neighbour, as it does from the face's first cell.
EQ_FUNCTION bool eq_is_outward(EqEntity neighbour) { return neighbour >> 31; }
// The cells of the face of a half-face.
EQ_FUNCTION EqPair eq_side_cells(EqEntity cell, EqEntity neighbour) {
  const EqEntity other = eq_neighbour_cell(neighbour);
  EqPair cells;
  cells.first = eq_is_outward(neighbour) ? cell : other;
  cells.second = eq_is_outward(neighbour) ? other : cell;
  return cells;
}
// Rank of the face of a half-face in a set of interior faces, or of boundary faces; EQ_NONE outside
// the set. For ranks of general kernels.
EQ_FUNCTION EqEntity eq_rank_of_side(const EqGrid& grid, const EqRanks& ranks, EqOffset at, EqEntity neighbour) {
  if (eq_is_inside(neighbour) != (ranks.canonical == EQ_INTERIOR_FACES)) return EQ_NONE;
  const EqEntity rank = grid.side_ranks[at];
  return ranks.inner ? ranks.inner[rank] : rank;
}

