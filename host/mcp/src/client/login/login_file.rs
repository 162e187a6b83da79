//! Files of logins, one for each address: encrypted by a key that lies elsewhere, replaced as a whole, and locked while
//! their tokens are exchanged, since a refresh token is used once.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom as _, SystemRandom};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use tollhouse::capability::ServerUrl;
use tollhouse_types::untrusted_file;

/// Bytes of the key.
const KEY: usize = 32;

/// Most bytes of a file.
const MAX_FILE: u64 = 256 << 10;

/// First bytes of a file: the version of its format, which `docs/formats/mcp-logins.md` describes.
const MAGIC: &[u8; 8] = b"TOLLGN01";

/// Time before its end from which a token is not used any more: a request takes time.
const MARGIN: Duration = Duration::from_secs(30);

/// Reason why a login cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// The file cannot be read or written.
    #[error("the file of the login cannot be used")]
    File(#[from] io::Error),
    /// The file was changed, or belongs to another key or another address.
    #[error("the file of the login is damaged, or was written with another key")]
    Damaged,
    /// The system has no random numbers.
    #[error("the system has no random numbers")]
    Random,
    /// The authorization server accepts the login no longer.
    #[error("the authorization server no longer accepts the login: it was revoked, or has ended")]
    Refused,
    /// The access token has ended, and the server has issued no refresh token.
    #[error("the login has ended, and the authorization server issued nothing to renew it with")]
    Ended,
    /// The authorization server cannot be asked.
    #[error("the authorization server cannot be asked: {0}")]
    Unreachable(String),
    /// The authorization server answers with an error that says nothing about the login.
    #[error("the authorization server answered with HTTP {0}")]
    Status(u16),
    /// The authorization server answers with no bearer token.
    #[error("the authorization server answered with no bearer token")]
    NoToken,
}

/// Login at an address.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct StoredLogin {
    pub(super) url: String,
    pub(super) resource: String,
    pub(super) token_endpoint: String,
    pub(super) client_id: String,
    pub(super) client_secret: Option<String>,
    /// True if the client's secret is sent in a header, and not in the form.
    pub(super) by_header: bool,
    pub(super) access_token: String,
    /// End of the access token, in seconds since 1970; `None` if the server did not say.
    pub(super) expires: Option<u64>,
    pub(super) refresh_token: Option<String>,
}

impl StoredLogin {
    /// Returns true if the access token has not ended, as far as is known.
    pub(super) fn is_fresh(&self) -> bool {
        self.expires.is_none_or(|end| seconds(SystemTime::now() + MARGIN) < end)
    }
}

/// Returns the seconds since 1970.
pub(super) fn seconds(time: SystemTime) -> u64 {
    // A clock before 1970 makes every token an ended one.
    time.duration_since(UNIX_EPOCH).map_or(u64::MAX, |since| since.as_secs())
}

/// Place of all logins of a user, and of the key that encrypts them.
#[derive(Clone, Debug)]
pub struct LoginPlace {
    /// Directory of the files.
    pub directory: PathBuf,
    /// File of the key, which is in another directory: a copy of the files alone is of no use.
    pub key: PathBuf,
}

impl LoginPlace {
    /// Returns true if there is a login at an address.
    #[must_use]
    pub fn contains(&self, url: &ServerUrl) -> bool {
        self.file(url).is_file()
    }

    /// Removes the login at an address. Returns false if there was none.
    ///
    /// # Errors
    /// If the file cannot be removed.
    pub fn remove(&self, url: &ServerUrl) -> Result<bool, LoginError> {
        match fs::remove_file(self.file(url)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Creates the directory and the key, if they do not exist.
    ///
    /// # Errors
    /// If they cannot be created.
    pub fn create(&self) -> Result<(), LoginError> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(&self.directory)?;
        let beside = self.key.parent().filter(|parent| !parent.as_os_str().is_empty());
        beside.map_or(Ok(()), |parent| builder.create(parent))?;
        if self.key.try_exists()? { Ok(()) } else { self.create_key() }
    }

    /// Creates the key, which is under its name only when it is whole and durable: a process may be killed meanwhile, and
    /// another one may do the same.
    fn create_key(&self) -> Result<(), LoginError> {
        let mut random = [0; KEY + 8];
        SystemRandom::new().fill(&mut random).map_err(|_| LoginError::Random)?;
        let (key, suffix) = random.split_at(KEY);
        let new = self.key.with_extension(format!("new-{}", hex(suffix)));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        let written = file.write_all(key).and_then(|()| file.sync_all());
        let named = written.and_then(|()| match fs::hard_link(&new, &self.key) {
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            named => named,
        });
        fs::remove_file(&new)?;
        named?;
        Ok(File::open(self.key.parent().unwrap_or(Path::new(".")))?.sync_all()?)
    }

    /// Opens the file of an address. The key is read now.
    pub(super) fn open(&self, url: &ServerUrl) -> Result<LoginFile, LoginError> {
        let key = untrusted_file::read_named(&self.key, MAX_FILE).map_err(io::Error::from)?;
        let key = UnboundKey::new(&CHACHA20_POLY1305, &key).map_err(|_| LoginError::Damaged)?;
        let (path, url) = (self.file(url), url.as_str().to_owned());
        Ok(LoginFile { path, lock: self.directory.join("lock"), key: LessSafeKey::new(key), url })
    }

    /// Returns the path of the file of an address.
    fn file(&self, url: &ServerUrl) -> PathBuf {
        let digest = ring::digest::digest(&ring::digest::SHA256, url.as_str().as_bytes());
        self.directory.join(format!("{}.login", hex(digest.as_ref())))
    }
}

/// Formats bytes in hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// File of the login at one address.
pub(super) struct LoginFile {
    path: PathBuf,
    lock: PathBuf,
    key: LessSafeKey,
    url: String,
}

impl LoginFile {
    /// Reads the login.
    pub(super) fn read(&self) -> Result<StoredLogin, LoginError> {
        let mut bytes = untrusted_file::read_named(&self.path, MAX_FILE).map_err(io::Error::from)?;
        let sealed = bytes.strip_prefix(MAGIC).and_then(|rest| rest.split_at_checked(NONCE_LEN));
        let (nonce, _) = sealed.ok_or(LoginError::Damaged)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| LoginError::Damaged)?;
        let sealed = &mut bytes[MAGIC.len() + NONCE_LEN..];
        let text = self.key.open_in_place(nonce, Aad::from(&self.url), sealed).map_err(|_| LoginError::Damaged)?;
        let login: StoredLogin = serde_json::from_slice(text).map_err(|_| LoginError::Damaged)?;
        // The address is authenticated; this is for a file of a later version.
        if login.url == self.url { Ok(login) } else { Err(LoginError::Damaged) }
    }

