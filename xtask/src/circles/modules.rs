//! The modules of a crate, what each calls by which name, and where a path leads.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::successors;

use quote::ToTokens;
use syn::{ImplItem, Item, ItemImpl, ItemMod, ItemTrait, TraitItem, Type, Visibility};

use super::imports::{Path, Use, is_for_tests, name_of, read_code, read_use};
use crate::tools::Failure;

/// The text of a file of the workspace, if there is one.
type Read<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Names that one file imports from another, by both files.
pub(super) type Imports<'a> = BTreeMap<(usize, usize), BTreeSet<&'a str>>;

/// The modules of a library or program, the root first.
pub(super) struct Crate {
    /// From the root of the workspace.
    pub files: Vec<String>,
    modules: Vec<Module>,
}

/// A module, which is a file or stands in one.
#[derive(Default)]
struct Module {
    file: usize,
    /// None of the root.
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    /// Names of items.
    items: BTreeSet<String>,
    /// Imports by `use`, by the name that they have here.
    imported: BTreeMap<String, Path>,
    /// Modules all of whose names are brought in.
    globs: Vec<Path>,
    /// Paths of `pub use`, for others rather than for this module.
    reexported: BTreeSet<Path>,
    /// Types with inherent methods here, and how many: not those for tests.
    methods: Vec<(Path, usize)>,
    /// Structs that are defined here, and how many fields each has.
    fields: Vec<(String, usize)>,
    /// Paths of other imports, and those that the code has, which may be single names.
    used: BTreeSet<Path>,
}

/// Size of a type: inherent methods, or those of a trait, and fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub methods: usize,
    pub fields: usize,
}

/// Target of a path.
#[derive(Clone, Copy)]
enum Target<'a> {
    Module(usize),
    /// The item of this name in this module.
    Item(usize, &'a str),
}

/// Maximum length of a chain of imports; a longer one would be a circle of names.
const MAX_IMPORTS: usize = 32;

impl Crate {
    /// Reads a crate from the file of its root.
    pub(super) fn read(start: &str, read: &Read<'_>) -> Result<Self, Failure> {
        let mut this = Self { files: vec![start.to_owned()], modules: vec![Module::default()] };
        let folder = start.rsplit_once('/').map_or("", |(folder, _)| folder);
        this.read_file(0, folder, read)?;
        Ok(this)
    }

    /// Reads the file of a module, whose children are in a folder.
    fn read_file(&mut self, module: usize, folder: &str, read: &Read<'_>) -> Result<(), Failure> {
        let file = &self.files[self.modules[module].file];
        let text = read(file).ok_or_else(|| format!("cannot read `{file}`"))?;
        let parsed = syn::parse_file(&text).map_err(|error| format!("cannot parse `{file}`: {error}"))?;
        self.read_items(module, parsed.items, folder, read)
    }

    fn read_items(&mut self, module: usize, items: Vec<Item>, folder: &str, read: &Read<'_>) -> Result<(), Failure> {
        for item in items {
            match item {
                Item::Mod(child) if is_for_tests(&child.attrs) => {}
                Item::Mod(child) => self.read_child(module, &child, folder, read)?,
                other => self.modules[module].add(&other),
            }
        }
        Ok(())
    }

    fn read_child(&mut self, parent: usize, child: &ItemMod, folder: &str, read: &Read<'_>) -> Result<(), Failure> {
        let here = self.modules.len();
        let inner = format!("{folder}/{}", child.ident);
        self.modules.push(Module { file: self.modules[parent].file, parent: Some(parent), ..Module::default() });
        self.modules[parent].children.insert(child.ident.to_string(), here);
        if let Some((_, items)) = &child.content {
            return self.read_items(here, items.clone(), &inner, read);
        }
        let places = [format!("{inner}.rs"), format!("{inner}/mod.rs")];
        let file = places.into_iter().find(|file| read(file).is_some()).ok_or_else(|| format!("no file of the module `{inner}`"))?;
        self.modules[here].file = self.files.len();
        self.files.push(file);
        self.read_file(here, &inner, read)
    }

