//! Requests of a server to this client, all of which are refused, and its notifications.

#![expect(deprecated, reason = "servers of earlier versions may ask for roots")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationCreateRequestMethod, ErrorData,
    Implementation, ListRootsRequestMethod, ListRootsResult, ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};

/// Handler that grants a server nothing. Sampling is refused by the SDK's default.
#[derive(Default)]
pub(super) struct RefusingHandler {
    /// Set when the server says that it has changed its tools.
    pub(super) changed: Arc<AtomicBool>,
}

impl ClientHandler for RefusingHandler {
    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListRootsRequestMethod>())
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Err(ErrorData::method_not_found::<ElicitationCreateRequestMethod>())
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::Release);
    }

    /// Offers no capability: neither sampling nor elicitation nor roots.
    fn get_info(&self) -> ClientConfig {
        let client = Implementation::new("tollhouse", env!("CARGO_PKG_VERSION"));
        let mut config = ClientConfig::new(ClientCapabilities::default(), client);
        config.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        config
    }
}
