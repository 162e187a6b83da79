//! Error codes of file operations. They contain no path: the caller knows the path it passed.

/// The reason why a file operation was refused: the `error-code` of `wit/guest.wit`, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Errno {
    /// The path is read-only for guests.
    #[error("permission denied: the place is read-only")]
    Access,
    /// An entry of that name exists already.
    #[error("file exists")]
    Exists,
    /// The file would exceed the maximum size.
    #[error("file too large")]
    TooLarge,
    /// The argument is invalid.
    #[error("invalid argument")]
    Invalid,
    /// A directory was given where something else is required.
    #[error("is a directory")]
    IsDirectory,
    /// The path leads through too many symbolic links.
    #[error("too many levels of symbolic links")]
    TooManyLinks,
    /// A name or a path is too long or too deep.
    #[error("file name too long")]
    NameTooLong,
    /// The entry does not exist.
    #[error("no such file or directory")]
    NoEntry,
    /// Something else was given where a directory is required.
    #[error("not a directory")]
    NotDirectory,
    /// The directory is not empty.
    #[error("directory not empty")]
    NotEmpty,
    /// The session's quota of bytes or entries is exhausted.
    #[error("disk quota exceeded")]
    Quota,
    /// The entry is the root or a mount point.
    #[error("resource busy")]
    Busy,
    /// Stored data cannot be read: it is missing, damaged, or not what it should be.
    #[error("input/output error")]
    Io,
}

impl Errno {
    /// The POSIX name, for example `ENOENT`, which a script sees as `.code`.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Errno::Access => "EACCES",
            Errno::Exists => "EEXIST",
            Errno::TooLarge => "EFBIG",
            Errno::Invalid => "EINVAL",
            Errno::IsDirectory => "EISDIR",
            Errno::TooManyLinks => "ELOOP",
            Errno::NameTooLong => "ENAMETOOLONG",
            Errno::NoEntry => "ENOENT",
            Errno::NotDirectory => "ENOTDIR",
            Errno::NotEmpty => "ENOTEMPTY",
            Errno::Quota => "EDQUOT",
            Errno::Busy => "EBUSY",
            Errno::Io => "EIO",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Errno;

    #[test]
    fn codes_and_messages_are_those_of_posix() {
        assert_eq!(Errno::NoEntry.code(), "ENOENT");
        assert_eq!(Errno::NoEntry.to_string(), "no such file or directory");
        assert_eq!(Errno::Quota.code(), "EDQUOT");
    }
}
