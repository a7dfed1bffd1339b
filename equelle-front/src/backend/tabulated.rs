//! Tables at cells: an equation asks for a table and its slope at the cells of every face, so for
//! each cell several times over. Where the argument is made of values of one cell, a back-end
//! evaluates the table once a cell beforehand, and the body reads what it gives like a collection.

use std::collections::{BTreeMap, BTreeSet};

use crate::backend::visit::{Node, visit_block};
use crate::ir::{Interpolant, JacobianForm, KBlock, KExpr, KStmt, Kernel, LocalId, Module, Param, ParamId, Path, Space, UnaryOp};
use crate::passes::{NodeMut, drop_unread, rewrite_block};
use crate::types::{Basic, CanonicalSet, SetId, Shape};

/// An argument, and what is taken of tables at it.
#[derive(Clone, Debug, PartialEq)]
pub struct TablesOfCells {
    /// The argument, at [`Path::Here`].
    pub argument: KExpr,
    /// A collection that it reads.
    pub over: ParamId,
    /// Tables, what is taken of them, and the parameter that stands for it.
    pub tables: Vec<(ParamId, Interpolant, ParamId)>,
}

/// A kernel whose last parameters are no arguments, but what tables give at cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Tabulated {
    /// The kernel.
    pub kernel: Kernel,
    /// Tables that the body for any grid reads.
    pub general: Vec<TablesOfCells>,
    /// Tables that the body for Cartesian grids reads.
    pub cartesian: Vec<TablesOfCells>,
}

/// As large as an argument may be.
const MAX_ARGUMENT: usize = 40;

/// An equation over all cells that asks for tables at cells.
pub fn tabulated(module: &Module, kernel: &Kernel) -> Option<Tabulated> {
    let cells = module.sets.canonical(CanonicalSet::ALL_CELLS);
    let form = kernel.jacobian.as_ref().filter(|_| kernel.space == Space::Set(cells))?;
    let mut search = Search { kernel, cells, found: Vec::new() };
    for block in [Some(&form.body), form.cartesian.as_ref()].into_iter().flatten() {
        search.block(block);
    }
    let mut groups = search.found;
    let mut params = kernel.params.clone();
    for TablesOfCells { argument, over, tables } in &mut groups {
        let over = kernel.params.get(over.0 as usize)?;
        for (table, of, param) in tables {
            *param = ParamId(u32::try_from(params.len()).ok()?);
            let slope = if *of == Interpolant::Slope { "_slope" } else { "" };
            let of_what = if matches!(argument, KExpr::Load { .. }) { &over.name } else { "cells" };
            let name = format!("{}{slope}_of_{of_what}", kernel.params.get(table.0 as usize)?.name);
            params.push(Param { name, ty: over.ty, per_axis: false });
        }
    }
    if groups.is_empty() {
        return None;
    }
    let replaced = |block: &KBlock| {
        let definitions = definitions(block);
        let arguments = Arguments { kernel, cells, definitions: &definitions };
        let mut block = block.clone();
        rewrite_block(&mut block, &mut |node| {
            if let NodeMut::Expr(expr) = node
                && let KExpr::Interpolate { table, of, argument } = &*expr
                && let Some((argument, _, at)) = arguments.relative_to_cell(argument)
                && let Some(group) = groups.iter().find(|group| group.argument == argument)
                && let Some((_, _, param)) = group.tables.iter().find(|(t, o, _)| t == table && o == of)
            {
                *expr = KExpr::Load { param: *param, at };
            }
        });
        drop_unread(&mut block);
        block
    };
    let (body, cartesian) = (replaced(&form.body), form.cartesian.as_ref().map(replaced));
    let general = read_in(&body, &groups);
    let of_cartesian = cartesian.as_ref().map(|block| read_in(block, &groups)).unwrap_or_default();
    let jacobian = JacobianForm { body, cartesian, ..form.clone() };
    Some(Tabulated { kernel: Kernel { params, jacobian: Some(jacobian), ..kernel.clone() }, general, cartesian: of_cartesian })
}

