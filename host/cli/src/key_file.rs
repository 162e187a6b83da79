//! Files of new keys: each is written whole, under a name that nothing had, or not at all.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::CliError;

/// Writes a private key, for its owner alone.
pub(crate) fn write(path: &Path, private: &str) -> super::Result<()> {
    let file = staged(path, private, true).map_err(|error| failed(path, &error))?;
    place(file, path)
}

/// Writes both halves of a key: `path` gets the private one, and `path.pub` the public one. If one cannot be written,
/// neither is there.
pub(crate) fn write_pair(path: &Path, private: &str, public: &str) -> super::Result<()> {
    let public_path = public_path(path);
    let private_file = staged(path, private, true).map_err(|error| failed(path, &error))?;
    let public_file = staged(&public_path, public, false).map_err(|error| failed(&public_path, &error))?;
    place(private_file, path)?;
    place(public_file, &public_path).inspect_err(|_| {
        // It was placed just now.
        let _ = fs::remove_file(path);
    })
}

/// Returns the path of the public half.
fn public_path(path: &Path) -> PathBuf {
    path.with_added_extension("pub")
}

fn staged(path: &Path, text: &str, is_private: bool) -> io::Result<tempfile::NamedTempFile> {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(if is_private { 0o600 } else { 0o644 }));
    #[cfg(not(unix))]
    let _ = is_private;
    let mut file = builder.prefix(".tollhouse-key-").tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.write_all(b"\n")?;
    file.as_file().sync_all()?;
    Ok(file)
}

fn place(file: tempfile::NamedTempFile, path: &Path) -> super::Result<()> {
    file.persist_noclobber(path).map(drop).map_err(|error| failed(path, &error.error))
}

fn failed(path: &Path, error: &io::Error) -> CliError {
    let refused = CliError::because(format!("cannot write the key `{}`", path.display()), error);
    match error.kind() {
        io::ErrorKind::AlreadyExists => refused.hint("a key is never overwritten: name another file"),
        _ => refused,
    }
}
