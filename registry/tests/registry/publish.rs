//! What may be published, and what is to be had of it.

use std::fs;

use tollhouse_registry::{ComponentError, Manifest, PublishError, PublishRequest, Registry, WitError, finish};

use crate::{
    support::{Home, request, requirement},
    testing::{CHARGES, component, core_module},
};

const MANIFEST: &str = "\
# A comment that stays.
name = \"acme:payments\"
version = \"1.2.0\"
description = \"Charges cards.\"
default = \"charges\"
";

fn full() -> PublishRequest {
    let mut request = PublishRequest::new(component(CHARGES));
    request.manifest = Some(MANIFEST.into());
    request.wit = Some(CHARGES.into());
    request.readme = Some("# Payments\n".into());
    request
}

#[test]
fn release_published_is_loaded_equal() {
    let home = Home::new();
    let published = home.registry.publish(full()).expect("it publishes");
    assert!(!published.already && published.warnings.is_empty());
    let wanted = requirement("acme:payments@^1");
    let shown = home.open().expect("it opens").show(&wanted.name, &wanted.versions).expect("it is there");
    assert_eq!(shown.release, published.release);
    assert_eq!(shown.manifest.description.as_deref(), Some("Charges cards."));
    assert_eq!((shown.wit.as_str(), shown.readme.as_deref()), (CHARGES, Some("# Payments\n")));
    assert_eq!(shown.versions.len(), 1);
    assert_eq!(home.registry.load_component(&shown.release).expect("it loads"), component(CHARGES));
    let raw = home.path("registry/blobs/sha256").join(shown.release.manifest.digest.hex());
    assert_eq!(fs::read_to_string(raw).expect("it reads"), MANIFEST);
}

#[test]
fn release_metadata_inside_component_is_published_and_checked() {
    let home = Home::new();
    let manifest = Manifest::parse(MANIFEST).expect("it is one");
    let finished = |wit: &str| finish(component(CHARGES), &manifest, Some(wit), &[]).expect("it is a component");
    let lies = CHARGES.replace("create:", "delete:");
    let refused = home.registry.publish(PublishRequest::new(finished(&lies)));
    assert!(matches!(refused, Err(PublishError::Wit(WitError::Mismatch { .. }))), "{refused:?}");
    let published = home.registry.publish(PublishRequest::new(finished(CHARGES))).expect("it publishes");
    assert_eq!(published.release.full_name().to_string(), "acme:payments@1.2.0");
    assert_eq!(home.registry.load_wit(&published.release).expect("it loads"), CHARGES);
    let described = home.registry.load_manifest(&published.release).expect("it loads").description;
    assert_eq!(described.as_deref(), Some("Charges cards."));
}

#[test]
fn release_of_a_component_alone_is_published() {
    let home = Home::new();
    let release = home.registry.publish(PublishRequest::new(component(CHARGES))).expect("it publishes").release;
    assert_eq!(format!("{}@{}", release.name, release.version), "acme:payments@1.2.0");
    let wit = home.registry.load_wit(&release).expect("it loads");
    assert!(wit.contains("create: func(amount: u32, currency: string) -> result<string, string>;"), "{wit}");
    assert_eq!(home.registry.load_manifest(&release).expect("it loads").name, release.name);
    assert_eq!(home.registry.load_readme(&release).expect("it loads"), None);
}

#[test]
fn release_published_again_is_accepted_only_if_equal() {
    let home = Home::new();
    let first = home.registry.publish(full()).expect("it publishes").release;
    let index = fs::read(home.path("registry/index")).expect("it reads");
    let again = home.registry.publish(full()).expect("it is the same");
    assert!(again.already && again.release == first);
    let alone = home.registry.publish(PublishRequest::new(component(CHARGES))).expect("what is given is the same");
    assert!(alone.already && alone.release == first);
    let mut readme = full();
    readme.readme = Some("# Other\n".into());
    let readme = home.registry.publish(readme).expect("a readme changes nothing that runs");
    assert!(readme.already && readme.warnings[0].contains("readme"), "{:?}", readme.warnings);
    let refused = |request| match home.registry.publish(request) {
        Err(PublishError::Exists { parts, .. }) => parts,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(request("acme:payments", "1.2.0", "other")), "component");
    let mut manifest = full();
    manifest.manifest = Some(format!("{MANIFEST}effect = \"once\"\n"));
    assert_eq!(refused(manifest), "manifest");
    let mut wit = full();
    wit.wit = Some(CHARGES.replace("Creates a charge", "Obey me"));
    assert_eq!(refused(wit), "WIT text");
    assert_eq!(fs::read(home.path("registry/index")).expect("it reads"), index, "nothing was written");
}

#[test]
fn publishing_that_is_refused_writes_nothing() {
    let home = Home::new();
    let refused = |request| home.registry.publish(request).expect_err("it is refused");
    let error = refused(PublishRequest::new(core_module(CHARGES)));
    assert!(matches!(error, PublishError::Component(ComponentError::CoreModule)) && error.hint().is_some());
    let mut manifest = full();
    manifest.manifest = Some(format!("{MANIFEST}colour = 1\n"));
    let error = refused(manifest);
    assert!(error.to_string().contains("`colour`") && error.to_string().contains("line 6"), "{error}");
    let mut default = full();
    default.manifest = Some(MANIFEST.replace("\"charges\"", "\"refunds\""));
    assert!(matches!(refused(default), PublishError::NoDefault { wanted } if wanted == "refunds"));
    let mut wit = full();
    wit.wit = Some(CHARGES.replace("amount: u32", "amount: u64"));
    let error = refused(wit);
    assert!(matches!(error, PublishError::Wit(WitError::Mismatch { .. })));
    assert!(error.to_string().contains("acme:payments/charges@1.2.0#create"), "{error}");
    let mut readme = full();
    readme.readme = Some("x".repeat(tollhouse_registry::MAX_README + 1));
    assert!(matches!(refused(readme), PublishError::Readme { .. }));
    assert!(!home.path("registry").exists());
}

#[test]
fn registry_read_before_it_exists_is_not_created() {
    let home = Home::new();
    assert!(home.registry.list().expect("it is empty").is_empty());
    assert!(home.registry.latest().expect("it is empty").is_empty());
    let wanted = requirement("a:b");
    assert!(home.registry.resolve(&wanted.name, &wanted.versions).is_err());
    assert!(!home.path("registry").exists());
    fs::write(home.path("file"), "").expect("it writes");
    let error = Registry::open(home.path("file")).expect_err("a file");
    assert!(error.to_string().contains("is not a directory"), "{error}");
}

/// Blobs are for all who may read the registry to read, and for none to change.
#[cfg(unix)]
#[test]
fn registry_blobs_are_not_writable() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = Home::new();
    home.registry.publish(full()).expect("it publishes");
    for path in home.files().iter().filter(|path| !path.ends_with("index")) {
        let mode = fs::metadata(path).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o222, 0, "{mode:o}");
    }
}
