//! Paths: entities, and where the elements that belong to them are.

use equelle_front::backend::forms::Refusal;
use equelle_front::ir::{Path, Side, Space};
use equelle_front::ops::CellFact;
use equelle_front::types::{CanonicalSet, EntityKind, Extent, SetId};
use proc_macro2::TokenStream;
use quote::quote;

use super::stencil::{side_map, stencil_fact};
use super::stencil_point::{End, FaceNames, StencilPoint};
use super::text::{Level, Text, ident};
use super::uses::Use;
use super::writer::{Failure, Form, Writer, Written};

impl Writer<'_> {
    /// The closed form of a path, in a Cartesian form; `None` if it has none.
    pub(in crate::codegen) fn place(&self, path: &Path) -> Option<StencilPoint> {
        if self.form == Form::General {
            return None;
        }
        match path {
            Path::Here => Some(StencilPoint::Here),
            Path::SideFace(side) => Some(StencilPoint::SideFace((*side).into())),
            Path::Shift { by, .. } => Some(StencilPoint::Neighbour(Side::towards(*by).into())),
            Path::Local(id) => self.places.get(id).copied(),
            Path::First(face) => match self.place(face)? {
                StencilPoint::SideFace(End::High) => Some(StencilPoint::Here),
                StencilPoint::SideFace(End::Low) if self.side_interior == Some(true) => Some(StencilPoint::Neighbour(End::Low)),
                StencilPoint::SideFace(End::Low) | StencilPoint::Here | StencilPoint::Neighbour(_) => None,
            },
            Path::Second(face) => match self.place(face)? {
                StencilPoint::SideFace(End::Low) => Some(StencilPoint::Here),
                StencilPoint::SideFace(End::High) if self.side_interior == Some(true) => Some(StencilPoint::Neighbour(End::High)),
                StencilPoint::SideFace(End::High) | StencilPoint::Here | StencilPoint::Neighbour(_) => None,
            },
            Path::Through { .. } | Path::Select { .. } | Path::Empty | Path::Offset { .. } => None,
        }
    }

    /// True if the path is known to be Empty: the outer cell of a face on a side that is on the
    /// boundary.
    pub(in crate::codegen) fn is_outside(&self, path: &Path) -> bool {
        match path {
            Path::Empty => true,
            Path::First(face) => self.side_interior == Some(false) && self.place(face) == Some(StencilPoint::SideFace(End::Low)),
            Path::Second(face) => self.side_interior == Some(false) && self.place(face) == Some(StencilPoint::SideFace(End::High)),
            Path::Here
            | Path::Local(_)
            | Path::Through { .. }
            | Path::Select { .. }
            | Path::SideFace(_)
            | Path::Shift { .. }
            | Path::Offset { .. } => false,
        }
    }

    /// The entity as u32, `NONE` for Empty.
    pub(in crate::codegen) fn entity(&mut self, path: &Path) -> Written<Text> {
        if self.is_outside(path) {
            return Ok(Text::atom(self.none()));
        }
        if let Some(place) = self.place(path) {
            return match self.form {
                Form::Cell => Ok(self.place_index(place).as_u32()),
                Form::General | Form::PerAxis | Form::Row | Form::Stencil => Err(Failure::Form(Refusal::ChosenEntity)),
            };
        }
        match path {
            Path::Here => match self.kernel.space {
                Space::Set(_) => {
                    self.uses.add(Use::Here);
                    Ok(Text::atom(ident("here")))
                }
                Space::Unit => Err(self.internal("it has no element to speak of")),
            },
            Path::Local(id) => Ok(Text::atom(self.read_local(*id)?)),
            Path::First(face) => self.cell_of_face(face, End::Low, "first_cell"),
            Path::Second(face) => self.cell_of_face(face, End::High, "second_cell"),
            Path::Through { param, at } => {
                if matches!(self.form, Form::PerAxis | Form::Row | Form::Stencil) {
                    return Err(Failure::Form(Refusal::ChosenEntity));
                }
                let set = self.set_of(*param)?;
                let position = self.position(set, at)?;
                let entities = self.read(*param)?;
                if self.tells_pattern() {
                    let none = self.none();
                    return Ok(Text::atom(quote! { #entities.get(#position).copied().unwrap_or(#none) }));
                }
                Ok(Text::atom(quote! { #entities[#position] }))
            }
            Path::Select { condition, if_true, if_false } => {
                let condition = self.expr(condition)?;
                let (if_true, if_false) = (self.entity(if_true)?, self.entity(if_false)?);
                Ok(Text::choice(&condition, &if_true, &if_false))
            }
            Path::Offset { from, by, beyond } => {
                if self.form != Form::General {
                    return Err(Failure::Form(Refusal::ChosenEntity));
                }
                let from = self.entity(from)?;
                let side = self.uses.item("SideMap");
                let beyond = beyond.iter().map(|map| {
                    let map = ident(side_map(*map));
                    quote! { #side::#map }
                });
                let [a, b, c] = by.map(proc_macro2::Literal::i8_unsuffixed);
                let grid = self.grid();
                Ok(Text::atom(quote! { #grid.offset_cell(#from, [#a, #b, #c], [#(#beyond),*]) }))
            }
            Path::Empty | Path::SideFace(_) | Path::Shift { .. } => Err(Failure::Form(Refusal::ChosenEntity)),
        }
    }

    /// The first cell of a face, which is at its low end, or the second.
    fn cell_of_face(&mut self, face: &Path, end: End, method: &str) -> Written<Text> {
        if self.form != Form::General {
            return Err(Failure::Form(Refusal::ChosenEntity));
        }
        if let Some(known) = self.known_ends(face) {
            return Ok(Text::atom(match end {
                End::Low => known.first,
                End::High => known.second,
            }));
        }
        self.uses.add(Use::FaceCells);
        if *face == Path::Here && self.derivatives.is_none() && matches!(self.kernel.space, Space::Set(_)) {
            // On a Cartesian grid they follow from divisions of whole numbers.
            self.uses.add_all([Use::Here, Use::CellsHere]);
            let end = proc_macro2::Literal::usize_unsuffixed(usize::from(end.is_high()));
            return Ok(Text::atom(quote! { cells_here[#end] }));
        }
        let (face, method) = (self.entity(face)?, ident(method));
        let grid = self.grid();
        Ok(Text::atom(quote! { #grid.#method(#face) }))
    }

    /// The same as [`Self::known_face`] for a text that has one of its cells.
    fn known_ends(&mut self, face: &Path) -> Option<FaceNames> {
        let known = self.known_face(face)?.clone();
        if known.own.is_none() {
            self.uses.add(Use::Ends(known.face));
        }
        Some(known)
    }

    /// Returns the names for a face, if it is one of those that a sum visits.
    fn known_face(&self, face: &Path) -> Option<&FaceNames> {
        let Path::Local(local) = face else { return None };
        self.known_faces.iter().rev().find(|known| known.face == *local)
    }

    /// True if the path leads back to [`Path::Here`].
    pub(in crate::codegen) fn is_back_here(&self, path: &Path) -> bool {
        let (face, end) = match path {
            Path::Here => return true,
            Path::First(face) => (face, End::Low),
            Path::Second(face) => (face, End::High),
            Path::Local(_)
            | Path::Through { .. }
            | Path::Select { .. }
            | Path::Empty
            | Path::SideFace(_)
            | Path::Shift { .. }
            | Path::Offset { .. } => {
                return false;
            }
        };
        self.known_face(face).is_some_and(|known| known.own_is_here && known.own == Some(end))
    }

    /// Index of a place, in [`Form::Cell`].
    fn place_index(&mut self, place: StencilPoint) -> Text {
        match place {
            StencilPoint::Here => self.uses.add(Use::Here),
            StencilPoint::SideFace(_) => self.uses.add_all([Use::Grid, Use::At, Use::Axis]),
            StencilPoint::Neighbour(_) => self.uses.add_all([Use::Here, Use::Grid, Use::Axis]),
        }
        match place {
            StencilPoint::Here => Text::atom(quote! { here }),
            StencilPoint::SideFace(side) => {
                let high = side.is_high();
                Text::atom(quote! { grid.face(at, axis, #high) })
            }
            StencilPoint::Neighbour(side) if self.takes_joined_sides => {
                self.uses.add(Use::At);
                let high = side.is_high();
                Text::atom(quote! { grid.beside(here, at, axis, #high) })
            }
            StencilPoint::Neighbour(End::Low) => Text::new(Level::Sum, quote! { here - grid.stride[axis] }),
            StencilPoint::Neighbour(End::High) => Text::new(Level::Sum, quote! { here + grid.stride[axis] }),
        }
    }

    /// Position of the entity in a set, as usize.
    pub(in crate::codegen) fn position(&mut self, set: SetId, path: &Path) -> Written<Text> {
        if let (Form::Cell, Some(place)) = (self.form, self.place(path)) {
            return self.place_position(set, place);
        }
        if self.form == Form::General && self.kernel.space == Space::Set(set) && self.is_back_here(path) {
            return Ok(Text::atom(if self.elementwise {
                quote! { i }
            } else {
                quote! { position }
            }));
        }
        let entity = self.entity(path)?;
        if self.is_all(set) {
            return Ok(entity.as_usize());
        }
        let ranks = self.ranks(set)?;
        Ok(Text::atom(quote! { #ranks.of(#entity) }))
    }

    /// Position of a place in a set, in [`Form::Cell`].
    pub(in crate::codegen) fn place_position(&mut self, set: SetId, place: StencilPoint) -> Written<Text> {
        if self.is_all(set) {
            return Ok(self.place_index(place));
        }
        let canonical = self.module.sets.get(set).canonical;
        if let Some(position) = self.closed_position(self.superset(set), place) {
            if canonical.is_some() {
                return Ok(Text::atom(position));
            }
            let ranks = self.subset_ranks(set)?;
            return Ok(Text::atom(quote! { #ranks.of(#position) }));
        }
        let entity = self.place_index(place).as_u32();
        let ranks = self.ranks(set)?;
        Ok(Text::atom(quote! { #ranks.of(#entity) }))
    }

    /// Position of a place in a canonical set in closed form, where the place is known to be in it.
    fn closed_position(&mut self, set: CanonicalSet, place: StencilPoint) -> Option<TokenStream> {
        if set.extent == Extent::All {
            let index = self.place_index(place);
            return Some(quote! { #index });
        }
        match (place, set.kind, set.extent, self.side_interior) {
            (StencilPoint::SideFace(side), EntityKind::Face, Extent::Interior, Some(true)) => {
                let high = side.is_high();
                self.uses.add_all([Use::Grid, Use::At, Use::Axis]);
                Some(quote! { grid.interior_face(at, axis, #high) })
            }
            // The side block begins with this name.
            (StencilPoint::SideFace(_), EntityKind::Face, Extent::Boundary, Some(false)) => {
                self.uses.add(Use::BoundaryFace);
                Some(quote! { boundary_face })
            }
            _ => None,
        }
    }

    /// True if the entity is in the set.
    pub(in crate::codegen) fn member(&mut self, set: SetId, path: &Path) -> Written<Text> {
        let canonical = self.module.sets.get(set).canonical;
        if self.is_all(set) {
            return Ok(Text::atom(quote! { true }));
        }
        let place = self.place(path);
        if let (Some(StencilPoint::SideFace(_)), Some(interior)) = (place, self.side_interior) {
            // Which kind of face it is, is known here.
            let superset = self.superset(set);
            let (extent_known, inside) = match superset.extent {
                Extent::Interior => (true, interior),
                Extent::Boundary => (true, !interior),
                Extent::All => (canonical.is_some(), true),
            };
            if extent_known && !inside {
                return Ok(Text::atom(quote! { false }));
            }
            if canonical.is_some() {
                return Ok(Text::atom(quote! { true }));
            }
        }
        match (self.form, place) {
            (Form::Cell, Some(place)) => {
                if canonical.is_none()
                    && let Some(position) = self.closed_position(self.superset(set), place)
                {
                    let ranks = self.subset_ranks(set)?;
                    return Ok(Text::atom(quote! { #ranks.contains(#position) }));
                }
            }
            (Form::Row | Form::Stencil | Form::PerAxis, _) => return Err(Failure::Form(Refusal::Subset)),
            (Form::General, _) | (Form::Cell, None) => {}
        }
        if let Some(CanonicalSet { kind: EntityKind::Face, extent }) = canonical
            && let Some(known) = self.known_ends(path)
        {
            let boundary = extent == Extent::Boundary;
            let (first, second, none) = (&known.first, &known.second, self.none());
            return Ok(match (known.own, boundary) {
                (Some(End::Low), true) => Text::new(Level::Compare, quote! { #second == #none }),
                (Some(End::Low), false) => Text::new(Level::Compare, quote! { #second != #none }),
                (Some(End::High), true) => Text::new(Level::Compare, quote! { #first == #none }),
                (Some(End::High), false) => Text::new(Level::Compare, quote! { #first != #none }),
                (None, true) => Text::new(Level::Or, quote! { #first == #none || #second == #none }),
                (None, false) => Text::new(Level::And, quote! { #first != #none && #second != #none }),
            });
        }
        let entity = self.entity(path)?;
        if let (Form::General, Some(CanonicalSet { kind: EntityKind::Face, extent })) = (self.form, canonical) {
            self.uses.add(Use::FaceCells);
            let grid = self.grid();
            let boundary = Text::atom(quote! { #grid.is_boundary_face(#entity) });
            return Ok(match extent {
                Extent::Boundary => boundary,
                Extent::Interior | Extent::All => Text::new(Level::Unary, quote! { !#boundary }),
            });
        }
        let ranks = self.ranks(set)?;
        Ok(Text::atom(quote! { #ranks.contains(#entity) }))
    }
}

impl Writer<'_> {
    /// Position of a cell in the grid.
    pub(in crate::codegen) fn place_fact(&mut self, fact: CellFact, at: &Path) -> Written<Text> {
        if self.form == Form::Stencil {
            return stencil_fact(self, fact, at);
        }
        if self.form != Form::General {
            return Err(Failure::Form(Refusal::CellFact));
        }
        let (at, grid) = (self.entity(at)?, self.grid());
        Ok(Text::atom(match fact {
            CellFact::Outside { axis, by } => {
                let (axis, by) = (usize::from(axis), proc_macro2::Literal::i8_unsuffixed(by));
                quote! { #grid.is_outside(#at, #axis, #by) }
            }
            CellFact::Index(axis) => {
                let axis = usize::from(axis);
                quote! { #grid.index_along(#at, #axis) }
            }
            CellFact::Even([a, b, c]) => quote! { #grid.is_even(#at, [#a, #b, #c]) },
        }))
    }
}

/// The cells of the current face, where the text asks for them.
pub(in crate::codegen) fn cells_here(writer: &mut Writer) -> Option<TokenStream> {
    writer.uses.has(Use::CellsHere).then(|| {
        let grid = writer.grid();
        quote! { let cells_here = #grid.face_cells(here); }
    })
}
