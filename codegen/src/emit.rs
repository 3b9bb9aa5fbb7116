//! [`Catalog`] → Rust source and the texts that it includes.

use std::collections::BTreeMap;

use climax_catalog::{Catalog, Layer, PackedSkills, Policy, ToolIndex, digest, fingerprint, name_hash};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

mod policy;
mod tokens;

use tokens::{optional_with, row};

/// The largest catalog that is formatted. For larger ones formatting would take longer than compiling.
const MAX_FORMATTED_TOOLS: usize = 1_000;

/// The generated files, which depend on the catalog only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// `catalog.rs`: the tables. It includes the other files.
    pub rust: String,
    /// `catalog.txt`: [`climax_catalog::Texts`].
    pub text: String,
    /// `search.txt`: [`climax_catalog::SearchText`].
    pub search: String,
    /// `terms.txt`: the terms of [`climax_catalog::Ranked`].
    pub terms: String,
    /// `postings.bin`: the postings of [`climax_catalog::Ranked`].
    pub postings: Vec<u8>,
    /// `phrases.bin`: the phrases of [`climax_catalog::Ranked`].
    pub phrases: Vec<u8>,
    /// `skills.json` and `skills.bin`, if there are skills.
    pub skills: Option<PackedSkills>,
}

impl Generated {
    /// The files by name.
    #[must_use]
    pub fn files(&self) -> Vec<(&'static str, &[u8])> {
        let mut files = vec![
            ("catalog.txt", self.text.as_bytes()),
            ("search.txt", self.search.as_bytes()),
            ("terms.txt", self.terms.as_bytes()),
            ("postings.bin", &self.postings),
            ("phrases.bin", &self.phrases),
        ];

        if let Some(skills) = &self.skills {
            files.extend([("skills.json", skills.manifest.as_bytes()), ("skills.bin", &skills.contents)]);
        }

        files.push(("catalog.rs", self.rust.as_bytes()));
        files
    }
}

/// A catalog that cannot be printed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmitError {
    /// Two tool names have the same hash; the probability is 1 in 10⁹ for 190,000 tools.
    #[error("tool names `{0}` and `{1}` have the same hash; rename one of them")]
    HashCollision(String, String),
}

