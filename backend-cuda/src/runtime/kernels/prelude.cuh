// Helpers that every kernel text begins with. The Rust side of each struct is in args.rs, field for field.
//
// Vocabulary: an *entity* is the 32-bit index of a cell or face, EQ_NONE is Empty. A *set* is a sorted list of entities; the *rank* of an
// entity is its position in the set, and element k of a collection belongs to the k-th entity of its set.

typedef unsigned int EqEntity;
#define EQ_NONE 0xffffffffu
#ifdef EQ_WIDE_OFFSETS
typedef unsigned long long EqOffset;
#else
typedef unsigned int EqOffset;
#endif
// The numbers of collections, and of the derivatives that kernels write. Scalars, single Vectors, what reductions accumulate and linear systems are double in either case.
#ifdef EQ_SINGLE
typedef float EqReal;
#else
typedef double EqReal;
#endif
#define EQ_FUNCTION static __device__ __forceinline__
#define EQ_OPERATOR __device__ __forceinline__
// Of generated kernels: most threads of a block. Heavy ones, which divide much, run in as many blocks as there would be with 64 registers a thread: more threads are worth registers
// that do not fit. A stage of shallow water on 4096^2 cells takes 1.00 ms on an H200 with 64 registers, 1.04 with 80, 1.23 with 104.
// Light ones are bound by memory, and need as many threads as there can be: a step of explicit heat on 256^3 cells takes 0.110 ms with 32 registers, 0.124 with 40.
#define EQ_LIGHT __launch_bounds__(256, 8)
#define EQ_HEAVY __launch_bounds__(256, 4)
// Those that add to rows of a Jacobian need more registers than 32: on 256^3 cells of implicit heat as an unstructured grid 1.07 ms with 32, 0.92 with 40, 1.01 with 48.
#define EQ_ROWS __launch_bounds__(256, 6)

// What a kernel begins with that may be started while the one before it in a graph still ends: from here on the memory of that one is as it left it, and the one after it may be started. Pointers of such
// kernels are not __restrict__: reads of what is promised not to change could be moved ahead of the wait.
#if !defined(EQ_SHIM) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define EQ_START asm volatile("griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;" ::: "memory");
#else
#define EQ_START
#endif

// ---- Structs that kernels take by value ----------------------------------------------------------------------------------------------

// First and second cell of a face.
struct __align__(8) EqPair {
  EqEntity first, second;
};

// A set to iterate over: `list` is null when it is all entities of its kind. `order`, for reductions, has the positions in the order of the grid's file; null where that is theirs.
struct EqSpace {
  const EqEntity* list;
  const EqEntity* order;
  EqEntity size;
  unsigned int unused;
};

// A uniform Cartesian grid; numbering as in the runtime specification. Axes beyond DIM have n = 1.
struct EqCartesian {
  unsigned int n[3];
  unsigned int flat;               // launches over cells are one-dimensional
  EqEntity face_start[3];          // first face of each axis
  unsigned int march;              // cells inside that a thread goes through, along the last axis, where a launch takes the boundary apart
  EqEntity boundary_start[3];      // rank in BoundaryFaces of the first boundary face of each axis
  unsigned int unused1;
  EqEntity interior_start[3];      // rank in InteriorFaces of the first interior face of each axis
  unsigned int unused2;
  double spacing[3];               // dx, dy, dz
  double area[3];                  // of a face of each axis
  double volume;                   // of a cell
};

// A grid of any kind. Only the arrays that the launch asked for are there, and of a Cartesian grid not those whose place closed forms take. Vectors are stored component after component: [DIM][n].
struct EqGrid {
  EqEntity n_cells, n_faces;
  // Faces as sides of cells, ascending within a cell. 32 cells next to each other are a slice: the first sides of all of them, then their second sides, as far as the cell with most of
  // them has any, so that threads that run in step read what is side by side.
  const EqOffset* side_starts;  // [slices + 1]
  const EqEntity* side_beyond;  // the cell beyond, as eq_cell_beyond reads it; EQ_NO_SIDE where a cell has no more sides
  const EqEntity* side_faces;   // the face
  const EqEntity* side_ranks;   // its rank in InteriorFaces, or in BoundaryFaces
  const EqPair* face_cells;     // [n_faces]
  const double* cell_volumes;
  const double* cell_centroids;
  const double* face_areas;
  const double* face_centroids;
  const double* face_normals;  // unit length, first to second cell
  EqEntity n_edges, n_vertices;  // 0 unless their places are there
  const double* edge_lengths;
  const double* edge_centroids;
  const double* vertex_positions;
  EqCartesian shape;  // of a Cartesian grid
};