/// Returns the tables that a block reads, without those that only an argument reads.
fn read_in(block: &KBlock, groups: &[TablesOfCells]) -> Vec<TablesOfCells> {
    let mut read = BTreeSet::new();
    visit_block(block, &mut |node| {
        if let Node::Expr(KExpr::Load { param, .. }) = node {
            read.insert(*param);
        }
    });
    let mut groups = groups.to_vec();
    groups.iter_mut().for_each(|group| group.tables.retain(|(_, _, param)| read.contains(param)));
    groups.retain(|group| !group.tables.is_empty());
    groups
}

/// The values of the locals of a block, but of those that have several.
fn definitions(block: &KBlock) -> BTreeMap<LocalId, KExpr> {
    let (mut values, mut several) = (BTreeMap::new(), BTreeSet::new());
    visit_block(block, &mut |node| {
        if let Node::Stmt(KStmt::Let { local, value }) = node
            && values.insert(*local, value.clone()).is_some_and(|other| other != *value)
        {
            several.insert(*local);
        }
    });
    values.retain(|local, _| !several.contains(local));
    values
}

struct Search<'a> {
    kernel: &'a Kernel,
    cells: SetId,
    found: Vec<TablesOfCells>,
}

impl Search<'_> {
    fn block(&mut self, block: &KBlock) {
        let definitions = definitions(block);
        let arguments = Arguments { kernel: self.kernel, cells: self.cells, definitions: &definitions };
        visit_block(block, &mut |node| {
            let Node::Expr(KExpr::Interpolate { table, of, argument }) = node else { return };
            let Some((argument, over, _)) = arguments.relative_to_cell(argument) else { return };
            let known = self.found.iter().position(|group| group.argument == argument);
            let group = known.unwrap_or_else(|| {
                self.found.push(TablesOfCells { argument, over, tables: Vec::new() });
                self.found.len() - 1
            });
            // Value and slope of a table follow each other, and so do tables with the same rows.
            let tables = &mut self.found[group].tables;
            if !tables.iter().any(|(t, o, _)| t == table && o == of) {
                tables.push((*table, *of, ParamId(0)));
                tables.sort_by_key(|(table, of, _)| (table.0, *of == Interpolant::Slope));
            }
        });
    }
}

/// Finds arguments that are made of values of one cell.
struct Arguments<'a> {
    kernel: &'a Kernel,
    cells: SetId,
    definitions: &'a BTreeMap<LocalId, KExpr>,
}

