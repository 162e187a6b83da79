//! Judgement of requests, without a network.

use std::sync::PoisonError;

use http::header::AUTHORIZATION;
use http_body_util::{BodyExt as _, Empty};
use tollhouse_registry::Manifest;

use super::*;
use crate::capability::Policy;
use tollhouse_audit::{Audit, AuditError};
use tollhouse_gate::Event;

fn target(uri: &str) -> Option<RequestTarget> {
    RequestTarget::of(&Method::GET, &uri.parse().expect("a URI"))
}

#[test]
fn request_target_that_is_not_plain_is_none() {
    for (uri, host, port) in [
        ("https://api.example/x", "api.example", 443),
        ("http://api.example/x", "api.example", 80),
        ("https://[::1]:8443/", "::1", 8443),
        ("https://10.0.0.1:1/", "10.0.0.1", 1),
    ] {
        let found = target(uri).expect(uri);
        assert_eq!((found.host.as_str(), found.port), (host, port), "{uri}");
    }
    for uri in ["https://good.example@evil.example/", "https://x:0/", "https://x:/", "/only/a/path", "https://u:p@x/"] {
        assert!(target(uri).is_none(), "{uri}");
    }
}

#[test]
fn open_requests_beyond_the_limit_are_refused() {
    let open = RequestCounter::default();
    let held: Vec<_> = (0..MAX_OPEN).map(|_| open.enter().expect("there is room")).collect();
    assert!(open.enter().is_none());
    drop(held);
    assert!(open.enter().is_some());
}

/// Audit log that keeps its lines.
#[derive(Default)]
struct RecordedAudit(Mutex<Vec<String>>);

