// Kernels of every_construct. Helpers beginning with eq_ or Eq are the runtime's.

extern "C" __global__ void EQ_LIGHT geometry(
    const EqSpace space,
    const EqGrid grid,
    const double* __restrict__ k_at,
    double* __restrict__ centre_out,
    unsigned char* __restrict__ far_out,
    double* __restrict__ size_out) {
  const double k = *k_at;
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  const EqVector c = eq_cell_centroid(grid, here) * k;
  const EqVector turned = (-c) + (2.0 * (c / k));
  eq_store(centre_out, space.size, element, turned - c);
  far_out[element] = (c.c[0] > 1.0) != (c.c[1] < 1.0);
  size_out[element] = eq_cell_volume(grid, here);
}

extern "C" __global__ void EQ_LIGHT transmissibility(
    const EqSpace space,
    const EqGrid grid,
    const double* __restrict__ k_at,
    double* __restrict__ t_out) {
  const double k = *k_at;
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  t_out[element] = eq_divide(k * eq_face_area(grid, here), eq_length((eq_cell_centroid(grid, eq_cells(grid, here).first) - eq_cell_centroid(grid, eq_cells(grid, here).second))));
}

extern "C" __global__ void EQ_LIGHT transmissibility_per_axis(
    const EqCartesian g,
    const double* __restrict__ k_at,
    double* __restrict__ t_out) {
  const double k = *k_at;
  const int axis = (int)eq_index();
  if (axis >= DIM) return;
  t_out[axis] = eq_divide(k * eq_at(g.area, axis), eq_length(eq_along(axis, -eq_at(g.spacing, axis))));
}

extern "C" __global__ void EQ_LIGHT weight(
    const EqSpace space,
    const EqGrid grid,
    const double* __restrict__ k_at,
    double* __restrict__ w_out) {
  const double k = *k_at;
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  w_out[element] = k / eq_cell_volume(grid, here);
}

extern "C" __global__ void EQ_LIGHT weight_per_axis(
    const EqCartesian g,
    const double* __restrict__ k_at,
    double* __restrict__ w_out) {
  const double k = *k_at;
  const int axis = (int)eq_index();
  if (axis >= 1) return;
  w_out[axis] = k / g.volume;
}

extern "C" __global__ void EQ_LIGHT transport(
    const EqSpace space,
    const EqGrid grid,
    const EqRanks interior_faces_ranks,
    const EqRanks wells_ranks,
    const double* __restrict__ u,
    const double* __restrict__ row_2,
    const double* __restrict__ t,
    const double* __restrict__ centre,
    const EqEntity centre_size,
    const unsigned char* __restrict__ far,
    const double* __restrict__ rate,
    const double* __restrict__ grid_2_at,
    double* __restrict__ a_out,
    unsigned char* __restrict__ b_out,
    double* __restrict__ total_out,
    double* __restrict__ most_out) {
  const double grid_2 = *grid_2_at;
  const EqLeaf leaf = eq_leaf_here(space.size);
  double partial_2 = 0.0;
  double partial_3 = 0.0;
  for (EqEntity at = leaf.begin; at < leaf.end; at += EQ_CHAINS) {
    const EqEntity element = eq_in_file(space, at);
    const EqEntity here = eq_entity(space, element);
    double out = 0.0;
    double area = 0.0;
    const EqSides f_sides = eq_sides(grid, here);
    for (EqOffset f_at = f_sides.begin; f_at < f_sides.end; f_at += EQ_SLICE) {
      const EqEntity f_neighbour = eq_neighbour_at(grid, f_at);
      if (f_neighbour == EQ_NO_SIDE) break;
      const EqEntity f = grid.side_faces[f_at];
      const EqPair f_cells = eq_side_cells(here, f_neighbour);
      if (eq_is_inside(f_neighbour)) {
        const EqEntity up = ((row_2[f] > 0.0) ? f_cells.first : f_cells.second);
        const double w = t[eq_rank_of_side(grid, interior_faces_ranks, f_at, f_neighbour)] * (u[up] * row_2[f]);
        out = eq_is_outward(f_neighbour) ? out + w : out - w;
        const double area_term = eq_face_area(grid, f);
        area = eq_is_outward(f_neighbour) ? area + area_term : area - area_term;
      } else {
        const double w = row_2[f] * u[element];
        out = eq_is_outward(f_neighbour) ? out + w : out - w;
        const double area_term_2 = eq_face_area(grid, f);
        area = eq_is_outward(f_neighbour) ? area + area_term_2 : area - area_term_2;
      }
    }
    const double taken = (eq_rank(wells_ranks, here) != EQ_NONE) ? rate[eq_rank(wells_ranks, here)] : 0.0;
    const double d = eq_dot(eq_load(centre, centre_size, element), eq_load(centre, centre_size, element));
    a_out[element] = (u[element] - (grid_2 * out)) + (taken + d);
    b_out[element] = far[element] || (!(area == 0.0));
    partial_2 = eq_sum(partial_2, out);
    partial_3 = at == leaf.begin ? fabs(area) : eq_greatest(partial_3, fabs(area));
  }
  partial_2 = eq_chains<2>(partial_2, leaf.chains, EqSum());
  partial_3 = eq_chains<3>(partial_3, leaf.chains, EqMax());
  if (!eq_tells_leaf()) return;
  total_out[blockIdx.x] = partial_2;
  most_out[blockIdx.x] = partial_3;
}

