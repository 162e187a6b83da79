//! Requests of a server to this client: questions for the user are handed on where there is one, the others are refused.

#![expect(deprecated, reason = "servers of earlier versions may ask for roots")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ElicitationCapability, ErrorCode, ErrorData, FormElicitationCapability, Implementation,
    ListRootsRequestMethod, ListRootsResult, ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};

use tollhouse::tool::Secrets;

use super::relay::MessageRelay;

/// Handler of one server. It grants nothing: no roots, and no sampling, by which a server would use the client's model.
pub(super) struct ServerHandler {
    /// Name of the server.
    pub(super) server: String,
    pub(super) relay: MessageRelay,
    /// Secrets whose values are in no message of the server that is handed on.
    pub(super) secrets: Secrets,
    /// Set when the server says that it has changed its tools.
    pub(super) changed: Arc<AtomicBool>,
}

impl ServerHandler {
    pub(super) fn new(server: &str, relay: MessageRelay, secrets: Secrets) -> Self {
        Self { server: server.to_owned(), relay, secrets, changed: Arc::default() }
    }
}

impl ClientHandler for ServerHandler {
    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let why = "sampling is not granted: Tollhouse lets no MCP server use the client's model";
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, why, None))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListRootsRequestMethod>())
    }

    async fn create_elicitation(
        &self,
        question: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.relay.ask(&self.server, question, &self.secrets).await
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::Release);
    }

    /// Offers neither sampling nor roots, and elicitation by forms where a user may be asked.
    fn get_info(&self) -> ClientConfig {
        let client = Implementation::new("tollhouse", env!("CARGO_PKG_VERSION"));
        let mut capabilities = ClientCapabilities::default();
        if self.relay.asks() {
            capabilities.elicitation =
                Some(ElicitationCapability::new().with_form(FormElicitationCapability::default()));
        }
        let mut config = ClientConfig::new(capabilities, client);
        config.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        config
    }
}
