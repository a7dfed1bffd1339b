//! The order of the operations of a large body, so that few values are kept at a time.
//!
//! A body that reads hundreds of values in the order in which a program names them keeps most of
//! them until late. Here each operation is a statement of its own, made once, and a greedy search
//! takes next what leaves the fewest values behind. Operations and operands stay what they are, so
//! that no bit changes. Lazy choices stay whole: nothing is evaluated that was not.

use std::collections::{BTreeMap, HashMap};

use super::visit::{Node, visit_expr, visit_stmt};
use crate::ir::{KBlock, KExpr, KStmt, Kernel, Local, LocalId, Path};
use crate::passes::{NodeMut, assigned, rewrite_expr, rewrite_statement};
use crate::types::Type;

/// Operations that a step of the search may take with it: what an operation needs and is not there.
const LOOK_AHEAD: usize = 24;

/// The block in another order, its operations one a statement. Locals are added to the kernel.
pub fn order_by_live_values(kernel: &mut Kernel, block: KBlock) -> KBlock {
    if block.statements.iter().any(|statement| matches!(statement, KStmt::Add { .. })) {
        return block;
    }
    let mut flat = Flat { kernel, steps: Vec::new(), made_by: BTreeMap::new(), known: HashMap::new(), same: BTreeMap::new() };
    for statement in block.statements {
        flat.statement(statement);
    }
    let yields: Vec<KExpr> = block.yields.into_iter().map(|value| flat.operand(value)).collect();
    for value in &yields {
        flat.kept(value);
    }
    let statements = Search::new(&flat.steps).order();
    let mut steps: Vec<Option<KStmt>> = flat.steps.into_iter().map(|step| step.statement).collect();
    KBlock { statements: statements.into_iter().filter_map(|step| steps[step].take()).collect(), yields }
}

/// A statement, or the end of a value.
struct Step {
    /// None where a value is stored.
    statement: Option<KStmt>,
    /// Steps whose values it reads.
    needs: Vec<usize>,
    /// Number of values that it makes.
    makes: i32,
    /// True if it is the same for every element.
    invariant: bool,
    /// True if it reads memory and does nothing else: it is made where it is first read.
    load: bool,
}

/// A body with one operation a statement.
struct Flat<'a> {
    kernel: &'a mut Kernel,
    steps: Vec<Step>,
    /// The step that makes a local.
    made_by: BTreeMap<LocalId, usize>,
    /// Locals of operations that are there already.
    known: HashMap<String, LocalId>,
    /// Replacements of locals that are no longer made.
    same: BTreeMap<LocalId, KExpr>,
}

impl Flat<'_> {
    fn statement(&mut self, mut statement: KStmt) {
        let same = &self.same;
        rewrite_statement(&mut statement, &mut |node| replace(node, same));
        if let KStmt::Let { local, value } = statement {
            let made = self.made(value, Some(local));
            if made != KExpr::Local(local) {
                self.same.insert(local, made);
            }
            return;
        }
        let results = assigned(&statement);
        self.push(statement, &results);
    }

    /// An expression as an operand of others: a number, a parameter or a local.
    fn operand(&mut self, mut value: KExpr) -> KExpr {
        let same = &self.same;
        rewrite_expr(&mut value, &mut |node| replace(node, same));
        self.made(value, None)
    }

    /// The same of an expression without locals that are no longer made; `local` is for its value.
    fn made(&mut self, mut value: KExpr, local: Option<LocalId>) -> KExpr {
        match &value {
            KExpr::Real(_) | KExpr::Bool(_) | KExpr::Param(_) | KExpr::Local(_) | KExpr::ZeroVector | KExpr::Entity(_) => return value,
            // The second operand may not be evaluated.
            KExpr::Select { .. } | KExpr::Logic(..) => {}
            _ => {
                for operand in value.operands_mut() {
                    let taken = std::mem::replace(operand, KExpr::Bool(false));
                    *operand = self.made(taken, None);
                }
            }
        }
        let key = format!("{value:?}");
        if let Some(&known) = self.known.get(&key) {
            return KExpr::Local(known);
        }
        let local = local.unwrap_or_else(|| self.fresh(&value));
        self.known.insert(key, local);
        self.push(KStmt::Let { local, value }, &[local]);
        KExpr::Local(local)
    }

    fn fresh(&mut self, value: &KExpr) -> LocalId {
        let local = LocalId(self.kernel.locals.len() as u32);
        let basic = self.kernel.expr_basic(value);
        self.kernel.locals.push(Local { name: format!("t_{}", local.0), ty: Type::single(basic) });
        local
    }

    fn push(&mut self, statement: KStmt, results: &[LocalId]) {
        let (mut needs, mut invariant) = (Vec::new(), true);
        visit_stmt(&statement, &mut |node| match node {
            Node::Expr(KExpr::Local(id)) | Node::Path(Path::Local(id)) => {
                if let Some(&step) = self.made_by.get(id) {
                    invariant &= self.steps[step].invariant;
                    if !needs.contains(&step) {
                        needs.push(step);
                    }
                }
            }
            Node::Path(_) | Node::Stmt(_) => invariant &= matches!(node, Node::Stmt(KStmt::Let { .. })),
            Node::Expr(_) => {}
        });
        let load = matches!(&statement, KStmt::Let { value: KExpr::Load { .. }, .. });
        for &result in results {
            self.made_by.insert(result, self.steps.len());
        }
        self.steps.push(Step { statement: Some(statement), needs, makes: results.len() as i32, invariant, load });
    }

    /// A value that the body yields.
    fn kept(&mut self, value: &KExpr) {
        let mut needs = Vec::new();
        visit_expr(value, &mut |node| {
            if let Node::Expr(KExpr::Local(id)) | Node::Path(Path::Local(id)) = node {
                needs.extend(self.made_by.get(id));
            }
        });
        // Where results are written over what is read, they wait for the last one.
        let makes = i32::from(self.kernel.writes_what_it_reads());
        self.steps.push(Step { statement: None, needs, makes, invariant: false, load: false });
    }
}

