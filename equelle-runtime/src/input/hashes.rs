//! Hashes of the inputs read so far, in the order of the grid's file.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{CollectionInput, Inputs};
use crate::checkpoint::grid_hash::Mix;
use crate::domain::Domain;
use crate::error::Error;
use crate::params::Parameters;
use crate::program::{InputKind, Program};

impl Inputs {
    /// Domains read so far.
    pub(crate) fn domains(&self) -> impl Iterator<Item = &Arc<Domain>> {
        self.domains.iter().map(|(_, _, domain)| domain)
    }

    /// Hashes of the inputs read so far, by name and domain; sequences are not among them, since a
    /// loop may go on longer than it did.
    ///
    /// # Errors
    /// As for [`Inputs::scalar`].
    pub(crate) fn hashes(&self, parameters: &Parameters, program: &Program) -> Result<BTreeMap<(String, String), String>, Error> {
        let mut hashes = BTreeMap::new();
        for info in program.inputs.iter().filter(|info| info.kind == InputKind::Scalar) {
            // The value counts, be it that of a parameter or the default.
            let value = match self.scalars.iter().find(|(name, _)| **name == *info.name) {
                Some((_, value)) => *value,
                None => match self.scalar(parameters, &info.name, info.default.parse().unwrap_or(f64::NAN))? {
                    // A default that the program computes is known once it is read.
                    value if value.is_nan() => continue,
                    value => value,
                },
            };
            let mut hash = Mix::default();
            hash.add(value.to_bits());
            // The default of the first statement counts.
            hashes.entry((info.name.to_string(), String::new())).or_insert_with(|| digits(&hash));
        }
        for (name, domain, values) in &self.collections {
            let mut hash = Mix::default();
            add_numbers(&mut hash, domain, values);
            hashes.insert((name.clone(), domain.name().to_owned()), digits(&hash));
        }
        for (name, domain, components) in &self.vectors {
            let mut hash = Mix::default();
            components.iter().for_each(|values| add_numbers(&mut hash, domain, values));
            hashes.insert((name.clone(), domain.name().to_owned()), digits(&hash));
        }
        for (name, domain, values) in &self.bools {
            let mut hash = Mix::default();
            match values {
                CollectionInput::Uniform(value) => (0..domain.len()).for_each(|_| hash.add(u64::from(*value))),
                CollectionInput::Values(values) => domain.in_file_order(values).iter().for_each(|value| hash.add(u64::from(*value))),
            }
            hashes.insert((name.clone(), domain.name().to_owned()), digits(&hash));
        }
        for ([name, argument, value], table) in &self.tables {
            let mut hash = Mix::default();
            table.numbers().iter().for_each(|number| hash.add(number.to_bits()));
            hashes.insert((name.clone(), format!("{argument}, {value}")), digits(&hash));
        }
        for ([name, first, second, value], table) in &self.tables2 {
            let mut hash = Mix::default();
            table.parts().iter().flat_map(|part| part.numbers()).for_each(|number| hash.add(number.to_bits()));
            hashes.insert((name.clone(), format!("{first}, {second}, {value}")), digits(&hash));
        }
        for (name, within, domain) in &self.domains {
            let mut elements: Vec<u32> =
                domain.elements().iter().map(|&element| domain.grid().file_index(domain.kind(), element)).collect();
            elements.sort_unstable();
            let mut hash = Mix::default();
            elements.into_iter().for_each(|element| hash.add(u64::from(element)));
            hashes.insert((name.clone(), within.name().to_owned()), digits(&hash));
        }
        Ok(hashes)
    }
}

fn add_numbers(hash: &mut Mix, domain: &Domain, values: &CollectionInput) {
    match values {
        CollectionInput::Uniform(value) => (0..domain.len()).for_each(|_| hash.add(value.to_bits())),
        CollectionInput::Values(values) => domain.in_file_order(values).iter().for_each(|value| hash.add(value.to_bits())),
    }
}

fn digits(hash: &Mix) -> String {
    format!("{:016x}", hash.value())
}
