//! Connections that are open, up to a number at a time.
//!
//! Whoever can connect can have connections, without a token: a limit alone would let a stranger keep all of them, by connections
//! on which nothing comes, or comes slowly. So a connection that answers no request gives its place to a new one, the one that
//! has waited longest first.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Connections of a server that are open.
pub(super) struct OpenConnections {
    most: usize,
    table: watch::Sender<ConnectionTable>,
}

#[derive(Default)]
struct ConnectionTable {
    open: BTreeMap<u64, ConnectionState>,
    /// Number of the next connection, or of the next time at which one begins to wait.
    next: u64,
}

struct ConnectionState {
    /// Number of requests that are being judged or answered.
    requests: usize,
    /// Time at which the connection began to wait for a request: a number that grows.
    waits_since: u64,
    displaced: CancellationToken,
}

/// Connection that is open until this is dropped.
pub(super) struct OpenConnection {
    connections: Arc<OpenConnections>,
    number: u64,
    /// Cancelled when another connection has taken the place of this one.
    pub(super) displaced: CancellationToken,
}

/// Request that is being judged or answered, until this is dropped. Its connection keeps its place.
pub(super) struct RequestInProgress {
    connections: Arc<OpenConnections>,
    connection: u64,
}

impl ConnectionTable {
    fn next(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Removes the connection that has waited longest for a request; `false` if none waits.
    fn displace(&mut self) -> bool {
        let waiting = self.open.iter().filter(|(_, state)| state.requests == 0);
        let longest = waiting.min_by_key(|(_, state)| state.waits_since).map(|(number, _)| *number);
        let displaced = longest.and_then(|number| self.open.remove(&number));
        displaced.inspect(|state| state.displaced.cancel()).is_some()
    }
}

impl OpenConnections {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, table: watch::Sender::default() })
    }

    /// Adds a connection. Returns `None` if all others answer requests.
    pub(super) fn add(self: &Arc<Self>) -> Option<OpenConnection> {
        let displaced = CancellationToken::new();
        let mut added = None;
        self.table.send_modify(|table| {
            if table.open.len() < self.most || table.displace() {
                let number = table.next();
                let state = ConnectionState { requests: 0, waits_since: number, displaced: displaced.clone() };
                table.open.insert(number, state);
                added = Some(number);
            }
        });
        added.map(|number| OpenConnection { connections: Arc::clone(self), number, displaced })
    }

    /// Waits until no connection is open.
    pub(super) async fn end(&self) {
        // The sender is here, so that the table is not gone before that.
        let _ = self.table.subscribe().wait_for(|table| table.open.is_empty()).await;
    }
}

impl OpenConnection {
    /// Notes that a request has come. Returns `None` if another connection has taken the place of this one: the request must
    /// not begin, since nobody would wait for it.
    pub(super) fn begin_request(&self) -> Option<RequestInProgress> {
        let mut is_open = false;
        self.connections.table.send_modify(|table| {
            if let Some(state) = table.open.get_mut(&self.number) {
                state.requests += 1;
                is_open = true;
            }
        });
        is_open.then(|| RequestInProgress { connections: Arc::clone(&self.connections), connection: self.number })
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.connections.table.send_modify(|table| drop(table.open.remove(&self.number)));
    }
}

impl Drop for RequestInProgress {
    fn drop(&mut self) {
        self.connections.table.send_modify(|table| {
            let now = table.next();
            if let Some(state) = table.open.get_mut(&self.connection) {
                state.requests -= 1;
                state.waits_since = now;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_that_has_waited_longest_gives_its_place_to_a_new_one() {
        let connections = OpenConnections::new(3);
        let [first, second, third] = [(); 3].map(|()| connections.add().expect("there is room"));
        let busy = first.begin_request().expect("it is open");
        let fourth = connections.add().expect("the second waits");
        let displaced = |connection: &OpenConnection| connection.displaced.is_cancelled();
        assert_eq!([&first, &second, &third, &fourth].map(displaced), [false, true, false, false]);
        assert!(second.begin_request().is_none(), "it has lost its place");
        // What ends meanwhile is counted once.
        drop(second);
        drop(busy);
        connections.add().map(drop).expect("the third waits longer than the first");
        assert_eq!([&first, &third, &fourth].map(displaced), [false, true, false]);
    }

    #[test]
    fn connections_that_answer_requests_keep_their_places() {
        let connections = OpenConnections::new(2);
        let open = [(); 2].map(|()| connections.add().expect("there is room"));
        let busy = open.each_ref().map(|connection| connection.begin_request().expect("it is open"));
        assert!(connections.add().is_none());
        drop(busy);
        assert!(connections.add().is_some());
    }
}
