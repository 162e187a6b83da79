//! The host: engines, compiled code, the registry.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use tollhouse::capability::Policy;
use tollhouse::error::Failure;
use tollhouse::gate::{
    Answer, ApprovalError, ApprovalRequest, Approver, ApproverKeys, Audit, AuditError, AuditFile, AuditKey, Both,
    CheckOptions, Event,
};
use tollhouse::session::{
    self, Around, CallSource, HostOptions, OpenOptions, Overrides, Recording, RecordingFile, SessionId, SessionOptions,
    Sessions, VerifyOptions, Widening,
};
use tollhouse::tool::{DryRun, DryRunHandler, Lock, UnansweredCall, UsedExample};
use tollhouse_registry::untrusted_file;

use crate::convert::{to_payload, to_python};
use crate::driver::{self, Raised, attached};
use crate::errors::{PolicyError, policy_told, raised, told};
use crate::mcp_servers::{McpServers, ServerMounts};
use crate::process::OfProcess;
use crate::receipts;
use crate::session::Session;
use crate::store::{self, Store, host_failed, or_signal, waiting};
use crate::token;
use crate::tool::HostTool;

/// Host of sessions, created once per process: `Host(cache=…, registry=…)`, both directories; `trust_writers` accepts a
/// registry that other users can write.
#[pyclass(frozen, module = "tollhouse._native")]
pub(crate) struct Host {
    host: OfProcess<session::Host>,
}

#[pymethods]
impl Host {
    #[new]
    #[pyo3(signature = (cache=None, registry=None, trust_writers=false))]
    fn new(py: Python<'_>, cache: Option<PathBuf>, registry: Option<PathBuf>, trust_writers: bool) -> PyResult<Self> {
        let around_host_functions = Some(Around::new(driver::within_python));
        let options = HostOptions { cache, registry, trust_writers, around_host_functions, ..HostOptions::default() };
        let host = py.detach(|| session::Host::new(&options)).map_err(|error| raised(&error))?;
        Ok(Self { host: OfProcess::new(host, "host", "make one here") })
    }

    /// Creates a session in memory. `policy` is JSON, or TOML if `toml` is true; it narrows the authority of a token,
    /// if there is one. Its calls are recorded in the file `record`, or answered from the file `replay`. With `dry_run` no
    /// tool is called: its first function answers what no example answers, its second is told of the examples.
    #[pyo3(signature = (policy, *, toml=false, tools=Vec::new(), audit=None, audit_log=None, audit_key=None, approver=None, token=None, authorities=Vec::new(), mcp=None, record=None, replay=None, dry_run=None))]
    #[expect(clippy::too_many_arguments, reason = "Python gives them names")]
    fn session(
        &self,
        py: Python<'_>,
        policy: Option<&str>,
        toml: bool,
        tools: Vec<Py<HostTool>>,
        audit: Option<Py<PyAny>>,
        audit_log: Option<PathBuf>,
        audit_key: Option<PathBuf>,
        approver: Option<Py<PyAny>>,
        token: Option<&str>,
        authorities: Vec<Vec<u8>>,
        mcp: Option<Py<McpServers>>,
        record: Option<PathBuf>,
        replay: Option<PathBuf>,
        dry_run: Option<(Py<PyAny>, Py<PyAny>)>,
    ) -> PyResult<Session> {
        let host = self.host.get()?;
        let shared = Arc::new(Raised::default());
        let (calls, recording) = match dry_run {
            Some(callbacks) => (CallSource::DryRun(Pretended::shared(callbacks, &shared)), None),
            None => recorded_calls(record.as_deref(), replay.as_deref())?,
        };
        let given = policy.map(|policy| parsed(policy, toml)).transpose()?;
        let mut policy = match token.map(|token| token::open(token, &authorities)).transpose()? {
            None => given.unwrap_or_default(),
            Some(allowed) => match given {
                Some(narrower) => allowed.attenuate(narrower).map_err(|error| PolicyError::new_err(told(&error)))?,
                None => allowed,
            },
        };
        let servers = mcp.as_ref().map(|servers| servers.get().mounts()).transpose()?;
        let lock = servers.map(|servers| servers.mount(host, &mut policy)).transpose()?;
        let options = SessionOptions {
            policy,
            lock,
            mcp: servers.map(ServerMounts::calls),
            secrets: servers.map(ServerMounts::secrets).unwrap_or_default(),
            host_tools: mounted(py, &tools, &shared),
            audit: logs(py, audit, audit_log, audit_key, &shared)?,
            approver: approver.map(|ask| Asked::shared(ask, &shared)),
            calls,
            ..SessionOptions::default()
        };
        let session = py.detach(|| host.session(options)).map_err(|error| host_failed(&error))?;
        Ok(Session::in_memory(session, shared, recording))
    }

