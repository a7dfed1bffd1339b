// The operation level: a kernel for each kind of operation, one launch for each operation of a
// program. Traffic is per element of Scalar operands, without fusion.

// ---- Numbers ------------------------------------------------------------------------------------

// Functions of one number, in the order of Unary in operators.rs: elementary ones last, by their
// numbers. 16 bytes an element.
extern "C" __global__ void equelle_unary(unsigned int function, EqEntity n, const EqOperand a, EqReal* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k >= n) return;
  const EqReal x = eq_number(a, k);
  EqReal value = x;
  switch (function) {
    case 0: break;
    case 1: value = -x; break;
    case 2: value = fabs(x); break;
    case 3: value = sqrt(x); break;
    default: value = eq_elementary(function - 4, x); break;
  }
  out[eq_component_index(n, k)] = value;
}

// The value of a table at each number, which has the precision of the table until it is stored. 16
// bytes an element.
extern "C" __global__ void equelle_interpolate(EqEntity n, const double* __restrict__ table, const EqOperand a, EqReal* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k < n) out[eq_component_index(n, k)] = EqReal(eq_interpolate(table, eq_number(a, k)));
}

// Functions of two numbers, in the order of Binary in operators.rs. 24 bytes an element.
extern "C" __global__ void equelle_binary(unsigned int function, EqEntity n, const EqOperand a, const EqOperand b, EqReal* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k >= n) return;
  const EqReal x = eq_number(a, k), y = eq_number(b, k);
  EqReal value = 0;
  switch (function) {
    case 0: value = x + y; break;
    case 1: value = x - y; break;
    case 2: value = x * y; break;
    case 3: value = x / y; break;
    case 4: value = x <= y || eq_nan(x) ? x : y; break;
    case 5: value = x >= y || eq_nan(x) ? x : y; break;
    case 6: value = eq_pow(x, y); break;
    default: value = eq_atan2(x, y); break;
  }
  out[eq_component_index(n, k)] = value;
}

// Sum of the products of components, in order from the first product; its square root if `root`
// is 1.
extern "C" __global__ void equelle_inner(unsigned int root, EqEntity n, const EqOperand a, const EqOperand b, EqReal* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k >= n) return;
  EqReal sum = 0;
#pragma unroll
  for (int d = 0; d < DIM; ++d) {
    const EqReal product = eq_component(a, k, d) * eq_component(b, k, d);
    sum = d == 0 ? product : sum + product;
  }
  out[k] = root ? sqrt(sum) : sum;
}

// ---- Bools --------------------------------------------------------------------------------------

// Comparisons in the order of Comparison. 17 bytes an element.
extern "C" __global__ void equelle_compare(unsigned int comparison, EqEntity n, const EqOperand a, const EqOperand b,
                                           unsigned char* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k >= n) return;
  const EqReal x = eq_number(a, k), y = eq_number(b, k);
  bool value = false;
  switch (comparison) {
    case 0: value = x < y; break;
    case 1: value = x > y; break;
    case 2: value = x <= y; break;
    case 3: value = x >= y; break;
    case 4: value = x == y; break;
    default: value = x != y; break;
  }
  out[k] = value;
}

// a; not a; and; or; xor: operation 0 to 4. 3 bytes an element.
extern "C" __global__ void equelle_logic(unsigned int operation, EqEntity n, const EqBool a, const EqBool b, unsigned char* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k >= n) return;
  const bool x = eq_bool(a, k), y = eq_bool(b, k);
  bool value = x;
  switch (operation) {
    case 1: value = !x; break;
    case 2: value = x && y; break;
    case 3: value = x || y; break;
    case 4: value = x != y; break;
    default: break;
  }
  out[k] = value;
}

extern "C" __global__ void equelle_same_entities(EqEntity n, const EqEntity* a, const EqEntity* b, unsigned char* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k < n) out[k] = a[k] == b[k];
}

extern "C" __global__ void equelle_is_empty(EqEntity n, const EqEntity* entities, unsigned char* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k < n) out[k] = entities[k] == EQ_NONE;
}

// ---- Reads by index: the cell at an offset, and where cells are; Empty stays Empty --------------

extern "C" __global__ void equelle_offset_cells(EqEntity n, const EqEntity* cells, const EqCartesian g, const EqOffset3 by,
                                                EqEntity* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k >= n) return;
  out[k] = cells[k] == EQ_NONE ? EQ_NONE
                               : eq_offset_cell(g, cells[k], by.by[0], by.by[1], by.by[2], by.maps[0], by.maps[1], by.maps[2], by.maps[3],
                                                by.maps[4], by.maps[5]);
}

extern "C" __global__ void equelle_is_outside(EqEntity n, const EqEntity* cells, const EqCartesian g, unsigned int axis, const EqOffset3 by,
                                              unsigned char* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k < n) out[k] = cells[k] != EQ_NONE && eq_is_outside(g, cells[k], axis, by.by[0]);
}

