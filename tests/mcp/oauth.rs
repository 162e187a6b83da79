//! Access tokens of an authorization server: whose are accepted, and what they give.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use tollhouse_tests::Home;

use super::http::{Answer, HttpServer, bearer, seal};

pub(super) const ISSUER: &str = "https://login.example";
pub(super) const RESOURCE: &str = "https://box.example/mcp";

/// Key of an authorization server.
pub(crate) struct Key {
    id: &'static str,
    pair: EcdsaKeyPair,
}

impl Key {
    pub(crate) fn new(id: &'static str) -> Self {
        let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let pair = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        Self { id, pair: EcdsaKeyPair::from_pkcs8(algorithm, pair.as_ref(), &random).expect("a key") }
    }

    fn jwk(&self) -> Value {
        let point = self.pair.public_key().as_ref();
        let coordinate = |range: std::ops::Range<usize>| URL_SAFE_NO_PAD.encode(&point[range]);
        json!({ "kty": "EC", "crv": "P-256", "kid": self.id, "use": "sig", "x": coordinate(1..33), "y": coordinate(33..65) })
    }

    pub(crate) fn set(&self) -> String {
        json!({ "keys": [self.jwk()] }).to_string()
    }

    /// Signs a token with these claims besides the usual ones.
    pub(crate) fn token(&self, subject: &str, scope: &str, others: &Value) -> String {
        let mut claims = json!({ "iss": ISSUER, "aud": RESOURCE, "sub": subject, "scope": scope, "exp": now() + 300 });
        for (name, value) in others.as_object().into_iter().flatten() {
            claims[name] = value.clone();
        }
        let message = signed_part(&json!({ "alg": "ES256", "typ": "at+jwt", "kid": self.id }), &claims);
        let signature = self.pair.sign(&SystemRandom::new(), message.as_bytes()).expect("it signs");
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
    }
}

fn signed_part(header: &Value, claims: &Value) -> String {
    format!("{}.{}", URL_SAFE_NO_PAD.encode(header.to_string()), URL_SAFE_NO_PAD.encode(claims.to_string()))
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs()
}

/// Writes a configuration with two scopes, and the keys.
pub(crate) fn configure(home: &Home, keys: &str) {
    home.file("keys.json", keys);
    home.file("describe.toml", "[[grant]]\nname = 'few'\nmethod = 'stats/describe'\ncalls = 3\n");
    home.file("html.toml", "[[grant]]\nmethod = 'markdown/*'\n");
    home.file(
        "oauth.toml",
        format!(
            "issuer = '{ISSUER}'\nresource = '{RESOURCE}'\njwks = 'keys.json'\n[scopes]\n\
             'stats:describe' = 'describe.toml'\nhtml = 'html.toml'\n"
        ),
    );
}

const CALL: &str = "return (await stats.describe({values: [1]})).mean";
const HTML: &str = "return (await markdown.toHtml({text: '# x'})).length > 0";

fn listing() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })
}

fn refused(server: &HttpServer, token: &str) -> Answer {
    server.post(&listing(), &[("authorization", &bearer(token))])
}

pub(super) fn challenge(answer: &Answer) -> &str {
    answer.headers.get("www-authenticate").map_or("", String::as_str)
}

#[test]
fn client_with_an_access_token_has_the_grants_of_its_scopes() {
    check_grants_of_scopes(&[]);
}

