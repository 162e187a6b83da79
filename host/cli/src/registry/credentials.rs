//! Who asks a registry: what `docker login` left, and where certificates and proxies are named.

use std::env;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

use docker_credential::{CredentialRetrievalError, DockerCredential, get_credential_from_reader};
use tollhouse_registry::oci::{Credentials, Remote, Watch};
use tollhouse_registry::untrusted_file::{self, ReadError};

use super::super::{Result, places};

/// Longest `config.json` of Docker in bytes.
const MAX_CONFIG: u64 = 4 << 20;

/// How registries are reached from the command line.
pub(super) fn remote(plain_http: bool, watch: Watch<'_>) -> Result<Remote<'_>> {
    let mut remote = Remote::new(&find);
    (remote.plain_http, remote.proxy, remote.watch) = (plain_http, true, watch);
    remote.certificates = places::certificates()?;
    Ok(remote)
}

/// The credentials for a host in `config.json` of Docker, or that the program which it names gives.
fn find(host: &str) -> std::result::Result<Option<Credentials>, String> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let Some(directory) = set("DOCKER_CONFIG").or_else(|| Some(env::home_dir()?.join(".docker"))) else {
        return Ok(None);
    };
    let path = directory.join("config.json");
    // Docker keeps its own registry's under an address of old; others' under their host, or as an address.
    let names = if host == "docker.io" {
        vec!["https://index.docker.io/v1/".to_owned()]
    } else {
        vec![host.to_owned(), format!("https://{host}")]
    };
    let config = match untrusted_file::read_named(&path, MAX_CONFIG) {
        Ok(config) => config,
        Err(ReadError::Io(error)) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot read `{}`: {error}", path.display())),
    };
    for name in names {
        match get_credential_from_reader(io::Cursor::new(&config), &name) {
            Ok(DockerCredential::UsernamePassword(name, password)) => return Ok(Some(Credentials { name, password })),
            Ok(DockerCredential::IdentityToken(_)) => return Err("identity tokens are not supported".to_owned()),
            Err(CredentialRetrievalError::NoCredentialConfigured) => {}
            // What a helper prints may be half of a secret, but for the one line that all print.
            Err(CredentialRetrievalError::HelperFailure { stdout, .. }) if stdout.contains("credentials not found") => {
            }
            Err(CredentialRetrievalError::HelperFailure { helper, .. }) => return Err(format!("`{helper}` fails")),
            Err(error) => return Err(format!("`{}`: {error}", path.display())),
        }
    }
    Ok(None)
}
