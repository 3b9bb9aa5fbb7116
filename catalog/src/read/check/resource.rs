//! Checks of `resource`: tools whose output is a resource with a URI.

use super::Checker;
use crate::diagnostic::Code;
use crate::model::Risk;
use crate::read::config::ToolConfig;
use crate::source::Spanned;
use crate::uri::UriTemplate;

/// The scheme of the server's own resources.
const OWN_SCHEME: &str = "climax";

impl Checker<'_> {
    /// Checks the resource of a tool. Clients read resources at any time, and pass a URI only.
    pub(super) fn resource(&mut self, tool: &ToolConfig) -> Option<Spanned<String>> {
        let uri = tool.resource.as_ref()?;
        let template = match UriTemplate::parse(&uri.value) {
            Ok(template) => template,
            Err((range, problem)) => {
                let span = self.source.within(uri, range);
                let message = format!("`{}` is no URI of a resource", crate::read::yaml::shorten(&uri.value));
                self.report(Code::IllegalResource, span, message, problem);
                return None;
            }
        };
        let mut refuse = |message: String, help: &str| self.report(Code::IllegalResource, uri.span, message, help);

        if template.scheme().eq_ignore_ascii_case(OWN_SCHEME) {
            let message = format!("URIs that start with `{OWN_SCHEME}:` are the server's own");
            refuse(message, "use another scheme, such as the name of the program");
        }

        match tool.risk {
            Some(Risk::Read) => {}
            None => {
                let help =
                    "write `risk: read` if that is true, or remove `resource`: a resource is read without asking";
                refuse("the tool states no risk".to_owned(), help);
            }
            Some(_) => {
                let help = "remove `resource`, or correct `risk`: a resource is read without asking";
                refuse("the tool may change something".to_owned(), help);
            }
        }

        if !tool.ask.is_empty() {
            refuse(
                "the tool asks the user".to_owned(),
                "remove `resource` or `ask`: a resource is read without asking",
            );
        }

        let names: Vec<&str> = tool.args.iter().filter_map(|arg| Some(arg.name.as_ref()?.value.as_str())).collect();
        for arg in &tool.args {
            let is_required = arg.must_be_given();
            if let Some(name) = arg.name.as_ref().filter(|_| is_required)
                && template.variables().all(|variable| variable != name.value)
            {
                let message = format!("the URI does not say what `{}` is, which is required", name.value);
                refuse(message, &format!("put `{{{}}}` into it, or remove `required: true`", name.value));
            }
        }

        let unknown: Vec<String> =
            template.variables().filter(|name| !names.contains(name)).map(str::to_owned).collect();
        for name in unknown {
            self.unknown_name(&Spanned { value: name, span: uri.span }, "arg", &names);
        }

        Some(uri.clone())
    }
}
