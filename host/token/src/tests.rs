//! Tests of tokens: honest use here, hostile use in `hostile`.

mod hostile;

use std::time::{Duration, SystemTime};

use super::*;
use tollhouse_policy::capability::{Approve, AttenuateError};

/// Policy that most tests seal.
const WIDE: &str = r#"{
    "tools": { "payments": "acme:payments@^1" },
    "grant": [{
        "name": "charges",
        "method": "payments/charges/*",
        "where": [{ "param": "amount", "le": 10000 }],
        "calls": 100,
        "spend": { "param": "amount", "limit": 50000 }
    }, { "method": "weather/**" }],
    "limits": { "wall": "10m", "fuel": 5000000000 }
}"#;

/// A narrower policy.
const NARROW: &str = r#"{ "grant": [{ "method": "payments/charges/create", "calls": 5 }] }"#;

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

/// Time of the tests: a token may end before or after it.
fn now() -> SystemTime {
    at(1_800_000_000)
}

fn hours(hours: u64) -> SystemTime {
    now() + Duration::from_secs(hours * 3600)
}

fn nothing_revoked() -> RevocationList {
    RevocationList::default()
}

/// Seals a policy that must be sealable.
fn seal(policy: &str, expires: Option<SystemTime>, root: &Keypair) -> Token {
    Token::seal(policy, expires, root).expect("the test's policy can be sealed")
}

/// Opens a token as another host does: from its text.
fn open(token: &Token, root: &Keypair) -> Result<Policy, TokenError> {
    Token::parse(&token.to_string())?.open(&root.public(), &nothing_revoked(), now())
}

#[test]
fn token_sealed_opens_with_the_same_policy() {
    let root = Keypair::generate();
    let opened = open(&seal(WIDE, None, &root), &root).expect("it was just sealed");
    assert_eq!(opened, Policy::parse_json(WIDE).expect("the test's policy is one"));
}

#[test]
fn stages_of_a_verified_token_are_those_that_another_process_is_told() {
    let root = Keypair::generate();
    let token = seal(WIDE, Some(hours(5)), &root).attenuate(NARROW, Some(hours(2))).expect("narrower");
    let told = serde_json::to_string(&token.inspect().blocks).expect("it can be written");
    let told: Vec<BlockInspection> = serde_json::from_str(&told).expect("it was just written");
    let stages = TokenStage::of_verified(&told).expect("it is a token's");
    let verified = token.stages(&root.public(), &nothing_revoked(), now()).expect("it was just sealed");
    let parts = |stages: Vec<TokenStage>| -> Vec<_> {
        stages.into_iter().map(|TokenStage { id, policy, expires }| (id, policy, expires)).collect()
    };
    assert_eq!(parts(stages), parts(verified));
    TokenStage::of_verified(&told[1..]).map(drop).expect("the narrower policy alone is one");
    TokenStage::of_verified(&[told[1].clone(), told[0].clone()]).map(drop).expect_err("it would be wider");
    TokenStage::of_verified(&[]).map(drop).expect_err("it is of no token");
}

#[test]
fn token_expiry_applies_to_every_grant() {
    let root = Keypair::generate();
    let token = seal(WIDE, Some(hours(5)), &root).attenuate(WIDE_WITHOUT_TOOLS, Some(hours(2))).expect("narrower");
    let opened = open(&token.attenuate(NARROW, None).expect("narrower"), &root).expect("all is in order");
    let mut grant = Some(&opened.grants[0]);
    let mut ends = Vec::new();
    while let Some(some) = grant {
        ends.push(some.expires);
        grant = some.parent.as_deref();
    }
    assert_eq!(ends, [Some(hours(2)), Some(hours(2)), Some(hours(5))]);
}

/// The same as `WIDE` for a holder who changes nothing.
const WIDE_WITHOUT_TOOLS: &str = r#"{ "grant": [
    { "name": "charges", "method": "payments/charges/*", "calls": 100 },
    { "method": "weather/**" }
] }"#;

#[test]
fn token_narrowed_without_key_is_accepted_by_another_host() {
    let root = Keypair::generate();
    let text = seal(WIDE, Some(hours(1)), &root).to_string();
    let passed_on = text.parse::<Token>().expect("it was just printed").attenuate(NARROW, None).expect("narrower");
    let opened = open(&passed_on, &root).expect("all is in order");
    assert_eq!(opened.tools.as_ref().map(|tools| tools.len()), Some(1));
    let [grant] = opened.grants.as_slice() else { panic!("one grant was passed on") };
    assert_eq!(grant.method.to_string(), "payments/charges/create");
    assert_eq!(grant.calls, Some(5));
    assert_eq!(grant.clauses.len(), 1, "the issuer's clause stays");
    assert_eq!(grant.expires, Some(hours(1)));
    assert_eq!(grant.parent.as_ref().and_then(|parent| parent.calls), Some(100));
}

