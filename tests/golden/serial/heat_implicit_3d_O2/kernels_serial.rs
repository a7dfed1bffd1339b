//! Kernels of heat_implicit_3d.equelle as loops.
#![allow(non_snake_case, clippy::too_many_arguments, clippy::needless_range_loop)]

use backend_serial::runtime::entities::{Arrays, Entities, Places};
use backend_serial::runtime::kernel::{CartesianGrid, length, vector_sub};
use backend_serial::runtime::{EntityCollection, ScalarCollection, SerialRuntime};
use equelle_runtime::grid::NONE;
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent, Reduction};

use crate::kernels::{
    COMPUTE_MAX_U0, COMPUTE_MAX_U_INITIAL, ComputeInsideAnd2More, ComputeItrans,
    ComputeMaxU0, ComputeMaxUInitial, Kernels,
};

impl Kernels for SerialRuntime {
    fn compute_itrans(
        &mut self,
        args: ComputeItrans<'_, SerialRuntime>,
    ) -> Result<ScalarCollection, Error> {
        if let Some(grid) = self.cartesian_grid() {
            return match self.grid().dim() {
                1 => compute_itrans_per_axis::<1>(self, &args, &grid),
                2 => compute_itrans_per_axis::<2>(self, &args, &grid),
                _ => compute_itrans_per_axis::<3>(self, &args, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_topology().with_geometry();
        match self.grid().dim() {
            1 => compute_itrans_general::<1, _>(self, &args, &grid),
            2 => compute_itrans_general::<2, _>(self, &args, &grid),
            _ => compute_itrans_general::<3, _>(self, &args, &grid),
        }
    }

    fn compute_volume(&mut self) -> Result<ScalarCollection, Error> {
        if let Some(grid) = self.cartesian_grid() {
            return match self.grid().dim() {
                1 => compute_volume_per_axis::<1>(self, &grid),
                2 => compute_volume_per_axis::<2>(self, &grid),
                _ => compute_volume_per_axis::<3>(self, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_geometry();
        compute_volume_general(self, &grid)
    }

    fn compute_max_u_initial(
        &mut self,
        args: ComputeMaxUInitial<'_, SerialRuntime>,
    ) -> Result<f64, Error> {
        compute_max_u_initial_general(self, &args)
    }

    fn compute_max_u0(
        &mut self,
        args: ComputeMaxU0<'_, SerialRuntime>,
    ) -> Result<f64, Error> {
        compute_max_u0_general(self, &args)
    }

    fn compute_inside_and_2_more(
        &mut self,
        args: ComputeInsideAnd2More<'_, SerialRuntime>,
    ) -> Result<(EntityCollection, ScalarCollection, ScalarCollection), Error> {
        if let Some(grid) = self.cartesian_grid() {
            return match self.grid().dim() {
                1 => compute_inside_and_2_more_general::<1, _>(self, &args, &grid),
                2 => compute_inside_and_2_more_general::<2, _>(self, &args, &grid),
                _ => compute_inside_and_2_more_general::<3, _>(self, &args, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_topology().with_geometry();
        match self.grid().dim() {
            1 => compute_inside_and_2_more_general::<1, _>(self, &args, &grid),
            2 => compute_inside_and_2_more_general::<2, _>(self, &args, &grid),
            _ => compute_inside_and_2_more_general::<3, _>(self, &args, &grid),
        }
    }
}

/// [`Kernels::compute_itrans`] on a Cartesian grid.
fn compute_itrans_per_axis<const DIM: usize>(
    rt: &mut SerialRuntime,
    args: &ComputeItrans<'_, SerialRuntime>,
    grid: &CartesianGrid,
) -> Result<ScalarCollection, Error> {
    let interior_faces = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::Interior))?;
    let k = *args.k;
    let domain = &interior_faces;
    let mut itrans = [0.0; 3];
    for axis in 0..DIM {
        itrans[axis] = k
            * (grid.area[axis] / length(grid.displacement::<DIM>(axis, -1.0)));
    }
    Ok(rt.per_axis_collection(domain, itrans))
}

/// [`Kernels::compute_itrans`] on any grid.
fn compute_itrans_general<const DIM: usize, G: Places<DIM>>(
    rt: &mut SerialRuntime,
    args: &ComputeItrans<'_, SerialRuntime>,
    grid: &G,
) -> Result<ScalarCollection, Error> {
    let interior_faces = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::Interior))?;
    let k = *args.k;
    let domain = &interior_faces;
    let mut itrans = rt.take_buffer(domain.len());
    let itrans_values = &mut itrans[..];
    for (position, &here) in domain.elements().iter().enumerate() {
        itrans_values[position] = k
            * (grid.face_area(here)
                / length(
                    vector_sub(
                        grid.cell_centroid(grid.first_cell(here)),
                        grid.cell_centroid(grid.second_cell(here)),
                    ),
                ));
    }
    Ok(rt.scalar_collection_from(domain, itrans))
}

/// [`Kernels::compute_volume`] on a Cartesian grid.
fn compute_volume_per_axis<const DIM: usize>(
    rt: &mut SerialRuntime,
    grid: &CartesianGrid,
) -> Result<ScalarCollection, Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let domain = &all_cells;
    let mut volume = [0.0; 3];
    volume[0] = grid.volume;
    Ok(rt.per_axis_collection(domain, volume))
}

/// [`Kernels::compute_volume`] on any grid.
fn compute_volume_general<G: Entities>(
    rt: &mut SerialRuntime,
    grid: &G,
) -> Result<ScalarCollection, Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let domain = &all_cells;
    let mut volume = rt.take_buffer(domain.len());
    let volume_values = &mut volume[..];
    for position in 0..domain.len() {
        let here = position as u32;
        volume_values[position] = grid.cell_volume(here);
    }
    Ok(rt.scalar_collection_from(domain, volume))
}

/// [`Kernels::compute_max_u_initial`] on any grid.
fn compute_max_u_initial_general(
    rt: &mut SerialRuntime,
    args: &ComputeMaxUInitial<'_, SerialRuntime>,
) -> Result<f64, Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let u_initial = rt.dense(args.u_initial);
    let u_initial = &u_initial[..];
    let domain = &all_cells;
    let mut max_u_initial = rt.take_buffer(domain.len());
    let max_u_initial_values = &mut max_u_initial[..];
    for position in 0..domain.len() {
        max_u_initial_values[position] = u_initial[position];
    }
    Ok(
        rt
            .reduce_in_kernel(
                Reduction::Max,
                domain,
                max_u_initial,
                &COMPUTE_MAX_U_INITIAL,
            )?,
    )
}

/// [`Kernels::compute_max_u0`] on any grid.
fn compute_max_u0_general(
    rt: &mut SerialRuntime,
    args: &ComputeMaxU0<'_, SerialRuntime>,
) -> Result<f64, Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let u0 = rt.dense(args.u0);
    let u0 = &u0[..];
    let domain = &all_cells;
    let mut max_u0 = rt.take_buffer(domain.len());
    let max_u0_values = &mut max_u0[..];
    for position in 0..domain.len() {
        max_u0_values[position] = u0[position];
    }
    Ok(rt.reduce_in_kernel(Reduction::Max, domain, max_u0, &COMPUTE_MAX_U0)?)
}

/// [`Kernels::compute_inside_and_2_more`] on any grid.
fn compute_inside_and_2_more_general<const DIM: usize, G: Places<DIM>>(
    rt: &mut SerialRuntime,
    args: &ComputeInsideAnd2More<'_, SerialRuntime>,
    grid: &G,
) -> Result<(EntityCollection, ScalarCollection, ScalarCollection), Error> {
    let k = *args.k;
    let domain = args.dir_boundary;
    let mut inside = rt.take_entity_buffer(domain.len());
    let inside_values = &mut inside[..];
    let mut direction = rt.take_buffer(domain.len());
    let direction_values = &mut direction[..];
    let mut btrans = rt.take_buffer(domain.len());
    let btrans_values = &mut btrans[..];
    for (position, &here) in domain.elements().iter().enumerate() {
        let inside_2 = if grid.first_cell(here) == NONE {
            grid.second_cell(here)
        } else {
            grid.first_cell(here)
        };
        let direction_2 = if grid.first_cell(here) == NONE { -1.0 } else { 1.0 };
        let btrans_2 = k
            * (grid.face_area(here)
                / length(
                    vector_sub(grid.face_centroid(here), grid.cell_centroid(inside_2)),
                ));
        inside_values[position] = inside_2;
        direction_values[position] = direction_2;
        btrans_values[position] = btrans_2;
    }
    Ok((
        rt.entity_collection_from(domain, EntityKind::Cell, inside),
        rt.scalar_collection_from(domain, direction),
        rt.scalar_collection_from(domain, btrans),
    ))
}
