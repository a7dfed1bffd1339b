// Explicit heat conduction as code generation should write it: fluxes recomputed in each cell,
// nothing stored but the result.

// itrans = k * |f| / |Centroid(first) - Centroid(second)| on InteriorFaces()
extern "C" __global__ void compute_itrans(const EqSpace space, const EqGrid grid, const double* __restrict__ k, double* __restrict__ itrans) {
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  const EqPair cells = eq_cells(grid, here);
  const EqVector apart = eq_cell_centroid(grid, cells.first) - eq_cell_centroid(grid, cells.second);
  itrans[element] = *k * eq_face_area(grid, here) / eq_length(apart);
}

// The same once per axis.
extern "C" __global__ void compute_itrans_per_axis(const EqCartesian g, const double* __restrict__ k, double* __restrict__ itrans) {
  const EqEntity axis = eq_index();
  if (axis >= DIM) return;
  itrans[axis] = *k * g.area[axis] / g.spacing[axis];
}

// btrans = k * |f| / |Centroid(f) - Centroid(inside)| on the Dirichlet faces
extern "C" __global__ void compute_btrans(const EqSpace space, const EqGrid grid, const double* __restrict__ k, double* __restrict__ btrans) {
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  const EqPair cells = eq_cells(grid, here);
  const EqEntity inside = cells.first == EQ_NONE ? cells.second : cells.first;
  btrans[element] = *k * eq_face_area(grid, here) / eq_length(eq_face_centroid(grid, here) - eq_cell_centroid(grid, inside));
}

// u_new = u - (dt / vol) * Divergence(fluxes), any grid.
extern "C" __global__ void compute_u(const EqSpace space, const EqGrid grid, const EqRanks interior, const EqRanks dirichlet,
                                     const double* __restrict__ u, const double* __restrict__ itrans, const double* __restrict__ btrans,
                                     const double* __restrict__ value, const double* __restrict__ dt, double* __restrict__ u_new) {
  const EqEntity here = eq_index();
  if (here >= space.size) return;
  double sum = 0.0;
  const EqSides sides = eq_sides(grid, here);
  for (EqOffset at = sides.begin; at < sides.end; at += EQ_SLICE) {
    const EqEntity neighbour = eq_neighbour_at(grid, at);
    if (neighbour == EQ_NO_SIDE) break;
    const EqEntity face = grid.side_faces[at];
    const EqPair cells = eq_side_cells(here, neighbour);
    double flux;
    if (cells.first != EQ_NONE && cells.second != EQ_NONE) {
      flux = -itrans[eq_rank(interior, face)] * (u[cells.second] - u[cells.first]);
    } else {
      const EqEntity rank = eq_rank(dirichlet, face);
      if (rank == EQ_NONE) continue;
      const double sign = cells.first == EQ_NONE ? -1.0 : 1.0;
      flux = btrans[rank] * sign * (u[here] - value[rank]);
    }
    sum += cells.first == here ? flux : -flux;
  }
  u_new[here] = u[here] - (*dt / eq_cell_volume(grid, here)) * sum;
}

// The same for every cell of a uniform Cartesian grid. 16 bytes of traffic per cell.
extern "C" __global__ void compute_u_cartesian(const EqCartesian g, const EqRanks dirichlet, const double* __restrict__ u,
                                               const double* __restrict__ itrans, const double* __restrict__ btrans,
                                               const double* __restrict__ value, const double* __restrict__ dt, double* __restrict__ u_new) {
  EqCell cell;
  if (!eq_cell_here(g, cell)) return;
  const double here = u[cell.index];
  double sum = 0.0;
#pragma unroll
  for (int axis = 0; axis < DIM; ++axis) {
    if (cell.ijk[axis] > 0) {
      sum += -(-itrans[axis] * (here - u[eq_neighbour(g, cell, axis, 0)]));
    } else {
      const EqEntity rank = eq_side_rank(g, dirichlet, cell, axis, 0);
      if (rank != EQ_NONE) sum += -(btrans[rank] * -1.0 * (here - value[rank]));
    }
    if (cell.ijk[axis] + 1 < g.n[axis]) {
      sum += -itrans[axis] * (u[eq_neighbour(g, cell, axis, 1)] - here);
    } else {
      const EqEntity rank = eq_side_rank(g, dirichlet, cell, axis, 1);
      if (rank != EQ_NONE) sum += btrans[rank] * 1.0 * (here - value[rank]);
    }
  }
  u_new[cell.index] = here - (*dt / g.volume) * sum;
}

// maximum of u, a block for each leaf.
extern "C" __global__ void maximum(const EqSpace space, const double* __restrict__ u, double* __restrict__ partial) {
  const EqLeaf leaf = eq_leaf_here(space.size);
  double largest = 0.0;
  for (EqEntity element = leaf.begin; element < leaf.end; element += EQ_CHAINS) largest = element == leaf.begin ? u[element] : eq_max(largest, u[element]);
  largest = eq_chains<0>(largest, leaf.chains, EqMax());
  if (eq_tells_leaf()) partial[blockIdx.x] = largest;
}
