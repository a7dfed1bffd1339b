//! What operations cost on a processor.

use equelle_front::cost::CostModel;

/// Measured on one core. A term of a face that is stored and read from two cells moves 24 bytes,
/// beside the loop over the faces itself: on unstructured grids, shallow water on 512^2 cells
/// (about 1000 a face in both branches of its choices) takes 0.60 times the time with stored terms;
/// heat conduction (8 a face) takes 1.08 times on 64^3 cells and about the same on 128^3.
pub(super) const COSTS: CostModel =
    CostModel { load: 2, division: 8, dot: 5, elementary: 24, faces: 6, sum: 60, recompute: 3, share: 400, stage: 60 };
