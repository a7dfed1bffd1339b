//! Additions to the row of an equation, and the sums that they stand in.

use equelle_front::backend::inside::offset;
use equelle_front::backend::visit::{Node, visit_stmt};
use equelle_front::ir::{KBlock, KExpr, KStmt, ParamId, Path, Side};

use crate::codegen::emit::derivatives::{Sum, Target};
use crate::codegen::emit::writer::Writer;

/// True if a block adds derivatives.
pub(in crate::codegen) fn adds(block: &KBlock) -> bool {
    let mut found = false;
    let mut look = |node: Node<'_>| found |= matches!(node, Node::Stmt(KStmt::Add { .. }));
    block.statements.iter().for_each(|statement| visit_stmt(statement, &mut look));
    found
}

impl Writer<'_> {
    /// True if the pattern of an equation is being written, which may follow paths that lead
    /// nowhere.
    pub(in crate::codegen) fn tells_pattern(&self) -> bool {
        self.derivatives.as_ref().is_some_and(|d| d.target == Target::Pattern)
    }

    /// Before the body of a sum over the faces of a cell.
    pub(in crate::codegen) fn begin_sum(&mut self, cell: &Path, face: &str, pair: &str, outward: &str, body: &KBlock) {
        let Some(derivatives) = &mut self.derivatives else { return };
        let here = (*cell == Path::Here).then(|| pair.to_owned());
        let sign = format!("{face}_sign");
        derivatives.sums.push(Sum { sign: sign.clone(), here });
        if matches!(derivatives.target, Target::Slots | Target::Row) && adds(body) {
            let (ty, one) = (self.reals.number(), self.reals.literal(1.0));
            self.line(&format!("const {ty} {sign} = {outward} ? {one} : -{one};"));
        }
    }

    /// After it.
    pub(in crate::codegen) fn end_sum(&mut self) {
        if let Some(derivatives) = &mut self.derivatives {
            derivatives.sums.pop();
        }
    }

    /// Before a block of a side of a cell.
    pub(in crate::codegen) fn begin_side(&mut self, side: Side) {
        if let Some(derivatives) = &mut self.derivatives {
            derivatives.sides.push(side == Side::Low);
        }
    }

    /// After it.
    pub(in crate::codegen) fn end_side(&mut self) {
        if let Some(derivatives) = &mut self.derivatives {
            derivatives.sides.pop();
        }
    }

    /// An addition to the row.
    pub(in crate::codegen) fn add(&mut self, unknown: ParamId, at: &Path, value: &KExpr) {
        let Some(derivatives) = &self.derivatives else { return };
        let Some(set) = self.kernel.params[unknown.0 as usize].ty.mapping() else { return };
        let number = unknown.0;
        if derivatives.target == Target::Places {
            let minus = derivatives.sides.iter().fold(false, |minus, side| minus != *side);
            let names = &self.unknowns[number as usize];
            let variable = match at {
                Path::Shift { by, .. } => match Side::towards(*by) {
                    Side::Low => format!("{}[axis]", names.low),
                    Side::High => format!("{}[axis]", names.high),
                },
                // The verifier lets nothing else through.
                _ => names.own.clone(),
            };
            let value = self.expr(value);
            self.line(&format!("{variable} = {variable} {} {value};", if minus { '-' } else { '+' }));
            return;
        }
        if derivatives.target == Target::Offsets {
            let by = offset(at);
            // The pattern inside the grid has a column for each addition.
            let variable = derivatives.offsets.iter().find(|variable| (variable.unknown, variable.by) == (number, by));
            if let Some(name) = variable.map(|variable| variable.name.clone()) {
                let value = self.expr(value);
                self.line(&format!("{name} = {name} + {value};"));
            }
            return;
        }
        let same = self.kernel.space_set() == Some(set);
        let own = self.unknowns[number as usize].own.clone();
        // The cell at this end of the face may be the element here.
        let end = match at {
            Path::First(face) | Path::Second(face) if same => match &**face {
                Path::Local(face) => {
                    self.sides.get(face).is_some_and(|side| derivatives.sums.iter().any(|sum| sum.here.as_ref() == Some(&side.cells)))
                }
                _ => false,
            },
            _ => false,
        };
        let certain = same && *at == Path::Here;
        let (target, signs) = (derivatives.target, derivatives.sums.iter().map(|sum| sum.sign.clone()).collect::<Vec<_>>());
        if (end || certain)
            && let Some(derivatives) = &mut self.derivatives
        {
            derivatives.diagonals.insert(number);
        }
        if target == Target::Pattern {
            if certain {
                return;
            }
            let (first, position) = (self.first_column(number as usize), self.position(set, at));
            let condition = if end { format!("if ({} != here) ", self.path(at)) } else { String::new() };
            self.line(&format!("{condition}eq_tell(told, {first}, {position});"));
            return;
        }
        let factors: Vec<String> = signs.into_iter().chain([self.expr(value).to_string()]).collect();
        let value = factors.join(" * ");
        let here = format!("{own} = {own} + {value};");
        if certain {
            self.line(&here);
            return;
        }
        let add = match target {
            Target::Slots => format!("eq_add_at(row, *slot++, {value});"),
            Target::Row | Target::Pattern | Target::Places | Target::Offsets => {
                format!("eq_add(row, {} + {}, {value});", self.first_column(number as usize), self.position(set, at))
            }
        };
        if end {
            let entity = self.path(at);
            self.open(&format!("if ({entity} == here) {{"));
            self.line(&here);
            self.close("} else {");
            self.deeper();
            self.line(&add);
            self.close("}");
        } else {
            self.line(&add);
        }
    }
}
