//! Refuses a store that other users can write to, before anything in it is used. Whoever can write to a store can give
//! sessions other policies, and a symbolic link in it redirects what is written there.

use std::fs::{self, Metadata};
use std::io;
#[cfg(unix)]
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use super::record::StoreError;

/// Sockets by which other processes reach the process that holds the store, now and while it is replaced.
const SOCKETS: [&str; 2] = ["socket", "socket.new"];

/// Files that are read as a whole, and the maximum size of each in bytes: they hold a few numbers.
const SMALL: [&str; 5] = ["format", "format.new", "pid", "conf", "acknowledged"];
const MAX_SMALL: u64 = 64 << 10;

/// Refuses a store directory if it, or a directory or file in it that they can reach, is writable by other users, unless
/// these are trusted; or if it contains a symbolic link, a pipe, a device, or an oversized file that is read as a whole. Directories that do not
/// exist yet are accepted.
///
/// # Errors
/// [`StoreError::Shared`]; [`StoreError::Format`] for such an entry; errors of the file system.
pub fn refuse_strangers(directory: &Path, trust_writers: bool) -> Result<(), StoreError> {
    // Blob files and session lock files are too numerous to be checked each time. Of blobs the name tells the contents.
    for name in ["", "records", "blobs", "turns"] {
        let path = if name.is_empty() { directory.to_owned() } else { directory.join(name) };
        match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error.into()),
            Ok(found) if found.is_symlink() && !name.is_empty() => return Err(linked(&path)),
            Ok(_) => {}
        }
        if let Some(why) = tollhouse_types::other_writers(&path)?.filter(|_| !trust_writers) {
            return Err(StoreError::Shared { path, why });
        }
    }
    let is_guarded = !trust_writers && is_reachable(directory);
    let records = directory.join("records");
    let mut databases = vec![];
    for entry in entries(&records)? {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            databases.push(entry.path());
        }
    }
    for directory in databases.into_iter().chain([records, directory.to_owned()]) {
        for entry in entries(&directory)? {
            // An entry that has disappeared was removed by the process that holds the store. Links are not followed here.
            if let Ok(found) = entry.metadata() {
                refuse_other(&entry.path(), &found)?;
                refuse_writable(entry.path(), &found, is_guarded)?;
            }
        }
    }
    for entry in entries(&directory.join("blobs"))? {
        // Of a link only the kind is looked at, which is listed with the name: there are up to 258 entries.
        if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            return Err(linked(&entry.path()));
        }
        if is_guarded && let Ok(found) = entry.metadata() {
            refuse_writable(entry.path(), &found, is_guarded)?;
        }
    }
    Ok(())
}

/// Returns true if other users can reach what is in a directory. If they cannot, the modes of its files do not matter:
/// with a usual `umask` of 002 a database makes files that the group could write.
#[cfg(unix)]
fn is_reachable(directory: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    directory.metadata().is_ok_and(|found| found.permissions().mode() & 0o011 != 0)
}

#[cfg(not(unix))]
fn is_reachable(_: &Path) -> bool {
    true
}

/// Refuses a file or directory of a store that other users can write.
fn refuse_writable(path: PathBuf, found: &Metadata, is_guarded: bool) -> Result<(), StoreError> {
    match tollhouse_types::other_writers_in(found).filter(|_| is_guarded && !found.is_symlink()) {
        Some(why) => Err(StoreError::Shared { path, why }),
        None => Ok(()),
    }
}

/// Refuses an entry that redirects, blocks or never ends where a store has a file.
fn refuse_other(path: &Path, found: &Metadata) -> Result<(), StoreError> {
    let refused = |reason: String| Err(StoreError::Format { path: path.to_owned(), reason });
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match () {
        () if found.is_symlink() => Err(linked(path)),
        () if found.is_dir() => Ok(()),
        () if !(found.is_file() || is_socket(found) && SOCKETS.contains(&name)) => {
            refused("it is neither a file nor a directory, as a store requires".to_owned())
        }
        () if SMALL.contains(&name) && found.len() > MAX_SMALL => {
            refused(format!("it has {} bytes: a store has at most {MAX_SMALL} there", found.len()))
        }
        () => Ok(()),
    }
}

#[cfg(unix)]
fn is_socket(found: &Metadata) -> bool {
    found.file_type().is_socket()
}

#[cfg(not(unix))]
fn is_socket(_: &Metadata) -> bool {
    false
}

