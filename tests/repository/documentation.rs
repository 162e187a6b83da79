//! The commands of the README and of the guides do what they say: every `sh` block runs, as it stands, and every policy
//! that they show is one.

use std::path::Path;
use std::process::Command;

use tollhouse::capability::Policy;
use tollhouse::guest::Language;
use tollhouse::session::{Host, HostOptions};
use tollhouse_registry::Manifest;
use tollhouse_tests::oci::OciRegistry;
use tollhouse_tests::{Home, binary, built, components, mcp_server, root, tutorial};

/// Stands for cargo, so that a test does not build: what the commands build was built before the tests. Everything but
/// building goes to cargo itself, since `publish` asks it where a package's component is.
const CARGO: &str = r#"#!/bin/sh
case "$1 $2" in
    "xtask demo" | "xtask test" | "xtask build" | "xtask bench" | "xtask release") exit 0 ;;
    "build --profile" | "build --release" | "component build" | "install --path") exit 0 ;;
esac
PATH="$REAL_PATH" exec cargo "$@"
"#;

/// The blocks of one language in a text, in order.
fn blocks<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let fence = format!("```{language}\n");
    let after = text.split(fence.as_str()).skip(1);
    after.map(|rest| rest.split("```").next().unwrap_or_default()).collect()
}

/// Runs the `sh` blocks of a file, one after another, in a home with the tools: in the workspace, or in the package
/// directory that the text has described when a block builds one. `files` is what the text takes for granted.
fn runs(file: &str, package: &str, files: &[(&str, &[u8])]) {
    runs_with(&["csv", "http", "kv", "markdown", "stats", "text"], file, package, files);
}

fn runs_with(tools: &[&str], file: &str, package: &str, files: &[(&str, &[u8])]) {
    // The shared registry of the texts that push to one.
    let registry = OciRegistry::default();
    let home = Home::with_tools(tools);
    let place = home.path().join("place");
    std::fs::create_dir(&place).expect("a directory");
    // Where cargo builds may be elsewhere.
    let target = built().parent().expect("it lies in the target directory").to_owned();
    for entry in std::fs::read_dir(root()).expect("the workspace is there") {
        let path = entry.expect("it can be read").path();
        if !path.ends_with("target") {
            std::os::unix::fs::symlink(&path, place.join(path.file_name().expect("it has a name"))).expect("a link");
        }
    }
    std::os::unix::fs::symlink(target, place.join("target")).expect("a link");
    for (name, content) in files {
        let path = place.join(name);
        std::fs::create_dir_all(path.parent().expect("it is below")).expect("a directory");
        std::fs::write(path, content).expect("a file");
    }
    let programs = home.path().join("bin");
    std::fs::create_dir(&programs).expect("a directory");
    std::os::unix::fs::symlink(binary(), programs.join("tollhouse")).expect("a link");
    executable(&programs.join("cargo"), CARGO);
    let path = std::env::var("PATH").expect("there is a PATH");
    let text = std::fs::read_to_string(root().join(file)).expect("the guide is there");
    let text = text.split_once(tutorial::END).map_or(text.as_str(), |(_, rest)| rest);
    let blocks = blocks(text, "sh");
    assert!(!blocks.is_empty(), "{file} shows no commands");
    for block in blocks {
        let directory = if block.starts_with("cargo build --release") { package } else { "." };
        let mut bash = Command::new("bash");
        bash.args(["-euo", "pipefail", "-c", block]).current_dir(place.join(directory));
        bash.env("PATH", format!("{}:{path}", programs.display())).env("REAL_PATH", &path);
        bash.env("REGISTRY", registry.host()).envs(home.environment()).stdin(std::process::Stdio::null());
        let output = bash.output().expect("bash runs");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{file}:\n{block}\nended with {}:\n{told}", output.status);
    }
}

fn executable(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, text).expect("a file");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
}

#[test]
fn readme_commands_run_as_shown() {
    runs("README.md", ".", &[]);
}

