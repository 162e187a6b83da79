//! Locations of data: the XDG directories, and their overrides.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use tollhouse::code::CompileObserver;
use tollhouse::session::{Host, HostOptions, SessionId, Sessions, SessionsError, Waiting};
use tollhouse::store::{Backend, BlobError, StoreError};
use tollhouse::tool::Network;
use tollhouse_mcp::LoginPlace;
use tollhouse_registry::{Registry, untrusted_file};

use super::progress::Progress;
use super::{CliError, LocationOptions, Program, format, session};

/// Length of the longest certificate file, in bytes. A system's has a quarter of a million.
const MAX_CERTIFICATES: u64 = 16 << 20;

/// Kinds of data with an XDG directory of their own.
const OWN: [&str; 2] = ["cache", "state"];

/// Locations of data.
pub(crate) struct Locations {
    /// Registry of component releases.
    pub(crate) registry: PathBuf,
    /// File of the keys that this user trusts. It is not in the registry, which others may write.
    pub(crate) trusted: PathBuf,
    /// Directory of the logins at MCP servers.
    logins: PathBuf,
    /// Store of sessions.
    pub(crate) store: PathBuf,
    /// True if the command line names the store, so that one that is not there is a mistake.
    is_store_named: bool,
    /// True if the command line names the registry.
    pub(crate) is_registry_named: bool,
    /// True if others may write registry and store.
    pub(crate) trust_writers: bool,
    /// Directory for compiled code; `None` without a home directory.
    pub(crate) cache: Option<PathBuf>,
    /// Directory for state such as histories; `None` without a home directory.
    pub(crate) state: Option<PathBuf>,
    /// Command that runs this program again.
    pub(crate) program: Program,
}

impl Locations {
    /// Determines the locations from options and environment. `TOLLHOUSE_HOME` holds everything; without it, the XDG
    /// directories do.
    pub(crate) fn find(options: LocationOptions, program: Program) -> Self {
        let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = set("TOLLHOUSE_HOME");
        let under = |xdg: &str, default: &str, name: &str| {
            let base = set(xdg).filter(|path| path.is_absolute()).or_else(|| Some(env::home_dir()?.join(default)));
            match &home {
                Some(home) => Some(home.join(name)),
                None => base.map(|base| base.join("tollhouse").join(if OWN.contains(&name) { "" } else { name })),
            }
        };
        let data = |name| under("XDG_DATA_HOME", ".local/share", name);
        let here = |name| PathBuf::from(".tollhouse").join(name);
        Self {
            is_store_named: options.store.is_some(),
            is_registry_named: options.registry.is_some(),
            registry: options.registry.or(data("registry")).unwrap_or_else(|| here("registry")),
            trust_writers: options.trust_writers
                || set("TOLLHOUSE_TRUST_WRITERS").is_some_and(|value| value.as_os_str() == "1"),
            trusted: data("trusted-keys").unwrap_or_else(|| here("trusted-keys")),
            logins: data("mcp-logins").unwrap_or_else(|| here("mcp-logins")),
            store: options.store.or(data("store")).unwrap_or_else(|| here("store")),
            cache: under("XDG_CACHE_HOME", ".cache", "cache"),
            state: under("XDG_STATE_HOME", ".local/state", "state"),
            program,
        }
    }

    /// Returns the place of the logins at MCP servers. Their key is with the state of this user, and not beside them.
    pub(crate) fn logins(&self) -> LoginPlace {
        let key = self.state.clone().unwrap_or_else(|| PathBuf::from(".tollhouse/state")).join("mcp-logins.key");
        LoginPlace { directory: self.logins.clone(), key }
    }

    /// Opens the sessions on disk to read or change them. Nothing is created: without a store there are no sessions.
    pub(crate) fn sessions(&self) -> super::Result<Sessions> {
        match self.has_store() {
            false if self.is_store_named => Err(self.no_store()),
            false => Ok(Sessions::in_memory()),
            true => self.new_sessions(),
        }
    }

    /// Opens the sessions on disk for a command that is about the store itself.
    pub(crate) fn existing_sessions(&self) -> super::Result<Sessions> {
        if self.has_store() { self.new_sessions() } else { Err(self.no_store()) }
    }

    /// Returns false if there is no store in its place. What cannot be read may be one.
    pub(crate) fn has_store(&self) -> bool {
        exists(&self.store.join("records"))
    }

    /// Creates the error of a store that is not there.
    pub(crate) fn no_store(&self) -> CliError {
        CliError::usage(format!("there is no store at `{}`", self.store.display())).hint(
            "`--store`, `TOLLHOUSE_HOME` and `XDG_DATA_HOME` say where it is; `tollhouse run --session NAME …` creates one",
        )
    }

