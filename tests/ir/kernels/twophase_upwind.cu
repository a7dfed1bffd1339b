// What twophase_upwind.eqir should become: the cell that is upwind is an index chosen by the sign of the flux, then one load of its saturation.

typedef unsigned int u32;
static const u32 NONE = 0xffffffffu;

__device__ static double water_fraction(double s, double watervisc, double oilvisc)
{
    double water = s / watervisc;
    double oil = (1.0 - s) / oilvisc;
    return water / (water + oil);
}

__device__ static double source_term(double source, double s, double watervisc, double oilvisc)
{
    double injected = source > 0.0 ? source : 0.0;
    double produced = source < 0.0 ? source : 0.0;
    return injected + produced * water_fraction(s, watervisc, oilvisc);
}

// Any grid. source_rank is over all cells: the position of a cell among the source cells, or NONE.
extern "C" __global__ void compute_residual(
    u32 n_cells,
    const u32* __restrict__ cell_face_pos,
    const u32* __restrict__ cell_faces,
    const uint2* __restrict__ face_cells,
    const u32* __restrict__ interior_rank,
    const u32* __restrict__ source_rank,
    const double* __restrict__ s,
    const double* __restrict__ s0,
    const double* __restrict__ flux,
    const double* __restrict__ pore_volume,
    const double* __restrict__ source_values,
    const double* __restrict__ watervisc,
    const double* __restrict__ oilvisc,
    const double* __restrict__ dt,
    double* __restrict__ residual)
{
    u32 here = blockIdx.x * blockDim.x + threadIdx.x;
    if (here >= n_cells) return;
    double muw = *watervisc, muo = *oilvisc;
    double outflow = 0.0;
    for (u32 i = cell_face_pos[here]; i < cell_face_pos[here + 1]; ++i) {
        u32 f = cell_faces[i];
        u32 rank = interior_rank[f];
        if (rank == NONE) continue;
        uint2 c = face_cells[f];
        double v = flux[rank];
        u32 upwind = v >= 0.0 ? c.x : c.y;
        double term = water_fraction(s[upwind], muw, muo) * v;
        outflow += c.x == here ? term : -term;
    }
    u32 rank = source_rank[here];
    double inflow = rank == NONE ? 0.0 : source_term(source_values[rank], s[here], muw, muo);
    residual[here] = (s[here] - s0[here]) + (*dt / pore_volume[here]) * (outflow - inflow);
}

// Cartesian form in two dimensions; flux is over the interior faces in ascending order: nx - 1 a row along x, then ny - 1 rows of nx along y.
extern "C" __global__ void compute_residual_plane(
    u32 nx, u32 ny,
    const u32* __restrict__ source_rank,
    const double* __restrict__ s,
    const double* __restrict__ s0,
    const double* __restrict__ flux,
    const double* __restrict__ pore_volume,
    const double* __restrict__ source_values,
    const double* __restrict__ watervisc,
    const double* __restrict__ oilvisc,
    const double* __restrict__ dt,
    double* __restrict__ residual)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    u32 j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= nx || j >= ny) return;
    double muw = *watervisc, muo = *oilvisc;
    u32 here = i + nx * j;
    u32 x_faces = (nx - 1) * ny;
    double outflow = 0.0;
    if (i > 0) {
        double v = flux[(i - 1) + (nx - 1) * j];
        outflow += -(water_fraction(s[v >= 0.0 ? here - 1 : here], muw, muo) * v);
    }
    if (i + 1 < nx) {
        double v = flux[i + (nx - 1) * j];
        outflow += water_fraction(s[v >= 0.0 ? here : here + 1], muw, muo) * v;
    }
    if (j > 0) {
        double v = flux[x_faces + i + nx * (j - 1)];
        outflow += -(water_fraction(s[v >= 0.0 ? here - nx : here], muw, muo) * v);
    }
    if (j + 1 < ny) {
        double v = flux[x_faces + i + nx * j];
        outflow += water_fraction(s[v >= 0.0 ? here : here + nx], muw, muo) * v;
    }
    u32 rank = source_rank[here];
    double inflow = rank == NONE ? 0.0 : source_term(source_values[rank], s[here], muw, muo);
    residual[here] = (s[here] - s0[here]) + (*dt / pore_volume[here]) * (outflow - inflow);
}