/// Each with the policy that it shows.
#[test]
fn tool_readme_commands_run_as_shown() {
    for tool in ["archive", "chart", "html", "image", "payments", "sql"] {
        let file = format!("tools/{tool}/README.md");
        let text = std::fs::read_to_string(root().join(&file)).expect("the tool has one");
        let policy = blocks(&text, "toml").first().copied().unwrap_or_default();
        runs_with(&[tool], &file, ".", &[("policy.toml", policy.as_bytes())]);
    }
}

#[test]
fn operator_guide_commands_run_as_shown() {
    let report =
        b"return (await stats.describe({values: (await fs.readFile('data/n.csv')).split(',').map(Number)})).mean";
    let policy = b"[tools]\nstats = 'tollhouse:stats'\n[[grant]]\nmethod = 'stats/*'\n";
    runs("docs/running.md", ".", &[("report.js", report), ("policy.toml", policy), ("data/n.csv", b"1,2,3")]);
}

/// The archive has another binary than a release, and the same layout. What `console` blocks show needs files of a real
/// release, root, a container engine or npm: `cargo xtask release` tries those files.
#[test]
fn installing_guide_commands_run_as_shown() {
    let home = Home::default();
    let program = format!("#!/bin/sh\nexec '{}' \"$@\"\n", binary().display());
    let directory = home.path().join("tollhouse-0.1.0-x86_64-linux/bin");
    std::fs::create_dir_all(&directory).expect("a directory");
    executable(&directory.join("tollhouse"), &program);
    let archive = "tollhouse-0.1.0-x86_64-linux.tar.gz";
    let pack = format!("tar -czf {archive} tollhouse-0.1.0-x86_64-linux && sha256sum {archive} > SHA256SUMS");
    let packed = Command::new("sh").args(["-c", &pack]).current_dir(home.path()).status().expect("there is a shell");
    assert!(packed.success());
    let files =
        [archive, "SHA256SUMS"].map(|name| (name, std::fs::read(home.path().join(name)).expect("it is packed")));
    runs("docs/installing.md", ".", &files.each_ref().map(|(name, content)| (*name, content.as_slice())));
}

#[test]
fn javascript_guide_commands_run_as_shown() {
    runs("docs/javascript.md", ".", &[]);
}

#[test]
fn policy_guide_commands_run_as_shown() {
    let report =
        b"return (await stats.describe({values: (await fs.readFile('data/n.csv')).split(',').map(Number)})).mean";
    let policy = b"[tools]\nstats = 'tollhouse:stats'\n[[grant]]\nmethod = 'stats/*'\n";
    let narrower = b"[[grant]]\nmethod = 'stats/describe'\ncalls = 2\n";
    let files: [(&str, &[u8]); 4] =
        [("report.js", report), ("policy.toml", policy), ("narrower.toml", narrower), ("data/n.csv", b"1,2,3")];
    runs("docs/policies.md", ".", &files);
}

#[test]
fn permission_guide_commands_run_as_shown() {
    let policy = b"[[grant]]\nmethod = 'kv/*'\n[tool.kv]\nkeyvalue = ['default']\n";
    runs("docs/permissions.md", ".", &[("kv.toml", policy)]);
}

#[test]
fn durable_run_guide_commands_run_as_shown() {
    let text = std::fs::read_to_string(root().join("docs/durable-runs.md")).expect("the guide is there");
    let policy = blocks(&text, "toml")[0].as_bytes().to_owned();
    runs("docs/durable-runs.md", ".", &[("policy.toml", &policy)]);
}

#[test]
fn mcp_guide_commands_run_as_shown() {
    runs("docs/mcp.md", ".", &[]);
}

/// The server of the text is another one here: a policy has its absolute paths.
#[test]
fn mcp_server_guide_commands_run_as_shown() {
    let text = std::fs::read_to_string(root().join("docs/mcp-servers.md")).expect("the guide is there");
    Policy::parse(blocks(&text, "toml")[0]).expect("it is a policy");
    let policy = mcp_server::policy_of("git", "normal", "");
    runs("docs/mcp-servers.md", ".", &[("agent.toml", policy.as_bytes())]);
}

