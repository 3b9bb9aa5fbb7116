//! A request for a tool, with all that its answer needs.

use std::sync::Arc;

use rmcp::model::InputResponses;
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value};

use super::super::client::Client;
use super::super::request_state::StateSigner;
use crate::call::Toolbox;

/// A request for a tool.
#[derive(Clone)]
pub(super) struct ToolRequest {
    /// The tools that were served when it came.
    pub(super) toolbox: Arc<Toolbox>,
    /// The name of a tool of the surface.
    pub(super) name: String,
    pub(super) arguments: Map<String, Value>,
    /// The responses to the questions of the round before.
    pub(super) responses: Option<InputResponses>,
    /// The state from the round before.
    pub(super) state: Option<String>,
    pub(super) context: RequestContext<RoleServer>,
}

impl ToolRequest {
    /// Returns the client that made the request, with the answers of its user.
    pub(super) fn client<'a>(&'a self, states: &'a StateSigner) -> Client<'a> {
        Client::new(&self.context, states, self.responses.as_ref(), self.state.as_deref())
    }

    /// Returns the client for a call to which the answers of its user do not belong.
    #[cfg(has_code)]
    pub(super) fn client_without_answers<'a>(&'a self, states: &'a StateSigner) -> Client<'a> {
        Client::new(&self.context, states, None, None)
    }
}
