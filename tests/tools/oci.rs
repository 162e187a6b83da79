//! Releases in registries of containers: pushed, pulled, run without the network.

mod access;
mod hostile;

use serde_json::{Value, json};
use tollhouse_registry::Digest;
use tollhouse_tests::oci::OciRegistry;
use tollhouse_tests::{Home, Ran, components};

const REPOSITORY: &str = "acme/stats";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

fn ok(home: &Home, words: &[&str]) -> Ran {
    let ran = home.run(words);
    assert_eq!(ran.status, 0, "{words:?}: {ran:?}");
    ran
}

fn listed(home: &Home) -> Value {
    serde_json::from_str(&ok(home, &["registry", "ls", "--json"]).stdout).expect("JSON")
}

fn described(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no JSON: {ran:?}"))
}

/// A registry that has `tollhouse:stats@0.1.0`, signed, and the key.
fn pushed() -> (OciRegistry, Home, String) {
    let (oci, home) = (OciRegistry::default(), Home::with_tools(&["stats"]));
    let key = ok(&home, &["registry", "keygen", "--out", "our.key"]).stdout.trim().to_owned();
    ok(&home, &["registry", "sign", "tollhouse:stats@0.1.0", "--key", "our.key"]);
    ok(&home, &["registry", "push", "tollhouse:stats", &format!("{}/{REPOSITORY}", oci.host())]);
    (oci, home, key)
}

/// An artifact as `wkg` makes it: a component, a config that has nothing of ours, a tag that is a version.
fn foreign(oci: &OciRegistry, component: &[u8], tag: &str) -> (Value, Digest) {
    let layer = Digest::of(component);
    let config = json!({
        "created": "2026-01-01T00:00:00Z", "author": null, "architecture": "wasm", "os": "wasip2",
        "layerDigests": [layer.to_string()], "component": { "exports": [], "imports": [], "target": null },
    })
    .to_string();
    oci.put_blob(REPOSITORY, &layer.to_string(), component);
    oci.put_blob(REPOSITORY, &Digest::of(config.as_bytes()).to_string(), config.as_bytes());
    let manifest = json!({
        "schemaVersion": 2, "mediaType": MANIFEST,
        "config": {
            "mediaType": "application/vnd.wasm.config.v0+json",
            "digest": Digest::of(config.as_bytes()).to_string(), "size": config.len(),
        },
        "layers": [{ "mediaType": "application/wasm", "digest": layer.to_string(), "size": component.len() }],
    });
    let digest = oci.put_manifest(REPOSITORY, tag, manifest.to_string().as_bytes());
    (manifest, digest)
}

#[test]
fn release_pushed_is_pulled_and_runs_offline() {
    let (oci, home, key) = pushed();
    let reference = format!("{}/{REPOSITORY}:0.1.0", oci.host());
    let other = Home::new();
    let pulled = described(&ok(&other, &["registry", "pull", &reference, "--json"]));
    assert_eq!((&pulled["name"], &pulled["already"]), (&"tollhouse:stats".into(), &false.into()), "{pulled}");
    assert_eq!(pulled["signed"], json!([key]), "{pulled}");
    assert_eq!((pulled["digest"].clone(), pulled["warnings"].clone()), (listed(&home)[0]["digest"].clone(), json!([])));
    let digest = pulled["manifest"].as_str().expect("a digest");
    assert_eq!(listed(&other)[0]["origin"], format!("{}/{REPOSITORY}@{digest}", oci.host()));
    for part in ["wit", "readme", "description", "permissions"] {
        let show = |home: &Home| described(&ok(home, &["registry", "show", "tollhouse:stats", "--json"]))[part].clone();
        assert_eq!(show(&home), show(&other), "{part}");
    }
    assert!(ok(&other, &["registry", "verify"]).stdout.contains('1'));
    oci.stop();
    let policy =
        format!("require_signature = [\"{key}\"]\n[tools]\nstats = \"tollhouse:stats\"\n[[grant]]\nmethod = \"**\"\n");
    other.file("policy.toml", policy);
    let code = "return (await stats.describe({values: [1, 2, 3]})).mean";
    assert_eq!(ok(&other, &["run", "--policy", "policy.toml", "-e", code]).stdout, "2\n");
    let pinned = ok(&other, &["registry", "pull", &format!("{reference}@{digest}")]);
    assert!(pinned.stdout.starts_with("already pulled tollhouse:stats@0.1.0 from "), "{pinned:?}");
    let unpinned = other.run(["registry", "pull", &reference]);
    assert!(unpinned.status == 1 && unpinned.stderr.contains("cannot reach"), "{unpinned:?}");
    assert!(unpinned.stderr.contains("without the network"), "{unpinned:?}");
}