#[test]
fn session_guide_commands_run_as_shown() {
    runs("docs/sessions.md", ".", &[]);
}

#[test]
fn repl_guide_commands_run_as_shown() {
    runs("docs/repl.md", ".", &[]);
}

/// The conversation that the guide shows, typed again. Lines that only differ in what stands for `…` are one.
#[test]
fn repl_guide_conversation_goes_as_shown() {
    let text = std::fs::read_to_string(root().join("docs/repl.md")).expect("the guide is there");
    let shown = blocks(&text, "console").into_iter().next().expect("it shows one");
    let policy = blocks(&text, "toml").into_iter().next().expect("it shows a policy");
    let host = Host::new(&HostOptions::default()).expect("the host starts");
    let (mut inputs, mut answers) = (Vec::new(), Vec::new());
    let mut lines = shown.lines().skip(1);
    while let Some(line) = lines.next() {
        let typed = line.split_once("> ").filter(|(prompt, _)| ["js", "sh /workspace"].contains(prompt));
        let Some((prompt, first)) = typed else {
            answers.push(line);
            continue;
        };
        let language = if prompt == "js" { Language::JavaScript } else { Language::Shell };
        let mut input = first.to_owned();
        while !input.starts_with('.') && host.is_open(language, &input, "repl").expect("the guest is there") {
            input = format!("{input}\n{}", lines.next().expect("it goes on"));
        }
        inputs.push(input);
    }
    let home = Home::with_tools(&["stats"]);
    home.file("policy.toml", policy);
    home.file("inputs", inputs.join("\n") + "\n");
    let mut bash = Command::new("bash");
    bash.args(["-c", "\"$0\" repl --policy policy.toml < inputs 2>&1"]).arg(binary());
    let ran = bash.current_dir(home.path()).envs(home.environment()).output().expect("bash runs");
    let said = String::from_utf8(ran.stdout).expect("it is text");
    let same = |(shown, said): (&&str, &str)| match shown.split_once('…') {
        Some((before, after)) => said.starts_with(before) && said.ends_with(after),
        None => **shown == *said,
    };
    let all = answers.len() == said.lines().count() && answers.iter().zip(said.lines()).all(same);
    assert!(all, "the guide shows\n{}\nand the repl says\n{said}", answers.join("\n"));
}

#[test]
fn publisher_guide_commands_run_as_shown() {
    runs("docs/publishing.md", "tools/stats", &[("echo.wasm", &components::echo("", "string"))]);
}

#[test]
fn operating_tutorial_commands_run_as_shown() {
    runs_with(&[], "docs/tutorials/operating.md", ".", &[]);
}

#[test]
fn moving_run_tutorial_commands_run_as_shown() {
    runs_with(&[], "docs/tutorials/moving-a-run.md", ".", &[]);
}

#[test]
fn registry_guide_commands_run_as_shown() {
    runs("docs/registry.md", ".", &[("echo.wasm", &components::echo("", "string"))]);
}

#[test]
fn program_guide_commands_run_as_shown() {
    let program = std::fs::read(built().join("../wasm32-wasip1/guest/tollhouse_fixture_program.wasm"));
    runs("docs/programs.md", ".", &[("upper.wasm", &program.expect("it is built: run `cargo xtask build`"))]);
}

#[test]
fn documented_policies_and_manifests_parse() {
    let mut policies = 0;
    let mut manifests = 0;
    for file in [
        "README.md",
        "docs/composition.md",
        "docs/permissions.md",
        "docs/policies.md",
        "docs/programs.md",
        "docs/publishing.md",
        "docs/registry.md",
        "docs/repl.md",
    ] {
        let text = std::fs::read_to_string(root().join(file)).expect("the guide is there");
        for block in blocks(&text, "toml") {
            if block.contains("version") && block.contains("name = ") {
                Manifest::parse(block).unwrap_or_else(|error| panic!("{file}:\n{block}\n{error}"));
                manifests += 1;
            } else {
                Policy::parse(block).unwrap_or_else(|error| panic!("{file}:\n{block}\n{error}"));
                policies += 1;
            }
        }
    }
    assert!(policies > 1 && manifests > 0, "{policies} policies, {manifests} manifests");
}

