// ---- Sides of cells of any grid -------------------------------------------------------------------------------------------------------

#define EQ_NO_SIDE 0xfffffffeu
// Cells of a slice, and so from one side of a cell to the next.
#define EQ_SLICE 32u
// Sides whose values are on their way before the first is used. A step of explicit heat on 256^3 cells takes 0.62, 0.48, 0.50, 0.54 ms on an H200 with 1, 2, 3, 4.
#define EQ_PREFETCH 2u

// Where the sides of a cell are: every EQ_SLICE-th from `begin` on.
struct EqSides {
  EqOffset begin, end;
};
EQ_FUNCTION EqSides eq_sides(const EqGrid& grid, EqEntity cell) {
  EqSides sides;
  sides.begin = grid.side_starts[cell / EQ_SLICE] + cell % EQ_SLICE;
  sides.end = grid.side_starts[cell / EQ_SLICE + 1];
  return sides;
}
// The neighbour beyond a side, with its mark; EQ_NO_SIDE after the last side.
EQ_FUNCTION EqEntity eq_side_neighbour(const EqGrid& grid, const EqSides& sides, EqOffset at) { return at < sides.end ? grid.side_neighbours[at] : EQ_NO_SIDE; }
// Whether there is a cell.
EQ_FUNCTION bool eq_is_inside(EqEntity neighbour) { return !(neighbour & 0x40000000u); }
// The cell, or EQ_NONE: bit 30 is set for EQ_NONE alone, and moves to where the mark was.
EQ_FUNCTION EqEntity eq_neighbour_cell(EqEntity neighbour) { return (EqEntity)((int)(neighbour << 1) >> 1); }
// Whether the normal of the face points to it, as it does from the face's first cell.
EQ_FUNCTION bool eq_is_outward(EqEntity neighbour) { return neighbour >> 31; }
// The cells of the face on a side of a cell.
EQ_FUNCTION EqPair eq_side_cells(EqEntity cell, EqEntity neighbour) {
  const EqEntity other = eq_neighbour_cell(neighbour);
  EqPair cells;
  cells.first = eq_is_outward(neighbour) ? cell : other;
  cells.second = eq_is_outward(neighbour) ? other : cell;
  return cells;
}
// Rank of the face on a side in a set of interior faces, or of such on the boundary; EQ_NONE outside the set. For ranks passed in general form.
EQ_FUNCTION EqEntity eq_rank_of_side(const EqGrid& grid, const EqRanks& ranks, EqOffset at, EqEntity neighbour) {
  if (eq_is_inside(neighbour) != (ranks.canonical == EQ_INTERIOR_FACES)) return EQ_NONE;
  const EqEntity rank = grid.side_ranks[at];
  return ranks.inner ? ranks.inner[rank] : rank;
}

