//! `caller [N]`: prints the line, function and file of the N-th call.
//!
//! bashkit prints line 1 and file `main` for every call, counts the shell itself as a call, and interprets any word as
//! 0. In bash ("Bash Builtin Commands", `caller`), without N it prints the line and file of the current call. The
//! status is 1 outside of a function or sourced file, and for an N beyond the last call. It is 2 for an invalid number.
//! The arrays `BASH_LINENO`, `FUNCNAME` and `BASH_SOURCE` are correct, except that the file of the script is `main`.

use bashkit::{Builtin, BuiltinContext, ExecResult, ExecutionPlan, Result, async_trait};

use super::line;

pub(super) struct Caller;

const USAGE: &str = "caller: usage: caller [expr]\n";

#[async_trait]
impl Builtin for Caller {
    async fn execute(&self, _: BuiltinContext<'_>) -> Result<ExecResult> {
        // Reached only if there is no plan.
        Ok(ExecResult::err(USAGE, 2))
    }

    async fn execution_plan(&self, context: &BuiltinContext<'_>) -> Result<Option<ExecutionPlan>> {
        // `eval` is not a call, so it sees the arrays of the caller.
        let text = match context.args.first().map(|number| number.parse::<u32>()) {
            None => r#"if ((!${#BASH_LINENO[@]})); then false
                elif [[ $0 == bash ]]; then echo "${BASH_LINENO[0]} ${BASH_SOURCE[1]:-NULL}"
                else echo "${BASH_LINENO[0]} ${BASH_SOURCE[1]:-$0}"; fi"#
                .to_owned(),
            Some(Ok(number)) => {
                let above = u64::from(number) + 1;
                let (line, function, file) =
                    (format!("BASH_LINENO[{number}]"), format!("FUNCNAME[{above}]"), format!("BASH_SOURCE[{above}]"));
                format!(
                    r#"if [[ $0 == bash ]]; then
                        ((${{#FUNCNAME[@]}} > {above})) && echo "${{{line}}} ${{{function}}} ${{{file}}}"
                    else
                        ((${{#FUNCNAME[@]}} > {number})) && echo "${{{line}}} ${{{function}:-main}} ${{{file}:-$0}}"
                    fi"#
                )
            }
            Some(Err(_)) => return Ok(None),
        };
        Ok(Some(ExecutionPlan::Batch { commands: vec![line(text)] }))
    }
}
