//! The directory of a store: its permissions, its layout, and which of its databases is the current one.
//!
//! ```text
//! DIR/format              version, backend and number of the current database; replaced atomically, by renaming
//! DIR/db-1/               the database; compaction creates db-2, records it in `format`, and removes db-1
//! DIR/lock, pid, socket   see `shared`
//! DIR/damaged-…           files that a repair has set aside
//! ```
//!
//! **Invariant:** a database that `format` does not refer to contains nothing that was acknowledged.

use std::fmt;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use super::record::StoreError;

/// Version of the directory layout that this build reads and writes.
const VERSION: u32 = 1;

/// The database library that keeps the records of a store on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backend {
    /// sled 0.34.
    Sled,
    /// redb 4; only in a build with the feature `redb`.
    Redb,
}

impl Backend {
    /// The file name by which a database of the other backend is recognized.
    fn other_file(self) -> &'static str {
        match self {
            Self::Sled => "records.redb",
            Self::Redb => "db",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sled => "sled",
            Self::Redb => "redb",
        })
    }
}

impl FromStr for Backend {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "sled" => Ok(Self::Sled),
            "redb" => Ok(Self::Redb),
            _ => Err(format!("`{text}` is not a store backend: use `sled` or `redb`")),
        }
    }
}

/// The directory of a store, and the backend it is opened with.
#[derive(Clone, Debug)]
pub(super) struct StoreDirectory {
    dir: PathBuf,
    backend: Backend,
}

impl StoreDirectory {
    pub(super) fn new(dir: &Path, backend: Backend) -> Self {
        Self { dir: dir.to_owned(), backend }
    }

    /// Creates the directory, accessible to its owner only.
    pub(super) fn create(dir: &Path) -> Result<(), StoreError> {
        if !dir.is_dir() {
            let mut builder = DirBuilder::new();
            builder.recursive(true);
            set_private_mode(&mut builder);
            builder.create(dir)?;
            sync_parents(dir)?;
        }
        restrict_to_owner(dir)?;
        Ok(())
    }

