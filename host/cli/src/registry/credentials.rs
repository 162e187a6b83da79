//! Credentials for container registries: those that `docker login` stored, and the certificates and proxies of the
//! environment.

use std::env;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

use docker_credential::{CredentialRetrievalError, DockerCredential, get_credential_from_reader};
use tollhouse_registry::oci::{Credentials, Remote, Watch};
use tollhouse_registry::untrusted_file::{self, ReadError};

use super::super::{Result, locations};

/// Size of the largest `config.json` of Docker, in bytes.
const MAX_CONFIG: u64 = 4 << 20;

/// Creates the client for registries.
pub(super) fn remote(plain_http: bool, watch: Watch<'_>) -> Result<Remote<'_>> {
    let mut remote = Remote::new(&find);
    (remote.plain_http, remote.proxy, remote.watch) = (plain_http, true, watch);
    remote.certificates = locations::certificates()?;
    Ok(remote)
}

/// Finds the credentials for a host in `config.json` of Docker, or asks the credential helper that it names.
fn find(host: &str) -> std::result::Result<Option<Credentials>, String> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let Some(directory) = set("DOCKER_CONFIG").or_else(|| Some(env::home_dir()?.join(".docker"))) else {
        return Ok(None);
    };
    let path = directory.join("config.json");
    // Docker stores its own registry's credentials under an old address; others' under their host, or an address.
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
            // A helper's output may contain half of a secret, except for the one line that all print.
            Err(CredentialRetrievalError::HelperFailure { stdout, .. }) if stdout.contains("credentials not found") => {
            }
            Err(CredentialRetrievalError::HelperFailure { helper, .. }) => return Err(format!("`{helper}` fails")),
            Err(error) => return Err(format!("`{}`: {error}", path.display())),
        }
    }
    Ok(None)
}
