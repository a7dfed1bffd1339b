// Kernels of heat_explicit_3d. Helpers beginning with eq_ or Eq are the runtime's.

// heat_explicit_3d.equelle:14: itrans = k * |interior| / |Centroid(first) - Centroid(second)|
// heat_explicit_3d.equelle:23: -> -itrans * Gradient(u)
extern "C" __global__ void EQ_LIGHT compute_minus_itrans(
    const EqSpace space,
    const EqGrid grid,
    const double* __restrict__ k_at,
    double* __restrict__ minus_itrans_out) {
  const double k = *k_at;
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  minus_itrans_out[element] = -(k * eq_divide(eq_face_area(grid, here), eq_length((eq_cell_centroid(grid, eq_cells(grid, here).first) - (eq_cell_centroid(grid, eq_cells(grid, here).second) + eq_face_gap(grid, here))))));
}

// heat_explicit_3d.equelle:14: itrans = k * |interior| / |Centroid(first) - Centroid(second)|
// heat_explicit_3d.equelle:23: -> -itrans * Gradient(u)
extern "C" __global__ void EQ_LIGHT compute_minus_itrans_per_axis(
    const EqCartesian g,
    const double* __restrict__ k_at,
    double* __restrict__ minus_itrans_out) {
  const double k = *k_at;
  const int axis = (int)eq_index();
  if (axis >= DIM) return;
  minus_itrans_out[axis] = -(k * eq_divide(eq_at(g.area, axis), eq_length(eq_along(axis, -eq_at(g.spacing, axis)))));
}

// heat_explicit_3d.equelle:4: k = InputScalarWithDefault("k", 0.3) * 1 [Meter^2/Second]  # thermal diffusivity
// heat_explicit_3d.equelle:17: inside = InnerCell(dirichlet_boundary)
// heat_explicit_3d.equelle:18: direction = OutwardSign(dirichlet_boundary)
// heat_explicit_3d.equelle:19: btrans = k * |dirichlet_boundary| / |Centroid(dirichlet_boundary) - Centroid(inside)|
// heat_explicit_3d.equelle:28: -> btrans * direction * (u_inside - dirichlet_val)
extern "C" __global__ void EQ_LIGHT compute_btrans_direction(
    const EqSpace space,
    const EqGrid grid,
    const double* __restrict__ k_at,
    double* __restrict__ btrans_direction_out) {
  const double k = *k_at;
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  btrans_direction_out[element] = (k * eq_divide(eq_face_area(grid, here), eq_length((eq_face_centroid(grid, here) - eq_cell_centroid(grid, ((eq_cells(grid, here).first == EQ_NONE) ? eq_cells(grid, here).second : eq_cells(grid, here).first)))))) * ((eq_cells(grid, here).first == EQ_NONE) ? (-1.0) : 1.0);
}