    /// All imports of items among files.
    pub(super) fn imports(&self) -> Imports<'_> {
        let mut imports = Imports::new();
        for (place, module) in self.modules.iter().enumerate() {
            let for_others = module.reexported.iter().filter(|path| !self.leads_below(place, path));
            for path in module.used.iter().chain(for_others) {
                if let Some(Target::Item(target, name)) = self.follow(place, path, 0)
                    && self.modules[target].file != module.file
                {
                    imports.entry((module.file, self.modules[target].file)).or_default().insert(name);
                }
            }
        }
        imports
    }

    /// Sizes of all types, by the file of the definition and the name.
    pub(super) fn sizes(&self) -> BTreeMap<(&str, &str), Size> {
        let mut sizes = BTreeMap::<_, Size>::new();
        for (place, module) in self.modules.iter().enumerate() {
            for (path, count) in &module.methods {
                if let Some(Target::Item(target, name)) = self.follow(place, path, 0) {
                    sizes.entry((self.files[self.modules[target].file].as_str(), name)).or_default().methods += count;
                }
            }
            for (name, count) in &module.fields {
                let fields = &mut sizes.entry((self.files[module.file].as_str(), name.as_str())).or_default().fields;
                *fields = (*fields).max(*count);
            }
        }
        sizes
    }

    /// True if a path leads to a module below another, or to an item of one.
    fn leads_below(&self, place: usize, path: &[String]) -> bool {
        let Some(Target::Module(target) | Target::Item(target, _)) = self.follow(place, path, 0) else { return false };
        successors(Some(target), |module| self.modules[*module].parent).any(|module| module == place)
    }

    /// Resolves a path in a module; nothing in this crate if it begins with a name that the module
    /// does not know.
    fn follow<'a>(&'a self, from: usize, path: &'a [String], depth: usize) -> Option<Target<'a>> {
        let mut place = from;
        for (index, name) in path.iter().enumerate() {
            match name.as_str() {
                "crate" => place = 0,
                "self" => {}
                "super" => place = self.modules[place].parent?,
                // A name that a module does not have, as far as can be read, comes from a macro.
                name => match self.look_up(place, name, index + 1 == path.len(), depth) {
                    Some(Target::Module(inner)) => place = inner,
                    None if index == 0 => return None,
                    None => return Some(Target::Item(place, name)),
                    Some(item) => return Some(item),
                },
            }
        }
        Some(Target::Module(place))
    }

    /// Resolves a name in a module. At the end of a path an item comes before a module of the same
    /// name, inside of it after it.
    fn look_up<'a>(&'a self, place: usize, name: &'a str, is_last: bool, depth: usize) -> Option<Target<'a>> {
        if depth == MAX_IMPORTS {
            return None;
        }
        let module = &self.modules[place];
        let child = module.children.get(name).map(|child| Target::Module(*child));
        let item = module.items.contains(name).then_some(Target::Item(place, name));
        let imported = || self.follow(place, module.imported.get(name)?, depth + 1);
        let own = if is_last { item.or_else(imported).or(child) } else { child.or_else(imported).or(item) };
        let with_all = || {
            module.globs.iter().find_map(|path| match self.follow(place, path, depth + 1)? {
                Target::Module(inner) => self.look_up(inner, name, is_last, depth + 1),
                Target::Item(..) => None,
            })
        };
        own.or_else(with_all)
    }
}

impl Module {
    fn add(&mut self, item: &Item) {
        if let Item::Use(item) = item {
            if !is_for_tests(&item.attrs) {
                let private = matches!(item.vis, Visibility::Inherited);
                read_use(&item.tree).into_iter().for_each(|one| self.add_use(one, private));
            }
            return;
        }
        match item {
            Item::Impl(block) => self.methods.extend(inherent_methods(block)),
            Item::Trait(item) => self.methods.push((vec![item.ident.to_string()], trait_methods(item))),
            Item::Struct(item) => self.fields.push((item.ident.to_string(), item.fields.len())),
            _ => {}
        }
        self.items.extend(name_of(item));
        let code = read_code(item.to_token_stream());
        self.used.extend(code.paths);
        code.uses.into_iter().for_each(|one| self.add_use(one, true));
    }

    fn add_use(&mut self, one: Use, private: bool) {
        if private { &mut self.used } else { &mut self.reexported }.insert(one.path.clone());
        match one.name {
            Some(name) => _ = self.imported.entry(name).or_insert(one.path),
            None => self.globs.push(one.path),
        }
    }
}

/// The type of an inherent `impl`, and how many methods stand there.
fn inherent_methods(block: &ItemImpl) -> Option<(Path, usize)> {
    let Type::Path(of) = &*block.self_ty else { return None };
    let is_method = |item: &&ImplItem| matches!(item, ImplItem::Fn(method) if !is_for_tests(&method.attrs));
    let path = of.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    (block.trait_.is_none() && !is_for_tests(&block.attrs)).then(|| (path, block.items.iter().filter(is_method).count()))
}

/// Number of methods that a trait has.
fn trait_methods(item: &ItemTrait) -> usize {
    item.items.iter().filter(|item| matches!(item, TraitItem::Fn(_))).count()
}
