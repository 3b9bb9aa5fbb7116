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

    /// Returns the lists of names, with their keys in configs.
    #[must_use]
    pub fn lists(&self) -> [(&'static str, &[String]); 11] {
        // Written out, so that the compiler names a field that this list forgets.
        let Self {
            files,
            overwrites,
            populates,
            populates_by,
            trees,
            by,
            hosts,
            walks,
            leaves_out,
            code: _,
            texts,
            idle,
            names_only: _,
            prints_made: _,
            bare: _,
        } = self;
        [
            ("files", files),
            ("overwrites", overwrites),
            ("populates", populates),
            ("populates_by", populates_by),
            ("trees", trees),
            ("by", by),
            ("hosts", hosts),
            ("walks", walks),
            ("leaves_out", leaves_out),
            ("texts", texts),
            ("idle", idle),
        ]
    }

    /// Returns the list of names that a key of configs fills.
    fn list_mut(&mut self, key: &str) -> Option<&mut Vec<String>> {
        Some(match key {
            "files" => &mut self.files,
            "overwrites" => &mut self.overwrites,
            "populates" => &mut self.populates,
            "populates_by" => &mut self.populates_by,
            "trees" => &mut self.trees,
            "by" => &mut self.by,
            "hosts" => &mut self.hosts,
            "walks" => &mut self.walks,
            "leaves_out" => &mut self.leaves_out,
            "texts" => &mut self.texts,
            "idle" => &mut self.idle,
            _ => return None,
        })
    }

    /// Returns pairs of a key and an item, as tables hold them. An arg of `code` stands under the name of its language.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let items = self.lists().into_iter().flat_map(|(key, list)| list.iter().map(move |item| (key, item.as_str())));
        let flags = [("names_only", self.names_only), ("prints_made", self.prints_made)];
        let flags = flags.into_iter().filter(|(_, is_so)| *is_so).map(|(key, _)| (key, ANY));
        let code = self.code.iter().map(|(arg, language)| (language.as_str(), arg.as_str()));
        items.chain(flags).chain(self.bare.map(|risk| ("bare", risk.as_str()))).chain(code)
    }

    /// Makes effects of pairs of a key and an item.
    pub(crate) fn of_pairs<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut effects = Self::default();
        for (key, item) in pairs {
            effects.add(key, item);
        }
        effects
    }

    /// Adds an item under its key.
    fn add(&mut self, key: &str, item: &str) {
        if let Some(list) = self.list_mut(key) {
            list.push(item.to_owned());
            return;
        }

        match key {
            "names_only" => self.names_only = true,
            "prints_made" => self.prints_made = true,
            "bare" => self.bare = item.parse().ok(),
            language => self.code.extend(language.parse().ok().map(|language| (item.to_owned(), language))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_effect_survives_as_pairs() {
        let mut effects = Effects {
            code: vec![("program".to_owned(), Language::Awk)],
            names_only: true,
            prints_made: true,
            bare: Some(Risk::Write),
            ..Effects::default()
        };
        for (key, _) in Effects::default().lists() {
            effects.add(key, &format!("arg_of_{key}"));
        }

        assert!(effects.lists().iter().all(|(key, list)| *list == [format!("arg_of_{key}")]));
        let pairs = effects.pairs().map(|(key, item): (&str, &str)| (key, item));
        assert_eq!(Effects::of_pairs(pairs), effects);
    }
}
