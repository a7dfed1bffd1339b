//! Expressions as tokens that know when they need parentheses.

use equelle_front::types::{CanonicalSet, EntityKind, Extent};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};

use super::uses::Uses;

/// Precedence of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::codegen) enum Level {
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
pub(in crate::codegen) struct Text {
    tokens: TokenStream,
    level: Level,
    /// True if a type ends it: `<` behind that would begin its arguments.
    ends_in_type: bool,
}

impl Text {
    pub(in crate::codegen) fn new(level: Level, tokens: TokenStream) -> Self {
        Text { tokens, level, ends_in_type: false }
    }

    /// `a as f64`
    pub(in crate::codegen) fn cast(tokens: TokenStream) -> Self {
        Text { tokens, level: Level::Cast, ends_in_type: true }
    }

    /// A name, a literal, a call.
    pub(in crate::codegen) fn atom(tokens: impl ToTokens) -> Self {
        Text::new(Level::Atom, tokens.into_token_stream())
    }

    /// The expression as an operand of at least this precedence, in parentheses if needed.
    pub(in crate::codegen) fn at(&self, level: Level) -> TokenStream {
        let tokens = &self.tokens;
        if self.level >= level {
            tokens.clone()
        } else {
            quote! { (#tokens) }
        }
    }

    /// `a op b` for an operator that groups from the left.
    pub(in crate::codegen) fn binary(level: Level, a: &Text, op: TokenStream, b: &Text) -> Self {
        // Comparisons do not chain.
        let left = match level {
            Level::Compare if a.ends_in_type => Level::Atom,
            Level::Compare => next(level),
            level => level,
        };
        let ends_in_type = b.ends_in_type && b.level >= next(level);
        let (a, b) = (a.at(left), b.at(next(level)));
        Text { tokens: quote! { #a #op #b }, level, ends_in_type }
    }

    /// `a.method()`
    pub(in crate::codegen) fn method(&self, name: &str) -> Self {
        let (a, name) = (self.at(Level::Atom), ident(name));
        Text::atom(quote! { #a.#name() })
    }

    /// As usize.
    pub(in crate::codegen) fn as_usize(&self) -> Self {
        let a = self.at(Level::Cast);
        Text::cast(quote! { #a as usize })
    }

    /// As u32.
    pub(in crate::codegen) fn as_u32(&self) -> Self {
        let a = self.at(Level::Cast);
        Text::cast(quote! { #a as u32 })
    }

    /// `if condition { a } else { b }`
    pub(in crate::codegen) fn choice(condition: &Text, a: &Text, b: &Text) -> Self {
        Text::new(Level::Choice, quote! { if #condition { #a } else { #b } })
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
pub(in crate::codegen) fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

/// An item or statement that becomes an empty line.
pub(in crate::codegen) fn blank() -> TokenStream {
    let mark = ident(equelle_front::backend::BLANK_MARK);
    quote! { #mark!(); }
}

/// `EntityKind::Cell`
pub(in crate::codegen) fn entity_kind(kind: EntityKind, uses: &mut Uses) -> TokenStream {
    let entity_kind = uses.item("EntityKind");
    let kind = ident(match kind {
        EntityKind::Cell => "Cell",
        EntityKind::Face => "Face",
        EntityKind::Edge => "Edge",
        EntityKind::Vertex => "Vertex",
    });
    quote! { #entity_kind::#kind }
}

/// `CanonicalSet { .. }`
pub(in crate::codegen) fn canonical_set(set: CanonicalSet, uses: &mut Uses) -> TokenStream {
    let kind = entity_kind(set.kind, uses);
    let [canonical_set, extents] = ["CanonicalSet", "Extent"].map(|name| uses.item(name));
    let extent = ident(match set.extent {
        Extent::Interior => "Interior",
        Extent::Boundary => "Boundary",
        Extent::All => "All",
    });
    quote! { #canonical_set::new(#kind, #extents::#extent) }
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
        let number = Text::new(Level::Unary, quote! { -2.0 });
        assert_eq!(shown(&number.method("abs")), "(- 2.0) . abs ()");
        let less = Text::binary(Level::Compare, &a, quote! { < }, &b);
        assert_eq!(shown(&Text::binary(Level::Compare, &less, quote! { == }, &c)), "(a < b) == c");
        assert_eq!(shown(&Text::binary(Level::Compare, &c, quote! { == }, &less)), "c == (a < b)");
        // Not the arguments of a type.
        let product = Text::binary(Level::Product, &a, quote! { * }, &b.as_u32());
        assert_eq!(shown(&Text::binary(Level::Compare, &product, quote! { < }, &c)), "(a * b as u32) < c");
        let grouped = Text::binary(Level::Sum, &product, quote! { - }, &c);
        assert_eq!(shown(&Text::binary(Level::Compare, &grouped, quote! { < }, &c)), "a * b as u32 - c < c");
    }
}
