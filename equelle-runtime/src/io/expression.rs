//! Expressions in parameters: `1 + x*y`, `x < 0.5 And PORO > 0.1`. They mean what they mean in
//! programs: the same precedence, the same functions, the same bits.
//!
//! | level | operators | chains |
//! | --- | --- | --- |
//! | 1 | `? :` | no; the middle operand may be one |
//! | 2, 3, 4 | `Or`, `Xor`, `And` | to the left |
//! | 5 | `==` `!=`, and prefix `Not` just below them | no |
//! | 6 | `<` `>` `<=` `>=` | no |
//! | 7 | `+` `-` | to the left |
//! | 8 | `*` | to the left |
//! | 9 | `/` | to the left |
//! | 10 | `^` | no; its left side is not a prefix `-` |
//! | 11 | prefix `-` | |
//!
//! One thing is stricter than in programs: numbers that are compared must be finite.

mod evaluate;

use super::token::{Symbol, TextError, TokenKind, Tokens};
use crate::operators::{Binary, BinaryMath, Comparison, Elementary, Logic, Unary};
use crate::params::near_match;
pub use evaluate::{BLOCK, Scratch};

const LOOSEST: u8 = 2;
const EQUALITY: u8 = 5;
const COMPARISON: u8 = 6;
const PREFIX: u8 = 11;

/// Highest tree: bounds the stack that evaluation needs.
const MAX_HEIGHT: usize = 1000;

/// Names of the functions of one number.
fn unary_names() -> impl Iterator<Item = (&'static str, Unary)> {
    let elementary = Elementary::ALL.map(|function| (function.name(), Unary::Elementary(function)));
    [("Sqrt", Unary::Sqrt), ("Abs", Unary::Abs)].into_iter().chain(elementary)
}

/// The names that an expression may use.
pub trait Names {
    /// Index of the variable of this name; `quoted`: it was written between quotes.
    ///
    /// # Errors
    /// The error in the name; the parser adds the place.
    fn variable(&mut self, name: &str, quoted: bool) -> Result<usize, TextError>;
}

/// An expression whose value is a number.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// A constant.
    Constant(f64),
    /// The variable of an index.
    Variable(usize),
    /// A function of one number.
    Unary(Unary, Box<Number>),
    /// A function of two numbers.
    Binary(Binary, Box<Number>, Box<Number>),
    /// A power with a whole number as exponent, by squaring and multiplying.
    Power(Box<Number>, i32),
    /// The first number where the condition holds, else the second.
    Choice(Box<Truth>, Box<Number>, Box<Number>),
}

/// An expression whose value is a truth value.
#[derive(Clone, Debug, PartialEq)]
pub enum Truth {
    /// A constant.
    Constant(bool),
    /// A comparison of two numbers.
    Compare(Comparison, Box<Number>, Box<Number>),
    /// A logical operator.
    Logic(Logic, Box<Truth>, Box<Truth>),
    /// The opposite.
    Not(Box<Truth>),
    /// The second where the first holds, else the third.
    Choice(Box<Truth>, Box<Truth>, Box<Truth>),
}

/// An expression of either type.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// With a number as value.
    Number(Number),
    /// With a truth value.
    Truth(Truth),
}

/// An expression that is the whole text.
///
/// # Errors
/// Text that is no expression, an unknown name, a number in place of a truth value or the other way
/// round, and more than some hundred levels or a thousand operators behind one another.
pub fn parse(text: &str, names: &mut dyn Names) -> Result<Expression, TextError> {
    let mut tokens = Tokens::new(text)?;
    let expression = parse_from(&mut tokens, names)?;
    tokens.expect_end("an operator")?;
    Ok(expression)
}

/// A number that is the whole text.
///
/// # Errors
/// As [`parse`], and for a truth value.
pub fn parse_number(text: &str, names: &mut dyn Names) -> Result<Number, TextError> {
    let offset = text.len() - text.trim_start().len();
    match parse(text, names)? {
        Expression::Number(number) => Ok(number),
        Expression::Truth(_) => {
            Err(TextError::new(offset, "a truth value, where a number is needed").hint("choose numbers by it: `condition ? 1 : 0`"))
        }
    }
}

