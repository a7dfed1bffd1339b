//! Loop-invariant arguments of kernels, of which a back-end may keep a copy in another order.

use std::collections::BTreeSet;

use crate::ir::{Block, KernelId, Module, Op, ParamId, StmtKind, ValueId};

/// By kernel, the parameters whose argument is assigned outside the innermost loop around, at each
/// launch and in each equation of a solve. Empty for kernels that no loop launches.
pub fn loop_invariant_params(module: &Module) -> Vec<BTreeSet<ParamId>> {
    let mut invariant = Invariant { module, found: vec![None; module.kernels.len()] };
    invariant.block(&module.main.body, &mut Vec::new());
    for function in &module.functions {
        // Its parameters are taken for new at every call.
        let assigned: Vec<ValueId> = function.params.clone();
        invariant.block(&function.body, &mut vec![BTreeSet::from_iter(assigned)]);
    }
    invariant.found.into_iter().map(Option::unwrap_or_default).collect()
}

struct Invariant<'a> {
    module: &'a Module,
    /// By kernel, what is the same at every launch so far; `None` before the first.
    found: Vec<Option<BTreeSet<ParamId>>>,
}

impl Invariant<'_> {
    /// `loops` has what the body of each loop around has assigned so far, the innermost last.
    fn block(&mut self, block: &Block, loops: &mut Vec<BTreeSet<ValueId>>) {
        for statement in &block.statements {
            match &statement.kind {
                StmtKind::For { rounds, body } => {
                    loops.push(BTreeSet::from_iter(rounds.element()));
                    self.block(body, loops);
                    loops.pop();
                }
                StmtKind::Launch { kernel, args, .. } => self.launch(*kernel, 0, args, loops),
                StmtKind::Let { op: Op::Newton { equations, .. }, .. } => {
                    for equation in equations {
                        let unknowns = self.module.kernels[equation.kernel.0 as usize].params.len().saturating_sub(equation.args.len());
                        self.launch(equation.kernel, unknowns, &equation.args, loops);
                    }
                }
                StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Return(_) => {}
            }
            if let Some(innermost) = loops.last_mut() {
                innermost.extend(statement.defines());
            }
        }
    }

    /// A launch whose arguments are those of the parameters from number `first` on.
    fn launch(&mut self, kernel: KernelId, first: usize, args: &[ValueId], loops: &[BTreeSet<ValueId>]) {
        let is_invariant = |value: &ValueId| loops.last().is_some_and(|assigned| !assigned.contains(value));
        let params = args.iter().enumerate().filter(|(_, value)| is_invariant(value));
        let params: BTreeSet<ParamId> = params.map(|(at, _)| ParamId((first + at) as u32)).collect();
        let found = &mut self.found[kernel.0 as usize];
        *found = Some(match found.take() {
            Some(before) => before.intersection(&params).copied().collect(),
            None => params,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::text::parse;

    const KERNEL: &str = "kernel scale over AllCells() {
  param u: Scalar On AllCells()
  param factor: Scalar On AllCells()
  result scaled: Scalar On AllCells()
  body {
    yield (u[here] * factor[here])
  }
}
";

    fn invariant(main: &str) -> Vec<u32> {
        let head = "  %0: Text = \"u\"\n  %1: Domain AllCells() = AllCells()\n  %u: Scalar On AllCells() = InputCollection(%0, %1)\n  %2: Text = \"times\"\n  %times: Sequence = InputSequence(%2)\n";
        let module = parse(&format!("module invariant\n{KERNEL}main {{\n  mutable @m: Scalar On AllCells()\n{head}{main}}}\n")).unwrap();
        loop_invariant_params(&module)[0].iter().map(|param| param.0).collect()
    }

    #[test]
    fn a_launch_outside_loops_keeps_nothing() {
        assert_eq!(invariant("  %v: Scalar On AllCells() = launch scale(%u, %u)\n"), [0u32; 0]);
    }

    /// A value that the body assigns, or that a mutable holds, differs from round to round.
    #[test]
    fn what_is_assigned_before_a_loop_is_invariant_in_it() {
        let body = "  @m := %u\n  for %dt: Scalar in %times {\n    %now: Scalar On AllCells() = @m\n    %next: Scalar On AllCells() = launch scale(%now, %u)\n    @m := %next\n  }\n";
        assert_eq!(invariant(body), [1]);
    }

    #[test]
    fn the_innermost_loop_counts_and_every_launch() {
        let inner = |launch: &str| {
            format!(
                "  for %dt: Scalar in %times {{\n    %v: Scalar On AllCells() = launch scale(%u, %u)\n    for %ds: Scalar in %times {{\n      %w: Scalar On AllCells() = {launch}\n    }}\n  }}\n"
            )
        };
        assert_eq!(invariant(&inner("launch scale(%v, %u)")), [0, 1]);
        let second = inner("launch scale(%u, %v)")
            .replace("launch scale(%u, %u)", "launch scale(%u, %u)\n    %x: Scalar On AllCells() = launch scale(%v, %u)");
        assert_eq!(invariant(&second), [1]);
    }
}