/// Prints a catalog as Rust source that defines `pub static CATALOG`.
///
/// # Errors
/// [`EmitError::HashCollision`].
pub fn emit(catalog: &Catalog) -> Result<Generated, EmitError> {
    let names = names(catalog)?;
    let mut items = vec![header(catalog)];
    items.push(words("TEXT_ENDS", &catalog.texts.ends));
    items.push(words("SEARCH_ENDS", &catalog.search.ends));
    items.push(words("TERM_ENDS", &catalog.ranked.terms.ends));
    items.push(words("POSTING_ENDS", &catalog.ranked.ends));
    items.push(words("PHRASE_ENDS", &catalog.ranked.phrase_ends));
    items.push(words("LISTS", &catalog.lists));
    items.push(rows("CLIS", &quote!(CliDef), catalog.clis.iter().map(row)));
    items.push(rows("TOOLS", &quote!(ToolDef), catalog.tools.iter().map(row)));
    items.push(rows(
        "ARGS",
        &quote!(ArgDef),
        catalog.args.iter().map(|arg| {
            let numbers = arg.0.iter().map(|number| Literal::u32_unsuffixed(*number));
            quote!(ArgDef([#(#numbers),*]))
        }),
    ));
    items.push(rows("FILES", &quote!(FileDef), catalog.files.iter().map(row)));
    items.push(rows("GROUPS", &quote!(GroupDef), catalog.groups.iter().map(row)));
    items.push(rows("DETAILS", &quote!(DetailDef), catalog.details.iter().map(row)));
    items.push(rows("RULES", &quote!(RuleDef), catalog.rules.iter().map(row)));
    items.push(rows("QUESTIONS", &quote!(QuestionDef), catalog.questions.iter().map(row)));
    items.push(words("RESOURCES", &catalog.resources));
    items.push(rows("PROMPTS", &quote!(PromptDef), catalog.prompts.iter().map(row)));
    items.push(rows("RESOLVES", &quote!(ResolveDef), catalog.resolves.iter().map(row)));
    items.push(names);
    items.push(root(catalog));

    Ok(Generated {
        rust: print(items, catalog.tools.len() <= MAX_FORMATTED_TOOLS),
        text: catalog.texts.text.to_string(),
        search: catalog.search.text.to_string(),
        terms: catalog.ranked.terms.text.to_string(),
        postings: catalog.ranked.postings.to_vec(),
        phrases: catalog.ranked.phrases.to_vec(),
        skills: catalog.skills.clone(),
    })
}

fn header(catalog: &Catalog) -> TokenStream {
    let [text, search, terms, postings, phrases] = [
        catalog.texts.text.as_bytes(),
        catalog.search.text.as_bytes(),
        catalog.ranked.terms.text.as_bytes(),
        &catalog.ranked.postings,
        &catalog.ranked.phrases,
    ]
    .map(fingerprint);
    quote! {
        use ::climax::catalog::{
            ArgDef, Catalog, CliDef, DetailDef, FileDef, GroupDef, List, Names, PromptDef, QuestionDef, Ranked,
            ResolveDef, Rows, RuleDef, SearchText, Str, Texts, ToolDef, fingerprint,
        };
        use ::std::borrow::Cow;

        static TEXT: &str = include_str!("catalog.txt");
        static SEARCH: &str = include_str!("search.txt");
        static TERMS: &str = include_str!("terms.txt");
        static POSTINGS: &[u8] = include_bytes!("postings.bin");
        static PHRASES: &[u8] = include_bytes!("phrases.bin");
        #[allow(clippy::unreadable_literal)]
        const _: () = assert!(
            fingerprint(include_bytes!("catalog.txt")) == #text
                && fingerprint(include_bytes!("search.txt")) == #search
                && fingerprint(include_bytes!("terms.txt")) == #terms
                && fingerprint(include_bytes!("postings.bin")) == #postings
                && fingerprint(include_bytes!("phrases.bin")) == #phrases,
            "catalog.rs and the files that it includes are from different runs of the generator"
        );
    }
}

fn root(catalog: &Catalog) -> TokenStream {
    let policy = optional_with(catalog.policy.as_ref(), policy::policy);
    let skills = optional_with(catalog.skills.as_ref(), |_| {
        quote!(::climax::catalog::PackedSkills {
            manifest: Cow::Borrowed(include_str!("skills.json")),
            contents: Cow::Borrowed(include_bytes!("skills.bin")),
        })
    });
    let names = Literal::byte_string(&catalog.ranked.names);
    let sealed = catalog.sealed;
    let index = ToolIndex::from_configs(vec![Layer::loaded(catalog.clone())]);
    let digest = digest(&index, &Policy::compiled_in(catalog)).into_owned();

    quote! {
        /// The tools that are compiled in.
        #[allow(unreachable_pub)]
        pub static CATALOG: Catalog = Catalog {
            texts: Texts { text: Cow::Borrowed(TEXT), ends: Cow::Borrowed(&TEXT_ENDS) },
            search: SearchText { text: Cow::Borrowed(SEARCH), ends: Cow::Borrowed(&SEARCH_ENDS) },
            ranked: Ranked {
                terms: Texts { text: Cow::Borrowed(TERMS), ends: Cow::Borrowed(&TERM_ENDS) },
                postings: Cow::Borrowed(POSTINGS),
                ends: Cow::Borrowed(&POSTING_ENDS),
                names: Cow::Borrowed(#names),
                phrases: Cow::Borrowed(PHRASES),
                phrase_ends: Cow::Borrowed(&PHRASE_ENDS),
            },
            clis: Cow::Borrowed(&CLIS),
            tools: Cow::Borrowed(&TOOLS),
            args: Cow::Borrowed(&ARGS),
            resolves: Cow::Borrowed(&RESOLVES),
            questions: Cow::Borrowed(&QUESTIONS),
            resources: Cow::Borrowed(&RESOURCES),
            prompts: Cow::Borrowed(&PROMPTS),
            files: Cow::Borrowed(&FILES),
            groups: Cow::Borrowed(&GROUPS),
            details: Cow::Borrowed(&DETAILS),
            rules: Cow::Borrowed(&RULES),
            lists: Cow::Borrowed(&LISTS),
            skills: #skills,
            policy: #policy,
            sealed: #sealed,
            digest: Some(#digest),
            names: Names::Perfect(&NAMES),
        };
    }
}

fn names(catalog: &Catalog) -> Result<TokenStream, EmitError> {
    let mut seen: BTreeMap<u64, &str> = BTreeMap::new();
    let mut map = phf_codegen::Map::new();
    map.phf_path("::climax::catalog::phf");

    for (row, tool) in catalog.tools.iter().enumerate() {
        let name = catalog.texts.get(tool.name);
        let hash = name_hash(name);
        if let Some(other) = seen.insert(hash, name) {
            return Err(EmitError::HashCollision(other.to_owned(), name.to_owned()));
        }
        map.entry(hash, row.to_string());
    }

    let map: TokenStream = map.build().to_string().parse().expect("phf_codegen prints Rust");
    Ok(quote! {
        #[allow(clippy::unreadable_literal)]
        static NAMES: ::climax::catalog::phf::Map<u64, u32> = #map;
    })
}

fn words(name: &str, numbers: &[u32]) -> TokenStream {
    rows(
        name,
        &quote!(u32),
        numbers.iter().map(|number| {
            let number = Literal::u32_unsuffixed(*number);
            quote!(#number)
        }),
    )
}

fn rows(name: &str, ty: &TokenStream, rows: impl ExactSizeIterator<Item = TokenStream>) -> TokenStream {
    let name = quote::format_ident!("{name}");
    let count = Literal::usize_unsuffixed(rows.len());
    quote! {
        #[allow(clippy::unreadable_literal)]
        static #name: [#ty; #count] = [#(#rows),*];
    }
}

fn print(items: Vec<TokenStream>, formatted: bool) -> String {
    const GENERATED: &str = "// @generated by climax-codegen\n";
    if formatted {
        let file = syn::parse2(items.into_iter().collect()).expect("the generator prints Rust");
        return format!("{GENERATED}{}", prettyplease::unparse(&file));
    }

    let mut out = String::from(GENERATED);
    for item in items {
        out.push_str(&item.to_string());
        out.push('\n');
    }

    out
}
