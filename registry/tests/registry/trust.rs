//! Signatures, and what else is said of a release after it was published.

use std::fs;

use tollhouse_registry::{ChangeError, Digest, PrivateKey, Registry, Release, ReleaseName, SignatureError};

use crate::{
    support::{Home, replace, request},
    testing::{CHARGES, component},
};

fn name(text: &str) -> ReleaseName {
    text.parse().expect("a release")
}

fn key(seed: u8) -> PrivateKey {
    use base64::Engine as _;
    let seed = base64::engine::general_purpose::STANDARD.encode([seed; 32]);
    format!("ed25519-private:{seed}").parse().expect("a key")
}

fn publish(home: &Home, name: &str, version: &str) {
    home.registry.publish(request(name, version, &format!("{name} {version}"))).expect("it publishes");
}

/// Two releases of one package and one of another, the first two signed.
fn signed() -> Home {
    let home = Home::new();
    for (package, version) in [("a:b", "1.0.0"), ("a:b", "1.1.0"), ("a:c", "1.0.0")] {
        publish(&home, package, version);
    }
    for release in ["a:b@1.0.0", "a:b@1.1.0"] {
        home.registry.sign(&name(release), &key(1)).expect("it signs");
    }
    home
}

fn find(registry: &Registry, release: &str) -> Release {
    registry.find(&name(release)).expect("it is there")
}