/// An artifact has the layout that `wkg` and CNCF's specification ask for.
#[test]
fn artifact_pushed_has_the_layout_of_wkg() {
    let (oci, home, _) = pushed();
    let manifest = oci.get(&format!("{REPOSITORY}/manifests/0.1.0")).expect("it was pushed");
    let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
    assert_eq!((&manifest["schemaVersion"], &manifest["mediaType"]), (&2.into(), &MANIFEST.into()));
    assert_eq!(manifest["config"]["mediaType"], "application/vnd.wasm.config.v0+json");
    assert_eq!(manifest["layers"].as_array().map(Vec::len), Some(1), "wkg refuses other layers: {manifest}");
    let layer = &manifest["layers"][0];
    assert_eq!(layer["mediaType"], "application/wasm");
    assert_eq!(layer["digest"], listed(&home)[0]["digest"]);
    assert_eq!(layer["annotations"]["org.opencontainers.image.title"], "stats.wasm");
    assert_eq!(manifest["annotations"]["org.opencontainers.image.version"], "0.1.0");
    let blob = |digest: &Value| oci.get(&format!("{REPOSITORY}/blobs/{}", digest.as_str().expect("text")));
    let config: Value =
        serde_json::from_slice(&blob(&manifest["config"]["digest"]).expect("it is there")).expect("JSON");
    for (key, value) in [("os", "wasip2"), ("architecture", "wasm"), ("created", "1970-01-01T00:00:00Z")] {
        assert_eq!(config[key], value);
    }
    assert_eq!(config["layerDigests"], json!([layer["digest"]]));
    assert_eq!(config["component"]["exports"], json!(["tollhouse:stats/stats@0.1.0"]), "{config}");
    assert!(config["component"]["imports"].is_array());
    assert!(blob(&layer["digest"]).expect("it is there").starts_with(b"\0asm\x0d\0\x01\0"));
}

#[test]
fn tag_pushed_is_not_moved_without_force_and_pin_holds() {
    let (oci, home, _) = pushed();
    let reference = format!("{}/{REPOSITORY}:0.1.0", oci.host());
    let again = described(&ok(&home, &["registry", "push", "tollhouse:stats", &reference, "--json"]));
    assert_eq!(again["already"], true);
    let digest = again["digest"].as_str().expect("a digest");
    // Nor is a tag free that names an image, or a list of them.
    let list = "application/vnd.docker.distribution.manifest.list.v2+json";
    oci.put_manifest(REPOSITORY, "image", json!({ "schemaVersion": 2, "mediaType": list }).to_string().as_bytes());
    let refused = home.run(["registry", "push", "tollhouse:stats", &format!("{}/{REPOSITORY}:image", oci.host())]);
    assert!(refused.status == 1 && refused.stderr.contains("exists with other content"), "{refused:?}");
    // Another signature is other content.
    ok(&home, &["registry", "keygen", "--out", "second.key"]);
    ok(&home, &["registry", "sign", "tollhouse:stats@0.1.0", "--key", "second.key"]);
    let before = oci.seen().len();
    let refused = home.run(["registry", "push", "tollhouse:stats", &reference]);
    assert!(refused.status == 1 && refused.stderr.contains("exists with other content"), "{refused:?}");
    assert!(refused.stderr.contains("--force") && refused.stderr.contains(digest), "{refused:?}");
    assert!(oci.seen()[before..].iter().all(|asked| asked.method == "GET"), "nothing was sent");
    let moved = described(&ok(&home, &["registry", "push", "tollhouse:stats", &reference, "--force", "--json"]));
    assert_ne!(moved["digest"], digest);
    let other = Home::new();
    let pinned = other.run(["registry", "pull", &format!("{reference}@{digest}")]);
    assert!(pinned.status == 1 && pinned.stderr.contains("has moved"), "{pinned:?}");
    assert!(pinned.stderr.contains(moved["digest"].as_str().expect("text")), "{pinned:?}");
    assert_eq!(listed(&other), json!([]));
    ok(&other, &["registry", "pull", &format!("{}/{REPOSITORY}@{digest}", oci.host())]);
    // The other artifact is the same release, with one signature more.
    let more = described(&ok(&other, &["registry", "pull", &reference, "--json"]));
    assert_eq!((&more["already"], more["signed"].as_array().map(Vec::len)), (&true.into(), Some(2)), "{more}");
}

