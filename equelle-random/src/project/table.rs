//! Settings for single programs.

use crate::outcome::Tolerance;

/// Steps of an example that are run.
pub const STEPS: usize = 8;

/// Tolerance of solutions: all systems here are solved directly, so that solutions differ by
/// roundings of elimination, some hundred of 1.1e-16, times their amplification by the matrix,
/// which is less than 1e4 of the largest value.
pub const SOLVED: Tolerance = Tolerance::relative(1e-10);

/// A program in single precision, compared with double precision.
#[derive(Clone, Copy)]
pub enum SinglePrecision {
    /// Roundings of its steps alone.
    Explicit,
    /// As `Explicit`, with operations on Scalars that kernels take in: of doubles between
    /// operations, of singles in kernels.
    ExplicitWithScalars,
    /// It solves equations, with these words, and outputs may then be so far apart, beside
    /// roundings.
    Solved {
        /// A tolerance of Newton's method that singles can reach.
        words: &'static [&'static str],
        /// Beside roundings of its operations.
        allowed: Tolerance,
    },
    /// It is not compared: no tolerance of Newton's method is one for all its equations that
    /// singles can reach and that still says something.
    No,
}

/// A program with something that no rule gives.
#[derive(Clone, Copy)]
pub struct ProgramOverrides {
    /// Its file, in the repository.
    pub program: &'static str,
    /// Words of each run, instead of the data of an example or of grids chosen for it. A parameter
    /// file is one of the repository.
    pub runs: &'static [&'static [&'static str]],
    /// Steps that are run.
    pub steps: usize,
    /// How far its solutions may be apart, instead of [`SOLVED`].
    pub solved: Option<Tolerance>,
    /// How it is run in single precision.
    pub single: Option<SinglePrecision>,
}

impl ProgramOverrides {
    const fn new(program: &'static str) -> ProgramOverrides {
        ProgramOverrides { program, runs: &[], steps: STEPS, solved: None, single: None }
    }

    const fn runs(self, runs: &'static [&'static [&'static str]]) -> ProgramOverrides {
        ProgramOverrides { runs, ..self }
    }

    const fn steps(self, steps: usize) -> ProgramOverrides {
        ProgramOverrides { steps, ..self }
    }

    /// Settings for heat conduction, whose matrix is the identity plus a positive operator: a
    /// solution is as far from the exact one as the residual, in each step.
    const fn single(self, tolerance: &'static [&'static str], absolute: f64) -> ProgramOverrides {
        ProgramOverrides { single: Some(SinglePrecision::Solved { words: tolerance, allowed: Tolerance::absolute(absolute) }), ..self }
    }

    /// Settings for flow, whose matrices leave the level of the pressure open: the rounded terms of
    /// a residual give the distance to the exact solution, in parts of the largest value.
    const fn single_flow(self, tolerance: &'static [&'static str], relative: f64) -> ProgramOverrides {
        ProgramOverrides { single: Some(SinglePrecision::Solved { words: tolerance, allowed: Tolerance::relative(relative) }), ..self }
    }

    const fn solved(self, absolute: f64) -> ProgramOverrides {
        ProgramOverrides { solved: Some(Tolerance::absolute(absolute)), ..self }
    }
}

const BOX: &[&str] = &["examples/heat_explicit_3d/case.param"];
const WATER: &[&str] = &["examples/shallow_water/case.param"];
const FIVE_SPOT: &[&str] = &["tests/programs/five_spot.param"];
const FIVE_SPOT_OF_TWO: &[&str] = &["examples/two_phase_implicit/case.param"];

/// Grids whose sides are joined.
const TORUS: &[&str] = &["nx=5", "ny=4", "dx=0.5", "dy=0.25", "grid_periodic=x-:x+,y-:y+"];
const TORUS_OF_BLOCKS: &[&str] = &["grid_dim=3", "nx=3", "ny=4", "nz=3", "dx=0.5", "dy=0.25", "dz=2", "grid_periodic=x-:x+,y-:y+,z-:z+"];

