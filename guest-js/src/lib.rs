//! The script guest for JavaScript: QuickJS behind the world `script-guest` of `wit/guest.wit`.
//!
//! This file only contains the exports of the world. Modules:
//!
//! | module | contents |
//! | --- | --- |
//! | [`runtime`] | the engine, the life cycle of one script, the results of steps |
//! | [`input`] | interactive input, in which a script is one of several inputs |
//! | [`calls`] | calls of tools whose promises the prelude does not settle |
//! | [`operations`] | outstanding operations, and those that began or were cancelled in this step |
//! | [`bytecode`] | bytecode of our own JavaScript |
//! | [`limits`] | fuel and memory: counting, and stopping the script |
//! | [`math`] | exponentials and logarithms with the same digits as V8 |
//! | [`memory`] | pages that are touched before a script runs |
//! | [`errors`] | conversion of errors between the guest and the host |
//! | [`compile`] | compilation of texts to functions, and errors of compilation |
//! | [`uncaught`] | errors that the script does not catch |
//! | [`convert`] | conversion of values to and from JSON |
//! | [`dates`] | parsing of dates as in V8 |
//! | [`time`] | clock of a script |
//! | [`turn`] | ticks, microtasks and immediates, in Node's order |
//! | [`source`] | conversion of TypeScript to JavaScript, and of modules to bodies of functions |
//! | [`modules`] | resolution of `import` for QuickJS |
//! | [`natives`] | functions that the prelude calls |
//! | `prelude/*.js` | globals of scripts, in JavaScript |
//! | `../node/` | Node's modules: a bundle of libraries from npm and of adapters between them and the prelude |
//!
//! **Invariant:** scripts reach the functions here only through the globals of the prelude. The object of natives is an
//! argument of the function of the prelude, and never a property of anything.
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
mod radix;
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
