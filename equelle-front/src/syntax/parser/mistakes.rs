//! Messages about particular mistakes. They are apart from the grammar so that the frames of its
//! recursive functions stay small.

use super::cursor::Cursor;
use super::{Failed, Parser, Reports};
use crate::diagnostic::{Code, Diagnostic};
use crate::ops::Comparison;
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind};
use crate::syntax::token::TokenKind;
use crate::unit_spelling::{kelvins, spelling};
use crate::units::UNITS;

/// Reports of mistakes at the next token.
pub(super) struct Mistakes<'p, 't> {
    cursor: &'p Cursor<'t>,
    reports: &'p mut Reports,
}

impl<'t> Parser<'t> {
    pub(super) fn mistakes(&mut self) -> Mistakes<'_, 't> {
        Mistakes { cursor: &self.cursor, reports: &mut self.reports }
    }
}

impl<'t> Mistakes<'_, 't> {
    /// Reports a mistake at the next token.
    fn here(&mut self, code: Code, message: impl Into<String>, hint: impl Into<String>) -> Failed {
        self.reports.report(Diagnostic::new(code, self.cursor.span(), message).hint(hint))
    }

    pub fn upper_case_name(&mut self, what: &str) -> Failed {
        let name = self.cursor.text_of(self.cursor.span());
        let lower = lower_first(name);
        let d = Diagnostic::new(
            Code::UpperCaseName,
            self.cursor.span(),
            format!("expected {what}, found `{name}`, which begins with an upper-case letter"),
        )
        .label("reserved for built-in functions and units")
        .hint(format!("names begin with a lower-case letter: `{lower}`"));
        self.reports.report(d)
    }

    pub fn reserved_word_as_name(&mut self, word: &str, what: &str) -> Failed {
        self.here(
            Code::UnexpectedToken,
            format!("expected {what}, found the reserved word `{word}`"),
            format!("names begin with a lower-case letter: `{}` is free", word.to_ascii_lowercase()),
        )
    }

    pub fn builtin_without_call(&mut self) -> Failed {
        let name = self.cursor.text_of(self.cursor.span());
        let hint = match name {
            "If" | "Else" | "Break" => {
                "there is no such statement; choose between values with `condition ? a : b`, and repeat with `For`, `While` or `Repeat Until`"
                    .to_owned()
            }
            _ => format!("call the built-in function: `{name}(...)`; a unit goes in brackets after a number: `1 [{name}]`"),
        };
        let d = Diagnostic::new(Code::UpperCaseName, self.cursor.span(), format!("`{name}` is not a variable"))
            .label("names of variables begin with a lower-case letter")
            .hint(hint);
        self.reports.report(d)
    }

    pub fn too_deep(&mut self) -> Failed {
        if std::mem::replace(&mut self.reports.depth_reported, true) {
            return self.reports.known();
        }
        let limit = super::MAX_DEPTH;
        let d = Diagnostic::new(
            Code::NestingTooDeep,
            self.cursor.span(),
            format!("this statement is nested more than {limit} levels deep, or its chain of operators is too long"),
        )
        .note(format!(
            "every bracket and block counts as one level, and so does a chain such as `a + b + c`; a chain has up to {} operators",
            super::MAX_HEIGHT
        ))
        .hint("give parts of it names of their own");
        self.reports.report(d)
    }

    /// The same level twice, for operators that do not chain. `left` is what the first one made.
    pub fn chain(&mut self, op: BinaryOp, op_span: Span, first: Span, left: &Expr) -> Failed {
        let (a, b, composed) = match &left.kind {
            ExprKind::Binary { left: a, right: b, .. } => {
                (self.shown(a, "a"), self.shown(b, "b"), matches!(b.kind, ExprKind::Binary { .. }))
            }
            _ => ("a", "b", false),
        };
        let (one, two) = (self.cursor.text_of(first), self.cursor.text_of(op_span));
        let d = match op {
            BinaryOp::On | BinaryOp::Extend => {
                let d = Diagnostic::new(Code::OnChain, op_span, format!("a second `{two}` needs parentheses"))
                    .note("`On` and `Extend` bind weaker than arithmetic and comparison");
                if composed {
                    d.hint(format!("put each `{two}` in parentheses, as in `(a {one} f) + (b {two} f)`"))
                } else {
                    d.hint(format!("write `({a} {one} {b}) {two} ...` or `{a} {one} ({b} {two} ...)`"))
                }
            }
            BinaryOp::Power => Diagnostic::new(Code::PowerChain, op_span, "powers cannot be chained")
                .hint(format!("write `({a}^{b})^...` or `{a}^({b}^...)`")),
            // The other operators chain.
            BinaryOp::Comparison(_) | BinaryOp::Arithmetic(_) | BinaryOp::Logic(_) => {
                Diagnostic::new(Code::ComparisonChain, op_span, "comparisons cannot be chained")
                    .hint(format!("compare twice: `{a} {one} {b} And {b} {two} ...`"))
            }
        };
        self.reports.report(d.also(first, "the first one"))
    }

    /// At the exponent of `-x^2`, which mathematics and the table of operators read differently.
    pub fn power_of_negative(&mut self, op_span: Span, negative: &Expr) -> Failed {
        let operand = match &negative.kind {
            ExprKind::Unary { operand, .. } => self.shown(operand, "x"),
            _ => "x",
        };
        let d = Diagnostic::new(Code::PowerOfNegative, op_span, "the power of a negated value needs parentheses")
            .also(negative.span, "does the sign belong to the base, or to the power?")
            .hint(format!("write `-({operand}^...)` for the negated power, or `(-{operand})^...`"));
        self.reports.report(d)
    }

    /// The text of an operand if it is short enough to be shown, else a stand-in.
    fn shown(&self, expr: &Expr, stand_in: &'t str) -> &'t str {
        let text = self.cursor.text_of(expr.span);
        if text.len() <= 24 && !text.contains('\n') { text } else { stand_in }
    }

    pub fn ternary_chain(&mut self, if_false: Span) -> Failed {
        let d =
            Diagnostic::new(Code::TernaryChain, self.cursor.span(), "the last value of `? :` cannot be another `? :` without parentheses")
                .also(if_false, "this would be its condition")
                .hint("put it in parentheses: `a ? b : (c ? d : e)`");
        self.reports.report(d)
    }

    pub fn tight_not(&mut self, place: Span) -> Failed {
        let d = Diagnostic::new(Code::UnexpectedToken, place, "`Not` after a tighter operator needs parentheses")
            .hint("`Not` covers the whole comparison after it; write `(Not a)` to use its value in another one");
        self.reports.report(d)
    }

    /// After `base[`: whatever is there instead of an index.
    pub fn not_an_index(&mut self, base: Span) -> Failed {
        let place = self.cursor.span();
        let unit_follows = match self.cursor.peek() {
            TokenKind::Error => return self.reports.known(),
            TokenKind::Builtin => true,
            TokenKind::LeftParen => self.cursor.peek_at(1) == TokenKind::Builtin && self.cursor.peek_at(2) != TokenKind::LeftParen,
            _ => false,
        };
        if unit_follows {
            let unit = if self.cursor.peek() == TokenKind::Builtin { self.cursor.text_of(place) } else { "Meter" };
            let d = Diagnostic::new(Code::MisplacedUnit, place, "a unit can only follow a number")
                .also(base, "this is not a number literal")
                .hint(format!("multiply with one unit: `* 1 [{unit}]`"));
            return self.reports.report(d);
        }
        let d = Diagnostic::new(Code::UnexpectedToken, place, format!("expected a whole number as index, found {}", self.cursor.found()));
        self.reports.report(d.hint("an index is written out: `a[0]` is the first element; a collection cannot be indexed by position"))
    }

    pub fn bracket_after_quantity(&mut self) -> Failed {
        self.here(
            Code::IndexAfterNumber,
            "a number cannot be indexed, and has one unit at most",
            "write a composed unit in one bracket: `3 [Meter/Second]`",
        )
    }

    pub fn index_of_number(&mut self, place: Span) -> Failed {
        let d = Diagnostic::new(Code::IndexAfterNumber, place, "a number cannot be indexed")
            .label("brackets after a number hold its unit")
            .hint("write a unit, as in `3 [Meter]`, or put the number into an array first: `[3, 4][0]`");
        self.reports.report(d)
    }

    pub fn missing_item(&mut self, what: &str) -> Failed {
        let message = format!("expected {what}, found `{}`", self.cursor.text_of(self.cursor.span()));
        self.reports.report(
            Diagnostic::new(Code::MissingArgument, self.cursor.span(), message).hint(format!("remove the comma, or write {what} here")),
        )
    }

    pub fn typed_argument(&mut self) -> Failed {
        let d = Diagnostic::new(Code::InvalidParameter, self.cursor.span(), "types are not written in a call or a function definition")
            .hint("declare the function on a line before: `f : Function(x : Scalar) -> Scalar`, then `f(x) = {`");
        self.reports.report(d)
    }

    pub fn units_side_by_side(&mut self) -> Failed {
        let (a, b) = (self.cursor.text_of(self.cursor.last_span()), self.cursor.text_of(self.cursor.span()));
        self.reports
            .report(Diagnostic::new(Code::InvalidUnit, self.cursor.span(), "units side by side").hint(format!("multiply them: `{a}*{b}`")))
    }

    pub fn sum_of_units(&mut self) -> Failed {
        let message = format!("units are composed with `*`, `/` and `^`, not with `{}`", self.cursor.text_of(self.cursor.span()));
        self.here(Code::InvalidUnit, message, "give each number its own unit, and add the numbers: `3 [Meter] + 2 [Inch]`")
    }

    /// Reports a name or a number in place of a unit name.
    pub fn not_a_unit(&mut self) -> Failed {
        let place = self.cursor.span();
        match self.cursor.peek() {
            TokenKind::Name => {
                let name = self.cursor.text_of(place);
                let names = UNITS.iter().map(|unit| unit.name);
                let is_whole = self.cursor.tokens[self.cursor.at - 1].kind == TokenKind::LeftBracket
                    && self.cursor.peek_at(1) == TokenKind::RightBracket;
                let hint = match (kelvins(name, 20.0), spelling(name, names.clone(), !is_whole)) {
                    (Some(kelvins), _) => format!("the zero of this scale is another one: write kelvins, 20 are `{kelvins} [Kelvin]`"),
                    (None, Some(written)) => format!("units are words that begin with an upper-case letter: `{written}`"),
                    (None, None) => "units are words that begin with an upper-case letter; `equellec explain E0301` lists them".to_owned(),
                };
                let d = Diagnostic::new(Code::InvalidUnit, place, format!("expected a unit, found the name `{name}`"));
                self.reports.report(d.hint(hint))
            }
            _ => {
                let d = Diagnostic::new(Code::InvalidUnit, place, "a number inside a unit");
                self.reports.report(d.hint("move the number before the bracket, or use a prefix such as `Kilo`"))
            }
        }
    }

    pub fn not_an_exponent(&mut self) -> Failed {
        if self.cursor.peek() == TokenKind::Error {
            return self.reports.known();
        }
        let d = Diagnostic::new(
            Code::InvalidUnit,
            self.cursor.span(),
            format!("expected a whole number as exponent, found {}", self.cursor.found()),
        );
        self.reports.report(d.hint("exponents of units are whole numbers, as in `Meter^2` or `Second^-1`"))
    }

    pub fn out_of_range(&mut self, place: Span) -> Failed {
        let text = self.cursor.text_of(place);
        let d = Diagnostic::new(Code::NumberOutOfRange, place, format!("the number `{text}` is too large here"));
        self.reports.report(d.hint("exponents, indices and sizes of arrays are small whole numbers"))
    }

    pub fn closing_nothing(&mut self) -> Failed {
        self.here(Code::UnmatchedBrace, "this `}` closes nothing", "remove it, or look for a missing `{` before it")
    }

    pub fn brace_not_first(&mut self) {
        let d = Diagnostic::new(Code::MisplacedBrace, self.cursor.span(), "`}` is not the first thing on its line");
        self.reports.complain(d.hint("move it to a line of its own"));
    }

    pub fn brace_not_last(&mut self, open: Span) {
        let d = Diagnostic::new(Code::MisplacedBrace, open, "`{` is not the last thing on its line");
        self.reports.complain(d.hint("begin the first statement of the block, and the `}`, on lines of their own"));
    }

    pub fn after_closing_brace(&mut self) -> Failed {
        if self.cursor.peek() == TokenKind::Error {
            return self.reports.known();
        }
        let message = format!("expected the end of the line after `}}`, found {}", self.cursor.found());
        self.here(Code::MisplacedBrace, message, "only a comment may follow `}` on its line")
    }

    pub fn block_of_nothing(&mut self) -> Failed {
        self.here(
            Code::MisplacedBrace,
            "this block belongs to no function and no loop",
            "a block follows `name(parameters) =`, `For name In sequence`, `While` or `Repeat Until`",
        )
    }

    pub fn begins_with_function(&mut self) -> Failed {
        self.here(
            Code::UnexpectedToken,
            "a statement cannot begin with `Function`",
            "declare with `f : Function(x : Scalar) -> Scalar`, define with `f(x) = {`",
        )
    }

    /// At the `=` after a function declaration whose name and parameters are these.
    pub fn declaration_with_body(&mut self, name: &str, params: &[&str]) -> Failed {
        let d = Diagnostic::new(Code::DeclarationWithBody, self.cursor.span(), "a function is declared and defined in two statements");
        let definition = format!("{name}({}) = {{", params.join(", "));
        self.reports.report(d.hint(format!("end the declaration here and begin the definition on the next line: `{definition}`")))
    }

    /// At the `{` after `head`, a name and its parameters.
    pub fn body_without_assign(&mut self, head: Span) -> Failed {
        let d = Diagnostic::new(Code::UnexpectedToken, self.cursor.span(), "expected `=` before the body of a function, found `{`");
        let head = self.cursor.text_of(head);
        self.reports.report(d.hint(format!("write `{head} = {{`")))
    }

    pub fn odd_parameter(&mut self, place: Span) {
        let d = Diagnostic::new(Code::InvalidParameter, place, "a parameter of a function definition must be a plain name");
        self.reports.complain(d.hint("name the parameter here and use it in the body"));
    }

    /// A whole expression stands where a statement should; the next token comes after it.
    pub fn not_a_statement(&mut self, expr: &Expr) -> Failed {
        if self.cursor.peek() == TokenKind::Assign {
            let d = Diagnostic::new(Code::ExpressionStatement, expr.span, "only a name can be assigned to");
            let hint = match expr.kind {
                ExprKind::Index { .. } => "arrays are assigned as a whole: `a = [x, y]`",
                _ => "write `name = value`",
            };
            return self.reports.report(d.hint(hint));
        }
        let d = Diagnostic::new(Code::ExpressionStatement, expr.span, "an expression is not a statement");
        let hint = match &expr.kind {
            ExprKind::Binary { op: BinaryOp::Comparison(Comparison::Equal), left, .. } if matches!(left.kind, ExprKind::Name(_)) => {
                "to assign write a single `=`".to_owned()
            }
            ExprKind::Name(name) => format!("to call a function write `{name}()`; to show a value write `Output(\"{name}\", {name})`"),
            _ => "give the value a name, `x = ...`, or write it out, `Output(\"x\", ...)`".to_owned(),
        };
        self.reports.report(d.hint(hint))
    }
}

/// `Flux` to `flux`, `FLUX` to `flux`.
fn lower_first(name: &str) -> String {
    if name.chars().all(|c| !c.is_ascii_lowercase()) {
        return name.to_ascii_lowercase();
    }
    let mut chars = name.chars();
    let first = chars.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(chars).collect()
}