#[test]
fn token_attenuation_that_is_wider_is_refused() {
    let root = Keypair::generate();
    let token = seal(WIDE, Some(hours(1)), &root);
    let refused = |policy: &str, end| token.attenuate(policy, end).expect_err(policy);
    assert!(matches!(
        refused(r#"{ "grant": [{ "method": "payments/**" }] }"#, None),
        TokenError::Wider { block: 1, source: AttenuateError::Method { .. } }
    ));
    let calls = refused(r#"{ "grant": [{ "method": "payments/charges/create", "calls": 101 }] }"#, None);
    assert_eq!(calls.to_string(), "block 1 of the token allows more than the blocks above it");
    assert_eq!(
        std::error::Error::source(&calls).map(ToString::to_string).as_deref(),
        Some("`payments/charges/create#0`: a budget of 101 calls is more than the 100 of the grant that it narrows")
    );
    let spend =
        r#"{ "grant": [{ "method": "payments/charges/create", "spend": { "param": "amount", "limit": 50001 } }] }"#;
    assert!(matches!(refused(spend, None), TokenError::Wider { source: AttenuateError::Budget { .. }, .. }));
    assert!(matches!(refused(NARROW, Some(hours(2))), TokenError::Later { block: 1 }));
    assert!(matches!(refused(r#"{ "tools": {} }"#, None), TokenError::Tools { block: 1 }));
    assert!(matches!(
        refused(r#"{ "limits": { "fuel": 5000000001 } }"#, None),
        TokenError::Limit { block: 1, limit: "fuel" }
    ));
}

#[test]
fn limits_that_a_block_does_not_name_stay() {
    let root = Keypair::generate();
    let child = r#"{ "grant": [{ "method": "weather/now" }], "limits": { "memory": "1MiB" } }"#;
    let opened = open(&seal(WIDE, None, &root).attenuate(child, None).expect("narrower"), &root);
    let limits = opened.expect("all is in order").limits;
    assert_eq!((limits.wall, limits.fuel, limits.memory), (Duration::from_secs(600), 5_000_000_000, 1 << 20));
}

#[test]
fn token_attenuation_keeps_required_approval() {
    let root = Keypair::generate();
    let token = seal(
        r#"{ "grant": [
            { "name": "large", "method": "pay/charge", "where": [{ "param": "amount", "gt": 100 }], "approve": true },
            { "method": "pay/**" }
        ] }"#,
        None,
        &root,
    );
    // The first grant covers less than this, so this would narrow the second.
    let passes_by = token.attenuate(r#"{ "grant": [{ "method": "pay/*" }] }"#, None);
    assert!(
        matches!(passes_by, Err(TokenError::Wider { block: 1, source: AttenuateError::Unasked { asker, .. } }) if asker == "large")
    );
    let spent = r#"{ "grant": [{ "method": "pay/charge", "calls": 0 }, { "method": "pay/*" }] }"#;
    assert!(matches!(
        token.attenuate(spent, None),
        Err(TokenError::Wider { source: AttenuateError::Unasked { .. }, .. })
    ));
    for fine in [
        r#"{ "grant": [{ "method": "pay/charge" }, { "method": "pay/*", "calls": 3 }] }"#,
        r#"{ "grant": [{ "method": "pay/*", "approve": true }] }"#,
        r#"{ "grant": [{ "method": "pay/refund" }] }"#,
    ] {
        let narrower = token.attenuate(fine, None).expect(fine);
        open(&narrower, &root).expect(fine);
    }
    let opened = open(&token.attenuate(r#"{ "grant": [{ "method": "pay/charge" }] }"#, None).expect("narrower"), &root);
    assert_eq!(opened.expect("all is in order").grants[0].approve, Approve::Always);
}

#[test]
fn token_closed_opens_and_cannot_be_narrowed() {
    let root = Keypair::generate();
    let closed = seal(WIDE, None, &root).attenuate(NARROW, None).and_then(|token| token.close()).expect("narrower");
    assert!(closed.inspect().closed);
    assert_eq!(open(&closed, &root).expect("all is in order").grants.len(), 1);
    assert!(matches!(closed.attenuate(NARROW, None), Err(TokenError::Closed)));
    assert!(matches!(closed.close(), Err(TokenError::Closed)));
}

#[test]
fn token_under_another_root_key_is_refused() {
    let token = seal(WIDE, None, &Keypair::generate());
    assert!(matches!(open(&token, &Keypair::generate()), Err(TokenError::Signature(_))));
}

#[test]
fn token_expired_is_refused() {
    let root = Keypair::generate();
    // Exact to the second, like the gate: a token that ends now has ended.
    assert!(matches!(open(&seal(WIDE, Some(now()), &root), &root), Err(TokenError::Expired { block: 0 })));
    let child = seal(WIDE, Some(hours(1)), &root).attenuate(NARROW, Some(at(1))).expect("narrower");
    assert!(matches!(open(&child, &root), Err(TokenError::Expired { block: 1 })));
    let last_second = now() + Duration::from_millis(1999);
    assert_eq!(
        open(&seal(WIDE, Some(last_second), &root), &root).expect("it ends in a second").grants[0].expires,
        Some(now() + Duration::from_secs(1)),
        "cut, not rounded up"
    );
}

#[test]
fn token_expiry_out_of_range_is_refused() {
    let root = Keypair::generate();
    for end in [SystemTime::UNIX_EPOCH - Duration::from_secs(1), at(253_402_300_800)] {
        assert!(matches!(Token::seal(WIDE, Some(end), &root), Err(TokenError::End)));
    }
    seal(WIDE, Some(at(253_402_300_799)), &root);
}

#[test]
fn token_with_a_revoked_block_is_refused() {
    let root = Keypair::generate();
    let issued = seal(WIDE, None, &root);
    let mine = issued.attenuate(NARROW, None).expect("narrower");
    let other = issued.attenuate(NARROW, None).expect("narrower");
    let id = mine.inspect().blocks[1].revocation_id.clone();
    let list = format!("# stolen in March\n\n  {}  # by whom?\n", id.to_uppercase());
    let file = tempfile::NamedTempFile::new().expect("there is a temporary directory");
    std::fs::write(file.path(), list).expect("the file can be written");
    let revoked = RevocationList::load(file.path()).expect("the list is one");
    assert_eq!(revoked.len(), 1);
    let root = root.public();
    let below = mine.attenuate(NARROW, None).and_then(|token| token.close()).expect("narrower");
    for token in [&mine, &below] {
        let refused = token.open(&root, &revoked, now());
        assert!(matches!(refused, Err(TokenError::Revoked { block: 1, id: own }) if own == id));
    }
    for token in [&issued, &other] {
        token.open(&root, &revoked, now()).expect("it does not have that block");
    }
}

#[test]
fn revocation_list_that_is_malformed_is_refused() {
    let id = "ab".repeat(64);
    assert!(RevocationList::parse("# nothing\n\n").expect("it is one").is_empty());
    for text in [&id[1..], &format!("{id}00"), &id.replace('a', "x"), &format!("{id} {id}")] {
        let text = format!("# one\n{text}\n");
        assert!(matches!(RevocationList::parse(&text), Err(TokenError::Revocation { line: 2 })), "{text}");
    }
    let nowhere = RevocationList::load(std::path::Path::new("/nowhere/at/all"));
    assert!(matches!(nowhere, Err(TokenError::RevocationFile { .. })));
}

#[test]
fn keys_print_themselves_and_private_ones_only_when_asked() {
    let pair = Keypair::generate();
    let (private, public) = (pair.private().to_string(), pair.public().to_string());
    assert_eq!((private.len(), public.len()), ("ed25519-private/".len() + 64, "ed25519/".len() + 64));
    let again = Keypair::from(format!(" {private}\n").parse::<PrivateKey>().expect("it was just printed"));
    assert_eq!(again.public(), public.parse().expect("it was just printed"));
    assert!(!format!("{pair:?}").contains(&private["ed25519-private/".len()..]));
    let token = seal(NARROW, None, &again);
    open(&token, &pair).expect("it is the same key");
    let short = &private[..private.len() - 1];
    for text in ["", "ed25519-private/", short, &format!("{private}0"), &public, &private.replace("25519", "448")] {
        assert!(matches!(text.parse::<PrivateKey>(), Err(TokenError::NoKey(_))), "{text}");
    }
    for text in ["", &public[..70], &format!("{public} x"), &private, &format!("ed25519/{}", "é".repeat(32))] {
        assert!(matches!(text.parse::<PublicKey>(), Err(TokenError::NoKey(_))), "{text}");
    }
}

#[test]
fn keys_of_the_registry_are_read() {
    let key = tollhouse_types::key::PrivateKey::generate().expect("random");
    let pair = Keypair::from(key.to_text().parse::<PrivateKey>().expect("a key"));
    assert_eq!(pair.public(), key.public().to_string().parse().expect("a key"));
    assert_eq!(pair.public().to_string().parse(), Ok(key.public()));
    assert!("ed25519:AAAA".parse::<PublicKey>().is_err());
}

#[test]
fn token_inspection_shows_blocks_and_policies() {
    let token = seal(WIDE, Some(at(2_000_000_000)), &Keypair::generate()).attenuate(NARROW, None).expect("narrower");
    let inspection = token.inspect();
    assert_eq!(inspection.size, token.to_string().len());
    let [first, second] = inspection.blocks.as_slice() else { panic!("there are two blocks") };
    assert_eq!((first.policy.as_str(), first.expires), (WIDE, Some(2_000_000_000)));
    assert_eq!((second.policy.as_str(), second.expires), (NARROW, None));
    assert_ne!(first.revocation_id, second.revocation_id);
    let json = serde_json::to_value(&inspection).expect("it is plain data");
    assert_eq!(json["blocks"][1]["policy"], NARROW);
    assert!(!format!("{token:?}").contains(&token.to_string()));
}
