// ---- Equations ----------------------------------------------------------------------------------

// The rows of a block of threads, one each, are staged in shared memory and written contiguously.
// Rows that are too long for that are written in place, as are all rows in the emulator, where
// threads run one after another.
#define EQ_STAGED 2560u
#ifdef EQ_SHIM
#define EQ_STAGE_ENTRIES EqReal* stage_entries = 0;
#define EQ_STAGE_ROWS EQ_STAGE_ENTRIES EqEntity* stage_columns = 0;
#else
#define EQ_STAGE_ENTRIES __shared__ EqReal stage_entries[EQ_STAGED];
#define EQ_STAGE_ROWS EQ_STAGE_ENTRIES __shared__ EqEntity stage_columns[EQ_STAGED];
#endif
struct EqStage {
  EqReal* entries;  // null: the rows stay where they are
  EqEntity* columns;
  unsigned long long begin;  // first entry of the block
  unsigned int count;        // of its entries
};

// For kernels that write every entry of their row once; `size` is the number of rows.
EQ_FUNCTION EqStage eq_stage_entries(const EqRows& rows, EqEntity size, EqReal* entries) {
  EqStage stage;
  stage.entries = 0;
  stage.columns = 0;
  stage.begin = 0;
  stage.count = 0;
#ifndef EQ_SHIM
  const unsigned long long from = (unsigned long long)blockIdx.x * blockDim.x, to = from + blockDim.x;
  stage.begin = rows.row_ptr[from];
  const unsigned long long count = rows.row_ptr[to < size ? to : size] - stage.begin;
  if (count <= EQ_STAGED) {
    stage.entries = entries;
    stage.count = (unsigned int)count;
  }
#endif
  return stage;
}

// For kernels that add to the entries of their row: initialises zeros, and the columns if there is
// memory for them.
EQ_FUNCTION EqStage eq_stage_rows(const EqRows& rows, EqEntity size, EqReal* entries, EqEntity* columns) {
  EqStage stage = eq_stage_entries(rows, size, entries);
#ifndef EQ_SHIM
  stage.columns = columns;
  for (unsigned int k = threadIdx.x; k < stage.count; k += blockDim.x) {
    entries[k] = 0;
    if (columns) columns[k] = rows.columns[stage.begin + k];
  }
  __syncthreads();
#endif
  return stage;
}

// Entries of row k.
EQ_FUNCTION EqReal* eq_entries(const EqStage& stage, const EqRows& rows, EqEntity k) {
  return stage.entries ? stage.entries + (rows.row_ptr[k] - stage.begin) : rows.entries + rows.row_ptr[k];
}

// Called when all threads of the block have completed their rows.
EQ_FUNCTION void eq_write_rows(const EqStage& stage, const EqRows& rows) {
#ifndef EQ_SHIM
  __syncthreads();
  for (unsigned int k = threadIdx.x; k < stage.count; k += blockDim.x) rows.entries[stage.begin + k] = stage.entries[k];
#endif
}

// A row of the Jacobian to which one thread adds.
struct EqRow {
  const EqEntity* columns;
  EqReal* entries;
  unsigned int width;
};

// Row k, initialised to zeros.
EQ_FUNCTION EqRow eq_row(const EqStage& stage, const EqRows& rows, EqEntity k) {
  const unsigned long long begin = rows.row_ptr[k];
  EqRow row;
  row.width = (unsigned int)(rows.row_ptr[k + 1] - begin);
  row.entries = eq_entries(stage, rows, k);
  row.columns = rows.columns + begin;
  if (stage.entries) {
    row.columns = stage.columns + (begin - stage.begin);
  } else {
    for (unsigned int i = 0; i < row.width; ++i) row.entries[i] = 0;
  }
  return row;
}

// A row to which one thread adds, whose columns are read where they are.
EQ_FUNCTION EqRow eq_row_in_place(const EqRows& rows, EqReal* entries, EqEntity k) {
  const unsigned long long begin = rows.row_ptr[k];
  EqRow row;
  row.width = (unsigned int)(rows.row_ptr[k + 1] - begin);
  row.entries = entries;
  row.columns = rows.columns + begin;
  for (unsigned int i = 0; i < row.width; ++i) entries[i] = 0;
  return row;
}

