//! Args → rows, and back.

use std::iter;

use crate::checked::{CheckedArg, CheckedChoice, CheckedOutputFile};
use crate::model::{ArgRisk, Sensitive};
use crate::needs::ANY;
use crate::offset::Full;
use crate::raise;
use crate::rule::ArgRule;
use crate::table::{ArgDef, ArgRow, Catalog, DetailDef, FileDef, Rows, Stored, Tables};
use crate::view::args;

/// Stored by hand: rows of args are packed, and few args have details, files and rules.
impl Stored for Vec<CheckedArg> {
    type Column = Rows;

    fn store(&self, tables: &mut Tables) -> Result<Rows, Full> {
        let first = tables.offset(tables.args.len(), "args")?;
        for arg in self {
            tables.arg(arg)?;
        }
        Ok(Rows(first, tables.offset(tables.args.len(), "args")?))
    }

    fn load(rows: Rows, catalog: &Catalog) -> Self {
        args(catalog, rows).map(raise::arg).collect()
    }
}

impl Tables {
    /// Adds an arg with its details, file and rules.
    fn arg(&mut self, arg: &CheckedArg) -> Result<(), Full> {
        let CheckedArg {
            name,
            description,
            kind,
            required,
            default,
            place,
            flag,
            shape,
            // In the details.
            separator: _,
            aliases: _,
            off: _,
            variable: _,
            min_items: _,
            max_items: _,
            choices,
            constraint,
            shown,
            order,
            risk,
            // In the details.
            sensitive: _,
            rules,
            leading_dash,
            from_user,
            output,
        } = arg;
        let detail = self.detail(arg)?;
        let row = ArgRow {
            name: self.text(name)?,
            description: self.text(description)?,
            flag: self.text(flag)?,
            default: self.optional(default.as_ref().map(|default| default.word.as_str()))?,
            values: self.list(choices.iter().map(|choice| choice.value.as_str()))?,
            kind: *kind,
            place: *place,
            required: *required,
            leading_dash: *leading_dash,
            from_user: *from_user,
            shown: *shown,
            order: *order,
            shape: *shape,
            risk: if let ArgRisk::Always(risk) = risk { Some(*risk) } else { None },
            detail,
        };
        let number = self.offset(self.args.len(), "args")?;

        if let Some(CheckedOutputFile { mime, file }) = output {
            let [mime, file] = [self.text(mime)?, self.text(file)?];
            self.files.push(FileDef { arg: number, mime, file });
        }
        self.add_rules(number, constraint, rules)?;
        self.args.push(ArgDef::pack(row));
        Ok(())
    }

    /// Adds the rules of an arg: that of its config, if it says something, and those of policies.
    fn add_rules(&mut self, arg: u32, own: &ArgRule, of_policies: &[ArgRule]) -> Result<(), Full> {
        let own = Some(own).filter(|own| !own.is_empty()).into_iter().zip([false]);
        for (rule, from_policy) in own.chain(of_policies.iter().zip(iter::repeat(true))) {
            let def = self.rule(arg, rule, from_policy)?;
            self.rules.push(def);
        }
        Ok(())
    }

    /// Adds the details of an arg and returns their row; `None` if it has none.
    fn detail(&mut self, arg: &CheckedArg) -> Result<Option<u32>, Full> {
        let CheckedArg { separator, aliases, off, variable, min_items, max_items, choices, risk, sensitive, .. } = arg;
        let has_words = choices.iter().any(|choice| choice.title.is_some() || choice.words.is_some());
        let risks: Vec<(String, String)> = match risk {
            ArgRisk::ByValue { values, otherwise } => {
                let last = [(String::new(), *otherwise)];
                values.iter().chain(&last).map(|(value, risk)| (value.clone(), risk.as_str().to_owned())).collect()
            }
            ArgRisk::OfTool | ArgRisk::Always(_) => Vec::new(),
        };
        let sensitive: Vec<String> = match sensitive {
            Sensitive::Never => Vec::new(),
            Sensitive::Always => vec![ANY.to_owned()],
            Sensitive::Values(values) => values.clone(),
        };
        let texts = [separator, off, variable];
        let is_plain = texts.iter().all(|text| text.is_none()) && min_items.is_none() && max_items.is_none();

        if is_plain && aliases.is_empty() && !has_words && risks.is_empty() && sensitive.is_empty() {
            return Ok(None);
        }

        let of_choice = |choice: &CheckedChoice| {
            (choice.title.clone().unwrap_or_default(), choice.words.clone().unwrap_or_default())
        };
        let choices: Vec<_> = choices.iter().filter(|_| has_words).map(of_choice).collect();
        let def = DetailDef {
            separator: self.optional(separator.as_deref())?,
            aliases: aliases.store(self)?,
            off: self.optional(off.as_deref())?,
            variable: self.optional(variable.as_deref())?,
            choices: choices.store(self)?,
            min_items: *min_items,
            max_items: *max_items,
            risks: risks.store(self)?,
            sensitive: sensitive.store(self)?,
        };
        let row = self.offset(self.details.len(), "details of args")?;
        self.details.push(def);

        Ok(Some(row))
    }
}
