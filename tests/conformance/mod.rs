//! Conformance of the shell and of jq with the real programs.

mod shell;