    /// Opens a session on disk, and creates it if it does not exist. Its policy is then fixed, but for the limits: with
    /// `None`, it is the one that it was created with. `limits`, those of a policy in JSON, are in place of its limits.
    #[pyo3(signature = (store, session_id, policy=None, *, toml=false, limits=None, tools=Vec::new(), audit=None, audit_log=None, audit_key=None, approver=None, approver_keys=None, mcp=None))]
    #[expect(clippy::too_many_arguments, reason = "Python gives them names")]
    fn open(
        &self,
        py: Python<'_>,
        store: &Store,
        session_id: &str,
        policy: Option<&str>,
        toml: bool,
        limits: Option<&str>,
        tools: Vec<Py<HostTool>>,
        audit: Option<Py<PyAny>>,
        audit_log: Option<PathBuf>,
        audit_key: Option<PathBuf>,
        approver: Option<Py<PyAny>>,
        approver_keys: Option<BTreeMap<String, String>>,
        mcp: Option<Py<McpServers>>,
    ) -> PyResult<Session> {
        let (host, sessions) = (self.host.get()?, store.sessions()?);
        let id = store::session_id(session_id)?;
        let shared = Arc::new(Raised::default());
        let servers = mcp.as_ref().map(|servers| servers.get().mounts()).transpose()?;
        let mut policy = policy.map(|policy| parsed(policy, toml)).transpose()?;
        let lock = mount_kept(host, sessions, &id, &mut policy, servers)?;
        let limits = limits.map(|limits| parsed(limits, false)).transpose()?.map(|given| given.limits);
        let options = OpenOptions {
            policy,
            limits: Overrides { base: limits, ..Overrides::default() },
            lock,
            mcp: servers.map(ServerMounts::calls),
            secrets: servers.map(ServerMounts::secrets).unwrap_or_default(),
            host_tools: mounted(py, &tools, &shared),
            audit: logs(py, audit, audit_log, audit_key, &shared)?,
            approver: approver.map(|ask| Asked::shared(ask, &shared)),
            approver_keys: approver_keys.map(|keys| parsed_keys("approver_keys", keys)).transpose()?,
            waiting: Some(waiting()),
            ..OpenOptions::default()
        };
        let session = py.detach(|| host.open(sessions, &id, options));
        let session = session.map_err(|error| or_signal(py, host_failed(&error)))?;
        Ok(Session::on_disk(session, shared))
    }

    /// Adds the grants of a policy (JSON) to a session on disk, and records it: they apply to runs that start later,
    /// and to later openings of the session. `tools` are those that it is opened with.
    #[pyo3(signature = (store, session_id, policy, *, tools=Vec::new()))]
    fn widen(
        &self,
        py: Python<'_>,
        store: &Store,
        session_id: &str,
        policy: &str,
        tools: Vec<Py<HostTool>>,
    ) -> PyResult<()> {
        let (host, sessions) = (self.host.get()?, store.sessions()?);
        let id = store::session_id(session_id)?;
        let host_tools = mounted(py, &tools, &Arc::default());
        let more = Widening { grants: parsed(policy, false)?.grants, host_tools, ..Widening::default() };
        let widened = py.detach(|| host.widen(sessions, &id, more, Some(waiting())));
        widened.map(drop).map_err(|error| or_signal(py, host_failed(&error)))
    }

