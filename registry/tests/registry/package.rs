//! Package directories as they lie about.

use std::{fs, os::unix::fs::symlink, path::Path, time::Duration};

use tollhouse_registry::{PackageError, package_dir};

use crate::{
    job,
    support::Home,
    testing::{CHARGES, component, core_module},
};

const MANIFEST: &str = "name = \"acme:payments\"\nversion = \"1.2.0\"\n";
const CARGO: &str = "[package]\nname = \"pay-tool\"\nversion = \"0.7.0\"\nedition = \"2024\"\n[workspace]\n";

fn write(directory: &Path, name: &str, content: impl AsRef<[u8]>) {
    let path = directory.join(name);
    fs::create_dir_all(path.parent().expect("it has one")).expect("it is made");
    fs::write(path, content).expect("it writes");
}

/// Publishes the package in a process that has no target directory set, and returns what the process says.
fn published(directory: &Path) -> String {
    let output = job::command("package", directory).output().expect("it runs");
    assert!(output.status.success());
    job::said(&String::from_utf8_lossy(&output.stdout)).concat()
}

#[test]
fn package_directory_is_read_completely() {
    let home = Home::new();
    let directory = home.path("package");
    write(&directory, "tool.toml", format!("{MANIFEST}component = \"out/tool.wasm\"\n"));
    write(&directory, "out/tool.wasm", component(CHARGES));
    write(&directory, "README.md", "# Hi\n");
    write(&directory, "wit/world.wit", CHARGES.replace("interface charges {", "interface charges {\n use a:b/c.{t};"));
    write(&directory, "wit/deps/b/c.wit", "package a:b;\n/// Shared.\ninterface c { type t = u32; }\n");
    write(&directory, "wit/deps/unused.wit", "package not:used;\ninterface c { type t = u32; }\n");
    let request = package_dir(&directory).expect("it is a package");
    assert_eq!(request.readme.as_deref(), Some("# Hi\n"));
    let wit = request.wit.as_deref().expect("it has WIT");
    assert!(
        wit.contains("/// Creates a charge.") && wit.contains("package a:b {") && !wit.contains("not:used"),
        "{wit}"
    );
    home.registry.publish(request).expect("it publishes");
}

#[test]
fn package_directory_with_missing_or_wrong_parts_is_refused() {
    let home = Home::new();
    let directory = home.path("package");
    let error = |content: Option<&str>| {
        if let Some(content) = content {
            write(&directory, "tool.toml", content);
        }
        package_dir(&directory).expect_err("no package")
    };
    assert!(matches!(error(None), PackageError::NoManifest { .. }));
    assert!(matches!(error(Some(MANIFEST)), PackageError::NoBuild { .. }));
    let gone = error(Some(&format!("{MANIFEST}component = \"gone.wasm\"\n")));
    assert!(matches!(gone, PackageError::NoComponent { .. }) && gone.to_string().contains("gone.wasm"));
    let wrong = error(Some("name = \"acme\"\nversion = \"1.2.0\"\n"));
    let PackageError::Manifest { source, .. } = &wrong else { panic!("{wrong}") };
    assert_eq!((source.line(), source.column()), (1, 8));
    write(&directory, "tool.wasm", component(CHARGES));
    write(&directory, "wit/world.wit", "package a:b;\nworld w { import c:d/e; }\n");
    let wit = error(Some(&format!("{MANIFEST}component = \"tool.wasm\"\n")));
    assert!(wit.to_string().contains("world.wit:2:18"), "{wit}");
    assert!(wit.hint().expect("a hint").contains("wit/deps"));
}

