//! `python3`: CPython as componentize-py packages it, from PyPI, with a command line and the standard library in memory
//! (the sources in `python3/`). Its first start happens at build time: later runs begin where that ended.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use tollhouse_registry::{Digest, MAX_COMPONENT, untrusted_file};

use super::super::author::CtrlCHandler;
use super::super::progress::Progress;
use super::super::{CliError, Program, Result};
use super::ProgramRecipe;

/// Program `python3`. Its version is that of CPython.
pub(super) const PYTHON3: ProgramRecipe = ProgramRecipe {
    name: "python3",
    version: "3.14.0",
    description: "CPython: `python3 script.py`, `python3 -c 'print(1)'`, with the standard library. \
         `import tollhouse_tools` calls the tools that the policy grants to it.",
    license: "PSF-2.0",
    // The policy decides which ones.
    asks: "tools = [\"**\"]\n",
};

/// Release of componentize-py that contains that CPython as WebAssembly, with the SHA-256 of its files for all systems,
/// as pip reads them.
const REQUIREMENTS: &str = include_str!("python3/requirements.txt");
/// First word of [`REQUIREMENTS`] that is not a comment.
const RELEASE: &str = "componentize-py==0.25.1";

/// Further sources of the component: paths below the build directory, and texts.
const SOURCES: [(&str, &str); 10] = [
    ("app/absent.py", include_str!("python3/absent.py")),
    ("app/app.py", include_str!("python3/app.py")),
    ("app/command.py", include_str!("python3/command.py")),
    ("app/library.py", include_str!("python3/library.py")),
    ("app/loop.py", include_str!("python3/loop.py")),
    ("app/tollhouse_tools.py", include_str!("python3/tollhouse_tools.py")),
    ("wit/world.wit", include_str!("python3/wit/world.wit")),
    ("wit/deps/cli/cli.wit", include_str!("python3/wit/deps/cli/cli.wit")),
    ("wit/deps/exit/exit.wit", include_str!("python3/wit/deps/exit/exit.wit")),
    ("wit/deps/program/tools.wit", include_str!("python3/wit/deps/program/tools.wit")),
];

/// Directory for the file of componentize-py.
const WHEEL: &str = "wheel";
/// Directory into which it is unpacked.
const TOOLCHAIN: &str = "toolchain";
/// Path of the result.
const COMPONENT: &str = "python3.wasm";

/// Hint for machines without a network.
const OFFLINE: &str = "where there is a network, `python3 -m pip download --no-deps componentize-py==0.25.1` fetches a file, \
     and `tollhouse programs add python3 --from FILE` takes it; so does a package that `--output` wrote on another machine";
/// Hint on how to install Python.
const NO_PYTHON: &str = "Python 3.10 or newer makes it, with pip: https://python.org, or `apt-get install python3 \
     python3-pip`; or `--from DIR` takes a package that `--output` wrote on another machine";

/// Builder of the component, in a directory of its own.
pub(super) struct PythonBuilder<'a> {
    python: OsString,
    directory: &'a Path,
    stop: &'a CtrlCHandler,
    progress: &'a Progress,
}

impl<'a> PythonBuilder<'a> {
    /// Creates a builder in that directory, with the Python that runs this command line, or else the first that is
    /// found.
    pub(super) fn new(program: &Program, directory: &'a Path, stop: &'a CtrlCHandler, progress: &'a Progress) -> Self {
        let is_python = !program.before.is_empty();
        let python = if is_python { program.executable.clone().into_os_string() } else { "python3".into() };
        Self { python, directory, stop, progress }
    }

    /// Fetches componentize-py by pip, which checks the file against the known SHA-256 values.
    pub(super) fn fetch(&self) -> Result<Vec<u8>> {
        self.progress.now(format!("fetching {RELEASE} from PyPI"));
        let requirements = self.directory.join("requirements.txt");
        self.write(&requirements, REQUIREMENTS.as_bytes())?;
        let wheel = self.directory.join(WHEEL);
        let mut pip = self.python(["-m", "pip", "download", "--quiet", "--disable-pip-version-check"]);
        pip.args(["--no-deps", "--only-binary", ":all:", "--require-hashes", "--retries", "2", "--dest"]);
        pip.arg(&wheel).arg("--requirement").arg(&requirements);
        self.run(pip, &format!("cannot fetch {RELEASE}"), OFFLINE)?;
        let found = fs::read_dir(&wheel).and_then(|mut files| files.next().transpose());
        let found = found.map_err(|error| self.unusable(&error))?;
        let found = found.ok_or_else(|| CliError::usage(format!("pip fetched no file of {RELEASE}")).status(1))?;
        read(&found.path())
    }

