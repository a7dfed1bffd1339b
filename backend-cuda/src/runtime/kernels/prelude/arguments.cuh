// ---- Structs that kernels take by value ---------------------------------------------------------

// First and second cell of a face.
struct __align__(8) EqPair {
  EqEntity first, second;
};

// A domain to iterate over: `list` is null for all entities of a kind. `order`, for reductions, has
// the positions in the order of the grid's file; null if both orders are equal.
struct EqSpace {
  const EqEntity* list;
  const EqEntity* order;
  EqEntity size;
  unsigned int unused;
};

// A uniform Cartesian grid; numbering as in `docs/language/grid.md`. Axes beyond DIM have n = 1.
struct EqCartesian {
  unsigned int n[3];
  unsigned int flat;               // launches over cells are one-dimensional
  EqEntity face_start[3];          // first face of each axis
  unsigned int cells_per_thread;   // cells that a thread goes through along the last axis, where a launch takes the boundary apart or goes by planes
  EqEntity boundary_start[3];      // rank in BoundaryFaces of the first boundary face of each axis
  unsigned int unused1;
  EqEntity interior_start[3];      // rank in InteriorFaces of the first interior face of each axis
  unsigned int unused2;
  double spacing[3];               // dx, dy, dz
  double area[3];                  // of a face of each axis
  double volume;                   // of a cell
};

// A grid of any kind, with only the arrays that the kernel reads and, on a Cartesian grid, that
// have no closed form. Vectors are stored component after component: [DIM][n].
struct EqGrid {
  EqEntity n_cells, n_faces;
  // Half-faces, ascending within a cell. 32 consecutive cells form a slice: the first half-faces of
  // all of them, then the second ones, up to the largest number in the slice, so that a warp reads
  // consecutive values.
  const EqOffset* side_starts;  // [slices + 1]
  const EqNeighbour* side_neighbours;  // the neighbour, for eq_neighbour_at
  const EqEntity* side_bases;   // of every 32 half-faces the least neighbour, where those have 16 bits
  const EqEntity* side_faces;   // the face
  const EqEntity* side_ranks;   // its rank in InteriorFaces, or in BoundaryFaces
  const EqPair* face_cells;     // [n_faces]
  const double* cell_volumes;
  const double* cell_centroids;
  const double* face_areas;
  const double* face_centroids;
  const double* face_normals;  // unit length, first to second cell
  const double* face_gaps;     // 0 if the sides of all faces meet
  const double* face_transmissibilities;  // 0 if the grid gives none
  EqEntity n_edges, n_vertices;  // 0 unless their places are there
  const double* edge_lengths;
  const double* edge_centroids;
  const double* vertex_positions;
  EqCartesian shape;  // of a Cartesian grid
};

// Canonical sets, as numbered in EqRanks::canonical.
enum {
  EQ_ALL_CELLS,
  EQ_INTERIOR_CELLS,
  EQ_BOUNDARY_CELLS,
  EQ_ALL_FACES,
  EQ_INTERIOR_FACES,
  EQ_BOUNDARY_FACES,
  // Sets of edges and vertices, which Cartesian kernels do not use.
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

// Destination of failed conditions.
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

// Slots of the additions of an equation in their rows, in the order of the additions: those of row
// k from starts[k] on.
typedef unsigned short EqSlot;
struct EqSlots {
  const unsigned long long* starts;
  const EqSlot* slots;
};

// Destination of a pattern kernel. First `columns` is null and derivatives are counted, then the
// columns of element k are written from starts[k] on; EQ_NONE for elements that do not exist.
struct EqPattern {
  unsigned int* counts;
  const unsigned long long* starts;
  EqEntity* columns;
};

// Sizes of the structs on the Rust side.
static_assert(sizeof(EqRows) == 24 && sizeof(EqPattern) == 24 && sizeof(EqSlots) == 16, "layout of arguments");
static_assert(sizeof(EqPair) == 8 && sizeof(EqSpace) == 24 && sizeof(EqGrid) == 264, "layout of arguments");
static_assert(sizeof(EqCartesian) == 120 && sizeof(EqRanks) == 32 && sizeof(EqChecks) == 16, "layout of arguments");

