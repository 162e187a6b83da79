//! The script guest for JavaScript: QuickJS behind the world `script-guest` of `wit/guest.wit`.
//!
//! This file holds the world's bindings and exports, and nothing else. Where things are:
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`runtime`] | the engine, the life of one script, what a step returns |
//! | [`input`] | a script that a person typed, as one of several inputs |
//! | [`calls`] | the calls of tools whose promises the prelude does not settle |
//! | [`operations`] | which operations are outstanding, what began and was cancelled in this step |
//! | [`bytecode`] | own JavaScript, without its text |
//! | [`limits`] | fuel and memory: counting, and stopping the script |
//! | [`math`] | exponentials and logarithms to V8's last digit |
//! | [`memory`] | pages that are touched before a script runs |
//! | [`errors`] | how an error leaves the guest, and how one enters it |
//! | [`compile`] | texts to functions, and what is wrong with those that do not compile |
//! | [`uncaught`] | errors that nothing in the script has caught |
//! | [`convert`] | values to JSON and back |
//! | [`dates`] | dates in texts, read as V8 reads them |
//! | [`time`] | the clock that a script sees |
//! | [`turn`] | ticks, microtasks and immediates, in Node's order |
//! | [`source`] | TypeScript to JavaScript, and a module to the body of a function |
//! | [`modules`] | `import`: what QuickJS asks when a script imports |
//! | [`natives`] | the functions that the prelude calls |
//! | `prelude/*.js` | the globals that a script sees, in JavaScript |
//! | `../node/` | Node's modules: libraries from npm and what stands between them and the prelude, one bundle |
//!
//! **Invariant:** nothing here is reachable from a script but through the prelude's globals; the object of natives is
//! an argument of the prelude's function and never a property of anything.
//!
//! **Invariant:** no import is called before `start`: `wizer-initialize` runs when the host is built.

mod bindings;
mod bytecode;
mod calls;
mod compile;
mod convert;
mod dates;
mod errors;
mod input;
mod limits;
mod math;
mod memory;
mod modules;
mod natives;
mod operations;
mod runtime;
mod source;
mod text;
mod time;
mod turn;
mod uncaught;

use bindings::{Completion, Guest, Mention, Script, Step};

/// Implementation of the component's exports.
struct ScriptGuest;

impl Guest for ScriptGuest {
    fn wizer_initialize() {
        runtime::initialize();
    }

    fn is_open(source: String, name: String) -> bool {
        source::is_open(&source, source::Dialect::of(&name))
    }

    fn mentions(source: String, name: String) -> Vec<Mention> {
        source::mentions(&source, source::Dialect::of(&name))
    }

    fn touch(pages: Vec<u32>) {
        memory::touch(&pages);
    }

    fn start(script: Script) -> Step {
        time::begin_step();
        told(runtime::start(script))
    }

    fn resume(completion: Completion) -> Step {
        time::begin_step();
        told(runtime::resume(completion))
    }
}

/// Reports the fuel used so far to the host, at the end of a step.
fn told(step: Step) -> Step {
    limits::tell();
    step
}
