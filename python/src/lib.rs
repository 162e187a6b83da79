//! The native half of Tollhouse's Python package: `tollhouse._native`.
//!
//! It carries data, and decides nothing: a call of a Python function goes through the same gate as any other, and the
//! package's own classes ask it what a pattern or a clause means. Whoever waits here has released the interpreter.

mod capability;
mod cli;
mod confine;
mod convert;
mod driver;
mod errors;
mod files;
mod host;
mod mcp_servers;
mod output;
mod process;
mod receipts;
mod remedy;
mod result;
mod run;
mod session;
mod store;
mod token;
mod tool;

use pyo3::prelude::*;

/// Functions and classes of the module.
#[pymodule]
mod _native {
    use pyo3::prelude::*;
    use pyo3::types::PyDict;
    use tollhouse::remedy::set_remedy_wording;

    use super::remedy::PythonWording;

    #[pymodule_export]
    use super::capability::{check_clauses, clauses_subsume, grant_is_subset, matches, pattern_is_subset, read_policy};
    #[pymodule_export]
    use super::cli::command_line;
    #[pymodule_export]
    use super::confine::confine;
    #[pymodule_export]
    use super::driver::end;
    #[pymodule_export]
    use super::files::Tree;
    #[pymodule_export]
    use super::host::{Host, check_audit_log};
    #[pymodule_export]
    use super::mcp_servers::McpServers;
    #[pymodule_export]
    use super::process::forked;
    #[pymodule_export]
    use super::result::RunResult;
    #[pymodule_export]
    use super::run::{Call, Run};
    #[pymodule_export]
    use super::session::Session;
    #[pymodule_export]
    use super::store::Store;
    #[pymodule_export]
    use super::token::{Keypair, attenuate_token, inspect_token};
    #[pymodule_export]
    use super::tool::{CallEnding, HostTool, javascript_name, tool_signature};

    /// Registers the hooks for the end of the interpreter, and for forks.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // The command line, which ends the process, sets its own.
        set_remedy_wording(&PythonWording);
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.py().import("atexit")?.call_method1("register", (module.getattr("end")?,))?;
        let os = module.py().import("os")?;
        // On systems without `fork` there is no hook either.
        if os.hasattr("register_at_fork")? {
            let hook = PyDict::new(module.py());
            hook.set_item("after_in_child", module.getattr("forked")?)?;
            os.call_method("register_at_fork", (), Some(&hook))?;
        }
        Ok(())
    }
}