// heat_explicit_3d.equelle:17: inside = InnerCell(dirichlet_boundary)
// heat_explicit_3d.equelle:23: -> -itrans * Gradient(u)
// heat_explicit_3d.equelle:27: u_inside = u On inside
// heat_explicit_3d.equelle:28: -> btrans * direction * (u_inside - dirichlet_val)
// heat_explicit_3d.equelle:31: volume = |AllCells()|
// heat_explicit_3d.equelle:37: fluxes = (interior_flux(u) Extend AllFaces()) + (boundary_flux(u) Extend AllFaces())
// heat_explicit_3d.equelle:38: u = u - (dt / volume) * Divergence(fluxes)
extern "C" __global__ void EQ_LIGHT compute_u(
    const EqSpace space,
    const EqGrid grid,
    const EqRanks dirichlet_boundary_ranks,
    const double* __restrict__ u,
    const double* __restrict__ dt_at,
    const double* __restrict__ minus_itrans_by_side,
    const double* __restrict__ btrans_direction,
    const double* __restrict__ dirichlet_val,
    double* __restrict__ u_new_out) {
  const double dt = *dt_at;
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  double divergence_fluxes = 0.0;
  const EqSides f_sides = eq_sides(grid, here);
  const double u_here = u[element];
  for (EqOffset f_from = f_sides.begin; f_from < f_sides.end; f_from += EQ_PREFETCH * EQ_SLICE) {
    EqEntity f_prefetched[EQ_PREFETCH];
    double u_neighbour[EQ_PREFETCH] = {};
    double minus_itrans_side[EQ_PREFETCH] = {};
    #pragma unroll
    for (unsigned int ahead = 0; ahead < EQ_PREFETCH; ++ahead) {
      f_prefetched[ahead] = eq_side_neighbour(grid, f_sides, f_from + ahead * EQ_SLICE);
    }
    #pragma unroll
    for (unsigned int ahead = 0; ahead < EQ_PREFETCH; ++ahead) {
      if (!eq_is_inside(f_prefetched[ahead])) continue;
      u_neighbour[ahead] = u[eq_neighbour_cell(f_prefetched[ahead])];
      minus_itrans_side[ahead] = minus_itrans_by_side[f_from + ahead * EQ_SLICE];
    }
    #pragma unroll
    for (unsigned int ahead = 0; ahead < EQ_PREFETCH; ++ahead) {
      const EqOffset f_at = f_from + ahead * EQ_SLICE;
      const EqEntity f_neighbour = f_prefetched[ahead];
      if (f_neighbour == EQ_NO_SIDE) break;
      if (eq_is_inside(f_neighbour)) {
        divergence_fluxes = divergence_fluxes + (minus_itrans_side[ahead] * (u_neighbour[ahead] - u_here));
      } else {
        const double divergence_fluxes_term = (eq_rank_of_side(grid, dirichlet_boundary_ranks, f_at, f_neighbour) != EQ_NONE) ? (btrans_direction[eq_rank_of_side(grid, dirichlet_boundary_ranks, f_at, f_neighbour)] * (u_here - dirichlet_val[eq_rank_of_side(grid, dirichlet_boundary_ranks, f_at, f_neighbour)])) : 0.0;
        divergence_fluxes = eq_is_outward(f_neighbour) ? divergence_fluxes + divergence_fluxes_term : divergence_fluxes - divergence_fluxes_term;
      }
    }
  }
  u_new_out[element] = u[element] - ((dt / eq_cell_volume(grid, here)) * divergence_fluxes);
}

// heat_explicit_3d.equelle:17: inside = InnerCell(dirichlet_boundary)
// heat_explicit_3d.equelle:23: -> -itrans * Gradient(u)
// heat_explicit_3d.equelle:27: u_inside = u On inside
// heat_explicit_3d.equelle:28: -> btrans * direction * (u_inside - dirichlet_val)
// heat_explicit_3d.equelle:31: volume = |AllCells()|
// heat_explicit_3d.equelle:37: fluxes = (interior_flux(u) Extend AllFaces()) + (boundary_flux(u) Extend AllFaces())
// heat_explicit_3d.equelle:38: u = u - (dt / volume) * Divergence(fluxes)
extern "C" __global__ void EQ_LIGHT compute_u_cartesian(
    const EqCartesian g,
    const EqRanks dirichlet_boundary_ranks,
    const double* __restrict__ u,
    const double* __restrict__ dt_at,
    const double* __restrict__ minus_itrans,
    const double* __restrict__ btrans_direction,
    const double* __restrict__ dirichlet_val,
    double* __restrict__ u_new_out) {
  const double dt = *dt_at;
  if (eq_is_inside_block(g)) {
    EqInsideCell cell;
    #pragma unroll 1
    for (unsigned int step = 0; step < g.cells_per_thread; ++step) {
      if (!eq_inside_cell_here(g, step, cell)) continue;
      const double u_here = u[cell.index];
      double minus_itrans_axis[DIM];
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) minus_itrans_axis[axis] = minus_itrans[axis];
      double divergence_fluxes = 0.0;
      double u_low[DIM];
      double u_high[DIM];
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) {
        u_low[axis] = u[eq_neighbour(g, cell, axis, 0)];
        u_high[axis] = u[eq_neighbour(g, cell, axis, 1)];
      }
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) {
        divergence_fluxes = divergence_fluxes - (minus_itrans_axis[axis] * (u_here - u_low[axis]));
        divergence_fluxes = divergence_fluxes + (minus_itrans_axis[axis] * (u_high[axis] - u_here));
      }
      u_new_out[cell.index] = u_here - ((dt / g.volume) * divergence_fluxes);
    }
    return;
  }
  EqCell cell;
  if (!eq_boundary_cell_here(g, cell)) return;
  const double u_here = u[cell.index];
  double minus_itrans_axis[DIM];
  #pragma unroll
  for (int axis = 0; axis < DIM; ++axis) minus_itrans_axis[axis] = minus_itrans[axis];
  double divergence_fluxes = 0.0;
  double u_low[DIM] = {};
  double u_high[DIM] = {};
  #pragma unroll
  for (int axis = 0; axis < DIM; ++axis) {
    if (!eq_side_on_boundary(g, cell, axis, 0)) {
      u_low[axis] = u[eq_neighbour(g, cell, axis, 0)];
    }
    if (!eq_side_on_boundary(g, cell, axis, 1)) {
      u_high[axis] = u[eq_neighbour(g, cell, axis, 1)];
    }
  }
  #pragma unroll
  for (int axis = 0; axis < DIM; ++axis) {
    if (!eq_side_on_boundary(g, cell, axis, 0)) {
      divergence_fluxes = divergence_fluxes - (minus_itrans_axis[axis] * (u_here - u_low[axis]));
    } else {
      divergence_fluxes = divergence_fluxes - ((eq_side_rank(g, dirichlet_boundary_ranks, cell, axis, 0) != EQ_NONE) ? (btrans_direction[eq_side_rank(g, dirichlet_boundary_ranks, cell, axis, 0)] * (u_here - dirichlet_val[eq_side_rank(g, dirichlet_boundary_ranks, cell, axis, 0)])) : 0.0);
    }
    if (!eq_side_on_boundary(g, cell, axis, 1)) {
      divergence_fluxes = divergence_fluxes + (minus_itrans_axis[axis] * (u_high[axis] - u_here));
    } else {
      divergence_fluxes = divergence_fluxes + ((eq_side_rank(g, dirichlet_boundary_ranks, cell, axis, 1) != EQ_NONE) ? (btrans_direction[eq_side_rank(g, dirichlet_boundary_ranks, cell, axis, 1)] * (u_here - dirichlet_val[eq_side_rank(g, dirichlet_boundary_ranks, cell, axis, 1)])) : 0.0);
    }
  }
  u_new_out[cell.index] = u_here - ((dt / g.volume) * divergence_fluxes);
}

