//! Sums and extremes over the faces of a cell, on any grid: a loop over its sides.
//!
//! A sum of the element here has the numbers that the next sides ask for on their way before it
//! uses the first of them: [`Prefetch`]. One side at a time, threads wait for the cell beyond
//! before they ask for its values. What interior faces have of their own and keep while a loop goes
//! round is read from a copy in the order of the sides: `CudaRuntime::by_side`. Where what a face
//! contributes depends on whether it is interior, both bodies are written; where exchanging its
//! cells changes the sign of a term and nothing else, the sum need not ask for its direction.

use std::collections::BTreeMap;

use equelle_front::backend::faces::{is_antisymmetric, specialised};
use equelle_front::backend::visit::{Node, visit_block};
use equelle_front::ir::{FaceFilter, KBlock, KExpr, LocalId, ParamId, Path};
use equelle_front::ops::FaceReduction;
use equelle_front::types::{Basic, CanonicalSet, EntityKind, Extent, SetId};

use crate::codegen::emit::block::Reduced;
use crate::codegen::emit::sides::{Prefetch, SideNames};
use crate::codegen::emit::text::Text;
use crate::codegen::emit::writer::{Form, Writer};

/// Most parameters whose values are prefetched: more take registers from what is computed
/// with them. A step of shallow water, which has four, on 4096^2 cells as an unstructured grid
/// takes 5.5 instead of 5.1 ms on an H200.
const MAX_PREFETCHED: usize = 2;