/// Checks that, with these options.
pub(super) fn check_grants_of_scopes(options: &[&str]) {
    let home = Home::with_tools(&["stats", "markdown"]);
    let key = Key::new("k1");
    configure(&home, &key.set());
    let server = HttpServer::start(&home, &[&["--oauth", "oauth.toml"], options].concat());
    let run = |subject: &str, scope: &str, script: &str| {
        // A token of its own for each request, as one that was renewed is.
        let token = bearer(&key.token(subject, scope, &json!({ "jti": script })));
        server.modern_js(script, &[("authorization", &token)])["structuredContent"].clone()
    };
    assert_eq!(run("ann", "stats:describe", CALL)["value"], 1);
    assert_eq!(run("ann", "html", HTML)["value"], true);
    assert_eq!(run("ann", "html", CALL)["status"], "denied");
    // Scopes that the configuration does not have grant nothing, whatever they are called.
    assert_eq!(run("ann", "html stats:* ** stats", CALL)["status"], "denied");
    // Files are those of a subject with its scopes.
    assert_eq!(run("ann", "html", "await fs.writeFile('a', 'mine'); return 1")["value"], 1);
    let read = "return await fs.readFile('a', 'utf8').catch(error => error.code)";
    assert_eq!(run("ann", "html", read)["value"], "mine");
    assert_eq!(run("ann", "stats:describe", read)["value"], "ENOENT");
    assert_eq!(run("bob", "html", read)["value"], "ENOENT");
    // The budget is the subject's, with any scopes and tokens: this is its second and its third call.
    assert_eq!(run("ann", "html stats:describe", CALL)["value"], 1);
    assert_eq!(run("ann", "stats:describe", CALL)["value"], 1);
    for scope in ["stats:describe", "html stats:describe", "stats:describe html"] {
        assert_eq!(run("ann", scope, CALL)["status"], "denied", "{scope}");
    }
    assert_eq!(run("bob", "stats:describe", CALL)["value"], 1);
    // A protocol session is its subject's.
    let mine = bearer(&key.token("ann", "html", &json!({})));
    let session = server.initialize(&[("authorization", &mine)]);
    let again = bearer(&key.token("ann", "html", &json!({ "jti": "renewed" })));
    let own = server.post(&listing(), &[("authorization", &again), ("mcp-session-id", &session)]);
    assert_eq!(own.status, 200, "{own:?}");
    for (subject, scope) in [("bob", "html"), ("ann", "html stats:describe")] {
        let other = bearer(&key.token(subject, scope, &json!({})));
        let stolen = server.post(&listing(), &[("authorization", &other), ("mcp-session-id", &session)]);
        assert_eq!(stolen.status, 404, "{stolen:?}");
    }
}

#[test]
fn access_token_of_anybody_else_or_for_another_server_is_refused() {
    let home = Home::with_tools(&["stats", "markdown"]);
    let (key, other) = (Key::new("k1"), Key::new("k1"));
    configure(&home, &key.set());
    let server = HttpServer::start(&home, &["--oauth", "oauth.toml"]);
    let good = key.token("ann", "html", &json!({}));
    assert_eq!(server.modern_js("return 1", &[("authorization", &bearer(&good))])["structuredContent"]["value"], 1);
    let claims = json!({ "iss": ISSUER, "aud": RESOURCE, "sub": "ann", "scope": "html", "exp": now() + 300 });
    let none = signed_part(&json!({ "alg": "none", "kid": "k1" }), &claims);
    // The public key as the secret of an HMAC, as it is published.
    let hmac = signed_part(&json!({ "alg": "HS256", "kid": "k1" }), &claims);
    let tag = ring::hmac::sign(&ring::hmac::Key::new(ring::hmac::HMAC_SHA256, key.set().as_bytes()), hmac.as_bytes());
    let hmac = format!("{hmac}.{}", URL_SAFE_NO_PAD.encode(tag.as_ref()));
    let with = |others: Value| key.token("ann", "html", &others);
    for (token, told) in [
        (with(json!({ "iss": "https://evil.example" })), "`iss`"),
        (with(json!({ "aud": "https://other.example/mcp" })), "`aud`"),
        (with(json!({ "aud": ["client-1", "https://box.example"] })), "`aud`"),
        (with(json!({ "exp": now() - 31 })), "`exp`"),
        (with(json!({ "nbf": now() + 90 })), "`nbf`"),
        (with(json!({ "cnf": { "jkt": "x" } })), "`cnf`"),
        (format!("{none}."), "algorithm"),
        (hmac, "algorithm"),
        (other.token("ann", "html", &json!({})), "signature"),
        (Key::new("k2").token("ann", "html", &json!({})), "key is not one"),
        (with(json!({ "groups": vec!["a group of this person"; 1000] })), "more than"),
        ("a.b.c".to_owned(), "is not a JSON Web Token"),
        ("sealed".to_owned(), "is not a JSON Web Token"),
    ] {
        let answer = refused(&server, &token);
        assert!(answer.status == 401 && answer.body.contains(told), "{told}: {answer:?}");
        assert!(challenge(&answer).starts_with("Bearer error=\"invalid_token\", resource_metadata="), "{answer:?}");
    }
    for scope in ["", "admin", "stats:describes", "HTML"] {
        let answer = refused(&server, &key.token("ann", scope, &json!({})));
        assert!(answer.status == 403 && challenge(&answer).contains("insufficient_scope"), "{scope}: {answer:?}");
    }
    // Of two tokens none counts, and one in the address is none.
    let both = [("authorization", bearer(&good)), ("authorization", bearer(&good))];
    let both: Vec<(&str, &str)> = both.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(server.post(&listing(), &both).status, 401);
    for (name, headers) in [("access_token", vec![]), ("%61ccess_token", vec![("authorization", bearer(&good))])] {
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let (head, body) = server.request(&listing(), &headers);
        let head = head.replace("POST /mcp ", &format!("POST /mcp?{name}={good} "));
        let answer = server.send(&head, body.as_bytes());
        assert!(answer.status == 400 && challenge(&answer).contains("invalid_request"), "{answer:?}");
    }
}