    /// Refuses a store that another backend or another version has written. Changes nothing, since another process may
    /// be using the store.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        self.number_in_format().map(drop)
    }

    /// Returns the number of the current database, if there is one. A single database that no `format` file refers to
    /// is accepted: its creation was interrupted, or the file was lost.
    pub(super) fn current(&self) -> Result<Option<u64>, StoreError> {
        // What is read here must survive a power failure.
        sync_dir(&self.dir)?;
        match (self.number_in_format()?, &*self.databases()?) {
            (Some(number), databases) if databases.contains(&number) => Ok(Some(number)),
            (Some(number), _) => {
                Err(self.format_error(format!("its `format` file refers to `db-{number}`, which is missing")))
            }
            (None, []) => Ok(None),
            (None, [number]) => {
                let file = self.database(*number).join(self.backend.other_file());
                if file.exists() {
                    Err(self.format_error("it was created with another backend".to_owned()))
                } else {
                    Ok(Some(*number))
                }
            }
            _ => Err(self.format_error(
                "it contains several databases, and no `format` file that says which is current".to_owned(),
            )),
        }
    }

    /// Returns the number of the database that the `format` file refers to, if the file exists.
    pub(super) fn number_in_format(&self) -> Result<Option<u64>, StoreError> {
        match fs::read_to_string(self.format()) {
            Ok(text) => self.read(&text).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(self.damaged_format()),
            Err(error) => Err(error.into()),
        }
    }

    /// Sets a `format` file that cannot be read aside, so that [`current`](Self::current) looks for a single database. A
    /// file of another version or backend stays.
    pub(super) fn set_damaged_format_aside(&self) -> Result<(), StoreError> {
        match self.number_in_format() {
            Err(StoreError::Damaged(_)) => {
                fs::rename(self.format(), self.set_aside_path().with_extension("format"))?;
                Ok(sync_dir(&self.dir)?)
            }
            read => read.map(drop),
        }
    }

    /// Makes a database the current one, atomically and durably.
    pub(super) fn set_current(&self, number: u64) -> Result<(), StoreError> {
        let text = format!("tollhouse store {VERSION}\nbackend {}\ndatabase {number}\n", self.backend);
        let new = self.dir.join("format.new");
        let mut file = File::create(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, self.format())?;
        sync_dir(&self.dir)?;
        Ok(())
    }

    /// Path of a database.
    pub(super) fn database(&self, number: u64) -> PathBuf {
        self.dir.join(format!("db-{number}"))
    }

    /// Removes databases that an interrupted compaction left behind.
    pub(super) fn remove_stale_databases(&self, current: u64) -> Result<(), StoreError> {
        for number in self.databases()?.into_iter().filter(|number| *number != current) {
            fs::remove_dir_all(self.database(number))?;
        }
        Ok(())
    }

    /// Returns true if the file system reports more free space than a commit needs.
    pub(super) fn has_room(&self) -> bool {
        const ENOUGH: u64 = 64 << 20;
        rustix::fs::statvfs(&self.dir).is_ok_and(|room| room.f_bavail.saturating_mul(room.f_frsize) >= ENOUGH)
    }

    /// A new path for files that a repair sets aside; its name contains the current time.
    pub(super) fn set_aside_path(&self) -> PathBuf {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        self.dir.join(format!("damaged-{}", now.as_millis()))
    }

    fn format(&self) -> PathBuf {
        self.dir.join("format")
    }

    fn databases(&self) -> io::Result<Vec<u64>> {
        let mut numbers = Vec::new();
        for entry in fs::read_dir(&self.dir)? {
            let name = entry?.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix("db-"));
            numbers.extend(number.and_then(|number| number.parse::<u64>().ok()));
        }
        Ok(numbers)
    }

    fn damaged_format(&self) -> StoreError {
        StoreError::Damaged(format!("its file `{}` cannot be read", self.format().display()))
    }

    fn read(&self, text: &str) -> Result<u64, StoreError> {
        let mut lines = text.lines();
        let mut field = |name: &str| {
            let line = lines.next().and_then(|line| line.strip_prefix(name)).map(str::trim);
            line.ok_or_else(|| self.damaged_format())
        };
        let version = field("tollhouse store ")?;
        if version != VERSION.to_string() {
            return Err(self.format_error(format!(
                "its format is version {version}, and this version of Tollhouse reads version {VERSION}"
            )));
        }
        let backend: Backend = field("backend ")?.parse().map_err(|reason| self.format_error(reason))?;
        if backend != self.backend {
            return Err(self.format_error(format!(
                "it was created with the backend {backend}, and was opened with {}",
                self.backend
            )));
        }
        field("database ")?.parse().map_err(|_| self.damaged_format())
    }

    #[cfg(not(feature = "redb"))]
    pub(super) fn without_redb(&self) -> StoreError {
        self.format_error("this build does not support redb: it was compiled without the feature `redb`".to_owned())
    }

    pub(super) fn format_error(&self, reason: String) -> StoreError {
        StoreError::Format { path: self.dir.clone(), reason }
    }
}

/// Total size of all files in a directory, in bytes.
pub(super) fn size(dir: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        bytes += match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => size(&entry.path())?,
            Ok(metadata) => metadata.len(),
            // The database may remove files while it is measured.
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error),
        };
    }
    Ok(bytes)
}

/// Makes the directory entries durable. Not every system supports this, or needs it.
pub(super) fn sync_dir(dir: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(dir)?.sync_all() } else { Ok(()) }
}

/// Makes the entry of a new directory durable, and those of the directories above it that may be as new.
pub(super) fn sync_parents(path: &Path) -> io::Result<()> {
    for parent in path.ancestors().skip(1).take(4).filter(|parent| !parent.as_os_str().is_empty()) {
        match sync_dir(parent) {
            // A directory that this process may not read was not created by it.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
            outcome => outcome?,
        }
    }
    Ok(())
}

#[cfg(unix)]
fn set_private_mode(builder: &mut DirBuilder) {
    std::os::unix::fs::DirBuilderExt::mode(builder, 0o700);
}

#[cfg(not(unix))]
fn set_private_mode(_: &mut DirBuilder) {}

#[cfg(unix)]
fn restrict_to_owner(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let found = fs::metadata(dir)?.permissions().mode();
    if found & 0o077 != 0 {
        fs::set_permissions(dir, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn restrict_to_owner(_: &Path) -> io::Result<()> {
    Ok(())
}
