//! What the client of a request is told while its work goes on: the time as progress, and behind a gateway what the
//! mounted server says, as its log messages, its progress and its questions to the user.
#![expect(deprecated, reason = "log messages are what clients of earlier revisions of the protocol have")]

use std::time::{Duration, Instant};

use rmcp::model::{ElicitRequestParams, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use tokio::sync::mpsc::Receiver;

use crate::approvals::AskMode;
use crate::client::{RelayedCall, ServerMessage};
use crate::server::{Connection, level_rank};
use crate::tasks;

/// Most questions of a server in one call.
const MAX_QUESTIONS: usize = 10;

/// Messages for the client of a request.
pub(crate) struct RelayedMessages<'a> {
    context: &'a RequestContext<RoleServer>,
    /// Messages of mounted servers, behind a gateway.
    messages: Option<(RelayedCall, Receiver<ServerMessage>)>,
    /// Lowest level of a server's log messages; `None` for none.
    level: Option<u8>,
    mode: AskMode,
    questions: usize,
    token: Option<ProgressToken>,
    progress: Progress,
    begun: Instant,
    wall: Duration,
}

/// Progress that a client was told, which never falls.
struct Progress {
    /// Time that was told before the server told its own progress.
    before: f64,
    last: f64,
    /// True once the server tells its own.
    is_served: bool,
}

impl Progress {
    /// Returns the time as progress, unless the server tells its own.
    fn of_time(&mut self, elapsed: f64) -> Option<f64> {
        if self.is_served || elapsed <= self.last {
            return None;
        }
        (self.before, self.last) = (elapsed, elapsed);
        Some(elapsed)
    }

    /// Returns the server's progress behind the time that was told before it.
    fn of_server(&mut self, progress: f64) -> Option<f64> {
        let told = self.before + progress;
        if !told.is_finite() || told <= self.last {
            return None;
        }
        (self.is_served, self.last) = (true, told);
        Some(told)
    }
}

impl<'a> RelayedMessages<'a> {
    pub(crate) fn new(connection: &Connection, context: &'a RequestContext<RoleServer>, wall: Duration) -> Self {
        let server = &connection.server.0;
        Self {
            context,
            messages: server.is_gateway.then(|| server.relay.begin()),
            level: connection.log_level(context),
            mode: AskMode::of(connection, context),
            questions: 0,
            token: context.meta.get_progress_token(),
            progress: Progress { before: 0.0, last: -1.0, is_served: false },
            begun: Instant::now(),
            wall,
        }
    }

    /// Returns the next message of a server; `None` if there is none to be expected.
    pub(crate) async fn next(&mut self) -> Option<ServerMessage> {
        match &mut self.messages {
            Some((_, messages)) => messages.recv().await,
            None => None,
        }
    }

    /// Tells the time.
    pub(crate) async fn tick(&mut self) {
        if let Some(task) = tasks::task_of(self.context) {
            if !self.progress.is_served {
                let (elapsed, wall) = (self.begun.elapsed().as_secs(), self.wall.as_secs());
                task.set_status_message(format!("runs for {elapsed} of at most {wall} seconds"));
            }
            return;
        }
        let Some(token) = &self.token else { return };
        if let Some(told) = self.progress.of_time(self.begun.elapsed().as_secs_f64()) {
            let told = ProgressNotificationParam::new(token.clone(), told).with_total(self.wall.as_secs_f64());
            // A client that does not take it loses nothing but this.
            let _ = self.context.peer.notify_progress(told).await;
        }
    }

    /// Hands a message of a server on. Questions are asked on their own, so that the work can be cancelled meanwhile.
    pub(crate) async fn hand_on(&mut self, message: ServerMessage) {
        let task = tasks::task_of(self.context);
        match message {
            // The request of a task is answered.
            ServerMessage::Log { .. } if task.is_some() => {}
            ServerMessage::Log { level, logger, data } => {
                if self.level.is_some_and(|wanted| level_rank(level) >= wanted) {
                    let message = LoggingMessageNotificationParam::new(level, data).with_logger(logger);
                    // As above.
                    let _ = self.context.peer.notify_logging_message(message).await;
                }
            }
            ServerMessage::Progress { progress, total, message } if task.is_some() => {
                let told = self.progress.of_server(progress);
                if let (Some(task), Some(_)) = (task, told) {
                    task.set_status_message(status(progress, total, message));
                }
            }
            ServerMessage::Progress { progress, total, message } => {
                let Some(token) = &self.token else { return };
                let Some(told) = self.progress.of_server(progress) else { return };
                let mut param = ProgressNotificationParam::new(token.clone(), told);
                param.total = total.map(|total| self.progress.before + total);
                param.message = message;
                // As above.
                let _ = self.context.peer.notify_progress(param).await;
            }
            ServerMessage::Question { message, form, answer } => {
                self.questions += 1;
                if self.mode != AskMode::Request || self.questions > MAX_QUESTIONS {
                    let why = "the user of this client cannot be asked, or was asked too often in this call";
                    // The server may have gone.
                    let _ = answer.send(Err(ErrorData::invalid_request(why, None)));
                    return;
                }
                let peer = self.context.peer.clone();
                let question =
                    ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: *form };
                tokio::spawn(async move {
                    let asked = peer.create_elicitation(question).await;
                    let failed = |_| ErrorData::invalid_request("the client did not answer", None);
                    // As above.
                    let _ = answer.send(asked.map_err(failed));
                });
            }
        }
    }

    /// Hands on what has come before the work ended. Questions are not asked any more: nobody waits for the answers.
    pub(crate) async fn finish(mut self) {
        while let Some(message) = self.messages.as_mut().and_then(|(_, messages)| messages.try_recv().ok()) {
            if !matches!(message, ServerMessage::Question { .. }) {
                self.hand_on(message).await;
            }
        }
    }
}

/// Describes the progress of a server as the status of a task.
fn status(progress: f64, total: Option<f64>, message: Option<String>) -> String {
    let told = total.map_or_else(|| progress.to_string(), |total| format!("{progress} of {total}"));
    message.map_or_else(|| told.clone(), |message| format!("{told}: {message}"))
}

#[cfg(test)]
mod tests {
    use super::Progress;

    #[test]
    fn progress_notifications_never_decrease() {
        let mut progress = Progress { before: 0.0, last: -1.0, is_served: false };
        assert_eq!(progress.of_time(1.0), Some(1.0));
        assert_eq!(progress.of_time(2.0), Some(2.0));
        assert_eq!(progress.of_server(0.0), None, "it was told");
        assert_eq!(progress.of_server(0.5), Some(2.5));
        assert_eq!(progress.of_time(3.0), None, "the server tells its own");
        assert_eq!(progress.of_server(0.4), None);
        assert_eq!(progress.of_server(f64::NAN), None);
        assert_eq!(progress.of_server(10.0), Some(12.0));
    }
}
