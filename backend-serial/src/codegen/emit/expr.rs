//! Expressions.

use equelle_front::backend::forms::Refusal;
use equelle_front::backend::structural::asked_axis;
use equelle_front::ir::{KExpr, ParamId, Path, Rounding, Space, UnaryOp};
use equelle_front::ops::{Arithmetic, Logic};
use equelle_front::types::{Basic, EntityKind, Type};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::operators::comparison;
use super::reals::Reals;
use super::reduction::side_number;
use super::stencil::{leads_to_cell, stencil_centroid, stencil_load};
use super::stencil_point::{End, Leaf, StencilPoint};
use super::text::{Level, Text, ident};
use super::uses::Use;
use super::writer::{Failure, Form, Writer, Written};

impl Writer<'_> {
    /// The value of an expression.
    pub(in crate::codegen) fn expr(&mut self, expr: &KExpr) -> Written<Text> {
        if self.form != Form::General
            && let Some(axis) = asked_axis(expr)
        {
            let axis = Literal::u32_unsuffixed(axis);
            self.uses.add(Use::Axis);
            return Ok(Text::binary(Level::Compare, &Text::atom(quote! { axis }), quote! { == }, &Text::atom(axis)));
        }
        Ok(match expr {
            KExpr::Real(number) => self.reals.literal(*number),
            KExpr::Bool(value) => Text::atom(quote! { #value }),
            KExpr::Local(id) => {
                let name = self.read_local(*id)?;
                if self.form == Form::Row && !self.own_locals.contains(id) {
                    self.leaf(Leaf::Local(*id), &name.to_string());
                }
                Text::atom(name)
            }
            KExpr::Param(id) => {
                let name = self.read(*id)?;
                if matches!(self.form, Form::Row | Form::Stencil) {
                    self.leaf(Leaf::Single(*id), &name.to_string());
                }
                Text::atom(name)
            }
            KExpr::Load { param, at } => self.load(*param, at)?,
            KExpr::Measure(at) => self.measure(at)?,
            KExpr::Centroid(at) => self.centroid(at)?,
            KExpr::Normal(at) => self.normal(at)?,
            KExpr::FaceGap(_) | KExpr::FaceTransmissibility(_) if self.form != Form::General => {
                return Err(Failure::Form(Refusal::Geometry));
            }
            KExpr::FaceGap(at) => {
                self.uses.add_all([Use::Geometry, Use::Places]);
                self.grid_method_call("face_gap", at)?
            }
            KExpr::FaceTransmissibility(at) => {
                self.uses.add_all([Use::Geometry, Use::Places]);
                self.grid_method_call("face_transmissibility", at)?
            }
            KExpr::IsEmpty(at) => self.is_empty(at)?,
            KExpr::CellFact { fact, at } => self.place_fact(*fact, at)?,
            KExpr::Member { set, at } => self.member(*set, at)?,
            KExpr::Same(a, b) => self.same(a, b)?,
            KExpr::Unary(op, a) => self.unary(*op, a)?,
            KExpr::Arithmetic(op, a, b) => self.arithmetic(*op, a, b)?,
            KExpr::Compare(op, a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                Text::binary(Level::Compare, &a, comparison(*op), &b)
            }
            KExpr::Logic(op, a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                match op {
                    Logic::And => Text::binary(Level::And, &a, quote! { && }, &b),
                    Logic::Or => Text::binary(Level::Or, &a, quote! { || }, &b),
                    Logic::Xor => Text::binary(Level::Xor, &a, quote! { ^ }, &b),
                }
            }
            KExpr::Select { condition, if_true, if_false } => {
                let condition = self.expr(condition)?;
                let (if_true, if_false) = (self.expr(if_true)?, self.expr(if_false)?);
                Text::choice(&condition, &if_true, &if_false)
            }
            KExpr::Component(vector, index) => {
                if let (Form::Stencil, KExpr::Load { param, at }) = (self.form, &**vector) {
                    return stencil_load(self, (*param, Some(*index)), at);
                }
                let vector = self.expr(vector)?;
                let index = Literal::u32_unsuffixed(*index);
                self.call("component", &[vector, Text::atom(index)])
            }
            KExpr::Dot(a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                self.call("dot", &[a, b])
            }
            KExpr::Vector(components) => {
                let components = components.iter().map(|c| self.expr(c)).collect::<Written<Vec<_>>>()?;
                self.uses.add(Use::Dim);
                let (vector, generics) = match self.reals {
                    Reals::Double | Reals::Rounded => ("vector", quote! { DIM }),
                    Reals::Single => ("vector_of", quote! { DIM, f32 }),
                };
                let vector = self.uses.item(vector);
                Text::atom(quote! { #vector::<#generics>(&[#(#components),*]) })
            }
            KExpr::ZeroVector => self.zero_vector(),
            KExpr::Math(op, a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                self.math(op.word(), &[a, b])
            }
            KExpr::Interpolate { table, of, argument } => {
                let (table, argument) = (self.expr(&KExpr::Param(*table))?, self.expr(argument)?);
                self.math(of.word(), &[table, argument])
            }
            KExpr::Entity(at) => self.entity(at)?,
            KExpr::Displacement { to, from, is_stored: _ } => self.displacement(to, from)?,
        })
    }

    /// A call of an item.
    pub(in crate::codegen) fn call(&mut self, function: &'static str, arguments: &[Text]) -> Text {
        let function = self.uses.item(function);
        Text::atom(quote! { #function(#(#arguments),*) })
    }

    /// A call of a function of the module `math`.
    pub(super) fn math(&mut self, function: &str, arguments: &[Text]) -> Text {
        let (math, function) = (self.uses.item("math"), ident(function));
        Text::atom(quote! { #math::#function(#(#arguments),*) })
    }

    pub(super) fn zero_vector(&mut self) -> Text {
        self.uses.add(Use::Dim);
        Text::atom(quote! { [0.0; DIM] })
    }

    /// Type of a value in the text.
    pub(in crate::codegen) fn type_text(&mut self, ty: &Type) -> TokenStream {
        let real = self.reals.ty();
        if ty.basic == Basic::Vector {
            self.uses.add(Use::Dim);
        }
        match ty.basic {
            Basic::Scalar | Basic::Text | Basic::Table | Basic::Axis(_) => quote! { #real },
            Basic::Vector => quote! { [#real; DIM] },
            Basic::Bool => quote! { bool },
            Basic::Entity(_) => quote! { u32 },
        }
    }

    /// In [`Form::Row`]: the name of something that is read; a new one takes the wanted name if it
    /// is free.
    pub(in crate::codegen) fn leaf(&mut self, leaf: Leaf, wanted: &str) -> proc_macro2::Ident {
        if let Some((_, name)) = self.leaves.iter().find(|(l, _)| *l == leaf) {
            return name.clone();
        }
        let name = match leaf {
            Leaf::Single(_) | Leaf::Local(_) | Leaf::PerAxis(_) => ident(wanted),
            Leaf::Element(..) if !self.leaves.iter().any(|(_, n)| n == wanted) && self.params.iter().any(|p| p == wanted) => ident(wanted),
            Leaf::Element(_, place) => {
                let endings: &[&str] = if place == StencilPoint::Here { &[] } else { &["_x", "_y", "_z"] };
                ident(&self.namer.fresh_with(wanted, endings))
            }
        };
        self.leaves.push((leaf, name.clone()));
        name
    }

    fn load(&mut self, id: ParamId, at: &Path) -> Written<Text> {
        let (param, _) = self.param(id)?;
        if param.per_axis && (self.form != Form::General || self.on_cartesian_grid) {
            return self.load_per_axis(id, at);
        }
        match self.form {
            Form::PerAxis => Err(Failure::Form(Refusal::OtherElement)),
            Form::Stencil => stencil_load(self, (id, None), at),
            Form::Row => match at {
                Path::Local(local) if self.choices.contains_key(local) => {
                    let (condition, a, b) = self.choices[local].clone();
                    let (a, b) = (self.row_element(id, a)?, self.row_element(id, b)?);
                    Ok(Text::choice(&Text::atom(condition), &a, &b))
                }
                Path::Select { condition, if_true, if_false } => {
                    let condition = self.expr(condition)?;
                    let (if_true, if_false) = (self.load(id, if_true)?, self.load(id, if_false)?);
                    Ok(Text::choice(&condition, &if_true, &if_false))
                }
                _ => {
                    let place = self.place(at).ok_or(Failure::Form(Refusal::ChosenEntity))?;
                    self.row_element(id, place)
                }
            },
            Form::General | Form::Cell => {
                let set = self.set_of(id)?;
                let position = self.position(set, at)?;
                let values = self.read(id)?;
                let value = match param.ty.basic {
                    Basic::Vector => {
                        let vector_at = self.uses.item("vector_at");
                        quote! { #vector_at(&#values, #position) }
                    }
                    Basic::Scalar | Basic::Bool | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => {
                        quote! { #values[#position] }
                    }
                };
                if self.elementwise && self.kernel.space == Space::Set(set) {
                    self.uses.add(Use::LoadedHere(id));
                    return Ok(Text::atom(value));
                }
                let of_every_face = self.form == Form::General
                    && !self.known_faces.is_empty()
                    && self.kernel.space == Space::Set(set)
                    && self.is_back_here(at);
                if !of_every_face {
                    return Ok(Text::atom(value));
                }
                self.uses.add(Use::LoadedHere(id));
                if let Some((name, _)) = self.loaded_here.get(&id) {
                    return Ok(Text::atom(name));
                }
                let name = ident(&self.namer.fresh(&format!("{values}_here")));
                self.loaded_here.insert(id, (name.clone(), value));
                Ok(Text::atom(name))
            }
        }
    }

    /// An element in [`Form::Row`].
    fn row_element(&mut self, id: ParamId, place: StencilPoint) -> Written<Text> {
        if !self.fits_row(id, place)? {
            return Err(Failure::Form(Refusal::OtherElement));
        }
        let name = self.element_leaf(id, place)?;
        Ok(Text::atom(if self.in_row {
            quote! { #name[i] }
        } else {
            quote! { #name }
        }))
    }

    /// True if consecutive cells of a row find the element in consecutive positions, wherever the
    /// inside of a row is.
    fn fits_row(&self, id: ParamId, place: StencilPoint) -> Written<bool> {
        let (param, _) = self.param(id)?;
        if !matches!(param.ty.basic, Basic::Scalar | Basic::Bool) {
            return Ok(false);
        }
        let set = self.set_of(id)?;
        let Some(canonical) = self.module.sets.get(set).canonical else { return Ok(false) };
        use equelle_front::types::Extent;
        Ok(match place {
            StencilPoint::Here | StencilPoint::Neighbour(_) => canonical.kind == EntityKind::Cell && canonical.extent == Extent::All,
            StencilPoint::SideFace(_) => canonical.kind == EntityKind::Face && canonical.extent != Extent::Boundary,
        })
    }

    fn load_per_axis(&mut self, id: ParamId, at: &Path) -> Written<Text> {
        let set = self.set_of(id)?;
        let name = self.read_per_axis(id)?;
        match (self.module.sets.get(set).kind, self.form) {
            (EntityKind::Cell, Form::Row | Form::Stencil) => {
                let name = self.leaf(Leaf::PerAxis(id), &name.to_string());
                Ok(Text::atom(if self.in_row || self.form == Form::Stencil {
                    quote! { #name[0] }
                } else {
                    quote! { #name }
                }))
            }
            (EntityKind::Cell, Form::Cell | Form::PerAxis | Form::General) => Ok(Text::atom(quote! { #name[0] })),
            (EntityKind::Face, Form::Cell | Form::PerAxis) if self.is_face_here(at) || self.is_side_face(at) => {
                self.uses.add(Use::Axis);
                Ok(Text::atom(quote! { #name[axis] }))
            }
            (EntityKind::Face, Form::General) => {
                let face = self.entity(at)?;
                self.uses.add(Use::Grid);
                Ok(Text::atom(quote! { #name[grid.face_axis(#face)] }))
            }
            (EntityKind::Face, Form::Stencil) => {
                let axis = Literal::usize_unsuffixed(axis_across(self, at)?);
                let name = self.leaf(Leaf::PerAxis(id), &name.to_string());
                Ok(Text::atom(quote! { #name[#axis] }))
            }
            (EntityKind::Face, Form::Row) if self.is_side_face(at) => Ok(Text::atom(self.leaf(Leaf::PerAxis(id), &name.to_string()))),
            (EntityKind::Face | EntityKind::Edge | EntityKind::Vertex, _) => Err(Failure::Form(Refusal::OtherElement)),
        }
    }

    /// True if the path is the face of a per-axis form over faces.
    fn is_face_here(&self, path: &Path) -> bool {
        self.form == Form::PerAxis
            && self.place(path) == Some(StencilPoint::Here)
            && self.kernel.space_kind(&self.module.sets) == Some(EntityKind::Face)
    }

    /// True if the path is the face of a side of a cell, in a form by cells.
    fn is_side_face(&self, path: &Path) -> bool {
        self.form != Form::PerAxis && matches!(self.place(path), Some(StencilPoint::SideFace(_)))
    }

    fn measure(&mut self, at: &Path) -> Written<Text> {
        let kind = self.kind(at);
        if self.form == Form::General {
            let all_cells = self.kernel.space_set().is_some_and(|set| self.is_all(set));
            if self.elementwise && all_cells && kind == Some(EntityKind::Cell) && *at == Path::Here {
                self.uses.add_all([Use::Geometry, Use::Grid, Use::VolumeHere]);
                return Ok(Text::atom(quote! { volume_at(i) }));
            }
            let method = match kind {
                Some(EntityKind::Cell) => "cell_volume",
                Some(EntityKind::Face) => "face_area",
                Some(EntityKind::Edge) => "edge_length",
                // A point counts as one.
                Some(EntityKind::Vertex) => return Ok(self.reals.literal(1.0)),
                None => return Err(self.no_geometry()),
            };
            let array = if kind == Some(EntityKind::Edge) { Use::Edges } else { Use::Geometry };
            self.uses.add(array);
            return self.grid_method_call(method, at);
        }
        match kind {
            Some(EntityKind::Cell) => {
                let grid = self.grid();
                Ok(Text::atom(quote! { #grid.volume }))
            }
            Some(EntityKind::Face) if self.is_face_here(at) || self.is_side_face(at) => {
                self.uses.add(Use::Axis);
                let grid = self.grid();
                Ok(Text::atom(quote! { #grid.area[axis] }))
            }
            Some(EntityKind::Face) if self.form == Form::Stencil => {
                let (axis, grid) = (Literal::usize_unsuffixed(axis_across(self, at)?), self.grid());
                Ok(Text::atom(quote! { #grid.area[#axis] }))
            }
            Some(EntityKind::Face | EntityKind::Edge | EntityKind::Vertex) | None => Err(Failure::Form(Refusal::Geometry)),
        }
    }

    /// Writes a call of a method of the grid for an entity.
    fn grid_method_call(&mut self, method: &str, at: &Path) -> Written<Text> {
        let (entity, method, grid) = (self.entity(at)?, ident(method), self.grid());
        Ok(Text::atom(quote! { #grid.#method(#entity) }))
    }

    fn no_geometry(&self) -> Failure {
        self.internal("it asks for geometry of what is no entity that has it")
    }

    fn centroid(&mut self, at: &Path) -> Written<Text> {
        if self.form == Form::General {
            let (method, array) = match self.kind(at) {
                Some(EntityKind::Cell) => ("cell_centroid", Use::Geometry),
                Some(EntityKind::Face) => ("face_centroid", Use::Geometry),
                Some(EntityKind::Edge) => ("edge_centroid", Use::Edges),
                Some(EntityKind::Vertex) => ("vertex_position", Use::Vertices),
                None => return Err(self.no_geometry()),
            };
            self.uses.add_all([array, Use::Places]);
            return self.grid_method_call(method, at);
        }
        if self.form == Form::Stencil {
            return stencil_centroid(self, at);
        }
        let centroid = match (self.form, self.place(at)) {
            (Form::Cell, Some(StencilPoint::Here)) => {
                self.uses.add(Use::At);
                quote! { grid.cell_centroid::<DIM>(at) }
            }
            (Form::Cell, Some(StencilPoint::SideFace(side))) => {
                let high = side.is_high();
                self.uses.add_all([Use::At, Use::Axis]);
                quote! { grid.face_centroid::<DIM>(at, axis, #high) }
            }
            (Form::Cell, Some(StencilPoint::Neighbour(_))) => {
                let cell = self.entity(at)?.as_usize();
                quote! { grid.cell_centroid::<DIM>(grid.at(#cell)) }
            }
            _ => return Err(Failure::Form(Refusal::Geometry)),
        };
        self.uses.add_all([Use::Grid, Use::Dim]);
        Ok(Text::atom(centroid))
    }

    fn normal(&mut self, at: &Path) -> Written<Text> {
        if self.form == Form::General {
            if self.kind(at) != Some(EntityKind::Face) {
                return Err(self.no_geometry());
            }
            self.uses.add_all([Use::Geometry, Use::Places]);
            return self.grid_method_call("face_normal", at);
        }
        if self.is_face_here(at) || self.is_side_face(at) {
            self.uses.add_all([Use::Grid, Use::Dim, Use::Axis]);
            return Ok(Text::atom(quote! { grid.normal::<DIM>(axis) }));
        }
        Err(Failure::Form(Refusal::Geometry))
    }

    /// Position along the current axis, in half cell widths from [`Path::Here`].
    fn half_widths(&self, path: &Path) -> Option<i32> {
        if self.form == Form::PerAxis {
            return match path {
                Path::First(face) if self.is_face_here(face) => Some(-1),
                Path::Second(face) if self.is_face_here(face) => Some(1),
                _ => self.place(path).filter(|p| *p == StencilPoint::Here).map(|_| 0),
            };
        }
        Some(match self.place(path)? {
            StencilPoint::Here => 0,
            StencilPoint::SideFace(End::Low) => -1,
            StencilPoint::SideFace(End::High) => 1,
            StencilPoint::Neighbour(End::Low) => -2,
            StencilPoint::Neighbour(End::High) => 2,
        })
    }

    fn displacement(&mut self, to: &Path, from: &Path) -> Written<Text> {
        if self.form == Form::General {
            return Err(self.internal("a displacement outside a Cartesian form"));
        }
        if let (Form::Stencil, Path::Second(face), Path::First(_)) = (self.form, to, from) {
            let (axis, grid) = (Literal::usize_unsuffixed(axis_across(self, face)?), self.grid());
            self.uses.add(Use::Dim);
            return Ok(Text::atom(quote! { #grid.displacement::<DIM>(#axis, 1.0) }));
        }
        let (Some(to), Some(from)) = (self.half_widths(to), self.half_widths(from)) else {
            return Err(Failure::Form(Refusal::Displacement));
        };
        if to == from {
            return Ok(self.zero_vector());
        }
        self.uses.add_all([Use::Grid, Use::Dim, Use::Axis]);
        let widths = Reals::Double.literal(f64::from(to - from) / 2.0);
        Ok(Text::atom(quote! { grid.displacement::<DIM>(axis, #widths) }))
    }

    fn is_empty(&mut self, at: &Path) -> Written<Text> {
        if self.is_outside(at) {
            return Ok(Text::atom(quote! { true }));
        }
        if self.place(at).is_some() || (self.form == Form::Stencil && leads_to_cell(self, at)) {
            return Ok(Text::atom(quote! { false }));
        }
        let entity = self.entity(at)?;
        Ok(Text::binary(Level::Compare, &entity, quote! { == }, &Text::atom(self.none())))
    }

    fn same(&mut self, a: &Path, b: &Path) -> Written<Text> {
        if let (Some(a), Some(b)) = (self.place(a), self.place(b)) {
            // Entities of one kind; distinct places of one cell are distinct entities.
            let same = a == b;
            return Ok(Text::atom(quote! { #same }));
        }
        if self.form != Form::General
            && let (Some(StencilPoint::SideFace(side)), Path::Local(extreme)) = (self.place(a), b)
        {
            let name = self.read_local(*extreme)?;
            if self.form == Form::Row && !self.own_locals.contains(extreme) {
                self.leaf(Leaf::Local(*extreme), &name.to_string());
            }
            self.uses.add(Use::Axis);
            return Ok(Text::binary(Level::Compare, &Text::atom(name), quote! { == }, &Text::new(Level::Sum, side_number(side, None))));
        }
        let (a, b) = (self.entity(a)?, self.entity(b)?);
        Ok(Text::binary(Level::Compare, &a, quote! { == }, &b))
    }

    /// True if an expression is made of numbers alone.
    pub(in crate::codegen) fn is_made_of_literals(&self, expr: &KExpr) -> bool {
        let of = |a: &KExpr| self.is_made_of_literals(a);
        match expr {
            KExpr::Real(_) | KExpr::ZeroVector => true,
            // A point counts as one.
            KExpr::Measure(at) => self.kind(at) == Some(EntityKind::Vertex),
            KExpr::Unary(_, a) | KExpr::Component(a, _) => of(a),
            KExpr::Arithmetic(_, a, b) | KExpr::Math(_, a, b) | KExpr::Dot(a, b) | KExpr::Select { if_true: a, if_false: b, .. } => {
                of(a) && of(b)
            }
            KExpr::Bool(_)
            | KExpr::Local(_)
            | KExpr::Interpolate { .. }
            | KExpr::Param(_)
            | KExpr::Load { .. }
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
            | KExpr::Vector(_)
            | KExpr::Entity(_) => false,
            // From an entity to itself.
            KExpr::Displacement { to, from, is_stored: _ } => {
                self.half_widths(to).is_some_and(|width| self.half_widths(from) == Some(width))
            }
        }
    }

    /// The type of an expression made of literals, where Rust does not know which type of number it
    /// is.
    pub(in crate::codegen) fn untyped(&mut self, expr: &KExpr) -> Option<TokenStream> {
        if !self.is_made_of_literals(expr) {
            return None;
        }
        let ty = self.reals.ty();
        Some(if self.is_vector(expr) {
            self.uses.add(Use::Dim);
            quote! { [#ty; DIM] }
        } else {
            quote! { #ty }
        })
    }

    pub(super) fn is_vector(&self, expr: &KExpr) -> bool {
        self.kernel.expr_basic(expr) == Basic::Vector
    }

    fn unary(&mut self, op: UnaryOp, a: &KExpr) -> Written<Text> {
        let (is_vector, literal, ty) = (self.is_vector(a), self.is_made_of_literals(a), self.reals.ty());
        let a = self.expr(a)?;
        // A literal says no type, which a method needs.
        let method = |name: &str| {
            let function = ident(name);
            if literal { Text::atom(quote! { #ty::#function(#a) }) } else { a.method(name) }
        };
        Ok(match op {
            UnaryOp::Neg if is_vector => self.call("vector_neg", &[a]),
            UnaryOp::Neg => {
                let a = a.at(Level::Unary);
                Text::new(Level::Unary, quote! { -#a })
            }
            UnaryOp::Not => {
                let a = a.at(Level::Unary);
                Text::new(Level::Unary, quote! { !#a })
            }
            UnaryOp::Abs => method("abs"),
            UnaryOp::Sqrt => method("sqrt"),
            UnaryOp::Length => self.call("length", &[a]),
            UnaryOp::Elementary(function) => self.math(function.word(), &[a]),
        })
    }

    /// `a * b + c` and its like, where the product need not be rounded.
    fn contracted(&mut self, op: Arithmetic, a: &KExpr, b: &KExpr) -> Written<Option<Text>> {
        if self.module.numbers.rounding == Rounding::Strict {
            return Ok(None);
        }
        let factors = |writer: &Self, expr: &KExpr| match expr {
            KExpr::Arithmetic(Arithmetic::Mul, x, y) if !writer.is_vector(x) && !writer.is_vector(y) => Some((x.clone(), y.clone())),
            _ => None,
        };
        if !matches!(op, Arithmetic::Add | Arithmetic::Sub) {
            return Ok(None);
        }
        let negated = |text: Text| {
            let text = text.at(Level::Unary);
            Text::new(Level::Unary, quote! { -#text })
        };
        if let Some((x, y)) = factors(self, a) {
            let (x, y, c) = (self.expr(&x)?, self.expr(&y)?, self.expr(b)?);
            let c = if op == Arithmetic::Sub { negated(c) } else { c };
            return Ok(Some(self.call("mul_add", &[x, y, c])));
        }
        let Some((x, y)) = factors(self, b) else { return Ok(None) };
        let (c, x, y) = (self.expr(a)?, self.expr(&x)?, self.expr(&y)?);
        let x = if op == Arithmetic::Sub { negated(x) } else { x };
        Ok(Some(self.call("mul_add", &[x, y, c])))
    }

    fn arithmetic(&mut self, op: Arithmetic, a: &KExpr, b: &KExpr) -> Written<Text> {
        if matches!(op, Arithmetic::Add | Arithmetic::Sub)
            && !self.is_vector(a)
            && let Some(contracted) = self.contracted(op, a, b)?
        {
            return Ok(contracted);
        }
        let vectors = (self.is_vector(a), self.is_vector(b));
        let (a, b) = (self.expr(a)?, self.expr(b)?);
        Ok(match (op, vectors) {
            (Arithmetic::Add, (false, false)) => Text::binary(Level::Sum, &a, quote! { + }, &b),
            (Arithmetic::Sub, (false, false)) => Text::binary(Level::Sum, &a, quote! { - }, &b),
            (Arithmetic::Mul, (false, false)) => Text::binary(Level::Product, &a, quote! { * }, &b),
            (Arithmetic::Div, (false, false)) => Text::binary(Level::Product, &a, quote! { / }, &b),
            (Arithmetic::Add, (true, true)) => self.call("vector_add", &[a, b]),
            (Arithmetic::Sub, (true, true)) => self.call("vector_sub", &[a, b]),
            (Arithmetic::Mul, (true, false)) => self.call("vector_mul", &[a, b]),
            (Arithmetic::Mul, (false, true)) => self.call("vector_mul", &[b, a]),
            (Arithmetic::Div, (true, false)) => self.call("vector_div", &[a, b]),
            (Arithmetic::Add | Arithmetic::Sub, (true, false) | (false, true))
            | (Arithmetic::Mul, (true, true))
            | (Arithmetic::Div, (_, true)) => return Err(self.internal("arithmetic of Vectors that is not defined")),
        })
    }
}

/// The axis that a face is across, in the body for cells inside the grid.
fn axis_across(writer: &Writer<'_>, path: &Path) -> Written<usize> {
    let Path::Local(local) = path else { return Err(Failure::Form(Refusal::OtherElement)) };
    writer.faces_across.get(local).map(|face| face.axis).ok_or(Failure::Form(Refusal::OtherElement))
}