    /// Replaces the login. What was there stays until this is durable.
    pub(super) fn write(&self, login: &StoredLogin) -> Result<(), LoginError> {
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).map_err(|_| LoginError::Random)?;
        let mut sealed = serde_json::to_vec(login).map_err(io::Error::from)?;
        let unique = Nonce::assume_unique_for_key(nonce);
        self.key
            .seal_in_place_append_tag(unique, Aad::from(&self.url), &mut sealed)
            .map_err(|_| LoginError::Damaged)?;
        let new = self.path.with_extension("new");
        // One that a process left that was killed.
        let _ = fs::remove_file(&new);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        for part in [&MAGIC[..], &nonce, &sealed] {
            file.write_all(part)?;
        }
        file.sync_all()?;
        fs::rename(&new, &self.path)?;
        File::open(self.path.parent().unwrap_or(Path::new(".")))?.sync_all()?;
        Ok(())
    }

    /// Waits until no other process exchanges tokens, and keeps them from it until the file is dropped.
    pub(super) fn lock(&self) -> Result<File, LoginError> {
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&self.lock)?;
        flock(&file, FlockOperation::LockExclusive).map_err(io::Error::from)?;
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn login_file_is_read_with_its_key_and_address_alone() {
        let home = tempfile::tempdir().expect("there is room");
        let place = LoginPlace { directory: home.path().join("logins"), key: home.path().join("state/key") };
        let url = ServerUrl::parse("https://x.example/mcp").expect("an address");
        place.create().expect("it is new");
        let key = fs::read(&place.key).expect("a key");
        place.create().expect("it stays");
        place.create_key().expect("another process was faster");
        assert_eq!(fs::read(&place.key).expect("the same key"), key);
        assert_eq!(fs::read_dir(home.path().join("state")).expect("a directory").count(), 1, "nothing else is left");
        let login = StoredLogin {
            url: url.as_str().to_owned(),
            resource: url.as_str().to_owned(),
            token_endpoint: "https://y.example/token".to_owned(),
            client_id: "client".to_owned(),
            client_secret: None,
            by_header: false,
            access_token: "access-hunter2".to_owned(),
            expires: Some(5),
            refresh_token: Some("refresh-hunter2".to_owned()),
        };
        let file = place.open(&url).expect("a key");
        assert!(file.read().is_err(), "there is none yet");
        file.write(&login).expect("there is room");
        let read = file.read().expect("it was written");
        assert_eq!((read.access_token, read.expires), ("access-hunter2".to_owned(), Some(5)));
        assert!(!login.is_fresh() && place.contains(&url));
        let bytes = fs::read(place.file(&url)).expect("it is there");
        assert!(!String::from_utf8_lossy(&bytes).contains("hunter2"), "it is encrypted");
        for at in [0, MAGIC.len(), bytes.len() - 1] {
            let mut other = bytes.clone();
            other[at] ^= 1;
            fs::write(place.file(&url), other).expect("there is room");
            assert!(matches!(file.read(), Err(LoginError::Damaged)), "byte {at}");
        }
        // It is that of this address alone.
        let other = ServerUrl::parse("https://z.example/mcp").expect("an address");
        fs::write(place.file(&other), &bytes).expect("there is room");
        assert!(matches!(place.open(&other).and_then(|file| file.read()), Err(LoginError::Damaged)));
        assert!(place.remove(&url).expect("it is there") && !place.remove(&url).expect("it is gone"));
    }
}