    /// Returns false if there is no registry in its place.
    pub(crate) fn has_registry(&self) -> bool {
        exists(&self.registry)
    }

    /// Creates the error of a registry that is not there.
    pub(crate) fn no_registry(&self) -> CliError {
        CliError::usage(format!("there is no registry at `{}`", self.registry.display()))
            .hint("`--registry`, `TOLLHOUSE_HOME` and `XDG_DATA_HOME` say where it is; `tollhouse publish` creates one")
    }

    /// Opens the sessions on disk, and creates the store if there is none.
    pub(crate) fn new_sessions(&self) -> super::Result<Sessions> {
        let opened = Sessions::open_shared(&self.store, Backend::Sled, self.trust_writers);
        if opened.is_ok() {
            session::reserve::keep(&self.store);
        }
        opened.map_err(|error| {
            let told = CliError::because(format!("cannot open the store `{}`", self.store.display()), &error);
            match error {
                SessionsError::Store(StoreError::Shared { .. }) => told.hint(
                    "who can write a store can change what its sessions may do: take that right away (`chmod -R go-w`), \
                     or say that these users are trusted (`--trust-writers`, `TOLLHOUSE_TRUST_WRITERS=1`)",
                ),
                SessionsError::Store(StoreError::Full(_)) | SessionsError::Blob(BlobError::Full { .. }) => {
                    told.hint(session::FREE_SPACE)
                }
                SessionsError::Store(StoreError::Damaged(_)) => told.hint(session::REPAIR),
                _ => told,
            }
        })
    }

    /// Returns the registry, of which nothing was read yet.
    pub(crate) fn registry(&self) -> Registry {
        Registry::unchecked(&self.registry).trusting_writers(self.trust_writers)
    }

    /// Starts the host. A cache that cannot be used is left out, with a warning: only speed is lost.
    pub(crate) fn host(&self) -> super::Result<Host> {
        self.host_with(Some(self.registry.clone()))
    }

    /// Starts a host with this registry, or with none.
    pub(crate) fn host_with(&self, registry: Option<PathBuf>) -> super::Result<Host> {
        let network = network()?;
        let cache = self.cache.clone();
        // The first call of a large tool takes seconds during which nothing would be shown.
        let on_compile = Some(CompileObserver::new(|bytes| {
            Box::new(Progress::new(format!("compiling {} of WebAssembly, once", format::size(bytes))))
        }));
        let mut options = HostOptions {
            cache,
            registry,
            trust_writers: self.trust_writers,
            network,
            on_compile,
            ..HostOptions::default()
        };
        match Host::new(&options) {
            Err(tollhouse::session::HostError::Cache(error)) => {
                note!("warning: {error}; compiled code is not kept");
                options.cache = None;
                Ok(Host::new(&options)?)
            }
            host => Ok(host?),
        }
    }
}

/// Returns false if nothing has this path.
fn exists(path: &Path) -> bool {
    !path.metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// Returns a callback that waits for a session without end, and reports it.
pub(crate) fn waiting(id: &SessionId) -> Waiting {
    let (id, said) = (id.clone(), Once::new());
    let begun = Instant::now();
    Arc::new(move || {
        // A run that is about to end is not worth a message.
        if begun.elapsed() > Duration::from_millis(500) {
            said.call_once(|| note!("waiting for another run of the session `{id}` to end"));
        }
        true
    })
}

/// Returns the network access, which also trusts the certificates that `SSL_CERT_FILE` names, as other programs do.
/// They are read when a tool first needs them: hundreds of certificates take longer than a small script.
pub(crate) fn network() -> super::Result<Network> {
    let pem = find_certificates(untrusted_file::open_named)?;
    Ok(pem.map_or_else(Network::default, |pem| Network::default().with_unread_certificates(pem)))
}

/// Reads the certificates that `SSL_CERT_FILE` names, without parsing them. Returns `None` if it names none.
pub(crate) fn certificates() -> super::Result<Option<Vec<u8>>> {
    find_certificates(|path| untrusted_file::read_named(path, MAX_CERTIFICATES))
}

/// Opens or reads the file that `SSL_CERT_FILE` names.
fn find_certificates<T>(
    open: impl FnOnce(&Path) -> std::result::Result<T, untrusted_file::ReadError>,
) -> super::Result<Option<T>> {
    let Some(path) = env::var_os("SSL_CERT_FILE").filter(|path| !path.is_empty()) else { return Ok(None) };
    let opened = open(path.as_ref()).map_err(|error| {
        let what = format!("cannot read the certificates that SSL_CERT_FILE names, `{}`", path.display());
        CliError::because(what, &std::io::Error::from(error))
    })?;
    Ok(Some(opened))
}