/// The index anew, its lines changed by `edit` and chained as one who may write the directory would chain them.
fn rewrite(home: &Home, edit: impl Fn(usize, String) -> Option<String>) {
    let path = home.path("registry/index");
    let text = fs::read_to_string(&path).expect("it reads");
    let mut prev = format!("sha256:{}", "0".repeat(64));
    let mut index = String::new();
    let kept = text.lines().enumerate().filter_map(|(at, line)| edit(at, line.to_owned()));
    for (seq, line) in kept.enumerate() {
        let body = line.split(",\"sum\":").next().expect("it has a sum");
        let old = body.split("\"prev\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect("it has one");
        let number = body.split("\"seq\":").nth(1).and_then(|rest| rest.split(',').next()).expect("it has one");
        let body = body.replacen(old, &prev, 1).replacen(&format!("\"seq\":{number},"), &format!("\"seq\":{seq},"), 1);
        prev = Digest::of(body.as_bytes()).to_string();
        index += &format!("{body},\"sum\":\"{prev}\"}}\n");
    }
    replace(&path, index.as_bytes());
}

#[test]
fn release_signature_verifies_for_its_signer_only() {
    let home = signed();
    let registry = home.open().expect("it opens");
    let release = find(&registry, "a:b@1.1.0");
    registry.verify_signature(&release, &key(1).public()).expect("it is signed");
    for (release, by) in [(release, 2), (find(&registry, "a:c@1.0.0"), 1)] {
        let error = registry.verify_signature(&release, &key(by).public()).expect_err("it is not");
        let told = error.to_string();
        assert!(matches!(error, SignatureError::Unsigned { .. }) && error.hint().is_some(), "{told}");
        assert!(told.contains(&release.full_name().to_string()) && told.contains(&key(by).public().to_string()));
    }
    assert!(registry.sign(&name("a:b@1.1.0"), &key(1)).expect("again").already);
    registry.sign(&name("a:b@1.1.0"), &key(2)).expect("two may");
    assert_eq!(find(&registry, "a:b@1.1.0").signatures.len(), 2);
}

#[test]
fn signature_statement_matches_the_documented_format() {
    let home = signed();
    let release = find(&home.registry, "a:b@1.0.0");
    let text = format!(
        "tollhouse release signature, version 1\nname a:b\nversion 1.0.0\ncomponent {}\nwit {}\nmanifest {}\n",
        release.component.digest, release.wit.digest, release.manifest.digest
    );
    let blob = home.path("registry/blobs/sha256").join(release.signatures[0].signature.digest.hex());
    let signature: [u8; 64] = fs::read(blob).expect("it reads").try_into().expect("64 bytes");
    let verifying = ed25519_dalek::SigningKey::from_bytes(&[1; 32]).verifying_key();
    verifying.verify_strict(text.as_bytes(), &signature.into()).expect("of exactly that");
}

#[test]
fn signatures_cannot_be_exchanged_between_releases() {
    let by = key(1).public();
    // By the files: each hashes to its name.
    let home = signed();
    let place =
        |release: &Release| home.path("registry/blobs/sha256").join(release.signatures[0].signature.digest.hex());
    let (one, two) = (find(&home.registry, "a:b@1.0.0"), find(&home.registry, "a:b@1.1.0"));
    let other = fs::read(place(&two)).expect("it reads");
    replace(&place(&one), &other);
    let error = home.registry.verify_signature(&one, &by).expect_err("it is another's").to_string();
    assert!(error.contains("signature of `a:b@1.0.0`") && error.contains("was altered"), "{error}");
    // By the index, whose chain anybody can make anew.
    let swaps: [(&str, &str, &str); 3] = [
        ("another version's", "\"version\":\"1.0.0\"", "\"version\":\"1.1.0\""),
        ("another package's", "\"name\":\"a:b\",\"version\":\"1.0.0\"", "\"name\":\"a:c\",\"version\":\"1.0.0\""),
        ("another key's", &key(1).public().to_string(), &key(2).public().to_string()),
    ];
    for (what, from, to) in swaps {
        let home = signed();
        let signs = |line: &str| line.contains("\"op\":\"sign\"") && line.contains("1.0.0");
        rewrite(&home, |_, line| match line.as_str() {
            line if signs(line) => Some(line.replacen(from, to, 1)),
            // The true one is left out, so that only the moved one counts.
            line if line.contains("\"op\":\"sign\"") => None,
            _ => Some(line),
        });
        let registry = home.open().expect("the chain holds");
        let moved = registry.list().expect("it reads").into_iter().find(|it| !it.signatures.is_empty());
        let moved = moved.expect("one is signed, it says");
        let error = registry.verify_signature(&moved, &moved.signatures[0].key).expect_err(what);
        assert!(matches!(error, SignatureError::Wrong { .. }), "{what}: {error}");
        let problems = registry.verify(|_, _, _| {}).problems;
        assert!(problems.iter().any(|it| it.problem.contains("signature")), "{what}: {problems:?}");
    }
}

#[test]
fn signed_release_with_replaced_parts_fails_verification() {
    // Who can write the registry puts another component, WIT or manifest in the place of the signed one, chain and all.
    for part in ["component", "wit", "manifest"] {
        let home = signed();
        let (one, two) = (find(&home.registry, "a:b@1.0.0"), find(&home.registry, "a:c@1.0.0"));
        let blob = |release: &Release| match part {
            "component" => release.component,
            "wit" => release.wit,
            _ => release.manifest,
        };
        let json = |release: &Release| serde_json::to_string(&blob(release)).expect("JSON");
        if blob(&one) == blob(&two) {
            continue;
        }
        rewrite(&home, |at, line| Some(if at == 0 { line.replacen(&json(&one), &json(&two), 1) } else { line }));
        let registry = home.open().expect("the chain holds");
        let error = registry.verify_signature(&find(&registry, "a:b@1.0.0"), &key(1).public()).expect_err(part);
        assert!(matches!(error, SignatureError::Wrong { .. }), "{part}: {error}");
    }
}

#[test]
fn release_with_damaged_blob_is_not_signed() {
    let home = signed();
    let release = find(&home.registry, "a:c@1.0.0");
    replace(&home.path("registry/blobs/sha256").join(release.digest().hex()), b"other");
    let error = home.registry.sign(&release.full_name(), &key(1)).expect_err("it is damaged");
    assert!(matches!(error, ChangeError::Registry(_)), "{error}");
    assert!(find(&home.registry, "a:c@1.0.0").signatures.is_empty());
}

#[test]
fn change_of_missing_release_is_refused() {
    let home = Home::new();
    let registry = &home.registry;
    for outcome in [
        registry.yank(&name("a:b@1.0.0"), true),
        registry.deprecate(&name("a:b@1.0.0"), Some(("old".into(), None))),
        registry.sign(&name("a:b@1.0.0"), &key(1)),
    ] {
        assert!(matches!(outcome, Err(ChangeError::Resolve(_))));
    }
    assert!(!home.path("registry").exists(), "nothing was made");
    publish(&home, "a:b", "1.0.0");
    let error = registry.yank(&name("a:b@1.0.1"), true).expect_err("no such version");
    assert!(error.to_string().contains("fits `=1.0.1`: there is 1.0.0"), "{error}");
    for message in ["", "two\nlines", &"x".repeat(1_001)] {
        let why = Some((message.to_owned(), None));
        assert!(matches!(registry.deprecate(&name("a:b@1.0.0"), why), Err(ChangeError::Message)));
    }
}

#[test]
fn registry_verification_reports_each_kind_of_damage() {
    let whole = signed().registry.verify(|_, _, _| {});
    assert_eq!((whole.lines, whole.releases, whole.signatures, whole.problems), (5, 3, 2, vec![]));
    type Damage = (&'static str, fn(&Home));
    let damages: [Damage; 4] = [
        ("component of `a:b@1.1.0`", |home| {
            let digest = find(&home.registry, "a:b@1.1.0").digest();
            replace(&home.path("registry/blobs/sha256").join(digest.hex()), b"other");
        }),
        ("signature of `a:b@1.1.0`", |home| {
            let digest = find(&home.registry, "a:b@1.1.0").signatures[0].signature.digest;
            fs::remove_file(home.path("registry/blobs/sha256").join(digest.hex())).expect("it was there");
        }),
        ("the WIT of `a:b@1.0.0`", |home| {
            // A text of something else, in an index that was made to fit.
            let text = "package x:y; world w { export f: func(); }";
            let other = find(&home.registry, "a:b@1.0.0").wit;
            let digest = Digest::of(text.as_bytes());
            fs::write(home.path("registry/blobs/sha256").join(digest.hex()), text).expect("it writes");
            let old = serde_json::to_string(&other).expect("JSON");
            let new = format!("{{\"digest\":\"{digest}\",\"size\":{}}}", text.len());
            rewrite(home, |at, line| Some(if at == 0 { line.replacen(&old, &new, 1) } else { line }));
        }),
        ("line 2", |home| {
            let path = home.path("registry/index");
            let text = fs::read_to_string(&path).expect("it reads");
            replace(&path, text.replacen("1.1.0", "1.1.1", 1).as_bytes());
        }),
    ];
    for (named, damage) in damages {
        let home = signed();
        damage(&home);
        let problems = Registry::unchecked(home.path("registry")).verify(|_, _, _| {}).problems;
        assert!(problems.iter().any(|it| it.problem.contains(named)), "{named}: {problems:?}");
    }
}

#[test]
fn registry_sweep_removes_only_unreferenced_blobs() {
    let home = signed();
    let (stray, kept) = (Digest::of(b"stray"), Digest::of(b"kept"));
    let place = |digest: &Digest| home.path("registry/blobs/sha256").join(digest.hex());
    fs::write(place(&stray), b"stray").expect("it writes");
    fs::write(place(&kept), b"kept").expect("it writes");
    fs::write(home.path("registry/blobs/sha256/no-digest"), b"").expect("it writes");
    let before = home.files().len();
    let dry = home.registry.gc(&[kept].into(), true).expect("it looks");
    assert_eq!((dry.removed, dry.bytes, home.files().len()), (vec![stray], 5, before));
    assert_eq!(home.registry.gc(&[kept].into(), false).expect("it sweeps").removed, [stray]);
    assert!(!place(&stray).exists() && place(&kept).exists());
    assert_eq!(home.registry.verify(|_, _, _| {}).problems, []);
}

#[test]
fn release_that_breaks_an_earlier_compatible_one_is_refused() {
    let home = Home::new();
    let built = |wit: &str, version: &str| {
        let mut request = tollhouse_registry::PublishRequest::new(component(wit));
        request.name = Some("acme:payments".parse().expect("a name"));
        request.version = Some(version.parse().expect("a version"));
        request
    };
    let publish = |wit: &str, version: &str| home.registry.publish(built(wit, version));
    publish(CHARGES, "1.2.0").expect("the first");
    let more = CHARGES.replace("create:", "refund: func();\n create:");
    publish(&more.replace("@1.2.0", "@1.3.0"), "1.3.0").expect("more is compatible");
    let other = CHARGES.replace("amount: u32", "amount: u64");
    for (wit, version, told) in [
        (CHARGES, "1.3.1", "`acme:payments/charges@1#refund` is missing"),
        (&other, "1.4.0", "`acme:payments/charges@1#create` was `func(amount: u32"),
    ] {
        let error = publish(wit, version).expect_err("it breaks");
        assert!(error.to_string().contains(told), "{error}");
        assert!(error.hint().expect("a hint").contains("`2.0.0`"), "{error}");
        assert!(home.registry.check(built(wit, version)).is_err(), "a dry run says the same");
    }
    publish(&other, "2.0.0").expect("that is what major versions are for");
    publish(CHARGES, "1.2.1").expect("a patch of an older one");
    let mut request = built(CHARGES, "1.3.1");
    request.allow_breaking = true;
    assert!(home.registry.check(request.clone()).expect("it would").breaking);
    let published = home.registry.publish(request).expect("it was said");
    assert!(published.release.breaking && published.warnings[0].contains("refund"), "{published:?}");
    assert!(find(&home.open().expect("it opens"), "acme:payments@1.3.1").breaking);
    home.registry.yank(&name("acme:payments@1.3.0"), true).expect("it yanks");
    home.registry.yank(&name("acme:payments@1.3.1"), true).expect("it yanks");
    publish(CHARGES, "1.3.2").expect("what is yanked is no measure");
}

#[test]
fn permissions_that_no_import_could_use_are_refused() {
    let asks = |lines: &str, wit: &str| {
        let mut request = tollhouse_registry::PublishRequest::new(component(wit));
        request.manifest = Some(format!("name = \"a:b\"\nversion = \"1.0.0\"\n[permissions]\n{lines}\n"));
        request.check().map_err(|error| error.to_string())
    };
    for (lines, key) in [
        ("http = [\"api.example\"]", "`http`"),
        ("files = [\"/workspace\"]", "`files`"),
        ("keyvalue = [\"default\"]", "`keyvalue`"),
        ("secrets = [\"KEY\"]", "`secrets`"),
        ("secrets = [{ name = \"KEY\", expose = true }]", "`secrets`"),
        ("tools = [\"stats/*\"]", "`tools`"),
    ] {
        let told = asks(lines, CHARGES).expect_err(lines);
        assert!(told.contains(key), "{lines}: {told}");
    }
    let imports = "package a:b;\ninterface other { f: func(); }\nworld w { import other; export go: func(); }";
    asks("tools = [\"stats/*\"]", imports).expect("it imports another tool");
}

#[test]
fn words_are_found_and_what_is_best_comes_first() {
    let home = Home::new();
    let with = |package: &str, description: &str, wit: &str| {
        let mut request = request(package, "1.0.0", package);
        request.wit = Some(wit.into());
        request.manifest =
            Some(format!("name = \"{package}\"\nversion = \"1.0.0\"\ndescription = \"{description}\"\n"));
        (request.name, request.version) = (None, None);
        home.registry.publish(request).expect("it publishes");
    };
    with("a:charges", "Nothing much.", CHARGES);
    with("a:money", "About charges.", CHARGES);
    with("a:docs", "Nothing much.", &CHARGES.replace("Creates a charge.", "Creates a Refund\tof\n    /// charges."));
    let found = |words: &[&str]| -> Vec<String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let found = home.open().expect("it opens").search(&words, 10).expect("it searches");
        found.into_iter().map(|it| it.name).collect()
    };
    assert_eq!(found(&["charges"]), ["a:charges", "a:money", "a:docs"]);
    assert_eq!(found(&["REFUND", "charges"]), ["a:docs"]);
    assert_eq!(found(&["create"]).len(), 3);
    assert_eq!(found(&["nothing", "else"]), [""; 0]);
    // The file is made anew when the index goes on, and when somebody wrote into it.
    let path = home.path("registry/search");
    let text = fs::read_to_string(&path).expect("it is kept");
    replace(&path, text.replace("a:money", "a:other").as_bytes());
    assert_eq!(found(&["charges"])[1], "a:money");
    home.registry.deprecate(&name("a:money@1.0.0"), Some(("old".into(), None))).expect("it is deprecated");
    home.registry.yank(&name("a:docs@1.0.0"), true).expect("it yanks");
    assert_eq!(found(&["charges"]), ["a:charges", "a:money"]);
    let money = home.registry.search(&["money".into()], 1).expect("it searches");
    assert!(money[0].deprecated);
}

#[test]
fn dependents_of_a_package_are_found() {
    let home = Home::new();
    let wit = "package a:user;\nworld w { import acme:payments/charges@1.2.0; export go: func(); }\n\
        package acme:payments@1.2.0 { interface charges { f: func(); } }";
    let mut request = tollhouse_registry::PublishRequest::new(component(wit));
    request.name = Some("a:user".parse().expect("a name"));
    request.version = Some("1.0.0".parse().expect("a version"));
    home.registry.publish(request).expect("it publishes");
    publish(&home, "a:b", "1.0.0");
    let of = |package: &str| home.registry.dependents(&package.parse().expect("a name")).expect("it looks");
    assert_eq!(of("acme:payments"), ["a:user"]);
    assert_eq!(of("a:b"), [""; 0]);
}