    /// Writes the receipt of a run (`NAME` or `NAME@RUN`) to a new file, signed with a private key. `tools` are those that
    /// the session is opened with. Returns the verification that was made before, as JSON.
    #[pyo3(signature = (store, point, file, key, *, tools=Vec::new(), approver_keys=None))]
    #[expect(clippy::too_many_arguments, reason = "Python gives them names")]
    fn receipt(
        &self,
        py: Python<'_>,
        store: &Store,
        point: &str,
        file: PathBuf,
        key: &str,
        tools: Vec<Py<HostTool>>,
        approver_keys: Option<BTreeMap<String, String>>,
    ) -> PyResult<String> {
        let (host, sessions) = (self.host.get()?, store.sessions()?);
        receipts::write(py, host, sessions, point, &file, key, &verify_options(py, &tools, approver_keys)?)
    }

    /// Verifies a receipt by one of these signers, and returns what was found, as JSON. `tools` are those that the session
    /// was opened with.
    #[pyo3(signature = (file, signers, *, tools=Vec::new(), approver_keys=None))]
    fn verify_receipt(
        &self,
        py: Python<'_>,
        file: PathBuf,
        signers: BTreeMap<String, String>,
        tools: Vec<Py<HostTool>>,
        approver_keys: Option<BTreeMap<String, String>>,
    ) -> PyResult<String> {
        let signers = Some(parsed_keys("trusted", signers)?.into_values().collect());
        let options = VerifyOptions { signers, ..verify_options(py, &tools, approver_keys)? };
        receipts::verify(py, self.host.get()?, &file, &options)
    }
}

impl Drop for Host {
    /// Leaks the host's memory at the end of the process: freeing it would take a fifth of the life of a short process.
    fn drop(&mut self) {
        if driver::is_ending()
            && let Ok(host) = self.host.get()
        {
            std::mem::forget(host.clone());
        }
    }
}

/// Returns the options of a verification, in which the tools are not called.
fn verify_options(
    py: Python<'_>,
    tools: &[Py<HostTool>],
    approver_keys: Option<BTreeMap<String, String>>,
) -> PyResult<VerifyOptions> {
    let keys = approver_keys.map(|keys| parsed_keys("approver_keys", keys)).transpose()?.unwrap_or_default();
    Ok(VerifyOptions { keys, host_tools: mounted(py, tools, &Arc::default()), ..VerifyOptions::default() })
}

/// Parses public keys, by the names of an argument.
fn parsed_keys(argument: &str, keys: BTreeMap<String, String>) -> PyResult<ApproverKeys> {
    let parsed = |(name, key): (String, String)| match key.parse() {
        Ok(key) => Ok((name, key)),
        Err(error) => Err(PyValueError::new_err(format!("`{argument}`, `{name}`: {error}"))),
    };
    keys.into_iter().map(parsed).collect()
}

/// Opens the files of a recording. Returns the source of a session's calls, and the file that they are recorded in.
fn recorded_calls(record: Option<&Path>, replay: Option<&Path>) -> PyResult<(CallSource, Option<RecordingFile>)> {
    match (record, replay) {
        (Some(_), Some(_)) => Err(PyValueError::new_err("give `record` or `replay`, not both")),
        (Some(path), None) => {
            let file = RecordingFile::open(path).map_err(|error| host_failed(&error))?;
            Ok((file.call_source(), Some(file)))
        }
        (None, Some(path)) => {
            let text = untrusted_file::read_named(path, Recording::MAX_BYTES).map_err(io::Error::from)?;
            let refused = |error| PyValueError::new_err(format!("cannot replay `{}`: {error}", path.display()));
            Ok((CallSource::Replayed(Recording::parse(&text).map_err(refused)?), None))
        }
        (None, None) => Ok((CallSource::Tools, None)),
    }
}