    /// Builds the component from the file of componentize-py, which must be the known one.
    pub(super) fn make(&self, wheel: &[u8]) -> Result<Vec<u8>> {
        check(wheel)?;
        self.progress.now(format!("making {} {}", PYTHON3.name, PYTHON3.version));
        for (path, text) in SOURCES {
            self.write(&self.directory.join(path), text.as_bytes())?;
        }
        let file = self.directory.join("componentize.zip");
        self.write(&file, wheel)?;
        let mut unpack = self.python(["-m", "zipfile", "-e"]);
        unpack.arg(&file).arg(TOOLCHAIN);
        self.run(unpack, "cannot unpack componentize-py", NO_PYTHON)?;
        let mut componentize = self.python(["-c", "from componentize_py import script; script()"]);
        componentize.args(["-w", "python", "-d", "wit", "componentize", "app", "-p", "app", "-o", COMPONENT]);
        componentize.env("PYTHONPATH", TOOLCHAIN);
        self.run(componentize, "componentize-py cannot make the component", NO_PYTHON)?;
        read(&self.directory.join(COMPONENT))
    }

    fn python<const N: usize>(&self, arguments: [&str; N]) -> Command {
        let mut python = Command::new(&self.python);
        python.args(arguments).current_dir(self.directory).env("PYTHONDONTWRITEBYTECODE", "1");
        python.env_remove("PYTHONPATH").env_remove("PYTHONHOME").env_remove("PYTHONSTARTUP");
        python
    }

    /// Runs a program to its end, unless Ctrl-C ends it. Its output is shown only if it fails.
    fn run(&self, command: Command, failed: &str, hint: &str) -> Result<()> {
        let output = self.stop.capture(command).map_err(|error| {
            let python = Path::new(&self.python).display();
            CliError::because(format!("{failed}: `{python}` cannot be run"), &error).hint(NO_PYTHON)
        })?;
        self.stop.check()?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let last: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = last[last.len().saturating_sub(3)..].join("\n");
        Err(CliError::usage(format!("{failed} ({}): {last}", output.status)).status(1).hint(hint))
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        let parent = path.parent().unwrap_or(self.directory);
        fs::create_dir_all(parent).and_then(|()| fs::write(path, bytes)).map_err(|error| self.unusable(&error))
    }

    fn unusable(&self, error: &io::Error) -> CliError {
        CliError::because(format!("cannot work in `{}`", self.directory.display()), error)
    }
}

/// Checks that bytes are a file of the known release of componentize-py.
fn check(wheel: &[u8]) -> Result<()> {
    let digest = Digest::of(wheel).hex();
    let known = REQUIREMENTS.split_whitespace().filter_map(|word| word.strip_prefix("--hash=sha256:"));
    if known.into_iter().any(|known| known == digest) {
        return Ok(());
    }
    Err(CliError::usage(format!("this is not a file of {RELEASE} from PyPI: its SHA-256 is {digest}"))
        .status(1)
        .hint(OFFLINE))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    untrusted_file::read_regular(path, MAX_COMPONENT as u64)
        .map_err(|error| CliError::because(format!("cannot read `{}`", path.display()), &io::Error::from(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_release_is_the_required_one() {
        let named = REQUIREMENTS.lines().find(|line| !line.starts_with('#')).and_then(|line| line.split(' ').next());
        assert_eq!(named, Some(RELEASE));
        assert!(OFFLINE.contains(RELEASE));
    }

    #[test]
    fn bytes_of_another_file_are_refused() {
        let refused = check(b"PK\x03\x04 of somebody else").expect_err("they are not those of PyPI");
        assert!(refused.to_string().contains("its SHA-256 is "), "{refused}");
    }
}
