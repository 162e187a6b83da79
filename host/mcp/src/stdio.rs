//! The server of one client, on standard input and output.

use std::io;
use std::time::Duration;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;
use tollhouse::code::processor_count;

use crate::line_transport::{InputEnd, LineTransport};
use crate::server::Server;

/// Time that cancelled runs have to end.
pub(crate) const GRACE: Duration = Duration::from_secs(10);

/// Time that calls have to end once the client has closed standard input.
const LINGER: Duration = Duration::from_secs(4);

/// Error of a server that ends.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The threads cannot be started, or the listener cannot be used.
    #[error("the server cannot start")]
    Start(#[from] io::Error),
    /// The process that starts those of clients is gone, and with it those of all clients.
    #[error("the process that starts those of clients has ended")]
    Starter,
    /// The client did not begin as the protocol has it.
    #[error("the client does not speak MCP")]
    Protocol(#[source] Box<ServerInitializeError>),
}

/// Serves one client until it closes standard input, or `stop` is called. `on_prose` is called once if a line is no JSON:
/// a human may have typed it.
///
/// Calls that are in progress when the client closes standard input have some seconds to end; then they are cancelled, as
/// they are at once if `stop` is called. Their answers are written before this returns.
///
/// # Errors
/// If the server cannot start, or the client does not speak the protocol.
pub fn serve_stdio(server: &Server, stop: &Stopper, on_prose: fn()) -> Result<(), ServeError> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(processor_count())
        .enable_all()
        .build()
        .map_err(ServeError::Start)?;
    let served = runtime.block_on(async {
        let (end, closing) = (InputEnd::default(), CancellationToken::new());
        let transport = LineTransport::new(tokio::io::stdin(), tokio::io::stdout(), on_prose).telling_end(end.clone());
        tokio::spawn(end_in_order(server.clone(), stop.0.clone(), end, closing.clone()));
        let running = match server.connection().serve_with_ct(transport, closing).await {
            Ok(running) => running,
            // It left before it said anything, or the server was stopped.
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
            Err(error) => return Err(ServeError::Protocol(Box::new(error))),
        };
        // However it ended: there is nobody left to be told.
        let _ = running.waiting().await;
        // Tasks go on without a request.
        server.end(GRACE).await;
        Ok(())
    });
    // A thread still waits for standard input.
    runtime.shutdown_background();
    served
}

/// Waits for the end of the input or of the server; then has the calls that are in progress end and be answered, and ends the
/// connection.
async fn end_in_order(server: Server, stop: CancellationToken, input: InputEnd, closing: CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = input.reached.cancelled() => {
            tokio::select! {
                () = stop.cancelled() => {}
                // Requests that were just read, and have not begun, are answered by `rmcp` before it ends.
                () = server.idle() => return input.released.cancel(),
                () = tokio::time::sleep(LINGER) => {}
            }
        }
    }
    server.end(GRACE).await;
    input.released.cancel();
    closing.cancel();
}

/// Stops a server from another thread. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Stopper(pub(crate) CancellationToken);

impl Stopper {
    /// Stops the server: it cancels its runs and ends.
    pub fn stop(&self) {
        self.0.cancel();
    }
}
