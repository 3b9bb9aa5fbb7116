//! The options that choose the tools that clients see.

use std::process::ExitCode;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use strum::VariantArray as _;

use crate::command::output::usage;
use crate::mcp::{Answers, CallName, META_TOOLS, MetaSurface, MetaTool, Surface};

/// The environment variable for the meta-tools, which the command line overrides.
const VARIABLE: &str = "CLIMAX_META";

/// The tools that clients see.
#[derive(Args, Debug)]
pub(crate) struct SurfaceArguments {
    /// Offer every tool directly instead of `climax_search` and `climax_call`
    #[arg(long)]
    classic: bool,
    /// Add pages and details to `climax_search`, and the tools `climax_describe`, `climax_examples` and `climax_chain`
    #[arg(long, conflicts_with = "classic")]
    extended: bool,
    /// Offer these meta-tools [default: search,call]. `read` runs only tools that change nothing, so that clients need
    /// not ask the user before they call it
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = meta_tools(), conflicts_with_all = ["classic", "extended"])]
    meta: Vec<MetaTool>,
    /// How `climax_search` answers: JSON with the schema of each tool (full), or lines: the best tools as signatures, then names
    /// with sentences (compact)
    #[arg(long, value_name = "FORM", default_value = Answers::default().as_str(), value_parser = answers(), conflicts_with_all = ["classic", "extended"])]
    answers: Answers,
    /// The property by which a call names its tool, for clients that cannot pass `tool_name`
    #[arg(long, value_name = "NAME", default_value = CallName::default().as_str(), value_parser = call_names(), conflicts_with = "classic")]
    call_name: CallName,
}

impl SurfaceArguments {
    /// Returns the surface of the command line, else the meta-tools of the environment, else the default.
    pub(super) fn surface(&self) -> Result<Surface, ExitCode> {
        let meta = match (self.classic, self.extended, self.meta.as_slice()) {
            (true, ..) => return Ok(Surface::Classic),
            (_, true, _) => MetaSurface::extended(),
            (.., []) => from_environment()?.map_or_else(MetaSurface::default, MetaSurface::of),
            (.., tools) => MetaSurface::of(tools.iter().copied()),
        };
        Ok(Surface::Meta(meta.with_call_name(self.call_name).with_answers(self.answers)))
    }
}

/// Returns the meta-tools of the environment; `None` if it names none.
fn from_environment() -> Result<Option<Vec<MetaTool>>, ExitCode> {
    let Some(names) = std::env::var(VARIABLE).ok().filter(|names| !names.is_empty()) else { return Ok(None) };
    let tools: Option<Vec<MetaTool>> = names.split(',').map(MetaTool::of_word).collect();
    tools.map(Some).ok_or_else(|| {
        let expected: Vec<&str> = META_TOOLS.iter().map(|tool| tool.word()).collect();
        usage(&format!("{VARIABLE} is `{names}`, expected some of {} with commas between", expected.join(", ")))
    })
}

/// Parses the values of `--meta`.
fn meta_tools() -> impl TypedValueParser<Value = MetaTool> {
    let words = META_TOOLS.iter().map(|tool| tool.word());
    PossibleValuesParser::new(words).try_map(|word| MetaTool::of_word(&word).ok_or("expected the word of a meta-tool"))
}

/// Parses the values of `--answers`.
fn answers() -> impl TypedValueParser<Value = Answers> {
    let forms = Answers::VARIANTS.iter().map(|form| form.as_str());
    PossibleValuesParser::new(forms).try_map(|form| form.parse::<Answers>().map_err(|error| error.to_string()))
}

/// Parses the values of `--call-name`.
fn call_names() -> impl TypedValueParser<Value = CallName> {
    let names = CallName::VARIANTS.iter().map(|name| name.as_str());
    PossibleValuesParser::new(names).try_map(|name| name.parse::<CallName>().map_err(|error| error.to_string()))
}
