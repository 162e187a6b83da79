//! Checks that names of entries lead to a place below a directory.

use std::path::PathBuf;

use crate::error::{Error, Kind};

/// Longest name that file systems support, in bytes.
const MAX_NAME: usize = 1024;
/// Largest number of directories above a file.
const MAX_DEPTH: usize = 64;

/// Returns the relative path of an entry's name, which is empty for the directory itself (`./`).
///
/// # Errors
///
/// `UnsafeName`.
pub fn relative(name: &str) -> Result<PathBuf, Error> {
    let refused = |why: &str| Err(Error::of(name, Kind::UnsafeName, why));
    if name.is_empty() || name.len() > MAX_NAME {
        return refused(&format!("has a name of {} bytes: 1 to {MAX_NAME} are allowed", name.len()));
    }
    if name.chars().any(char::is_control) {
        return refused("has a control character in its name");
    }
    // On other systems a backslash separates directories, and `C:` names a drive.
    if name.contains('\\') || name.as_bytes().get(1) == Some(&b':') {
        return refused("has a name for another system, which may lead anywhere");
    }
    if name.starts_with('/') {
        return refused("has an absolute path: it would be written outside of the directory");
    }
    let parts: Vec<&str> = name.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.contains(&"..") {
        return refused("leads out of the directory by `..`");
    }
    if parts.len() > MAX_DEPTH {
        return refused(&format!("lies below more than {MAX_DEPTH} directories"));
    }
    Ok(parts.iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_name_that_stays_below_is_accepted() {
        for (name, path) in
            [("a", "a"), ("a/b.txt", "a/b.txt"), ("./a//b/", "a/b"), ("..a", "..a"), ("ä b", "ä b"), ("./", "")]
        {
            assert_eq!(relative(name), Ok(PathBuf::from(path)), "{name}");
        }
    }

    #[test]
    fn entry_name_that_leads_out_is_refused() {
        let deep = "a/".repeat(65);
        let long = "x".repeat(1025);
        for name in [
            "",
            "..",
            "../x",
            "a/../../x",
            "a/..",
            "/etc/passwd",
            "//x",
            "C:\\x",
            "c:x",
            "a\\..\\b",
            "a\0b",
            "a\nb",
            &deep,
            &long,
        ] {
            let error = relative(name).expect_err(name);
            assert_eq!(error.kind, Kind::UnsafeName, "{name}");
            assert!(error.entry.is_some());
        }
    }
}
