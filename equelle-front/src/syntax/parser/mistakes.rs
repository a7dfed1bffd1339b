//! Messages about particular mistakes. They are apart from the grammar so that the frames of its
//! recursive functions stay small.

use super::{Failed, Parser};
use crate::diagnostic::{Code, Diagnostic};
use crate::ops::Comparison;
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind};
use crate::syntax::token::TokenKind;
use crate::unit_spelling::{kelvins, spelling};
use crate::units::UNITS;

impl<'t> Parser<'t> {
    pub(super) fn upper_case_name(&mut self, what: &str) -> Failed {
        let name = self.text_of(self.span());
        let lower = lower_first(name);
        let d = Diagnostic::new(
            Code::UpperCaseName,
            self.span(),
            format!("expected {what}, found `{name}`, which begins with an upper-case letter"),
        )
        .label("reserved for built-in functions and units")
        .hint(format!("names begin with a lower-case letter: `{lower}`"));
        self.report(d)
    }

    pub(super) fn reserved_word_as_name(&mut self, word: &str, what: &str) -> Failed {
        let d = Diagnostic::new(Code::UnexpectedToken, self.span(), format!("expected {what}, found the reserved word `{word}`"));
        self.report(d.hint(format!("names begin with a lower-case letter: `{}` is free", word.to_ascii_lowercase())))
    }

    pub(super) fn builtin_without_call(&mut self) -> Failed {
        let name = self.text_of(self.span());
        let hint = match name {
            "If" | "Else" | "Break" => {
                "there is no such statement; choose between values with `condition ? a : b`, and repeat with `For`, `While` or `Repeat Until`"
                    .to_owned()
            }
            _ => format!("call the built-in function: `{name}(...)`; a unit goes in brackets after a number: `1 [{name}]`"),
        };
        let d = Diagnostic::new(Code::UpperCaseName, self.span(), format!("`{name}` is not a variable"))
            .label("names of variables begin with a lower-case letter")
            .hint(hint);
        self.report(d)
    }

    pub(super) fn too_deep(&mut self) -> Failed {
        if std::mem::replace(&mut self.depth_reported, true) {
            self.reported = true;
            return Failed;
        }
        let limit = super::MAX_DEPTH;
        let d = Diagnostic::new(
            Code::NestingTooDeep,
            self.span(),
            format!("this statement is nested more than {limit} levels deep, or its chain of operators is too long"),
        )
        .note(format!(
            "every bracket and block counts as one level, and so does a chain such as `a + b + c`; a chain has up to {} operators",
            super::MAX_HEIGHT
        ))
        .hint("give parts of it names of their own");
        self.report(d)
    }

    /// The same level twice, for operators that do not chain. `left` is what the first one made.
    pub(super) fn chain(&mut self, op: BinaryOp, op_span: Span, first: Span, left: &Expr) -> Failed {
        let (a, b, composed) = match &left.kind {
            ExprKind::Binary { left: a, right: b, .. } => {
                (self.shown(a, "a"), self.shown(b, "b"), matches!(b.kind, ExprKind::Binary { .. }))
            }
            _ => ("a", "b", false),
        };
        let (one, two) = (self.text_of(first), self.text_of(op_span));
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
        self.report(d.also(first, "the first one"))
    }

    /// At the exponent of `-x^2`, which mathematics and the table of operators read differently.
    pub(super) fn power_of_negative(&mut self, op_span: Span, negative: &Expr) -> Failed {
        let operand = match &negative.kind {
            ExprKind::Unary { operand, .. } => self.shown(operand, "x"),
            _ => "x",
        };
        let d = Diagnostic::new(Code::PowerOfNegative, op_span, "the power of a negated value needs parentheses")
            .also(negative.span, "does the sign belong to the base, or to the power?")
            .hint(format!("write `-({operand}^...)` for the negated power, or `(-{operand})^...`"));
        self.report(d)
    }

