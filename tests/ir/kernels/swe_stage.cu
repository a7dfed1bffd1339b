// What swe_stage.eqir should become. The three sums share states and wave speeds; nothing but q and the bottom is read from memory.
// Traffic of stage_plane per cell: 3 states and 5 bottoms read, 3 states written: 88 bytes.

typedef unsigned int u32;
static const u32 NONE = 0xffffffffu;

struct State { double w, hu, hv, h; };
struct Flux { double mass, normal, tangential; };

static __device__ const double DRY = 0.05;

__device__ static State state(u32 c, const double* __restrict__ w, const double* __restrict__ hu, const double* __restrict__ hv,
                              const double* __restrict__ b)
{
    State s = { w[c], hu[c], hv[c], w[c] - b[c] };
    return s;
}

// Central-upwind flux between two states along one axis: m is the momentum along it, t the one across. Dry states have no speed and no flux.
__device__ static Flux central_upwind(double w1, double m1, double t1, double h1, double w2, double m2, double t2, double h2)
{
    bool wet1 = h1 > DRY, wet2 = h2 > DRY;
    double c1 = wet1 ? sqrt(9.81 * h1) : 0.0;
    double c2 = wet2 ? sqrt(9.81 * h2) : 0.0;
    double v1 = wet1 ? m1 / h1 : 0.0;
    double v2 = wet2 ? m2 / h2 : 0.0;
    double low = v1 - c1 < v2 - c2 ? v1 - c1 : v2 - c2;
    double high = v1 + c1 > v2 + c2 ? v1 + c1 : v2 + c2;
    double am = low < 0.0 ? low : 0.0;
    double ap = high > 0.0 ? high : 0.0;
    double width = ap - am;
    Flux f = { 0.0, 0.0, 0.0 };
    if (width * width > 0.0025000000000000005) {
        double blend = (ap * am) / width;
        double mass1 = wet1 ? m1 : 0.0, mass2 = wet2 ? m2 : 0.0;
        double normal1 = wet1 ? m1 * (m1 / h1) + (4.905 * h1) * h1 : 0.0;
        double normal2 = wet2 ? m2 * (m2 / h2) + (4.905 * h2) * h2 : 0.0;
        double across1 = wet1 ? (m1 * t1) / h1 : 0.0;
        double across2 = wet2 ? (m2 * t2) / h2 : 0.0;
        f.mass = (ap * mass1 - am * mass2) / width + blend * (w2 - w1);
        f.normal = (ap * normal1 - am * normal2) / width + blend * (m2 - m1);
        f.tangential = (ap * across1 - am * across2) / width + blend * (t2 - t1);
    }
    return f;
}

__device__ static double wall_pressure(double h)
{
    return h > DRY ? (4.905 * h) * h : 0.0;
}

// Source term and time step, the same for both grids.
__device__ static void finish(
    u32 here, State q, double volume, double sum_w, double sum_hu, double sum_hv,
    const double* __restrict__ b_north, const double* __restrict__ b_south,
    const double* __restrict__ b_east, const double* __restrict__ b_west,
    double dx, double dy, double dt,
    double* __restrict__ w_new, double* __restrict__ hu_new, double* __restrict__ hv_new)
{
    double wet = q.h > DRY ? 1.0 : 0.0;
    double slope_x = (b_east[here] - b_west[here]) / dx;
    double slope_y = (b_north[here] - b_south[here]) / dy;
    double depth_x = ((q.w - b_east[here]) + (q.w - b_west[here])) / 2.0;
    double depth_y = ((q.w - b_north[here]) + (q.w - b_south[here])) / 2.0;
    double source_hu = ((-9.81 * slope_x) * depth_x) * wet;
    double source_hv = ((-9.81 * slope_y) * depth_y) * wet;
    w_new[here] = q.w + dt * ((1.0 / volume) * -sum_w);
    hu_new[here] = q.hu + dt * ((1.0 / volume) * (-sum_hu + volume * source_hu));
    hv_new[here] = q.hv + dt * ((1.0 / volume) * (-sum_hv + volume * source_hv));
}

