//! Checks of `effects`.

use super::{Checker, SharedParts};
use crate::checked::CheckedArg;
use crate::effects::Effects;
use crate::needs::ANY;
use crate::read::config::EffectsConfig;
use crate::source::Spanned;

impl Checker<'_> {
    /// Returns the effects of a tool: its own, and those of the config for the args that it has. Names of args that it
    /// does not have are reported.
    pub(super) fn effects(
        &mut self,
        own: Option<Spanned<EffectsConfig>>,
        args: &[CheckedArg],
        shared: &SharedParts<'_>,
    ) -> Option<Effects> {
        let known: Vec<&str> = args.iter().map(|arg| arg.name.as_str()).collect();
        let own = own.map(|own| {
            for name in own.value.names.iter().filter(|name| !known.contains(&name.value.as_str())) {
                self.unknown_name(name, "arg", &known);
            }
            own.value.effects
        });

        let Some(of_all) = shared.effects else { return own };
        let own = own.unwrap_or_default();
        let with = |own: Vec<String>, of_all: &[String]| {
            let more = of_all.iter().filter(|name| *name == ANY || known.contains(&name.as_str()));
            let more: Vec<String> = more.filter(|name| !own.contains(name)).cloned().collect();
            [own, more].concat()
        };
        let effects = Effects {
            files: with(own.files, &of_all.files),
            overwrites: with(own.overwrites, &of_all.overwrites),
            populates: with(own.populates, &of_all.populates),
            populates_by: with(own.populates_by, &of_all.populates_by),
            trees: with(own.trees, &of_all.trees),
            by: with(own.by, &of_all.by),
            hosts: with(own.hosts, &of_all.hosts),
            walks: with(own.walks, &of_all.walks),
            leaves_out: if own.leaves_out.is_empty() { of_all.leaves_out.clone() } else { own.leaves_out },
            code: if own.code.is_empty() { of_all.code.clone() } else { own.code },
            texts: with(own.texts, &of_all.texts),
            idle: with(own.idle, &of_all.idle),
            names_only: own.names_only || of_all.names_only,
            prints_made: own.prints_made || of_all.prints_made,
            bare: own.bare.or(of_all.bare),
        };
        (effects != Effects::default()).then_some(effects)
    }
}
