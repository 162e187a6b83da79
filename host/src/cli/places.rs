//! Where things are: the XDG directories, and what overrides them.

use std::env;
use std::path::PathBuf;

use tollhouse::session::{Host, HostOptions};
use tollhouse::tool::Network;

use super::CliError;

/// Where things are.
pub(crate) struct Places {
    /// Releases of components.
    pub(crate) registry: PathBuf,
    /// Compiled code; none if there is no home to keep it in.
    pub(crate) cache: Option<PathBuf>,
}

impl Places {
    /// Looks at the environment. `TOLLHOUSE_HOME` holds everything; else the XDG directories do.
    pub(crate) fn find(registry: Option<PathBuf>) -> Self {
        let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = set("TOLLHOUSE_HOME");
        let under = |xdg: &str, default: &str, name: &str| {
            let base = set(xdg).filter(|path| path.is_absolute()).or_else(|| Some(env::home_dir()?.join(default)));
            match &home {
                Some(home) => Some(home.join(name)),
                None => base.map(|base| base.join("tollhouse").join(if name == "cache" { "" } else { name })),
            }
        };
        let data = under("XDG_DATA_HOME", ".local/share", "registry");
        Self {
            registry: registry.or(data).unwrap_or_else(|| PathBuf::from(".tollhouse/registry")),
            cache: under("XDG_CACHE_HOME", ".cache", "cache"),
        }
    }

    /// Starts the host. A cache that cannot be used is left out, with a warning: only speed is lost.
    pub(crate) fn host(&self) -> super::Result<Host> {
        let network = network()?;
        let mut options = HostOptions { cache: self.cache.clone(), registry: Some(self.registry.clone()), network };
        match Host::new(&options) {
            Err(tollhouse::session::HostError::Cache(error)) => {
                eprintln!("warning: {error}; compiled code is not kept");
                options.cache = None;
                Ok(Host::new(&options)?)
            }
            host => Ok(host?),
        }
    }
}

/// The way to the network, which also trusts what `SSL_CERT_FILE` names, as other programs do.
fn network() -> super::Result<Network> {
    let Some(path) = env::var_os("SSL_CERT_FILE").filter(|path| !path.is_empty()) else {
        return Ok(Network::default());
    };
    let cannot = |error: &dyn std::error::Error| {
        CliError::because(format!("cannot read the certificates that SSL_CERT_FILE names, `{}`", path.display()), error)
    };
    let pem = std::fs::read(&path).map_err(|error| cannot(&error))?;
    Network::default().with_certificates(&pem).map_err(|error| cannot(&error))
}