// Any grid of two dimensions.
extern "C" __global__ void stage(
    u32 n_cells,
    const u32* __restrict__ cell_face_pos,
    const u32* __restrict__ cell_faces,
    const uint2* __restrict__ face_cells,
    const double* __restrict__ face_areas,
    const double* __restrict__ face_normals,  // [3 * n_faces]
    const double* __restrict__ cell_volumes,
    const double* __restrict__ w, const double* __restrict__ hu, const double* __restrict__ hv,
    const double* __restrict__ b,
    const double* __restrict__ b_north, const double* __restrict__ b_south,
    const double* __restrict__ b_east, const double* __restrict__ b_west,
    const double* __restrict__ dx, const double* __restrict__ dy, const double* __restrict__ dt,
    double* __restrict__ w_new, double* __restrict__ hu_new, double* __restrict__ hv_new)
{
    u32 here = blockIdx.x * blockDim.x + threadIdx.x;
    if (here >= n_cells) return;
    double sum_w = 0.0, sum_hu = 0.0, sum_hv = 0.0;
    for (u32 i = cell_face_pos[here]; i < cell_face_pos[here + 1]; ++i) {
        u32 f = cell_faces[i];
        uint2 c = face_cells[f];
        double nx = face_normals[3 * f], ny = face_normals[3 * f + 1];
        double ax = sqrt(nx * nx), ay = sqrt(ny * ny);
        double flux_w, flux_hu, flux_hv;
        if (c.x != NONE && c.y != NONE) {
            State p = state(c.x, w, hu, hv, b), q = state(c.y, w, hu, hv, b);
            Flux x = central_upwind(p.w, p.hu, p.hv, p.h, q.w, q.hu, q.hv, q.h);
            Flux y = central_upwind(p.w, p.hv, p.hu, p.h, q.w, q.hv, q.hu, q.h);
            flux_w = ax * x.mass + ay * y.mass;
            flux_hu = ax * x.normal + ay * y.tangential;
            flux_hv = ax * x.tangential + ay * y.normal;
        } else {
            u32 inside = c.x == NONE ? c.y : c.x;
            double pressure = wall_pressure(w[inside] - b[inside]);
            flux_w = 0.0;
            flux_hu = (ax * pressure) * (nx > 0.0 ? 1.0 : -1.0);
            flux_hv = (ay * pressure) * (ny > 0.0 ? 1.0 : -1.0);
        }
        double area = face_areas[f];
        bool outward = c.x == here;
        sum_w += outward ? area * flux_w : -(area * flux_w);
        sum_hu += outward ? area * flux_hu : -(area * flux_hu);
        sum_hv += outward ? area * flux_hv : -(area * flux_hv);
    }
    finish(here, state(here, w, hu, hv, b), cell_volumes[here], sum_w, sum_hu, sum_hv, b_north, b_south, b_east, b_west, *dx, *dy, *dt,
           w_new, hu_new, hv_new);
}

// Cartesian form: along each axis only the flux of that axis is evaluated, since the other component of the normal is structurally zero.
// width_x, width_y are the grid's; the program's own dx and dy are Scalars of their own.
extern "C" __global__ void stage_plane(
    u32 nx, u32 ny, double width_x, double width_y,
    const double* __restrict__ w, const double* __restrict__ hu, const double* __restrict__ hv,
    const double* __restrict__ b,
    const double* __restrict__ b_north, const double* __restrict__ b_south,
    const double* __restrict__ b_east, const double* __restrict__ b_west,
    const double* __restrict__ dx, const double* __restrict__ dy, const double* __restrict__ dt,
    double* __restrict__ w_new, double* __restrict__ hu_new, double* __restrict__ hv_new)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    u32 j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= nx || j >= ny) return;
    u32 here = i + nx * j;
    State q = state(here, w, hu, hv, b);
    double wall = wall_pressure(q.h);
    double sum_w = 0.0, sum_hu = 0.0, sum_hv = 0.0;
    if (i > 0) {
        State p = state(here - 1, w, hu, hv, b);
        Flux f = central_upwind(p.w, p.hu, p.hv, p.h, q.w, q.hu, q.hv, q.h);
        sum_w += -(width_y * f.mass); sum_hu += -(width_y * f.normal); sum_hv += -(width_y * f.tangential);
    } else {
        sum_hu += -(width_y * wall);
    }
    if (i + 1 < nx) {
        State p = state(here + 1, w, hu, hv, b);
        Flux f = central_upwind(q.w, q.hu, q.hv, q.h, p.w, p.hu, p.hv, p.h);
        sum_w += width_y * f.mass; sum_hu += width_y * f.normal; sum_hv += width_y * f.tangential;
    } else {
        sum_hu += width_y * wall;
    }
    if (j > 0) {
        State p = state(here - nx, w, hu, hv, b);
        Flux f = central_upwind(p.w, p.hv, p.hu, p.h, q.w, q.hv, q.hu, q.h);
        sum_w += -(width_x * f.mass); sum_hv += -(width_x * f.normal); sum_hu += -(width_x * f.tangential);
    } else {
        sum_hv += -(width_x * wall);
    }
    if (j + 1 < ny) {
        State p = state(here + nx, w, hu, hv, b);
        Flux f = central_upwind(q.w, q.hv, q.hu, q.h, p.w, p.hv, p.hu, p.h);
        sum_w += width_x * f.mass; sum_hv += width_x * f.normal; sum_hu += width_x * f.tangential;
    } else {
        sum_hv += width_x * wall;
    }
    finish(here, q, width_x * width_y, sum_w, sum_hu, sum_hv, b_north, b_south, b_east, b_west, *dx, *dy, *dt, w_new, hu_new, hv_new);
}

// Second stage of the Runge-Kutta step.
extern "C" __global__ void mean(u32 n, const double* __restrict__ old, const double* __restrict__ ahead, double* __restrict__ out)
{
    u32 here = blockIdx.x * blockDim.x + threadIdx.x;
    if (here < n) out[here] = 0.5 * old[here] + 0.5 * ahead[here];
}

extern "C" __global__ void bottom(
    u32 n, const double* __restrict__ north, const double* __restrict__ south, const double* __restrict__ east,
    const double* __restrict__ west, double* __restrict__ b)
{
    u32 here = blockIdx.x * blockDim.x + threadIdx.x;
    if (here < n) b[here] = (((north[here] + south[here]) + east[here]) + west[here]) / 4.0;
}
