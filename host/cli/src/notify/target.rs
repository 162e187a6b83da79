//! Whom a notification goes to: a program of this machine, or an address.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use tollhouse::capability::ServerUrl;

use super::super::http_client::{ClientLimits, agent};
use super::super::{CliError, Result};

/// Longest time for telling one of them.
pub(super) const LIMIT: Duration = Duration::from_secs(10);

/// Interval at which the end of a program is checked.
const PAUSE: Duration = Duration::from_millis(10);

/// Receiver of notifications.
pub(super) enum NotifyTarget {
    /// Program with its arguments.
    Program(Vec<String>),
    /// Address of a webhook.
    Webhook(ServerUrl),
}

impl NotifyTarget {
    /// Parses a target as the operator wrote it.
    pub(super) fn parse(text: &str) -> Result<Self> {
        if let Some(command) = text.strip_prefix("cmd:") {
            return match shlex::split(command) {
                Some(words) if !words.is_empty() => Ok(Self::Program(words)),
                Some(_) => Err(CliError::usage("`--notify cmd:` does not name a program")),
                None => Err(CliError::usage("`--notify cmd:…`: a quote has no end")),
            };
        }
        if !text.starts_with("https://") && !text.starts_with("http://") {
            return Err(CliError::usage("`--notify` names neither a program nor an address")
                .hint("write `cmd:PROGRAM ARGS` or `https://…`"));
        }
        // The error would contain the address, which may be secret.
        let url = ServerUrl::parse(text).map_err(|_| {
            CliError::usage("`--notify`: the address cannot be used").hint(
                "it begins with `https://` (`http://` for this machine), and has neither a user name nor a fragment",
            )
        })?;
        Ok(Self::Webhook(url))
    }

    /// Returns the name of the target for logs: without arguments, and without the path of an address, which may be secret.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Program(words) => format!("cmd:{}", words[0]),
            Self::Webhook(url) => url.origin(),
        }
    }

    /// Passes a notification on, within the time limit. The error says why that failed, and has no secret in it.
    pub(super) fn tell(&self, notification: &str) -> std::result::Result<(), String> {
        match self {
            Self::Program(words) => run(words, notification),
            Self::Webhook(url) => post(url, notification),
        }
    }
}

/// Runs a program with the notification as its input.
fn run(words: &[String], notification: &str) -> std::result::Result<(), String> {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().map_err(|error| format!("it cannot be started: {error}"))?;
    if let Some(mut input) = child.stdin.take() {
        let line = format!("{notification}\n");
        // A program that does not read blocks this thread alone.
        thread::spawn(move || drop(input.write_all(line.as_bytes())));
    }
    let until = Instant::now() + LIMIT;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("it failed ({status})")),
            Ok(None) if Instant::now() < until => thread::sleep(PAUSE),
            Ok(None) => {
                if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                    let _ = kill_process_group(group, Signal::KILL);
                }
                let _ = child.wait();
                return Err(format!("it had not ended after {} seconds, and was killed", LIMIT.as_secs()));
            }
            Err(error) => return Err(format!("it cannot be waited for: {error}")),
        }
    }
}

/// Sends the notification to a webhook. Redirects are not followed: they lead to somebody whom the operator did not name.
fn post(url: &ServerUrl, notification: &str) -> std::result::Result<(), String> {
    let limits = ClientLimits { answer: LIMIT, body: LIMIT, whole: Some(LIMIT), redirects: 0 };
    let agent = agent(&limits).map_err(|error| error.to_string())?;
    let sent = agent.post(url.as_str()).header("content-type", "application/json").send(notification);
    match sent {
        Ok(answer) if answer.status().is_success() => Ok(()),
        Ok(answer) => Err(format!("it answered with status {}", answer.status().as_u16())),
        Err(ureq::Error::StatusCode(status)) => Err(format!("it answered with status {status}")),
        Err(ureq::Error::Timeout(_)) => Err(format!("it did not answer within {} seconds", LIMIT.as_secs())),
        Err(ureq::Error::HostNotFound) => Err("its host is not found".to_owned()),
        Err(ureq::Error::Io(error)) => Err(format!("no connection: {}", error.kind())),
        // Other errors may contain the address.
        Err(_) => Err("the request could not be made".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notify_target_is_a_program_or_an_address() {
        let name = |text: &str| NotifyTarget::parse(text).map(|target| target.name());
        assert_eq!(name("cmd:/bin/mail -s 'a b' ops").expect("a program"), "cmd:/bin/mail");
        assert_eq!(name("https://hooks.example/services/T0/s3cret").expect("an address"), "https://hooks.example:443");
        assert_eq!(name("http://[::1]:8080/x").expect("an address"), "http://[::1]:8080");
        for wrong in
            ["", "cmd:", "cmd:'a", "mail ops", "ftp://a.example", "http://a.example/x", "https://u:s3cret@a.example/"]
        {
            let refused = NotifyTarget::parse(wrong).err().map(|error| error.to_string());
            assert!(refused.as_ref().is_some_and(|refused| !refused.contains("s3cret")), "{wrong}: {refused:?}");
        }
    }

    #[test]
    fn program_that_fails_or_is_absent_is_an_error_in_words() {
        let told = |command: &str| NotifyTarget::parse(command).expect("a program").tell("{}");
        assert_eq!(told("cmd:true"), Ok(()));
        assert!(told("cmd:false").expect_err("it fails").contains("exit status: 1"));
        assert!(told("cmd:/nowhere/at/all").expect_err("it is absent").contains("cannot be started"));
    }
}
