//! Files of a tool, used by a component through its standard library: `tests/fixtures/filer`.

use std::sync::LazyLock;

use wasmtime::component::{Component, Instance, Linker, ResourceTable, Val};
use wasmtime::{Engine, Store};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use super::{LIMITS, MAX_OPEN, NOW, scope, tree};
use crate::tool::files::{FilesView, ToolFiles, add_to_linker};
use crate::vfs::Tree;

/// Component made by `cargo xtask build`, beside the guests.
const FILER: &str = concat!(env!("TOLLHOUSE_GUESTS"), "/../wasm32-wasip2/guest/tollhouse_fixture_filer.wasm");

static COMPONENT: LazyLock<Component> = LazyLock::new(|| {
    let bytes = std::fs::read(FILER).expect("`cargo xtask build` has made the fixture `filer`");
    Component::new(&Engine::default(), bytes).expect("the fixture is a component")
});

struct FilerState {
    wasi: WasiCtx,
    table: ResourceTable,
    files: ToolFiles,
}

impl WasiView for FilerState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

struct FilerComponent {
    store: Store<FilerState>,
    instance: Instance,
}

impl FilerComponent {
    fn on(tree: Tree, grants: &[(&str, bool)]) -> FilerComponent {
        let mut files = ToolFiles::new();
        files.begin(tree, scope(grants), NOW);
        let mut linker = Linker::new(COMPONENT.engine());
        wasmtime_wasi::p2::add_to_linker_sync(&mut linker).expect("an empty linker takes it");
        linker.allow_shadowing(true);
        add_to_linker(&mut linker, |state: &mut FilerState| FilesView {
            files: &mut state.files,
            table: &mut state.table,
        })
        .expect("shadowing is allowed");
        let state = FilerState { wasi: WasiCtx::builder().build(), table: ResourceTable::new(), files };
        let mut store = Store::new(COMPONENT.engine(), state);
        let instance = linker.instantiate(&mut store, &COMPONENT).expect("all that it imports is there");
        FilerComponent { store, instance }
    }

    fn new(grants: &[(&str, bool)]) -> FilerComponent {
        FilerComponent::on(tree(), grants)
    }

    fn call(&mut self, function: &str, arguments: &[Val]) -> Val {
        let interface = self.instance.get_export_index(&mut self.store, None, "test:filer/filer@0.1.0");
        let interface = interface.expect("the fixture exports it");
        let function = self.instance.get_export_index(&mut self.store, Some(&interface), function);
        let function = function.and_then(|function| self.instance.get_func(&mut self.store, function));
        let mut results = [Val::Bool(false)];
        function.expect("the fixture has it").call(&mut self.store, arguments, &mut results).expect("it does not trap");
        let [result] = results;
        result
    }

    /// Calls a function that takes paths and texts, and formats its result as text.
    fn ask(&mut self, function: &str, arguments: &[&str]) -> Result<String, String> {
        let arguments: Vec<_> = arguments.iter().map(|text| Val::String((*text).to_owned())).collect();
        told(self.call(function, &arguments))
    }
}

fn text(value: &Val) -> String {
    match value {
        Val::String(text) => text.clone(),
        Val::List(items) => items.iter().map(text).collect::<Vec<_>>().join(" "),
        Val::Record(fields) => fields.iter().map(|(_, value)| text(value)).collect::<Vec<_>>().join(" "),
        Val::U64(number) => number.to_string(),
        value => panic!("the fixture does not give a {value:?}"),
    }
}

fn told(result: Val) -> Result<String, String> {
    let Val::Result(result) = result else { panic!("not a result: {result:?}") };
    match result {
        Ok(value) => Ok(value.as_deref().map(text).unwrap_or_default()),
        Err(error) => Err(error.as_deref().map(text).unwrap_or_default()),
    }
}

