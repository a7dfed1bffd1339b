// What cells_wells.eqir should become: unknowns on two domains, one kernel each. The residual of the system is equation-major, cells then wells, so both
// kernels write into one vector, the second behind the first.

typedef unsigned int u32;
static const u32 NONE = 0xffffffffu;

// well_rank is over all cells: the position of a cell among the wells, or NONE.
extern "C" __global__ void residual_of_cells(
    u32 n_cells,
    const u32* __restrict__ cell_face_pos,
    const u32* __restrict__ cell_faces,
    const uint2* __restrict__ face_cells,
    const u32* __restrict__ interior_rank,
    const u32* __restrict__ well_rank,
    const double* __restrict__ cell_volumes,
    const double* __restrict__ p,
    const double* __restrict__ p0,
    const double* __restrict__ bhp,
    const double* __restrict__ index,
    const double* __restrict__ itrans,
    const double* __restrict__ compressibility,
    const double* __restrict__ dt,
    double* __restrict__ residual)
{
    u32 here = blockIdx.x * blockDim.x + threadIdx.x;
    if (here >= n_cells) return;
    double outflow = 0.0;
    for (u32 i = cell_face_pos[here]; i < cell_face_pos[here + 1]; ++i) {
        u32 f = cell_faces[i];
        u32 rank = interior_rank[f];
        if (rank == NONE) continue;
        uint2 c = face_cells[f];
        double flux = -itrans[rank] * (p[c.y] - p[c.x]);
        outflow += c.x == here ? flux : -flux;
    }
    u32 well = well_rank[here];
    double taken = well == NONE ? 0.0 : index[well] * (p[here] - bhp[well]);
    residual[here] = ((cell_volumes[here] / *dt) * *compressibility) * (p[here] - p0[here]) + outflow + taken;
}

// One thread a well; wells[k] is the cell of the k-th.
extern "C" __global__ void residual_of_wells(
    u32 n_wells,
    u32 n_cells,
    const u32* __restrict__ wells,
    const double* __restrict__ p,
    const double* __restrict__ bhp,
    const double* __restrict__ index,
    const double* __restrict__ rate,
    double* __restrict__ residual)
{
    u32 well = blockIdx.x * blockDim.x + threadIdx.x;
    if (well >= n_wells) return;
    residual[n_cells + well] = index[well] * (p[wells[well]] - bhp[well]) - rate[well];
}

// Cartesian form of the cells in one dimension.
extern "C" __global__ void residual_of_cells_line(
    u32 nx,
    double volume,
    const u32* __restrict__ well_rank,
    const double* __restrict__ p,
    const double* __restrict__ p0,
    const double* __restrict__ bhp,
    const double* __restrict__ index,
    const double* __restrict__ itrans,  // [1]
    const double* __restrict__ compressibility,
    const double* __restrict__ dt,
    double* __restrict__ residual)
{
    u32 here = blockIdx.x * blockDim.x + threadIdx.x;
    if (here >= nx) return;
    double own = p[here];
    double outflow = 0.0;
    if (here > 0) outflow += -(-itrans[0] * (own - p[here - 1]));
    if (here + 1 < nx) outflow += -itrans[0] * (p[here + 1] - own);
    u32 well = well_rank[here];
    double taken = well == NONE ? 0.0 : index[well] * (own - bhp[well]);
    residual[here] = ((volume / *dt) * *compressibility) * (own - p0[here]) + outflow + taken;
}
