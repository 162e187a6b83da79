//! Runs a component of WASI 0.2 on the host's own files, as a program of the host: what the project's programs are
//! compared with the real ones by, with test suites that are shell scripts.
#![allow(missing_docs)]
use anyhow::{Context as _, Result};
use wasmtime::component::{Component, Linker, ResourceTable};
use wasmtime::{Config, Engine, Store};
use wasmtime_wasi::p2::bindings::sync::Command;
use wasmtime_wasi::{DirPerms, FilePerms, I32Exit, WasiCtx, WasiCtxView, WasiView};

struct State {
    wasi: WasiCtx,
    table: ResourceTable,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

fn main() -> Result<()> {
    let path = std::env::var("WASI_RUN_COMPONENT").context("WASI_RUN_COMPONENT")?;
    let mut config = Config::new();
    config.max_wasm_stack(8 << 20).async_stack_size(16 << 20).concurrency_support(false).memory_init_cow(true);
    let engine = Engine::new(&config)?;
    let compiled = format!("{path}.cwasm");
    if std::env::args().nth(1).as_deref() == Some("--precompile") {
        let module = std::fs::read(&path)?;
        let component = tollhouse_engine_component(&module)?;
        std::fs::write(compiled, engine.precompile_component(&component)?)?;
        return Ok(());
    }
    #[allow(unsafe_code)]
    let component = unsafe { Component::deserialize_file(&engine, &compiled)? };
    let mut wasi = WasiCtx::builder();
    wasi.inherit_stdio().inherit_env();
    wasi.args(&std::iter::once("git".to_owned()).chain(std::env::args().skip(1)).collect::<Vec<_>>());
    wasi.preopened_dir(".", ".", DirPerms::all(), FilePerms::all())?;
    wasi.preopened_dir("/", "/", DirPerms::all(), FilePerms::all())?;
    let mut linker = Linker::<State>::new(&engine);
    wasmtime_wasi::p2::add_to_linker_sync(&mut linker)?;
    let mut store = Store::new(&engine, State { wasi: wasi.build(), table: ResourceTable::new() });
    std::thread::scope(|scope| {
        let run = move || -> Result<i32> {
            let command = Command::instantiate(&mut store, &component, &linker)?;
            match command.wasi_cli_run().call_run(&mut store) {
                Ok(Ok(())) => Ok(0),
                Ok(Err(())) => Ok(1),
                Err(error) => match error.downcast_ref::<I32Exit>() {
                    Some(I32Exit(status)) => Ok(*status),
                    None => {
                        eprintln!("trap: {error:?}");
                        Ok(134)
                    }
                },
            }
        };
        let thread = std::thread::Builder::new().stack_size(64 << 20).spawn_scoped(scope, run)?;
        std::process::exit(thread.join().expect("it does not panic")?)
    })
}

fn tollhouse_engine_component(module: &[u8]) -> Result<Vec<u8>> {
    Ok(module.to_vec())
}
