// Kernels of twophase_upwind. Helpers beginning with eq_ or Eq are the runtime's.

extern "C" __global__ void EQ_LIGHT compute_residual(
    const EqSpace space,
    const EqGrid grid,
    const EqRanks interior_faces_ranks,
    const EqRanks source_cells_ranks,
    const double* __restrict__ s,
    const double* __restrict__ s0,
    const double* __restrict__ flux,
    const double* __restrict__ pore_volume,
    const double* __restrict__ source_values,
    const double* __restrict__ watervisc_at,
    const double* __restrict__ oilvisc_at,
    const double* __restrict__ dt_at,
    double* __restrict__ residual_out) {
  const double watervisc = *watervisc_at;
  const double oilvisc = *oilvisc_at;
  const double dt = *dt_at;
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  double outflow = 0.0;
  const EqSides f_sides = eq_sides(grid, here);
  for (EqOffset f_at = f_sides.begin; f_at < f_sides.end; f_at += EQ_SLICE) {
    const EqEntity f_neighbour = eq_neighbour_at(grid, f_at);
    if (f_neighbour == EQ_NO_SIDE) break;
    if (!eq_is_inside(f_neighbour)) continue;
    const EqPair f_cells = eq_side_cells(here, f_neighbour);
    const EqEntity upwind = ((flux[eq_rank_of_side(grid, interior_faces_ranks, f_at, f_neighbour)] >= 0.0) ? f_cells.first : f_cells.second);
    const double water = eq_divide(s[upwind], watervisc);
    const double oil = eq_divide(1.0 - s[upwind], oilvisc);
    const double outflow_term = eq_divide(water, water + oil) * flux[eq_rank_of_side(grid, interior_faces_ranks, f_at, f_neighbour)];
    outflow = eq_is_outward(f_neighbour) ? outflow + outflow_term : outflow - outflow_term;
  }
  double inflow;
  if (eq_rank(source_cells_ranks, here) != EQ_NONE) {
    const double water_here = eq_divide(s[element], watervisc);
    const double oil_here = eq_divide(1.0 - s[element], oilvisc);
    const double injected = (source_values[eq_rank(source_cells_ranks, here)] > 0.0) ? source_values[eq_rank(source_cells_ranks, here)] : 0.0;
    const double produced = (source_values[eq_rank(source_cells_ranks, here)] < 0.0) ? source_values[eq_rank(source_cells_ranks, here)] : 0.0;
    inflow = injected + (produced * eq_divide(water_here, water_here + oil_here));
  } else {
    inflow = 0.0;
  }
  residual_out[element] = (s[element] - s0[element]) + ((dt / pore_volume[element]) * (outflow - inflow));
}

