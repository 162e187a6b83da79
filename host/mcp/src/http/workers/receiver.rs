//! Connections that a worker is handed. Each begins with the client whose request comes by it: the length as four bytes, the
//! highest first, and JSON.

use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, Interest};
use tokio::net::UnixStream;

use super::AdmittedClient;
use super::descriptors::receive;
use crate::http::connections::ConnectionSource;

/// Longest text of a client: a token of the greatest length, whose policies are texts within a text.
const MAX_CLIENT: usize = 1 << 20;

/// Time for that text.
const TIME: Duration = Duration::from_secs(30);

/// Connections that come by a socket.
pub(super) struct HandedConnections(UnixStream);

impl HandedConnections {
    /// Takes the socket, and says at its other end that connections are accepted.
    pub(super) fn new(socket: OwnedFd) -> io::Result<Self> {
        let mut socket = StdStream::from(socket);
        socket.write_all(&[1])?;
        socket.set_nonblocking(true)?;
        UnixStream::from_std(socket).map(Self)
    }
}

impl ConnectionSource for HandedConnections {
    type Stream = UnixStream;

    async fn accept(&mut self) -> io::Result<Option<UnixStream>> {
        loop {
            self.0.readable().await?;
            return match self.0.try_io(Interest::READABLE, || receive::<1>(&self.0)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Ok(Some([connection])) => {
                    let stream = StdStream::from(connection);
                    stream.set_nonblocking(true)?;
                    UnixStream::from_std(stream).map(Some)
                }
                Ok(None) => Ok(None),
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(None),
                Err(error) => Err(error),
            };
        }
    }
}

/// Reads the client of a connection.
pub(super) async fn read_client(stream: &mut UnixStream) -> io::Result<AdmittedClient> {
    let read = async {
        let length = stream.read_u32().await?;
        let length = usize::try_from(length).ok().filter(|length| *length <= MAX_CLIENT);
        let mut text = vec![0; length.ok_or_else(|| io::Error::other("the text of the client is too long"))?];
        stream.read_exact(&mut text).await?;
        Ok(serde_json::from_slice(&text)?)
    };
    tokio::time::timeout(TIME, read).await?
}

/// Writes the client of a connection.
pub(super) async fn write_client(stream: &mut UnixStream, client: &AdmittedClient) -> io::Result<()> {
    let text = serde_json::to_vec(client)?;
    let length = u32::try_from(text.len()).ok().filter(|_| text.len() <= MAX_CLIENT);
    stream.write_u32(length.ok_or_else(|| io::Error::other("the text of the client is too long"))?).await?;
    stream.write_all(&text).await
}
