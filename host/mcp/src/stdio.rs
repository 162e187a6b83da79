//! The server of one client, on standard input and output.

use std::io;
use std::time::Duration;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use tokio::runtime::Builder;

use crate::line_transport::LineTransport;
use crate::server::Server;

/// Time that cancelled runs have to end.
const GRACE: Duration = Duration::from_secs(10);

/// Error of a server that ends.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The threads cannot be started, or the listener cannot be used.
    #[error("the server cannot start")]
    Start(#[source] io::Error),
    /// The client did not begin as the protocol has it.
    #[error("the client does not speak MCP")]
    Protocol(#[source] Box<ServerInitializeError>),
}

/// Serves one client until it closes standard input, or `stop` is called. Active runs are cancelled then. `on_prose` is
/// called once if a line is no JSON: a human may have typed it.
///
/// # Errors
/// If the server cannot start, or the client does not speak the protocol.
pub fn serve_stdio(server: &Server, stop: &Stopper, on_prose: fn()) -> Result<(), ServeError> {
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(ServeError::Start)?;
    let served = runtime.block_on(async {
        let transport = LineTransport::new(tokio::io::stdin(), tokio::io::stdout(), on_prose);
        let running = match server.connection().serve_with_ct(transport, stop.0.clone()).await {
            Ok(running) => running,
            // It left before it said anything, or the server was stopped.
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
            Err(error) => return Err(ServeError::Protocol(Box::new(error))),
        };
        // However it ended: there is nobody left to be told.
        let _ = running.waiting().await;
        let _ = tokio::time::timeout(GRACE, server.idle()).await;
        Ok(())
    });
    // A thread still waits for standard input.
    runtime.shutdown_background();
    served
}

/// Stops a server from another thread. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Stopper(pub(crate) tokio_util::sync::CancellationToken);

impl Stopper {
    /// Stops the server: it cancels its runs and ends.
    pub fn stop(&self) {
        self.0.cancel();
    }
}
