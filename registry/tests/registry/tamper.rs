//! Whatever is changed in a registry's files: what is loaded is what was published, or nothing.

use std::fs;

use tollhouse_registry::{Error, PrivateKey, Registry, Release, ReleaseName, SignatureError};

use crate::{
    support::{Home, replace, request, requirement},
    testing::CHARGES,
};

fn filled() -> Home {
    let home = Home::new();
    for (name, version) in [("a:b", "1.0.0"), ("a:b", "1.1.0"), ("a:c", "0.1.0")] {
        let mut request = request(name, version, &format!("{name} {version}"));
        request.wit = Some(CHARGES.into());
        request.readme = Some(format!("# {name}\n"));
        home.registry.publish(request).expect("it publishes");
        let release = ReleaseName { name: name.parse().expect("a name"), version: version.parse().expect("a version") };
        home.registry.sign(&release, &key()).expect("it signs");
    }
    home
}

/// Ed25519 draws no random numbers, so the bytes are always the same.
fn key() -> PrivateKey {
    "ed25519-private:nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=".parse().expect("a key")
}

/// Returns everything that can be read from a registry, of releases that are signed as they were.
fn everything(registry: &Registry) -> Result<Vec<(Release, Vec<u8>, String)>, Error> {
    let load = |release: Release| {
        match registry.verify_signature(&release, &key().public()) {
            Ok(()) => {}
            Err(SignatureError::Registry(error)) => return Err(error),
            // Only the last line is: it is torn, and its release loads and is not signed.
            Err(SignatureError::Unsigned { .. }) if release.name.as_str() == "a:c" => {}
            Err(error) => panic!("{error}"),
        }
        let component = registry.load_component(&release)?;
        registry.load_manifest(&release)?;
        let texts = registry.load_wit(&release)? + &registry.load_readme(&release)?.unwrap_or_default();
        Ok((release, component, texts))
    };
    registry.list()?.into_iter().map(load).collect()
}

#[test]
fn registry_with_any_bit_flipped_is_refused() {
    let home = filled();
    let whole = everything(&home.open().expect("it opens")).expect("it is whole");
    for path in home.files() {
        let bytes = fs::read(&path).expect("it reads");
        for at in 0..bytes.len() {
            let mut altered = bytes.clone();
            altered[at] ^= 1 << (at % 8);
            replace(&path, &altered);
            match home.open().and_then(|registry| everything(&registry)) {
                Err(error) => assert!(error.hint().is_some(), "{error}"),
                // The last line feed of the index: the line counts as torn, and its release as not signed.
                Ok(rest) => {
                    assert_eq!(at + 1, bytes.len(), "{}", path.display());
                    let signed = |releases: &[(Release, Vec<u8>, String)]| -> Vec<_> {
                        releases.iter().filter(|it| !it.0.signatures.is_empty()).cloned().collect()
                    };
                    assert!(signed(&rest).len() < whole.len() && signed(&rest).iter().all(|it| whole.contains(it)));
                }
            }
        }
        replace(&path, &bytes);
    }
    assert_eq!(everything(&home.open().expect("it opens")).expect("it is whole again"), whole);
}

#[test]
fn registry_blobs_exchanged_are_refused() {
    let home = filled();
    let releases = home.registry.list().expect("it reads");
    let place = |release: &Release| home.path("registry/blobs/sha256").join(release.digest().hex());
    let other = fs::read(place(&releases[1])).expect("it reads");
    replace(&place(&releases[0]), &other);
    let error = home.registry.load_component(&releases[0]).expect_err("it is another's");
    let message = error.to_string();
    assert!(message.contains("component of `a:b@1.1.0`") && message.contains("was altered"), "{message}");
    assert!(home.registry.load_component(&releases[1]).is_ok(), "others are still served");
}

#[test]
fn registry_blobs_altered_are_repaired_by_publishing_again() {
    let home = filled();
    for path in home.files().iter().filter(|path| !path.ends_with("index")) {
        replace(path, b"rubbish");
    }
    for (name, version) in [("a:b", "1.0.0"), ("a:b", "1.1.0"), ("a:c", "0.1.0")] {
        let mut request = request(name, version, &format!("{name} {version}"));
        request.wit = Some(CHARGES.into());
        request.readme = Some(format!("# {name}\n"));
        assert!(home.registry.publish(request).expect("it is the same").already);
        let release = ReleaseName { name: name.parse().expect("a name"), version: version.parse().expect("a version") };
        assert!(home.registry.sign(&release, &key()).expect("it signs the same").already);
    }
    everything(&home.registry).expect("it is whole");
}

#[test]
fn index_altered_is_refused_by_open_handles_too() {
    let home = filled();
    let path = home.path("registry/index");
    let text = fs::read_to_string(&path).expect("it reads");
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    replace(&path, [lines[0], lines[2]].concat().as_bytes());
    for outcome in [home.open().map(|_| ()), home.registry.list().map(|_| ())] {
        let error = outcome.expect_err("a line is missing");
        assert!(error.to_string().contains("line 2"), "{error}");
    }
    let error = home.registry.publish(request("a:d", "1.0.0", "")).expect_err("nothing is added to it");
    assert!(error.to_string().contains("was altered or damaged"), "{error}");
}

#[test]
fn index_with_torn_line_is_cut_by_the_next_publish() {
    let home = filled();
    let path = home.path("registry/index");
    let whole = fs::read(&path).expect("it reads");
    let end =
        |line: usize| whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(line).expect("six lines").0 + 1;
    // Each release has two lines, and this is about the last one's first.
    let (third, whole) = (end(3), &whole[..end(4)]);
    for cut in [third + 1, third + 300, whole.len() - 1] {
        replace(&path, &whole[..cut]);
        let registry = home.open().expect("torn, not altered");
        assert_eq!(registry.list().expect("it reads").len(), 2);
        let wanted = requirement("a:c");
        assert!(registry.resolve(&wanted.name, &wanted.versions).is_err());
        registry.publish(request("a:c", "0.1.0", "again")).expect("it publishes");
        let text = fs::read_to_string(&path).expect("it reads");
        assert_eq!(text.lines().count(), 5);
        everything(&home.open().expect("the chain holds")).expect("it is whole");
    }
}
