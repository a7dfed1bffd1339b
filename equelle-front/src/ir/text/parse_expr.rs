//! Parsing of paths and expressions in kernels.

use crate::ir::kernel::{Interpolant, KExpr, Path, Side};
use crate::ir::op::UnaryOp;
use crate::ir::text::lex::TokenKind;
use crate::ir::text::names::RESERVED;
use crate::ir::text::parse_kernel::{KernelParser, Named};
use crate::ir::text::parser::Parsed;
use crate::ir::text::print;
use crate::ops::BinaryMath;

/// Makes an expression of a path.
type OfPath = fn(Path) -> KExpr;
/// Makes an expression of two paths.
type OfPaths = fn(Box<Path>, Box<Path>) -> KExpr;

impl KernelParser<'_> {
    fn side(&mut self) -> Parsed<Side> {
        self.parser.expect("(")?;
        let side = if self.parser.accept_word("low") {
            Side::Low
        } else {
            self.parser.expect_word("high")?;
            Side::High
        };
        self.parser.expect(")")?;
        Ok(side)
    }

    /// The parameter or local that a name stands for.
    fn lookup(&mut self) -> Parsed<Named> {
        let name = self.parser.plain_name()?;
        match self.names.get(&name) {
            Some(named) => Ok(*named),
            None => self.parser.error_before(format!("unknown name `{name}`")),
        }
    }

    /// True if a word of the grammar stands here that is followed by an opening parenthesis.
    fn accept_function(&mut self, word: &str) -> bool {
        let found = self.parser.is_word(word) && matches!(self.parser.peek_second(), TokenKind::Symbol("("));
        if found {
            self.parser.bump();
        }
        found
    }

    fn path_argument(&mut self) -> Parsed<Path> {
        self.parser.expect("(")?;
        let path = self.path()?;
        self.parser.expect(")")?;
        Ok(path)
    }

    pub fn path(&mut self) -> Parsed<Path> {
        self.deeper(Self::path_inside)
    }

    fn path_inside(&mut self) -> Parsed<Path> {
        if self.parser.accept_word("here") {
            return Ok(Path::Here);
        }
        if self.parser.accept_word("empty") {
            return Ok(Path::Empty);
        }
        if self.accept_function("first") {
            return Ok(Path::First(Box::new(self.path_argument()?)));
        }
        if self.accept_function("second") {
            return Ok(Path::Second(Box::new(self.path_argument()?)));
        }
        if self.accept_function("side_face") {
            return Ok(Path::SideFace(self.side()?));
        }
        if self.accept_function("shift") {
            self.parser.expect("(")?;
            let from = Box::new(self.path()?);
            self.parser.expect(",")?;
            let by = self.parser.integer()?;
            self.parser.expect(")")?;
            return Ok(Path::Shift { from, by });
        }
        if self.accept_function("offset") {
            self.parser.expect("(")?;
            let from = Box::new(self.path()?);
            self.parser.expect(",")?;
            let (by, beyond) = self.parser.offset()?;
            self.parser.expect(")")?;
            return Ok(Path::Offset { from, by, beyond });
        }
        if self.parser.accept("(") {
            let condition = Box::new(self.expr()?);
            self.parser.expect("?")?;
            let if_true = Box::new(self.path()?);
            self.parser.expect(":")?;
            let if_false = Box::new(self.path()?);
            self.parser.expect(")")?;
            return Ok(Path::Select { condition, if_true, if_false });
        }
        match self.lookup()? {
            Named::Local(id) => Ok(Path::Local(id)),
            Named::Param(param) => {
                self.parser.expect("[")?;
                let at = Box::new(self.path()?);
                self.parser.expect("]")?;
                Ok(Path::Through { param, at })
            }
        }
    }

    pub fn expr(&mut self) -> Parsed<KExpr> {
        self.deeper(Self::expr_inside)
    }

    fn boxed(&mut self) -> Parsed<Box<KExpr>> {
        self.expr().map(Box::new)
    }

    fn expr_inside(&mut self) -> Parsed<KExpr> {
        if let Some(value) = self.parser.real()? {
            return Ok(KExpr::Real(value));
        }
        if self.parser.accept("(") {
            return self.infix();
        }
        for (word, value) in [("true", true), ("false", false)] {
            if self.parser.accept_word(word) {
                return Ok(KExpr::Bool(value));
            }
        }
        if let Some(expr) = self.function()? {
            return Ok(expr);
        }
        if let TokenKind::Name(name) = self.parser.peek()
            && !name.quoted
            && RESERVED.contains(&name.base.as_str())
        {
            return self.parser.expected("an expression");
        }
        if !matches!(self.parser.peek(), TokenKind::Name(_)) {
            return self.parser.expected("an expression");
        }
        match self.lookup()? {
            Named::Local(id) => Ok(KExpr::Local(id)),
            Named::Param(param) if self.parser.accept("[") => {
                let at = self.path()?;
                self.parser.expect("]")?;
                Ok(KExpr::Load { param, at })
            }
            Named::Param(param) => Ok(KExpr::Param(param)),
        }
    }

    /// From after an opening parenthesis.
    fn infix(&mut self) -> Parsed<KExpr> {
        let a = self.boxed()?;
        let expr = if self.parser.accept("?") {
            let if_true = self.boxed()?;
            self.parser.expect(":")?;
            KExpr::Select { condition: a, if_true, if_false: self.boxed()? }
        } else if let Some(op) = self.parser.arithmetic() {
            KExpr::Arithmetic(op, a, self.boxed()?)
        } else if let Some(op) = self.parser.comparison() {
            KExpr::Compare(op, a, self.boxed()?)
        } else if let Some(op) = self.parser.logic() {
            KExpr::Logic(op, a, self.boxed()?)
        } else {
            return self.parser.expected("an operator");
        };
        self.parser.expect(")")?;
        Ok(expr)
    }

    /// `word(...)` of the grammar, if one stands here.
    fn function(&mut self) -> Parsed<Option<KExpr>> {
        for op in UnaryOp::all() {
            if self.accept_function(print::unary(op)) {
                self.parser.expect("(")?;
                let a = self.boxed()?;
                self.parser.expect(")")?;
                return Ok(Some(KExpr::Unary(op, a)));
            }
        }
        let of_path: [(&str, OfPath); 6] = [
            ("measure", KExpr::Measure),
            ("centroid", KExpr::Centroid),
            ("face_gap", KExpr::FaceGap),
            ("face_transmissibility", KExpr::FaceTransmissibility),
            ("normal", KExpr::Normal),
            ("is_empty", KExpr::IsEmpty),
        ];
        for (word, constructor) in of_path {
            if self.accept_function(word) {
                return Ok(Some(constructor(self.path_argument()?)));
            }
        }
        let of_paths: [(&str, OfPaths); 3] = [
            ("same", KExpr::Same),
            ("displacement", |to, from| KExpr::Displacement { to, from, is_stored: false }),
            ("stored_displacement", |to, from| KExpr::Displacement { to, from, is_stored: true }),
        ];
        for (word, constructor) in of_paths {
            if self.accept_function(word) {
                self.parser.expect("(")?;
                let a = self.path()?;
                self.parser.expect(",")?;
                let b = self.path()?;
                self.parser.expect(")")?;
                return Ok(Some(constructor(Box::new(a), Box::new(b))));
            }
        }
        for op in BinaryMath::ALL {
            if self.accept_function(op.word()) {
                self.parser.expect("(")?;
                let a = self.boxed()?;
                self.parser.expect(",")?;
                let b = self.boxed()?;
                self.parser.expect(")")?;
                return Ok(Some(KExpr::Math(op, a, b)));
            }
        }
        for of in Interpolant::ALL {
            if self.accept_function(of.word()) {
                self.parser.expect("(")?;
                let Named::Param(table) = self.lookup()? else { return self.parser.error_before("a table is a parameter") };
                self.parser.expect(",")?;
                let argument = self.boxed()?;
                self.parser.expect(")")?;
                return Ok(Some(KExpr::Interpolate { table, of, argument }));
            }
        }
        if self.accept_function("entity") {
            return Ok(Some(KExpr::Entity(self.path_argument()?)));
        }
        if self.accept_function("zero_vector") {
            self.parser.expect("(")?;
            self.parser.expect(")")?;
            return Ok(Some(KExpr::ZeroVector));
        }
        if self.accept_function("vector") {
            self.parser.expect("(")?;
            let mut components = vec![self.expr()?];
            while self.parser.accept(",") {
                components.push(self.expr()?);
            }
            self.parser.expect(")")?;
            return Ok(Some(KExpr::Vector(components)));
        }
        if let Some(word) = ["outside", "index", "even"].into_iter().find(|word| self.accept_function(word)) {
            self.parser.expect("(")?;
            let at = self.path()?;
            self.parser.expect(",")?;
            let fact = self.parser.place_fact(word)?;
            self.parser.expect(")")?;
            return Ok(Some(KExpr::CellFact { fact, at }));
        }
        let expr = if self.accept_function("member") {
            self.parser.expect("(")?;
            let at = self.path()?;
            self.parser.expect(",")?;
            KExpr::Member { set: self.parser.set_id(self.sets)?, at }
        } else if self.accept_function("component") {
            self.parser.expect("(")?;
            let a = self.boxed()?;
            self.parser.expect(",")?;
            KExpr::Component(a, self.parser.integer()?)
        } else if self.accept_function("dot") {
            self.parser.expect("(")?;
            let a = self.boxed()?;
            self.parser.expect(",")?;
            KExpr::Dot(a, self.boxed()?)
        } else {
            return Ok(None);
        };
        self.parser.expect(")")?;
        Ok(Some(expr))
    }
}
