//! Access tokens of an authorization server: JSON Web Tokens (RFC 7519) in the profile of RFC 9068, as servers issue them.
//!
//! A token is judged in this order: its size and form, the algorithm, the key, the signature, and then what it says.
//! Nothing that it says is believed before.

use std::time::{Duration, SystemTime};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::key_set::{Algorithm, KeySet, decoded};

/// Most bytes of a token. Those with the groups of a person have a few thousand.
const MAX_BYTES: usize = 16 << 10;

/// Most bytes of the name of a subject, and of the id of a key.
const MAX_NAME: usize = 255;

/// Media types of tokens that give access. `JWT` and no type are what servers write that do not follow RFC 9068.
const TYPES: [&str; 3] = ["at+jwt", "application/at+jwt", "jwt"];

/// What is expected of a token.
#[derive(Debug)]
pub(super) struct Expected {
    /// Issuer, exactly as tokens name it.
    pub(super) issuer: String,
    /// This server's name in tokens for it.
    pub(super) audience: String,
    /// Algorithms that are accepted.
    pub(super) algorithms: Vec<Algorithm>,
    /// Difference that clocks may have.
    pub(super) leeway: Duration,
}

/// Contents of a token that was verified.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Verified {
    pub(super) subject: String,
    pub(super) scopes: Vec<String>,
}

/// Reason why a token is not accepted. It holds no text of the token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum TokenError {
    #[error("it has more than {MAX_BYTES} bytes")]
    TooLarge,
    #[error("it is not a JSON Web Token: three parts of base64url, separated by dots")]
    Form,
    #[error("its header cannot be read")]
    Header,
    #[error("its algorithm is none of those that are accepted")]
    Algorithm,
    #[error("its type is not that of an access token (`at+jwt`)")]
    Type,
    #[error("it has extensions that must be understood (`crit`)")]
    Critical,
    #[error("its key is not one of the issuer's")]
    UnknownKey,
    #[error("its signature is not the issuer's")]
    Signature,
    #[error(
        "its claims cannot be read: `iss`, `sub` and `scope` are texts, `exp`, `nbf` and `iat` numbers, `aud` and `scp` texts or lists"
    )]
    Claims,
    #[error("another issuer has issued it (`iss`)")]
    Issuer,
    #[error("it is for another server (`aud`)")]
    Audience,
    #[error("it has expired (`exp`)")]
    Expired,
    #[error("it is not valid yet (`nbf`)")]
    NotYet,
    #[error("it was issued in the future (`iat`)")]
    Future,
    #[error("its subject (`sub`) has no name of 1 to {MAX_NAME} bytes")]
    Subject,
    #[error("it is bound to a key of its holder (`cnf`), which this server does not ask for")]
    Bound,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    crit: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    aud: TextOrList,
    exp: f64,
    nbf: Option<f64>,
    iat: Option<f64>,
    scope: Option<String>,
    /// Scopes as Entra and Okta write them.
    scp: Option<TextOrList>,
    cnf: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum TextOrList {
    One(String),
    Several(Vec<String>),
}

/// Token whose form, algorithm and type are right, and whose signature is not verified.
pub(super) struct ParsedToken<'t> {
    algorithm: Algorithm,
    key: Option<String>,
    /// What is signed: header and claims, as they are written.
    message: &'t str,
    claims: Vec<u8>,
    signature: Vec<u8>,
}

impl<'t> ParsedToken<'t> {
    pub(super) fn parse(text: &'t str, expected: &Expected) -> Result<Self, TokenError> {
        if text.len() > MAX_BYTES {
            return Err(TokenError::TooLarge);
        }
        let (message, signature) = text.rsplit_once('.').ok_or(TokenError::Form)?;
        let (header, claims) = message.split_once('.').ok_or(TokenError::Form)?;
        // More than three parts are those of an encrypted token: a dot is no character of base64url.
        let part = |text: &str| decoded(text).ok_or(TokenError::Form);
        let (header, claims, signature) = (part(header)?, part(claims)?, part(signature)?);
        let header: Header = serde_json::from_slice(&header).map_err(|_| TokenError::Header)?;
        let algorithm = Algorithm::named(&header.alg).filter(|algorithm| expected.algorithms.contains(algorithm));
        let algorithm = algorithm.ok_or(TokenError::Algorithm)?;
        if header.crit.is_some() {
            return Err(TokenError::Critical);
        }
        if header.typ.is_some_and(|found| !TYPES.iter().any(|known| found.eq_ignore_ascii_case(known))) {
            return Err(TokenError::Type);
        }
        if header.kid.as_ref().is_some_and(|id| id.len() > MAX_NAME) {
            return Err(TokenError::UnknownKey);
        }
        Ok(Self { algorithm, key: header.kid, message, claims, signature })
    }

    /// Returns true if the set has a key for this token.
    pub(super) fn has_key(&self, keys: &KeySet) -> bool {
        keys.has(self.key.as_deref(), self.algorithm)
    }

