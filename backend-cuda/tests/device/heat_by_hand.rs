//! Explicit heat with kernels written by hand, launched as generated code launches them, against
//! plain loops: on the emulator, and on the GPU where there is one.
#![cfg(feature = "runtime")]

use std::sync::Arc;

use backend_cuda::runtime::{CudaRuntime, FloatingPoint, GridArrays, KernelModule, Scalar, ScalarCollection};
use equelle_runtime::domain::Domain;
use equelle_runtime::grid::{Grid, NONE};
use equelle_runtime::{CanonicalSet, EntityKind, EquelleRuntime, Error, Extent, HostAccess, Reduction, reduce};

const KERNELS: KernelModule = KernelModule::constant("heat_by_hand", include_str!("../heat_by_hand/kernels.cu"), FloatingPoint::Strict);

const ALL_CELLS: CanonicalSet = CanonicalSet::new(EntityKind::Cell, Extent::All);
const INTERIOR_FACES: CanonicalSet = CanonicalSet::new(EntityKind::Face, Extent::Interior);
const BOUNDARY_FACES: CanonicalSet = CanonicalSet::new(EntityKind::Face, Extent::Boundary);

const K: f64 = 0.3;
const STEPS: usize = 190;

/// The length of a step.
fn time_step(step: usize) -> f64 {
    [0.01, 0.02, 0.005, 0.01, 0.03][step % 5]
}

/// A field without symmetry.
fn initial(n: usize) -> Vec<f64> {
    (0..n).map(|i| 500.0 + (i * 37 % 101) as f64 / 7.0).collect()
}

/// Every third boundary face, and a value on each.
fn dirichlet(boundary: &Arc<Domain>) -> (Arc<Domain>, Vec<f64>) {
    let faces: Vec<u32> = boundary.elements().iter().copied().step_by(3).collect();
    let values = (0..faces.len()).map(|i| 1000.0 - 31.0 * i as f64).collect();
    (Domain::subset("dir_boundary", boundary, faces).unwrap(), values)
}

/// The same program as plain loops over the grid's arrays.
fn reference(grid: &Grid, faces: &Domain, values: &[f64]) -> Vec<f64> {
    let (topology, geometry) = (grid.topology(), grid.geometry());
    let length = |a: [f64; 3], b: [f64; 3]| {
        let d: Vec<f64> = (0..grid.dim()).map(|i| a[i] - b[i]).collect();
        d.iter().skip(1).fold(d[0] * d[0], |sum, x| sum + x * x).sqrt()
    };
    let mut u = initial(grid.n_cells());
    for dt in (0..STEPS).map(time_step) {
        let old = u.clone();
        for cell in 0..grid.n_cells() {
            let mut sum = 0.0;
            for &face in topology.faces_of(cell) {
                let [first, second] = topology.face_cells[face as usize];
                let area = geometry.face_areas[face as usize];
                let flux = if first != NONE && second != NONE {
                    let apart = length(geometry.cell_centroids[first as usize], geometry.cell_centroids[second as usize]);
                    -(K * area / apart) * (old[second as usize] - old[first as usize])
                } else if let Some(rank) = faces.rank(face) {
                    let apart = length(geometry.face_centroids[face as usize], geometry.cell_centroids[cell]);
                    let sign = if first == NONE { -1.0 } else { 1.0 };
                    (K * area / apart) * sign * (old[cell] - values[rank as usize])
                } else {
                    continue;
                };
                sum += if first as usize == cell { flux } else { -flux };
            }
            u[cell] = old[cell] - (dt / geometry.cell_volumes[cell]) * sum;
        }
    }
    u
}

/// Data that stays the same over the steps.
struct Fixed {
    cells: Arc<Domain>,
    interior: Arc<Domain>,
    dirichlet: Arc<Domain>,
    values: ScalarCollection,
    itrans: ScalarCollection,
    btrans: ScalarCollection,
}

fn prepare(rt: &mut CudaRuntime) -> Result<Fixed, Error> {
    let (cells, interior) = (rt.domain(ALL_CELLS)?, rt.domain(INTERIOR_FACES)?);
    let (dirichlet, values) = dirichlet(&rt.domain(BOUNDARY_FACES)?);
    let values = rt.scalar_collection(&dirichlet, values)?;
    let k = rt.scalar(K);
    let k = rt.scalar_pointer(&k)?;
    let itrans = if rt.uses_cartesian_forms() {
        let itrans = rt.new_per_axis_collection(&interior)?;
        let call = rt.call(&KERNELS, "compute_itrans_per_axis")?.arg(rt.cartesian_args()?).arg(k).arg(itrans.pointer());
        let n = rt.per_axis_len(&interior);
        rt.launch_over(call, n)?;
        itrans
    } else {
        let itrans = rt.new_collection(&interior)?;
        let (space, grid) = (
            rt.space(&interior)?,
            rt.grid_args(GridArrays { face_cells: true, cell_centroids: true, face_areas: true, ..GridArrays::default() })?,
        );
        let call = rt.call(&KERNELS, "compute_itrans")?.arg(space).arg(grid).arg(k).arg(itrans.pointer());
        rt.launch_over(call, interior.len())?;
        itrans
    };
    let btrans = rt.new_collection(&dirichlet)?;
    let space = rt.space(&dirichlet)?;
    let needs = GridArrays { face_cells: true, cell_centroids: true, face_areas: true, face_centroids: true, ..GridArrays::default() };
    let grid = rt.grid_args(needs)?;
    let call = rt.call(&KERNELS, "compute_btrans")?.arg(space).arg(grid).arg(k).arg(btrans.pointer());
    rt.launch_over(call, dirichlet.len())?;
    Ok(Fixed { cells, interior, dirichlet, values, itrans, btrans })
}

