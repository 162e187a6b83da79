//! Body of a stream of events, which bounds each of them.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming};

use super::RemoteError;

/// Body that ends with an error if an event is longer than its bound. Events are separated by empty lines.
pub(super) struct BoundedEvents<B = Incoming> {
    body: B,
    most: usize,
    event: usize,
    /// Set if the line that is read has no byte yet.
    is_line_empty: bool,
}

impl<B> BoundedEvents<B> {
    pub(super) fn new(body: B, most: usize) -> Self {
        Self { body, most, event: 0, is_line_empty: true }
    }

    /// Counts bytes. Returns false if an event is too long.
    fn count(&mut self, bytes: &[u8]) -> bool {
        for byte in bytes {
            let is_end = matches!(byte, b'\n' | b'\r');
            if is_end && self.is_line_empty {
                self.event = 0;
            } else {
                self.event += 1;
            }
            if self.event > self.most {
                return false;
            }
            // A line may end with both characters: the pair is no empty line.
            self.is_line_empty = *byte == b'\n' || (*byte == b'\r' && self.is_line_empty);
        }
        true
    }
}

impl<B> Body for BoundedEvents<B>
where
    B: Body<Data = Bytes, Error = hyper::Error> + Unpin,
{
    type Data = Bytes;
    type Error = RemoteError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, RemoteError>>> {
        Pin::new(&mut self.body).poll_frame(context).map(|frame| match frame? {
            Ok(frame) => {
                let is_short = frame.data_ref().is_none_or(|bytes| self.count(bytes));
                Some(if is_short { Ok(frame) } else { Err(RemoteError::TooLarge(self.most)) })
            }
            Err(_) => Some(Err(RemoteError::Broken)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_of_short_events_is_read_and_a_long_event_is_not() {
        let counts = |parts: &[&[u8]]| {
            let mut body = BoundedEvents::new((), 16);
            parts.iter().all(|part| body.count(part))
        };
        assert!(counts(&[b"data: 12345\n\n".repeat(100).as_slice()]));
        assert!(counts(&[b"data: 12345\r\n\r\n".repeat(100).as_slice()]));
        assert!(counts(&[b"data: 1234", b"5\n", b"\ndata: 12345\n\n"]));
        assert!(!counts(&[b"data: 123456789012\n\n"]));
        assert!(!counts(&[b"data: 1\ndata: 2\ndata: 3\n\n"]));
        assert!(!counts(&[b":\n".repeat(100).as_slice()]), "comments are counted");
    }
}
