//! Finds the imports of a text without reading the rest of it.

use crate::syntax::lexer::lex;
use crate::syntax::parser::expression::unescape;
use crate::syntax::token::{Keyword, Token, TokenKind};

/// The paths of the imports of a text, in order; some may be there twice. Cost: that of [`lex`],
/// and only where the text has the word.
pub fn imported_paths(text: &str) -> Vec<String> {
    if !text.contains(Keyword::Import.as_str()) {
        return Vec::new();
    }
    let is_import = |pair: &&[Token]| pair[0].kind == TokenKind::Keyword(Keyword::Import) && pair[1].kind == TokenKind::Text;
    lex(text).tokens.windows(2).filter(is_import).map(|pair| unescape(&text[pair[1].span.range()])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_come_from_imports_alone() {
        let text = "# Import \"comment\"\nImport \"a\\\\b\" (f)\nx = \"Import\"\n  Import \"c\"\nImport c\n";
        assert_eq!(imported_paths(text), ["a\\b", "c"]);
        assert!(imported_paths("x = 1\n").is_empty());
    }
}
