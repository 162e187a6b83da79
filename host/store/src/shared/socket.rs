//! The leader's socket in the store's directory.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// Maximum length of a socket address on every Unix, including the terminator.
const MAX_ADDRESS_BYTES: usize = 100;

/// Starts to listen, replacing the socket of the previous leader. The caller holds the lock.
pub(super) fn listen(dir: &Path) -> io::Result<UnixListener> {
    let address = SocketAddress::of(dir)?;
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

/// Connects to the current leader.
pub(super) fn connect(dir: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(SocketAddress::of(dir)?.path.join("socket"))
}

/// Refuses further connections, and ends a pending `accept`; returns false if the system cannot do that. Needs no new
/// socket, which the process may not be allowed to create.
pub(super) fn refuse(listener: &UnixListener) -> bool {
    cfg!(target_os = "linux") && rustix::net::shutdown(listener, rustix::net::Shutdown::Both).is_ok()
}

/// Returns true if the peer belongs to the same user. Directory and socket are inaccessible to others; where the system
/// can report the peer's user, that is checked too.
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

/// A path of the directory that is short enough for a socket address.
struct SocketAddress {
    path: PathBuf,
    /// Keeps the path valid.
    _open: Option<File>,
}

impl SocketAddress {
    fn of(dir: &Path) -> io::Result<Self> {
        if dir.as_os_str().len() + "/socket.new".len() < MAX_ADDRESS_BYTES {
            return Ok(Self { path: dir.to_owned(), _open: None });
        }
        if !cfg!(target_os = "linux") {
            let reason = format!("the path `{}` is too long for the socket of a shared store", dir.display());
            return Err(io::Error::new(io::ErrorKind::InvalidFilename, reason));
        }
        let open = File::open(dir)?;
        Ok(Self { path: PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd())), _open: Some(open) })
    }
}