fn ok(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

fn err(text: &str) -> Result<String, String> {
    Err(text.to_owned())
}

#[test]
fn component_with_file_grants_works_on_granted_files() {
    let mut filer = FilerComponent::new(&[("/workspace/in", true)]);
    let mut ask = |function: &str, arguments: &[&str]| filer.ask(function, arguments);
    assert_eq!(ask("read", &["/workspace/in/a"]), ok("alpha"));
    assert_eq!(ask("write", &["/workspace/in/new", "one"]), ok(""));
    assert_eq!(ask("append", &["/workspace/in/new", "+two"]), ok(""));
    assert_eq!(ask("read", &["/workspace/in/new"]), ok("one+two"));
    assert_eq!(ask("create-new", &["/workspace/in/new"]), err("AlreadyExists"));
    assert_eq!(ask("make-directory", &["/workspace/in/e/f/g"]), ok(""));
    assert_eq!(ask("rename", &["/workspace/in/new", "/workspace/in/e/f/old"]), ok(""));
    assert_eq!(ask("copy", &["/workspace/in/e/f/old", "/workspace/in/copy"]), ok("7"));
    assert_eq!(ask("entries", &["/workspace/in"]), ok("a copy d e"));
    let paths = ["a", "copy", "d", "d/b", "e", "e/f", "e/f/g", "e/f/old"].map(|path| format!("/workspace/in/{path}"));
    assert_eq!(ask("walk", &["/workspace/in"]), ok(&paths.join(" ")));
    assert_eq!(ask("stat", &["/workspace/in/copy"]), ok(&format!("file 7 {NOW}")));
    assert_eq!(ask("remove", &["/workspace/in/copy"]), ok(""));
    assert_eq!(ask("remove-all", &["/workspace/in/e"]), ok(""));
    assert_eq!(ask("entries", &["/workspace/in"]), ok("a d"));
    assert_eq!(ask("write-removed", &["/workspace/in/gone", "still there"]), ok("still there"));
    assert_eq!(ask("hard-link", &["/workspace/in/a", "/workspace/in/b"]), err("Unsupported"));
    assert_eq!(ask("remove", &["/workspace/in/none"]), err("NotFound"));
}

#[test]
fn component_without_matching_file_grant_is_denied() {
    let mut filer = FilerComponent::new(&[("/workspace/in", false), ("/workspace/out/x", true)]);
    let mut ask = |function: &str, arguments: &[&str]| filer.ask(function, arguments);
    assert_eq!(ask("read", &["/workspace/in/d/b"]), ok("beta"));
    for (function, arguments) in [
        ("write", ["/workspace/in/a", ""].as_slice()),
        ("append", &["/workspace/in/a", ""]),
        ("create-new", &["/workspace/in/new"]),
        ("make-directory", &["/workspace/in/new"]),
        ("remove", &["/workspace/in/a"]),
        ("remove-all", &["/workspace/in/d"]),
        ("rename", &["/workspace/in/a", "/workspace/in/b"]),
        ("copy", &["/workspace/out/x", "/workspace/in/x"]),
    ] {
        assert_eq!(ask(function, arguments), err("ReadOnlyFilesystem"), "{function}");
    }
    assert_eq!(ask("write", &["/workspace/out/x", "mine"]), ok(""));
    assert_eq!(ask("entries", &["/workspace/out"]), ok("x"));
    assert_eq!(ask("write", &["/workspace/out/y", ""]), err("PermissionDenied"));
    // Paths that no preopened directory contains do not exist, and a path cannot lead above one.
    for path in ["/workspace/secret", "/etc/host", "/workspace/none", "/"] {
        assert!(ask("read", &[path]).is_err() && ask("stat", &[path]).is_err(), "{path}");
    }
    for path in ["/workspace/in/../secret", "/workspace/in/d/../../secret", "/workspace/out/../in/../secret"] {
        assert_eq!(ask("read", &[path]), err("PermissionDenied"), "{path}");
    }
    assert_eq!(filer.store.data_mut().files.end().map(|edits| edits.len()), Ok(1));
}

/// Error text of Rust's wasi-libc for any error of a stream: it does not call `filesystem-error-code`.
const EIO: &str = "I/O error (os error 29)";

#[test]
fn component_beyond_file_limits_gets_errors() {
    let mut filer = FilerComponent::new(&[("/tmp", true)]);
    let megabytes = "m".repeat(5 << 20);
    assert_eq!(filer.ask("write", &["/tmp/large", &megabytes]), ok(""));
    assert_eq!(filer.ask("write", &["/tmp/more", &megabytes]), err(EIO));
    assert_eq!(filer.ask("append", &["/tmp/large", &megabytes]), err(EIO));
    assert_eq!(filer.ask("remove", &["/tmp/more"]), ok(""));
    let path = |path: &str| Val::String(path.to_owned());
    let piped = filer.call("pipe", &[path("/tmp/large"), path("/tmp/copy"), Val::U32(100_000)]);
    assert_eq!(told(piped), err(EIO));
    let cut = filer.call("truncate", &[path("/tmp/large"), Val::U64(3 << 20)]);
    assert_eq!(told(cut), ok(""));
    let piped = filer.call("pipe", &[path("/tmp/large"), path("/tmp/copy"), Val::U32(100_000)]);
    assert_eq!(told(piped), ok(&(3 << 20).to_string()));
    for size in [LIMITS.file_bytes + 1, i64::MAX.unsigned_abs()] {
        let grown = filer.call("truncate", &[path("/tmp/copy"), Val::U64(size)]);
        assert_eq!(told(grown), err("FileTooLarge"));
    }
    let far = filer.call("write-at", &[path("/tmp/copy"), Val::U64(i64::MAX.unsigned_abs()), path("x")]);
    assert_eq!(told(far), err(EIO));
    let beyond = filer.call("read-at", &[path("/tmp/copy"), Val::U64(i64::MAX.unsigned_abs()), Val::U32(10)]);
    assert_eq!(told(beyond), ok(""));
    let within = filer.call("read-at", &[path("/tmp/copy"), Val::U64(10), Val::U32(3)]);
    assert_eq!(told(within), ok("mmm"));
    let Val::U32(open) = filer.call("open-many", &[path("/tmp/large"), Val::U32(2_000)]) else { panic!("a number") };
    assert!((MAX_OPEN - 10..MAX_OPEN).contains(&(open as usize)), "{open}");
    assert_eq!(filer.ask("write", &["/tmp/after", "fine"]), ok(""), "they are closed again");
}

#[test]
fn component_meets_links_with_wasi_semantics() {
    let mut tree = tree();
    for (target, path) in [("a", "fine"), ("../secret", "up"), ("/workspace/secret", "absolute"), ("circle", "circle")]
    {
        tree.create_link(target, &format!("/workspace/in/{path}"), 7).expect("writable");
    }
    let mut filer = FilerComponent::on(tree, &[("/workspace/in", true)]);
    let mut ask = |function: &str, path: &str| filer.ask(function, &[&format!("/workspace/in/{path}")]);
    assert_eq!(ask("read", "fine"), ok("alpha"));
    assert_eq!(ask("stat", "fine"), ok("file 5 1"));
    assert_eq!(ask("stat-link", "up"), ok("link 9 7"));
    assert_eq!(ask("read-link", "up"), ok("../secret"));
    assert_eq!(ask("read-link", "absolute"), err("PermissionDenied"));
    assert_eq!(ask("read", "up"), err("PermissionDenied"));
    assert_eq!(ask("read", "absolute"), err("PermissionDenied"));
    assert_eq!(ask("read", "circle"), err("FilesystemLoop"));
    assert_eq!(ask("remove", "up"), ok(""));
    let time = filer.call("set-modified", &[Val::String("/workspace/in/a".to_owned()), Val::U64(1_500_000_000)]);
    assert_eq!(told(time), ok(""));
    assert_eq!(filer.ask("stat", &["/workspace/in/fine"]), ok("file 5 1500000000"));
}

#[test]
fn kept_instance_sees_the_files_of_the_next_call() {
    let mut filer = FilerComponent::new(&[("/workspace/in", true)]);
    assert_eq!(filer.ask("write", &["/workspace/in/a", "first"]), ok(""));
    let mut run = tree();
    run.apply(&filer.store.data_mut().files.end().expect("all is in memory")).expect("nothing is in the way");
    run.place_file("/workspace/in/b", b"between", 0o644, 2).expect("within limits");
    filer.store.data_mut().files.begin(run, scope(&[("/workspace/in", false)]), NOW + 1);
    assert_eq!(filer.ask("read", &["/workspace/in/a"]), ok("first"));
    assert_eq!(filer.ask("read", &["/workspace/in/b"]), ok("between"));
    assert_eq!(filer.ask("write", &["/workspace/in/a", ""]), err("ReadOnlyFilesystem"));
}
