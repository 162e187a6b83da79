//! Redirects by the rules of the fetch standard: the target, and the parts of the request that are sent there.

use crate::error::{Error, Kind};
use crate::headers::{self, drop_of_body, drop_of_origin};
use crate::request::Request;

/// Treatment of a redirect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Follow the redirect.
    #[default]
    Follow,
    /// Return the redirect as the response.
    Manual,
    /// Fail with an error.
    Error,
}

/// Returns the `location` of a redirect. Other statuses in the 300s, such as 304, are ordinary responses.
pub fn location(status: u16, answer: &[(String, String)]) -> Option<&str> {
    matches!(status, 301 | 302 | 303 | 307 | 308).then(|| headers::find(answer, "location")).flatten()
}

/// Changes a request into the one that follows a redirect.
///
/// # Errors
///
/// `Redirect` if the target is invalid.
pub fn follow(request: &mut Request, status: u16, location: &str) -> Result<(), Error> {
    let target = request.address.join(location).map_err(|reason| {
        let message = format!("the redirect to `{}` cannot be followed: {reason}", crate::address::excerpt(location));
        Error::at(&request.address, Kind::Redirect, message).with_status(status)
    })?;
    let method = request.method.as_str();
    let becomes_get = match status {
        301 | 302 => method == "POST",
        303 => !matches!(method, "GET" | "HEAD"),
        _ => false,
    };
    if becomes_get {
        request.method = "GET".to_owned();
        request.body = None;
        drop_of_body(&mut request.headers);
    }
    if !request.address.same_origin(&target) {
        drop_of_origin(&mut request.headers);
    }
    request.address = target;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::find;
    use crate::request::Given;

    fn request(method: &str) -> Request {
        let headers = [("authorization", "Bearer {{secret:K}}"), ("x-key", "{{secret:K}}"), ("x-plain", "1")];
        let headers = headers.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        let body = (!matches!(method, "GET" | "HEAD")).then(|| "text".to_owned());
        let given = Given { body, bytes: None };
        Request::new("https://a.example/x", Some(method), Some(headers), given).expect("a request")
    }

    fn followed(method: &str, status: u16, location: &str) -> Request {
        let mut request = request(method);
        follow(&mut request, status, location).expect("it leads somewhere");
        request
    }

    #[test]
    fn redirect_changes_method_and_body_by_status() {
        for (status, method, expected) in [
            (301, "POST", "GET"),
            (302, "POST", "GET"),
            (303, "POST", "GET"),
            (303, "PUT", "GET"),
            (303, "DELETE", "GET"),
            (301, "PUT", "PUT"),
            (302, "DELETE", "DELETE"),
            (307, "POST", "POST"),
            (308, "POST", "POST"),
            (303, "HEAD", "HEAD"),
            (301, "GET", "GET"),
        ] {
            let next = followed(method, status, "/y");
            assert_eq!(next.method, expected, "{status} {method}");
            let sends = !matches!(expected, "GET" | "HEAD");
            assert_eq!(next.body.is_some(), sends, "{status} {method}");
            assert_eq!(find(&next.headers, "content-type").is_some(), sends, "{status} {method}");
        }
    }

    #[test]
    fn secrets_stay_with_their_origin() {
        for near in ["/y", "https://a.example:443/y", "?q"] {
            let next = followed("GET", 302, near);
            assert!(find(&next.headers, "authorization").is_some() && find(&next.headers, "x-key").is_some(), "{near}");
        }
        for far in ["https://b.example/", "http://a.example/x", "https://a.example:8443/", "//sub.a.example/"] {
            let next = followed("POST", 307, far);
            assert!(find(&next.headers, "authorization").is_none() && find(&next.headers, "x-key").is_none(), "{far}");
            assert_eq!(find(&next.headers, "x-plain"), Some("1"));
            assert_eq!(next.body.as_deref(), Some(&b"text"[..]));
        }
    }

    #[test]
    fn header_dropped_on_redirect_does_not_return() {
        let mut request = request("GET");
        follow(&mut request, 302, "https://b.example/").expect("it leads somewhere");
        follow(&mut request, 302, "https://a.example/").expect("it leads somewhere");
        assert!(find(&request.headers, "authorization").is_none());
    }

    #[test]
    fn redirect_without_valid_location_is_not_followed() {
        let mut request = request("GET");
        for location in ["javascript:alert(1)", "https://u:p@b.example/", "https://[", "file:///etc/passwd"] {
            let error = follow(&mut request, 302, location).expect_err(location);
            assert_eq!((error.kind, error.status), (Kind::Redirect, Some(302)));
            assert_eq!(error.url.as_deref(), Some("https://a.example/x"));
        }
        let headers = [("location".to_owned(), "/y".to_owned())];
        assert_eq!(location(302, &headers), Some("/y"));
        assert_eq!(location(302, &[]), None);
        for status in [200, 201, 300, 304, 305, 404] {
            assert_eq!(location(status, &headers), None);
        }
    }
}
