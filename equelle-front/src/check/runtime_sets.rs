//! Sets that are made at run time, and their names.

use std::collections::{BTreeSet, HashMap};

use crate::types::{SetId, SetTable, Type};

/// Run-time sets of a program.
#[derive(Default)]
pub(super) struct RuntimeSets {
    pub count: u32,
    /// True if a domain is made by a condition.
    pub has_conditions: bool,
    /// Those not yet assigned to a variable.
    unnamed: BTreeSet<SetId>,
    /// Names given to them, with the number to try for the next one of that name.
    names: HashMap<String, u32>,
}

impl RuntimeSets {
    /// A domain that is like no other one.
    pub fn add(&mut self, sets: &mut SetTable, parent: SetId) -> Type {
        let set = sets.add(parent, None);
        self.count += 1;
        self.unnamed.insert(set);
        Type::domain(sets.get(set).kind, set)
    }

    /// Gives a new set the name of the variable it is first assigned to.
    pub fn name(&mut self, sets: &mut SetTable, set: SetId, name: &str) {
        if !self.unnamed.remove(&set) {
            return;
        }
        let mut unique = name.to_owned();
        while let Some(number) = self.names.get_mut(&unique) {
            // A user's name may look like a numbered one, so the numbered name is looked up in
            // turn.
            *number += 1;
            unique = format!("{name}_{}", *number);
            if !self.names.contains_key(&unique) {
                break;
            }
            unique = name.to_owned();
        }
        self.names.insert(unique.clone(), 1);
        sets.rename(set, &unique);
    }
}
