//! Results that take the memory of a parameter: one that a kernel which reads by index reads at the
//! cell itself alone, and whose argument nothing reads afterwards. A step of three stages then
//! lives in two arrays a field.

use crate::ir::liveness::{ends_at, read_here};
use crate::ir::{Block, KernelId, Module, ParamId, StmtKind};

/// Finds them in a module.
pub(super) fn run(module: &mut Module) {
    let mut launched = vec![0; module.kernels.len()];
    for function in module.functions.iter().chain([&module.main]) {
        count(&function.body, &mut launched);
    }
    let mut found = Vec::new();
    for function in module.functions.iter().chain([&module.main]) {
        block(module, &function.body, &launched, &mut found);
    }
    for (kernel, result, param) in found {
        module.kernels[kernel.0 as usize].results[result].in_place = Some(param);
    }
}

fn count(block: &Block, launched: &mut [u32]) {
    for statement in &block.statements {
        match &statement.kind {
            StmtKind::Launch { kernel, .. } => launched[kernel.0 as usize] += 1,
            StmtKind::For { body, .. } => count(body, launched),
            StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Return(_) => {}
        }
    }
}

fn block(module: &Module, block: &Block, launched: &[u32], found: &mut Vec<(KernelId, usize, ParamId)>) {
    for (index, statement) in block.statements.iter().enumerate() {
        match &statement.kind {
            StmtKind::Launch { kernel: id, args, .. } if launched[id.0 as usize] == 1 => {
                let kernel = &module.kernels[id.0 as usize];
                let ends = |param: &ParamId| ends_at(block, index, args[param.0 as usize]);
                let free: Vec<ParamId> = read_here(kernel, &module.sets).into_iter().filter(ends).collect();
                // The lifetime of the arguments of a kernel is that of one that it borrows.
                let one_less = usize::from(free.len() == kernel.params.len());
                found.extend((0..kernel.results.len()).zip(free.into_iter().skip(one_less)).map(|(result, param)| (*id, result, param)));
            }
            StmtKind::For { body, .. } => self::block(module, body, launched, found),
            StmtKind::Launch { .. } | StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Return(_) => {}
        }
    }
}