#[test]
fn refused_client_learns_where_to_get_a_token() {
    let home = Home::with_tools(&["stats", "markdown"]);
    configure(&home, &Key::new("k1").set());
    let server = HttpServer::start(&home, &["--oauth", "oauth.toml"]);
    let answer = server.post(&listing(), &[]);
    assert_eq!(answer.status, 401, "{answer:?}");
    assert_eq!(
        challenge(&answer),
        "Bearer resource_metadata=\"https://box.example/.well-known/oauth-protected-resource/mcp\", \
         scope=\"html stats:describe\""
    );
    let get = |path: &str| {
        let head = format!("GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", server.address);
        server.send(&head, b"")
    };
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let answer = get(path);
        assert_eq!(answer.status, 200, "{answer:?}");
        let document: Value = serde_json::from_str(&answer.body).expect("JSON");
        assert_eq!(
            document,
            json!({ "resource": RESOURCE, "resource_name": "Tollhouse", "authorization_servers": [ISSUER],
                "scopes_supported": ["html", "stats:describe"], "bearer_methods_supported": ["header"] })
        );
    }
    for path in ["/.well-known/oauth-protected-resource/other", "/.well-known/oauth-authorization-server", "/"] {
        assert_eq!(get(path).status, 404, "{path}");
    }
    let sealed = HttpServer::start(&home, &[]);
    let head = format!(
        "GET /.well-known/oauth-protected-resource HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n",
        sealed.address
    );
    assert_eq!(sealed.send(&head, b"").status, 404, "nothing is protected there");
}

#[test]
fn sealed_tokens_and_access_tokens_are_accepted_side_by_side() {
    let home = Home::with_tools(&["stats", "markdown"]);
    let key = Key::new("k1");
    configure(&home, &key.set());
    assert_eq!(home.run(["policy", "keygen", "k"]).status, 0);
    let sealed = seal(&home, "[[grant]]\nmethod = 'stats/*'\n");
    let server = HttpServer::start(&home, &["--oauth", "oauth.toml", "--issuer", "k.pub"]);
    let run = |token: &str, script: &str| {
        server.modern_js(script, &[("authorization", &bearer(token))])["structuredContent"].clone()
    };
    assert_eq!(run(&sealed, CALL)["value"], 1);
    assert_eq!(run(&sealed, HTML)["status"], "denied");
    assert_eq!(run(&key.token("ann", "html", &json!({})), HTML)["value"], true);
    assert_eq!(refused(&server, &sealed[1..]).status, 401);
}

