//! Checks of native configs: they have no keys about programs.

use super::Checker;
use crate::diagnostic::Code;
use crate::read::config::{ArgConfig, Config, ToolConfig};
use crate::source::{Span, Spanned};

impl Checker<'_> {
    /// Reports the keys about programs in a native config.
    pub(super) fn native(&mut self, config: &Config) {
        self.program_keys(&[
            ("command", config.command.as_ref().filter(|text| !text.value.is_empty()).map(span)),
            ("env", config.env.first().map(|(name, _)| name.span)),
            ("needs", config.needs.as_ref().map(span)),
            ("effects", config.effects.as_ref().map(span)),
            ("programs", config.programs.first().map(|(spelling, _)| spelling.span)),
            ("always", config.always.as_ref().map(span)),
            ("boolean_values", config.boolean_values.as_ref().map(span)),
            ("letter_equals", config.letter_equals.as_ref().map(span)),
            ("variables", config.variables.first().map(span)),
            ("working_dir", config.working_dir.as_ref().map(span)),
            ("global_args", config.global_args.first().and_then(|arg| arg.name.as_ref()).map(span)),
        ]);
        for tool in &config.tools {
            self.native_tool(tool);
        }
    }

    fn native_tool(&mut self, tool: &ToolConfig) {
        let ToolConfig {
            command,
            output,
            resolve,
            args,
            exit_codes,
            needs,
            effects,
            aliases,
            always,
            // Valid for native tools too.
            without: _,
            ordered: _,
            groups: _,
            phrases: _,
            name: _,
            title: _,
            description: _,
            timeout: _,
            long: _,
            risk: _,
            sensitive: _,
            resource: _,
            ask: _,
            confirm_message: _,
            allow: _,
        } = tool;
        self.program_keys(&[
            ("command", command.as_ref().filter(|text| !text.value.is_empty()).map(span)),
            ("output", output.as_ref().map(|output| output.mime.span)),
            ("needs", needs.as_ref().map(span)),
            ("effects", effects.as_ref().map(span)),
            ("aliases", aliases.first().map(span)),
            ("always", always.as_ref().map(span)),
            ("exit_codes", exit_codes.first().map(|entry| entry.code.span)),
            ("resolve", resolve.first().map(|entry| entry.name.span)),
        ]);

        for arg in args {
            self.native_arg(arg);
        }
    }

    fn native_arg(&mut self, arg: &ArgConfig) {
        let ArgConfig {
            flag,
            positional,
            cwd,
            stdin,
            output,
            variable,
            aliases,
            rest,
            off,
            // Valid for native tools too.
            list: _,
            map: _,
            count: _,
            min: _,
            max: _,
            pattern: _,
            min_items: _,
            max_items: _,
            shown: _,
            risk: _,
            sensitive: _,
            name: _,
            description: _,
            kind: _,
            required: _,
            default: _,
            values: _,
            allow: _,
        } = arg;
        self.program_keys(&[
            ("flag", flag.as_ref().map(span)),
            ("positional", positional.as_ref().map(span)),
            ("cwd", cwd.as_ref().map(span)),
            ("stdin", stdin.as_ref().map(span)),
            ("output", output.as_ref().map(span)),
            ("variable", variable.as_ref().map(span)),
            ("aliases", aliases.first().map(span)),
            ("rest", rest.as_ref().map(span)),
            ("off", off.as_ref().map(span)),
        ]);
    }

    fn program_keys(&mut self, keys: &[(&str, Option<Span>)]) {
        for (key, span) in keys {
            if let Some(span) = span {
                let message = format!("`{key}` is about a program, and the tools of a native config run none");
                self.report(Code::NativeProgram, *span, message, "remove it, or remove `native: true`");
            }
        }
    }
}

fn span<T>(spanned: &Spanned<T>) -> Span {
    spanned.span
}