// heat_explicit_3d.equelle:17: inside = InnerCell(dirichlet_boundary)
// heat_explicit_3d.equelle:23: -> -itrans * Gradient(u)
// heat_explicit_3d.equelle:27: u_inside = u On inside
// heat_explicit_3d.equelle:28: -> btrans * direction * (u_inside - dirichlet_val)
// heat_explicit_3d.equelle:31: volume = |AllCells()|
// heat_explicit_3d.equelle:37: fluxes = (interior_flux(u) Extend AllFaces()) + (boundary_flux(u) Extend AllFaces())
// heat_explicit_3d.equelle:38: u = u - (dt / volume) * Divergence(fluxes)
template <int ROW>
EQ_FUNCTION void compute_u_cartesian_rows(
    const EqCartesian g,
    const EqRanks dirichlet_boundary_ranks,
    const double* __restrict__ u,
    const double* __restrict__ dt_at,
    const double* __restrict__ minus_itrans,
    const double* __restrict__ btrans_direction,
    const double* __restrict__ dirichlet_val,
    double* __restrict__ u_new_out) {
  const double dt = *dt_at;
  if (eq_is_inside_block(g)) {
    EqCell row;
    #pragma unroll 1
    for (unsigned int step = 0; step < g.cells_per_thread; ++step) {
      if (!eq_inside_row_here<ROW>(g, step, row)) continue;
      double u_here[ROW];
      eq_load_row(u_here, u, row.index);
      double u_low[DIM][ROW];
      double u_high[DIM][ROW];
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) {
        eq_load_neighbour_row(u_low[axis], u_here, g, u, row, axis, 0);
        eq_load_neighbour_row(u_high[axis], u_here, g, u, row, axis, 1);
      }
      double minus_itrans_axis[DIM];
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) minus_itrans_axis[axis] = minus_itrans[axis];
      double u_new_out_row[ROW];
      #pragma unroll
      for (int at = 0; at < ROW; ++at) {
        const EqCell cell = eq_cell_of_row(row, at);
        double divergence_fluxes = 0.0;
        #pragma unroll
        for (int axis = 0; axis < DIM; ++axis) {
          divergence_fluxes = divergence_fluxes - (minus_itrans_axis[axis] * (u_here[at] - u_low[axis][at]));
          divergence_fluxes = divergence_fluxes + (minus_itrans_axis[axis] * (u_high[axis][at] - u_here[at]));
        }
        u_new_out_row[at] = u_here[at] - ((dt / g.volume) * divergence_fluxes);
      }
      eq_store_inside_row(g, u_new_out, row, u_new_out_row);
    }
  }
  EqCell cell;
  if (!eq_boundary_cell_beside_rows(g, cell)) return;
  const double u_here = u[cell.index];
  double minus_itrans_axis[DIM];
  #pragma unroll
  for (int axis = 0; axis < DIM; ++axis) minus_itrans_axis[axis] = minus_itrans[axis];
  double divergence_fluxes = 0.0;
  double u_low[DIM] = {};
  double u_high[DIM] = {};
  #pragma unroll
  for (int axis = 0; axis < DIM; ++axis) {
    if (!eq_side_on_boundary(g, cell, axis, 0)) {
      u_low[axis] = u[eq_neighbour(g, cell, axis, 0)];
    }
    if (!eq_side_on_boundary(g, cell, axis, 1)) {
      u_high[axis] = u[eq_neighbour(g, cell, axis, 1)];
    }
  }
  #pragma unroll
  for (int axis = 0; axis < DIM; ++axis) {
    if (!eq_side_on_boundary(g, cell, axis, 0)) {
      divergence_fluxes = divergence_fluxes - (minus_itrans_axis[axis] * (u_here - u_low[axis]));
    } else {
      divergence_fluxes = divergence_fluxes - ((eq_side_rank(g, dirichlet_boundary_ranks, cell, axis, 0) != EQ_NONE) ? (btrans_direction[eq_side_rank(g, dirichlet_boundary_ranks, cell, axis, 0)] * (u_here - dirichlet_val[eq_side_rank(g, dirichlet_boundary_ranks, cell, axis, 0)])) : 0.0);
    }
    if (!eq_side_on_boundary(g, cell, axis, 1)) {
      divergence_fluxes = divergence_fluxes + (minus_itrans_axis[axis] * (u_high[axis] - u_here));
    } else {
      divergence_fluxes = divergence_fluxes + ((eq_side_rank(g, dirichlet_boundary_ranks, cell, axis, 1) != EQ_NONE) ? (btrans_direction[eq_side_rank(g, dirichlet_boundary_ranks, cell, axis, 1)] * (u_here - dirichlet_val[eq_side_rank(g, dirichlet_boundary_ranks, cell, axis, 1)])) : 0.0);
    }
  }
  u_new_out[cell.index] = u_here - ((dt / g.volume) * divergence_fluxes);
}
extern "C" __global__ void EQ_ROW_CELLS compute_u_cartesian_rows_x2(
    const EqCartesian g,
    const EqRanks dirichlet_boundary_ranks,
    const double* __restrict__ u,
    const double* __restrict__ dt_at,
    const double* __restrict__ minus_itrans,
    const double* __restrict__ btrans_direction,
    const double* __restrict__ dirichlet_val,
    double* __restrict__ u_new_out) {
  compute_u_cartesian_rows<2>(g, dirichlet_boundary_ranks, u, dt_at, minus_itrans, btrans_direction, dirichlet_val, u_new_out);
}

// heat_explicit_3d.equelle:40: Output("maximum of u", MaxReduce(u))
extern "C" __global__ void EQ_LIGHT compute_max_u(
    const EqSpace space,
    const double* __restrict__ u,
    double* __restrict__ max_u_out) {
  const EqLeaf leaf = eq_leaf_here(space.size);
  double partial = 0.0;
  for (EqEntity at = leaf.begin; at < leaf.end; at += EQ_CHAINS) {
    const EqEntity element = eq_in_file(space, at);
    const EqEntity here = eq_entity(space, element);
    partial = at == leaf.begin ? u[element] : eq_greatest(partial, u[element]);
  }
  partial = eq_chains<0>(partial, leaf.chains, EqMax());
  if (!eq_tells_leaf()) return;
  max_u_out[blockIdx.x] = partial;
}