    /// Verifies the signature, and judges what the token says.
    pub(super) fn verify(&self, keys: &KeySet, expected: &Expected, now: SystemTime) -> Result<Verified, TokenError> {
        if !self.has_key(keys) {
            return Err(TokenError::UnknownKey);
        }
        if !keys.verify(self.key.as_deref(), self.algorithm, self.message.as_bytes(), &self.signature) {
            return Err(TokenError::Signature);
        }
        let claims: Claims = serde_json::from_slice(&self.claims).map_err(|_| TokenError::Claims)?;
        claims.judge(expected, now)
    }
}

impl Claims {
    fn judge(self, expected: &Expected, now: SystemTime) -> Result<Verified, TokenError> {
        if self.iss != expected.issuer {
            return Err(TokenError::Issuer);
        }
        let is_for = match &self.aud {
            TextOrList::One(one) => *one == expected.audience,
            TextOrList::Several(all) => all.contains(&expected.audience),
        };
        if !is_for {
            return Err(TokenError::Audience);
        }
        // A clock before 1970 is broken: for it, nothing has begun.
        let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let leeway = expected.leeway.as_secs_f64();
        if now >= self.exp + leeway {
            return Err(TokenError::Expired);
        }
        if self.nbf.is_some_and(|begin| now + leeway < begin) {
            return Err(TokenError::NotYet);
        }
        if self.iat.is_some_and(|issued| now + leeway < issued) {
            return Err(TokenError::Future);
        }
        if self.cnf.is_some() {
            return Err(TokenError::Bound);
        }
        if self.sub.is_empty() || self.sub.len() > MAX_NAME {
            return Err(TokenError::Subject);
        }
        let written = match (self.scope, self.scp) {
            (Some(scope), _) => vec![scope],
            (None, Some(TextOrList::One(scope))) => vec![scope],
            (None, Some(TextOrList::Several(scopes))) => scopes,
            (None, None) => Vec::new(),
        };
        let scopes = written.iter().flat_map(|scopes| scopes.split(' ')).filter(|scope| !scope.is_empty());
        let scopes = scopes.map(str::to_owned).collect();
        Ok(Verified { subject: self.sub, scopes })
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
    use serde_json::{Value, json};

    use super::*;

    const NOW: u64 = 1_800_000_000;

    struct Issuer {
        pair: EcdsaKeyPair,
        keys: KeySet,
    }

    impl Issuer {
        fn new() -> Self {
            let random = SystemRandom::new();
            let pair = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("a key");
            let pair =
                EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pair.as_ref(), &random).expect("a key");
            let point = pair.public_key().as_ref();
            let coordinate = |range: std::ops::Range<usize>| URL_SAFE_NO_PAD.encode(&point[range]);
            let set = json!({ "keys": [
                { "kty": "EC", "crv": "P-256", "kid": "k", "x": coordinate(1..33), "y": coordinate(33..65) },
                { "kty": "OKP", "crv": "Ed25519", "kid": "e", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" } ] });
            let keys = KeySet::parse(set.to_string().as_bytes()).expect("keys");
            Self { pair, keys }
        }

        fn sign(&self, header: &str, claims: &str) -> String {
            let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
            let signature = self.pair.sign(&SystemRandom::new(), message.as_bytes()).expect("it signs");
            format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
        }

        fn judge(&self, token: &str) -> Result<Verified, TokenError> {
            let expected = Expected {
                issuer: "https://login.example".to_owned(),
                audience: "https://box.example/mcp".to_owned(),
                algorithms: vec![Algorithm::Es256, Algorithm::EdDsa],
                leeway: Duration::from_secs(30),
            };
            let now = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW);
            ParsedToken::parse(token, &expected)?.verify(&self.keys, &expected, now)
        }
    }

    fn claims() -> Value {
        json!({ "iss": "https://login.example", "aud": "https://box.example/mcp", "sub": "ann", "exp": NOW + 60,
            "scope": "a  b" })
    }

    /// Returns the claims with one changed, or left out.
    fn with(name: &str, value: Value) -> String {
        let mut claims = claims();
        claims[name] = value;
        claims.to_string()
    }

    const HEADER: &str = "{\"alg\":\"ES256\",\"kid\":\"k\",\"typ\":\"at+jwt\"}";

    #[test]
    fn token_of_the_issuer_for_this_server_is_accepted() {
        let issuer = Issuer::new();
        let right = Ok(Verified { subject: "ann".to_owned(), scopes: vec!["a".to_owned(), "b".to_owned()] });
        for claims in [
            claims().to_string(),
            with("aud", json!(["x", "https://box.example/mcp"])),
            with("exp", json!(NOW - 29)),
            with("nbf", json!(NOW + 29)),
            with("iat", json!(f64::from(1_700_000_000) + 0.5)),
            with("jti", json!(1)),
        ] {
            assert_eq!(issuer.judge(&issuer.sign(HEADER, &claims)), right, "{claims}");
        }
        for header in [
            "{\"alg\":\"ES256\",\"kid\":\"k\"}",
            "{\"alg\":\"ES256\",\"kid\":\"k\",\"typ\":\"JWT\",\"jku\":\"https://x\"}",
        ] {
            assert_eq!(issuer.judge(&issuer.sign(header, &claims().to_string())), right, "{header}");
        }
        for scp in [json!(["a", "b"]), json!("a b")] {
            let mut claims = claims();
            claims["scope"] = Value::Null;
            claims["scp"] = scp;
            assert_eq!(issuer.judge(&issuer.sign(HEADER, &claims.to_string())), right, "{claims}");
        }
        assert_eq!(issuer.judge(&issuer.sign(HEADER, &with("scp", json!(["c"])))), right, "`scope` counts");
        let none = issuer.judge(&issuer.sign(HEADER, &with("scope", Value::Null)));
        assert_eq!(none.expect("it is valid").scopes, Vec::<String>::new());
    }

    #[test]
    fn token_with_wrong_claims_is_refused() {
        let issuer = Issuer::new();
        for (name, value, told) in [
            ("iss", json!("https://login.example/"), TokenError::Issuer),
            ("iss", json!(null), TokenError::Claims),
            ("aud", json!("https://box.example/mcp/"), TokenError::Audience),
            ("aud", json!([]), TokenError::Audience),
            ("aud", json!(null), TokenError::Claims),
            ("aud", json!(7), TokenError::Claims),
            ("exp", json!(NOW - 30), TokenError::Expired),
            ("exp", json!(-1), TokenError::Expired),
            ("exp", json!(null), TokenError::Claims),
            ("exp", json!("9999999999"), TokenError::Claims),
            ("nbf", json!(NOW + 31), TokenError::NotYet),
            ("nbf", json!("9999999999"), TokenError::Claims),
            ("iat", json!(NOW + 31), TokenError::Future),
            ("sub", json!(""), TokenError::Subject),
            ("sub", json!("x".repeat(256)), TokenError::Subject),
            ("sub", json!(null), TokenError::Claims),
            ("scope", json!(["a"]), TokenError::Claims),
            ("cnf", json!({ "jkt": "x" }), TokenError::Bound),
        ] {
            let token = issuer.sign(HEADER, &with(name, value.clone()));
            assert_eq!(issuer.judge(&token), Err(told), "{name} = {value}");
        }
        let twice = claims().to_string().replace("\"sub\":", "\"sub\":\"eve\",\"sub\":");
        assert_eq!(issuer.judge(&issuer.sign(HEADER, &twice)), Err(TokenError::Claims));
        for claims in ["", "[]", "{}", "null", "{\"exp\":1e999}"] {
            assert_eq!(issuer.judge(&issuer.sign(HEADER, claims)), Err(TokenError::Claims), "{claims}");
        }
    }

    #[test]
    fn token_with_another_header_or_signature_is_refused() {
        let (issuer, other) = (Issuer::new(), Issuer::new());
        let claims = claims().to_string();
        for (header, told) in [
            ("{\"alg\":\"none\",\"kid\":\"k\"}", TokenError::Algorithm),
            ("{\"alg\":\"None\"}", TokenError::Algorithm),
            ("{\"alg\":\"HS256\",\"kid\":\"k\"}", TokenError::Algorithm),
            ("{\"alg\":\"RS256\",\"kid\":\"k\"}", TokenError::Algorithm),
            ("{\"alg\":\"es256\",\"kid\":\"k\"}", TokenError::Algorithm),
            ("{\"alg\":\"EdDSA\",\"kid\":\"k\"}", TokenError::UnknownKey),
            ("{\"alg\":\"EdDSA\",\"kid\":\"e\"}", TokenError::Signature),
            ("{\"alg\":\"ES256\",\"kid\":\"K\"}", TokenError::UnknownKey),
            ("{\"alg\":\"ES256\"}", TokenError::UnknownKey),
            ("{\"alg\":\"ES256\",\"kid\":\"k\",\"crit\":[\"b64\"],\"b64\":false}", TokenError::Critical),
            ("{\"alg\":\"ES256\",\"kid\":\"k\",\"typ\":\"dpop+jwt\"}", TokenError::Type),
            ("{\"alg\":\"none\",\"alg\":\"ES256\",\"kid\":\"k\"}", TokenError::Header),
            ("{\"kid\":\"k\"}", TokenError::Header),
            ("x", TokenError::Header),
        ] {
            assert_eq!(issuer.judge(&issuer.sign(header, &claims)), Err(told), "{header}");
        }
        let good = issuer.sign(HEADER, &claims);
        let (message, signature) = good.rsplit_once('.').expect("three parts");
        assert!(issuer.judge(&good).is_ok());
        for (token, told) in [
            (other.sign(HEADER, &claims), TokenError::Signature),
            (format!("{message}."), TokenError::Signature),
            (format!("{message}x.{signature}"), TokenError::Signature),
            (format!("{message}.{signature}="), TokenError::Form),
            (format!("{good}.x"), TokenError::Form),
            (message.to_owned(), TokenError::Form),
            ("..".to_owned(), TokenError::Header),
            (String::new(), TokenError::Form),
            (format!("{}{good}", "a".repeat(MAX_BYTES)), TokenError::TooLarge),
        ] {
            assert_eq!(issuer.judge(&token), Err(told), "{token}");
        }
    }
}