fn parsed(policy: &str, toml: bool) -> PyResult<Policy> {
    // Lines are those of a text that a user wrote, and JSON is written by this package.
    let (parsed, shown) = if toml { (Policy::parse(policy), Some(policy)) } else { (Policy::parse_json(policy), None) };
    parsed.map_err(|error| PolicyError::new_err(policy_told(&error, shown)))
}

/// Adds servers to the policy of a session on disk. Returns the lock of a new one; one that exists has its own, with which
/// the servers are compared, and keeps its tables.
fn mount_kept(
    host: &session::Host,
    sessions: &Sessions,
    id: &SessionId,
    policy: &mut Option<Policy>,
    servers: Option<&ServerMounts>,
) -> PyResult<Option<Lock>> {
    if !sessions.contains(id).map_err(|error| store::failed(&error))? {
        return servers.map(|servers| servers.mount(host, policy.get_or_insert_default())).transpose();
    }
    if let Some(servers) = servers {
        servers.check(&sessions.reader().lock(id).map_err(|error| store::failed(&error))?)?;
    }
    // The tables of a policy say how its servers start, which the caller does.
    if let Some(policy) = policy.as_mut().filter(|policy| policy.mcp.is_empty() || servers.is_some()) {
        policy.mcp = sessions.reader().policy(id).map_err(|error| store::failed(&error))?.mcp;
    }
    Ok(None)
}

fn mounted(py: Python<'_>, tools: &[Py<HostTool>], raised: &Arc<Raised>) -> Vec<tollhouse::tool::HostTool> {
    tools.iter().map(|tool| tool.get().mounted(py, raised)).collect()
}

/// Returns the destinations of a session's audit events: a Python function, a file, both or neither.
fn logs(
    py: Python<'_>,
    listener: Option<Py<PyAny>>,
    file: Option<PathBuf>,
    key: Option<PathBuf>,
    shared: &Arc<Raised>,
) -> PyResult<Option<Arc<dyn Audit>>> {
    let listener = listener.map(|listener| Listener::shared(listener, shared));
    let Some(file) = file else {
        return if key.is_none() { Ok(listener) } else { Err(PyValueError::new_err("a key is for an `audit_log`")) };
    };
    let opened = py.detach(|| match key {
        Some(key) => AuditKey::read(&key).and_then(|key| AuditFile::open_keyed(file, key)),
        None => AuditFile::open(file),
    });
    let file = Arc::new(opened.map_err(|error| raised(&error))?) as Arc<dyn Audit>;
    Ok(Some(match listener {
        Some(listener) => Arc::new(Both(file, listener)),
        None => file,
    }))
}

/// Checks an audit log. Returns its number of lines, its head, the first line with a MAC, the first proven line, how
/// many lines are proven to be complete, and the lines of the expected heads.
#[pyfunction]
#[pyo3(signature = (log, key=None, expect=Vec::new()))]
#[expect(clippy::type_complexity, reason = "Python gives the fields names")]
pub(crate) fn check_audit_log(
    py: Python<'_>,
    log: PathBuf,
    key: Option<PathBuf>,
    expect: Vec<String>,
) -> PyResult<(u64, String, Option<u64>, Option<u64>, Option<u64>, Vec<u64>)> {
    let checked = py.detach(|| {
        let key = key.map(|key| AuditKey::read(&key)).transpose()?;
        AuditFile::check(&log, CheckOptions { key, expect })
    });
    let checked = checked.map_err(|error| raised(&error))?;
    Ok((checked.lines, checked.head, checked.keyed_from, checked.proven_from, checked.proven_lines, checked.expected))
}

/// Audit that passes each event to a Python function, as JSON.
struct Listener {
    listener: Py<PyAny>,
    raised: Arc<Raised>,
}

