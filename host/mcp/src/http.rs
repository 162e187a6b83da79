//! Streamable HTTP.
use crate::sessions::ClientSessions;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use std::sync::Arc;
pub(crate) fn client_of(_: &RequestContext<RoleServer>) -> Option<Arc<ClientSessions>> {
    None
}