/// Each decision has a number of its own and the four headings, and the index lists all of them.
#[test]
fn decision_index_lists_each_record() {
    let directory = root().join("docs/decisions");
    let index = std::fs::read_to_string(directory.join("README.md")).expect("the index is there");
    let mut records: Vec<String> = std::fs::read_dir(&directory)
        .expect("the records are there")
        .map(|entry| entry.expect("it can be read").file_name().into_string().expect("its name is text"))
        .filter(|name| name != "README.md")
        .collect();
    records.sort();
    for (at, record) in records.iter().enumerate() {
        let number = format!("{:04}", at + 1);
        assert!(record.starts_with(&format!("{number}-")), "{record} is not number {number}");
        let text = std::fs::read_to_string(directory.join(record)).expect("the record is there");
        let title = text.lines().next().and_then(|line| line.strip_prefix(&format!("# {number}. ")));
        let title = title.unwrap_or_else(|| panic!("{record} does not begin with its number and title"));
        assert!(index.contains(&format!("[{number}]({record}): {title}\n")), "the index does not list {record}");
        let headings: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(headings, ["Context", "Alternatives", "Decision", "Consequences"], "{record}");
    }
    assert_eq!(index.matches("\n- [").count(), records.len(), "the index lists what is not there, or one record twice");
    assert!(records.len() >= 40, "{} records", records.len());
}

/// Every proof that the page on security names is a test, or a group of the hostile corpus.
#[test]
fn security_page_proofs_name_existing_tests() {
    let mut tests = String::new();
    for directory in ["host", "registry", "tests", "guest-shell/src", "guest-js/src"] {
        sources(&root().join(directory), &mut tests);
    }
    let page = std::fs::read_to_string(root().join("docs/security.md")).expect("the page is there");
    let (mut threats, mut proofs) = (0, 0);
    for threat in page.split("\n**T").skip(1) {
        threats += 1;
        assert!(threat.starts_with(&format!("{threats}. ")), "T{threats} is not where it belongs");
        let own = threat.split("\n## ").next().unwrap_or_default();
        assert!(own.contains("\nProof: "), "T{threats} has no proof");
    }
    // The second wall has some, too.
    for proof in page.split("\nProof: ").skip(1) {
        let proof = proof.split("\n\n").next().unwrap_or_default();
        for name in proof.split('`').skip(1).step_by(2).filter(|name| !name.contains('/')) {
            let declared =
                [format!("#[test]\nfn {name}("), format!("#[tokio::test]\nasync fn {name}("), format!("\n{name}: \"")];
            let known = declared.iter().any(|declared| tests.contains(declared));
            assert!(known, "`{name}` is no test");
            proofs += 1;
        }
    }
    assert!(threats >= 20 && proofs >= 60, "{threats} threats, {proofs} proofs");
}

/// The text of all Rust files below a directory, without indentation, and without what says that not every machine can
/// run a test.
fn sources(directory: &Path, into: &mut String) {
    for entry in std::fs::read_dir(directory).expect("it is there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).expect("it is text");
            for line in text.lines().map(str::trim_start).filter(|line| !line.starts_with("#[ignore")) {
                into.push_str(line);
                into.push('\n');
            }
        }
    }
}

#[test]
fn first_policy_of_the_guide_loads_and_asks_before_it_allows() {
    let home = Home::with_tools(&["stats", "http"]);
    let text = std::fs::read_to_string(root().join("docs/policies.md")).expect("the guide is there");
    home.file("policy.toml", blocks(&text, "toml")[0]);
    let checked = home.run(["policy", "check", "--policy", "policy.toml"]);
    assert_eq!(checked.status, 0, "{checked:?}");
    assert!(!checked.stderr.contains("asks a human"), "{checked:?}");
}