#[test]
fn token_audience_may_differ_from_the_listening_address() {
    let home = Home::with_tools(&["stats", "markdown"]);
    let key = Key::new("k1");
    configure(&home, &key.set());
    let good = std::fs::read_to_string(home.path().join("oauth.toml")).expect("it was written");
    home.file("oauth.toml", good.replace("[scopes]", "audience = 'api://box'\n[scopes]"));
    let server = HttpServer::start_at(&home, "0.0.0.0:0", &["--oauth", "oauth.toml"]);
    let own = key.token("ann", "", &json!({ "aud": "api://box", "scope": null, "scp": ["html"] }));
    // The host of the resource needs no `--http-host`.
    let headers = [("authorization", &*bearer(&own)), ("host", "box.example")];
    assert_eq!(server.modern_js(HTML, &headers)["structuredContent"]["value"], true);
    assert_eq!(refused(&server, &key.token("ann", "html", &json!({}))).status, 401);
    let evil = [("authorization", &*bearer(&own)), ("host", "evil.example")];
    assert_eq!(server.post(&listing(), &evil).status, 403);
}

#[test]
fn configuration_of_an_authorization_server_that_is_wrong_starts_no_server() {
    let home = Home::with_tools(&["stats", "markdown"]);
    let key = Key::new("k1");
    configure(&home, &key.set());
    home.file("many.json", json!({ "keys": vec![key.jwk(); 10_000] }).to_string());
    home.file("some.json", json!({ "keys": vec![key.jwk(); 65] }).to_string());
    home.file("secret.json", json!({ "keys": [{ "kty": "oct", "kid": "k1", "k": "c2VjcmV0" }] }).to_string());
    home.file("limits.toml", "[[grant]]\nmethod = 'stats/*'\n[limits]\ncalls = 5\n");
    home.file("unknown.toml", "[[grant]]\nmethod = 'stats/describes'\n");
    home.file("asks.toml", "[[grant]]\nmethod = 'markdown/*'\napprove = true\n");
    let good = std::fs::read_to_string(home.path().join("oauth.toml")).expect("it was written");
    for (from, to, told) in [
        ("issuer = ", "isuer = ", "unknown field `isuer`"),
        ("https://login", "http://login", "must begin with `https://`"),
        ("resource = 'https://box.example/mcp'", "", "missing field `resource`"),
        ("keys.json", "absent.json", "cannot read the keys"),
        ("keys.json", "html.toml", "is not a JSON Web Key Set"),
        ("keys.json", "many.json", "more than 262144 bytes"),
        ("keys.json", "some.json", "65 keys, which is more than 64"),
        ("keys.json", "secret.json", "has no public key"),
        ("[scopes]", "algorithms = ['HS256']\n[scopes]", "`HS256` is not an algorithm"),
        ("[scopes]", "algorithms = ['none']\n[scopes]", "`none` is not an algorithm"),
        ("[scopes]", "algorithms = []\n[scopes]", "is empty"),
        ("[scopes]", "leeway = '1h'\n[scopes]", "at most 5 minutes"),
        ("[scopes]", "audience = ''\n[scopes]", "`audience` is empty"),
        ("html = 'html.toml'", "'a b' = 'html.toml'", "a scope has"),
        ("html = 'html.toml'", "html = 'limits.toml'", "has more than `[[grant]]`"),
        ("html = 'html.toml'", "html = 'unknown.toml'", "stats/describes"),
        // `html`, which comes later, would do without the question of `ask`.
        ("html = 'html.toml'", "ask = 'asks.toml'\nhtml = 'html.toml'", "`html` cannot be used alone"),
    ] {
        assert!(good.contains(from), "{from}");
        home.file("oauth.toml", good.replace(from, to));
        let ran = home.run(["mcp", "--http", "127.0.0.1:0", "--oauth", "oauth.toml"]);
        // Long lines are broken.
        let said: String = ran.stderr.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(ran.status == 2 && said.contains(told), "{to}: {ran:?}");
    }
    home.file("oauth.toml", good);
    for wrong in [&["--allow", "stats/*"][..], &["--session", "s"], &["--ask-clients"], &["--policy", "html.toml"]] {
        let ran = home.run(["mcp", "--http", "127.0.0.1:0", "--oauth", "oauth.toml"].iter().chain(wrong));
        assert_eq!(ran.status, 2, "{wrong:?} {ran:?}");
    }
    assert_eq!(home.run(["mcp", "--oauth", "oauth.toml"]).status, 2, "it is for HTTP");
}

