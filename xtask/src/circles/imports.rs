//! The imports and paths in the text of a module.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Item, ItemUse, UseTree};

/// The names of a path, which may begin with `crate`, `super` or `self`.
pub(super) type Path = Vec<String>;

/// An import.
pub(super) struct Use {
    pub path: Path,
    /// Its name here; none where it is all that a module has.
    pub name: Option<String>,
}

/// Names in code.
#[derive(Default)]
pub(super) struct Code {
    pub paths: Vec<Path>,
    /// Imports inside of functions.
    pub uses: Vec<Use>,
}

/// Macros whose tokens are the code of another program.
const QUOTING: [&str; 3] = ["parse_quote", "quote", "quote_spanned"];

/// True if an item is there for tests alone.
pub(super) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| means_tests(attribute.meta.to_token_stream()))
}

/// True if what stands between the brackets of an attribute is `cfg(test)`.
fn means_tests(attribute: TokenStream) -> bool {
    attribute.to_string().replace(' ', "") == "cfg(test)"
}

/// The name of an item, if it has one.
pub(super) fn name_of(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::TraitAlias(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

/// Imports of the tree of a `use`.
pub(super) fn read_use(tree: &UseTree) -> Vec<Use> {
    let mut uses = Vec::new();
    read_tree(tree, &mut Vec::new(), &mut uses);
    uses
}

fn read_tree(tree: &UseTree, above: &mut Path, uses: &mut Vec<Use>) {
    let mut add = |last: String, name: String| {
        // `a::{self}` brings in `a`.
        let (path, name) = match (last.as_str(), above.last()) {
            ("self", Some(module)) => (above.clone(), if name == "self" { module.clone() } else { name }),
            _ => ([above.clone(), vec![last]].concat(), name),
        };
        uses.push(Use { path, name: Some(name) });
    };
    match tree {
        UseTree::Name(tree) => add(tree.ident.to_string(), tree.ident.to_string()),
        UseTree::Rename(tree) => add(tree.ident.to_string(), tree.rename.to_string()),
        UseTree::Glob(_) => uses.push(Use { path: above.clone(), name: None }),
        UseTree::Group(tree) => tree.items.iter().for_each(|tree| read_tree(tree, above, uses)),
        UseTree::Path(tree) => {
            above.push(tree.ident.to_string());
            read_tree(&tree.tree, above, uses);
            above.pop();
        }
    }
}

/// Reads the names in code, but for parts behind `#[cfg(test)]` and the tokens of `quote!`.
pub(super) fn read_code(tokens: TokenStream) -> Code {
    let mut code = Code::default();
    add_code(tokens, &mut code);
    code
}

fn add_code(tokens: TokenStream, code: &mut Code) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token {
            TokenTree::Group(group) if follows(&tokens, at, '#') && means_tests(group.stream()) => {
                at += tokens[at..].iter().take_while(|token| !ends_item(token)).count() + 1;
            }
            TokenTree::Group(group) => add_code(group.stream(), code),
            TokenTree::Ident(name) if *name == "use" => {
                let end = at + tokens[at..].iter().take_while(|token| !is_punct(token, ';')).count() + 1;
                let text = tokens[at - 1..end.min(tokens.len())].iter().cloned().collect();
                code.uses.extend(syn::parse2::<ItemUse>(text).iter().flat_map(|item| read_use(&item.tree)));
                at = end;
            }
            TokenTree::Ident(name) => {
                let is_member = follows(&tokens, at, '.');
                let mut path = vec![name.to_string()];
                while let Some([TokenTree::Punct(a), TokenTree::Punct(b), TokenTree::Ident(name)]) = tokens.get(at..at + 3)
                    && (a.as_char(), b.as_char()) == (':', ':')
                {
                    path.push(name.to_string());
                    at += 3;
                }
                let calls_macro = tokens.get(at).is_some_and(|token| is_punct(token, '!'));
                if calls_macro && path.last().is_some_and(|name| QUOTING.contains(&name.as_str())) {
                    at += 2;
                } else if !is_member {
                    code.paths.push(path);
                }
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// True if the token before the one before `at` is this sign.
fn follows(tokens: &[TokenTree], at: usize, sign: char) -> bool {
    at.checked_sub(2).is_some_and(|before| is_punct(&tokens[before], sign))
}

fn is_punct(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

/// True if an item, a field or a statement ends with this token.
fn ends_item(token: &TokenTree) -> bool {
    is_punct(token, ';') || matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}
