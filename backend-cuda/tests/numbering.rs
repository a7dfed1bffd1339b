//! The prelude's numbering of Cartesian grids against the runtime library's, entity by entity.
#![cfg(feature = "runtime")]

mod common;

use std::sync::Arc;

use backend_cuda::runtime::{CudaRuntime, FloatingPoint, KernelModule};
use equelle_runtime::domain::Domain;
use equelle_runtime::grid::{Grid, NONE};
use equelle_runtime::session::SUPPORTED_SETS;
use equelle_runtime::{CanonicalSet, EntityKind, EquelleRuntime, Extent, HostAccess};

const KERNELS: KernelModule =
    KernelModule { name: "numbering", source: include_str!("numbering/kernels.cu"), floating_point: FloatingPoint::Strict };

/// The canonical sets, and of each every second element.
fn sets(rt: &mut CudaRuntime) -> Vec<Arc<Domain>> {
    let canonical: Vec<Arc<Domain>> = SUPPORTED_SETS.iter().map(|&set| rt.domain(set).unwrap()).collect();
    let halves = canonical.iter().map(|set| {
        let elements = set.elements().iter().copied().step_by(2).collect();
        Domain::subset("half", set, elements).unwrap()
    });
    canonical.iter().cloned().chain(halves).collect()
}

#[test]
fn ranks_agree_with_the_library() {
    for device in common::devices() {
        for shape in common::shapes() {
            let mut rt = common::runtime(device.clone(), Grid::cartesian(shape).unwrap(), &[]);
            for set in sets(&mut rt) {
                let all = rt.domain(CanonicalSet::new(set.kind(), Extent::All)).unwrap();
                let expected: Vec<Option<u32>> = (0..all.len() as u32).map(|entity| set.rank(entity)).collect();
                let what = format!("{} ({} elements) of {:?}", set.name(), set.len(), &shape.n[..shape.dim]);

                // An entity collection full of Empty to write to.
                let out = rt.entity_collection(&all, set.kind(), vec![None; all.len()]).unwrap();
                let ranks = rt.ranks(&set).unwrap();
                let call = rt.call(&KERNELS, "ranks_by_table").unwrap().arg(all.len() as u32).arg(ranks).arg(out.pointer());
                rt.launch_over(call, all.len()).unwrap();
                assert_eq!(rt.entity_indices(&out).unwrap(), expected, "by table: {what}");

                let (g, ranks) = (rt.cartesian_args().unwrap(), rt.cartesian_ranks(&set).unwrap());
                let out = rt.entity_collection(&all, set.kind(), vec![None; all.len()]).unwrap();
                let call = rt.call(&KERNELS, "ranks_by_division").unwrap().arg(all.len() as u32).arg(g).arg(ranks).arg(out.pointer());
                rt.launch_over(call, all.len()).unwrap();
                assert_eq!(rt.entity_indices(&out).unwrap(), expected, "by division: {what}");

                let out = rt.entity_collection(&all, set.kind(), vec![None; all.len()]).unwrap();
                let call = rt.call(&KERNELS, "ranks_by_position").unwrap().arg(g).arg(ranks).arg(out.pointer());
                rt.launch_over_cells(call).unwrap();
                assert_eq!(rt.entity_indices(&out).unwrap(), expected, "by position: {what}");
            }
        }
    }
}

#[test]
fn neighbours_are_the_cells_of_the_faces() {
    for device in common::devices() {
        for shape in common::shapes() {
            let mut rt = common::runtime(device.clone(), Grid::cartesian(shape).unwrap(), &[]);
            let sides = 2 * shape.dim * shape.n_cells();
            // Room for one index per side of a cell: a collection over as many cells of another grid.
            let room = Grid::cartesian(equelle_runtime::grid::Cartesian::line(sides, 1.0)).unwrap().shared();
            let room = Domain::canonical(&room, CanonicalSet::new(EntityKind::Cell, Extent::All)).unwrap();
            let out = rt.entity_collection(&room, EntityKind::Cell, vec![Some(0); sides]).unwrap();
            let call = rt.call(&KERNELS, "neighbours").unwrap().arg(rt.cartesian_args().unwrap()).arg(out.pointer());
            rt.launch_over_cells(call).unwrap();
            let found = rt.entity_indices(&out).unwrap();
            for cell in 0..shape.n_cells() {
                for axis in 0..shape.dim {
                    for high in [false, true] {
                        let cells = shape.face_cells(shape.cell_face(cell, axis, high));
                        let expected = Some(cells[usize::from(high)]).filter(|&c| c != NONE);
                        assert_eq!(
                            found[2 * (shape.dim * cell + axis) + usize::from(high)],
                            expected,
                            "cell {cell}, axis {axis}, {high}, {:?}",
                            shape.n
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn elements_of_domains_come_back() {
    for device in common::devices() {
        for shape in common::shapes() {
            let mut rt = common::runtime(device.clone(), Grid::cartesian(shape).unwrap(), &[]);
            for set in sets(&mut rt) {
                let entities = rt.entities(&set).unwrap();
                let uploads = rt.counters().uploads;
                let expected: Vec<Option<u32>> = set.elements().iter().copied().map(Some).collect();
                assert_eq!(rt.entity_indices(&entities).unwrap(), expected);
                // Asked for again, they are there already.
                let again = rt.entities(&set).unwrap();
                assert_eq!(again.pointer(), entities.pointer());
                assert_eq!(rt.counters().uploads, uploads);
            }
        }
    }
}
