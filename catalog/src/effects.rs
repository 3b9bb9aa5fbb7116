//! Effects: what a call changes, reaches and rests on, as far as policies and the judge of lines have to know it.

use strum::{EnumString, IntoStaticStr, VariantNames};

use crate::model::Risk;
use crate::needs::ANY;

/// What calls of a tool change and reach, by the names of the args that say so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// The args that name files which the program makes, replaces, moves or removes.
    ///
    /// That is all for which the tool, or one of these args, has a higher risk than `write`.
    pub files: Vec<String>,
    /// The args that name files which lose what they hold if they are there, as where `git checkout` takes a word for a file
    /// only if it is none of its branches.
    ///
    /// Where nothing is there by these names, the tool has no higher risk than `write`, unless another arg has.
    pub overwrites: Vec<String>,
    /// The args that name the directory in which the program makes files of its own choice, as when it unpacks an archive.
    /// If a call gives none of them, it is the one in which the program runs.
    ///
    /// Where nothing is in that directory, the tool has no higher risk than `write`, unless another arg has.
    pub populates: Vec<String>,
    /// Further args that have a risk only because the program then populates a directory.
    pub populates_by: Vec<String>,
    /// The args by which whole directories are replaced or removed; [`ANY`] if every call does that.
    pub trees: Vec<String>,
    /// Further args that have a risk only because the program then changes `files`.
    pub by: Vec<String>,
    /// The args that choose the host which the program reaches: a URL, `user@host:path` or the name of a host.
    pub hosts: Vec<String>,
    /// The args with which the program reads all files of directories; [`ANY`] if every call does.
    pub walks: Vec<String>,
    /// The options by which it then leaves out files and directories of a name, for which `{}` stands.
    pub leaves_out: Vec<String>,
    /// The args whose values are programs that run, or name such, and the languages of these.
    ///
    /// Only a cage holds what they do, and it keeps them from what they may be meant to do.
    pub code: Vec<(String, Language)>,
    /// The args whose values are patterns, programs or other texts, and name no files that the program prints.
    pub texts: Vec<String>,
    /// The args with which the program does nothing, and succeeds, where it gets no operand: `--force` of `rm`.
    pub idle: Vec<String>,
    /// Whether the program prints names and properties of files, but nothing of what they hold.
    pub names_only: bool,
    /// Whether the program prints the paths of the files and directories that it makes, one on each line.
    pub prints_made: bool,
    /// The risk of the program's own line, without the options, variables and confinement that climax adds.
    pub bare: Option<Risk>,
}

/// The language of a program that is an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Language {
    /// That of awk.
    Awk,
    /// That of jq.
    Jq,
    /// Any other.
    Other,
}

impl Language {
    /// Returns the name in configs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The kinds of effects, by their keys in configs. Those of `code` stand under the names of the languages.
const KINDS: [&str; 14] = [
    "files",
    "overwrites",
    "populates",
    "populates_by",
    "trees",
    "by",
    "hosts",
    "walks",
    "leaves_out",
    "texts",
    "idle",
    "names_only",
    "prints_made",
    "bare",
];

impl Effects {
    /// Returns whether the risk of a call can depend on the files that are there.
    #[must_use]
    pub const fn rest_on_files(&self) -> bool {
        !self.files.is_empty() || !self.overwrites.is_empty() || !self.populates.is_empty()
    }

    /// Returns whether an arg by itself makes a call replace or remove whole directories.
    #[must_use]
    pub fn covers_trees(&self, arg: &str) -> bool {
        self.trees.iter().any(|name| name == arg)
    }

    /// Returns whether every call replaces or removes whole directories.
    #[must_use]
    pub fn always_covers_trees(&self) -> bool {
        self.covers_trees(ANY)
    }

    /// Returns whether the program reads all files of directories, in a call that gives these args.
    #[must_use]
    pub fn reads_directories(&self, is_given: impl Fn(&str) -> bool) -> bool {
        self.walks.iter().any(|name| name == ANY || is_given(name))
    }

    /// Returns the keys and items by turns, as tables hold them.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let lists = [
            &self.files,
            &self.overwrites,
            &self.populates,
            &self.populates_by,
            &self.trees,
            &self.by,
            &self.hosts,
            &self.walks,
            &self.leaves_out,
            &self.texts,
            &self.idle,
        ];
        let items =
            KINDS.into_iter().zip(lists).flat_map(|(kind, list)| list.iter().map(move |item| (kind, item.as_str())));
        let flags = [("names_only", self.names_only), ("prints_made", self.prints_made)];
        let flags = flags.into_iter().filter(|(_, is_so)| *is_so).map(|(kind, _)| (kind, ANY));
        let code = self.code.iter().map(|(arg, language)| (language.as_str(), arg.as_str()));
        items.chain(flags).chain(self.bare.map(|risk| ("bare", risk.as_str()))).chain(code)
    }

    /// Makes effects of keys and items.
    pub(crate) fn of_pairs<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut lists: [Vec<String>; KINDS.len()] = Default::default();
        let mut code = Vec::new();
        for (kind, item) in pairs {
            if let Ok(language) = kind.parse() {
                code.push((item.to_owned(), language));
            }
            if let Some(at) = KINDS.iter().position(|known| *known == kind) {
                lists[at].push(item.to_owned());
            }
        }

        let [
            files,
            overwrites,
            populates,
            populates_by,
            trees,
            by,
            hosts,
            walks,
            leaves_out,
            texts,
            idle,
            names_only,
            prints_made,
            bare,
        ] = lists;
        let bare = bare.first().and_then(|risk| risk.parse().ok());
        let [names_only, prints_made] = [names_only, prints_made].map(|items| !items.is_empty());

        Self {
            files,
            overwrites,
            populates,
            populates_by,
            trees,
            by,
            hosts,
            walks,
            leaves_out,
            code,
            texts,
            idle,
            names_only,
            prints_made,
            bare,
        }
    }
}
