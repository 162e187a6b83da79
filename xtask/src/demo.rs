//! The demo: builds what it needs, publishes tools, and runs two scripts as an agent would write them.

use anyhow::Result;

use crate::build::{self, Profile, binary, tool_package};
use crate::run::{command, root, run, say};

/// The tools that the demo calls.
const TOOLS: [&str; 4] = ["csv", "markdown", "stats", "text"];

/// Builds the demo, publishes its tools, and runs it.
pub(crate) fn demo() -> Result<()> {
    let directories = TOOLS.map(|name| root().join("tools").join(name));
    build::demo(Profile::Debug, &directories.each_ref().map(|directory| tool_package(directory)))?;
    let tollhouse = binary(Profile::Debug);
    say("publishing the tools to the local registry");
    for directory in directories {
        // A published release never changes. If an earlier build of the same version is in the registry, the demo uses
        // that one.
        if run(command(&tollhouse).arg("publish").arg(&directory)).is_err() {
            say(&format!("keeping the published release of {}", directory.display()));
        }
    }
    let examples = root().join("examples");
    for (script, policy) in [("report.js", "report.policy.toml"), ("denied.js", "denied.policy.toml")] {
        say(&format!("tollhouse run examples/{script} --policy examples/{policy} --summary"));
        let mount = format!("{}:/workspace/data:ro", examples.join("data").display());
        let mut tollhouse = command(&tollhouse);
        tollhouse.arg("run").arg(examples.join(script)).arg("--policy").arg(examples.join(policy));
        run(tollhouse.args(["--mount", &mount, "--summary"]))?;
    }
    say(&format!("done; the binary is {}", tollhouse.display()));
    Ok(())
}