extern "C" __global__ void equelle_is_even(EqEntity n, const EqEntity* cells, const EqCartesian g, unsigned int axes,
                                           unsigned char* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k < n) out[k] = cells[k] != EQ_NONE && eq_is_even(g, cells[k], axes & 1, axes & 2, axes & 4);
}

extern "C" __global__ void equelle_index_along(EqEntity n, const EqEntity* cells, const EqCartesian g, unsigned int axis,
                                               EqReal* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k < n) out[k] = cells[k] == EQ_NONE ? EqReal(0) : EqReal(eq_index_along(g, cells[k], axis));
}

// ---- The ternary operator: the branch not chosen is not read ------------------------------------

extern "C" __global__ void equelle_select(EqEntity n, const EqBool condition, const EqOperand a, const EqOperand b, EqReal* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k < n) out[eq_component_index(n, k)] = eq_bool(condition, k) ? eq_number(a, k) : eq_number(b, k);
}

extern "C" __global__ void equelle_select_bools(EqEntity n, const EqBool condition, const EqBool a, const EqBool b,
                                                unsigned char* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k < n) out[k] = eq_bool(condition, k) ? eq_bool(a, k) : eq_bool(b, k);
}

extern "C" __global__ void equelle_select_entities(EqEntity n, const EqBool condition, const EqEntity* a, const EqEntity* b,
                                                   EqEntity* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k < n) out[k] = eq_bool(condition, k) ? a[k] : b[k];
}

// ---- Topology and geometry. Condition 0: the entity is not Empty --------------------------------

// First (0) or second (1) cell of each face.
extern "C" __global__ void equelle_cell_of(unsigned int side, EqEntity n, const EqEntity* faces, const EqGrid grid, EqEntity* __restrict__ out,
                                           const EqChecks checks) {
  const EqEntity k = eq_index();
  if (k >= n) return;
  const EqEntity face = faces[k];
  if (face >= grid.n_faces) {
    eq_fail(checks, 0, k);
    out[k] = EQ_NONE;
    return;
  }
  const EqPair cells = eq_cells(grid, face);
  out[k] = side ? cells.second : cells.first;
}

// That no face has two cells.
extern "C" __global__ void equelle_one_cell(EqEntity n, const EqEntity* faces, const EqGrid grid, const EqChecks checks) {
  const EqEntity k = eq_index();
  if (k >= n) return;
  const EqEntity face = faces[k];
  if (face >= grid.n_faces) return;
  const EqPair cells = eq_cells(grid, face);
  if (cells.first != EQ_NONE && cells.second != EQ_NONE) eq_fail(checks, 0, k);
}

// Geometry of entities: `table` has `size` numbers for each component; without a table every number
// is 1.
extern "C" __global__ void equelle_geometry(EqEntity n, const EqEntity* entities, EqEntity size, const double* table, EqReal* __restrict__ out,
                                            const EqChecks checks) {
  const EqEntity k = eq_index();
  if (k >= n) return;
  const EqEntity entity = entities[k];
  if (entity >= size) {
    eq_fail(checks, 0, k);
    out[eq_component_index(n, k)] = 0.0;
    return;
  }
  out[eq_component_index(n, k)] = (EqReal)(table ? table[eq_component_index(size, entity)] : 1.0);
}

// ---- On and Extend ------------------------------------------------------------------------------

// Positions of the target's entities in the data's domain. Condition 0: none is Empty; 1: the
// domain contains them.
EQ_FUNCTION EqEntity eq_position(const EqEntity* target, EqEntity k, const EqRanks& ranks, const EqChecks& checks) {
  const EqEntity entity = target[k];
  const EqEntity position = entity == EQ_NONE ? EQ_NONE : eq_rank(ranks, entity);
  if (position == EQ_NONE) eq_fail(checks, entity == EQ_NONE ? 0 : 1, k);
  return position;
}

extern "C" __global__ void equelle_on(EqEntity n, const EqEntity* target, const EqRanks ranks, const EqOperand data, EqReal* __restrict__ out,
                                      const EqChecks checks) {
  const EqEntity k = eq_index();
  if (k >= n) return;
  const EqEntity position = eq_position(target, k, ranks, checks);
  out[eq_component_index(n, k)] = position == EQ_NONE ? EqReal(0) : eq_number(data, position);
}

extern "C" __global__ void equelle_on_bools(EqEntity n, const EqEntity* target, const EqRanks ranks, const unsigned char* data,
                                            unsigned char* __restrict__ out, const EqChecks checks) {
  const EqEntity k = eq_index();
  if (k >= n) return;
  const EqEntity position = eq_position(target, k, ranks, checks);
  out[k] = position == EQ_NONE ? 0 : data[position];
}

extern "C" __global__ void equelle_on_entities(EqEntity n, const EqEntity* target, const EqRanks ranks, const EqEntity* data,
                                               EqEntity* __restrict__ out, const EqChecks checks) {
  const EqEntity k = eq_index();
  if (k >= n) return;
  const EqEntity position = eq_position(target, k, ranks, checks);
  out[k] = position == EQ_NONE ? EQ_NONE : data[position];
}

