//! Geometry in Cartesian forms: from the cell widths alone.

use equelle_front::ir::Path;
use equelle_front::types::EntityKind;
use equelle_runtime::Error;
use equelle_runtime::grid::Cartesian;

use crate::evaluate::Evaluator;
use crate::value::defect;

/// Volume of a cell: the product of the widths, in the order of the axes. Area of a face: that of
/// the other axes; 1 in one dimension.
pub(crate) fn measure(shape: &Cartesian, kind: EntityKind, entity: usize) -> f64 {
    let left_out = match kind {
        EntityKind::Face => Some(shape.face_ijk(entity).axis),
        EntityKind::Cell | EntityKind::Edge | EntityKind::Vertex => None,
    };
    let widths = (0..shape.dim).filter(|&axis| Some(axis) != left_out).map(|axis| shape.spacing[axis]);
    widths.reduce(|product, width| product * width).unwrap_or(1.0)
}

impl Evaluator<'_> {
    /// `Centroid(to) - Centroid(from)` for entities at whole numbers of half widths along the
    /// current axis.
    pub fn displacement(&mut self, to: &Path, from: &Path) -> Result<[f64; 3], Error> {
        let shape = self.shape.ok_or_else(|| defect("a displacement needs a Cartesian grid"))?;
        let mut vector = [0.0; 3];
        let place = |path: &Path| path.half_widths().ok_or_else(|| defect("the place of this entity relative to the element is not known"));
        let halves = place(to)? - place(from)?;
        let axis = match (self.axis, self.here) {
            (Some(axis), _) => axis,
            (None, Some(here)) if halves != 0 => shape.face_ijk(here as usize).axis,
            // The displacement of an element to itself is zero.
            (None, _) => return Ok(vector),
        };
        vector[axis] = f64::from(halves) * 0.5 * shape.spacing[axis];
        Ok(vector)
    }
}
