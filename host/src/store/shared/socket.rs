//! The socket in the store's directory.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// What an address of a socket holds on every Unix, with its end.
const MAX_ADDRESS: usize = 100;

/// Listens. Who calls has the lock; the socket of the last leader is replaced.
pub(super) fn listen(dir: &Path) -> io::Result<UnixListener> {
    let address = Address::of(dir)?;
    let new = address.path.join("socket.new");
    match fs::remove_file(dir.join("socket.new")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(new)?;
    fs::set_permissions(dir.join("socket.new"), fs::Permissions::from_mode(0o600))?;
    fs::rename(dir.join("socket.new"), dir.join("socket"))?;
    Ok(listener)
}

/// Connects to whoever listens.
pub(super) fn connect(dir: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(Address::of(dir)?.path.join("socket"))
}

/// Refuses whoever connects from now on, and ends the wait of who accepts: false where the system cannot. It takes no new
/// socket, which a process may not be left to make.
pub(super) fn refuse(listener: &UnixListener) -> bool {
    cfg!(target_os = "linux") && rustix::net::shutdown(listener, rustix::net::Shutdown::Both).is_ok()
}

/// Whether the other side is of the same user. The directory and the socket are closed to others; where the system can
/// tell, it is asked too.
pub(super) fn same_user(stream: &UnixStream) -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        let peer = rustix::net::sockopt::socket_peercred(stream);
        peer.is_ok_and(|peer| peer.uid == rustix::process::geteuid())
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let _ = stream;
        true
    }
}

/// A name of the directory that is short enough for an address.
struct Address {
    path: PathBuf,
    /// Keeps the name alive.
    _open: Option<File>,
}

impl Address {
    fn of(dir: &Path) -> io::Result<Self> {
        if dir.as_os_str().len() + "/socket.new".len() < MAX_ADDRESS {
            return Ok(Self { path: dir.to_owned(), _open: None });
        }
        if !cfg!(target_os = "linux") {
            let reason = format!("`{}` is too long a name for a store that processes share", dir.display());
            return Err(io::Error::new(io::ErrorKind::InvalidFilename, reason));
        }
        let open = File::open(dir)?;
        Ok(Self { path: PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd())), _open: Some(open) })
    }
}