extern "C" __global__ void EQ_HEAVY compute_residual_cartesian(
    const EqCartesian g,
    const EqRanks interior_faces_ranks,
    const EqRanks source_cells_ranks,
    const double* __restrict__ s,
    const double* __restrict__ s0,
    const double* __restrict__ flux,
    const double* __restrict__ pore_volume,
    const double* __restrict__ source_values,
    const double* __restrict__ watervisc_at,
    const double* __restrict__ oilvisc_at,
    const double* __restrict__ dt_at,
    double* __restrict__ residual_out) {
  const double watervisc = *watervisc_at;
  const double oilvisc = *oilvisc_at;
  const double dt = *dt_at;
  if (eq_is_inside_block(g)) {
    EqInsideCell cell;
    #pragma unroll 1
    for (unsigned int step = 0; step < g.cells_per_thread; ++step) {
      if (!eq_inside_cell_here(g, step, cell)) continue;
      const double s_here = s[cell.index];
      const double s0_here = s0[cell.index];
      const double pore_volume_here = pore_volume[cell.index];
      double outflow = 0.0;
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) {
        const EqEntity upwind = ((flux[eq_side_rank(g, interior_faces_ranks, cell, axis, 0)] >= 0.0) ? eq_neighbour(g, cell, axis, 0) : cell.index);
        const double water = eq_divide(s[upwind], watervisc);
        const double oil = eq_divide(1.0 - s[upwind], oilvisc);
        outflow = outflow - (eq_divide(water, water + oil) * flux[eq_side_rank(g, interior_faces_ranks, cell, axis, 0)]);
        const EqEntity upwind_high = ((flux[eq_side_rank(g, interior_faces_ranks, cell, axis, 1)] >= 0.0) ? cell.index : eq_neighbour(g, cell, axis, 1));
        const double water_high = eq_divide(s[upwind_high], watervisc);
        const double oil_high = eq_divide(1.0 - s[upwind_high], oilvisc);
        outflow = outflow + (eq_divide(water_high, water_high + oil_high) * flux[eq_side_rank(g, interior_faces_ranks, cell, axis, 1)]);
      }
      double inflow;
      if (eq_cell_rank(g, source_cells_ranks, cell) != EQ_NONE) {
        const double water_here = eq_divide(s_here, watervisc);
        const double oil_here = eq_divide(1.0 - s_here, oilvisc);
        const double injected = (source_values[eq_cell_rank(g, source_cells_ranks, cell)] > 0.0) ? source_values[eq_cell_rank(g, source_cells_ranks, cell)] : 0.0;
        const double produced = (source_values[eq_cell_rank(g, source_cells_ranks, cell)] < 0.0) ? source_values[eq_cell_rank(g, source_cells_ranks, cell)] : 0.0;
        inflow = injected + (produced * eq_divide(water_here, water_here + oil_here));
      } else {
        inflow = 0.0;
      }
      residual_out[cell.index] = (s_here - s0_here) + ((dt / pore_volume_here) * (outflow - inflow));
    }
    return;
  }
  EqCell cell;
  if (!eq_boundary_cell_here(g, cell)) return;
  const double s_here = s[cell.index];
  const double s0_here = s0[cell.index];
  const double pore_volume_here = pore_volume[cell.index];
  double outflow = 0.0;
  #pragma unroll
  for (int axis = 0; axis < DIM; ++axis) {
    if (!eq_side_on_boundary(g, cell, axis, 0)) {
      const EqEntity upwind = ((flux[eq_side_rank(g, interior_faces_ranks, cell, axis, 0)] >= 0.0) ? eq_neighbour(g, cell, axis, 0) : cell.index);
      const double water = eq_divide(s[upwind], watervisc);
      const double oil = eq_divide(1.0 - s[upwind], oilvisc);
      outflow = outflow - (eq_divide(water, water + oil) * flux[eq_side_rank(g, interior_faces_ranks, cell, axis, 0)]);
    }
    if (!eq_side_on_boundary(g, cell, axis, 1)) {
      const EqEntity upwind_high = ((flux[eq_side_rank(g, interior_faces_ranks, cell, axis, 1)] >= 0.0) ? cell.index : eq_neighbour(g, cell, axis, 1));
      const double water_high = eq_divide(s[upwind_high], watervisc);
      const double oil_high = eq_divide(1.0 - s[upwind_high], oilvisc);
      outflow = outflow + (eq_divide(water_high, water_high + oil_high) * flux[eq_side_rank(g, interior_faces_ranks, cell, axis, 1)]);
    }
  }
  double inflow;
  if (eq_cell_rank(g, source_cells_ranks, cell) != EQ_NONE) {
    const double water_here = eq_divide(s_here, watervisc);
    const double oil_here = eq_divide(1.0 - s_here, oilvisc);
    const double injected = (source_values[eq_cell_rank(g, source_cells_ranks, cell)] > 0.0) ? source_values[eq_cell_rank(g, source_cells_ranks, cell)] : 0.0;
    const double produced = (source_values[eq_cell_rank(g, source_cells_ranks, cell)] < 0.0) ? source_values[eq_cell_rank(g, source_cells_ranks, cell)] : 0.0;
    inflow = injected + (produced * eq_divide(water_here, water_here + oil_here));
  } else {
    inflow = 0.0;
  }
  residual_out[cell.index] = (s_here - s0_here) + ((dt / pore_volume_here) * (outflow - inflow));
}