impl Listener {
    fn shared(listener: Py<PyAny>, raised: &Arc<Raised>) -> Arc<dyn Audit> {
        Arc::new(Self { listener, raised: Arc::clone(raised) })
    }
}

impl Audit for Listener {
    fn write(&self, event: &Event<'_>) -> Result<(), AuditError> {
        let unheard = |source| AuditError::Io { path: "<a Python function>".into(), source };
        let text = serde_json::to_string(event).map_err(|error| unheard(error.into()))?;
        attached(|py| {
            self.listener.bind(py).call1((text,)).map(drop).map_err(|error| {
                let told = error.to_string();
                self.raised.raise(error);
                unheard(std::io::Error::other(told))
            })
        })
    }

    fn sync(&self) -> Result<(), AuditError> {
        Ok(())
    }
}

/// Approver that asks a Python function: `approver(method, arguments, grant) -> bool | None`, with `None` for a decision
/// that is left to later.
struct Asked {
    ask: Py<PyAny>,
    raised: Arc<Raised>,
}

impl Asked {
    fn shared(ask: Py<PyAny>, raised: &Arc<Raised>) -> Arc<dyn Approver> {
        Arc::new(Self { ask, raised: Arc::clone(raised) })
    }
}

impl Approver for Asked {
    fn approve(&self, request: &ApprovalRequest<'_>) -> Result<Answer, ApprovalError> {
        let callers: Vec<&str> = request.callers.iter().map(|caller| caller.method.as_str()).collect();
        let why = json!({
            "reason": request.reason,
            "cost": request.costs,
            "callers": callers,
            "file": request.location.map(|place| &place.file),
            "line": request.location.map(|place| place.line),
        });
        let given =
            json!({ "method": request.method, "arguments": request.arguments, "grant": request.grant, "why": why });
        let question = request.put(&given.to_string())?;
        let allowed = attached(|py| {
            let asked = to_python(py, request.arguments)
                .and_then(|arguments| Ok((request.method, arguments, request.grant, to_python(py, &why)?)))
                .and_then(|asked| self.ask.bind(py).call1(asked))
                // Only `True` is a yes.
                .map(|answer| (!answer.is_none()).then(|| answer.is(pyo3::types::PyBool::new(py, true))));
            asked.unwrap_or_else(|error| {
                self.raised.raise(error);
                Some(false)
            })
        });
        let allowed = allowed.ok_or(ApprovalError::Deferred)?;
        Ok(question.answer(allowed, "approver"))
    }
}

/// Handler of a dry run: a Python function that answers calls, `(method, arguments)`, with None for no answer; and one that
/// takes notes of examples.
struct Pretended {
    answer: Py<PyAny>,
    note: Py<PyAny>,
    raised: Arc<Raised>,
}

impl Pretended {
    fn shared((answer, note): (Py<PyAny>, Py<PyAny>), raised: &Arc<Raised>) -> DryRun {
        DryRun::new(Arc::new(Self { answer, note, raised: Arc::clone(raised) }))
    }
}

impl DryRunHandler for Pretended {
    fn example_used(&self, used: &UsedExample<'_>) {
        attached(|py| {
            if let Err(error) = self.note.bind(py).call1((used.to_string(),)) {
                self.raised.raise(error);
            }
        });
    }

    fn answer(&self, call: &UnansweredCall<'_>) -> Result<Option<Value>, Failure> {
        attached(|py| {
            let answered = to_python(py, call.arguments())
                .and_then(|arguments| self.answer.bind(py).call1((call.method(), arguments)))
                .and_then(|answer| if answer.is_none() { Ok(None) } else { to_payload(&answer).map(Some) });
            match answered {
                Ok(answer) => Ok(answer.map(|payload| payload.value)),
                Err(error) => {
                    // The exception ends the run, whose caller gets it.
                    self.raised.raise(error);
                    Err(Failure::cancelled())
                }
            }
        })
    }
}
