//! Names that differ from each other.

use std::collections::BTreeMap;

/// Names made unique by a number.
#[derive(Clone, Debug, Default)]
pub(crate) struct UniqueNames {
    used: BTreeMap<String, u32>,
}

impl UniqueNames {
    /// `name`, or `name_2`, `name_3`, ... if it was given out before.
    pub(crate) fn unique(&mut self, name: &str) -> String {
        let mut candidate = name.to_owned();
        while self.used.contains_key(&candidate) {
            let count = self.used.entry(name.to_owned()).or_insert(1);
            *count += 1;
            candidate = format!("{name}_{count}");
        }
        self.used.insert(candidate.clone(), 1);
        candidate
    }
}
