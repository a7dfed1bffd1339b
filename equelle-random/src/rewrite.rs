//! The same program in other words: subexpressions get names, names give way to what they stand
//! for, operands are exchanged, operations wrapped in functions and arrays, and what does not
//! change in a loop is computed before it. No operation changes, so that no bit does.

use std::collections::BTreeSet;

use fastrand::Rng;

use crate::tree::{Basic, Node, Part, Program, Statement, parts, text};

/// A way to say the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewriting {
    /// A subexpression has a name of its own.
    Name,
    /// A name is replaced by its expression.
    Inline,
    /// Operands of `+`, `*`, `And` and `Or` are exchanged.
    Swap,
    /// An operation is the body of a function.
    Function,
    /// Operands are elements of an array.
    Array,
    /// An expression that does not change in a loop is computed before it.
    Hoist,
}

impl Rewriting {
    /// All of them.
    pub const ALL: [Rewriting; 6] =
        [Rewriting::Name, Rewriting::Inline, Rewriting::Swap, Rewriting::Function, Rewriting::Array, Rewriting::Hoist];
}

/// Number of times that a program is rewritten.
const TIMES: usize = 6;

/// A program of the same meaning, and what was done to it. The same program gives the same one.
pub fn rewritten(program: &Program) -> (Program, Vec<Rewriting>) {
    let mut rewriter =
        Rewriter { random: Rng::with_seed(program.seed ^ 0x0072_6577_7269_7465), statements: program.statements.clone(), names: 0 };
    let mut done = Vec::new();
    for _ in 0..TIMES {
        let first = rewriter.random.usize(..Rewriting::ALL.len());
        // The next one that there is a place for. What would fail is not moved out of a loop.
        let kinds = Rewriting::ALL.into_iter().cycle().skip(first).take(Rewriting::ALL.len());
        for kind in kinds.filter(|kind| *kind != Rewriting::Hoist || !program.may_fail) {
            if rewriter.apply(kind) {
                done.push(kind);
                break;
            }
        }
    }
    (Program { statements: rewriter.statements, ..program.clone() }, done)
}

/// Position of an expression: the way to its line through blocks, and through expressions to it.
#[derive(Clone, Debug)]
struct Site {
    line: Vec<usize>,
    node: Vec<usize>,
}

struct Rewriter {
    random: Rng,
    statements: Vec<Statement>,
    names: usize,
}

impl Rewriter {
    /// Does it somewhere, if there is a place for it.
    fn apply(&mut self, kind: Rewriting) -> bool {
        match kind {
            Rewriting::Name => self.name(),
            Rewriting::Inline => self.inline(),
            Rewriting::Swap => self.swap(),
            Rewriting::Function => self.function(),
            Rewriting::Array => self.array(),
            Rewriting::Hoist => self.hoist(),
        }
    }