// Canonical sets, as named in EqRanks::canonical.
enum {
  EQ_ALL_CELLS,
  EQ_INTERIOR_CELLS,
  EQ_BOUNDARY_CELLS,
  EQ_ALL_FACES,
  EQ_INTERIOR_FACES,
  EQ_BOUNDARY_FACES,
  // Of edges and vertices, which Cartesian forms do not reach.
  EQ_ALL_EDGES,
  EQ_INTERIOR_EDGES,
  EQ_BOUNDARY_EDGES,
  EQ_ALL_VERTICES,
  EQ_INTERIOR_VERTICES,
  EQ_BOUNDARY_VERTICES
};

// Ranks of entities in a set.
struct EqRanks {
  const EqEntity* outer;   // rank in the canonical superset of each entity; null where that is the entities from `first` on, in order
  const EqEntity* inner;   // rank in the set of each element of the canonical superset; null for a canonical set
  unsigned int canonical;  // the canonical superset
  EqEntity first;
  EqEntity count;          // of the canonical superset
  unsigned int unused;
};

// Where kernels report conditions that do not hold.
struct EqChecks {
  unsigned long long* flag;
  unsigned int first;
  unsigned int unused;
};

// Rows of the Jacobian of an equation: entries of row k from row_ptr[k] on, columns ascending.
struct EqRows {
  const unsigned long long* row_ptr;
  const EqEntity* columns;
  EqReal* entries;
};

// Places of the additions of an equation in their rows, in the order of the additions: those of row k from starts[k] on.
typedef unsigned short EqSlot;
struct EqSlots {
  const unsigned long long* starts;
  const EqSlot* slots;
};

// Where a kernel tells which derivatives each element has. First `columns` is null and derivatives are counted, then the columns of element k are written
// from starts[k] on; EQ_NONE for what does not exist.
struct EqPattern {
  unsigned int* counts;
  const unsigned long long* starts;
  EqEntity* columns;
};

// What args.rs packs.
static_assert(sizeof(EqRows) == 24 && sizeof(EqPattern) == 24 && sizeof(EqSlots) == 16, "layout of arguments");
static_assert(sizeof(EqPair) == 8 && sizeof(EqSpace) == 24 && sizeof(EqGrid) == 240, "layout of arguments");
static_assert(sizeof(EqCartesian) == 120 && sizeof(EqRanks) == 32 && sizeof(EqChecks) == 16, "layout of arguments");

// ---- Elements and ranks --------------------------------------------------------------------------------------------------------------

// Number of this thread in a one-dimensional launch.
EQ_FUNCTION EqEntity eq_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

// The k-th entity of a set.
EQ_FUNCTION EqEntity eq_entity(const EqSpace& space, EqEntity k) { return space.list ? space.list[k] : k; }

// Position of the element that is the k-th in the order of the grid's file.
EQ_FUNCTION EqEntity eq_in_file(const EqSpace& space, EqEntity k) { return space.order ? space.order[k] : k; }

// Rank of an entity (not Empty), or EQ_NONE outside the set. For ranks passed in general form.
EQ_FUNCTION EqEntity eq_rank(const EqRanks& ranks, EqEntity entity) {
  // Wraps for entities before the first.
  const EqEntity beyond = entity - ranks.first;
  const EqEntity rank = ranks.outer ? ranks.outer[entity] : beyond < ranks.count ? beyond : EQ_NONE;
  if (!ranks.inner || rank == EQ_NONE) return rank;
  return ranks.inner[rank];
}

// Reports that condition number `check` of the kernel does not hold for an element of its space. Of different kernels the one launched first
// wins, as a program that stops there would have it; in a kernel the smallest check, then the smallest element, so that the message does not
// depend on the order of threads.
EQ_FUNCTION void eq_fail(const EqChecks& checks, unsigned int check, EqEntity element) {
  const unsigned long long mark = ((unsigned long long)(checks.first + check) << 32) | element;
  unsigned long long found = *(volatile unsigned long long*)checks.flag;
  // Numbers of conditions come in groups of 1024, one for each kernel.
  while (found == ~0ull || (found >> 42 == mark >> 42 && mark < found)) {
    const unsigned long long before = atomicCAS(checks.flag, found, mark);
    if (before == found) return;
    found = before;
  }
}

// ---- Numbers -------------------------------------------------------------------------------------------------------------------------

// a / b, bit for bit. A division leaves its fast path where the dividend is 0, as discharges of water at rest are, and takes several times as long with all threads that run in
// step; a times a quotient of something else by b is the same zero, and not a number where 0 / b is none.
EQ_FUNCTION double eq_divide(double a, double b) {
  const bool zero = a == 0.0;
  const double quotient = (zero ? 0x1p-900 : a) / b;
  return zero ? a * quotient : quotient;
}
EQ_FUNCTION float eq_divide(float a, float b) {
  const bool zero = a == 0.0f;
  const float quotient = (zero ? 0x1p-100f : a) / b;
  return zero ? a * quotient : quotient;
}

// ---- Vectors -------------------------------------------------------------------------------------------------------------------------

template <class T>
struct EqVectorOf {
  T c[DIM];
};
typedef EqVectorOf<double> EqVector;