impl Writer<'_> {
    /// A reduction over the faces of a cell, from where it begins.
    pub(in crate::codegen) fn reduce_faces(
        &mut self,
        (reduction, results, extreme_faces): Reduced<'_>,
        cell: &Path,
        (face, only): (LocalId, FaceFilter),
        body: &KBlock,
    ) {
        for &result in results {
            let ty = self.kernel.local_type(result).map_or(self.reals.number(), |ty| self.reals.value(ty.basic));
            let is_vector = self.kernel.local_type(result).is_some_and(|ty| ty.basic == Basic::Vector);
            let start = if is_vector { self.reals.zero_vector() } else { self.reals.literal(reduction.start()) };
            let text = format!("{ty} {} = {};", self.local(result), start.bare());
            self.line(&text);
        }
        let own = self.path(cell).to_string();
        let name = self.local(face).to_owned();
        let mut side = SideNames {
            cell: own.clone(),
            at: format!("{name}_at"),
            neighbour: format!("{name}_neighbour"),
            cells: format!("{name}_cells"),
            prefetch: None,
            as_outward: false,
        };
        if self.on_cartesian_grid {
            let place = if *cell == Path::Here { "cell".to_owned() } else { format!("eq_cell(g, {own})") };
            self.line(&format!("const EqCell {name}_cell = {place};"));
        } else {
            self.uses.grid.sides = true;
            self.line(&format!("const EqSides {name}_sides = eq_sides(grid, {own});"));
        }
        let (of_cells, of_faces) = if *cell == Path::Here { self.wanted(face, only, body) } else { Default::default() };
        let here: Vec<ParamId> = of_cells.iter().copied().filter(|param| !self.here.contains_key(param)).collect();
        for &param in &here {
            let value = self.load(param, &Path::Here);
            let local = self.names.fresh(&format!("{}_here", self.params[param.0 as usize]));
            self.line(&format!("const {} {local} = {value};", self.reals.number()));
            self.here.insert(param, local);
        }
        if self.on_cartesian_grid {
            self.line("#pragma unroll 1");
            self.open(&format!("for (unsigned int {name}_at = 0; {name}_at < 2 * DIM; ++{name}_at) {{"));
            self.line(&format!("const EqEntity {name}_neighbour = eq_neighbour_beyond(g, {name}_cell, {name}_at);"));
        } else if of_cells.is_empty() && of_faces.is_empty() {
            self.open(&format!("for (EqOffset {name}_at = {name}_sides.begin; {name}_at < {name}_sides.end; {name}_at += EQ_SLICE) {{"));
            self.line(&format!("const EqEntity {name}_neighbour = eq_neighbour_at(grid, {name}_at);"));
        } else {
            side.prefetch = Some(self.prefetch(&name, &of_cells, &of_faces));
        }
        if !self.on_cartesian_grid {
            self.line(&format!("if ({name}_neighbour == EQ_NO_SIDE) break;"));
        }
        match only {
            FaceFilter::All => {}
            FaceFilter::Interior => self.line(&format!("if (!eq_is_inside({name}_neighbour)) continue;")),
            FaceFilter::Boundary => self.line(&format!("if (eq_is_inside({name}_neighbour)) continue;")),
        }
        // The definitions come first, but the rest of the text tells which ones it needs.
        let before = std::mem::take(&mut self.out);
        self.uses.faces.remove(&face);
        self.uses.face_cells.remove(&face);
        self.sides.insert(face, side);
        self.terms_by_extent((reduction, results, extreme_faces), cell, (face, only), body);
        self.sides.remove(&face);
        let rest = std::mem::replace(&mut self.out, before);
        if self.uses.faces.contains(&face) {
            let face = if self.on_cartesian_grid {
                format!("eq_side_face(g, {name}_cell, {name}_at / 2, {name}_at % 2)")
            } else {
                self.uses.grid.side_faces = true;
                format!("grid.side_faces[{name}_at]")
            };
            self.line(&format!("const EqEntity {name} = {face};"));
        }
        if self.uses.face_cells.contains(&face) {
            self.line(&format!("const EqPair {name}_cells = eq_side_cells({own}, {name}_neighbour);"));
        }
        self.out += &rest;
        self.close("}");
        if !(of_cells.is_empty() && of_faces.is_empty()) {
            self.close("}");
        }
        here.iter().for_each(|param| {
            self.here.remove(param);
        });
    }

    /// The parameters whose values in the cells of the face, and on it where it is interior, are
    /// loaded ahead; none where there are too many.
    fn wanted(&self, face: LocalId, only: FaceFilter, body: &KBlock) -> (Vec<ParamId>, Vec<ParamId>) {
        let (mut of_cells, mut of_faces): (Vec<ParamId>, Vec<ParamId>) = Default::default();
        // Cells near the sides of a Cartesian grid are few.
        if self.form != Form::General
            || self.on_cartesian_grid
            || self.tells_pattern()
            || only == FaceFilter::Boundary
            || self.kernel.space_kind(self.sets) != Some(EntityKind::Cell)
        {
            return (of_cells, of_faces);
        }
        visit_block(body, &mut |node| {
            let Node::Expr(KExpr::Load { param, at }) = node else { return };
            let ty = self.kernel.params[param.0 as usize].ty;
            let of_face = |at: &Path| *at == Path::Local(face);
            let list = match at {
                Path::First(at) | Path::Second(at) if of_face(at) && self.is_everywhere(*param) => &mut of_cells,
                at if of_face(at) && ty.basic == Basic::Scalar => {
                    let interior = |set: SetId| self.sets.get(set).canonical == Some(CanonicalSet::INTERIOR_FACES);
                    if !ty.mapping().is_some_and(interior) {
                        return;
                    }
                    &mut of_faces
                }
                _ => return,
            };
            if !list.contains(param) {
                list.push(*param);
            }
        });
        if of_cells.is_empty() || of_cells.len() + of_faces.len() > MAX_PREFETCHED {
            return Default::default();
        }
        (of_cells, of_faces)
    }

    /// Opens the loops over sides, and loads what the next ones ask for.
    fn prefetch(&mut self, name: &str, of_cells: &[ParamId], of_faces: &[ParamId]) -> Prefetch {
        self.open(&format!(
            "for (EqOffset {name}_from = {name}_sides.begin; {name}_from < {name}_sides.end; {name}_from += EQ_PREFETCH * EQ_SLICE) {{"
        ));
        let array = |w: &mut Self, param: &ParamId, of: &str| {
            let array = w.names.fresh(&format!("{}_{of}", w.params[param.0 as usize]));
            w.line(&format!("{} {array}[EQ_PREFETCH] = {{}};", w.reals.number()));
            (*param, array)
        };
        self.line(&format!("EqEntity {name}_prefetched[EQ_PREFETCH];"));
        let of_cells: BTreeMap<ParamId, String> = of_cells.iter().map(|param| array(self, param, "neighbour")).collect();
        let of_faces: BTreeMap<ParamId, String> = of_faces.iter().map(|param| array(self, param, "side")).collect();
        let number = "ahead";
        self.line("#pragma unroll");
        self.open(&format!("for (unsigned int {number} = 0; {number} < EQ_PREFETCH; ++{number}) {{"));
        self.line(&format!("{name}_prefetched[{number}] = eq_side_neighbour(grid, {name}_sides, {name}_from + {number} * EQ_SLICE);"));
        self.close("}");
        self.line("#pragma unroll");
        self.open(&format!("for (unsigned int {number} = 0; {number} < EQ_PREFETCH; ++{number}) {{"));
        self.line(&format!("if (!eq_is_inside({name}_prefetched[{number}])) continue;"));
        for (param, array) in &of_cells {
            let from = self.param(*param);
            let text = format!("{array}[{number}] = {from}[eq_neighbour_cell({name}_prefetched[{number}])];");
            self.line(&text);
        }
        for (param, array) in &of_faces {
            let text = if self.usage.loop_invariant.contains(param) {
                self.uses.by_side.insert(param.0 as usize);
                format!("{array}[{number}] = {}[{name}_from + {number} * EQ_SLICE];", self.by_side[param.0 as usize])
            } else {
                self.uses.grid.side_ranks = true;
                format!("{array}[{number}] = {}[grid.side_ranks[{name}_from + {number} * EQ_SLICE]];", self.param(*param))
            };
            self.line(&text);
        }
        self.close("}");
        self.line("#pragma unroll");
        self.open(&format!("for (unsigned int {number} = 0; {number} < EQ_PREFETCH; ++{number}) {{"));
        self.line(&format!("const EqOffset {name}_at = {name}_from + {number} * EQ_SLICE;"));
        self.line(&format!("const EqEntity {name}_neighbour = {name}_prefetched[{number}];"));
        Prefetch { number: number.to_owned(), of_cells, of_faces }
    }

    /// Adds the terms of a face: for interior ones and others apart where they differ. An equation
    /// keeps its conditions, which its pattern follows.
    fn terms_by_extent(&mut self, of: Reduced<'_>, cell: &Path, (face, only): (LocalId, FaceFilter), body: &KBlock) {
        if self.derivatives.is_some() {
            return self.signed_terms(of, cell, face, body);
        }
        let [interior, boundary] = [true, false].map(|interior| specialised(self.sets, body, face, interior));
        match only {
            FaceFilter::Interior => self.signed_terms(of, cell, face, &interior),
            FaceFilter::Boundary => self.signed_terms(of, cell, face, &boundary),
            FaceFilter::All if interior == *body => self.signed_terms(of, cell, face, body),
            FaceFilter::All => {
                let neighbour = self.sides[&face].neighbour.clone();
                self.open(&format!("if (eq_is_inside({neighbour})) {{"));
                self.signed_terms(of, cell, face, &interior);
                self.close("} else {");
                self.deeper();
                self.signed_terms(of, cell, face, &boundary);
                self.close("}");
            }
        }
    }

    /// Takes in the terms of a face, in a sum with its sign.
    fn signed_terms(&mut self, (reduction, results, extreme_faces): Reduced<'_>, cell: &Path, face: LocalId, body: &KBlock) {
        let outward = format!("eq_is_outward({})", self.sides[&face].neighbour);
        let sum = reduction == FaceReduction::Sum;
        if sum && self.derivatives.is_none() && body.statements.is_empty() && body.yields.iter().all(|term| is_antisymmetric(term, face)) {
            self.set_outward(face, true);
            for (&result, term) in results.iter().zip(&body.yields) {
                let name = self.local(result).to_owned();
                let term = self.expr(term);
                self.line(&format!("{name} = {name} + {term};"));
            }
            self.set_outward(face, false);
            return;
        }
        let (name, cells) = (self.local(face).to_owned(), self.sides[&face].cells.clone());
        self.begin_sum(cell, &name, &cells, &outward, body);
        self.statements(body);
        self.end_sum();
        for (i, (&result, term)) in results.iter().zip(&body.yields).enumerate() {
            let name = self.local(result).to_owned();
            let mut term = self.expr(term);
            if !sum {
                self.take_in_extreme(reduction, (result, extreme_faces.get(i).copied()), &Path::Local(face), &term);
                continue;
            }
            if !term.is_name() {
                let local = self.names.fresh(&format!("{name}_term"));
                let ty = self.kernel.local_type(result).map_or(self.reals.number(), |ty| self.reals.value(ty.basic));
                self.line(&format!("const {ty} {local} = {};", term.bare()));
                term = Text::name(local);
            }
            let text = format!("{name} = {outward} ? {name} + {term} : {name} - {term};");
            self.line(&text);
        }
    }

    fn set_outward(&mut self, face: LocalId, as_outward: bool) {
        if let Some(side) = self.sides.get_mut(&face) {
            side.as_outward = as_outward;
        }
    }

    /// The first or second cell of a face that a sum goes over, where the text knows which one
    /// sums.
    pub(in crate::codegen) fn cell_of_side(&self, face: &Path, first: bool) -> Option<String> {
        let Path::Local(id) = face else { return None };
        let side = self.sides.get(id).filter(|side| side.as_outward)?;
        Some(if first { side.cell.clone() } else { format!("eq_neighbour_cell({})", side.neighbour) })
    }

    /// A value at a face or one of its cells that was loaded ahead.
    pub(in crate::codegen) fn value_at_side(&self, param: ParamId, at: &Path) -> Option<Text> {
        let (face, first) = match at {
            Path::First(face) => (&**face, Some(true)),
            Path::Second(face) => (&**face, Some(false)),
            face => (face, None),
        };
        let Path::Local(id) = face else { return None };
        let side = self.sides.get(id)?;
        let Prefetch { number, of_cells, of_faces } = side.prefetch.as_ref()?;
        let Some(first) = first else { return of_faces.get(&param).map(|array| Text::atom(format!("{array}[{number}]"))) };
        let (here, neighbour) = (self.here.get(&param)?, format!("{}[{number}]", of_cells.get(&param)?));
        Some(match (side.as_outward, first) {
            (true, true) => Text::name(here),
            (true, false) => Text::atom(neighbour),
            (false, true) => Text::compound(format!("eq_is_outward({}) ? {here} : {neighbour}", side.neighbour)),
            (false, false) => Text::compound(format!("eq_is_outward({}) ? {neighbour} : {here}", side.neighbour)),
        })
    }

    /// Rank in a set of the face that a sum goes over.
    pub(in crate::codegen) fn rank_of_side(&mut self, set: SetId, face: &Path, side: &SideNames) -> Text {
        let ranks = self.ranks[&set].clone();
        Text::atom(if self.sets.canonical_superset(set).extent == Extent::All {
            format!("eq_rank({ranks}, {})", self.path(face))
        } else {
            self.uses.grid.side_ranks = true;
            format!("eq_rank_of_side(grid, {ranks}, {}, {})", side.at, side.neighbour)
        })
    }
}
