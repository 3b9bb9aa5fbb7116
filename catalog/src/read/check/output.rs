//! Checks of `output`: media types, and files that the program writes.

use super::Checker;
use crate::checked::CheckedOutputFile;
use crate::diagnostic::Code;
use crate::model::Type;
use crate::output::OutputForm;
use crate::read::config::{ArgConfig, OutputConfig};
use crate::read::yaml::shorten;
use crate::source::Spanned;

impl Checker<'_> {
    /// Checks what a tool prints, and returns its media type and its schema. Only JSON has a schema.
    pub(super) fn output(&mut self, output: OutputConfig) -> (String, Option<String>) {
        let OutputConfig { mime, schema } = output;
        if let Some(schema) = &schema
            && !OutputForm::new(Some(&mime.value), None).is_typed()
        {
            let message = format!("`schema` has no effect on output of type `{}`", shorten(&mime.value));
            let help =
                "write `mime: application/json`, `mime: application/x-ndjson` for a value per line, or remove `schema`";
            self.report(Code::IllegalOutput, schema.span, message, help);
        }

        (self.media_type(mime), schema.map(|schema| schema.value.to_string()))
    }

    /// Checks a media type without parameters. Source: RFC 6838, section 4.2.
    pub(super) fn media_type(&mut self, mime: Spanned<String>) -> String {
        let is_name = |text: &str| {
            text.starts_with(|c: char| c.is_ascii_alphanumeric())
                && text.chars().all(|c| c.is_ascii_alphanumeric() || "!#$&-^_.+".contains(c))
        };

        if !mime.value.split_once('/').is_some_and(|(kind, subtype)| is_name(kind) && is_name(subtype)) {
            let message = format!("`{}` is no media type", shorten(&mime.value));
            let help = "write TYPE/SUBTYPE, such as image/png or application/pdf; leave `output` out for plain text";
            self.report(Code::IllegalMediaType, mime.span, message, help);
        }

        mime.value
    }

    /// Checks an arg for a file that the program writes. Only the server sets its path.
    pub(super) fn output_file(&mut self, arg: &ArgConfig) -> Option<CheckedOutputFile> {
        let output = arg.output.as_ref()?;
        let is_set = |set: &Option<Spanned<bool>>| set.as_ref().is_some_and(|set| set.value);
        for (key, is_there) in [
            ("type", arg.kind.is_some_and(|kind| kind != Type::String)),
            ("required", is_set(&arg.required)),
            ("default", arg.default.is_some()),
            ("enum", arg.values.is_some()),
            ("cwd", is_set(&arg.cwd)),
            ("stdin", is_set(&arg.stdin)),
        ] {
            if is_there {
                let message =
                    format!("`{key}` and `output` exclude each other: the server chooses the path of the file");
                self.report(Code::IllegalOutput, output.span, message, format!("remove `{key}` or `output`"));
            }
        }

        let name = arg.name.as_ref().map_or("", |name| &name.value);
        let file = output.value.file.as_ref().map_or(name, |file| &file.value);
        if matches!(file, "" | "." | "..") || file.contains('/') {
            let span = output.value.file.as_ref().map_or(output.span, |file| file.span);
            let message = format!("`{}` is no name of a file", shorten(file));
            self.report(Code::IllegalOutput, span, message, "write a name without `/`, such as chart.png");
        }

        let mime = output.value.mime.clone().map_or_else(String::new, |mime| self.media_type(mime));
        Some(CheckedOutputFile { mime, file: file.to_owned() })
    }
}