/// Puts what stands for a local in its place.
fn replace(node: NodeMut<'_>, same: &BTreeMap<LocalId, KExpr>) {
    if let NodeMut::Expr(expr) = node
        && let KExpr::Local(id) = expr
        && let Some(other) = same.get(id)
    {
        *expr = other.clone();
    }
}

/// Effect of taking a step now, together with the missing steps that it needs.
#[derive(Clone, Copy)]
struct Score {
    /// Values more than before.
    live: i32,
    /// Values more than before, at most on the way.
    most: i32,
    /// Steps.
    steps: usize,
}

impl Score {
    /// True if it leaves fewer values behind for each step; else whether fewer are there on the
    /// way.
    fn is_better(self, other: Score) -> bool {
        let (a, b) = (i64::from(self.live) * other.steps as i64, i64::from(other.live) * self.steps as i64);
        (a, self.most) < (b, other.most)
    }
}

/// The search for an order.
struct Search<'a> {
    steps: &'a [Step],
    /// Number of remaining steps that read a value.
    readers: Vec<u32>,
    taken: Vec<bool>,
    order: Vec<usize>,
    /// Scores of the steps to choose from, where they are known.
    scores: Vec<Option<Score>>,
    /// Steps whose scores depend on a step.
    watchers: Vec<Vec<usize>>,
}

impl<'a> Search<'a> {
    fn new(steps: &'a [Step]) -> Self {
        let mut readers = vec![0; steps.len()];
        for step in steps {
            step.needs.iter().for_each(|&need| readers[need] += 1);
        }
        let count = steps.len();
        let (scores, watchers) = (vec![None; count], vec![Vec::new(); count]);
        Search { steps, readers, taken: vec![false; count], order: Vec::with_capacity(count), scores, watchers }
    }

    fn order(mut self) -> Vec<usize> {
        for step in 0..self.steps.len() {
            if self.steps[step].invariant {
                self.take(step);
            }
        }
        let mut open: Vec<usize> = (0..self.steps.len()).filter(|&step| !self.taken[step] && !self.steps[step].load).collect();
        while !open.is_empty() {
            let mut best: Option<(Score, usize)> = None;
            for &step in &open {
                let score = self.score(step);
                if score.steps <= LOOK_AHEAD && best.is_none_or(|(best, _)| score.is_better(best)) {
                    best = Some((score, step));
                }
            }
            // The steps that the first one needs are before it.
            let next = best.map_or(open[0], |(_, step)| step);
            for step in self.missing(next, usize::MAX) {
                self.take(step);
            }
            open.retain(|&step| !self.taken[step]);
        }
        self.order
    }

    fn take(&mut self, step: usize) {
        self.taken[step] = true;
        self.order.push(step);
        let steps = self.steps;
        for &need in &steps[step].needs {
            self.readers[need] -= 1;
        }
        for changed in steps[step].needs.iter().copied().chain([step]) {
            for watcher in std::mem::take(&mut self.watchers[changed]) {
                self.scores[watcher] = None;
            }
        }
    }

