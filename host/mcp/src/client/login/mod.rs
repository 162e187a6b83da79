//! Logins at servers at a URL: OAuth 2.1 as the protocol has it, for a user with a browser.
//!
//! A login is the operator's, and no policy's: it is stored for one address, and is used where a policy has that address.
//!
//! - `discovery` finds the authorization server of an address, and what it offers;
//! - `sign_in` leads the user there, and takes the code that comes back (`redirect`);
//! - `tokens` exchanges the code, and later a refresh token, for tokens;
//! - `login_file` keeps them encrypted;
//! - `session` is the use of a login by the process that speaks with the server.
//!
//! Everything that a server answers is hostile: bounded, and never part of an error.

mod discovery;
mod login_file;
mod redirect;
mod session;
mod sign_in;
mod tokens;

pub use self::login_file::{LoginError, LoginPlace};
pub use self::session::LoginSession;
pub use self::sign_in::{LoginPage, SignIn, SignInError, sign_in};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Characters of a value in a form or a query that are written as codes: all but the unreserved ones.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Most bytes of a document or an answer of an authorization server.
const MAX_ANSWER: usize = 256 << 10;

/// Formats the fields of a form or a query.
fn form(fields: &[(&str, &str)]) -> String {
    let field = |(name, value): &(&str, &str)| format!("{name}={}", encoded(value));
    fields.iter().map(field).collect::<Vec<_>>().join("&")
}

/// Encodes a value of a form or a query.
fn encoded(value: &str) -> String {
    utf8_percent_encode(value, RESERVED).to_string()
}

#[cfg(test)]
mod tests {
    #[test]
    fn form_values_with_reserved_characters_are_encoded() {
        let fields = [("scope", "a b&c=d"), ("uri", "http://[::1]:1/x?y#z"), ("plain", "A-z_0.9~")];
        let expected = "scope=a%20b%26c%3Dd&uri=http%3A%2F%2F%5B%3A%3A1%5D%3A1%2Fx%3Fy%23z&plain=A-z_0.9~";
        assert_eq!(super::form(&fields), expected);
    }
}