    fn fresh(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    fn pick<T>(&mut self, mut from: Vec<T>) -> Option<T> {
        (!from.is_empty()).then(|| from.swap_remove(self.random.usize(..from.len())))
    }

    /// Expressions that a condition selects, in lines where their order matters to nobody.
    fn sites(&self, wanted: impl Fn(&Node) -> bool) -> Vec<Site> {
        let effects = with_effects(&self.statements);
        let mut found = Vec::new();
        for line in lines(&self.statements) {
            let Some(Statement::Line(line_parts)) = at(&self.statements, &line) else { continue };
            let calm = words(&text(line_parts)).is_disjoint(&effects);
            for node in nodes(line_parts).into_iter().filter(|_| calm) {
                if node_at(line_parts, &node).is_some_and(&wanted) {
                    found.push(Site { line: line.clone(), node });
                }
            }
        }
        found
    }

    fn node(&self, site: &Site) -> Option<&Node> {
        match at(&self.statements, &site.line)? {
            Statement::Line(line) => node_at(line, &site.node),
            Statement::Block { .. } => None,
        }
    }

    fn node_mut(&mut self, site: &Site) -> Option<&mut Node> {
        match at_mut(&mut self.statements, &site.line)? {
            Statement::Line(line) => node_at_mut(line, &site.node),
            Statement::Block { .. } => None,
        }
    }

    /// Puts a statement before another one.
    fn insert(&mut self, before: &[usize], statement: Statement) {
        if let Some((last, outer)) = before.split_last()
            && let Some(list) = list_at(&mut self.statements, outer)
        {
            list.insert(*last, statement);
        }
    }

    /// Has what was at a site stand before a statement under a name.
    fn bind(&mut self, site: &Site, before: &[usize], stem: &str) -> bool {
        let name = self.fresh(stem);
        let Some(node) = self.node_mut(site) else { return false };
        let whole = std::mem::replace(&mut node.parts, parts![name.clone()]);
        self.insert(before, Statement::Line([parts![name, " = "], whole].concat()));
        true
    }

    fn name(&mut self) -> bool {
        let sites = self.sites(is_value);
        let Some(site) = self.pick(sites) else { return false };
        self.bind(&site, &site.line, "part")
    }

    fn swap(&mut self) -> bool {
        let sites = self.sites(|node| matches!(binary(node), Some((" + " | " * " | " And " | " Or ", _, _))));
        let Some(site) = self.pick(sites) else { return false };
        self.node_mut(&site).is_some_and(|node| {
            node.parts.swap(1, 3);
            true
        })
    }

    /// `whole(a, b) = { -> a + b }`, at the head of the program, and its call.
    fn function(&mut self) -> bool {
        let sites = self.sites(|node| is_value(node) && binary(node).is_some_and(|(_, a, b)| is_value(a) && is_value(b)));
        let Some(site) = self.pick(sites) else { return false };
        let name = self.fresh("whole");
        let Some(node) = self.node_mut(&site) else { return false };
        let Some((operator, a, b)) = binary(node) else { return false };
        let body = Statement::Line(parts![format!("-> (left{operator}right)")]);
        let (a, b) = (a.clone(), b.clone());
        node.parts = parts![format!("{name}("), a, ", ", b, ")"];
        self.statements.insert(0, Statement::Block { head: parts![format!("{name}(left, right) =")], body: vec![body] });
        true
    }

    /// Both operands as elements of an array, before the line.
    fn array(&mut self) -> bool {
        // The elements of an array are all single or all collections.
        let alike = |a: &Node, b: &Node| [a, b].iter().all(|n| is_value(n) && n.info.basic == Basic::Scalar) && a.info.on == b.info.on;
        let sites = self.sites(|node| binary(node).is_some_and(|(_, a, b)| alike(a, b)));
        let Some(site) = self.pick(sites) else { return false };
        let name = self.fresh("pair");
        let Some(node) = self.node_mut(&site) else { return false };
        let element = |node: &mut Part, index: usize| match node {
            Part::Node(node) => std::mem::replace(&mut node.parts, parts![format!("{name}[{index}]")]),
            Part::Text(_) => Vec::new(),
        };
        let (a, b) = (element(&mut node.parts[1], 0), element(&mut node.parts[3], 1));
        let line = [parts![name.clone(), " = ["], a, parts![", "], b, parts!["]"]].concat();
        self.insert(&site.line, Statement::Line(line));
        true
    }

    /// `x = a + b`, and `x` where it is read later.
    fn inline(&mut self) -> bool {
        let changing = mutables(&self.statements);
        let effects = with_effects(&self.statements);
        let mut definitions = Vec::new();
        for line in lines(&self.statements) {
            let Some(Statement::Line(found)) = at(&self.statements, &line) else { continue };
            let [Part::Text(name), Part::Text(equals), Part::Node(node)] = &found[..] else { continue };
            let whole = text(&node.parts);
            let read = words(&whole);
            // Later lines of the same list, and those inside them, read what this one does.
            let list = &line[..line.len() - 1];
            let declared = |s: &Statement| matches!(s, Statement::Line(parts) if text(parts).starts_with(&format!("{name} :")));
            let typed = list_of(&self.statements, list).is_some_and(|list| list.iter().any(declared));
            let fixed = equals == " = " && !typed && !changing.contains(name);
            let plain = fixed && is_value(node) && !whole.contains("Input") && !whole.contains("NewtonSolve");
            if plain && read.is_disjoint(&changing) && read.is_disjoint(&effects) {
                definitions.push((line, name.clone(), node.clone()));
            }
        }
        let mut uses = Vec::new();
        for site in self.sites(|node| matches!(&node.parts[..], [Part::Text(_)])) {
            let Some(name) = self.node(&site).map(|node| text(&node.parts)) else { continue };
            for (line, _, value) in definitions.iter().filter(|(_, defined, _)| *defined == name) {
                let depth = line.len() - 1;
                if site.line.len() > depth && site.line[..depth] == line[..depth] && site.line[depth] > line[depth] {
                    uses.push((site.clone(), value.clone()));
                }
            }
        }
        let Some((site, value)) = self.pick(uses) else { return false };
        self.node_mut(&site).is_some_and(|node| {
            node.parts = [parts!["("], value.parts, parts![")"]].concat();
            true
        })
    }

    fn hoist(&mut self) -> bool {
        let changing = mutables(&self.statements);
        let mut found = Vec::new();
        for site in self.sites(is_value) {
            let Some(read) = self.node(&site).map(|node| words(&text(&node.parts))) else { continue };
            // Loops need not run, and extremes of empty sets are errors.
            if ["MaxReduce", "MinReduce"].iter().any(|extreme| read.contains(*extreme)) {
                continue;
            }
            let (Some((_, outer)), true) = (site.line.split_last(), read.is_disjoint(&changing)) else { continue };
            let Some(Statement::Block { head, body }) = at(&self.statements, outer) else { continue };
            let head = text(head);
            if is_loop(&head) && read.is_disjoint(&made(body)) && read.is_disjoint(&words(&head)) {
                found.push(site);
            }
        }
        let Some(site) = self.pick(found) else { return false };
        let before = site.line[..site.line.len() - 1].to_vec();
        self.bind(&site, &before, "before")
    }
}

/// True if a line opens a loop.
fn is_loop(head: &str) -> bool {
    ["For ", "While ", "Repeat Until "].into_iter().any(|word| head.starts_with(word))
}

/// A number, Vector or truth value that is more than a name or a literal.
fn is_value(node: &Node) -> bool {
    let value = !node.info.domain && !matches!(node.info.basic, Basic::Entity(_));
    value && node.parts.iter().any(|part| matches!(part, Part::Node(_)))
}

/// An operation in parentheses and its operands.
fn binary(node: &Node) -> Option<(&str, &Node, &Node)> {
    match &node.parts[..] {
        [Part::Text(open), Part::Node(a), Part::Text(operator), Part::Node(b), Part::Text(close)] if open == "(" && close == ")" => {
            let known = [" + ", " - ", " * ", " / ", " And ", " Or "].into_iter().find(|known| known == operator)?;
            Some((known, a, b))
        }
        _ => None,
    }
}

/// The ways to all lines.
fn lines(statements: &[Statement]) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    for (i, statement) in statements.iter().enumerate() {
        match statement {
            Statement::Line(_) => found.push(vec![i]),
            Statement::Block { body, .. } => found.extend(lines(body).into_iter().map(|inner| [vec![i], inner].concat())),
        }
    }
    found
}

