//! Makes a failing program small: statements are removed, then expressions replaced by simpler ones
//! of their type, for as long as it fails in the same way.

use crate::data::CANONICAL;
use crate::tree::{Basic, Node, Part, Program, Set, Statement};

/// The smallest program found that still fails, as `fails` says; at most `tries` programs are
/// tried.
pub fn shrink(program: &Program, tries: usize, mut fails: impl FnMut(&Program) -> bool) -> Program {
    let mut best = program.clone();
    let mut left = tries;
    let mut attempt = |candidate: &Program, left: &mut usize| {
        if *left == 0 {
            return false;
        }
        *left -= 1;
        fails(candidate)
    };
    loop {
        let size = best.text().len();
        // From the end, because what is later needs what is earlier.
        let mut at = count(&best.statements);
        while at > 0 {
            at -= 1;
            let mut candidate = best.clone();
            remove(&mut candidate.statements, &mut at.clone());
            if attempt(&candidate, &mut left) {
                best = candidate;
            }
            at = at.min(count(&best.statements));
        }
        let mut at = 0;
        while at < nodes(&best.statements) {
            let mut taken = false;
            for choice in 0.. {
                let mut candidate = best.clone();
                match replace(&mut candidate.statements, at, choice) {
                    Replaced::None => break,
                    Replaced::Same => continue,
                    Replaced::Done if candidate.text().len() >= best.text().len() => continue,
                    Replaced::Done => {}
                }
                if attempt(&candidate, &mut left) {
                    best = candidate;
                    taken = true;
                    break;
                }
            }
            if !taken {
                at += 1;
            }
        }
        if best.text().len() >= size || left == 0 {
            return best;
        }
    }
}

fn count(statements: &[Statement]) -> usize {
    let inside = |statement: &Statement| match statement {
        Statement::Line(_) => 1,
        Statement::Block { body, .. } => 1 + count(body),
    };
    statements.iter().map(inside).sum()
}

/// Removes the statement of this number, counted with those inside blocks.
fn remove(statements: &mut Vec<Statement>, at: &mut usize) -> bool {
    let mut i = 0;
    while i < statements.len() {
        if *at == 0 {
            statements.remove(i);
            return true;
        }
        *at -= 1;
        if let Statement::Block { body, .. } = &mut statements[i]
            && remove(body, at)
        {
            return true;
        }
        i += 1;
    }
    false
}

enum Replaced {
    Done,
    /// There is another choice to try.
    Same,
    None,
}

fn nodes(statements: &[Statement]) -> usize {
    fn of(parts: &[Part]) -> usize {
        parts.iter().map(|part| if let Part::Node(node) = part { 1 + of(&node.parts) } else { 0 }).sum()
    }
    let inside = |statement: &Statement| match statement {
        Statement::Line(parts) => of(parts),
        Statement::Block { head, body } => of(head) + nodes(body),
    };
    statements.iter().map(inside).sum()
}

/// Replaces expression number `at` by its choice number `choice`: simple leaves first, then
/// expressions inside it.
fn replace(statements: &mut [Statement], at: usize, choice: usize) -> Replaced {
    fn find<'a>(parts: &'a mut [Part], at: &mut usize) -> Option<&'a mut Node> {
        for part in parts {
            if let Part::Node(node) = part {
                if *at == 0 {
                    return Some(node);
                }
                *at -= 1;
                if let Some(found) = find(&mut node.parts, at) {
                    return Some(found);
                }
            }
        }
        None
    }
    fn search<'a>(statements: &'a mut [Statement], at: &mut usize) -> Option<&'a mut Node> {
        for statement in statements {
            let found = match statement {
                Statement::Line(parts) => find(parts, at),
                Statement::Block { head, body } => match find(head, at) {
                    Some(found) => Some(found),
                    None => search(body, at),
                },
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }
    let mut at = at;
    let Some(node) = search(statements, &mut at) else { return Replaced::None };
    let simple = leaves(node);
    if let Some(text) = simple.get(choice) {
        node.parts = vec![Part::Text(text.clone())];
        return Replaced::Done;
    }
    let mut inside = Vec::new();
    descend(&node.parts, &mut inside);
    match inside.get(choice - simple.len()) {
        None => Replaced::None,
        Some(inner) if inner.info.same_type(&node.info) => {
            *node = (*inner).clone();
            Replaced::Done
        }
        Some(_) => Replaced::Same,
    }
}

fn descend<'a>(parts: &'a [Part], out: &mut Vec<&'a Node>) {
    for part in parts {
        if let Part::Node(node) = part {
            out.push(node);
            descend(&node.parts, out);
        }
    }
}

/// Simple expressions of the type of a node; of numbers only those without dimension.
fn leaves(node: &Node) -> Vec<String> {
    let info = node.info;
    let broadcast = |text: &str| match info.on {
        None => Some(text.to_owned()),
        Some(Set(set)) => CANONICAL.get(set).map(|(name, _)| format!("({text} Extend {name})")),
    };
    let found = match info.basic {
        Basic::Scalar if info.dimension == [0, 0] => vec![broadcast("1"), broadcast("0.5")],
        Basic::Bool => vec![broadcast("True"), broadcast("False")],
        Basic::Scalar | Basic::Vector | Basic::Entity(_) => Vec::new(),
    };
    found.into_iter().flatten().collect()
}
