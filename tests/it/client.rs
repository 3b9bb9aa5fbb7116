//! A JSON-RPC client over an in-memory pipe.

use std::sync::Arc;

use climax::call::Toolbox;
use climax::call::visible::TextForm;
use climax::catalog::policy::{self, Applied};
use climax::catalog::{Policy, Source, Strategy, Style, ToolIndex};
use climax::exec::Limits;
use climax::exec::Runner;
use climax::mcp::{Changes, MetaSurface, MetaTool, Options, Server, Surface};
use climax::serving::snapshot::ServedHandle;
use climax::transport::stdio::serve;
use climax::transport::streams::Streams;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio_util::sync::CancellationToken;

use crate::support::PATIENCE;

pub(crate) const MODERN: &str = "2026-07-28";

/// The surface of `--extended`.
pub(crate) fn extended() -> Surface {
    Surface::Meta(MetaSurface::extended())
}

/// The surface of `--meta` with these meta-tools.
pub(crate) fn meta(tools: &[&str]) -> Surface {
    let named = |word: &&str| MetaTool::of_word(word).unwrap_or_else(|| panic!("no meta-tool `{word}`"));
    Surface::Meta(MetaSurface::of(tools.iter().map(named)))
}

/// An index under no policy.
pub(crate) fn unrestricted(index: ToolIndex) -> Toolbox {
    toolbox(index, Policy::default())
}

/// An index under a policy.
pub(crate) fn restricted(index: ToolIndex, policy: &str) -> Toolbox {
    let Applied { policy, index, .. } = read_policy(policy).apply(index, &|_| false).unwrap();
    toolbox(index, policy)
}

fn toolbox(index: ToolIndex, policy: Policy) -> Toolbox {
    let runner = Runner::new(policy.executor().clone(), Limits::default(), 4);
    Toolbox::new(index, policy, runner, None)
}

pub(crate) fn read_policy(yaml: &str) -> policy::PolicyFile {
    let source = Source::new("policy.yaml", yaml.as_bytes().to_vec()).unwrap();
    policy::read(&source).unwrap_or_else(|found| panic!("{}", found.render(Style::Plain)))
}

pub(crate) struct Client {
    pub(crate) input: WriteHalf<DuplexStream>,
    pub(crate) output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    pub(crate) task: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl Client {
    pub(crate) fn connect(toolbox: Toolbox, surface: Surface) -> Self {
        Self::connect_live(ServedHandle::fixed(Arc::new(toolbox)), surface, Changes::Never)
    }

    /// Connects to a served handle, whose toolbox may be replaced during the session.
    pub(crate) fn connect_live(live: ServedHandle, surface: Surface, changes: Changes) -> Self {
        let shutdown = CancellationToken::new();
        let options = Options {
            surface,
            strategy: Strategy::Auto,
            text_form: TextForm::Visible,
            changes,
            detach_after: None,
            replica: None,
        };
        let server = Server::of_handle(live, options, shutdown.clone());
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(theirs);
        let task = tokio::spawn(serve(server, Streams::new(read, write), shutdown));
        let (read, input) = tokio::io::split(ours);
        Self { input, output: BufReader::new(read).lines(), task }
    }

    /// Connects with these capabilities, as clients of revisions until 2025-11-25 do.
    pub(crate) async fn open(toolbox: Toolbox, surface: Surface, capabilities: Value) -> Self {
        let mut client = Self::connect(toolbox, surface);
        let mut params = initialize("2025-11-25");
        params["capabilities"] = capabilities;
        client.ask(0, "initialize", &params).await;
        client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        client
    }

    pub(crate) async fn send(&mut self, line: &str) {
        self.input.write_all(line.as_bytes()).await.unwrap();
        self.input.write_all(b"\n").await.unwrap();
    }

    pub(crate) async fn receive(&mut self) -> Value {
        let line = tokio::time::timeout(2 * PATIENCE, self.output.next_line()).await;
        serde_json::from_str(&line.expect("an answer").unwrap().unwrap()).unwrap()
    }

    pub(crate) async fn exchange(&mut self, line: &str) -> Value {
        self.send(line).await;
        self.receive().await
    }

    pub(crate) async fn ask(&mut self, id: u64, method: &str, params: &Value) -> Value {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let answer = self.exchange(&request.to_string()).await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    pub(crate) async fn tool(&mut self, name: &str, arguments: Value) -> Value {
        self.ask(9, "tools/call", &json!({ "name": name, "arguments": arguments })).await["result"].clone()
    }
}

/// A client of revision 2026-07-28, which sends its request again with the answer.
pub(crate) struct Modern(pub(crate) Client);

impl Modern {
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value, answer: Option<(&str, &Value)>) -> Value {
        self.answer(tool, arguments, answer).await["result"].clone()
    }

    pub(crate) async fn answer(&mut self, tool: &str, arguments: Value, answer: Option<(&str, &Value)>) -> Value {
        let mut params = json!({ "name": tool, "arguments": arguments, "_meta": modern_meta() });
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": { "form": {} } });
        if let Some((action, state)) = answer {
            params["inputResponses"] = json!({ "approval": { "action": action } });
            params["requestState"] = state.clone();
        }
        self.0.ask(7, "tools/call", &params).await
    }
}

pub(crate) fn initialize(revision: &str) -> Value {
    json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": { "name": "test", "version": "0" } })
}

pub(crate) fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
    })
}