extern "C" __global__ void EQ_LIGHT diffuse(
    const EqSpace space,
    const EqGrid grid,
    const EqRanks interior_faces_ranks,
    const double* __restrict__ u,
    const double* __restrict__ len,
    const double* __restrict__ g_2,
    const double* __restrict__ t,
    const double* __restrict__ w,
    const unsigned char* __restrict__ far,
    const double* __restrict__ dt_at,
    double* __restrict__ u_new_out,
    unsigned char* __restrict__ even_out) {
  const double dt = *dt_at;
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  const double half = 0.5 * u[element];
  double s = 0.0;
  double n = 0.0;
  const EqSides f_sides = eq_sides(grid, here);
  for (EqOffset f_at = f_sides.begin; f_at < f_sides.end; f_at += EQ_SLICE) {
    const EqEntity f_neighbour = eq_neighbour_at(grid, f_at);
    if (f_neighbour == EQ_NO_SIDE) break;
    if (!eq_is_inside(f_neighbour)) continue;
    const EqEntity f = grid.side_faces[f_at];
    const EqPair f_cells = eq_side_cells(here, f_neighbour);
    const EqVector across = eq_cell_centroid(grid, f_cells.second) - eq_cell_centroid(grid, f_cells.first);
    const double s_term = (t[eq_rank_of_side(grid, interior_faces_ranks, f_at, f_neighbour)] * (u[f_cells.second] - u[f_cells.first])) + (len[f] * g_2[eq_rank_of_side(grid, interior_faces_ranks, f_at, f_neighbour)]);
    s = eq_is_outward(f_neighbour) ? s + s_term : s - s_term;
    const double n_term = half * eq_dot(eq_face_normal(grid, f), across);
    n = eq_is_outward(f_neighbour) ? n + n_term : n - n_term;
  }
  double edge = 0.0;
  const EqSides e_sides = eq_sides(grid, here);
  for (EqOffset e_at = e_sides.begin; e_at < e_sides.end; e_at += EQ_SLICE) {
    const EqEntity e_neighbour = eq_neighbour_at(grid, e_at);
    if (e_neighbour == EQ_NO_SIDE) break;
    if (eq_is_inside(e_neighbour)) continue;
    const EqEntity e = grid.side_faces[e_at];
    const double edge_term = eq_face_area(grid, e) * len[e];
    edge = eq_is_outward(e_neighbour) ? edge + edge_term : edge - edge_term;
  }
  double x;
  if (far[element]) {
    x = s * w[element];
  } else {
    x = (s + n) * 2.0;
  }
  u_new_out[element] = (u[element] + (dt * x)) - (edge * eq_cell_volume(grid, here));
  even_out[element] = s < n;
}

