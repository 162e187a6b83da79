//! Runs the lines of a batch with bashkit as it is, natively, and prints results that compare with ours.

use std::error::Error;
use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bashkit::{Bash, ExecOptions, ExecutionLimits, FileSystem, InMemoryFs, MemoryLimits, SessionLimits};
use serde_json::{Value, json};

const DIRECTORY: &str = "/workspace";
const LONGEST: Duration = Duration::from_secs(20);
/// Deep recursion is to be the library's to stop.
const STACK: usize = 2 << 30;

fn main() {
    let work = std::thread::Builder::new().stack_size(STACK).spawn(|| {
        for line in std::io::stdin().lock().lines() {
            let job: Value = serde_json::from_str(&line.expect("a line")).expect("a job");
            let result = run_alone(&job).unwrap_or_else(|error| json!({"error": error.to_string()}));
            let mut answer = json!({"id": job["id"], "stdout": "", "exit_code": -1});
            answer.as_object_mut().expect("an object").extend(result.as_object().expect("an object").clone());
            writeln!(std::io::stdout(), "{answer}").expect("somebody reads");
        }
    });
    work.expect("a thread").join().expect("it ends");
}

fn run_alone(job: &Value) -> Result<Value, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let longest = if job["rounds"].is_null() { LONGEST } else { LONGEST * 30 };
    runtime.block_on(async { tokio::time::timeout(longest, rounds(job)).await? })
}

/// Answers `rounds`: runs a script this many times, and returns the median duration; each in a shell of its own, or
/// `warm` all in one.
async fn rounds(job: &Value) -> Result<Value, Box<dyn Error>> {
    let mut times = Vec::new();
    let mut answer = Value::Null;
    let mut shell = make(job).await?;
    for round in 0..job["rounds"].as_u64().unwrap_or(1) {
        let begun = Instant::now();
        if round > 0 && job["warm"].as_bool() != Some(true) {
            shell = make(job).await?;
        }
        answer = run(&mut shell, job).await?;
        times.push(begun.elapsed());
    }
    times.sort();
    answer["micros"] = json!(times.get(times.len() / 2).map(Duration::as_micros));
    Ok(answer)
}

/// A shell with the files of a job.
async fn make(job: &Value) -> Result<Bash, Box<dyn Error>> {
    let files = Arc::new(InMemoryFs::new());
    files.mkdir(Path::new(DIRECTORY), true).await?;
    files.mkdir(Path::new("/tmp"), true).await?;
    for (path, contents) in job["files"].as_object().into_iter().flatten() {
        let path = Path::new(DIRECTORY).join(path);
        files.mkdir(path.parent().ok_or("no parent")?, true).await?;
        let bytes = match contents["base64"].as_str() {
            Some(base64) => BASE64.decode(base64)?,
            None => contents.as_str().unwrap_or_default().as_bytes().to_vec(),
        };
        files.write_file(&path, &bytes).await?;
    }
    for (path, mode) in job["modes"].as_object().into_iter().flatten() {
        let mode = u32::from_str_radix(mode.as_str().unwrap_or_default(), 8)?;
        files.chmod(&Path::new(DIRECTORY).join(path), mode).await?;
    }
    let mut bash = Bash::builder()
        .fs(files)
        .cwd(DIRECTORY)
        .limits(ExecutionLimits::new().timeout(LONGEST).max_commands(usize::MAX).max_work_units(u64::MAX))
        .session_limits(SessionLimits::unlimited())
        .memory_limits(MemoryLimits::unlimited())
        .build();
    bash.set_env("HOME", DIRECTORY);
    for (name, value) in job["env"].as_object().into_iter().flatten() {
        bash.set_env(name, value.as_str().unwrap_or_default());
    }
    Ok(bash)
}

async fn run(bash: &mut Bash, job: &Value) -> Result<Value, Box<dyn Error>> {
    let mut options = ExecOptions::new().arg0("bash");
    if let Some(stdin) = job["stdin"].as_str() {
        options = options.stdin(stdin.as_bytes().to_vec());
    }
    let result = bash.exec_with_options(job["script"].as_str().unwrap_or_default(), options).await;
    Ok(match result {
        Ok(result) => json!({"stdout": result.stdout.to_string(), "exit_code": result.exit_code.rem_euclid(256)}),
        Err(error) => {
            let status = if matches!(error, bashkit::Error::Parse { .. }) { 2 } else { 1 };
            json!({"exit_code": status, "error": error.to_string()})
        }
    })
}
