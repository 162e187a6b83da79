//! Worker of the reference, which runs inside of the sandbox: reads jobs of `tollhouse batch`, and writes results of
//! the same form.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, Read, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, setrlimit};
use serde_json::{Value, json};

/// Working directory of a script.
const WORKSPACE: &str = "/workspace";
/// Search path of a script, with the same directories as Tollhouse's.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Time limit of one case.
const LONGEST: Duration = Duration::from_secs(6);
/// Largest output that is kept, in bytes. A case that writes more is killed.
const OUTPUT: u64 = 1 << 20;
/// Limits of each process: seconds of CPU time, bytes of address space, bytes of one file, processes, descriptors.
/// Node.js reserves far more address space than it uses.
const LIMITS: [(Resource, u64); 5] = [
    (Resource::Cpu, 20),
    (Resource::As, 16 << 30),
    (Resource::Fsize, 16 << 20),
    (Resource::Nproc, 256),
    (Resource::Nofile, 256),
];
/// File that a JavaScript case is written to.
const MODULE: &str = "/tmp/script.mjs";

/// Runs jobs until standard input ends.
pub(crate) fn work() -> Result<()> {
    for (resource, limit) in LIMITS {
        setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) })?;
    }
    for line in std::io::stdin().lock().lines() {
        let job: Value = serde_json::from_str(&line?)?;
        let mut result = perform(&job).unwrap_or_else(|error| json!({"refused": format!("{error:#}")}));
        result["id"] = job["id"].clone();
        let mut output = std::io::stdout().lock();
        writeln!(output, "{result}")?;
        output.flush()?;
    }
    Ok(())
}

fn perform(job: &Value) -> Result<Value> {
    for place in [WORKSPACE, "/tmp"] {
        clear(Path::new(place))?;
    }
    place_files(job)?;
    let mut child = start(job)?;
    let mut input = child.stdin.take().context("no pipe to the script")?;
    // A separate thread writes the input. It ends once the input fits into the pipe, or never if the script does not
    // read it; nothing waits for the thread.
    let stdin = job["stdin"].as_str().unwrap_or_default().as_bytes().to_vec();
    std::thread::spawn(move || input.write_all(&stdin));
    let stdout = drain(child.stdout.take().context("no pipe from the script")?);
    let stderr = drain(child.stderr.take().context("no pipe from the script")?);
    let deadline = Instant::now() + LONGEST;
    // Background jobs may hold the pipes open. A pipeline would wait for them, and so does the worker.
    let rest = || deadline.saturating_duration_since(Instant::now());
    let out = stdout.recv_timeout(rest());
    let err = stderr.recv_timeout(rest());
    let late = out.is_err() || err.is_err();
    if late {
        kill_all()?;
    }
    let status = child.wait()?;
    kill_all()?;
    let (out, err) = (out.unwrap_or_default(), err.unwrap_or_default());
    let cut = [&out, &err].iter().any(|bytes| bytes.len() as u64 == OUTPUT);
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let mut result = json!({
        "stdout": text(out), "stderr": text(err), "exit_code": exit_code(status), "late": late, "cut": cut,
    });
    list_files(&mut result)?;
    Ok(result)
}

/// Returns the exit status as a shell reports it.
fn exit_code(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

fn start(job: &Value) -> Result<Child> {
    let script = job["script"].as_str().unwrap_or_default();
    let mut command = if job["lang"] == "js" {
        fs::write(MODULE, script)?;
        let mut node = Command::new("/usr/bin/node");
        node.arg(MODULE);
        node
    } else {
        // Signals that the caller ignores (because of `nohup`, for example) would be inherited as ignored.
        let mut bash = Command::new("/usr/bin/env");
        bash.args(["--default-signal", "/usr/bin/bash", "-c", script, "bash"]);
        bash
    };
    command.env_clear().env("PATH", PATH).env("HOME", WORKSPACE).current_dir(WORKSPACE);
    for (name, value) in job["env"].as_object().into_iter().flatten() {
        command.env(name, value.as_str().unwrap_or_default());
    }
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().context("cannot start the reference")
}

/// Reads a stream to its end on a thread of its own.
fn drain(stream: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if stream.take(OUTPUT).read_to_end(&mut bytes).is_ok() {
            // The receiver is gone if the worker has stopped waiting.
            sender.send(bytes).ok();
        }
    });
    receiver
}