/// What is published, and what an error quotes, is of the package: a link in a stranger's package leads to no other file.
#[test]
fn package_whose_wit_or_component_leads_out_of_it_by_a_link_is_refused() {
    let home = Home::new();
    let directory = home.path("package");
    write(&directory, "tool.toml", format!("{MANIFEST}component = \"tool.wasm\"\n"));
    write(&directory, "kept/tool.wasm", component(CHARGES));
    write(&directory, "kept/world.wit", CHARGES);
    write(&home.path("elsewhere"), "tool.wasm", component(CHARGES));
    write(&home.path("elsewhere"), "world.wit", CHARGES);
    write(&home.path("elsewhere"), "deps/b/c.wit", "package a:b;\ninterface c { type t = u32; }\n");
    write(&directory, "wit/kept", "");
    symlink("kept/tool.wasm", directory.join("tool.wasm")).expect("made");
    symlink("../kept/world.wit", directory.join("wit/world.wit")).expect("made");
    package_dir(&directory).expect("links within the package are fine");
    let refused = |name: &str, target: &str| {
        let path = directory.join(name);
        let before = fs::read_link(&path).ok();
        let _ = fs::remove_file(&path);
        symlink(target, &path).expect("made");
        let error = package_dir(&directory).expect_err("a link");
        assert!(matches!(&error, PackageError::Outside { path: named, .. } if *named == path), "{name}: {error}");
        fs::remove_file(&path).expect("it is there");
        before.map_or(Ok(()), |before| symlink(before, &path)).expect("made");
    };
    refused("tool.wasm", "../elsewhere/tool.wasm");
    refused("wit/world.wit", "../../elsewhere/world.wit");
    refused("wit/deps", "../../elsewhere/deps");
    fs::create_dir(directory.join("wit/deps")).expect("made");
    refused("wit/deps/b", "../../../elsewhere/deps/b");
    refused("wit/deps/c.wit", "../../../elsewhere/deps/b/c.wit");
    fs::rename(directory.join("wit"), directory.join("kept/wit")).expect("moved");
    refused("wit", "../elsewhere");
    // A component that the manifest itself says to be elsewhere is taken: packages share build directories.
    write(&directory, "tool.toml", format!("{MANIFEST}component = \"../elsewhere/tool.wasm\"\n"));
    package_dir(&directory).expect("it says so");
}

#[test]
fn package_directory_takes_the_newest_component_cargo_built() {
    let home = Home::new();
    let directory = home.path("package");
    write(&directory, "tool.toml", MANIFEST);
    write(&directory, "Cargo.toml", format!("{CARGO}[lib]\ncrate-type = [\"cdylib\"]\n"));
    write(&directory, "src/lib.rs", "");
    let missing = published(&directory);
    assert!(missing.contains("cargo build --release --target wasm32-wasip2"), "{missing}");
    // Each later than the one before, as far as the file system's clock goes.
    let built = |place: &str, content: Vec<u8>| {
        std::thread::sleep(Duration::from_millis(20));
        write(&directory, &format!("target/{place}/pay_tool.wasm"), content);
        fs::remove_dir_all(directory.join("registry")).ok();
        published(&directory)
    };
    let module = built("wasm32-wasip1/debug", core_module(CHARGES));
    assert_eq!(module, "this is a core WebAssembly module, not a component");
    let small = component(CHARGES);
    let sized = |note: u8| [&small[..], &[0, note + 1, note], &vec![b'n'; note.into()][..]].concat();
    for (note, place) in [(10, "wasm32-wasip2/release"), (20, "wasm32-wasip2/debug"), (30, "wasm32-wasip1/release")] {
        let expected = format!("acme:payments@1.2.0 {}", sized(note).len());
        assert_eq!(built(place, sized(note)), expected, "{place}");
    }
    let expected = format!("acme:payments@1.2.0 {}", sized(30).len());
    assert_eq!(built("wasm32-wasip1/debug", core_module(CHARGES)), expected, "a newer module is no component");
}

#[test]
fn cargo_component_project_without_manifest_is_read() {
    let home = Home::new();
    let directory = home.path("package");
    write(&directory, "Cargo.toml", format!("{CARGO}[package.metadata.component]\npackage = \"acme:fresh\"\n"));
    write(&directory, "src/main.rs", "fn main() {}\n");
    let missing = published(&directory);
    assert!(missing.contains("cargo component build --release"), "{missing}");
    let wit = "package component:fresh;\nworld example { export hello: func() -> string; }\n";
    write(&directory, "target/wasm32-wasip1/debug/pay-tool.wasm", component(wit));
    write(&directory, "wit/world.wit", wit);
    assert_eq!(published(&directory), format!("acme:fresh@0.7.0 {}", component(wit).len()));
}
