//! Binding of the logic to WIT: converts arguments and results. This module holds no rules.

use bindings::exports::tollhouse::http::http as wit;
use bindings::tollhouse::tool::context;

use crate::answer::{Body, Form};
use crate::error::{Error, Kind};
use crate::fetch::{self, Answer, Options, fetch};
use crate::redirect::Mode;
use crate::request::{Given, Request};
use crate::wire::Network;

mod bindings {
    //! Generated from `wit/`.
    #![expect(unsafe_code, reason = "generated")]
    wit_bindgen::generate!({ world: "tool", path: "wit", generate_all });
    export!(Tool with_types_in self);
    use super::Tool;
}

struct Tool;

impl wit::Guest for Tool {
    fn fetch(
        url: String,
        method: Option<String>,
        headers: Option<Vec<(String, String)>>,
        body: Option<String>,
        bytes: Option<Vec<u8>>,
        redirect: Option<wit::RedirectMode>,
        max_redirects: Option<u32>,
        timeout_ms: Option<u32>,
        max_bytes: Option<u32>,
        as_: Option<wit::BodyForm>,
    ) -> Result<wit::Response, wit::Error> {
        let request = Request::new(&url, method.as_deref(), headers, Given { body, bytes })?;
        let request = request.with_key(context::idempotency_key);
        let default = Options::default();
        let options = Options {
            redirect: redirect.map_or(default.redirect, Into::into),
            max_redirects: max_redirects.unwrap_or(default.max_redirects),
            max_bytes: max_bytes.unwrap_or(default.max_bytes),
        };
        let network = Network::new(timeout_ms.unwrap_or(fetch::TIMEOUT_MS));
        let answer = fetch(&mut &network, request, &options)?;
        Ok(response(answer, as_.map_or(Form::Auto, Into::into)))
    }

    fn get(url: String, headers: Option<Vec<(String, String)>>) -> Result<String, wit::Error> {
        Ok(get(&url, headers, "*/*")?.into_text()?)
    }

    fn get_json(url: String, headers: Option<Vec<(String, String)>>) -> Result<String, wit::Error> {
        Ok(get(&url, headers, "application/json")?.into_json()?)
    }
}

fn get(url: &str, headers: Option<Vec<(String, String)>>, accept: &str) -> Result<Answer, Error> {
    let request = Request::get(url, headers, accept)?;
    fetch(&mut &Network::new(fetch::TIMEOUT_MS), request, &Options::default())
}

fn response(mut answer: Answer, form: Form) -> wit::Response {
    let (text, bytes) = match answer.take_body(form) {
        Body::Text(text) => (Some(text), None),
        Body::Bytes(bytes) => (None, Some(bytes)),
    };
    let (ok, url) = (answer.ok(), answer.address.to_string());
    let Answer { status, redirected, headers, .. } = answer;
    wit::Response { status, ok, url, redirected, headers, text, bytes }
}

impl From<wit::RedirectMode> for Mode {
    fn from(mode: wit::RedirectMode) -> Self {
        match mode {
            wit::RedirectMode::Follow => Self::Follow,
            wit::RedirectMode::Manual => Self::Manual,
            wit::RedirectMode::Error => Self::Error,
        }
    }
}

impl From<wit::BodyForm> for Form {
    fn from(form: wit::BodyForm) -> Self {
        match form {
            wit::BodyForm::Auto => Self::Auto,
            wit::BodyForm::Text => Self::Text,
            wit::BodyForm::Bytes => Self::Bytes,
        }
    }
}

impl From<Kind> for wit::ErrorKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Denied => Self::Denied,
            Kind::Url => Self::Url,
            Kind::Parameter => Self::Parameter,
            Kind::Header => Self::Header,
            Kind::Dns => Self::Dns,
            Kind::Connection => Self::Connection,
            Kind::Tls => Self::Tls,
            Kind::Timeout => Self::Timeout,
            Kind::Redirect => Self::Redirect,
            Kind::TooLarge => Self::TooLarge,
            Kind::Protocol => Self::Protocol,
            Kind::Status => Self::Status,
            Kind::NotText => Self::NotText,
            Kind::NotJson => Self::NotJson,
            Kind::Other => Self::Other,
        }
    }
}

impl From<Error> for wit::Error {
    fn from(Error { kind, message, url, status }: Error) -> Self {
        Self { kind: kind.into(), message, url, status }
    }
}
