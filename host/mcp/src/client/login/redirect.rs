//! The answer of the authorization server, which the user's browser brings to a port of this machine.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// Path to which the browser is sent.
pub(super) const PATH: &str = "/callback";

/// Most bytes of a request's head.
const MAX_HEAD: usize = 32 << 10;

/// Longest time for a request.
const REQUEST: Duration = Duration::from_secs(10);

/// Answer of the authorization server.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Redirected {
    pub(super) code: Option<String>,
    pub(super) state: Option<String>,
    pub(super) issuer: Option<String>,
    pub(super) error: Option<String>,
}

/// Waits for the answer with this state. Others are no answers to this question, and are refused.
pub(super) async fn wait(listener: &TcpListener, state: &str) -> std::io::Result<Redirected> {
    loop {
        let (mut stream, _) = listener.accept().await?;
        // A browser that opens a connection and says nothing must not keep the answer out.
        let Ok(Ok(head)) = timeout(REQUEST, head_of(&mut stream)).await else { continue };
        let answer = parse(&head).filter(|answer| answer.state.as_deref() == Some(state));
        let (status, text) = match &answer {
            Some(Redirected { code: Some(_), .. }) => ("200 OK", "You are logged in, and can close this page."),
            Some(_) => ("200 OK", "You are not logged in. You can close this page."),
            None => ("404 Not Found", "There is nothing here."),
        };
        let reply = format!(
            "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\
             cache-control: no-store\r\n\r\n{text}",
            text.len()
        );
        // A browser that has gone has brought its answer all the same.
        let _ = timeout(REQUEST, async { (stream.write_all(reply.as_bytes()).await, stream.shutdown().await) }).await;
        if let Some(answer) = answer {
            return Ok(answer);
        }
    }
}

/// Reads the head of a request.
async fn head_of(stream: &mut TcpStream) -> std::io::Result<String> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut piece = [0; 4096];
        let read = stream.read(&mut piece).await?;
        if read == 0 || head.len() + read > MAX_HEAD {
            return Err(std::io::ErrorKind::InvalidData.into());
        }
        head.extend_from_slice(&piece[..read]);
    }
    String::from_utf8(head).map_err(|_| std::io::ErrorKind::InvalidData.into())
}

/// Parses the request of a browser. Returns `None` if it is for something else, or has a field twice.
fn parse(head: &str) -> Option<Redirected> {
    let target = head.lines().next()?.strip_prefix("GET ")?.split(' ').next()?;
    let query = target.strip_prefix(PATH)?.strip_prefix('?')?;
    let mut answer = Redirected::default();
    for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        let place = match name {
            "code" => &mut answer.code,
            "state" => &mut answer.state,
            "iss" => &mut answer.issuer,
            "error" => &mut answer.error,
            _ => continue,
        };
        let value = value.replace('+', " ");
        let value = percent_encoding::percent_decode_str(&value).decode_utf8().ok()?.into_owned();
        if place.replace(value).is_some() {
            return None;
        }
    }
    Some(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_of_a_browser_is_read_from_its_request() {
        let text = |text: &str| Some(text.to_owned());
        let found = parse("GET /callback?code=a%2Bb&state=x+y&iss=https%3A%2F%2Fz&other=1 HTTP/1.1\r\nhost: x\r\n\r\n");
        let expected = Redirected { code: text("a+b"), state: text("x y"), issuer: text("https://z"), error: None };
        assert_eq!(found, Some(expected));
        for other in [
            "GET / HTTP/1.1",
            "POST /callback?code=a HTTP/1.1",
            "GET /callbacks?code=a HTTP/1.1",
            "GET /callback?code=%ff HTTP/1.1",
            "GET /callback?code=a&code=b HTTP/1.1",
            "",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
