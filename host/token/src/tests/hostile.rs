//! Tests of hostile tokens: changed bytes, blocks made by hand with biscuit's own library, and sizes.

use std::time::Instant;

use biscuit_auth::builder::BiscuitBuilder;
use biscuit_auth::{BlockBuilder, KeyPair};
use proptest::prelude::*;

use super::*;

/// Quotes a text as a Datalog string.
fn quoted(policy: &str) -> String {
    format!("\"{}\"", policy.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Creates a block by hand.
fn block(datalog: &str) -> BlockBuilder {
    BlockBuilder::new().code(datalog).expect("the test's Datalog is some")
}

/// Appends a block to a token, as a hostile holder can with only biscuit's library.
fn append(token: &Token, block: BlockBuilder) -> Result<Token, TokenError> {
    let biscuit = UnverifiedBiscuit::from(&token.bytes).expect("it is a biscuit");
    let appended = biscuit.append(block).expect("biscuit appends what it is given");
    Token::parse(&appended.to_base64().expect("it can be printed"))
}

/// Signs a biscuit by hand with a root key.
fn issue(builder: BiscuitBuilder, root: &Keypair) -> Result<Token, TokenError> {
    let biscuit = builder.build(&root.to_biscuit()).expect("biscuit signs what it is given");
    Token::parse(&biscuit.to_base64().expect("it can be printed"))
}

#[test]
fn token_block_made_by_hand_with_same_content_opens() {
    let root = Keypair::generate();
    let token = seal(WIDE, None, &root);
    let end = "2040-01-01T00:00:00Z";
    let datalog = format!("policy({}); expires({end}); check if time($now), $now < {end};", quoted(NARROW));
    let opened = open(&append(&token, block(&datalog)).expect("its form is right"), &root).expect("it is narrower");
    assert_eq!(opened.grants[0].calls, Some(5));
    assert_eq!(opened.grants[0].expires, Some(at(2_208_988_800)));
}

#[test]
fn token_block_made_by_hand_that_is_wider_is_refused() {
    let root = Keypair::generate();
    let token = seal(WIDE, Some(hours(1)), &root).attenuate(NARROW, None).expect("narrower");
    let opened = |datalog: &str| open(&append(&token, block(datalog)).expect("its form is right"), &root);
    let policy = |policy: &str| opened(&format!("policy({})", quoted(policy)));
    let wider = policy(r#"{ "grant": [{ "method": "**" }] }"#);
    assert!(matches!(wider, Err(TokenError::Wider { block: 2, source: AttenuateError::Method { .. } })));
    let more = policy(r#"{ "grant": [{ "method": "payments/charges/create", "calls": 6 }] }"#);
    assert!(matches!(more, Err(TokenError::Wider { block: 2, source: AttenuateError::Budget { .. } })));
    assert!(matches!(policy(r#"{ "tools": { "a": "b:c@^1" } }"#), Err(TokenError::Tools { block: 2 })));
    assert!(matches!(policy(r#"{ "limits": { "wall": "1h" } }"#), Err(TokenError::Limit { block: 2, .. })));
    assert!(matches!(policy("{"), Err(TokenError::Policy { block: 2, .. })));
    assert!(matches!(policy(r#"{ "grants": [] }"#), Err(TokenError::Policy { block: 2, .. })));
    let end = "2099-01-01T00:00:00Z";
    let later = format!("policy({}); expires({end}); check if time($now), $now < {end};", quoted(NARROW));
    assert!(matches!(opened(&later), Err(TokenError::Later { block: 2 })));
}

#[test]
fn token_block_with_foreign_datalog_is_refused() {
    let root = Keypair::generate();
    let token = seal(WIDE, None, &root);
    let policy = format!("policy({});", quoted(NARROW));
    let end = "2040-01-01T00:00:00Z";
    let foreign = [
        String::new(),
        format!("right(\"file\", \"read\"); {policy}"),
        format!("{policy} right(\"file\", \"read\");"),
        format!("{policy} time({end});"),
        format!("{policy} {}", policy.replace("charges", "others")),
        format!("{policy} policy($x) <- policy($x);"),
        format!("{policy} check if true;"),
        format!("{policy} check if time($now), $now < {end};"),
        format!("{policy} expires({end});"),
        format!("{policy} expires({end}); check if time($now), $now < 2041-01-01T00:00:00Z;"),
        format!("{policy} expires({end}); check if time($now), $now <= {end};"),
        format!("{policy} expires({end}); check all time($now), $now < {end};"),
        format!("{policy} expires({end}); reject if time($now), $now < {end};"),
        format!("{policy} expires({end}); check if time($t), $t < {end};"),
        format!("{policy} expires({end}); check if time($now), $now < {end} or true;"),
        format!("{policy} expires({end}); check if time($now), $now < {end}, true;"),
        format!("{policy} expires({end}); check if time($now), $now < {end}; check if true;"),
        format!("{policy} expires({end}); check if time($now), $now < {end} trusting previous;"),
        "policy(7);".to_owned(),
        format!("policy({}, 1);", quoted(NARROW)),
        format!("policies({});", quoted(NARROW)),
    ];
    for datalog in foreign {
        let refused = BlockBuilder::new().code(&datalog).map(|block| append(&token, block));
        let refused = refused.unwrap_or_else(|error| panic!("{datalog}: {error}"));
        assert!(matches!(refused, Err(TokenError::Foreign { block: 1, .. })), "{datalog}: {refused:?}");
    }
    let scope = append(&token, block(&policy).scope(biscuit_auth::builder::Scope::Previous));
    assert!(matches!(scope, Err(TokenError::Foreign { block: 1, what: "a scope or a public key" })));
    let context = append(&token, block(&policy).context("a context".to_owned()));
    assert!(matches!(context, Err(TokenError::Foreign { block: 1, what: "a context" })));
}

#[test]
fn token_issued_with_other_content_is_refused() {
    let root = Keypair::generate();
    let policy = || Biscuit::builder().merge(block(&format!("policy({})", quoted(NARROW))));
    open(&issue(policy(), &root).expect("its form is right"), &root).expect("it is what `seal` writes");
    let hint = issue(policy().root_key_id(1), &root);
    assert!(matches!(hint, Err(TokenError::Foreign { block: 0, what: "a key identifier" })));
    let fact = issue(policy().fact("user(1)").expect("it is a fact"), &root);
    assert!(matches!(fact, Err(TokenError::Foreign { block: 0, .. })));
    for key in ["expires", "tool", "secrets"] {
        let unknown = format!("{{ \"{key}\": {{}} }}");
        assert!(Token::seal(&unknown, None, &root).is_err(), "{key}");
    }
}

#[test]
fn blocks_of_third_parties_and_other_keys_are_refused() {
    let root = Keypair::generate();
    let token = seal(WIDE, None, &root);
    let biscuit = UnverifiedBiscuit::from(&token.bytes).expect("it is a biscuit");
    let third = KeyPair::new();
    let request = biscuit.third_party_request().expect("it is not closed");
    let signed = request.create_block(&third.private(), block(&format!("policy({})", quoted(NARROW))));
    let bytes = signed.and_then(|signed| signed.serialize()).expect("it can be signed");
    let appended = biscuit.append_third_party(&bytes).and_then(|biscuit| biscuit.to_vec()).expect("it can be appended");
    assert!(matches!(
        Token::from_bytes(appended),
        Err(TokenError::Foreign { block: 1, what: "the signature of a third party" })
    ));
    let other = KeyPair::new_with_algorithm(biscuit_auth::Algorithm::Secp256r1);
    let narrower = block(&format!("policy({})", quoted(NARROW)));
    let appended = biscuit.append_with_keypair(&other, narrower).and_then(|biscuit| biscuit.to_vec());
    assert!(matches!(
        Token::from_bytes(appended.expect("it can be appended")),
        Err(TokenError::Foreign { block: 1, what: "a key or a signature that is not Ed25519" })
    ));
}

#[test]
fn token_with_any_byte_changed_is_refused() {
    let root = Keypair::generate();
    let token = seal(WIDE, Some(hours(1)), &root).attenuate(NARROW, Some(hours(1))).expect("narrower");
    for token in [token.clone(), token.close().expect("it is open")] {
        open(&token, &root).expect("it was not changed");
        for at in 0..token.bytes.len() {
            for change in [1 << (at % 8), 0xff, 0x80] {
                let mut bytes = token.bytes.clone();
                bytes[at] ^= change;
                let opened =
                    Token::from_bytes(bytes).and_then(|token| token.open(&root.public(), &nothing_revoked(), now()));
                assert!(opened.is_err(), "byte {at} with {change:#x}: {opened:?}");
            }
        }
        for cut in 0..token.bytes.len() {
            assert!(Token::from_bytes(token.bytes[..cut].to_vec()).is_err(), "cut after {cut}");
        }
        // A field that no decoder knows: the same meaning in other bytes.
        let longer = [token.bytes.as_slice(), &[0x78, 0x01]].concat();
        assert!(matches!(Token::from_bytes(longer), Err(TokenError::Form(_))));
        let text = token.to_string();
        for at in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).expect("it is ASCII");
            assert!(Token::parse(&changed).and_then(|token| open(&token, &root)).is_err(), "character {at}");
        }
    }
}

#[test]
fn token_with_blocks_removed_or_moved_is_refused() {
    use biscuit_auth::format::schema;
    use prost::Message as _;

    let root = Keypair::generate();
    let token = seal(WIDE, None, &root).attenuate(NARROW, None).expect("narrower");
    let longer = token.attenuate(NARROW, Some(hours(1))).expect("narrower");
    let wire = schema::Biscuit::decode(longer.bytes.as_slice()).expect("it is a biscuit");
    let opened = |wire: &schema::Biscuit| {
        Token::from_bytes(wire.encode_to_vec())
            .and_then(|token| token.open(&root.public(), &nothing_revoked(), now()))
            .map(drop)
    };
    opened(&wire).expect("nothing was changed");
    let mut cut = wire.clone();
    cut.blocks.pop();
    assert!(matches!(opened(&cut), Err(TokenError::Signature(_))));
    let mut moved = wire.clone();
    moved.blocks.swap(0, 1);
    assert!(opened(&moved).is_err());
    let mut grafted = wire;
    grafted.authority =
        schema::Biscuit::decode(seal(WIDE, None, &root).bytes.as_slice()).expect("it is a biscuit").authority;
    assert!(matches!(opened(&grafted), Err(TokenError::Signature(_))));
}

#[test]
fn token_that_is_too_large_is_refused() {
    let root = Keypair::generate();
    assert!(matches!(Token::parse(&"A".repeat(MAX_TEXT + 4)), Err(TokenError::TooLarge { .. })));
    let long = format!("{{ \"grant\": [] {} }}", " ".repeat(MAX_TEXT));
    assert!(matches!(Token::seal(&long, None, &root), Err(TokenError::TooLarge { .. })));
    let half = format!("{{ \"grant\": [{{ \"method\": \"**\" }}] {} }}", " ".repeat(MAX_TEXT * 3 / 8));
    let token = seal(&half, None, &root);
    assert!(matches!(
        token.attenuate(&half.replace("grant\": ", "grant\":  "), None),
        Err(TokenError::TooLarge { .. })
    ));
}

#[test]
fn token_with_too_many_blocks_is_refused() {
    let root = Keypair::generate();
    let mut token = seal(NARROW, None, &root);
    for _ in 1..MAX_BLOCKS {
        token = token.attenuate(NARROW, None).expect("as narrow");
    }
    assert_eq!(open(&token, &root).expect("all is in order").grants[0].calls, Some(5));
    assert!(matches!(token.attenuate(NARROW, None), Err(TokenError::TooManyBlocks { blocks: 17 })));
    let by_hand = append(&token, block(&format!("policy({})", quoted(NARROW))));
    assert!(matches!(by_hand, Err(TokenError::TooManyBlocks { blocks: 17 })));
}

/// A policy with one grant for each pattern.
fn grants(patterns: impl IntoIterator<Item = String>) -> String {
    let grants: Vec<String> = patterns.into_iter().map(|pattern| format!("{{\"method\":\"{pattern}\"}}")).collect();
    format!("{{\"grant\":[{}]}}", grants.join(","))
}

#[test]
fn grants_that_multiply_are_refused() {
    let root = Keypair::generate();
    let many = |count: usize| grants((0..count).map(|at| format!("a/b{at}")));
    seal(&many(64), None, &root);
    assert!(matches!(Token::seal(&many(65), None, &root), Err(TokenError::TooManyGrants { block: 0, grants: 65 })));
    assert!(matches!(
        Token::seal(&grants(["a/b/c/d/e/f/g".to_owned()]), None, &root),
        Err(TokenError::TooManySegments { block: 0, .. })
    ));
    let values: Vec<String> = (0..10_000).map(|value| (value % 10).to_string()).collect();
    let clause = format!("{{\"param\":\"x\",\"in\":[{}]}}", values.join(","));
    let token = seal(&format!("{{\"grant\":[{{\"method\":\"a/*\",\"where\":[{clause}]}}]}}"), None, &root);
    assert!(matches!(token.attenuate(&many(64), None), Err(TokenError::TooMuch { block: 1 })));
    token.attenuate(&many(8), None).expect("that is little");
}

#[test]
fn hostile_patterns_are_compared_in_time() {
    let root = Keypair::generate();
    let above = grants((0..64).map(|at| format!("**/a/*/*/*/x{at}")));
    let below = grants((0..64).map(|_| "**/a/*/*/*/x63".to_owned()));
    let token = seal(&above, None, &root);
    let started = Instant::now();
    // Only the last grant covers these, so each is compared with all of them.
    let narrower = token.attenuate(&below, None).expect("the last grant covers it");
    assert!(matches!(narrower.attenuate(&below, None), Err(TokenError::TooMuch { block: 2 })));
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}: a second would be much", started.elapsed());
}

proptest! {
    #[test]
    fn token_parser_with_arbitrary_text_refuses(text in ".{0,400}") {
        prop_assert!(Token::parse(&text).is_err());
    }

    #[test]
    fn token_parser_with_arbitrary_bytes_refuses(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(Token::parse(&BASE64_URL_SAFE.encode(bytes)).is_err());
    }

    #[test]
    fn token_block_with_arbitrary_facts_is_refused(policy in ".{0,200}", end in any::<u64>()) {
        let root = Keypair::generate();
        let by_hand = BlockBuilder::new().fact(fact("policy", &[Term::Str(policy)]));
        let by_hand = by_hand.and_then(|block| block.fact(fact("expires", &[Term::Date(end)])));
        let token = append(&seal(WIDE, None, &root), by_hand.expect("these are facts"));
        prop_assert!(token.is_err(), "it has no check");
    }

    #[test]
    fn token_with_arbitrary_changes_is_refused(
        at in any::<prop::sample::Index>(),
        bytes in proptest::collection::vec(any::<u8>(), 1..8),
    ) {
        let root = Keypair::generate();
        let token = seal(NARROW, None, &root);
        let mut changed = token.bytes.clone();
        let start = at.index(changed.len());
        let end = (start + bytes.len()).min(changed.len());
        changed.splice(start..end, bytes);
        prop_assume!(changed != token.bytes);
        let opened = Token::from_bytes(changed).and_then(|token| token.open(&root.public(), &nothing_revoked(), now()));
        prop_assert!(opened.is_err());
    }
}
