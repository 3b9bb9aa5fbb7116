//! The HTML page of a catalog. It needs no network, and runs no script but its own.

use std::fmt::{self, Display, Write as _};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use climax_catalog::{CliView, ResolvedTool};
use sha2::{Digest as _, Sha256};

use crate::call::Toolbox;
use crate::call::visible::is_visible;
use crate::command::output::counted;
use crate::command::show;
use crate::identity;
use crate::mcp;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Text of an HTML page. Characters with a meaning in HTML are escaped, and so are those that cannot be seen.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\n' | '\t' => f.write_char(c)?,
                c if is_visible(c) => f.write_char(c)?,
                c => write!(f, "{}", c.escape_unicode())?,
            }
        }
        Ok(())
    }
}

/// Writes the page.
pub(super) fn page(toolbox: &Toolbox) -> String {
    let [style, script] = [STYLE, SCRIPT].map(|text| BASE64_STANDARD.encode(Sha256::digest(text)));
    let name = Escaped(identity::name());
    let tools = counted(toolbox.index.tools().count(), "tool");
    let clis = counted(toolbox.index.summary().count(), "CLI");
    let sections: String = toolbox.index.groups().map(|(cli, tools)| section(toolbox, cli, tools)).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{style}'; \
         script-src 'sha256-{script}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{name}: {tools}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{name}: {tools} of {clis}</h1>\n\
         <form id=\"search\" role=\"search\">\
         <input id=\"query\" type=\"search\" aria-label=\"Search tools\" placeholder=\"Search ( / )\" autofocus>\
         <select id=\"risk\" aria-label=\"Risk\"><option value=\"\">Any risk</option><option>read</option>\
         <option>write</option><option>destructive</option></select></form>\n\
         <div id=\"count\" role=\"status\">{tools}</div>\n</header>\n<main>\n{sections}</main>\n\
         <p class=\"dim\">Digest of catalog and policy: <code>{digest}</code></p>\n\
         <script>{SCRIPT}</script>\n</body>\n</html>\n",
        digest = Escaped(toolbox.digest()),
    )
}

/// Writes the tools of a CLI.
fn section<'a>(toolbox: &Toolbox, cli: CliView<'_>, tools: impl Iterator<Item = ResolvedTool<'a>>) -> String {
    let tools: String = tools.map(|tool| entry(toolbox, tool)).collect();
    let [name, description] = [cli.name(), cli.description()].map(Escaped);
    format!("<section>\n<h2>{name}</h2>\n<p class=\"dim\">{description}</p>\n{tools}</section>\n")
}

/// Writes a tool: its line, and what opens below.
fn entry(toolbox: &Toolbox, tool: ResolvedTool<'_>) -> String {
    let risk = tool.risk().as_str();
    let [name, description] = [tool.name(), tool.description()].map(Escaped);
    let unwritten = match tool.written_risk() {
        Some(_) => "",
        None => "<p>The config states no risk, so the highest is assumed.</p>\n",
    };
    let command_line = show::template(&mcp::described(toolbox, tool));
    let policy = show::policy(toolbox, tool).iter().fold(String::new(), |mut list, line| {
        let _ = write!(list, "<li>{}</li>", Escaped(line));
        list
    });
    let example = mcp::permitted_examples(tool).next().map(|args| show::example(tool, &args));
    let example = example.map(|call| format!("<p>Example:</p>\n<pre>{}</pre>\n", Escaped(&call))).unwrap_or_default();
    format!(
        "<details id=\"{name}\" data-risk=\"{risk}\">\n<summary><b>{name}</b> <span class=\"risk {risk}\">{risk}</span> \
         {description}</summary>\n<div class=\"body\">\n{unwritten}<pre>{}</pre>\n{}<p>Policy:</p>\n<ul>{policy}</ul>\n\
         {example}</div>\n</details>\n",
        Escaped(&command_line),
        args(tool),
    )
}

/// Writes the table of args.
fn args(tool: ResolvedTool<'_>) -> String {
    if tool.args().len() == 0 {
        return "<p>The tool takes no arguments.</p>\n".to_owned();
    }

    let mut rows = String::new();
    for arg in tool.args() {
        let form = show::notes(arg).join(", ");
        let [name, form, description] = [arg.name(), &form, arg.description()].map(Escaped);
        let _ = writeln!(rows, "<tr><td>{name}</td><td class=\"dim\">{form}</td><td>{description}</td></tr>");
    }

    let head = "<tr><th>Argument</th><th>Form</th><th>Description</th></tr>";
    format!("<div class=\"table\"><table>\n<thead>{head}</thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n")
}
