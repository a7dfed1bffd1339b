//! What operations cost on a GPU.

use equelle_front::cost::CostModel;

/// Those of a processor core: nothing has been measured on a GPU. No terms of faces are stored
/// there, so that `stage` is not read.
pub(super) const COSTS: CostModel =
    CostModel { load: 2, division: 8, dot: 5, elementary: 24, faces: 6, sum: 60, recompute: 3, share: 400, stage: 60 };