    /// Returns the missing steps that a step needs, and the step: each after those it needs. If
    /// they are more than `most`, returns `most + 1` of them.
    fn missing(&self, step: usize, most: usize) -> Vec<usize> {
        fn add(search: &Search<'_>, step: usize, most: usize, missing: &mut Vec<usize>) {
            if missing.len() > most || search.taken[step] || missing.contains(&step) {
                return;
            }
            for &need in &search.steps[step].needs {
                add(search, need, most, missing);
            }
            if missing.len() <= most {
                missing.push(step);
            }
        }
        let mut missing = Vec::new();
        add(self, step, most, &mut missing);
        missing
    }

    fn score(&mut self, step: usize) -> Score {
        if let Some(score) = self.scores[step] {
            return score;
        }
        let missing = self.missing(step, LOOK_AHEAD);
        let (mut live, mut most) = (0, 0);
        let mut readers: BTreeMap<usize, u32> = BTreeMap::new();
        for &next in &missing {
            live += self.steps[next].makes;
            most = most.max(live);
            for &need in &self.steps[next].needs {
                let left = readers.entry(need).or_insert(self.readers[need]);
                *left -= 1;
                if *left == 0 && !self.steps[need].invariant {
                    live -= self.steps[need].makes;
                }
            }
        }
        for watched in missing.iter().copied().chain(readers.into_keys()) {
            if !self.watchers[watched].contains(&step) {
                self.watchers[watched].push(step);
            }
        }
        let score = Score { live, most, steps: missing.len() };
        self.scores[step] = Some(score);
        score
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::text::{parse, print};

    fn ordered(body: &str) -> (KBlock, String) {
        let text = format!(
            "module m\n\nkernel k over AllCells() {{\n  param u: Scalar On AllCells()\n  param w: Scalar\n  result r: Scalar On AllCells()\n{body}}}\n\nmain {{\n}}\n"
        );
        let mut module = parse(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        let block = std::mem::take(&mut module.kernels[0].body);
        let block = order_by_live_values(&mut module.kernels[0], block);
        module.kernels[0].body = block.clone();
        (block, print(&module))
    }

    /// The largest number of values that are read later.
    fn most_values(block: &KBlock) -> usize {
        let reads = |node: Node<'_>, last: &mut BTreeMap<LocalId, usize>, at: usize| {
            if let Node::Expr(KExpr::Local(id)) = node {
                last.insert(*id, at);
            }
        };
        let mut last = BTreeMap::new();
        for (at, statement) in block.statements.iter().enumerate() {
            visit_stmt(statement, &mut |node| reads(node, &mut last, at));
        }
        block.yields.iter().for_each(|value| visit_expr(value, &mut |node| reads(node, &mut last, block.statements.len())));
        let made: BTreeMap<LocalId, usize> =
            block.statements.iter().enumerate().flat_map(|(at, s)| assigned(s).into_iter().map(move |id| (id, at))).collect();
        let alive = |at: usize| made.iter().filter(|(id, made)| **made <= at && last.get(id).is_some_and(|last| *last > at)).count();
        (0..block.statements.len()).map(alive).max().unwrap_or(0)
    }

    /// Eight values that are named first, and two sums that read them: with two values at a time,
    /// and the half of a sum.
    #[test]
    fn values_are_read_where_they_are_needed() {
        let at = |by: i32| format!("u[offset(here, {by}, 0, 0, wrap, wrap, wrap, wrap, wrap, wrap)]");
        let named: String = (1..=8).map(|by| format!("    v{by}: Scalar = {}\n", at(by))).collect();
        let body = format!(
            "  body {{\n{named}    a: Scalar = (((v1 - v2) * w) + ((v3 - v4) * w))\n    b: Scalar = (((v5 - v6) * w) + ((v7 - v8) * w))\n    yield (a + b)\n  }}\n"
        );
        let (block, text) = ordered(&body);
        assert!(most_values(&block) <= 4, "{text}");
        assert_eq!((text.matches("u[").count(), text.matches(" * w").count(), text.matches(" - ").count()), (8, 4, 4), "{text}");
    }

    /// Operations that are the same for every element come first, equal operations are made once,
    /// and lazy choices stay whole.
    #[test]
    fn choices_stay_whole() {
        let (_, text) = ordered(
            "  body {\n    x: Scalar = (u[here] * (2.0 * w))\n    y: Scalar = (u[here] * (2.0 * w))\n    \
             z: Scalar = ((x > 0.0) ? (y / x) : y)\n    yield (z + y)\n  }\n",
        );
        assert_eq!((text.matches("2.0 * w").count(), text.matches("u[here]").count()), (1, 1), "{text}");
        assert!(text.contains("((x > 0.0) ? (x / x) : x)"), "{text}");
        assert!(text.find("2.0 * w") < text.find("u[here]"), "{text}");
    }
}