// The data if its domain contains the element of the space, else zero, false, Empty.
extern "C" __global__ void equelle_extend(const EqSpace space, const EqRanks ranks, const EqOperand data, EqReal* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k >= space.size) return;
  const EqEntity position = eq_rank(ranks, eq_entity(space, k));
  out[eq_component_index(space.size, k)] = position == EQ_NONE ? EqReal(0) : eq_number(data, position);
}

extern "C" __global__ void equelle_extend_bools(const EqSpace space, const EqRanks ranks, const unsigned char* data,
                                                unsigned char* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k >= space.size) return;
  const EqEntity position = eq_rank(ranks, eq_entity(space, k));
  out[k] = position == EQ_NONE ? 0 : data[position];
}

extern "C" __global__ void equelle_extend_entities(const EqSpace space, const EqRanks ranks, const EqEntity* data, EqEntity* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k >= space.size) return;
  const EqEntity position = eq_rank(ranks, eq_entity(space, k));
  out[k] = position == EQ_NONE ? EQ_NONE : data[position];
}

// ---- Discrete operators -------------------------------------------------------------------------

// For each interior face the value in its second cell minus that in the first. 12 bytes of indices,
// 16 of values, 8 of results a face.
extern "C" __global__ void equelle_gradient(const EqSpace interior, const EqGrid grid, const EqReal* __restrict__ values, EqReal* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k >= interior.size) return;
  const EqPair cells = eq_cells(grid, eq_entity(interior, k));
  out[k] = values[cells.second] - values[cells.first];
}

// Position of the face at a side in a set of faces, or EQ_NONE.
EQ_FUNCTION EqEntity eq_position_at_side(const EqGrid& grid, const EqRanks& ranks, EqOffset at, EqEntity neighbour) {
  return ranks.canonical == EQ_ALL_FACES ? eq_rank(ranks, grid.side_faces[at]) : eq_rank_of_side(grid, ranks, at, neighbour);
}

// For each cell a reduction of numbers on its faces, from `start`, in the order of its faces:
// `first` where it is the face's first cell, `second` where it is the second. 0: sum, 1: maximum,
// 2: minimum. With `of_first` and `of_second`, the position of the extreme in its collection there,
// and EQ_NONE in the other.
extern "C" __global__ void equelle_face_reduce(unsigned int reduction, double start, const EqGrid grid, const EqRanks ranks,
                                               const EqReal* __restrict__ first, const EqReal* __restrict__ second, EqReal* __restrict__ out,
                                               EqEntity* __restrict__ of_first, EqEntity* __restrict__ of_second) {
  const EqEntity cell = eq_index();
  if (cell >= grid.n_cells) return;
  EqReal result = EqReal(start);
  EqEntity chosen_first = EQ_NONE, chosen_second = EQ_NONE;
  const EqSides sides = eq_sides(grid, cell);
  for (EqOffset at = sides.begin; at < sides.end; at += EQ_SLICE) {
    const EqEntity neighbour = eq_neighbour_at(grid, at);
    if (neighbour == EQ_NO_SIDE) break;
    const EqEntity position = eq_position_at_side(grid, ranks, at, neighbour);
    if (position == EQ_NONE) continue;
    const bool outward = eq_is_outward(neighbour);
    const EqReal number = outward ? first[position] : second[position];
    if (reduction == 0) {
      result = result + number;
      continue;
    }
    const bool kept = reduction == 1 ? result >= number : result <= number;
    if (!kept && !eq_nan(result)) {
      chosen_first = outward ? position : EQ_NONE;
      chosen_second = outward ? EQ_NONE : position;
    }
    result = reduction == 1 ? eq_max(result, number) : eq_min(result, number);
  }
  out[cell] = result;
  if (of_first == nullptr) return;
  of_first[cell] = chosen_first;
  of_second[cell] = chosen_second;
}

// For each cell the sum over its faces with values, from +0, in the order of its faces; positive
// where the cell is the face's first one.
extern "C" __global__ void equelle_divergence(const EqGrid grid, const EqRanks ranks, const EqReal* __restrict__ values, EqReal* __restrict__ out) {
  const EqEntity cell = eq_index();
  if (cell >= grid.n_cells) return;
  EqReal sum = 0;
  const EqSides sides = eq_sides(grid, cell);
  for (EqOffset at = sides.begin; at < sides.end; at += EQ_SLICE) {
    const EqEntity neighbour = eq_neighbour_at(grid, at);
    if (neighbour == EQ_NO_SIDE) break;
    const EqEntity position = eq_position_at_side(grid, ranks, at, neighbour);
    if (position == EQ_NONE) continue;
    sum = eq_is_outward(neighbour) ? sum + values[position] : sum - values[position];
  }
  out[cell] = sum;
}
