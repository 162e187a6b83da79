//! Installers of the archive: a script for every POSIX shell, and a formula for Homebrew. Both contain the archive's
//! checksum.

use super::Release;

const SCRIPT: &str = include_str!("../../release/install.sh");
const FORMULA: &str = include_str!("../../release/tollhouse.rb");

/// Writes the installers of an archive with this checksum. Returns file names and texts.
pub(super) fn installers(release: &Release, checksum: &str) -> [(String, Vec<u8>); 2] {
    let fill = |template: &str| {
        template
            .replace("@VERSION@", &release.version)
            .replace("@FROM@", &format!("{}/releases/download/v{}", super::REPOSITORY, release.version))
            .replace("@REPOSITORY@", super::REPOSITORY)
            .replace("@SHA256_X86_64_LINUX@", checksum)
            .into_bytes()
    };
    [("install.sh".to_owned(), fill(SCRIPT)), ("tollhouse.rb".to_owned(), fill(FORMULA))]
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;
    use std::path::Path;
    use std::process::{Command, Output};

    use super::*;
    use crate::release::archive::sha256;
    use crate::release::program::Program;

    /// Serves one file under every path that ends with its name, until the test ends. Returns the URL.
    fn serve(name: String, content: Vec<u8>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("it has one");
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.expect("a connection");
                let mut lines = BufReader::new(stream.try_clone().expect("it is open")).lines();
                let request = lines.next().expect("a request").expect("it is text");
                lines.take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty())).for_each(drop);
                let known = request.split(' ').nth(1).is_some_and(|path| path.ends_with(&name));
                let (status, body) = if known { ("200 OK", content.as_slice()) } else { ("404 Not Found", &b""[..]) };
                let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
                // A client may stop reading early.
                let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
            }
        });
        format!("http://{address}/v1.2.3")
    }

    fn install(home: &Path, checksum: &str, arguments: &[&str]) -> Output {
        let [(_, script), _] = installers(&Release::for_tests(), checksum);
        let path = home.join("install.sh");
        fs::write(&path, script).expect("a file");
        let mut sh = Command::new("sh");
        sh.arg(path).args(arguments).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", home);
        sh.output().expect("there is a shell")
    }

    #[test]
    fn install_script_with_the_right_checksum_installs_and_says_where() {
        let home = tempfile::tempdir().expect("a directory");
        let (name, bytes) = Program::for_tests().tarball(&Release::for_tests()).expect("it is made");
        let checksum = sha256(&bytes);
        let from = serve(name, bytes);
        // The second installation is an upgrade.
        for _ in 0..2 {
            let ran = install(home.path(), &checksum, &["--from", &from]);
            let (said, told) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
            assert!(ran.status.success() && told.is_empty(), "{told}");
            assert!(said.contains(".local/bin is not in PATH"), "{said}");
        }
        let installed = Command::new(home.path().join(".local/bin/tollhouse")).arg("run").output().expect("it runs");
        assert_eq!(String::from_utf8_lossy(&installed.stdout), "tollhouse 1.2.3 run\n");
        assert!(home.path().join(".local/share/man/man1/tollhouse.1").exists());
    }

    #[test]
    fn install_script_with_a_wrong_checksum_installs_nothing() {
        let home = tempfile::tempdir().expect("a directory");
        let (name, bytes) = Program::for_tests().tarball(&Release::for_tests()).expect("it is made");
        let from = serve(name, bytes);
        let ran = install(home.path(), &sha256(b"something else"), &["--from", &from]);
        let told = String::from_utf8_lossy(&ran.stderr);
        assert!(!ran.status.success() && told.contains("nothing was installed"), "{told}");
        assert!(!home.path().join(".local").exists());
    }

    #[test]
    fn install_script_says_what_is_wrong() {
        let home = tempfile::tempdir().expect("a directory");
        let from = serve("another".to_owned(), Vec::new());
        for (arguments, expected) in [
            (&["--from", from.as_str()][..], "cannot be downloaded"),
            (&["--prefix", "here"], "no absolute path"),
            (&["--prefix"], "needs a value"),
            (&["--help-me"], "is no option"),
        ] {
            let ran = install(home.path(), "aa", arguments);
            let told = String::from_utf8_lossy(&ran.stderr);
            assert!(ran.status.code() == Some(1) && told.contains(expected) && told.contains("hint: "), "{told}");
        }
    }

    #[test]
    fn formula_has_version_and_checksum() {
        let [_, (name, formula)] = installers(&Release::for_tests(), "aa");
        let formula = String::from_utf8(formula).expect("it is text");
        assert_eq!(name, "tollhouse.rb");
        assert!(formula.contains("/v1.2.3/tollhouse-1.2.3-x86_64-linux.tar.gz") && formula.contains("sha256 \"aa\""));
        assert!(!formula.contains('@'), "{formula}");
    }
}