fn list_of<'a>(statements: &'a [Statement], way: &[usize]) -> Option<&'a [Statement]> {
    match way.split_first() {
        None => Some(statements),
        Some((first, rest)) => match statements.get(*first)? {
            Statement::Block { body, .. } => list_of(body, rest),
            Statement::Line(_) => None,
        },
    }
}

fn list_at<'a>(statements: &'a mut Vec<Statement>, way: &[usize]) -> Option<&'a mut Vec<Statement>> {
    match way.split_first() {
        None => Some(statements),
        Some((first, rest)) => match statements.get_mut(*first)? {
            Statement::Block { body, .. } => list_at(body, rest),
            Statement::Line(_) => None,
        },
    }
}

fn at<'a>(statements: &'a [Statement], way: &[usize]) -> Option<&'a Statement> {
    let (last, outer) = way.split_last()?;
    list_of(statements, outer)?.get(*last)
}

fn at_mut<'a>(statements: &'a mut Vec<Statement>, way: &[usize]) -> Option<&'a mut Statement> {
    let (last, outer) = way.split_last()?;
    list_at(statements, outer)?.get_mut(*last)
}

/// The ways to all expressions in parts.
fn nodes(parts: &[Part]) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    for (i, part) in parts.iter().enumerate() {
        if let Part::Node(node) = part {
            found.push(vec![i]);
            found.extend(nodes(&node.parts).into_iter().map(|inner| [vec![i], inner].concat()));
        }
    }
    found
}

