//! Words of the text form.

use crate::ir::text::TextError;
use crate::ir::text::names::Name;
use crate::source::Span;

/// A word with its place.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub line: u32,
    pub column: u32,
}

/// Kinds of word.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    /// `name`, `name.2`, `` `any text` ``
    Name(Name),
    /// `%name`
    Value(Name),
    /// `@name`
    Mutable(Name),
    /// A number as written, with its sign.
    Number(String),
    /// Text in double quotes, escapes resolved.
    Text(String),
    /// `!12..30`
    Span(Span),
    /// Anything else.
    Symbol(&'static str),
    /// End of the text.
    End,
}

impl TokenKind {
    /// Name of the token in messages.
    pub fn describe(&self) -> String {
        match self {
            TokenKind::Name(n) => format!("`{}`", n.base),
            TokenKind::Value(n) => format!("`%{}`", n.base),
            TokenKind::Mutable(n) => format!("`@{}`", n.base),
            TokenKind::Number(n) => format!("`{n}`"),
            TokenKind::Text(_) => "text in quotes".to_owned(),
            TokenKind::Span(_) => "a source range".to_owned(),
            TokenKind::Symbol(s) => format!("`{s}`"),
            TokenKind::End => "the end of the text".to_owned(),
        }
    }
}

/// Longest first, so that `<=` is not read as `<`.
const SYMBOLS: [&str; 25] =
    [":=", "->", "<=", ">=", "==", "!=", "{", "}", "(", ")", "[", "]", ",", ":", "=", "?", "+", "-", "*", "/", "<", ">", "^", ".", ";"];

/// All words of a text.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, TextError> {
    let mut lexer = Lexer { rest: text, line: 1, column: 1 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks();
        let (line, column) = (lexer.line, lexer.column);
        let kind = lexer.token()?;
        let end = kind == TokenKind::End;
        tokens.push(Token { kind, line, column });
        if end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    rest: &'a str,
    line: u32,
    column: u32,
}

impl Lexer<'_> {
    fn error<T>(&self, message: impl Into<String>) -> Result<T, TextError> {
        Err(TextError { line: self.line, column: self.column, message: message.into() })
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        if c == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(c)
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> String {
        let mut taken = String::new();
        while let Some(c) = self.peek().filter(|&c| accept(c)) {
            taken.push(c);
            self.bump();
        }
        taken
    }

    /// White space and comments from `;` to the end of the line.
    fn skip_blanks(&mut self) {
        loop {
            self.take_while(char::is_whitespace);
            if self.peek() != Some(';') {
                return;
            }
            self.take_while(|c| c != '\n');
        }
    }

    fn token(&mut self) -> Result<TokenKind, TextError> {
        let second = self.rest.chars().nth(1);
        let kind = match self.peek() {
            None => TokenKind::End,
            Some('%') => {
                self.bump();
                TokenKind::Value(self.name()?)
            }
            Some('@') => {
                self.bump();
                TokenKind::Mutable(self.name()?)
            }
            Some('"') => TokenKind::Text(self.quoted('"')?),
            Some('!') if second.is_some_and(|c| c.is_ascii_digit()) => {
                self.bump();
                let start = self.integer()?;
                if self.bump() != Some('.') || self.bump() != Some('.') {
                    return self.error("expected `..` in a source range");
                }
                let end = self.integer()?;
                TokenKind::Span(Span { start, end })
            }
            Some(c) if c.is_ascii_digit() => self.number()?,
            Some('-') if second.is_some_and(|c| c.is_ascii_digit()) || self.rest.starts_with("-inf") => self.number()?,
            Some(c) if c == '`' || c == '_' || c.is_ascii_alphabetic() => TokenKind::Name(self.name()?),
            Some(c) => match SYMBOLS.iter().find(|s| self.rest.starts_with(**s)) {
                Some(symbol) => {
                    for _ in symbol.chars() {
                        self.bump();
                    }
                    TokenKind::Symbol(symbol)
                }
                None => return self.error(format!("unexpected character {c:?}")),
            },
        };
        Ok(kind)
    }

    fn integer(&mut self) -> Result<u32, TextError> {
        let digits = self.take_while(|c| c.is_ascii_digit());
        digits.parse().or_else(|_| self.error("expected a number below 4294967296"))
    }

    fn number(&mut self) -> Result<TokenKind, TextError> {
        let mut number = String::new();
        if self.peek() == Some('-') {
            self.bump();
            number.push('-');
        }
        number.push_str(&self.take_while(|c| c.is_ascii_alphanumeric() || c == '.'));
        // An exponent may have a sign.
        if number.ends_with(['e', 'E']) && !number.contains("0x") && matches!(self.peek(), Some('-' | '+')) {
            number.extend(self.bump());
            number.push_str(&self.take_while(|c| c.is_ascii_digit()));
        }
        Ok(TokenKind::Number(number))
    }

    /// `name`, `17`, `` `any text` ``, each perhaps followed by `.2`.
    fn name(&mut self) -> Result<Name, TextError> {
        let quoted = self.peek() == Some('`');
        let base = if quoted { self.quoted('`')? } else { self.take_while(|c| c == '_' || c.is_ascii_alphanumeric()) };
        if base.is_empty() && !quoted {
            return self.error("expected a name");
        }
        let mut after = self.rest.chars();
        let copy = if after.next() == Some('.') && after.next().is_some_and(|c| c.is_ascii_digit()) {
            self.bump();
            Some(self.integer()?)
        } else {
            None
        };
        Ok(Name { base, copy, quoted })
    }

    fn quoted(&mut self, quote: char) -> Result<String, TextError> {
        self.bump();
        let mut text = String::new();
        loop {
            match self.bump() {
                None => return self.error("the text in quotes does not end"),
                Some(c) if c == quote => return Ok(text),
                Some('\\') => match self.bump() {
                    Some('n') => text.push('\n'),
                    Some('r') => text.push('\r'),
                    Some('t') => text.push('\t'),
                    Some('u') => text.push(self.unicode()?),
                    Some(c @ ('\\' | '"' | '`')) => text.push(c),
                    Some(_) | None => return self.error("unknown escape"),
                },
                Some(c) => text.push(c),
            }
        }
    }

    /// `{1f600}` of an escape.
    fn unicode(&mut self) -> Result<char, TextError> {
        if self.bump() != Some('{') {
            return self.error("expected `{` after `\\u`");
        }
        let digits = self.take_while(|c| c.is_ascii_hexdigit());
        if self.bump() != Some('}') {
            return self.error("expected `}` at the end of `\\u{`");
        }
        match u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32) {
            Some(c) => Ok(c),
            None => self.error("no such character"),
        }
    }
}