impl RecordedAudit {
    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Audit for RecordedAudit {
    fn write(&self, event: &Event<'_>) -> Result<(), AuditError> {
        let line = serde_json::to_string(event).expect("an event is plain data");
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        Ok(())
    }

    fn sync(&self) -> Result<(), AuditError> {
        Ok(())
    }
}

/// Creates the outgoing requests of a tool with these grants.
fn outgoing(grants: &str) -> (OutgoingRequests, Arc<RecordedAudit>) {
    let asks = "name = \"a:b\"\nversion = \"1.0.0\"\n[permissions]\nhttp = [\"*\"]\n\
        secrets = [{ name = \"KEY\", expose = true }, \"PIN\"]";
    let asked = Manifest::parse(asks).expect("a manifest").permissions;
    let policy = Policy::parse(&format!("[tool.w]\nhttp = [\"api.example\"]\n{grants}")).expect("a policy");
    let authority = Authority::new("w", &asked, &policy.permissions["w"]).expect("it is asked for");
    let secrets = Secrets::default().with("KEY", "s3cr3t-value").and_then(|all| all.with("PIN", "another-value"));
    let lines = Arc::new(RecordedAudit::default());
    let call_audit = CallAudit::new(Arc::clone(&lines) as Arc<dyn Audit>, 1, 1);
    let outgoing = OutgoingRequests {
        authority: Arc::new(authority),
        secrets: secrets.expect("secrets"),
        network: Network::default(),
        lookups: NameLookups::default(),
        interrupt: Interrupt::default(),
        log: RequestLog { call_audit, refused: Arc::default() },
        open: RequestCounter::default(),
    };
    (outgoing, lines)
}

fn request(method: &str, path: &str, headers: &[(&str, &str)]) -> Request<WasiBody> {
    let mut request = Request::builder().method(method).uri(format!("https://api.example{path}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = Empty::new().map_err(|never: std::convert::Infallible| match never {}).boxed_unsync();
    request.body(body).expect("a request")
}

#[test]
fn request_that_would_be_echoed_carries_no_secret() {
    let (hidden, _) = outgoing("secrets = [\"KEY\"]");
    let bearer = [("authorization", "Bearer {{secret:KEY}}")];
    for method in ["TRACE", "trace", "Track"] {
        let (_, why) = hidden.judge(&mut request(method, "/", &bearer)).expect_err(method);
        assert!(why.contains("would reveal its secrets"), "{why}");
        assert!(hidden.judge(&mut request(method, "/", &[("x-plain", "1")])).is_ok(), "{method} without a secret");
    }
    assert!(hidden.judge(&mut request("CONNECT", "/", &[])).is_err());
    assert!(hidden.judge(&mut request("CONNECT", "/", &bearer)).is_err());
    assert!(hidden.judge(&mut request("GET", "/", &bearer)).is_ok());
    // A tool that sees the value may have put it anywhere, in any form.
    let (seen, _) = outgoing("secrets = [{ name = \"KEY\", expose = true }]");
    for (path, header) in [("/s3cr3t-value", ""), ("/s3cr3t%2Dvalue", ""), ("/", "Basic czNjcjN0LXZhbHVl")] {
        assert!(seen.judge(&mut request("TRACE", path, &[("x-a", header)])).is_err(), "{path} {header}");
        assert!(seen.judge(&mut request("GET", path, &[("x-a", header)])).is_ok(), "{path} {header}");
    }
    assert!(seen.judge(&mut request("TRACE", "/", &[])).is_ok());
}

#[test]
fn secret_bound_to_a_header_is_refused_elsewhere() {
    let (bound, _) = outgoing("secrets = [{ name = \"KEY\", header = \"X-Api-Key\" }, \"PIN\"]");
    let mut fits =
        request("GET", "/", &[("x-api-key", "{{secret:KEY}}"), ("x-other", "{{secret:PIN}} {{secret:PIN}}")]);
    let (_, used) = bound.judge(&mut fits).expect("it fits");
    assert_eq!(used, ["KEY", "PIN"]);
    assert_eq!(fits.headers()["x-api-key"], "s3cr3t-value");
    assert!(fits.headers()["x-api-key"].is_sensitive());
    for headers in [
        &[("x-other", "{{secret:KEY}}")][..],
        &[("authorization", "Bearer {{secret:KEY}}")],
        &[("x-api-key", "{{secret:KEY}}"), ("cookie", "a={{secret:KEY}}")],
        &[("cookie", "a={{secret:PIN}}{{secret:KEY}}")],
    ] {
        let (_, why) = bound.judge(&mut request("GET", "/", headers)).expect_err("another header");
        assert!(why.contains("granted for the header `x-api-key`"), "{headers:?}: {why}");
        assert!(!why.contains("s3cr3t") && !why.contains("another"), "{why}");
    }
}

#[test]
fn request_with_secret_asks_for_no_compression() {
    let (outgoing, _) = outgoing("secrets = [\"KEY\"]");
    let with = |value| {
        let mut request = request("GET", "/", &[("accept-encoding", "gzip"), (AUTHORIZATION.as_str(), value)]);
        outgoing.judge(&mut request).expect("it fits");
        request
            .headers()
            .get_all("accept-encoding")
            .iter()
            .map(|value| value.to_str().unwrap_or("?").to_owned())
            .collect()
    };
    let codings: [Vec<String>; 2] = [with("{{secret:KEY}}"), with("plain")];
    assert_eq!(codings, [["identity"], ["gzip"]]);
}

#[test]
fn secret_used_in_a_request_is_logged_each_time() {
    let (outgoing, lines) = outgoing("secrets = [\"KEY\", \"PIN\"]");
    let target = target("https://[2001:db8::1]:8443/path/s3cr3t").expect("a target");
    assert!(outgoing.log.send(&["KEY".to_owned(), "PIN".to_owned()], "w", &target));
    let line = |secret: &str| {
        format!(
            "{{\"event\":\"secret_used\",\"run\":1,\"seq\":1,\"secret\":\"{secret}\",\"tool\":\"w\",\"to\":\"https://[2001:db8::1]:8443\"}}"
        )
    };
    assert_eq!(lines.all(), [line("KEY"), line("PIN")]);
}
