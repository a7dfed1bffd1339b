// What heat_dirichlet.eqir should become. Double precision, no contraction (--fmad=false).
// Memory traffic of compute_u_block per cell: u read once (neighbours come from cache) and written once, 16 bytes.

typedef unsigned int u32;
static const u32 NONE = 0xffffffffu;

// Interior faces in ascending order: face_of[k] is the k-th. One thread a face.
extern "C" __global__ void compute_itrans(
    u32 n,
    const u32* __restrict__ face_of,
    const uint2* __restrict__ face_cells,
    const double* __restrict__ face_areas,
    const double* __restrict__ cell_centroids,  // [3 * n_cells]
    const double* __restrict__ k,               // one Scalar, on the device
    double* __restrict__ itrans)
{
    u32 rank = blockIdx.x * blockDim.x + threadIdx.x;
    if (rank >= n) return;
    u32 f = face_of[rank];
    uint2 c = face_cells[f];
    double dx = cell_centroids[3 * c.x] - cell_centroids[3 * c.y];
    double dy = cell_centroids[3 * c.x + 1] - cell_centroids[3 * c.y + 1];
    double dz = cell_centroids[3 * c.x + 2] - cell_centroids[3 * c.y + 2];
    itrans[rank] = *k * (face_areas[f] / sqrt(dx * dx + dy * dy + dz * dz));
}

// The Dirichlet faces are listed; one thread a face.
extern "C" __global__ void compute_btrans(
    u32 n,
    const u32* __restrict__ dirichlet_boundary,
    const uint2* __restrict__ face_cells,
    const double* __restrict__ face_areas,
    const double* __restrict__ face_centroids,
    const double* __restrict__ cell_centroids,
    const double* __restrict__ k,
    double* __restrict__ btrans)
{
    u32 rank = blockIdx.x * blockDim.x + threadIdx.x;
    if (rank >= n) return;
    u32 f = dirichlet_boundary[rank];
    uint2 c = face_cells[f];
    u32 inside = c.x == NONE ? c.y : c.x;
    double dx = face_centroids[3 * f] - cell_centroids[3 * inside];
    double dy = face_centroids[3 * f + 1] - cell_centroids[3 * inside + 1];
    double dz = face_centroids[3 * f + 2] - cell_centroids[3 * inside + 2];
    btrans[rank] = *k * (face_areas[f] / sqrt(dx * dx + dy * dy + dz * dz));
}

// Any grid. Membership and rank in one look-up: interior_rank[f] is the position of f in InteriorFaces(), boundary_rank[f] that in BoundaryFaces(),
// dirichlet_rank[boundary_rank[f]] that in the subset; NONE where f is not in the set.
extern "C" __global__ void compute_u(
    u32 n_cells,
    const u32* __restrict__ cell_face_pos,
    const u32* __restrict__ cell_faces,
    const uint2* __restrict__ face_cells,
    const u32* __restrict__ interior_rank,
    const u32* __restrict__ boundary_rank,
    const u32* __restrict__ dirichlet_rank,
    const double* __restrict__ cell_volumes,
    const double* __restrict__ u,
    const double* __restrict__ itrans,
    const double* __restrict__ btrans,
    const double* __restrict__ dirichlet_val,
    const double* __restrict__ dt,
    double* __restrict__ u_new)
{
    u32 here = blockIdx.x * blockDim.x + threadIdx.x;
    if (here >= n_cells) return;
    double outflow = 0.0;
    for (u32 i = cell_face_pos[here]; i < cell_face_pos[here + 1]; ++i) {
        u32 f = cell_faces[i];
        uint2 c = face_cells[f];
        double flux = 0.0;
        u32 rank = interior_rank[f];
        if (rank != NONE) {
            flux = -itrans[rank] * (u[c.y] - u[c.x]);
        } else {
            u32 subset_rank = dirichlet_rank[boundary_rank[f]];
            if (subset_rank != NONE) {
                u32 inside = c.x == NONE ? c.y : c.x;
                double sign = c.x == NONE ? -1.0 : 1.0;
                flux = btrans[subset_rank] * (sign * (u[inside] - dirichlet_val[subset_rank]));
            }
        }
        outflow += c.x == here ? flux : -flux;
    }
    u_new[here] = u[here] - (*dt / cell_volumes[here]) * outflow;
}

// Cartesian form in three dimensions: one value of itrans an axis, indices by arithmetic, one thread a cell.
// dirichlet_rank is over the boundary faces in ascending order: those of x (low, high, row by row), then y, then z.
extern "C" __global__ void compute_u_block(
    u32 nx, u32 ny, u32 nz,
    double volume,
    const u32* __restrict__ dirichlet_rank,
    const double* __restrict__ u,
    const double* __restrict__ itrans,  // [3]
    const double* __restrict__ btrans,
    const double* __restrict__ dirichlet_val,
    const double* __restrict__ dt,
    double* __restrict__ u_new)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    u32 j = blockIdx.y * blockDim.y + threadIdx.y;
    u32 k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;
    u32 here = i + nx * (j + ny * k);
    double own = u[here];
    double outflow = 0.0;

    const u32 at[3] = { i, j, k };
    const u32 n[3] = { nx, ny, nz };
    const u32 stride[3] = { 1, nx, nx * ny };
    // Position of the side in the boundary faces of its axis; the low layer comes before the high one.
    const u32 first[3] = { 0, 2 * ny * nz, 2 * ny * nz + 2 * nx * nz };
    const u32 low_rank[3] = { 2 * (j + ny * k), i + nx * (2 * k), i + nx * j };
    const u32 high_rank[3] = { low_rank[0] + 1, i + nx * (2 * k + 1), i + nx * (j + ny) };
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
        double low = 0.0;
        if (at[axis] > 0) {
            low = -itrans[axis] * (own - u[here - stride[axis]]);
        } else {
            u32 rank = dirichlet_rank[first[axis] + low_rank[axis]];
            if (rank != NONE) low = btrans[rank] * (-1.0 * (own - dirichlet_val[rank]));
        }
        outflow += -low;
        double high = 0.0;
        if (at[axis] + 1 < n[axis]) {
            high = -itrans[axis] * (u[here + stride[axis]] - own);
        } else {
            u32 rank = dirichlet_rank[first[axis] + high_rank[axis]];
            if (rank != NONE) high = btrans[rank] * (1.0 * (own - dirichlet_val[rank]));
        }
        outflow += high;
    }
    u_new[here] = own - (*dt / volume) * outflow;
}
