//! Values of ranks made wrong in layers of the halo where the program does not need them, so that
//! tests notice whoever reads them: what an earlier round left there may look right.

use equelle_front::ir::ValueId;
use equelle_front::types::SetId;
use equelle_runtime::{DerivativeAccess, Error};

use crate::Poison;
use crate::program::{Frame, Interpreter};
use crate::value::{Value, entity_kind};

/// Numbers that nobody may read. In single precision the payload is the same.
const POISON: f64 = f64::from_bits(0x7ff8_dead_0000_0000);

/// A number that looks random, of some numbers (splitmix64, Steele et al. 2014,
/// doi:10.1145/2660193.2660195).
fn mixed(numbers: [u64; 3]) -> u64 {
    numbers.into_iter().fold(0, |sum: u64, number| {
        let mut z = (sum ^ number).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

impl<'a, R: DerivativeAccess> Interpreter<'a, R> {
    /// Makes values of the main program wrong beyond the layers to which they are right; nothing
    /// unless tests ask for it.
    ///
    /// # Errors
    /// Those of the runtime.
    pub(crate) fn poison(&mut self, frame: &mut Frame<'a, R>, values: &[ValueId]) -> Result<(), Error> {
        let Some(poison) = self.options.poison.filter(|_| std::ptr::eq(frame.function, &self.module.main)) else { return Ok(()) };
        for &value in values {
            let Some(set) = frame.function.values[value.0 as usize].ty.mapping() else { continue };
            let wrong = self.poisoned(frame.value(value)?, set, poison, value)?;
            if let Some(wrong) = wrong {
                self.assign(frame, value, wrong);
            }
        }
        Ok(())
    }

    /// A value that is wrong beyond its layers; `None` for one that is right everywhere.
    fn poisoned(&mut self, value: &Value<R>, set: SetId, poison: Poison<'_>, id: ValueId) -> Result<Option<Value<R>>, Error> {
        let Some(domain) = self.collection_domain(value) else { return Ok(None) };
        let elements = self.rt.domain_elements(&domain)?;
        let kind = entity_kind(self.module.sets.get(set).kind).on_grid_of(self.rt.grid().dim());
        let Some(part) = self.rt.grid().part() else { return Ok(None) };
        let depth = poison.depths.defined(id) as usize;
        let is_beyond = |&element: &u32| part.layer(kind, element).is_some_and(|layer| layer > depth);
        let beyond: Vec<usize> = (0..elements.len()).filter(|&position| is_beyond(&elements[position])).collect();
        if beyond.is_empty() {
            return Ok(None);
        }
        // Truth values are wrong every other time: which, no value tells that is wrong itself.
        let random = |position: usize, time: u64| mixed([poison.seed.wrapping_add(time), u64::from(id.0), position as u64]);
        Ok(Some(match value {
            Value::Scalars(values) => {
                let mut wrong = self.rt.values(values)?;
                beyond.iter().for_each(|&position| wrong[position] = POISON);
                Value::Scalars(self.rt.scalar_collection(&domain, wrong)?)
            }
            Value::Vectors(values) => {
                let mut wrong = self.rt.vectors(values)?;
                wrong.iter_mut().for_each(|component| beyond.iter().for_each(|&position| component[position] = POISON));
                Value::Vectors(self.rt.vector_collection(&domain, wrong)?)
            }
            Value::Bools(values) => {
                let mut wrong = self.rt.bools(values)?;
                beyond.iter().for_each(|&position| wrong[position] = random(position, 0).is_multiple_of(2));
                Value::Bools(self.rt.bool_collection(&domain, wrong)?)
            }
            Value::Entities(values) => {
                // Other entities of the collection: what is known of them all holds for these too.
                let right = self.rt.entity_indices(values)?;
                let mut wrong = right.clone();
                for &position in &beyond {
                    let others = (0..8).map(|time| right[(random(position, time) % right.len() as u64) as usize]);
                    let other = others.into_iter().find(|&other| other != right[position]);
                    wrong[position] = other.unwrap_or(right[position]);
                }
                let (_, kind) = self.rt.domain_of_entities(values);
                Value::Entities(self.rt.entity_collection(&domain, kind, wrong)?)
            }
            other => other.clone(),
        }))
    }
}
