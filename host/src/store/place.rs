//! The directory of a store: who may enter it, and which database in it is the one.
//!
//! ```text
//! DIR/format          version, backend, and which database: replaced whole, by renaming
//! DIR/db-1/           the database; compacting makes db-2, names it in `format`, and removes db-1
//! DIR/lock, pid, socket   see `shared`
//! DIR/damaged-…       what a repair has kept aside
//! ```
//!
//! **Invariant:** what `format` does not name holds nothing that was acknowledged.

use std::fmt;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use super::record::StoreError;

/// The layout that this version writes and reads.
const VERSION: u32 = 1;

/// What keeps the records of a store on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backend {
    /// sled 0.34.
    Sled,
    /// redb 4; only in a build with the feature `redb`.
    Redb,
}

impl Backend {
    /// The file by which a database of the other is known.
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
            _ => Err(format!("`{text}` is no backend: there are `sled` and `redb`")),
        }
    }
}

/// The directory of a store.
#[derive(Clone, Debug)]
pub(super) struct Place {
    dir: PathBuf,
    backend: Backend,
}

impl Place {
    pub(super) fn new(dir: &Path, backend: Backend) -> Self {
        Self { dir: dir.to_owned(), backend }
    }

    /// Makes the directory, for its owner only.
    pub(super) fn make(dir: &Path) -> Result<(), StoreError> {
        if !dir.is_dir() {
            let mut builder = DirBuilder::new();
            builder.recursive(true);
            private(&mut builder);
            builder.create(dir)?;
            sync_parents(dir)?;
        }
        close_to_others(dir)?;
        Ok(())
    }

    /// Refuses what another backend keeps, or another version wrote. Changes nothing: a process that has the store may be
    /// at work.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        self.named().map(drop)
    }

    /// Which database is the one, if any was made. One that is alone, without a format that names it, is one whose making
    /// was cut short, or whose format was lost.
    pub(super) fn current(&self) -> Result<Option<u64>, StoreError> {
        // What is read here must not change back by a power cut.
        sync_dir(&self.dir)?;
        match (self.named()?, &*self.databases()?) {
            (Some(number), databases) if databases.contains(&number) => Ok(Some(number)),
            (Some(number), _) => Err(self.refused(format!("its file `format` names `db-{number}`, which is missing"))),
            (None, []) => Ok(None),
            (None, [number]) => {
                let file = self.database(*number).join(self.backend.other_file());
                if file.exists() { Err(self.refused("another backend keeps it".to_owned())) } else { Ok(Some(*number)) }
            }
            _ => Err(self.refused("it has several databases, and no file `format` that names one".to_owned())),
        }
    }

    /// Which database the format names, if there is one.
    pub(super) fn named(&self) -> Result<Option<u64>, StoreError> {
        match fs::read_to_string(self.format()) {
            Ok(text) => self.read(&text).map(Some).map_err(|reason| self.refused(reason)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Err(self.refused("its file `format` is damaged".to_owned()))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Makes a database the one, at once and durably.
    pub(super) fn point_at(&self, number: u64) -> Result<(), StoreError> {
        let text = format!("tollhouse store {VERSION}\nbackend {}\ndatabase {number}\n", self.backend);
        let new = self.dir.join("format.new");
        let mut file = File::create(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, self.format())?;
        sync_dir(&self.dir)?;
        Ok(())
    }

    /// Where a database is.
    pub(super) fn database(&self, number: u64) -> PathBuf {
        self.dir.join(format!("db-{number}"))
    }

    /// Removes what compacting left behind when it was killed.
    pub(super) fn sweep(&self, current: u64) -> Result<(), StoreError> {
        for number in self.databases()?.into_iter().filter(|number| *number != current) {
            fs::remove_dir_all(self.database(number))?;
        }
        Ok(())
    }

    /// Whether the file system has more room than a commit needs, by its own account.
    pub(super) fn has_room(&self) -> bool {
        const ENOUGH: u64 = 64 << 20;
        rustix::fs::statvfs(&self.dir).is_ok_and(|room| room.f_bavail.saturating_mul(room.f_frsize) >= ENOUGH)
    }

    /// A name for what is kept aside, with the time.
    pub(super) fn aside(&self) -> PathBuf {
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

    fn read(&self, text: &str) -> Result<u64, String> {
        let mut lines = text.lines();
        let mut field = |name: &str| {
            let line = lines.next().and_then(|line| line.strip_prefix(name)).map(str::trim);
            line.ok_or_else(|| "its file `format` is damaged".to_owned())
        };
        let version = field("tollhouse store ")?;
        if version != VERSION.to_string() {
            return Err(format!("it has version {version}, and this Tollhouse reads version {VERSION}"));
        }
        let backend: Backend = field("backend ")?.parse()?;
        if backend != self.backend {
            return Err(format!("it is kept by {backend}, and was opened with {}", self.backend));
        }
        field("database ")?.parse().map_err(|_| "its file `format` is damaged".to_owned())
    }

    #[cfg(not(feature = "redb"))]
    pub(super) fn without_redb(&self) -> StoreError {
        self.refused("this build knows no redb: it was built without the feature `redb`".to_owned())
    }

    pub(super) fn refused(&self, reason: String) -> StoreError {
        StoreError::Format { path: self.dir.clone(), reason }
    }
}

/// The bytes of all files of a directory.
pub(super) fn size(dir: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        bytes += match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => size(&entry.path())?,
            Ok(metadata) => metadata.len(),
            // A database tidies up while it is measured.
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error),
        };
    }
    Ok(bytes)
}

/// Makes the names in a directory durable. Not every system can, or needs to.
pub(super) fn sync_dir(dir: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(dir)?.sync_all() } else { Ok(()) }
}

/// Makes a new directory's name durable, and those of the directories above that may be as new.
pub(super) fn sync_parents(path: &Path) -> io::Result<()> {
    for parent in path.ancestors().skip(1).take(4).filter(|parent| !parent.as_os_str().is_empty()) {
        match sync_dir(parent) {
            // A directory that may not be read was not made by us.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
            outcome => outcome?,
        }
    }
    Ok(())
}

#[cfg(unix)]
fn private(builder: &mut DirBuilder) {
    std::os::unix::fs::DirBuilderExt::mode(builder, 0o700);
}

#[cfg(not(unix))]
fn private(_: &mut DirBuilder) {}

#[cfg(unix)]
fn close_to_others(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let found = fs::metadata(dir)?.permissions().mode();
    if found & 0o077 != 0 {
        fs::set_permissions(dir, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn close_to_others(_: &Path) -> io::Result<()> {
    Ok(())
}
