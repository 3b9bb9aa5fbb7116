//! [`Catalog`] → Rust source and the texts that it includes.

use std::collections::BTreeMap;

use climax_catalog::{
    Catalog, CliDef, DetailDef, FileDef, GroupDef, GroupKind, Layer, PackedSkills, Policy, PromptDef, QuestionDef,
    ResolveDef, Risk, RuleDef, ToolDef, ToolIndex, digest, fingerprint, name_hash,
};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

mod policy;
mod tokens;

use tokens::{optional, optional_with, range, text};

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
    items.push(words("LISTS", &catalog.lists));
    items.push(rows("CLIS", &quote!(CliDef), catalog.clis.iter().map(cli)));
    items.push(rows("TOOLS", &quote!(ToolDef), catalog.tools.iter().map(tool)));
    items.push(rows(
        "ARGS",
        &quote!(ArgDef),
        catalog.args.iter().map(|arg| {
            let numbers = arg.0.iter().map(|number| Literal::u32_unsuffixed(*number));
            quote!(ArgDef([#(#numbers),*]))
        }),
    ));
    items.push(rows("FILES", &quote!(FileDef), catalog.files.iter().map(file)));
    items.push(rows("GROUPS", &quote!(GroupDef), catalog.groups.iter().map(group)));
    items.push(rows("DETAILS", &quote!(DetailDef), catalog.details.iter().map(detail)));
    items.push(rows("RULES", &quote!(RuleDef), catalog.rules.iter().map(rule)));
    items.push(rows("QUESTIONS", &quote!(QuestionDef), catalog.questions.iter().map(question)));
    items.push(words("RESOURCES", &catalog.resources));
    items.push(rows("PROMPTS", &quote!(PromptDef), catalog.prompts.iter().map(prompt)));
    items.push(rows("RESOLVES", &quote!(ResolveDef), catalog.resolves.iter().map(resolve)));
    items.push(names);
    items.push(root(catalog));
    Ok(Generated {
        rust: print(items, catalog.tools.len() <= MAX_FORMATTED_TOOLS),
        text: catalog.texts.text.to_string(),
        search: catalog.search.text.to_string(),
        terms: catalog.ranked.terms.text.to_string(),
        postings: catalog.ranked.postings.to_vec(),
        skills: catalog.skills.clone(),
    })
}

fn header(catalog: &Catalog) -> TokenStream {
    let [text, search, terms, postings] = [
        catalog.texts.text.as_bytes(),
        catalog.search.text.as_bytes(),
        catalog.ranked.terms.text.as_bytes(),
        &catalog.ranked.postings,
    ]
    .map(fingerprint);
    quote! {
        use ::climax::catalog::{
            ArgDef, Catalog, CliDef, DetailDef, FileDef, GroupDef, Names, PromptDef, QuestionDef, Ranked, ResolveDef,
            Risk, Rows, RuleDef, SearchText, Str, Texts, ToolDef, fingerprint,
        };
        use ::std::borrow::Cow;

        static TEXT: &str = include_str!("catalog.txt");
        static SEARCH: &str = include_str!("search.txt");
        static TERMS: &str = include_str!("terms.txt");
        static POSTINGS: &[u8] = include_bytes!("postings.bin");
        #[allow(clippy::unreadable_literal)]
        const _: () = assert!(
            fingerprint(include_bytes!("catalog.txt")) == #text
                && fingerprint(include_bytes!("search.txt")) == #search
                && fingerprint(include_bytes!("terms.txt")) == #terms
                && fingerprint(include_bytes!("postings.bin")) == #postings,
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

fn cli(row: &CliDef) -> TokenStream {
    let CliDef {
        name,
        stem,
        description,
        category,
        tags,
        words,
        programs,
        always,
        env,
        needs,
        risk,
        working_dir,
        global_args,
        tools,
    } = *row;
    let [name, stem, description] = [name, stem, description].map(text);
    let [category, working_dir] = [category, working_dir].map(optional);
    let risk = level(risk);
    let [tags, words, programs, always] = [tags, words, programs, always].map(range);
    let [env, global_args, tools] = [env, global_args, tools].map(range);
    let needs = optional_with(needs, range);
    quote!(CliDef {
        name: #name, stem: #stem, description: #description, category: #category, tags: #tags, words: #words,
        programs: #programs, always: #always, env: #env, needs: #needs, risk: #risk, working_dir: #working_dir, global_args: #global_args, tools: #tools
    })
}

fn tool(row: &ToolDef) -> TokenStream {
    let ToolDef {
        cli,
        name,
        title,
        description,
        entry,
        schema_bytes,
        words,
        aliases,
        always,
        args,
        withheld,
        groups,
        timeout_ms,
        is_long,
        risk,
        needs,
        approval_from,
        exit_codes,
        phrases,
        output,
        output_schema,
        resource,
        questions,
        confirm_message,
        resolves,
    } = *row;
    let [name, description, entry] = [name, description, entry].map(text);
    let [cli, schema_bytes, timeout_ms] = [cli, schema_bytes, timeout_ms].map(Literal::u32_unsuffixed);
    let [words, args, withheld, questions, resolves] = [words, args, withheld, questions, resolves].map(range);
    let [aliases, always, groups, exit_codes, phrases] = [aliases, always, groups, exit_codes, phrases].map(range);
    let [title, output, output_schema, resource, confirm_message] =
        [title, output, output_schema, resource, confirm_message].map(optional);
    let needs = optional_with(needs, range);
    let [risk, approval_from] = [risk, approval_from].map(|risk| optional_with(risk, level));
    quote!(ToolDef {
        cli: #cli, name: #name, title: #title, description: #description, entry: #entry, schema_bytes: #schema_bytes, words: #words,
        aliases: #aliases, always: #always, args: #args, withheld: #withheld, groups: #groups, timeout_ms: #timeout_ms, is_long: #is_long, risk: #risk, needs: #needs, approval_from: #approval_from, exit_codes: #exit_codes, phrases: #phrases,
        output: #output, output_schema: #output_schema, resource: #resource,
        questions: #questions, confirm_message: #confirm_message, resolves: #resolves
    })
}

fn question(row: &QuestionDef) -> TokenStream {
    let QuestionDef { name, message, args } = *row;
    let [name, message] = [name, message].map(text);
    let args = range(args);
    quote!(QuestionDef { name: #name, message: #message, args: #args })
}

fn prompt(row: &PromptDef) -> TokenStream {
    let PromptDef { cli, name, definition } = *row;
    let cli = Literal::u32_unsuffixed(cli);
    let [name, definition] = [name, definition].map(text);
    quote!(PromptDef { cli: #cli, name: #name, definition: #definition })
}

fn resolve(row: &ResolveDef) -> TokenStream {
    let ResolveDef { name, words, args, timeout_ms } = *row;
    let name = text(name);
    let [words, args] = [words, args].map(range);
    let timeout_ms = Literal::u32_unsuffixed(timeout_ms);
    quote!(ResolveDef { name: #name, words: #words, args: #args, timeout_ms: #timeout_ms })
}

fn file(row: &FileDef) -> TokenStream {
    let FileDef { arg, mime, file } = *row;
    let arg = Literal::u32_unsuffixed(arg);
    let [mime, file] = [mime, file].map(text);
    quote!(FileDef { arg: #arg, mime: #mime, file: #file })
}

fn rule(row: &RuleDef) -> TokenStream {
    let RuleDef { arg, pattern, min, max, values, fixed, within, approval, from_policy } = *row;
    let arg = Literal::u32_unsuffixed(arg);
    let [pattern, fixed, approval] = [pattern, fixed, approval].map(optional);
    let [values, within] = [values, within].map(range);
    let [min, max] = [min, max].map(|bound| optional_with(bound, |bound| quote!(#bound)));
    quote!(RuleDef {
        arg: #arg, pattern: #pattern, min: #min, max: #max, values: #values, fixed: #fixed, within: #within,
        approval: #approval, from_policy: #from_policy
    })
}

fn group(row: &GroupDef) -> TokenStream {
    let GroupDef { kind, args } = *row;
    let kind = match kind {
        GroupKind::ExactlyOne => quote!(::climax::catalog::GroupKind::ExactlyOne),
        GroupKind::AtMostOne => quote!(::climax::catalog::GroupKind::AtMostOne),
        GroupKind::Together => quote!(::climax::catalog::GroupKind::Together),
    };
    let args = range(args);
    quote!(GroupDef { kind: #kind, args: #args })
}

fn detail(row: &DetailDef) -> TokenStream {
    let DetailDef { separator, aliases, off, variable, choices, min_items, max_items, risks } = *row;
    let [separator, off, variable] = [separator, off, variable].map(optional);
    let [aliases, choices, risks] = [aliases, choices, risks].map(range);
    let number = |number| {
        let number = Literal::u32_unsuffixed(number);
        quote!(#number)
    };
    let [min_items, max_items] = [min_items, max_items].map(|items| optional_with(items, number));
    quote!(DetailDef {
        separator: #separator, aliases: #aliases, off: #off, variable: #variable, choices: #choices,
        min_items: #min_items, max_items: #max_items, risks: #risks
    })
}

fn level(risk: Risk) -> TokenStream {
    match risk {
        Risk::Read => quote!(Risk::Read),
        Risk::Write => quote!(Risk::Write),
        Risk::Destructive => quote!(Risk::Destructive),
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