/// Kills all processes of the sandbox except for its first one and this one.
fn kill_all() -> Result<()> {
    let own = std::process::id().to_string();
    for _ in 0..100 {
        let mut found = false;
        for entry in fs::read_dir("/proc")? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let pid = name.parse().ok().and_then(Pid::from_raw);
            let Some(pid) = pid.filter(|_| name != own && name != "1") else { continue };
            let state = fs::read_to_string(format!("/proc/{name}/stat")).unwrap_or_default();
            // A zombie child of this process is reaped elsewhere.
            if state.rsplit(')').next().is_some_and(|rest| !rest.trim_start().starts_with('Z')) && !state.is_empty() {
                found = true;
                kill_process(pid, Signal::KILL).ok();
            }
        }
        if !found {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    anyhow::bail!("processes of the last case cannot be killed")
}

fn place_files(job: &Value) -> Result<()> {
    fs::set_permissions(WORKSPACE, fs::Permissions::from_mode(0o755))?;
    for (path, text) in job["files"].as_object().into_iter().flatten() {
        let path = Path::new(WORKSPACE).join(path);
        fs::create_dir_all(path.parent().context("a file without a directory")?)?;
        fs::write(&path, text.as_str().unwrap_or_default())?;
    }
    for (path, mode) in job["modes"].as_object().into_iter().flatten() {
        let mode = u32::from_str_radix(mode.as_str().unwrap_or_default(), 8)?;
        fs::set_permissions(Path::new(WORKSPACE).join(path), fs::Permissions::from_mode(mode))?;
    }
    for (path, target) in job["links"].as_object().into_iter().flatten() {
        symlink(target.as_str().unwrap_or_default(), Path::new(WORKSPACE).join(path))?;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    set_times(Path::new(WORKSPACE), now)
}

/// Sets one modification time on everything, as `tollhouse batch` does, so that no file is newer than another.
fn set_times(path: &Path, time: Duration) -> Result<()> {
    if fs::symlink_metadata(path)?.is_dir() {
        for entry in fs::read_dir(path)? {
            set_times(&entry?.path(), time)?;
        }
    }
    let time = rustix::fs::Timespec { tv_sec: time.as_secs().try_into()?, tv_nsec: time.subsec_nanos().into() };
    let times = rustix::fs::Timestamps { last_access: time, last_modification: time };
    Ok(rustix::fs::utimensat(rustix::fs::CWD, path, &times, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Empties a directory, including directories without permissions.
fn clear(directory: &Path) -> Result<()> {
    fs::set_permissions(directory, fs::Permissions::from_mode(0o755))?;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            clear(&entry.path())?;
            fs::remove_dir(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Returns the contents of a file as text, or as base64 if they are not UTF-8.
fn contents(bytes: Vec<u8>) -> Value {
    String::from_utf8(bytes).map_or_else(|error| json!({"base64": BASE64.encode(error.as_bytes())}), Value::from)
}

/// Adds the files that the script left, in the form of `tollhouse batch --files`.
fn list_files(result: &mut Value) -> Result<()> {
    let (mut files, mut modes, mut links) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut open = vec![PathBuf::from(WORKSPACE)];
    while let Some(directory) = open.pop() {
        let mode = fs::metadata(&directory)?.permissions().mode() & 0o7777;
        let name = |path: &Path| path.strip_prefix(WORKSPACE).unwrap_or(path).to_string_lossy().into_owned();
        modes.insert(format!("{}/", name(&directory)), format!("{mode:o}"));
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o755))?;
        for entry in fs::read_dir(&directory)? {
            let (path, kind) = entry.map(|entry| (entry.path(), entry.file_type()))?;
            let kind = kind?;
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_symlink() {
                links.insert(name(&path), fs::read_link(&path)?.to_string_lossy().into_owned());
            } else if kind.is_file() {
                let mode = fs::metadata(&path)?.permissions().mode() & 0o7777;
                modes.insert(name(&path), format!("{mode:o}"));
                fs::set_permissions(&path, fs::Permissions::from_mode(0o644))?;
                files.insert(name(&path), contents(fs::read(&path)?));
            }
        }
    }
    modes.remove("/");
    result["files"] = json!(files);
    result["modes"] = json!(modes);
    result["links"] = json!(links);
    Ok(())
}