// Derivatives with respect to the neighbours on the low sides, and to those on the high sides, by
// ascending column.
EQ_FUNCTION EqReal* eq_put_low(const EqCartesian& g, const EqCell& cell, EqReal* entries, const EqReal* derivatives) {
#pragma unroll
  for (int axis = DIM - 1; axis >= 0; --axis)
    if (!eq_side_on_boundary(g, cell, axis, 0)) *entries++ = derivatives[axis];
  return entries;
}
EQ_FUNCTION EqReal* eq_put_high(const EqCartesian& g, const EqCell& cell, EqReal* entries, const EqReal* derivatives) {
#pragma unroll
  for (int axis = 0; axis < DIM; ++axis)
    if (!eq_side_on_boundary(g, cell, axis, 1)) *entries++ = derivatives[axis];
  return entries;
}

// Adds a derivative in a known slot.
EQ_FUNCTION void eq_add_at(const EqRow& row, EqSlot slot, EqReal derivative) { row.entries[slot] = row.entries[slot] + derivative; }

// Adds a derivative. The pattern has every column that an evaluation adds to; bisection, since rows
// are short and their columns near.
EQ_FUNCTION void eq_add(const EqRow& row, EqEntity column, EqReal derivative) {
  unsigned int low = 0, high = row.width;
  while (high - low > 1) {
    const unsigned int middle = (low + high) / 2;
    if (row.columns[middle] <= column) low = middle; else high = middle;
  }
  row.entries[low] = row.entries[low] + derivative;
}

// State of the list of an element's derivatives.
struct EqResidualScale {
  unsigned int count;
  EqEntity* columns;
};

EQ_FUNCTION EqResidualScale eq_told(const EqPattern& pattern, EqEntity k) {
  EqResidualScale told;
  told.count = 0;
  told.columns = pattern.columns ? pattern.columns + pattern.starts[k] : 0;
  return told;
}

// Lists a derivative with respect to the element at a position of the unknown whose columns begin
// at `first`; none if the position is EQ_NONE.
EQ_FUNCTION void eq_tell(EqResidualScale& told, EqEntity first, EqEntity position) {
  if (told.columns) told.columns[told.count] = position == EQ_NONE ? EQ_NONE : first + position;
  ++told.count;
}

// The elements of an unknown in the row of a cell: the neighbours on its low sides, itself, those
// on its high sides.
EQ_FUNCTION void eq_tell_cell(const EqCartesian& g, const EqCell& cell, EqResidualScale& told, EqEntity first, bool low, bool own, bool high) {
#pragma unroll
  for (int axis = DIM - 1; axis >= 0; --axis)
    if (low && !eq_side_on_boundary(g, cell, axis, 0)) eq_tell(told, first, eq_neighbour(g, cell, axis, 0));
  if (own) eq_tell(told, first, cell.index);
#pragma unroll
  for (int axis = 0; axis < DIM; ++axis)
    if (high && !eq_side_on_boundary(g, cell, axis, 1)) eq_tell(told, first, eq_neighbour(g, cell, axis, 1));
}

// Steps of access paths, which map EQ_NONE to EQ_NONE.
EQ_FUNCTION EqEntity eq_try_rank(const EqRanks& ranks, EqEntity entity) { return entity == EQ_NONE ? EQ_NONE : eq_rank(ranks, entity); }
EQ_FUNCTION EqEntity eq_try_entity(const EqEntity* entities, EqEntity position) { return position == EQ_NONE ? EQ_NONE : entities[position]; }
EQ_FUNCTION EqPair eq_try_cells(const EqGrid& grid, EqEntity face) {
  EqPair none;
  none.first = none.second = EQ_NONE;
  return face == EQ_NONE ? none : eq_cells(grid, face);
}