#[test]
fn component_of_foreign_publisher_is_pulled() {
    let (oci, home) = (OciRegistry::default(), Home::new());
    foreign(&oci, &components::echo("", "u32"), "latest");
    let reference = format!("{}/{REPOSITORY}:latest", oci.host());
    ok(&home, &["registry", "pull", &reference]);
    assert_eq!(listed(&home)[0]["name"], "test:echo");
    ok(&home, &["registry", "pull", &reference, "--name", "my:mirror", "--version", "2.0.0"]);
    assert_eq!((&listed(&home)[0]["name"], &listed(&home)[0]["version"]), (&"my:mirror".into(), &"2.0.0".into()));
    let wit = "package a:b; world w { export f: func() -> u32; }";
    let unnamed = components::encode(wit, "w", "(module (func (export \"f\") (result i32) (i32.const 7)))");
    foreign(&oci, &unnamed, "1.4.0");
    let reference = format!("{}/{REPOSITORY}:1.4.0", oci.host());
    let refused = home.run(["registry", "pull", &reference]);
    assert!(refused.status == 1 && refused.stderr.contains("--name NAMESPACE:PACKAGE"), "{refused:?}");
    ok(&home, &["registry", "pull", &reference, "--name", "my:seven"]);
    let ran = home.js("return await seven.f({})", &["--allow", "**", "--tool", "seven=my:seven@=1.4.0"]);
    assert_eq!(ran["value"], 7, "{ran}");
}

#[test]
fn package_of_local_origin_is_not_replaced_by_pull() {
    let (oci, home) = (OciRegistry::default(), Home::new());
    home.file("echo.wasm", components::echo("", "u32"));
    ok(&home, &["publish", "echo.wasm"]);
    foreign(&oci, &components::echo("", "u32"), "0.1.0");
    foreign(&oci, &components::echo("", "string"), "0.9.0");
    let pull = |tag: &str, more: &[&str]| {
        let reference = format!("{}/{REPOSITORY}:{tag}", oci.host());
        home.run(["registry", "pull", &reference].iter().chain(more))
    };
    let before = listed(&home);
    assert_eq!(pull("0.1.0", &[]).status, 0, "what is here already is nothing new");
    let refused = pull("0.9.0", &[]);
    assert!(refused.status == 1 && refused.stderr.contains("come from elsewhere"), "{refused:?}");
    assert!(refused.stderr.contains("test:echo@0.9.0") && refused.stderr.contains("--name"), "{refused:?}");
    assert_eq!(listed(&home), before);
    assert_eq!(pull("0.9.0", &["--name", "my:echo"]).status, 0);
    assert_eq!(pull("0.9.0", &["--name", "test:echo"]).status, 0);
    foreign(&oci, &components::echo("", "string"), "1.0.0");
    assert_eq!(pull("1.0.0", &[]).status, 0, "one came from there already, and was meant");
}

