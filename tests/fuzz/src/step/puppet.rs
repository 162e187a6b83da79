//! Host whose guest is a puppet that takes arbitrary steps, created once in each process.

use std::sync::LazyLock;

use tollhouse::session::{Host, HostOptions};
use tollhouse_registry::{PublishRequest, Registry};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// A tool with one function, `add: func(n: u32) -> u32`.
const TOOL: &str = r#"(component
    (core module $m (func (export "add") (param i32) (result i32) (i32.add (local.get 0) (i32.const 1))))
    (core instance $m (instantiate $m))
    (func (export "add") (param "n" u32) (result u32) (canon lift (core func $m "add"))))"#;

/// Host with the puppet as its guests and [`TOOL`] as its tool.
pub(super) static HOST: LazyLock<Host> = LazyLock::new(|| {
    // Kept for the life of the process: a session reads the registry when it is created.
    let directory = tempfile::tempdir().expect("a directory for temporary files").keep();
    let registry = Registry::open(&directory).expect("a directory is a registry");
    let mut request = PublishRequest::new(wat::parse_str(TOOL).expect("it is a component"));
    request.name = Some("fuzz:fuzz".parse().expect("a name"));
    request.version = Some("1.0.0".parse().expect("a version"));
    registry.publish(request).expect("it is a tool");
    let options = HostOptions { registry: Some(directory), ..HostOptions::default() };
    Host::with_guest(&options, &puppet()).expect("it has the world of a guest")
});

/// Returns the puppet as a component.
fn puppet() -> Vec<u8> {
    let mut resolve = Resolve::default();
    let package = resolve.push_str("guest.wit", include_str!("../../../../wit/guest.wit")).expect("it parses");
    let world = resolve.select_world(&[package], Some("script-guest")).expect("it is there");
    let mut core = wat::parse_str(include_str!("puppet.wat")).expect("it parses");
    embed_component_metadata(&mut core, &resolve, world, StringEncoding::UTF8).expect("a module takes it");
    let mut encoder = ComponentEncoder::default().validate(true).module(&core).expect("the module has its world");
    encoder.encode().expect("the module implements its world")
}
