//! The modules of a package and the arrows between them, read from its sources.
//!
//! An arrow goes from a file to each file whose items it names, in a `use` or in a path. A re-export is no arrow: whoever
//! names the item gets an arrow to the file that defines it. Code under `cfg(test)` is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree, Visibility};

/// A module, as the words of its path below the crate: `["mcp", "reply"]`.
type Words = Vec<String>;

/// The files of one package and their arrows.
pub(super) struct Package {
    /// Each module's file, relative to the repository.
    files: BTreeMap<Words, String>,
    /// The names that each module imports or re-exports, and the whole paths that they stand for.
    imports: BTreeMap<Words, BTreeMap<String, Words>>,
    /// The names that each module re-exports.
    exports: BTreeMap<Words, BTreeSet<String>>,
    /// The paths that each module names.
    paths: BTreeMap<Words, BTreeSet<Words>>,
}

impl Package {
    /// Reads all sources below `directory`, which is relative to the repository.
    pub(super) fn read(directory: &str) -> Self {
        let mut package =
            Self { files: BTreeMap::new(), imports: BTreeMap::new(), exports: BTreeMap::new(), paths: BTreeMap::new() };

        for (name, text) in super::sources(directory) {
            let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            let relative = Path::new(&name).strip_prefix(directory).unwrap();

            package.add(module_of(relative), name, &file.items);
        }
        package
    }

    fn add(&mut self, module: Words, name: String, items: &[Item]) {
        let mut reader = Reader::default();
        for item in items {
            reader.visit_item(item);
        }
        let Reader { imports, exports, paths } = reader;
        self.imports.insert(module.clone(), imports);
        self.exports.insert(module.clone(), exports);
        self.paths.insert(module.clone(), paths);
        self.files.insert(module, name);
    }

    /// The arrows between files, by their names.
    pub(super) fn arrows(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut arrows = BTreeMap::new();
        for (module, name) in &self.files {
            let imported = self.imports[module].iter().filter(|(name, _)| !self.exports[module].contains(*name));
            let paths = imported.map(|(_, path)| path).chain(&self.paths[module]);
            let targets = paths.filter_map(|path| self.definition(module, path, 0)).filter(|target| target != module);
            arrows.insert(name.clone(), targets.map(|target| self.files[&target].clone()).collect());
        }
        arrows
    }

    /// The paths that each file names, whole from the crate that they start in.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, BTreeSet<String>)> {
        self.files.iter().map(|(module, file)| {
            let paths = self.imports[module].values().chain(&self.paths[module]);
            (file.as_str(), paths.map(|path| path.join("::")).collect())
        })
    }

    /// The module that defines what `path` names in `module`.
    fn definition(&self, module: &Words, path: &Words, depth: usize) -> Option<Words> {
        assert!(depth < 16, "{path:?} in {module:?} leads in a circle of re-exports");
        let absolute = self.absolute(module, path)?;
        let length = (0..=absolute.len()).rev().find(|&length| self.files.contains_key(&absolute[..length]))?;
        let (owner, rest) = absolute.split_at(length);
        let owner = owner.to_vec();
        let Some(name) = rest.first() else { return Some(owner) };
        if let Some(target) = self.imports[&owner].get(name).filter(|_| self.exports[&owner].contains(name)) {
            return self.definition(&owner, target, depth + 1).or(Some(owner));
        }
        Some(owner)
    }

    /// The path from the crate's root; `None` for other crates.
    fn absolute(&self, module: &Words, path: &Words) -> Option<Words> {
        let mut base = module.clone();
        match path.first().map(String::as_str)? {
            "crate" => return Some(path[1..].to_vec()),
            "self" => return Some([base, path[1..].to_vec()].concat()),
            "super" => {
                let ups = path.iter().take_while(|word| *word == "super").count();
                base.truncate(base.len().checked_sub(ups)?);
                return Some([base, path[ups..].to_vec()].concat());
            }
            first => {
                base.push(first.to_owned());
                if self.files.contains_key(&base) {
                    return Some([base, path[1..].to_vec()].concat());
                }
            }
        }
        None
    }
}

/// The module of a file: `mcp/mod.rs` is `mcp`, `lib.rs` the crate.
fn module_of(file: &Path) -> Words {
    let mut words: Words = file.with_extension("").iter().map(|word| word.to_str().unwrap().to_owned()).collect();
    if matches!(words.last().map(String::as_str), Some("mod" | "lib")) {
        words.pop();
    }
    words
}

/// Collects what one file names.
#[derive(Default)]
struct Reader {
    imports: BTreeMap<String, Words>,
    exports: BTreeSet<String>,
    paths: BTreeSet<Words>,
}

impl Reader {
    fn import(&mut self, tree: &UseTree, before: &Words, exported: bool) {
        let below = |name: &syn::Ident| [before.as_slice(), &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.import(&path.tree, &below(&path.ident), exported),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, before, exported)),
            UseTree::Name(name) if name.ident == "self" => {
                self.bind(before.last().cloned().unwrap_or_default(), before.clone(), exported);
            }
            UseTree::Name(name) => self.bind(name.ident.to_string(), below(&name.ident), exported),
            UseTree::Rename(name) => self.bind(name.rename.to_string(), below(&name.ident), exported),
            UseTree::Glob(_) => {
                self.paths.insert(before.clone());
            }
        }
    }

    fn bind(&mut self, name: String, path: Words, exported: bool) {
        if exported {
            self.exports.insert(name.clone());
        }
        self.imports.insert(name, path);
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        if attributes(item).iter().any(is_test) {
            return;
        }
        visit::visit_item(self, item);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.import(&item.tree, &Words::new(), !matches!(item.vis, Visibility::Inherited));
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let words: Words = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        match self.imports.get(&words[0]) {
            Some(import) => drop(self.paths.insert([import.as_slice(), &words[1..]].concat())),
            None if words.len() > 1 => drop(self.paths.insert(words)),
            None => {}
        }
        visit::visit_path(self, path);
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Mod(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        _ => &[],
    }
}

fn is_test(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg") && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
}

/// The nodes of a graph that arrows lead back to.
pub(super) fn in_circles(arrows: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    arrows.keys().filter(|from| reachable(arrows, from).contains(from.as_str())).cloned().collect()
}

fn reachable<'a>(arrows: &'a BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&str> = vec![from];
    while let Some(at) = open.pop() {
        for next in &arrows[at] {
            if seen.insert(next.as_str()) {
                open.push(next);
            }
        }
    }
    seen
}