impl Arguments<'_> {
    /// The argument moved to [`Path::Here`], a collection that it reads, and its cell; `None` if it
    /// reads no cell or more than one.
    fn relative_to_cell(&self, argument: &KExpr) -> Option<(KExpr, ParamId, Path)> {
        let (mut cell, mut size) = (None, 0);
        let here = self.here(argument, &mut cell, &mut size)?;
        cell.map(|(over, at)| (here, over, at))
    }

    fn here(&self, expr: &KExpr, cell: &mut Option<(ParamId, Path)>, size: &mut usize) -> Option<KExpr> {
        *size += 1;
        if *size > MAX_ARGUMENT {
            return None;
        }
        match expr {
            KExpr::Real(_) | KExpr::Param(_) => Some(expr.clone()),
            KExpr::Local(local) => self.here(self.definitions.get(local)?, cell, size),
            KExpr::Load { param, at } => {
                let read = self.kernel.params.get(param.0 as usize)?;
                let same = cell.get_or_insert_with(|| (*param, at.clone())).1 == *at;
                let of_cells = read.ty.basic == Basic::Scalar && read.ty.shape == Shape::Collection(self.cells) && !read.per_axis;
                (same && of_cells).then_some(KExpr::Load { param: *param, at: Path::Here })
            }
            KExpr::Unary(op @ (UnaryOp::Neg | UnaryOp::Abs | UnaryOp::Sqrt | UnaryOp::Elementary(_)), a) => {
                Some(KExpr::Unary(*op, Box::new(self.here(a, cell, size)?)))
            }
            KExpr::Arithmetic(op, a, b) => {
                let (a, b) = (self.here(a, cell, size)?, self.here(b, cell, size)?);
                Some(KExpr::Arithmetic(*op, Box::new(a), Box::new(b)))
            }
            KExpr::Math(op, a, b) => {
                let (a, b) = (self.here(a, cell, size)?, self.here(b, cell, size)?);
                Some(KExpr::Math(*op, Box::new(a), Box::new(b)))
            }
            KExpr::Interpolate { table, of, argument } => {
                let argument = Box::new(self.here(argument, cell, size)?);
                Some(KExpr::Interpolate { table: *table, of: *of, argument })
            }
            KExpr::Bool(_)
            | KExpr::Unary(UnaryOp::Not | UnaryOp::Length, _)
            | KExpr::Measure(_)
            | KExpr::Centroid(_)
            | KExpr::Normal(_)
            | KExpr::FaceGap(_)
            | KExpr::FaceTransmissibility(_)
            | KExpr::IsEmpty(_)
            | KExpr::CellFact { .. }
            | KExpr::Member { .. }
            | KExpr::Same(..)
            | KExpr::Compare(..)
            | KExpr::Logic(..)
            | KExpr::Select { .. }
            | KExpr::Component(..)
            | KExpr::Dot(..)
            | KExpr::Vector(_)
            | KExpr::ZeroVector
            | KExpr::Entity(_)
            | KExpr::Displacement { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::text::{parse, print};

    const MODULE: &str = "module m
kernel residual_u over AllCells() {
  param u: Scalar On AllCells()
  param t: Table
  param piece: Table
  param scale: Scalar
  result r: Scalar On AllCells()
  body {
    yield u[here]
  }
  jacobian by 1 {
    flux: Scalar = sum faces f: Face of here interior {
      a: Scalar = (u[first(f)] * scale)
      b: Scalar = interpolate(piece, u[second(f)])
      add u[first(f)] = (scale * slope(t, a))
      yield (((interpolate(t, a) + interpolate(t, (b + 1.0))) + interpolate(t, u[here])) + interpolate(t, (u[first(f)] + u[second(f)])))
    }
    yield flux
  }
}
main {
}
";

    /// The body reads values and slopes at scaled unknowns, a table of a table, and one at the cell
    /// itself; the mean of two cells is no argument of one, and the inner table has no reader.
    #[test]
    fn what_arguments_of_one_cell_become() {
        let module = parse(MODULE).expect("a module");
        let Tabulated { kernel, general, cartesian } = tabulated(&module, &module.kernels[0]).expect("tables at cells");
        let names = |group: &TablesOfCells| -> Vec<&str> {
            group.tables.iter().map(|(_, _, param)| kernel.params[param.0 as usize].name.as_str()).collect()
        };
        let found: Vec<Vec<&str>> = general.iter().map(names).collect();
        assert_eq!(found, [vec!["t_of_u"], vec!["t_of_cells", "t_slope_of_cells"], vec!["t_of_cells"]]);
        assert!(cartesian.is_empty());
        let text = print(&Module { kernels: vec![kernel], ..module });
        let body = text.split("jacobian by 1").nth(1).expect("a body");
        let expected = "\
    flux: Scalar = sum faces f: Face of here interior {
      add u[first(f)] = (scale * t_slope_of_cells[first(f)])
      yield (((t_of_cells[first(f)] + t_of_cells[second(f)]) + t_of_u[here]) + interpolate(t, (u[first(f)] + u[second(f)])))
    }
";
        assert!(body.contains(expected), "{text}");
    }

    /// Fusion stores what kernels without derivatives need of cells.
    #[test]
    fn other_kernels_have_none() {
        let plain = MODULE.replace("jacobian by 1", "cartesian").replace("      add u[first(f)] = (scale * slope(t, a))\n", "");
        let (before, _) = plain.split_once("  cartesian").expect("a body");
        let module = parse(&format!("{before}}}\nmain {{\n}}\n")).expect("a module");
        assert_eq!(tabulated(&module, &module.kernels[0]), None);
    }
}
