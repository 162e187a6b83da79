//! Build paths in a component: traces of the machine that built it.

use memchr::memmem;

use crate::error::excerpt;

/// Directories that every user has in another place. Compilers embed the names of their files.
const OF_A_USER: [&str; 2] = ["/.cargo/registry/src/", "/.rustup/toolchains/"];

/// Bytes of context that are searched for a path on either side of such a directory.
const AROUND: usize = 120;

/// Returns a path of the build machine that the component contains, if there is one.
pub(crate) fn path_of_builder(bytes: &[u8]) -> Option<String> {
    let at = OF_A_USER.iter().find_map(|directory| memmem::find(bytes, directory.as_bytes()))?;
    let is_of_path = |byte: &&u8| byte.is_ascii_graphic() && !b"\"'`<>|:".contains(byte);
    let before = bytes[at.saturating_sub(AROUND)..at].iter().rev().take_while(is_of_path).count();
    let after = bytes[at..].iter().take(AROUND).take_while(is_of_path).count();
    Some(excerpt(&String::from_utf8_lossy(&bytes[at - before..at + after])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_path_in_component_is_found_whole() {
        let path = "/home/ada/.cargo/registry/src/index.crates.io-6f17/url-2.5.8/src/host.rs";
        let bytes = [b"\0asm\0of ".as_slice(), path.as_bytes(), b"\0\0rest"].concat();
        assert_eq!(path_of_builder(&bytes).as_deref(), Some(path));
        let cut = path_of_builder(&bytes[..60]).expect("the beginning is there");
        assert!(path.starts_with(&cut), "{cut}");
        assert_eq!(path_of_builder(b"/cargo/registry/src/url-2.5.8/src/host.rs"), None);
    }
}