#[test]
fn tag_that_is_a_version_must_match_the_release() {
    let (oci, home, _) = pushed();
    let to = |tag: &str| format!("{}/{REPOSITORY}:{tag}", oci.host());
    let refused = home.run(["registry", "push", "tollhouse:stats", &to("2.0.0")]);
    assert!(refused.status == 2 && refused.stderr.contains("is another version"), "{refused:?}");
    ok(&home, &["registry", "push", "tollhouse:stats", &to("stable")]);
    let manifest = oci.get(&format!("{REPOSITORY}/manifests/0.1.0")).expect("it was pushed");
    oci.put_manifest(REPOSITORY, "2.0.0", &manifest);
    let other = Home::new();
    let refused = other.run(["registry", "pull", &to("2.0.0")]);
    assert!(refused.status == 1 && refused.stderr.contains("`2.0.0` was requested"), "{refused:?}");
    ok(&other, &["registry", "pull", &to("stable")]);
}

#[test]
fn release_breaking_an_earlier_one_is_not_pulled_unless_allowed() {
    let (oci, home) = (OciRegistry::default(), Home::new());
    let version = |version: &str, ty: &str| foreign(&oci, &components::echo("", ty), version);
    version("1.0.0", "u32");
    version("1.1.0", "string");
    let reference = |tag: &str| format!("{}/{REPOSITORY}:{tag}", oci.host());
    ok(&home, &["registry", "pull", &reference("1.0.0")]);
    let ran = home.run(["registry", "pull", &reference("1.1.0")]);
    assert!(ran.status == 1 && ran.stderr.contains("breaks `1.0.0`"), "{ran:?}");
    ok(&home, &["registry", "pull", &reference("1.1.0"), "--allow-breaking"]);
    assert_eq!(listed(&home)[0]["breaking"], true);
}

#[test]
fn wkg_cache_is_imported() {
    let home = Home::new();
    let put = |path: &str, bytes: &[u8]| {
        let path = home.path().join("wkg").join(path);
        std::fs::create_dir_all(path.parent().expect("it is below")).expect("the home can be written");
        std::fs::write(path, bytes).expect("the home can be written");
    };
    put("test/echo/1.0.0.wasm", &components::echo("", "u32"));
    put("test/echo/1.1.0.wasm", &components::echo("", "string"));
    put("test/echo/2.0.0.wasm", &components::echo("", "string"));
    put("test/broken/1.0.0.wasm", b"no wasm");
    put("test/other/1.0.0.txt", b"no release");
    let import = |more: &[&str]| home.run(["registry", "import", "wkg", "--json"].iter().chain(more));
    let one = import(&["test:echo@=2.0.0"]);
    assert_eq!((one.status, &described(&one)["imported"][0]["version"]), (0, &"2.0.0".into()), "{one:?}");
    let all = import(&[]);
    let told = described(&all);
    let count = |key: &str| told[key].as_array().map(Vec::len);
    assert_eq!((all.status, count("imported"), count("refused")), (1, Some(2), Some(2)), "{all:?}");
    assert_eq!(told["imported"][1]["already"], true, "{told}");
    assert!(told["refused"][0]["error"].as_str().is_some_and(|text| text.contains("not a WebAssembly file")), "{told}");
    assert!(told["refused"][1]["error"].as_str().is_some_and(|text| text.contains("breaks `1.0.0`")), "{told}");
    assert_eq!(listed(&home).as_array().map(Vec::len), Some(2));
    // A link that leads out of the directory is not followed behind the wall, and keeps nothing else from being imported.
    std::os::unix::fs::symlink("/", home.path().join("wkg/outside")).expect("the home can be written");
    let with_a_link = import(&[]);
    assert_eq!(described(&with_a_link)["imported"].as_array().map(Vec::len), Some(2), "{with_a_link:?}");
    let nothing = import(&["test:nothing"]);
    assert!(nothing.status == 1 && nothing.stderr.contains("no release of `test:nothing"), "{nothing:?}");
}
