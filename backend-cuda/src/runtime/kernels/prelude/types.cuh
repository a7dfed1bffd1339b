// Helpers that every kernel text begins with. The Rust side of each struct is in `executor/arguments.rs`, field for field.
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