/// Authorization server on loopback, which answers with these documents.
struct AuthorizationServer {
    origin: String,
    documents: Arc<Mutex<HashMap<String, String>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl AuthorizationServer {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is room");
        let origin = format!("http://{}", listener.local_addr().expect("it is bound"));
        let (documents, asked) =
            (Arc::<Mutex<HashMap<String, String>>>::default(), Arc::<Mutex<Vec<String>>>::default());
        let (told, noted) = (Arc::clone(&documents), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.expect("it connects");
                let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
                let first = lines.next().and_then(Result::ok).unwrap_or_default();
                while lines.next().and_then(Result::ok).is_some_and(|line| !line.is_empty()) {}
                let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
                let found = told.lock().expect("no panic").get(&path).cloned();
                noted.lock().expect("no panic").push(path);
                let answer = match found {
                    Some(to) if to.starts_with("http") => {
                        format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n")
                    }
                    Some(text) => format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{text}", text.len()),
                    None => "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_owned(),
                };
                // Who asked may have gone.
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        Self { origin, documents, asked }
    }

    fn has(&self, path: &str, text: impl Into<String>) {
        self.documents.lock().expect("no panic").insert(path.to_owned(), text.into());
    }

    fn times(&self, path: &str) -> usize {
        self.asked.lock().expect("no panic").iter().filter(|asked| *asked == path).count()
    }
}

#[test]
fn keys_are_fetched_from_the_issuer_and_again_for_a_key_that_is_new() {
    check_keys_fetched(&[]);
}

/// Checks that, with these options.
pub(super) fn check_keys_fetched(options: &[&str]) {
    let home = Home::with_tools(&["stats", "markdown"]);
    let (first, second) = (Key::new("k1"), Key::new("k2"));
    configure(&home, "");
    let issuer = AuthorizationServer::start();
    let good = std::fs::read_to_string(home.path().join("oauth.toml")).expect("it was written");
    let discovered = good.replace("jwks = 'keys.json'\n", "").replace(ISSUER, &issuer.origin);
    home.file("oauth.toml", &discovered);
    let metadata = "/.well-known/openid-configuration";
    let document = |issuer: &str, keys: &str| json!({ "issuer": issuer, "jwks_uri": keys }).to_string();
    let start = |told: &str| {
        let ran = home.run(["mcp", "--http", "127.0.0.1:0", "--oauth", "oauth.toml"].iter().chain(options));
        let said: String = ran.stderr.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(ran.status == 2 && said.contains(told), "{told}: {ran:?}");
    };
    start("answered with HTTP 404");
    issuer.has(metadata, document("https://evil.example", &format!("{}/keys", issuer.origin)));
    start("its `issuer` is another one");
    issuer.has(metadata, document(&issuer.origin, "http://keys.example/keys"));
    start("`jwks_uri`");
    issuer.has(metadata, document(&issuer.origin, &format!("{}/keys", issuer.origin)));
    issuer.has("/keys", format!("{}/elsewhere", issuer.origin));
    issuer.has("/elsewhere", first.set());
    start("redirects (HTTP 302)");
    assert_eq!(issuer.times("/elsewhere"), 0, "nobody went there");
    issuer.has("/keys", json!({ "keys": vec![first.jwk(); 10_000] }).to_string());
    start("more than 262144 bytes");
    issuer.has("/keys", first.set());

    let server = HttpServer::start(&home, &[&["--oauth", "oauth.toml"], options].concat());
    let token = |key: &Key| key.token("ann", "html", &json!({ "iss": issuer.origin }));
    let before = issuer.times("/keys");
    let works = |token: &str| {
        server.modern_js(HTML, &[("authorization", &bearer(token))])["structuredContent"]["value"] == json!(true)
    };
    assert!(works(&token(&first)));
    assert_eq!(issuer.times("/keys"), before, "they are known");
    issuer.has("/keys", second.set());
    assert!(works(&token(&second)));
    assert_eq!(issuer.times("/keys"), before + 1);
    // A key that the issuer has withdrawn counts no longer, and strangers do not decide how often it is asked.
    for key in [&first, &Key::new("k3"), &Key::new("k4")] {
        assert_eq!(refused(&server, &token(key)).status, 401);
    }
    assert!(works(&token(&second)));
    assert_eq!(issuer.times("/keys"), before + 1);
}
