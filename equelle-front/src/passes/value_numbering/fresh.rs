//! Names for values that have none.

use std::collections::HashMap;

use super::super::locals::copy_local;
use crate::ir::{Kernel, Local, LocalId};
use crate::lower::UniqueNames;
use crate::types::{Basic, Type};

/// Locals that the pass adds to a kernel: the same name in each body where it can be.
pub(super) struct Fresh {
    names: UniqueNames,
    made: HashMap<(String, Basic), Vec<LocalId>>,
    /// Number of new locals that this body uses.
    used: HashMap<(String, Basic), usize>,
}

impl Fresh {
    pub fn of(kernel: &Kernel) -> Fresh {
        let mut names = UniqueNames::default();
        for name in kernel.params.iter().map(|p| &p.name).chain(kernel.locals.iter().map(|l| &l.name)) {
            names.unique(name);
        }
        Fresh { names, made: HashMap::new(), used: HashMap::new() }
    }

    pub fn begin_body(&mut self) {
        self.used.clear();
    }

    /// A local like another one.
    pub fn copy(&mut self, kernel: &mut Kernel, local: LocalId) -> LocalId {
        copy_local(&mut kernel.locals, &mut self.names, local)
    }

    /// A local for a value, called so if the name is free.
    pub fn local(&mut self, kernel: &mut Kernel, wanted: String, basic: Basic) -> LocalId {
        let key = (wanted, basic);
        let used = self.used.entry(key.clone()).or_default();
        let made = self.made.entry(key.clone()).or_default();
        *used += 1;
        if let Some(&local) = made.get(*used - 1) {
            return local;
        }
        let local = LocalId(kernel.locals.len() as u32);
        kernel.locals.push(Local { name: self.names.unique(&key.0), ty: Type::single(basic) });
        made.push(local);
        local
    }
}