// The k-th vector of a collection of n.
template <class T>
EQ_FUNCTION EqVectorOf<T> eq_load(const T* components, size_t n, size_t k) {
  EqVectorOf<T> v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = components[d * n + k];
  return v;
}
template <class S, class T>
EQ_FUNCTION void eq_store(S* components, size_t n, size_t k, const EqVectorOf<T>& v) {
#pragma unroll
  for (int d = 0; d < DIM; ++d) components[d * n + k] = (S)v.c[d];
}
// Numbers of another type.
template <class S, class T>
EQ_FUNCTION EqVectorOf<S> eq_converted(const EqVectorOf<T>& a) {
  EqVectorOf<S> v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = (S)a.c[d];
  return v;
}
// The vector of these components; what is missing is 0. Whoever launches has checked their number.
template <class T>
EQ_FUNCTION EqVectorOf<T> eq_vector(T x, T y = T(0), T z = T(0)) {
  EqVectorOf<T> v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = d == 0 ? x : d == 1 ? y : z;
  return v;
}
template <class T = double>
EQ_FUNCTION EqVectorOf<T> eq_zero_vector() {
  return eq_vector(T(0));
}
template <class T>
EQ_FUNCTION EqVectorOf<T> operator+(const EqVectorOf<T>& a, const EqVectorOf<T>& b) {
  EqVectorOf<T> v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = a.c[d] + b.c[d];
  return v;
}
template <class T>
EQ_FUNCTION EqVectorOf<T> operator-(const EqVectorOf<T>& a, const EqVectorOf<T>& b) {
  EqVectorOf<T> v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = a.c[d] - b.c[d];
  return v;
}
template <class T>
EQ_FUNCTION EqVectorOf<T> operator-(const EqVectorOf<T>& a) {
  EqVectorOf<T> v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = -a.c[d];
  return v;
}
template <class T>
EQ_FUNCTION EqVectorOf<T> operator*(const EqVectorOf<T>& a, T s) {
  EqVectorOf<T> v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = a.c[d] * s;
  return v;
}
template <class T>
EQ_FUNCTION EqVectorOf<T> operator*(T s, const EqVectorOf<T>& a) {
  EqVectorOf<T> v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = s * a.c[d];
  return v;
}
template <class T>
EQ_FUNCTION EqVectorOf<T> operator/(const EqVectorOf<T>& a, T s) {
  EqVectorOf<T> v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = a.c[d] / s;
  return v;
}
// Components in order, beginning with the first product.
template <class T>
EQ_FUNCTION T eq_dot(const EqVectorOf<T>& a, const EqVectorOf<T>& b) {
  T sum = a.c[0] * b.c[0];
#pragma unroll
  for (int d = 1; d < DIM; ++d) sum = sum + a.c[d] * b.c[d];
  return sum;
}
template <class T>
EQ_FUNCTION T eq_length(const EqVectorOf<T>& a) {
  return sqrt(eq_dot(a, a));
}

// ---- Sides of cells of any grid -------------------------------------------------------------------------------------------------------

#define EQ_NO_SIDE 0xfffffffeu
// Cells of a slice, and so from one side of a cell to the next.
#define EQ_SLICE 32u
// Sides whose values are on their way before the first is used. A step of explicit heat on 256^3 cells takes 0.62, 0.48, 0.50, 0.54 ms on an H200 with 1, 2, 3, 4.
#define EQ_AHEAD 2u

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
// What is beyond a side; EQ_NO_SIDE after the last one.
EQ_FUNCTION EqEntity eq_beyond(const EqGrid& grid, const EqSides& sides, EqOffset at) { return at < sides.end ? grid.side_beyond[at] : EQ_NO_SIDE; }
// Whether that is a cell.
EQ_FUNCTION bool eq_is_inside(EqEntity beyond) { return !(beyond & 0x40000000u); }
// The cell, or EQ_NONE: bit 30 is set for EQ_NONE alone, and moves to where the mark was.
EQ_FUNCTION EqEntity eq_cell_beyond(EqEntity beyond) { return (EqEntity)((int)(beyond << 1) >> 1); }
// Whether the normal of the face points to it, as it does from the face's first cell.
EQ_FUNCTION bool eq_is_outward(EqEntity beyond) { return beyond >> 31; }
// The cells of the face on a side of a cell.
EQ_FUNCTION EqPair eq_side_cells(EqEntity cell, EqEntity beyond) {
  const EqEntity other = eq_cell_beyond(beyond);
  EqPair cells;
  cells.first = eq_is_outward(beyond) ? cell : other;
  cells.second = eq_is_outward(beyond) ? other : cell;
  return cells;
}
// Rank of the face on a side in a set of interior faces, or of such on the boundary; EQ_NONE outside the set. For ranks passed in general form.
EQ_FUNCTION EqEntity eq_rank_of_side(const EqGrid& grid, const EqRanks& ranks, EqOffset at, EqEntity beyond) {
  if (eq_is_inside(beyond) != (ranks.canonical == EQ_INTERIOR_FACES)) return EQ_NONE;
  const EqEntity rank = grid.side_ranks[at];
  return ranks.inner ? ranks.inner[rank] : rank;
}