extern "C" __global__ void EQ_LIGHT diffuse_cartesian(
    const EqCartesian g,
    const EqRanks interior_faces_ranks,
    const double* __restrict__ u,
    const double* __restrict__ len,
    const double* __restrict__ g_2,
    const double* __restrict__ t,
    const double* __restrict__ w,
    const unsigned char* __restrict__ far,
    const double* __restrict__ dt_at,
    double* __restrict__ u_new_out,
    unsigned char* __restrict__ even_out) {
  const double dt = *dt_at;
  if (eq_is_inside_block(g)) {
    EqInsideCell cell;
    #pragma unroll 1
    for (unsigned int step = 0; step < g.cells_per_thread; ++step) {
      if (!eq_inside_cell_here(g, step, cell)) continue;
      const double u_here = u[cell.index];
      double t_axis[DIM];
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) t_axis[axis] = t[axis];
      const double w_here = w[0];
      const double half_c = 0.5 * u_here;
      double s_c = 0.0;
      double n_c = 0.0;
      double u_low[DIM];
      double u_high[DIM];
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) {
        u_low[axis] = u[eq_neighbour(g, cell, axis, 0)];
        u_high[axis] = u[eq_neighbour(g, cell, axis, 1)];
      }
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) {
        const EqEntity low_face = eq_side_face(g, cell, axis, 0);
        const EqVector across_low = eq_along(axis, eq_at(g.spacing, axis));
        s_c = s_c - ((t_axis[axis] * (u_here - u_low[axis])) + (len[low_face] * g_2[eq_rank_cartesian(g, interior_faces_ranks, low_face)]));
        n_c = n_c - (half_c * eq_dot(eq_along(axis, 1.0), across_low));
        const EqVector across_high = eq_along(axis, eq_at(g.spacing, axis));
        s_c = s_c + ((t_axis[axis] * (u_high[axis] - u_here)) + (len[eq_side_face(g, cell, axis, 1)] * g_2[eq_side_rank(g, interior_faces_ranks, cell, axis, 1)]));
        n_c = n_c + (half_c * eq_dot(eq_along(axis, 1.0), across_high));
      }
      double edge_c = 0.0;
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) {
      }
      double x_c;
      if (far[cell.index]) {
        x_c = s_c * w_here;
      } else {
        x_c = (s_c + n_c) * 2.0;
      }
      u_new_out[cell.index] = (u_here + (dt * x_c)) - (edge_c * g.volume);
      even_out[cell.index] = s_c < n_c;
    }
    return;
  }
  EqCell cell;
  if (!eq_boundary_cell_here(g, cell)) return;
  const double u_here = u[cell.index];
  double t_axis[DIM];
  #pragma unroll
  for (int axis = 0; axis < DIM; ++axis) t_axis[axis] = t[axis];
  const double w_here = w[0];
  const double half_c = 0.5 * u_here;
  double s_c = 0.0;
  double n_c = 0.0;
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
      const EqEntity low_face = eq_side_face(g, cell, axis, 0);
      const EqVector across_low = eq_along(axis, eq_at(g.spacing, axis));
      s_c = s_c - ((t_axis[axis] * (u_here - u_low[axis])) + (len[low_face] * g_2[eq_rank_cartesian(g, interior_faces_ranks, low_face)]));
      n_c = n_c - (half_c * eq_dot(eq_along(axis, 1.0), across_low));
    }
    if (!eq_side_on_boundary(g, cell, axis, 1)) {
      const EqVector across_high = eq_along(axis, eq_at(g.spacing, axis));
      s_c = s_c + ((t_axis[axis] * (u_high[axis] - u_here)) + (len[eq_side_face(g, cell, axis, 1)] * g_2[eq_side_rank(g, interior_faces_ranks, cell, axis, 1)]));
      n_c = n_c + (half_c * eq_dot(eq_along(axis, 1.0), across_high));
    }
  }
  double edge_c = 0.0;
  #pragma unroll
  for (int axis = 0; axis < DIM; ++axis) {
    if (eq_side_on_boundary(g, cell, axis, 0)) {
      edge_c = edge_c - (eq_at(g.area, axis) * len[eq_side_face(g, cell, axis, 0)]);
    }
    if (eq_side_on_boundary(g, cell, axis, 1)) {
      edge_c = edge_c + (eq_at(g.area, axis) * len[eq_side_face(g, cell, axis, 1)]);
    }
  }
  double x_c;
  if (far[cell.index]) {
    x_c = s_c * w_here;
  } else {
    x_c = (s_c + n_c) * 2.0;
  }
  u_new_out[cell.index] = (u_here + (dt * x_c)) - (edge_c * g.volume);
  even_out[cell.index] = s_c < n_c;
}

