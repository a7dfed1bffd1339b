//! Exchanges of halo values, for runs on several ranks: how far each value is right around the
//! cells of a rank, how far each read goes, and an exchange where it goes further.
//!
//! A rank has its own cells, layer 0 of its grid, and halo layers 1 to L by distance across faces
//! (on Cartesian boxes by the largest difference along an axis). Faces, edges and vertices have
//! the least layer of their cells. [`reads`] has the reach of each operation and kernel,
//! [`outreach`] that of collections of entities, [`validity`] the layers to which values are right
//! and the exchanges that are needed, [`loads`] and [`insert`] their statements, [`flow`] the
//! rounds of loops, [`solves`] what Newton's method reads.

mod flow;
mod insert;
mod layers;
mod loads;
mod outreach;
mod program;
mod reads;
mod solves;
mod validity;

pub use layers::{HaloExchange, HaloLayers, HaloRefusal, MAX_LAYERS, RefusedConstruct};

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{Module, MutableId, ValueId};

/// Inserts the exchanges that a module without calls needs, with as few layers as possible.
///
/// # Errors
/// The construct that cannot run on ranks; the module is as it was.
pub fn run(module: &mut Module) -> Result<HaloLayers, HaloRefusal> {
    let (layers, depths, loaded) = fewest_layers(module)?;
    let (layers, depths) = if loads::join(&mut module.main, &loaded) {
        let (layers, depths, _) = fewest_layers(module)?;
        (layers, depths)
    } else {
        (layers, depths)
    };
    Ok(insert::insert(&mut module.main, layers, &depths))
}

/// The fewest layers, the depths of the exchanges, and the mutables that exchanged values are
/// loaded from.
type Solution = (u32, BTreeMap<ValueId, u32>, BTreeSet<MutableId>);

fn fewest_layers(module: &Module) -> Result<Solution, HaloRefusal> {
    let with_loops = solves::as_loops(module);
    let (n_values, n_mutables) = (module.main.values.len() as u32, module.main.mutables.len() as u32);
    let outreach = outreach::find(&with_loops)?;
    let program = program::Program::new(&with_loops, n_values, &outreach);
    let mut refused = None;
    for layers in 1..=MAX_LAYERS {
        match validity::solve(&program, layers) {
            Ok(depths) => {
                let loaded =
                    depths.keys().filter_map(|&value| program.loaded_from(value)).filter(|mutable| mutable.0 < n_mutables).collect();
                return Ok((layers, depths, loaded));
            }
            Err(short) => refused = Some(short.span),
        }
    }
    Err(HaloRefusal { span: refused.unwrap_or(module.main.span), construct: RefusedConstruct::TooManyLayers })
}
