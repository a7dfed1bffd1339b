//! Expressions as tokens that know when they need parentheses.

use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};

use super::reals::Reals;

/// How tightly an expression holds together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// `if a { b } else { c }`
    Choice,
    /// `a || b`
    Or,
    /// `a && b`
    And,
    /// `a < b`
    Compare,
    /// `a ^ b`
    Xor,
    /// `a + b`
    Sum,
    /// `a * b`
    Product,
    /// `a as u32`
    Cast,
    /// `-a`
    Unary,
    /// A name, a literal, a call, anything in parentheses.
    Atom,
}

/// An expression.
#[derive(Clone, Debug)]
pub(super) struct Text {
    tokens: TokenStream,
    level: Level,
}

impl Text {
    pub(super) fn new(level: Level, tokens: TokenStream) -> Self {
        Text { tokens, level }
    }

    /// A name, a literal, a call.
    pub(super) fn atom(tokens: impl ToTokens) -> Self {
        Text { tokens: tokens.into_token_stream(), level: Level::Atom }
    }

    /// Where an expression of at least this level is wanted: itself or in parentheses.
    pub(super) fn at(&self, level: Level) -> TokenStream {
        let tokens = &self.tokens;
        if self.level >= level {
            tokens.clone()
        } else {
            quote! { (#tokens) }
        }
    }

    /// `a op b` for an operator that groups from the left.
    pub(super) fn binary(level: Level, a: &Text, op: TokenStream, b: &Text) -> Self {
        // Comparisons do not chain.
        let left = if level == Level::Compare { next(level) } else { level };
        let (a, b) = (a.at(left), b.at(next(level)));
        Text { tokens: quote! { #a #op #b }, level }
    }

    /// `a.method()`
    pub(super) fn method(&self, name: &str) -> Self {
        let (a, name) = (self.at(Level::Atom), ident(name));
        Text::atom(quote! { #a.#name() })
    }

    /// As usize.
    pub(super) fn as_usize(&self) -> Self {
        let a = self.at(Level::Cast);
        Text { tokens: quote! { #a as usize }, level: Level::Cast }
    }

    /// As u32.
    pub(super) fn as_u32(&self) -> Self {
        let a = self.at(Level::Cast);
        Text { tokens: quote! { #a as u32 }, level: Level::Cast }
    }

    /// `if condition { a } else { b }`
    pub(super) fn choice(condition: &Text, a: &Text, b: &Text) -> Self {
        Text { tokens: quote! { if #condition { #a } else { #b } }, level: Level::Choice }
    }
}

impl ToTokens for Text {
    /// As a whole expression: an argument, an index, the right side of `let`.
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.tokens.clone());
    }
}

fn next(level: Level) -> Level {
    match level {
        Level::Choice => Level::Or,
        Level::Or => Level::And,
        Level::And => Level::Compare,
        Level::Compare => Level::Xor,
        Level::Xor => Level::Sum,
        Level::Sum => Level::Product,
        Level::Product => Level::Cast,
        Level::Cast => Level::Unary,
        Level::Unary | Level::Atom => Level::Atom,
    }
}

/// An identifier; names come from a `Namer`, which knows what an identifier can be.
pub(super) fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

/// An item or statement that becomes an empty line.
pub(super) fn blank() -> TokenStream {
    let mark = ident(equelle_front::backend::BLANK_MARK);
    quote! { #mark!(); }
}

/// A number that reads back to the same bits, rounded if need be.
pub(super) fn real(number: f64, reals: Reals) -> Text {
    let ty = reals.ty();
    let number = match reals {
        Reals::Double | Reals::Rounded => number,
        Reals::Single => f64::from(number as f32),
    };
    if number.is_nan() {
        Text::atom(quote! { #ty::NAN })
    } else if number.is_infinite() {
        Text::atom(if number > 0.0 {
            quote! { #ty::INFINITY }
        } else {
            quote! { #ty::NEG_INFINITY }
        })
    } else {
        let magnitude = match reals {
            Reals::Double | Reals::Rounded => Literal::f64_unsuffixed(number.abs()),
            Reals::Single => Literal::f32_unsuffixed(number.abs() as f32),
        };
        if number.is_sign_negative() { Text::new(Level::Unary, quote! { -#magnitude }) } else { Text::atom(magnitude) }
    }
}

/// Whether an identifier occurs in tokens.
pub(super) fn mentions(tokens: &TokenStream, name: &str) -> bool {
    tokens.clone().into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => ident == name,
        TokenTree::Group(group) => mentions(&group.stream(), name),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str) -> Text {
        Text::atom(ident(name))
    }

    fn shown(text: &Text) -> String {
        text.to_token_stream().to_string()
    }

    #[test]
    fn parentheses_keep_the_tree() {
        let (a, b, c) = (name("a"), name("b"), name("c"));
        let difference = Text::binary(Level::Sum, &b, quote! { - }, &c);
        assert_eq!(shown(&Text::binary(Level::Sum, &a, quote! { - }, &difference)), "a - (b - c)");
        assert_eq!(shown(&Text::binary(Level::Sum, &difference, quote! { - }, &a)), "b - c - a");
        assert_eq!(shown(&Text::binary(Level::Product, &difference, quote! { * }, &a)), "(b - c) * a");
        let choice = Text::choice(&a, &b, &c);
        assert_eq!(shown(&Text::binary(Level::Sum, &a, quote! { + }, &choice)), "a + (if a { b } else { c })");
        assert_eq!(shown(&real(-2.0, Reals::Double).method("abs")), "(- 2.0) . abs ()");
        let less = Text::binary(Level::Compare, &a, quote! { < }, &b);
        assert_eq!(shown(&Text::binary(Level::Compare, &less, quote! { == }, &c)), "(a < b) == c");
        assert_eq!(shown(&Text::binary(Level::Compare, &c, quote! { == }, &less)), "c == (a < b)");
    }

    #[test]
    fn numbers_read_back() {
        for number in [0.0, -0.0, 0.1, 1e300, -5e-324, 1.0] {
            let text = shown(&real(number, Reals::Double)).replace(' ', "");
            assert_eq!(text.parse::<f64>().map(f64::to_bits), Ok(number.to_bits()), "{text}");
        }
    }

    /// 0.1 and 1/3 in the digits of singles; what is beyond them is infinite, what is below is zero.
    #[test]
    fn single_precision_has_its_own_digits() {
        let text = |number| shown(&real(number, Reals::Single)).replace(' ', "");
        assert_eq!([text(0.1), text(-1.0 / 3.0), text(1e39), text(-1e39)], ["0.1", "-0.33333334", "f32::INFINITY", "f32::NEG_INFINITY"]);
        assert_eq!(text(1e-60).parse::<f32>(), Ok(0.0));
    }
}