// ---- Cartesian grids -----------------------------------------------------------------------------------------------------------------

// One value per axis, without indexing the parameter space at run time.
template <class T>
EQ_FUNCTION T eq_at(const T* values, int axis) { return axis == 0 ? values[0] : axis == 1 ? values[1] : values[2]; }

// A cell and its position.
struct EqCell {
  EqEntity index;
  unsigned int ijk[3];
};

// Position of a cell, by division.
EQ_FUNCTION EqCell eq_cell(const EqCartesian& g, EqEntity index) {
  EqCell cell;
  const unsigned int row = index / g.n[0];
  cell.index = index;
  cell.ijk[0] = index - row * g.n[0];
  cell.ijk[2] = row / g.n[1];
  cell.ijk[1] = row - cell.ijk[2] * g.n[1];
  return cell;
}

// The cell of this thread in a launch over the cells of a Cartesian grid; false beyond the grid.
EQ_FUNCTION bool eq_cell_here(const EqCartesian& g, EqCell& cell) {
  if (g.flat) {
    const EqEntity index = eq_index();
    if (index >= g.n[0] * g.n[1] * g.n[2]) return false;
    cell = eq_cell(g, index);
    return true;
  }
  cell.ijk[0] = blockIdx.x * blockDim.x + threadIdx.x;
  cell.ijk[1] = blockIdx.y * blockDim.y + threadIdx.y;
  cell.ijk[2] = blockIdx.z;
  cell.index = cell.ijk[0] + g.n[0] * (cell.ijk[1] + g.n[1] * cell.ijk[2]);
  return cell.ijk[0] < g.n[0] && cell.ijk[1] < g.n[1];
}

// Blocks of a launch that goes through the inside of a grid: layers of them, before those for the cells on the boundary.
EQ_FUNCTION unsigned int eq_march_layers(const EqCartesian& g) { return g.flat ? 0 : DIM == 3 ? (g.n[2] + g.march - 1) / g.march : 1; }
EQ_FUNCTION bool eq_is_march(const EqCartesian& g) { return blockIdx.z < eq_march_layers(g); }

// A cell of this thread, if it is inside the grid.
EQ_FUNCTION bool eq_inside_cell_here(const EqCartesian& g, unsigned int step, EqCell& cell) {
  cell.ijk[0] = blockIdx.x * blockDim.x + threadIdx.x;
  cell.ijk[1] = (DIM == 3 ? blockIdx.y : blockIdx.y * g.march + step) * blockDim.y + threadIdx.y;
  cell.ijk[2] = DIM == 3 ? blockIdx.z * g.march + step : 0;
  cell.index = cell.ijk[0] + g.n[0] * (cell.ijk[1] + g.n[1] * cell.ijk[2]);
  bool inside = true;
#pragma unroll
  for (int axis = 0; axis < DIM; ++axis) inside = inside && cell.ijk[axis] != 0 && cell.ijk[axis] + 1 < g.n[axis];
  return inside;
}

// The k-th cell on the boundary: layers at both ends of z, then rows at both ends of y, then columns at both ends of x. False beyond the last one.
EQ_FUNCTION bool eq_boundary_cell(const EqCartesian& g, EqEntity k, EqCell& cell) {
  const unsigned int nx = g.n[0], ny = g.n[1], nz = g.n[2];
  unsigned int i, j, l;
  const unsigned int layers = DIM < 3 ? 0 : nz < 2 ? nz : 2, rows = DIM < 2 ? 0 : ny < 2 ? ny : 2, ends = nx < 2 ? nx : 2;
  const unsigned int inside_z = DIM < 3 ? 1 : nz - layers, inside_y = DIM < 2 ? 1 : ny - rows;
  const EqEntity in_layers = layers * nx * ny, in_rows = rows * nx * inside_z, in_ends = ends * inside_y * inside_z;
  if (k < in_layers) {
    const unsigned int row = k / nx;
    i = k - row * nx;
    j = row < ny ? row : row - ny;
    l = row < ny ? 0 : nz - 1;
  } else if (k - in_layers < in_rows) {
    const unsigned int row = (k - in_layers) / nx;
    i = k - in_layers - row * nx;
    j = row < inside_z ? 0 : ny - 1;
    l = (layers != 0) + (row < inside_z ? row : row - inside_z);
  } else if (k - in_layers - in_rows < in_ends) {
    const unsigned int at = k - in_layers - in_rows, high = at >= inside_y * inside_z, column = high ? at - inside_y * inside_z : at;
    i = high ? nx - 1 : 0;
    const unsigned int layer = column / inside_y;
    j = (rows != 0) + column - layer * inside_y;
    l = (layers != 0) + layer;
  } else {
    return false;
  }
  cell.ijk[0] = i;
  cell.ijk[1] = j;
  cell.ijk[2] = l;
  cell.index = i + nx * (j + ny * l);
  return true;
}

