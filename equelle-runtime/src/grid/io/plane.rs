//! Meshes of surfaces: those in a plane are grids of 2 dimensions.

/// A mesh whose nodes are this close to a plane, relative to its extent, is plane.
const PLANE: f64 = 1e-10;

/// Moves the positions into the plane z = 0, those of nodes outside of all cells as well.
///
/// # Errors
/// The first node of a cell that is not in the plane z = const of the first.
pub(crate) fn flatten(positions: &mut [[f64; 3]], nodes_of_cells: &[u32]) -> Result<(), usize> {
    let used = || nodes_of_cells.iter().filter_map(|&node| Some((node as usize, *positions.get(node as usize)?)));
    let extent = |axis: usize| {
        let ends = used().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (_, p)| (low.min(p[axis]), high.max(p[axis])));
        ends.1 - ends.0
    };
    let allowed = PLANE * extent(0).max(extent(1));
    let level = used().next().map_or(0.0, |(_, position)| position[2]);
    if let Some((node, _)) = used().find(|(_, position)| (position[2] - level).abs() > allowed) {
        return Err(node);
    }
    positions.iter_mut().for_each(|position| position[2] = 0.0);
    Ok(())
}

/// The message about a surface that is not plane; `node` names the node that shows it.
pub(crate) fn surface(node: &str) -> String {
    format!("a surface in space, which is no grid: {node} is outside of the plane z = const of the first")
}

/// The hint on a surface.
pub(crate) const HINT: &str = "a grid is of the plane z = const or of space: turn a plane mesh into it, or mesh the volume";