    /// The text of an operand if it is short enough to be shown, else a stand-in.
    fn shown(&self, expr: &Expr, stand_in: &'t str) -> &'t str {
        let text = self.text_of(expr.span);
        if text.len() <= 24 && !text.contains('\n') { text } else { stand_in }
    }

    pub(super) fn ternary_chain(&mut self, if_false: Span) -> Failed {
        let d = Diagnostic::new(Code::TernaryChain, self.span(), "the last value of `? :` cannot be another `? :` without parentheses")
            .also(if_false, "this would be its condition")
            .hint("put it in parentheses: `a ? b : (c ? d : e)`");
        self.report(d)
    }

    pub(super) fn tight_not(&mut self, place: Span) -> Failed {
        let d = Diagnostic::new(Code::UnexpectedToken, place, "`Not` after a tighter operator needs parentheses")
            .hint("`Not` covers the whole comparison after it; write `(Not a)` to use its value in another one");
        self.report(d)
    }

    /// After `base[`: whatever is there instead of an index.
    pub(super) fn not_an_index(&mut self, base: Span) -> Failed {
        let place = self.span();
        let unit_follows = match self.peek() {
            TokenKind::Error => return self.unexpected("an index"),
            TokenKind::Builtin => true,
            TokenKind::LeftParen => self.peek_at(1) == TokenKind::Builtin && self.peek_at(2) != TokenKind::LeftParen,
            _ => false,
        };
        if unit_follows {
            let unit = if self.peek() == TokenKind::Builtin { self.text_of(place) } else { "Meter" };
            let d = Diagnostic::new(Code::MisplacedUnit, place, "a unit can only follow a number")
                .also(base, "this is not a number literal")
                .hint(format!("multiply with one unit: `* 1 [{unit}]`"));
            return self.report(d);
        }
        let d = Diagnostic::new(Code::UnexpectedToken, place, format!("expected a whole number as index, found {}", self.found()));
        self.report(d.hint("an index is written out: `a[0]` is the first element; a collection cannot be indexed by position"))
    }

    pub(super) fn bracket_after_quantity(&mut self) -> Failed {
        let d = Diagnostic::new(Code::IndexAfterNumber, self.span(), "a number cannot be indexed, and has one unit at most");
        self.report(d.hint("write a composed unit in one bracket: `3 [Meter/Second]`"))
    }

    pub(super) fn index_of_number(&mut self, place: Span) -> Failed {
        let d = Diagnostic::new(Code::IndexAfterNumber, place, "a number cannot be indexed")
            .label("brackets after a number hold its unit")
            .hint("write a unit, as in `3 [Meter]`, or put the number into an array first: `[3, 4][0]`");
        self.report(d)
    }

    pub(super) fn missing_item(&mut self, what: &str) -> Failed {
        let message = format!("expected {what}, found `{}`", self.text_of(self.span()));
        self.report(Diagnostic::new(Code::MissingArgument, self.span(), message).hint(format!("remove the comma, or write {what} here")))
    }

    pub(super) fn typed_argument(&mut self) -> Failed {
        let d = Diagnostic::new(Code::InvalidParameter, self.span(), "types are not written in a call or a function definition")
            .hint("declare the function on a line before: `f : Function(x : Scalar) -> Scalar`, then `f(x) = {`");
        self.report(d)
    }

    pub(super) fn units_side_by_side(&mut self) -> Failed {
        let (a, b) = (self.text_of(self.last_span()), self.text_of(self.span()));
        self.report(Diagnostic::new(Code::InvalidUnit, self.span(), "units side by side").hint(format!("multiply them: `{a}*{b}`")))
    }

    pub(super) fn sum_of_units(&mut self) -> Failed {
        let message = format!("units are composed with `*`, `/` and `^`, not with `{}`", self.text_of(self.span()));
        let d = Diagnostic::new(Code::InvalidUnit, self.span(), message);
        self.report(d.hint("give each number its own unit, and add the numbers: `3 [Meter] + 2 [Inch]`"))
    }

    /// Reports a token in place of a unit name.
    pub(super) fn not_a_unit(&mut self) -> Failed {
        let place = self.span();
        match self.peek() {
            TokenKind::Number { .. } => {
                let d = Diagnostic::new(Code::InvalidUnit, place, "a number inside a unit");
                self.report(d.hint("move the number before the bracket, or use a prefix such as `Kilo`"))
            }
            TokenKind::Name => {
                let name = self.text_of(place);
                let names = UNITS.iter().map(|unit| unit.name);
                let is_whole = self.tokens[self.at - 1].kind == TokenKind::LeftBracket && self.peek_at(1) == TokenKind::RightBracket;
                let hint = match (kelvins(name, 20.0), spelling(name, names.clone(), !is_whole)) {
                    (Some(kelvins), _) => format!("the zero of this scale is another one: write kelvins, 20 are `{kelvins} [Kelvin]`"),
                    (None, Some(written)) => format!("units are words that begin with an upper-case letter: `{written}`"),
                    (None, None) => "units are words that begin with an upper-case letter; `equellec explain E0301` lists them".to_owned(),
                };
                let d = Diagnostic::new(Code::InvalidUnit, place, format!("expected a unit, found the name `{name}`"));
                self.report(d.hint(hint))
            }
            _ => self.unexpected("a unit, such as `Meter`"),
        }
    }

    pub(super) fn not_an_exponent(&mut self) -> Failed {
        if self.peek() == TokenKind::Error {
            return self.unexpected("an exponent");
        }
        let d = Diagnostic::new(Code::InvalidUnit, self.span(), format!("expected a whole number as exponent, found {}", self.found()));
        self.report(d.hint("exponents of units are whole numbers, as in `Meter^2` or `Second^-1`"))
    }

    pub(super) fn out_of_range(&mut self, place: Span) -> Failed {
        let text = self.text_of(place);
        let d = Diagnostic::new(Code::NumberOutOfRange, place, format!("the number `{text}` is too large here"));
        self.report(d.hint("exponents, indices and sizes of arrays are small whole numbers"))
    }

    pub(super) fn closing_nothing(&mut self) -> Failed {
        let d = Diagnostic::new(Code::UnmatchedBrace, self.span(), "this `}` closes nothing");
        self.report(d.hint("remove it, or look for a missing `{` before it"))
    }

    pub(super) fn brace_not_first(&mut self) {
        let d = Diagnostic::new(Code::MisplacedBrace, self.span(), "`}` is not the first thing on its line");
        self.complain(d.hint("move it to a line of its own"));
    }

    pub(super) fn brace_not_last(&mut self, open: Span) {
        let d = Diagnostic::new(Code::MisplacedBrace, open, "`{` is not the last thing on its line");
        self.complain(d.hint("begin the first statement of the block, and the `}`, on lines of their own"));
    }

    pub(super) fn after_closing_brace(&mut self) -> Failed {
        if self.peek() == TokenKind::Error {
            return self.unexpected("the end of the line");
        }
        let message = format!("expected the end of the line after `}}`, found {}", self.found());
        let d = Diagnostic::new(Code::MisplacedBrace, self.span(), message);
        self.report(d.hint("only a comment may follow `}` on its line"))
    }

    pub(super) fn block_of_nothing(&mut self) -> Failed {
        let d = Diagnostic::new(Code::MisplacedBrace, self.span(), "this block belongs to no function and no loop");
        self.report(d.hint("a block follows `name(parameters) =`, `For name In sequence`, `While` or `Repeat Until`"))
    }

    pub(super) fn begins_with_function(&mut self) -> Failed {
        let d = Diagnostic::new(Code::UnexpectedToken, self.span(), "a statement cannot begin with `Function`");
        self.report(d.hint("declare with `f : Function(x : Scalar) -> Scalar`, define with `f(x) = {`"))
    }

    /// At the `=` after a function declaration whose name and parameters are these.
    pub(super) fn declaration_with_body(&mut self, name: &str, params: &[&str]) -> Failed {
        let d = Diagnostic::new(Code::DeclarationWithBody, self.span(), "a function is declared and defined in two statements");
        let definition = format!("{name}({}) = {{", params.join(", "));
        self.report(d.hint(format!("end the declaration here and begin the definition on the next line: `{definition}`")))
    }

    /// At the `{` after `head`, a name and its parameters.
    pub(super) fn body_without_assign(&mut self, head: Span) -> Failed {
        let d = Diagnostic::new(Code::UnexpectedToken, self.span(), "expected `=` before the body of a function, found `{`");
        let head = self.text_of(head);
        self.report(d.hint(format!("write `{head} = {{`")))
    }

    pub(super) fn odd_parameter(&mut self, place: Span) {
        let d = Diagnostic::new(Code::InvalidParameter, place, "a parameter of a function definition must be a plain name");
        self.complain(d.hint("name the parameter here and use it in the body"));
    }

    /// The end of the text inside the block that begins here: reported once, for the outermost one;
    /// where blocks are told by their indentation, for each.
    pub(super) fn unclosed(&mut self, block: Span) {
        if self.by_indentation {
            let next = self.tokens[self.at + usize::from(self.peek() == TokenKind::Newline)].span;
            let d = Diagnostic::new(Code::MissingBrace, block, "this block is never closed")
                .also(next, "by its indentation, this is outside of the block: a `}` is missing before it")
                .hint("add the missing `}` on a line of its own");
            self.diagnostics.push(d);
            return;
        }
        let Some(&open) = self.blocks.first().filter(|_| !self.unclosed_reported) else { return };
        self.unclosed_reported = true;
        let d = Diagnostic::new(Code::MissingBrace, open, "this block is never closed").hint("add the missing `}` on a line of its own");
        let d = match self.misaligned {
            Some((inner, close)) => d
                .also(inner, "perhaps it is this block that lacks its `}`")
                .also(close, "it is closed by this one, which is indented otherwise"),
            None => d,
        };
        self.diagnostics.push(d);
    }

    /// At a line that begins like the rest of the statement on the line before.
    pub(super) fn stray_continuation(&mut self) -> Failed {
        let before = self.tokens[self.at - 2].span;
        let d = Diagnostic::new(Code::MissingContinuation, self.span(), format!("a statement cannot begin with {}", self.found()))
            .also(before, "if it continues this line, `...` is missing here")
            .hint("end the line before with `...`");
        let failed = self.report(d);
        self.spoiled = true;
        self.skip_continuation_lines();
        failed
    }

    /// A whole expression stands where a statement should; the next token comes after it.
    pub(super) fn not_a_statement(&mut self, expr: &Expr) -> Failed {
        if self.peek() == TokenKind::Assign {
            let d = Diagnostic::new(Code::ExpressionStatement, expr.span, "only a name can be assigned to");
            let hint = match expr.kind {
                ExprKind::Index { .. } => "arrays are assigned as a whole: `a = [x, y]`",
                _ => "write `name = value`",
            };
            return self.report(d.hint(hint));
        }
        let d = Diagnostic::new(Code::ExpressionStatement, expr.span, "an expression is not a statement");
        let hint = match &expr.kind {
            ExprKind::Binary { op: BinaryOp::Comparison(Comparison::Equal), left, .. } if matches!(left.kind, ExprKind::Name(_)) => {
                "to assign write a single `=`".to_owned()
            }
            ExprKind::Name(name) => format!("to call a function write `{name}()`; to show a value write `Output(\"{name}\", {name})`"),
            _ => "give the value a name, `x = ...`, or write it out, `Output(\"x\", ...)`".to_owned(),
        };
        self.report(d.hint(hint))
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