extern "C" __global__ void EQ_LIGHT jump(
    const EqSpace space,
    const EqGrid grid,
    const double* __restrict__ u,
    const EqEntity* __restrict__ cells,
    double* __restrict__ j_out) {
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  const EqEntity far = ((cells[element] == eq_cells(grid, here).first) ? eq_cells(grid, here).second : eq_cells(grid, here).first);
  double ring = 0.0;
  const EqSides g_2_sides = eq_sides(grid, far);
  for (EqOffset g_2_at = g_2_sides.begin; g_2_at < g_2_sides.end; g_2_at += EQ_SLICE) {
    const EqEntity g_2_neighbour = eq_neighbour_at(grid, g_2_at);
    if (g_2_neighbour == EQ_NO_SIDE) break;
    const EqPair g_2_cells = eq_side_cells(far, g_2_neighbour);
    const double ring_term = (g_2_cells.second == EQ_NONE) ? 1.0 : u[g_2_cells.second];
    ring = eq_is_outward(g_2_neighbour) ? ring + ring_term : ring - ring_term;
  }
  j_out[element] = (u[cells[element]] - u[far]) + sqrt(fabs(ring));
}

extern "C" __global__ void EQ_LIGHT inside(
    const EqSpace space,
    const EqGrid grid,
    const EqChecks checks,
    const double* __restrict__ u,
    double* __restrict__ u_inside_out) {
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  if (!(!(eq_cells(grid, here).first == EQ_NONE))) {
    eq_fail(checks, 0, element);
    return;
  }
  u_inside_out[element] = u[eq_cells(grid, here).first];
}

extern "C" __global__ void EQ_LIGHT outside(
    const EqSpace space,
    const EqRanks boundary_faces_ranks,
    const EqChecks checks) {
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  if (!(eq_rank(boundary_faces_ranks, here) != EQ_NONE)) {
    eq_fail(checks, 0, element);
    return;
  }
}

extern "C" __global__ void EQ_LIGHT extremes(
    const EqSpace space,
    const double* __restrict__ rate,
    double* __restrict__ least_out,
    double* __restrict__ product_out) {
  const EqLeaf leaf = eq_leaf_here(space.size);
  double partial_0 = 0.0;
  double partial_1 = 1.0;
  for (EqEntity at = leaf.begin; at < leaf.end; at += EQ_CHAINS) {
    const EqEntity element = eq_in_file(space, at);
    const EqEntity here = eq_entity(space, element);
    partial_0 = at == leaf.begin ? (rate[element] - 1.0) : eq_least(partial_0, (rate[element] - 1.0));
    partial_1 = eq_prod(partial_1, (rate[element] * 2.0));
  }
  partial_0 = eq_chains<0>(partial_0, leaf.chains, EqMin());
  partial_1 = eq_chains<1>(partial_1, leaf.chains, EqProd());
  if (!eq_tells_leaf()) return;
  least_out[blockIdx.x] = partial_0;
  product_out[blockIdx.x] = partial_1;
}

extern "C" __global__ void EQ_LIGHT ratio(
    const double* __restrict__ a_at,
    const double* __restrict__ b_at,
    double* __restrict__ r_out) {
  const double a = *a_at;
  const double b = *b_at;
  if (eq_index() != 0) return;
  r_out[0] = a / b;
}

extern "C" __global__ void EQ_LIGHT sizes(
    const EqSpace space,
    const EqGrid grid,
    double* __restrict__ size_out) {
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  size_out[element] = eq_face_area(grid, here);
}
