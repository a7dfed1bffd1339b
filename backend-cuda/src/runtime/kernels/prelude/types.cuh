// The prelude of every kernel source. The Rust counterpart of each struct is in
// `executor/arguments.rs`, field for field.
//
// Terms: an *entity* is the 32-bit index of a cell or face, EQ_NONE is Empty. A *set* is a sorted
// list of entities; the *rank* of an entity is its position in the set, and element k of a
// collection belongs to the k-th entity of its set.

typedef unsigned int EqEntity;
#define EQ_NONE 0xffffffffu
#ifdef EQ_WIDE_OFFSETS
typedef unsigned long long EqOffset;
#else
typedef unsigned int EqOffset;
#endif
// A neighbour across a half-face, with its mark; of 16 bits an offset from the base of its 32
// half-faces, 0x7fff for Empty, 0x7ffe where the cell has no such side.
#ifdef EQ_NARROW_SIDES
typedef unsigned short EqNeighbour;
#else
typedef EqEntity EqNeighbour;
#endif
// The numbers of collections and of derivatives in kernels. Scalars, single Vectors, accumulators
// of reductions and linear systems are always double.
#ifdef EQ_SINGLE
typedef float EqReal;
#else
typedef double EqReal;
#endif
#define EQ_FUNCTION static __device__ __forceinline__
#define EQ_OPERATOR __device__ __forceinline__
// Launch bounds of generated kernels. Heavy ones, with many divisions, get as many blocks as fit
// with 64 registers a thread: more threads are worth spilled registers. A stage of shallow water on
// 4096^2 cells takes 1.00 ms on an H200 with 64 registers, 1.04 with 80, 1.23 with 104. Light ones
// are bound by memory and need as many threads as possible: a step of explicit heat on 256^3 cells
// takes 0.110 ms with 32 registers, 0.124 with 40.
#define EQ_LIGHT __launch_bounds__(256, 8)
// Light ones that spill more than a few bytes with 32 registers: 48, or 64 as heavy ones have them
// (`device/gpu/registers.rs`).
#define EQ_MIDDLE __launch_bounds__(256, 5)
#define EQ_HEAVY __launch_bounds__(256, 4)
// Light ones with several cells of a row a thread: the values of all wait in registers.
#define EQ_ROW_CELLS __launch_bounds__(256, 4)
#define EQ_MORE_ROW_CELLS __launch_bounds__(256, 3)
// Those that keep values from plane to plane, in blocks of at most 128 threads. Diffusion of sixth
// order on 256^3 doubles takes 0.147 ms on an H100 with 95 registers, 0.182 with 80, of which it
// spills some, and 0.291 with 64.
#define EQ_PLANES __launch_bounds__(128, 5)
// Wide ones, which read many values around a cell, in blocks of at most 128 threads: a stage of
// magnetohydrodynamics on 256^3 cells takes 4.54 ms on an H100 with 168 registers a thread, 5.01
// with 240, and 5.07 with 128, of which it spills some. Singles need half as many.
#ifdef EQ_SINGLE
#define EQ_WIDE __launch_bounds__(128, 4)
#else
#define EQ_WIDE __launch_bounds__(128, 3)
#endif
// Kernels that add to rows of a Jacobian need more registers than 32: on 256^3 cells of implicit
// heat as an unstructured grid 1.07 ms with 32, 0.92 with 40, 1.01 with 48.
#define EQ_ROWS __launch_bounds__(256, 6)

// Begins a kernel that may start while the previous one in a graph ends: from here on the memory of
// that one is complete, and the next one may start. Pointers of such kernels are not __restrict__,
// since such reads could be moved before the wait.
#if !defined(EQ_SHIM) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define EQ_START asm volatile("griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;" ::: "memory");
#else
#define EQ_START
#endif