fn node_at<'a>(parts: &'a [Part], way: &[usize]) -> Option<&'a Node> {
    let (first, rest) = way.split_first()?;
    let Part::Node(node) = parts.get(*first)? else { return None };
    if rest.is_empty() { Some(node) } else { node_at(&node.parts, rest) }
}

fn node_at_mut<'a>(parts: &'a mut [Part], way: &[usize]) -> Option<&'a mut Node> {
    let (first, rest) = way.split_first()?;
    let Part::Node(node) = parts.get_mut(*first)? else { return None };
    if rest.is_empty() { Some(node) } else { node_at_mut(&mut node.parts, rest) }
}

fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Names that a block makes, those of the blocks in it included.
fn made(statements: &[Statement]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for statement in statements {
        let head = match statement {
            Statement::Line(head) => {
                // Indices are there already: `m(i, j) = ...`
                let head = text(head);
                found.extend(words(head.split(" = ").next().unwrap_or_default().split('(').next().unwrap_or_default()));
                continue;
            }
            Statement::Block { head, body } => {
                found.extend(made(body));
                head
            }
        };
        // The text before `=` has names: for a function also those of its parameters.
        let head = text(head);
        found.extend(words(head.split(" = ").next().unwrap_or_default()));
        found.extend(words(head.split(" =").next().unwrap_or_default()));
    }
    found
}

/// Names of variables that are mutable somewhere.
fn mutables(statements: &[Statement]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for statement in statements {
        match statement {
            Statement::Line(parts) => {
                let line = text(parts);
                if let Some((name, rest)) = line.split_once(" : ")
                    && rest.starts_with("Mutable")
                {
                    found.insert(name.to_owned());
                }
                // An assignment by index makes a mutable variable.
                if let Some((name, rest)) = line.split_once('(')
                    && rest.split_once(") = ").is_some_and(|(index, _)| !index.contains(['(', '"']))
                    && !name.contains(' ')
                {
                    found.insert(name.to_owned());
                }
            }
            Statement::Block { body, .. } => found.extend(mutables(body)),
        }
    }
    found
}

/// Functions that put something out or write variables, or call one that does. A call of it must
/// not move.
fn with_effects(statements: &[Statement]) -> BTreeSet<String> {
    let changing = mutables(statements);
    let mut found = BTreeSet::new();
    note_effects(statements, &changing, &mut found);
    found
}

fn note_effects(statements: &[Statement], changing: &BTreeSet<String>, found: &mut BTreeSet<String>) {
    for statement in statements {
        let Statement::Block { head, body } = statement else { continue };
        note_effects(body, changing, found);
        let head = text(head);
        let Some((name, _)) = head.split_once('(').filter(|_| !is_loop(&head)) else { continue };
        let own = lines(body).into_iter().filter_map(|line| match at(body, &line) {
            Some(Statement::Line(parts)) => Some(text(parts)),
            Some(Statement::Block { .. }) | None => None,
        });
        let mut acts = own.map(|line| {
            let writes = line.split_once(" = ").is_some_and(|(left, _)| changing.contains(left.split('(').next().unwrap_or(left)));
            writes || line.starts_with("Output(") || !words(&line).is_disjoint(found)
        });
        if acts.any(|acts| acts) {
            found.insert(name.to_owned());
        }
    }
}