fn entries(directory: &Path) -> Result<Vec<fs::DirEntry>, StoreError> {
    match fs::read_dir(directory) {
        Ok(entries) => Ok(entries.collect::<io::Result<_>>()?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

fn linked(path: &Path) -> StoreError {
    StoreError::Format {
        path: path.to_owned(),
        reason: "it is a symbolic link, which a store must not contain".to_owned(),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
    }

    #[test]
    fn store_writable_by_others_is_refused_unless_trusted() {
        let home = tempfile::tempdir().expect("a directory");
        let store = home.path().join("store");
        refuse_strangers(&store, false).expect("it is not there yet");
        fs::create_dir_all(store.join("records/db-1")).expect("made");
        mode(&store, 0o755);
        refuse_strangers(&store, false).expect("others can only look");
        for place in [store.clone(), store.join("records")] {
            for open in [0o777, 0o775, 0o1777] {
                mode(&place, open);
                let refused = refuse_strangers(&store, false);
                assert!(matches!(refused, Err(StoreError::Shared { .. })), "{} {open:o}", place.display());
                refuse_strangers(&store, true).expect("they are trusted");
            }
            mode(&place, 0o700);
        }
        refuse_strangers(&store, false).expect("it is ours alone again");
    }

    #[test]
    fn file_of_a_store_that_others_can_write_is_refused_where_they_reach_it() {
        let home = tempfile::tempdir().expect("a directory");
        let store = home.path().join("store");
        for below in ["records/db-1", "blobs/47", "blobs/tmp", "turns"] {
            fs::create_dir_all(store.join(below)).expect("made");
        }
        let files = ["records/format", "records/db-1/db", "blobs/format", "blobs.lock"];
        files.iter().for_each(|file| fs::write(store.join(file), "x").expect("written"));
        mode(&store, 0o755);
        refuse_strangers(&store, false).expect("others can only look");
        for place in files.iter().chain(&["records/db-1", "blobs/47", "blobs/tmp"]) {
            let (place, before) = (store.join(place), store.join(place).metadata().expect("it is there").permissions());
            for open in [0o666, 0o777, 0o664] {
                mode(&place, open);
                let refused = refuse_strangers(&store, false);
                assert!(matches!(refused, Err(StoreError::Shared { .. })), "{} {open:o}", place.display());
                refuse_strangers(&store, true).expect("they are trusted");
                mode(&store, 0o700);
                refuse_strangers(&store, false).expect("nobody else reaches it");
                mode(&store, 0o755);
            }
            fs::set_permissions(&place, before).expect("it is ours");
        }
        refuse_strangers(&store, false).expect("it is ours alone again");
    }

    #[test]
    fn store_with_a_link_is_refused() {
        let home = tempfile::tempdir().expect("a directory");
        let store = home.path().join("store");
        fs::create_dir_all(store.join("records/db-1")).expect("made");
        fs::write(home.path().join("token"), "x").expect("written");
        let blobs = ["blobs/tmp", "blobs/packs", "blobs/47", "blobs/format"];
        let others = ["turns", "blobs", "blobs.lock", "records/pid", "records/format.new", "records/db-1/db"];
        for link in others.into_iter().chain(blobs) {
            if link == blobs[0] {
                fs::create_dir(store.join("blobs")).expect("made");
            }
            symlink(home.path().join("token"), store.join(link)).expect("made");
            let refused = refuse_strangers(&store, true);
            assert!(matches!(refused, Err(StoreError::Format { .. })), "{link}: {refused:?}");
            fs::remove_file(store.join(link)).expect("removed");
        }
        refuse_strangers(&store, false).expect("the links are gone");
        symlink(&store, home.path().join("named")).expect("made");
        refuse_strangers(&home.path().join("named"), false).expect("the operator names it");
    }

    #[test]
    fn store_with_a_pipe_or_an_endless_file_is_refused_at_once() {
        let home = tempfile::tempdir().expect("a directory");
        let store = home.path().join("store");
        fs::create_dir_all(store.join("records/db-1")).expect("made");
        let refused = |path: &Path| {
            let refused = refuse_strangers(&store, true);
            assert!(matches!(refused, Err(StoreError::Format { .. })), "{}: {refused:?}", path.display());
            fs::remove_file(path).expect("removed");
        };
        for name in ["blobs.lock", "records/pid", "records/format", "records/db-1/conf", "records/db-1/db"] {
            let pipe = store.join(name);
            let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("there is mkfifo");
            assert!(made.success(), "{name}");
            refused(&pipe);
        }
        let long = store.join("records/format");
        fs::File::create(&long).and_then(|file| file.set_len(1 << 40)).expect("it has holes");
        refused(&long);
        let _listens = std::os::unix::net::UnixListener::bind(store.join("records/socket")).expect("it is bound");
        fs::write(store.join("records/db-1/db"), "x").expect("written");
        refuse_strangers(&store, false).expect("a store has these");
    }
}