/// The same of two cells from side to side, along an axis that is open and along one that is not.
const TWO_ACROSS: &[&str] = &["grid_dim=3", "nx=2", "ny=2", "nz=4", "dx=0.5", "dy=0.25", "dz=2", "grid_periodic=x-:x+,z-:z+"];

pub const OVERRIDES: &[ProgramOverrides] = &[
    ProgramOverrides::new("tests/run/periodic_advection").runs(&[TORUS, TORUS_OF_BLOCKS]),
    ProgramOverrides::new("tests/run/periodic_heat").runs(&[TORUS, TORUS_OF_BLOCKS]),
    ProgramOverrides::new("tests/run/periodic_varied").runs(&[TORUS, TORUS_OF_BLOCKS, TWO_ACROSS]),
    ProgramOverrides::new("tests/cuda/joined_sides").runs(&[TORUS, TORUS_OF_BLOCKS, TWO_ACROSS]),
    ProgramOverrides::new("tests/run/periodic_channel").runs(&[TORUS, TORUS_OF_BLOCKS]),
    // The sum of the sources is zero.
    ProgramOverrides::new("tests/run/periodic_poisson").runs(&[&[
        "nx=8",
        "ny=4",
        "dx=0.125",
        "dy=0.25",
        "source_expression=Sin(6.283185307179586*x)",
        "grid_periodic=x-:x+,y-:y+",
    ]]),
    // Its last solve leaves a derivative out and converges slowly; its state grows from step to
    // step.
    ProgramOverrides::new("tests/report/reasons")
        .runs(&[&["nx=5", "ny=4", "dx=0.5", "dy=0.25", "max_iter=60"], &["grid_dim=3", "nx=3", "ny=4", "nz=3", "max_iter=60"]])
        .steps(1),
    // Long rows, which are cut, and loops that are long enough for several threads in every place.
    ProgramOverrides::new("examples/shallow_water")
        .runs(&[WATER, &["nx=130", "ny=71", "dx=0.5", "dy=2", "u_init=0", "v_init=0", "b_north=0", "b_south=0", "b_east=0", "b_west=0"]]),
    // A direct solver takes minutes where dependencies are not optimised. Each step ends with a
    // residual below 1e-9, which is as far as it is from the solution: the matrix is the identity
    // plus a positive operator.
    ProgramOverrides::new("examples/heat_implicit_3d")
        .runs(&[&["examples/heat_implicit_3d/case.param", "solver=bicgstab", "abs_res_tol=1e-9"]])
        .steps(2)
        .solved(4e-9)
        .single(&["abs_res_tol=2e-2"], 4e-2),
    ProgramOverrides::new("examples/heat_implicit_2d").single(&["abs_res_tol=1e-3"], 2e-3),
    ProgramOverrides::new("examples/heat_implicit_triangles").single(&["abs_res_tol=1e-3"], 5e-3),
    // Newton's method takes the same iterations in both precisions, and ends far below its
    // tolerance.
    ProgramOverrides::new("examples/gas_1d").single_flow(&["abs_res_tol=1e-4"], 0.0),
    ProgramOverrides::new("examples/two_phase_gravity").single_flow(&[], 0.0),
    // With the default tolerance the last correction is not always made: saturations that stop at a
    // bound decide.
    ProgramOverrides::new("examples/two_phase_implicit")
        .runs(&[&["examples/two_phase_implicit/case.param", "abs_res_tol=1e-8"]])
        .single_flow(&[], 0.0),
    // The sum of both equations tells the pressure. In it terms near 1 cancel, four to a balance,
    // and leave what is injected in a step, 1.5e-4: their roundings are 4 * 6e-8 / 1.5e-4 of that.
    ProgramOverrides::new("examples/two_phase_conservation").single_flow(&[], 1.6e-3),
    // One solve is for volumes per second, near 1e-5, the other for saturations near 1.
    ProgramOverrides { single: Some(SinglePrecision::No), ..ProgramOverrides::new("examples/two_phase") },
    ProgramOverrides::new("tests/programs/shallow_water_declared").runs(&[WATER]),
    ProgramOverrides::new("tests/run/heat_declared").runs(&[BOX]),
    ProgramOverrides::new("tests/programs/heat_implicit_declared").runs(&[&["examples/heat_implicit_2d/case.param"]]),
    ProgramOverrides::new("tests/programs/gas_declared").runs(&[&["examples/gas_1d/case.param"]]),
    ProgramOverrides::new("tests/programs/two_phase_declared").runs(&[FIVE_SPOT]),
    ProgramOverrides::new("tests/programs/two_phase_implicit_declared").runs(&[FIVE_SPOT_OF_TWO]),
    ProgramOverrides::new("tests/implicit/pressure_neumann").runs(&[FIVE_SPOT]),
    // Periodic with 2 * 3 cells, where both ends of a stencil are one column.
    ProgramOverrides {
        single: Some(SinglePrecision::No),
        ..ProgramOverrides::new("tests/programs/implicit_by_index").runs(&[&[
            "grid_dim=2",
            "nx=6",
            "ny=5",
            "dx=0.5",
            "dy=0.25",
            "u_expression=Sin(x)+y",
        ]])
    },
    ProgramOverrides {
        single: Some(SinglePrecision::No),
        ..ProgramOverrides::new("tests/programs/implicit_corners").runs(&[&[
            "grid_dim=2",
            "nx=6",
            "ny=5",
            "dx=0.5",
            "dy=0.25",
            "u_expression=Sin(x)+y",
        ]])
    },
    // Exponentials of exponentials.
    ProgramOverrides {
        single: Some(SinglePrecision::No),
        ..ProgramOverrides::new("tests/programs/stages_in_place").runs(&[&[
            "grid_dim=2",
            "nx=37",
            "ny=5",
            "dx=0.5",
            "dy=0.25",
            "timesteps=3*0.0625",
            "u_expression=0.25*Sin(x)*y",
        ]])
    },
    // Weights of stages such as `8/15 * dt`, and what the flow is made of.
    ProgramOverrides { single: Some(SinglePrecision::ExplicitWithScalars), ..ProgramOverrides::new("examples/sod") },
    ProgramOverrides { single: Some(SinglePrecision::ExplicitWithScalars), ..ProgramOverrides::new("examples/tracer_whirl") },
    // Two cells away along a periodic line; growing waves.
    ProgramOverrides {
        single: Some(SinglePrecision::ExplicitWithScalars),
        ..ProgramOverrides::new("tests/programs/kuramoto_sivashinsky").runs(&[&[
            "grid_dim=1",
            "nx=64",
            "dx=0.5",
            "timesteps=20*0.0078125",
            "u_initial_expression=2*Cos(0.19634954084936207*x)",
        ]])
    },
    // Reads four cells away; more cells than a strip.
    ProgramOverrides::new("tests/programs/wide_stencil").runs(&[&[
        "grid_dim=3",
        "nx=70",
        "ny=4",
        "nz=5",
        "dx=0.5",
        "dy=0.25",
        "dz=0.125",
        "u_expression=Sin(x)+y*z",
        "v_expression=x*x-z",
        "w_expression=y-Cos(x*z)",
    ]]),
    // Thousands of operations; its own case is a field that is almost zero, beside which roundings
    // are large.
    ProgramOverrides {
        single: Some(SinglePrecision::No),
        ..ProgramOverrides::new("examples/mhd").steps(1).runs(&[
            &[
                "grid_dim=3",
                "nx=6",
                "ny=5",
                "nz=4",
                "dx=0.5",
                "dy=0.25",
                "dz=0.5",
                "timesteps=0.01",
                "lnrho_expression=0.1*Sin(x+y)",
                "ux_expression=0.1*Sin(x-z)",
                "uy=0.1",
                "uz_expression=0.1*Cos(y)",
                "s_expression=0.1*Cos(z)",
                "ax_expression=0.1*Cos(y+z)",
                "ay_expression=0.1*Sin(x)",
                "az_expression=0.1*Sin(y)",
            ],
            // A grid as small as the reach; zeros, and numbers that are almost none.
            &[
                "grid_dim=3",
                "nx=3",
                "ny=3",
                "nz=3",
                "dx=0.5",
                "dy=0.25",
                "dz=0.5",
                "timesteps=0.01",
                "lnrho=0",
                "ux_expression=1e-250*Sin(x-z)",
                "uy=0",
                "uz_expression=1e-310*Cos(y)",
                "s_expression=0.1*Cos(z)",
                "ax_expression=0.1*Cos(y+z)",
                "ay_expression=1e-220*Sin(x)",
                "az=0",
            ],
        ])
    },
    // Their own cases have thousands of cells.
    ProgramOverrides::new("examples/heat_stencils_3d").runs(&[&[
        "grid_dim=3",
        "nx=8",
        "ny=4",
        "nz=4",
        "lx=1",
        "ly=1",
        "lz=1",
        "k=0.01",
        "timesteps=4*0.1",
        "u_initial_expression=300+20*x*y+10*z",
    ]]),
    ProgramOverrides::new("examples/sod").runs(&[&["grid_dim=1", "nx=32", "lx=1", "timesteps=4*0.003125"]]),
    ProgramOverrides::new("examples/tracer_whirl").runs(&[&[
        "grid_dim=2",
        "nx=16",
        "ny=8",
        "lx=1",
        "ly=1",
        "timesteps=3*0.015625",
        "u_initial_expression=x<0.5?1:0",
    ]]),
    // Grids as small as the reach.
    ProgramOverrides::new("tests/programs/corners_by_index").runs(&[
        &["grid_dim=3", "nx=5", "ny=3", "nz=4", "dx=0.5", "dy=0.25", "dz=1"],
        &["grid_dim=3", "nx=2", "ny=2", "nz=2", "dx=0.5", "dy=0.25", "dz=1"],
    ]),
    ProgramOverrides::new("tests/programs/reads_by_index").runs(&[
        &["nx=5", "ny=4", "dx=0.5", "dy=0.25"],
        &["nx=3", "ny=2", "dx=0.5", "dy=0.25"],
        &["nx=1100", "ny=3", "dx=0.5", "dy=0.25"],
        &["grid_dim=3", "nx=4", "ny=3", "nz=2", "dx=0.5", "dy=0.25", "dz=1"],
    ]),
    // Grids as small as the reach, and one plane more than several runs have.
    ProgramOverrides::new("tests/programs/planes_by_index").runs(&[
        &["grid_dim=3", "nx=4", "ny=3", "nz=4", "dx=0.5", "dy=0.25", "dz=1"],
        &["grid_dim=3", "nx=6", "ny=5", "nz=33", "dx=0.5", "dy=0.25", "dz=1"],
    ]),
    // A plane turns.
    ProgramOverrides::new("tests/patterns/muscl")
        .runs(&[&["nx=5", "ny=4", "dx=0.5", "dy=0.25"], &["nx=5", "ny=4", "dx=0.5", "dy=0.25", "limited=0"]]),
    // Rows of one cell, of many, longer than what is evaluated at a time, in one to three
    // dimensions.
    ProgramOverrides::new("tests/run/rows").runs(&[
        &["grid_dim=1", "nx=1100", "dx=0.5"],
        &["nx=37", "ny=23", "dx=0.5", "dy=0.25"],
        &["nx=1030", "ny=20", "dx=0.5", "dy=0.25"],
        &["grid_dim=3", "nx=13", "ny=9", "nz=11", "dx=0.5", "dy=0.25", "dz=2"],
        &["nx=1", "ny=7", "dx=0.5", "dy=0.25"],
        &["grid_dim=3", "nx=2", "ny=3", "nz=1", "dx=0.5", "dy=0.25", "dz=2"],
    ]),
];