/// The expression that begins with the next token.
///
/// # Errors
/// As [`parse`].
pub fn parse_from(tokens: &mut Tokens<'_>, names: &mut dyn Names) -> Result<Expression, TextError> {
    Parser { tokens, names }.ternary().map(|part| part.value)
}

/// A truth value that begins with the next token.
///
/// # Errors
/// As [`parse`], and for a number.
pub fn truth_from(tokens: &mut Tokens<'_>, names: &mut dyn Names) -> Result<Truth, TextError> {
    Parser { tokens, names }.ternary()?.truth("the condition").map(|(truth, _)| truth)
}

/// A part of an expression.
struct Part {
    value: Expression,
    offset: usize,
    /// Levels of its tree.
    height: usize,
    /// True if it is a prefix `-`, not in parentheses.
    negative: bool,
}

impl Part {
    fn number(self, what: &str) -> Result<(Box<Number>, usize), TextError> {
        match self.value {
            Expression::Number(number) => Ok((Box::new(number), self.height)),
            Expression::Truth(_) => Err(TextError::new(self.offset, format!("{what} must be a number, and this is a truth value"))
                .hint("choose numbers by it: `condition ? 1 : 0`")),
        }
    }

    fn truth(self, what: &str) -> Result<(Truth, usize), TextError> {
        match self.value {
            Expression::Truth(truth) => Ok((truth, self.height)),
            Expression::Number(_) => {
                Err(TextError::new(self.offset, format!("{what} must be a truth value, and this is a number")).hint("compare it: `x > 0`"))
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Operator {
    Logic(Logic),
    Compare(Comparison),
    Arithmetic(Binary),
    Power,
}

/// An infix operator with its text, its level, and whether it chains.
fn infix(kind: TokenKind<'_>) -> Option<(Operator, &'static str, u8, bool)> {
    Some(match kind {
        TokenKind::Name("Or") => (Operator::Logic(Logic::Or), "Or", 2, true),
        TokenKind::Name("Xor") => (Operator::Logic(Logic::Xor), "Xor", 3, true),
        TokenKind::Name("And") => (Operator::Logic(Logic::And), "And", 4, true),
        TokenKind::Symbol(Symbol::Equal) => (Operator::Compare(Comparison::Equal), "==", EQUALITY, false),
        TokenKind::Symbol(Symbol::NotEqual) => (Operator::Compare(Comparison::NotEqual), "!=", EQUALITY, false),
        TokenKind::Symbol(Symbol::Less) => (Operator::Compare(Comparison::Less), "<", COMPARISON, false),
        TokenKind::Symbol(Symbol::Greater) => (Operator::Compare(Comparison::Greater), ">", COMPARISON, false),
        TokenKind::Symbol(Symbol::LessEqual) => (Operator::Compare(Comparison::LessEqual), "<=", COMPARISON, false),
        TokenKind::Symbol(Symbol::GreaterEqual) => (Operator::Compare(Comparison::GreaterEqual), ">=", COMPARISON, false),
        TokenKind::Symbol(Symbol::Plus) => (Operator::Arithmetic(Binary::Add), "+", 7, true),
        TokenKind::Symbol(Symbol::Minus) => (Operator::Arithmetic(Binary::Sub), "-", 7, true),
        TokenKind::Symbol(Symbol::Star) => (Operator::Arithmetic(Binary::Mul), "*", 8, true),
        TokenKind::Symbol(Symbol::Slash) => (Operator::Arithmetic(Binary::Div), "/", 9, true),
        TokenKind::Symbol(Symbol::Caret) => (Operator::Power, "^", 10, false),
        TokenKind::Number(_) | TokenKind::Name(_) | TokenKind::Quoted(_) | TokenKind::Symbol(_) | TokenKind::End => return None,
    })
}

struct Parser<'t, 'a, 'n> {
    tokens: &'t mut Tokens<'a>,
    names: &'n mut dyn Names,
}

impl Parser<'_, '_, '_> {
    fn ternary(&mut self) -> Result<Part, TextError> {
        self.tokens.descend()?;
        let mut part = self.binary(LOOSEST)?;
        if self.tokens.eat(Symbol::Question) {
            let offset = part.offset;
            let (condition, height) = part.truth("the condition of `? :`")?;
            let if_true = self.ternary()?;
            self.tokens.expect(Symbol::Colon, "`:` and the value where the condition is false")?;
            let if_false = self.binary(LOOSEST)?;
            if self.tokens.is(Symbol::Question) {
                return Err(TextError::new(self.tokens.peek().offset, "a `? :` after the `:` of another one")
                    .hint("put it in parentheses: `a ? b : (c ? d : e)`"));
            }
            let height = height.max(if_true.height).max(if_false.height) + 1;
            let value = match if_true.value {
                Expression::Number(a) => {
                    let (b, _) = if_false.number("as the value before the `:`, the one after it")?;
                    Expression::Number(Number::Choice(Box::new(condition), Box::new(a), b))
                }
                Expression::Truth(a) => {
                    let (b, _) = if_false.truth("as the value before the `:`, the one after it")?;
                    Expression::Truth(Truth::Choice(Box::new(condition), Box::new(a), Box::new(b)))
                }
            };
            part = self.part(value, offset, height)?;
        }
        self.tokens.ascend();
        Ok(part)
    }

    /// Operands joined by infix operators at least as tight as `min`.
    fn binary(&mut self, min: u8) -> Result<Part, TextError> {
        let mut left = self.prefix(min)?;
        let mut last = None;
        while let Some((operator, symbol, level, chains)) = infix(self.tokens.peek().kind) {
            if level < min {
                break;
            }
            let place = self.tokens.advance().offset;
            if last == Some(level) && !chains {
                return Err(TextError::new(place, format!("a second `{symbol}` or operator of its kind without parentheses"))
                    .hint(if level == COMPARISON { "write `a < b And b < c`" } else { "put one of them in parentheses" }));
            }
            if operator == Operator::Power && left.negative {
                return Err(TextError::new(left.offset, "a power of a number with a sign").hint("write `-(a^b)` or `(-a)^b`"));
            }
            self.tokens.descend()?;
            let right = self.binary(level + 1)?;
            self.tokens.ascend();
            left = self.joined(operator, symbol, left, right)?;
            last = Some(level);
        }
        Ok(left)
    }

    fn joined(&self, operator: Operator, symbol: &str, left: Part, right: Part) -> Result<Part, TextError> {
        let (offset, height) = (left.offset, left.height.max(right.height) + 1);
        let [first, second] = ["left", "right"].map(|side| format!("the {side} side of `{symbol}`"));
        let value = match operator {
            Operator::Logic(logic) => {
                let (a, b) = (left.truth(&first)?.0, right.truth(&second)?.0);
                Expression::Truth(Truth::Logic(logic, Box::new(a), Box::new(b)))
            }
            Operator::Compare(comparison @ (Comparison::Equal | Comparison::NotEqual)) if matches!(left.value, Expression::Truth(_)) => {
                let (a, b) = (left.truth(&first)?.0, right.truth(&second)?.0);
                let differ = Truth::Logic(Logic::Xor, Box::new(a), Box::new(b));
                Expression::Truth(if comparison == Comparison::Equal { Truth::Not(Box::new(differ)) } else { differ })
            }
            Operator::Compare(comparison) => {
                Expression::Truth(Truth::Compare(comparison, left.number(&first)?.0, right.number(&second)?.0))
            }
            Operator::Arithmetic(function) => {
                Expression::Number(Number::Binary(function, left.number(&first)?.0, right.number(&second)?.0))
            }
            Operator::Power => Expression::Number(raised(left.number(&first)?.0, right.number(&second)?.0)),
        };
        self.part(value, offset, height)
    }

    fn prefix(&mut self, min: u8) -> Result<Part, TextError> {
        let token = self.tokens.peek();
        let is_not = match token.kind {
            TokenKind::Symbol(Symbol::Minus) => false,
            TokenKind::Name("Not") => true,
            TokenKind::Number(_) | TokenKind::Name(_) | TokenKind::Quoted(_) | TokenKind::Symbol(_) | TokenKind::End => {
                return self.primary();
            }
        };
        if is_not && min > EQUALITY {
            return Err(TextError::new(token.offset, "`Not` after an operator that binds tighter").hint("put it in parentheses: `(Not a)`"));
        }
        self.tokens.advance();
        self.tokens.descend()?;
        let operand = if is_not { self.binary(EQUALITY)? } else { self.prefix(PREFIX)? };
        self.tokens.ascend();
        let height = operand.height + 1;
        let value = if is_not {
            Expression::Truth(Truth::Not(Box::new(operand.truth("the operand of `Not`")?.0)))
        } else {
            Expression::Number(Number::Unary(Unary::Neg, operand.number("the operand of `-`")?.0))
        };
        self.part(value, token.offset, height).map(|part| Part { negative: !is_not, ..part })
    }

    fn primary(&mut self) -> Result<Part, TextError> {
        let token = self.tokens.peek();
        let value = match token.kind {
            TokenKind::Number(value) => Expression::Number(Number::Constant(value)),
            TokenKind::Name("True") => Expression::Truth(Truth::Constant(true)),
            TokenKind::Name("False") => Expression::Truth(Truth::Constant(false)),
            TokenKind::Name(name) if self.tokens.peek_second().kind == TokenKind::Symbol(Symbol::Open) => return self.call(name),
            TokenKind::Name(name @ ("And" | "Or" | "Xor")) => {
                return Err(TextError::new(token.offset, format!("`{name}` without a left side")));
            }
            TokenKind::Name(name) => self.variable(name, false, token.offset)?,
            TokenKind::Quoted(name) => self.variable(name, true, token.offset)?,
            TokenKind::Symbol(Symbol::Open) => {
                self.tokens.advance();
                let inner = self.ternary()?;
                self.tokens.expect(Symbol::Close, "an operator or `)`")?;
                return Ok(Part { offset: token.offset, negative: false, ..inner });
            }
            TokenKind::Symbol(_) | TokenKind::End => return Err(self.tokens.unexpected("a number, a name or `(`")),
        };
        self.tokens.advance();
        self.part(value, token.offset, 1)
    }

    fn variable(&mut self, name: &str, quoted: bool, offset: usize) -> Result<Expression, TextError> {
        self.names.variable(name, quoted).map(|index| Expression::Number(Number::Variable(index))).map_err(|e| e.within(offset))
    }

    fn call(&mut self, name: &str) -> Result<Part, TextError> {
        let offset = self.tokens.advance().offset;
        self.tokens.advance();
        let function = unary_names().find(|(known, _)| *known == name).map(|(_, unary)| unary);
        let of_two = BinaryMath::ALL.into_iter().find(|function| function.name() == name);
        if function.is_none() && of_two.is_none() {
            return Err(unknown_function(name, offset));
        }
        let what = format!("the argument of `{name}`");
        let (a, mut height) = self.ternary()?.number(&what)?;
        let value = match (function, of_two) {
            (Some(function), _) => {
                self.tokens.expect(Symbol::Close, &format!("an operator, or `)`: `{name}` has one argument"))?;
                Number::Unary(function, a)
            }
            (None, of_two) => {
                self.tokens.expect(Symbol::Comma, &format!("an operator, or `,`: `{name}` has two arguments"))?;
                let (b, second) = self.ternary()?.number(&what)?;
                height = height.max(second);
                self.tokens.expect(Symbol::Close, &format!("an operator, or `)`: `{name}` has two arguments"))?;
                match of_two {
                    Some(BinaryMath::Pow) => raised(a, b),
                    Some(function @ (BinaryMath::Min | BinaryMath::Max | BinaryMath::ATan2)) => {
                        Number::Binary(Binary::Math(function), a, b)
                    }
                    None => return Err(unknown_function(name, offset)),
                }
            }
        };
        self.part(Expression::Number(value), offset, height + 1)
    }

    fn part(&self, value: Expression, offset: usize, height: usize) -> Result<Part, TextError> {
        if height > MAX_HEIGHT {
            return Err(TextError::new(self.tokens.peek().offset, format!("more than {MAX_HEIGHT} operators behind one another")));
        }
        Ok(Part { value, offset, height, negative: false })
    }
}

/// A power, by multiplications if the exponent is written as a whole number.
fn raised(base: Box<Number>, exponent: Box<Number>) -> Number {
    let whole = |value: f64| (value.fract() == 0.0 && value.abs() <= f64::from(i32::MAX)).then_some(value as i32);
    let written = match &*exponent {
        Number::Constant(value) => whole(*value),
        Number::Unary(Unary::Neg, inner) => match **inner {
            Number::Constant(value) => whole(value).map(|n| -n),
            Number::Variable(_) | Number::Unary(..) | Number::Binary(..) | Number::Power(..) | Number::Choice(..) => None,
        },
        Number::Variable(_) | Number::Unary(..) | Number::Binary(..) | Number::Power(..) | Number::Choice(..) => None,
    };
    match written {
        Some(exponent) => Number::Power(base, exponent),
        None => Number::Binary(Binary::Math(BinaryMath::Pow), base, exponent),
    }
}

fn unknown_function(name: &str, offset: usize) -> TextError {
    let names = || unary_names().map(|(name, _)| name).chain(BinaryMath::ALL.map(BinaryMath::name));
    let error = TextError::new(offset, format!("there is no function `{name}`"));
    match near_match(name, names()) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error.hint(format!("functions are {}", names().collect::<Vec<_>>().join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `x` is 3, `y` is 0.5.
    struct Two;

    impl Names for Two {
        fn variable(&mut self, name: &str, quoted: bool) -> Result<usize, TextError> {
            match (name, quoted) {
                ("x", false) => Ok(0),
                ("y", false) | ("Y Y", true) => Ok(1),
                (_, _) => Err(TextError::new(0, format!("no `{name}`"))),
            }
        }
    }

    /// The second element of a block of three, between two where all numbers are other ones.
    const VALUES: [[f64; 3]; 2] = [[f64::NAN, 3.0, -7.0], [1e300, 0.5, 0.0]];

    fn number(text: &str) -> f64 {
        let expression = parse_number(text, &mut Two).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        let mut values = [0.0; 3];
        expression.values(&VALUES.map(|values| values.to_vec()), &mut values, &mut Scratch::default());
        values[1]
    }

    fn truth(text: &str) -> Option<bool> {
        match parse(text, &mut Two) {
            Ok(Expression::Truth(truth)) => {
                let mut values = [None; 3];
                truth.truths(&VALUES.map(|values| values.to_vec()), &mut values, &mut Scratch::default());
                values[1]
            }
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn precedence_is_that_of_programs() {
        for (text, value) in [
            ("1 + 2*x", 7.0),
            ("1 - 2 - 3", -4.0),
            ("2 * 6 / 3 / 2", 2.0),
            ("x^2 + 1", 10.0),
            ("2*-x", -6.0),
            ("(-x)^2", 9.0),
            ("-(x^2)", -9.0),
            ("x^-1 * 3", 1.0),
            ("--x", 3.0),
            ("x^0.5 * 0", 0.0),
            ("4^(1/2)", 2.0),
            ("Sqrt(x + 1)", 2.0),
            ("Min(x, y) + Max(x, y)", 3.5),
            ("Pow(2, 10)", 1024.0),
            ("Abs(-x) + Exp(0) + Log(1) + Sin(0) + Cos(0) + Tan(0)", 5.0),
            ("x > 2 ? y : -1", 0.5),
            ("x > 5 ? 1 : y > 0 And True ? 2 : 3", f64::NAN),
            ("\"Y Y\" + 1.", 1.5),
            (".5e1", 5.0),
        ] {
            if value.is_nan() {
                assert!(parse(text, &mut Two).is_err(), "{text}");
            } else {
                assert_eq!(number(text), value, "{text}");
            }
        }
        // Division binds tighter than multiplication, which decides rounding.
        assert_eq!(number("0.1 * x / 0.7").to_bits(), (0.1 * (3.0 / 0.7f64)).to_bits());
        assert_eq!(number("x ? 1 : 2".replace('x', "x == 3 And y < 1 Or False").as_str()), 1.0);
        assert_eq!(truth("Not x < 1"), Some(true));
        assert_eq!(truth("x < 1 == y < 1"), Some(false));
        assert_eq!(truth("x < 1 != y < 1 Xor True"), Some(false));
        assert_eq!(truth("True Or False And False"), Some(true));
    }

    #[test]
    fn numbers_that_are_not_finite_are_not_compared() {
        assert_eq!(truth("1/(x - 3) > 1"), None);
        assert_eq!(truth("x != 3 And 1/(x - 3) > 1"), Some(false));
        assert_eq!(truth("x == 3 Or 1/(x - 3) > 1"), Some(true));
        assert!(number("1/(x - 3) > 1 ? 1 : 2").is_nan());
        assert_eq!(number("x == 3 ? 0 : 1/(x - 3)"), 0.0);
    }

    #[test]
    fn what_is_no_expression() {
        let deep = format!("{}x", "(".repeat(200));
        let long = format!("x{}", "+x".repeat(2000));
        for (text, offset, what) in [
            ("", 0, "expected a number, a name or `(`, the text ends"),
            ("1 +", 3, "expected a number, a name or `(`, the text ends"),
            ("1 2", 2, "expected an operator, found `2`"),
            ("(1", 2, "expected an operator or `)`, the text ends"),
            ("x + w", 4, "no `w`"),
            ("x + True", 4, "the right side of `+` must be a number, and this is a truth value"),
            ("x And True", 0, "the left side of `And` must be a truth value, and this is a number"),
            ("Not x", 4, "the operand of `Not` must be a truth value, and this is a number"),
            ("-True", 1, "the operand of `-` must be a number, and this is a truth value"),
            ("x ? 1 : 2", 0, "the condition of `? :` must be a truth value, and this is a number"),
            ("x > 1 ? 1 : True", 12, "as the value before the `:`, the one after it must be a number, and this is a truth value"),
            ("0 < x < 1", 6, "a second `<` or operator of its kind without parentheses"),
            ("x^2^3", 3, "a second `^` or operator of its kind without parentheses"),
            ("-x^2", 0, "a power of a number with a sign"),
            ("x + Not True", 4, "`Not` after an operator that binds tighter"),
            ("sqrt(x)", 0, "there is no function `sqrt`"),
            ("Sqrt(x, y)", 6, "expected an operator, or `)`: `Sqrt` has one argument, found `,`"),
            ("Min(x)", 5, "expected an operator, or `,`: `Min` has two arguments, found `)`"),
            ("x > 1 ? 2 : y > 1 ? 1 : 2", 18, "a `? :` after the `:` of another one"),
            ("1e400", 0, "the number `1e400` is beyond the range of numbers"),
            ("x & y", 2, "expected an operator, found `&`"),
            ("x ; y", 2, "unexpected character `;`"),
            ("\"x", 0, "a `\"` without a second one"),
            ("x > 1", 0, "a truth value, where a number is needed"),
            (&deep, 100, "nested more than 100 deep"),
            (&long, 2001, "more than 1000 operators behind one another"),
        ] {
            let error = parse_number(text, &mut Two).expect_err(text);
            assert_eq!((error.offset, &error.what[..]), (offset, what), "{text}");
        }
        assert_eq!(parse("sqrt(x)", &mut Two).expect_err("case").hint.as_deref(), Some("did you mean `Sqrt`?"));
    }
}
