//! Why a file operation was refused. Nothing here says where: the caller knows the path it passed.

/// Why a file operation was refused: the `error-code` of `wit/guest.wit`, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Errno {
    /// The place is read-only.
    #[error("permission denied: the place is read-only")]
    Access,
    /// There is an entry of that name already.
    #[error("file exists")]
    Exists,
    /// Past the largest size of a file.
    #[error("file too large")]
    TooLarge,
    /// The argument makes no sense.
    #[error("invalid argument")]
    Invalid,
    /// A directory, where something else is needed.
    #[error("is a directory")]
    IsDirectory,
    /// Too many symbolic links on the way.
    #[error("too many levels of symbolic links")]
    TooManyLinks,
    /// A name or a path is too long, or too deep.
    #[error("file name too long")]
    NameTooLong,
    /// There is no such entry.
    #[error("no such file or directory")]
    NoEntry,
    /// Something else, where a directory is needed.
    #[error("not a directory")]
    NotDirectory,
    /// The directory holds something.
    #[error("directory not empty")]
    NotEmpty,
    /// The session's quota of bytes or entries is used up.
    #[error("disk quota exceeded")]
    Quota,
    /// The root, or the place of a mount.
    #[error("resource busy")]
    Busy,
    /// What is stored cannot be read: it is missing, damaged, or not what it should be.
    #[error("input/output error")]
    Io,
}

impl Errno {
    /// The POSIX name, for example `ENOENT`: what a script sees as `.code`.
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
