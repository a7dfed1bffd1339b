// ---- Entities of a grid of any kind -------------------------------------------------------------

// 1 if general kernels run on an open Cartesian grid: relations and geometry then have closed
// forms, with the bits of the arrays that a grid of this shape would have.
#ifndef EQ_CARTESIAN
#define EQ_CARTESIAN 0
#endif

// Positions along an axis: nodes are multiples of the spacing, widths of cells their differences,
// centres their means.
EQ_FUNCTION double eq_node(const EqCartesian& g, int axis, unsigned int i) { return i * eq_at(g.spacing, axis); }
EQ_FUNCTION double eq_width(const EqCartesian& g, int axis, unsigned int i) { return eq_node(g, axis, i + 1) - eq_node(g, axis, i); }
EQ_FUNCTION double eq_centre(const EqCartesian& g, int axis, unsigned int i) { return (eq_node(g, axis, i) + eq_node(g, axis, i + 1)) / 2.0; }

// Measure of a face across an axis, or, for EQ_NO_AXIS, of a cell.
#define EQ_NO_AXIS (-1)
EQ_FUNCTION double eq_box_measure(const EqCartesian& g, int across, const unsigned int* ijk) {
  double measure = 1.0;
#pragma unroll
  for (int d = 0; d < DIM; ++d)
    if (d != across) measure = measure * eq_width(g, d, ijk[d]);
  return measure;
}

// The cells of a face.
EQ_FUNCTION EqPair eq_cells(const EqGrid& grid, EqEntity face) {
  if (!EQ_CARTESIAN) return grid.face_cells[face];
  const EqCartesian& g = grid.shape;
  const EqFace at = eq_face(g, face);
  const unsigned int n = eq_at(g.n, at.axis), along = eq_at(at.ijk, at.axis);
  const EqEntity second = at.ijk[0] + g.n[0] * (at.ijk[1] + g.n[1] * at.ijk[2]);
  EqPair cells;
  cells.first = along == 0 ? EQ_NONE : second - eq_stride(g, at.axis);
  cells.second = along == n ? EQ_NONE : second;
  return cells;
}

EQ_FUNCTION double eq_cell_volume(const EqGrid& grid, EqEntity cell) {
  if (!EQ_CARTESIAN) return grid.cell_volumes[cell];
  return eq_box_measure(grid.shape, EQ_NO_AXIS, eq_cell(grid.shape, cell).ijk);
}
EQ_FUNCTION double eq_face_area(const EqGrid& grid, EqEntity face) {
  if (!EQ_CARTESIAN) return grid.face_areas[face];
  const EqFace at = eq_face(grid.shape, face);
  return eq_box_measure(grid.shape, at.axis, at.ijk);
}

EQ_FUNCTION EqVector eq_cell_centroid(const EqGrid& grid, EqEntity cell) {
  if (!EQ_CARTESIAN) return eq_load(grid.cell_centroids, grid.n_cells, cell);
  const EqCell at = eq_cell(grid.shape, cell);
  EqVector centroid;
#pragma unroll
  for (int d = 0; d < DIM; ++d) centroid.c[d] = eq_centre(grid.shape, d, at.ijk[d]);
  return centroid;
}
EQ_FUNCTION EqVector eq_face_centroid(const EqGrid& grid, EqEntity face) {
  if (!EQ_CARTESIAN) return eq_load(grid.face_centroids, grid.n_faces, face);
  const EqFace at = eq_face(grid.shape, face);
  EqVector centroid;
#pragma unroll
  for (int d = 0; d < DIM; ++d) centroid.c[d] = d == at.axis ? eq_node(grid.shape, d, at.ijk[d]) : eq_centre(grid.shape, d, at.ijk[d]);
  return centroid;
}

// Unit length, from the first to the second cell.
EQ_FUNCTION EqVector eq_face_normal(const EqGrid& grid, EqEntity face) {
  if (!EQ_CARTESIAN) return eq_load(grid.face_normals, grid.n_faces, face);
  return eq_along(eq_face(grid.shape, face).axis, 1.0);
}

// From the centroid on the side of the second cell to that on the side of the first.
EQ_FUNCTION EqVector eq_face_gap(const EqGrid& grid, EqEntity face) {
  if (!EQ_CARTESIAN && grid.face_gaps) return eq_load(grid.face_gaps, grid.n_faces, face);
  return EqVector{};
}

// Negative where that of geometry holds.
EQ_FUNCTION double eq_face_transmissibility(const EqGrid& grid, EqEntity face) {
  return !EQ_CARTESIAN && grid.face_transmissibilities ? grid.face_transmissibilities[face] : -1.0;
}

EQ_FUNCTION double eq_edge_length(const EqGrid& grid, EqEntity edge) { return grid.edge_lengths[edge]; }
EQ_FUNCTION EqVector eq_edge_centroid(const EqGrid& grid, EqEntity edge) { return eq_load(grid.edge_centroids, grid.n_edges, edge); }
EQ_FUNCTION EqVector eq_vertex_position(const EqGrid& grid, EqEntity vertex) { return eq_load(grid.vertex_positions, grid.n_vertices, vertex); }