fn step(rt: &mut CudaRuntime, fixed: &Fixed, u: &ScalarCollection, dt: &Scalar) -> Result<ScalarCollection, Error> {
    let u_new = rt.new_collection(&fixed.cells)?;
    let dt = rt.scalar_pointer(dt)?;
    if rt.uses_cartesian_forms() {
        let ranks = rt.cartesian_ranks(&fixed.dirichlet)?;
        let call = rt.call(&KERNELS, "compute_u_cartesian")?.arg(rt.cartesian_args()?).arg(ranks).arg(u.pointer());
        let call = call.arg(fixed.itrans.pointer()).arg(fixed.btrans.pointer()).arg(fixed.values.pointer()).arg(dt).arg(u_new.pointer());
        rt.launch_over_cells(call)?;
    } else {
        let space = rt.space(&fixed.cells)?;
        let grid = rt.grid_args(GridArrays { sides: true, side_faces: true, cell_volumes: true, ..GridArrays::default() })?;
        let (interior, dirichlet) = (rt.ranks(&fixed.interior)?, rt.ranks(&fixed.dirichlet)?);
        let call = rt.call(&KERNELS, "compute_u")?.arg(space).arg(grid).arg(interior).arg(dirichlet).arg(u.pointer());
        let call = call.arg(fixed.itrans.pointer()).arg(fixed.btrans.pointer()).arg(fixed.values.pointer()).arg(dt).arg(u_new.pointer());
        rt.launch_over(call, fixed.cells.len())?;
    }
    Ok(u_new)
}

fn maximum(rt: &mut CudaRuntime, cells: &Arc<Domain>, u: &ScalarCollection) -> Result<Scalar, Error> {
    let leaves = rt.leaves(Reduction::Max, cells)?;
    let space = rt.space(cells)?;
    let call = rt.call(&KERNELS, "maximum")?.arg(space).arg(u.pointer()).arg(leaves.pointer());
    rt.launch_over_leaves(call, leaves.len())?;
    rt.combine(leaves)
}

#[test]
fn both_forms_agree_with_plain_loops_bit_for_bit() {
    let path = std::env::temp_dir().join(format!("equelle-heat-by-hand-{}.txt", std::process::id()));
    std::fs::write(&path, (0..STEPS).map(|step| time_step(step).to_string()).collect::<Vec<_>>().join(" ")).unwrap();
    for device in crate::common::devices() {
        for shape in crate::common::shapes() {
            for unstructured in [false, true] {
                let grid = Grid::cartesian(shape).unwrap();
                let grid = if unstructured { grid.as_unstructured() } else { grid };
                let what = format!("{:?} on {}, unstructured: {unstructured}", &shape.n[..shape.dim], device.properties().name);
                // Where there is more than a block or two, in whichever shapes are the fastest
                // here.
                let tune = if grid.n_cells() > 500 { "tune=yes" } else { "tune=no" };
                let parameters = [format!("timesteps_filename={}", path.display()), tune.to_owned()];
                let mut rt = crate::common::runtime(device.clone(), grid, &parameters);

                let fixed = prepare(&mut rt).unwrap();
                let mut u = rt.scalar_collection(&fixed.cells, initial(fixed.cells.len())).unwrap();
                let timesteps = rt.input_sequence("timesteps").unwrap();
                let mut largest = None;
                let mut counters = Vec::new();
                let mut steps = rt.begin_loop(&timesteps).unwrap();
                while let Some(dt) = rt.next(&mut steps).unwrap() {
                    counters.push(rt.counters());
                    u = step(&mut rt, &fixed, &u, &dt).unwrap();
                    largest = Some(maximum(&mut rt, &fixed.cells, &u).unwrap());
                }

                // Once the buffers rotate, sixteen steps are one graph and nothing else.
                let (early, late) = (counters[112], counters[176]);
                assert_eq!(late.graphs - early.graphs, 4, "{what}");
                let other = |c: backend_cuda::runtime::Counters| (c.uploads, c.downloads, c.allocations, c.synchronisations);
                assert_eq!(other(late), other(early), "{what}");

                let values = rt.values(&u).unwrap();
                let (faces, on_faces) = dirichlet(&rt.domain(BOUNDARY_FACES).unwrap());
                let expected = reference(rt.session().grid(), &faces, &on_faces);
                let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                assert!(expected.iter().all(|v| v.is_finite()), "{what}: the reference blew up");
                assert_eq!(bits(&values), bits(&expected), "{what}");
                let largest = rt.scalar_value(&largest.unwrap()).unwrap();
                assert_eq!(Some(largest.to_bits()), reduce::reduce(Reduction::Max, &expected).map(f64::to_bits), "{what}");

                // Per-axis values spread out where something reads all of them.
                let broadcast = rt.values(&fixed.itrans).unwrap();
                let geometry = rt.session().grid().geometry();
                let per_face = |&f: &u32| {
                    let axis = geometry.face_normals[f as usize].iter().position(|&x| x == 1.0).unwrap();
                    K * geometry.face_areas[f as usize] / shape.spacing[axis]
                };
                assert_eq!(broadcast, fixed.interior.elements().iter().map(per_face).collect::<Vec<_>>(), "{what}");
                rt.finish().unwrap();
            }
        }
    }
    let _ = std::fs::remove_file(&path);
}
