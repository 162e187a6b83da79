//! Turns a core module into a guest: component, pre-initialised image, machine code.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use anyhow::{Context as _, Result};
use wasmtime::component::Linker;
use wasmtime::{Config, Engine, OptLevel, Store};
use wasmtime_wizer::Wizer;

/// Exported function that initialises a guest to the state in which every run starts.
const INITIALIZE: &str = "wizer-initialize";

/// Wraps a core module built with `wit-bindgen` into a component, and runs its initialisation into the image, so that
/// an instance starts with interpreter and prelude in place.
///
/// # Errors
/// If the module is not a guest, or its initialisation traps or calls an import.
pub fn preinitialize(core: &[u8]) -> Result<Vec<u8>> {
    let component = wit_component::ComponentEncoder::default()
        .validate(true)
        .module(core)
        .context("the module has no component type: was it built with wit-bindgen?")?
        .encode()
        .context("the module does not fit its world")?;

    let mut config = Config::new();
    // This code runs once, for some milliseconds: optimising it would take longer than it saves.
    config.cranelift_opt_level(OptLevel::None);
    let mut store = Store::new(&Engine::new(&config)?, ());
    let mut wizer = Wizer::new();
    // The component around the module exports the function too, and would not validate without it.
    wizer.init_func(INITIALIZE).keep_init_func(true);
    let instantiate = wizer.run_component(&mut store, &component, async |store, component| {
        let mut linker = Linker::new(store.engine());
        linker.define_unknown_imports_as_traps(component)?;
        linker.instantiate_async(store, component).await
    });
    let (image, _) = block_on(instantiate).map_err(anyhow::Error::from).context("cannot pre-initialise the guest")?;
    Ok(image)
}

/// Compiles a component for this machine, for the engine of guests.
///
/// # Errors
/// If the component does not compile.
pub fn precompile(component: &[u8]) -> Result<Vec<u8>> {
    Ok(crate::guest()?.precompile_component(component)?)
}

/// Polls a future to its end. The future waits only for wasm, which runs while it is polled.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}
