//! Parsing of modules; what modules are made of has files of its own.

use std::collections::BTreeMap;

use crate::ir::infer_face_geometry::face_geometry;
use crate::ir::infer_interface::interface;
use crate::ir::infer_stored_positions::stored_positions;
use crate::ir::infer_structure::structure;
use crate::ir::interface::Interface;
use crate::ir::numbers::{Numbers, Precision, Rounding};
use crate::ir::op::{Block, Function, Module};
use crate::ir::text::TextError;
use crate::ir::text::lex::{TokenKind, tokens};
use crate::ir::text::parser::{Locations, Parsed, Parser};
use crate::source::{SourceMap, Span};
use crate::types::SetTable;

/// The module that the text means, not verified.
///
/// # Errors
/// The first word that does not fit, or a name that is not known.
pub fn parse(text: &str) -> Result<Module, TextError> {
    parse_with_locations(text).map(|(module, _)| module)
}

/// As [`parse`], with the lines of the text that the places of the module stand on.
///
/// # Errors
/// As [`parse`].
pub fn parse_with_locations(text: &str) -> Result<(Module, Locations), TextError> {
    let mut parser = Parser { tokens: tokens(text)?, next: 0, sets: BTreeMap::new(), locations: Locations::new() };
    let module = parser.module()?;
    Ok((module, parser.locations))
}

impl Parser {
    fn module(&mut self) -> Parsed<Module> {
        self.expect_word("module")?;
        let name = self.plain_name()?;
        let mut source = String::new();
        if self.accept_word("source") {
            match self.bump() {
                TokenKind::Text(text) => source = text,
                _ => return self.error_before("expected the name of the source file in double quotes"),
            }
        }
        let mut numbers = Numbers::default();
        if self.accept_word("f32") {
            numbers.precision = Precision::Single;
        }
        if self.accept_word("fast") {
            numbers.rounding = Rounding::Fast;
        }
        let empty = Function {
            name: "main".to_owned(),
            params: Vec::new(),
            values: Vec::new(),
            mutables: Vec::new(),
            body: Block::default(),
            results: Vec::new(),
            span: Span::default(),
        };
        let sets = SetTable::new();
        let mut module = Module {
            name,
            source: SourceMap::new(source, ""),
            numbers,
            sets,
            functions: Vec::new(),
            main: empty,
            kernels: Vec::new(),
            interface: Interface::default(),
            choices: Vec::new(),
            structure: None,
            face_geometry: None,
            stored_positions: None,
            storage: Default::default(),
        };
        while self.is_word("set") {
            self.set(&mut module.sets)?;
        }
        while self.is_word("kernel") {
            super::parse_kernel::kernel(self, &mut module)?;
        }
        while self.is_word("function") {
            super::parse_op::function(self, &mut module)?;
        }
        if !self.is_word("main") {
            return self.expected("`kernel`, `function` or `main`");
        }
        super::parse_op::main(self, &mut module)?;
        if *self.peek() != TokenKind::End {
            return self.expected("the end of the text after `main`");
        }
        // Locations that a text names may not exist: the verifier says so.
        module.interface = interface(&module);
        module.structure = structure(&module);
        module.face_geometry = face_geometry(&module);
        module.stored_positions = stored_positions(&module);
        Ok(module)
    }
}