// The cell on the boundary of this thread, in a block beyond those that march; where there are none, any cell.
EQ_FUNCTION bool eq_boundary_cell_here(const EqCartesian& g, EqCell& cell) {
  if (g.flat) return eq_cell_here(g, cell);
  const EqEntity block = ((blockIdx.z - eq_march_layers(g)) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  return eq_boundary_cell(g, (block * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x, cell);
}

// Distance in the cell numbering between neighbours along an axis.
EQ_FUNCTION EqEntity eq_stride(const EqCartesian& g, int axis) { return axis == 0 ? 1u : axis == 1 ? g.n[0] : g.n[0] * g.n[1]; }

// The vector of length |s| along an axis.
template <class T>
EQ_FUNCTION EqVectorOf<T> eq_along(int axis, T s) {
  EqVectorOf<T> v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = d == axis ? s : T(0);
  return v;
}

// Whether a side of a cell (high: 0 or 1) is on the boundary of the grid.
EQ_FUNCTION bool eq_side_on_boundary(const EqCartesian& g, const EqCell& cell, int axis, int high) {
  return high ? cell.ijk[axis] + 1 == g.n[axis] : cell.ijk[axis] == 0;
}

// The cell beyond an interior side.
EQ_FUNCTION EqEntity eq_neighbour(const EqCartesian& g, const EqCell& cell, int axis, int high) {
  return high ? cell.index + eq_stride(g, axis) : cell.index - eq_stride(g, axis);
}

// Index of the face on a side.
EQ_FUNCTION EqEntity eq_side_face(const EqCartesian& g, const EqCell& cell, int axis, int high) {
  const unsigned int nx = g.n[0] + (axis == 0), ny = g.n[1] + (axis == 1);
  const unsigned int i = cell.ijk[0] + (axis == 0 && high), j = cell.ijk[1] + (axis == 1 && high), k = cell.ijk[2] + (axis == 2 && high);
  return g.face_start[axis] + i + nx * (j + ny * k);
}

// A face and its position; along its axis `ijk` counts nodes, 0 to n inclusive.
struct EqFace {
  EqEntity index;
  int axis;
  unsigned int ijk[3];
};

// Position of a face, by division.
EQ_FUNCTION EqFace eq_face(const EqCartesian& g, EqEntity index) {
  EqFace face;
  face.index = index;
  face.axis = 0;
#pragma unroll
  for (int axis = 1; axis < DIM; ++axis)
    if (index >= g.face_start[axis]) face.axis = axis;
  const unsigned int nx = g.n[0] + (face.axis == 0), ny = g.n[1] + (face.axis == 1);
  const unsigned int within = index - eq_at(g.face_start, face.axis);
  const unsigned int row = within / nx;
  face.ijk[0] = within - row * nx;
  face.ijk[2] = row / ny;
  face.ijk[1] = row - face.ijk[2] * ny;
  return face;
}

// Rank in a canonical set of faces of the face at node `along` of an axis; `low` and `outer` number its place below and above the axis.
EQ_FUNCTION EqEntity eq_canonical_face_rank(const EqCartesian& g, unsigned int canonical, EqEntity face, int axis, unsigned int along,
                                            unsigned int low, unsigned int outer) {
  const unsigned int n = eq_at(g.n, axis);
  const EqEntity stride = eq_stride(g, axis);
  const bool boundary = along == 0 || along == n;
  if (canonical == EQ_ALL_FACES) return face;
  if (canonical == EQ_BOUNDARY_FACES) {
    if (!boundary) return EQ_NONE;
    const EqEntity start = eq_at(g.boundary_start, axis);
    return start + low + stride * ((along == 0 ? 0u : 1u) + 2u * outer);
  }
  if (boundary) return EQ_NONE;
  const EqEntity start = eq_at(g.interior_start, axis);
  return start + low + stride * ((along - 1u) + (n - 1u) * outer);
}

// Rank in the set of the face on a side of a cell; EQ_NONE outside. For ranks passed in Cartesian form; no division.
EQ_FUNCTION EqEntity eq_side_rank(const EqCartesian& g, const EqRanks& ranks, const EqCell& cell, int axis, int high) {
  const unsigned int low = axis == 0 ? 0u : axis == 1 ? cell.ijk[0] : cell.ijk[0] + g.n[0] * cell.ijk[1];
  const unsigned int outer = axis == 0 ? cell.ijk[1] + g.n[1] * cell.ijk[2] : axis == 1 ? cell.ijk[2] : 0u;
  const EqEntity face = eq_side_face(g, cell, axis, high);
  const EqEntity rank = eq_canonical_face_rank(g, ranks.canonical, face, axis, cell.ijk[axis] + high, low, outer);
  if (!ranks.inner || rank == EQ_NONE) return rank;
  return ranks.inner[rank];
}

// Whether a cell touches the boundary of the grid.
EQ_FUNCTION bool eq_cell_on_boundary(const EqCartesian& g, const EqCell& cell) {
  bool boundary = false;
#pragma unroll
  for (int axis = 0; axis < DIM; ++axis) boundary = boundary || cell.ijk[axis] == 0 || cell.ijk[axis] + 1 == g.n[axis];
  return boundary;
}

// Number of interior cells with a smaller index than a cell.
EQ_FUNCTION EqEntity eq_interior_cells_before(const EqCartesian& g, const EqCell& cell) {
  EqEntity count = 0;
  bool open = true;
#pragma unroll
  for (int axis = 2; axis >= 0; --axis) {
    const unsigned int low = axis < DIM ? 1u : 0u;
    EqEntity layer = 1;
#pragma unroll
    for (int a = 0; a < axis; ++a) layer *= a < DIM ? (g.n[a] > 2u ? g.n[a] - 2u : 0u) : 1u;
    const unsigned int size = axis < DIM ? (g.n[axis] > 2u ? g.n[axis] - 2u : 0u) : 1u;
    const unsigned int beyond = cell.ijk[axis] > low ? cell.ijk[axis] - low : 0u;
    const unsigned int at = beyond < size ? beyond : size;
    if (open) {
      count += at * layer;
      open = !(cell.ijk[axis] < low || at == size);
    }
  }
  return count;
}

// Rank in the set of a cell at a known position; EQ_NONE outside. For ranks passed in Cartesian form.
EQ_FUNCTION EqEntity eq_cell_rank(const EqCartesian& g, const EqRanks& ranks, const EqCell& cell) {
  EqEntity rank = cell.index;
  if (ranks.canonical != EQ_ALL_CELLS) {
    const bool boundary = eq_cell_on_boundary(g, cell);
    if (boundary != (ranks.canonical == EQ_BOUNDARY_CELLS)) return EQ_NONE;
    const EqEntity interior = eq_interior_cells_before(g, cell);
    rank = boundary ? cell.index - interior : interior;
  }
  return ranks.inner ? ranks.inner[rank] : rank;
}

// Rank of an entity (not Empty) of a Cartesian grid, or EQ_NONE outside the set. For ranks passed in Cartesian form; divides.
EQ_FUNCTION EqEntity eq_rank_cartesian(const EqCartesian& g, const EqRanks& ranks, EqEntity entity) {
  if (ranks.canonical <= EQ_BOUNDARY_CELLS) return eq_cell_rank(g, ranks, eq_cell(g, entity));
  const EqFace face = eq_face(g, entity);
  const unsigned int along = eq_at(face.ijk, face.axis);
  const unsigned int low = face.axis == 0 ? 0u : face.axis == 1 ? face.ijk[0] : face.ijk[0] + g.n[0] * face.ijk[1];
  const unsigned int outer = face.axis == 0 ? face.ijk[1] + g.n[1] * face.ijk[2] : face.axis == 1 ? face.ijk[2] : 0u;
  const EqEntity rank = eq_canonical_face_rank(g, ranks.canonical, entity, face.axis, along, low, outer);
  if (!ranks.inner || rank == EQ_NONE) return rank;
  return ranks.inner[rank];
}

// ---- Entities of a grid of any kind --------------------------------------------------------------------------------------------------

// Whether kernels that know of no shape run on a Cartesian grid all the same: what they ask of the grid is in closed form, and has the bits of the arrays that a grid of this shape would have.
#ifndef EQ_CARTESIAN
#define EQ_CARTESIAN 0
#endif

// Positions along an axis: nodes are multiples of the spacing, widths of cells their differences, centres their means.
EQ_FUNCTION double eq_node(const EqCartesian& g, int axis, unsigned int i) { return i * eq_at(g.spacing, axis); }
EQ_FUNCTION double eq_width(const EqCartesian& g, int axis, unsigned int i) { return eq_node(g, axis, i + 1) - eq_node(g, axis, i); }
EQ_FUNCTION double eq_centre(const EqCartesian& g, int axis, unsigned int i) { return (eq_node(g, axis, i) + eq_node(g, axis, i + 1)) / 2.0; }

// Measure of a face across an axis, or, where that is EQ_NO_AXIS, of a cell.
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

EQ_FUNCTION double eq_edge_length(const EqGrid& grid, EqEntity edge) { return grid.edge_lengths[edge]; }
EQ_FUNCTION EqVector eq_edge_centroid(const EqGrid& grid, EqEntity edge) { return eq_load(grid.edge_centroids, grid.n_edges, edge); }
EQ_FUNCTION EqVector eq_vertex_position(const EqGrid& grid, EqEntity vertex) { return eq_load(grid.vertex_positions, grid.n_vertices, vertex); }

// ---- Equations -----------------------------------------------------------------------------------------------------------------------

// The rows of a block of threads, one each, are put together in shared memory, so that they are written behind one another. Rows that are too long for that stay where they are;
// so they do without a GPU, where threads run one after another.
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

// For kernels that add to the entries of their row: zeros, and the columns if there is a place for them.
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

// When all threads of the block have their rows.
EQ_FUNCTION void eq_write_rows(const EqStage& stage, const EqRows& rows) {
#ifndef EQ_SHIM
  __syncthreads();
  for (unsigned int k = threadIdx.x; k < stage.count; k += blockDim.x) rows.entries[stage.begin + k] = stage.entries[k];
#endif
}

// A row of the Jacobian while one thread adds to it.
struct EqRow {
  const EqEntity* columns;
  EqReal* entries;
  unsigned int width;
};

// Row k, with zeros.
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

// Derivatives by the cells beyond the low sides, and by those beyond the high sides, by ascending column.
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

// Adds a derivative at a known place.
EQ_FUNCTION void eq_add_at(const EqRow& row, EqSlot slot, EqReal derivative) { row.entries[slot] = row.entries[slot] + derivative; }

// Adds a derivative. The pattern has every column that an evaluation adds to; bisection, for rows are short and their columns near.
EQ_FUNCTION void eq_add(const EqRow& row, EqEntity column, EqReal derivative) {
  unsigned int low = 0, high = row.width;
  while (high - low > 1) {
    const unsigned int middle = (low + high) / 2;
    if (row.columns[middle] <= column) low = middle; else high = middle;
  }
  row.entries[low] = row.entries[low] + derivative;
}

// What an element has told so far.
struct EqTold {
  unsigned int count;
  EqEntity* columns;
};

EQ_FUNCTION EqTold eq_told(const EqPattern& pattern, EqEntity k) {
  EqTold told;
  told.count = 0;
  told.columns = pattern.columns ? pattern.columns + pattern.starts[k] : 0;
  return told;
}

// There may be a derivative by the element at a position of the unknown whose columns begin at `first`; none where the position is EQ_NONE.
EQ_FUNCTION void eq_tell(EqTold& told, EqEntity first, EqEntity position) {
  if (told.columns) told.columns[told.count] = position == EQ_NONE ? EQ_NONE : first + position;
  ++told.count;
}

// What a cell has of an unknown: the cells beyond its low sides, itself, those beyond its high sides.
EQ_FUNCTION void eq_tell_cell(const EqCartesian& g, const EqCell& cell, EqTold& told, EqEntity first, bool low, bool own, bool high) {
#pragma unroll
  for (int axis = DIM - 1; axis >= 0; --axis)
    if (low && !eq_side_on_boundary(g, cell, axis, 0)) eq_tell(told, first, eq_neighbour(g, cell, axis, 0));
  if (own) eq_tell(told, first, cell.index);
#pragma unroll
  for (int axis = 0; axis < DIM; ++axis)
    if (high && !eq_side_on_boundary(g, cell, axis, 1)) eq_tell(told, first, eq_neighbour(g, cell, axis, 1));
}

// Steps of paths that may lead nowhere: they give EQ_NONE for EQ_NONE.
EQ_FUNCTION EqEntity eq_try_rank(const EqRanks& ranks, EqEntity entity) { return entity == EQ_NONE ? EQ_NONE : eq_rank(ranks, entity); }
EQ_FUNCTION EqEntity eq_try_entity(const EqEntity* entities, EqEntity position) { return position == EQ_NONE ? EQ_NONE : entities[position]; }
EQ_FUNCTION EqPair eq_try_cells(const EqGrid& grid, EqEntity face) {
  EqPair none;
  none.first = none.second = EQ_NONE;
  return face == EQ_NONE ? none : eq_cells(grid, face);
}

// ---- Reductions ----------------------------------------------------------------------------------------------------------------------

// Elements of a leaf, which a block combines, a thread for each chain: element k of a leaf goes to chain k % EQ_CHAINS, from left to right there; then the second half of the chains is
// combined with the first one, until one is left. Leaves are combined by a binary tree (runtime module).
#define EQ_LEAF 1024u
#define EQ_CHAINS 256u

// A chain of a leaf.
struct EqLeaf {
  EqEntity begin, end;  // its elements: every EQ_CHAINS-th from `begin` on, before `end`
  EqEntity chains;      // of the leaf that have elements, the first ones
};

// The chain of this thread, of `size` elements in all.
EQ_FUNCTION EqLeaf eq_leaf_here(EqEntity size) {
  const unsigned long long from = (unsigned long long)blockIdx.x * EQ_LEAF, to = from + EQ_LEAF;
  EqLeaf leaf;
  leaf.end = (EqEntity)(to < size ? to : size);
  leaf.chains = leaf.end - (EqEntity)from < EQ_CHAINS ? leaf.end - (EqEntity)from : EQ_CHAINS;
  leaf.begin = (EqEntity)from + threadIdx.x;
  return leaf;
}

// Number of leaves of `size` elements.
EQ_FUNCTION EqEntity eq_leaf_count(EqEntity size) { return size / EQ_LEAF + (size % EQ_LEAF != 0); }

// Combine two partial results, the left one first. Sum starts from 0, Prod from 1, Max and Min from the first element of a chain.
// NaN propagates through Max and Min; of equal operands the left one is kept.
EQ_FUNCTION double eq_sum(double left, double right) { return left + right; }
EQ_FUNCTION double eq_prod(double left, double right) { return left * right; }
EQ_FUNCTION double eq_max(double left, double right) { return left >= right || left != left ? left : right; }
EQ_FUNCTION double eq_min(double left, double right) { return left <= right || left != left ? left : right; }
EQ_FUNCTION float eq_max(float left, float right) { return left >= right || left != left ? left : right; }
EQ_FUNCTION float eq_min(float left, float right) { return left <= right || left != left ? left : right; }
EQ_FUNCTION bool eq_any(bool left, bool right) { return left || right; }
EQ_FUNCTION bool eq_all(bool left, bool right) { return left && right; }
// Of Vectors, component by component.
EQ_FUNCTION EqVector eq_sum(const EqVector& left, const EqVector& right) { return left + right; }
EQ_FUNCTION EqVector eq_max(const EqVector& left, const EqVector& right) {
  EqVector v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = eq_max(left.c[d], right.c[d]);
  return v;
}
EQ_FUNCTION EqVector eq_min(const EqVector& left, const EqVector& right) {
  EqVector v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = eq_min(left.c[d], right.c[d]);
  return v;
}
// By number: Max, Min, Sum, Prod.
EQ_FUNCTION double eq_combine(unsigned int operation, double left, double right) {
  return operation == 0 ? eq_max(left, right) : operation == 1 ? eq_min(left, right) : operation == 2 ? eq_sum(left, right) : eq_prod(left, right);
}

// The same as objects.
struct EqSum { template <class T> EQ_OPERATOR T operator()(const T& left, const T& right) const { return eq_sum(left, right); } };
struct EqProd { template <class T> EQ_OPERATOR T operator()(const T& left, const T& right) const { return eq_prod(left, right); } };
struct EqMax { template <class T> EQ_OPERATOR T operator()(const T& left, const T& right) const { return eq_max(left, right); } };
struct EqMin { template <class T> EQ_OPERATOR T operator()(const T& left, const T& right) const { return eq_min(left, right); } };
struct EqAny { EQ_OPERATOR bool operator()(bool left, bool right) const { return left || right; } };
struct EqAll { EQ_OPERATOR bool operator()(bool left, bool right) const { return left && right; } };
struct EqCombine {
  unsigned int operation;
  EQ_OPERATOR double operator()(double left, double right) const { return eq_combine(operation, left, right); }
};

// What the chains of a leaf have, combined; the result is that of the thread that eq_tells_leaf names. NUMBER tells the reductions of a kernel apart.
#ifdef EQ_SHIM
// Threads run one after another.
template <int NUMBER, class T, class Combine>
EQ_FUNCTION T eq_chains(T partial, EqEntity count, Combine combine) {
  static thread_local T chains[EQ_CHAINS];
  chains[threadIdx.x] = partial;
  if (threadIdx.x + 1 < EQ_CHAINS) return partial;
  for (EqEntity half = EQ_CHAINS / 2; half > 0; half /= 2)
    for (EqEntity k = 0; k < half && k + half < count; ++k) chains[k] = combine(chains[k], chains[k + half]);
  return chains[0];
}
EQ_FUNCTION bool eq_tells_leaf() { return threadIdx.x + 1 == EQ_CHAINS; }
#else
EQ_FUNCTION double eq_from_lane(double value, unsigned int beyond) { return __shfl_down_sync(0xffffffffu, value, beyond); }
EQ_FUNCTION bool eq_from_lane(bool value, unsigned int beyond) { return __shfl_down_sync(0xffffffffu, (int)value, beyond) != 0; }
EQ_FUNCTION EqVector eq_from_lane(const EqVector& value, unsigned int beyond) {
  EqVector v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = eq_from_lane(value.c[d], beyond);
  return v;
}
template <int NUMBER, class T, class Combine>
EQ_FUNCTION T eq_chains(T partial, EqEntity count, Combine combine) {
  __shared__ T room[EQ_CHAINS];
  const unsigned int chain = threadIdx.x;
  for (unsigned int half = EQ_CHAINS / 2; half >= 32u; half /= 2) {
    // Each half has its own place, so that nothing is overwritten that is still read.
    if (chain >= half && chain < 2 * half) room[chain] = partial;
    __syncthreads();
    if (chain < half && chain + half < count) partial = combine(partial, room[chain + half]);
  }
  if (chain < 32u) {
#pragma unroll
    for (unsigned int half = 16; half > 0; half /= 2) {
      const T right = eq_from_lane(partial, half);
      if (chain < half && chain + half < count) partial = combine(partial, right);
    }
  }
  return partial;
}
EQ_FUNCTION bool eq_tells_leaf() { return threadIdx.x == 0; }
#endif
