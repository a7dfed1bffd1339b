//! Rust text from tokens.

use equelle_front::backend::{BLANK_MARK, BackendError, COMMENT_MARK, restore_comments};
use equelle_front::source::Span;
use proc_macro2::{Ident, Span as TokenSpan, TokenStream};
use quote::quote;

/// An identifier; names come from a `Namer`, which knows what an identifier can be.
pub(super) fn ident(name: &str) -> Ident {
    Ident::new(name, TokenSpan::call_site())
}

/// A statement that becomes a comment line.
pub(super) fn comment(text: &str) -> TokenStream {
    let mark = ident(COMMENT_MARK);
    quote! { #mark!(#text); }
}

/// A statement that becomes an empty line.
pub(super) fn blank() -> TokenStream {
    let mark = ident(BLANK_MARK);
    quote! { #mark!(); }
}

/// A list that owns its items. A call, because the formatter leaves arguments of macros alone.
pub(super) fn list(items: impl Iterator<Item = TokenStream>) -> TokenStream {
    let mut items = items.peekable();
    if items.peek().is_none() {
        quote! { Vec::new() }
    } else {
        quote! { Vec::from([#(#items),*]) }
    }
}

/// Formatted text of a file.
pub(super) fn format(tokens: TokenStream) -> Result<String, BackendError> {
    let file =
        syn::parse2(tokens).map_err(|error| BackendError::internal(Span::default(), format!("the generated text is not Rust: {error}")))?;
    Ok(restore_comments(&prettyplease::unparse(&file)))
}
