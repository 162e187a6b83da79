//! C: clang with wasi-libc, and bindings that wit-bindgen, embedded in this program, generates from `wit/`.

use std::path::{Path, PathBuf};
use std::{env, fs};

use wit_bindgen_core::Files;

use super::{BuildJob, CliError, Result, rust, write};

/// Compilers, best first. Any clang since 14 has the wasm back end.
const COMPILERS: [&str; 5] = ["clang", "clang-20", "clang-19", "clang-18", "clang-17"];

/// Directories where systems keep wasi-libc.
const SYSROOTS: [&str; 3] = ["/usr", "/opt/homebrew/share/wasi-sysroot", "/usr/share/wasi-sysroot"];

/// Hint on how to install missing parts.
const INSTALL: &str = "`apt-get install clang lld wasi-libc libclang-rt-dev-wasm32` (Debian, Ubuntu); or unpack wasi-sdk \
    (https://github.com/WebAssembly/wasi-sdk/releases) and set WASI_SDK_PATH to it";

/// Directory of the bindings, in the package's directory.
const BINDINGS: &str = "build/bindings";

pub(super) fn build(job: &BuildJob<'_>) -> Result<PathBuf> {
    let generated = bindings(job)?;
    let mut words = compiler(job)?;
    let clang = words.remove(0);
    let left = job.directory.join("build/module.wasm");
    let mut command = job.command(clang);
    command.args(words).args(["-mexec-model=reactor", "-Wall"]);
    command.args(if job.debug { ["-O0", "-g"] } else { ["-Os", "-Wl,--strip-debug"] });
    command.arg(format!("-I{BINDINGS}")).args(sources(job)?).args(generated).arg("-o").arg("build/module.wasm");
    job.run(command, INSTALL)?;
    Ok(left)
}

/// Returns the package's own sources, sorted: `src/*.c`, relative to its directory.
pub(super) fn sources(job: &BuildJob<'_>) -> Result<Vec<PathBuf>> {
    let Ok(entries) = fs::read_dir(job.directory.join("src")) else { return Ok(Vec::new()) };
    let mut sources = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| CliError::because("cannot list `src`", &error))?.path();
        if path.extension().is_some_and(|extension| extension == "c") {
            sources.push(path.strip_prefix(job.directory).unwrap_or(&path).to_owned());
        }
    }
    sources.sort();
    Ok(sources)
}

/// Writes the bindings, and returns the files to compile and link.
fn bindings(job: &BuildJob<'_>) -> Result<Vec<PathBuf>> {
    let failed =
        |error: &(dyn std::error::Error + 'static)| CliError::because(format!("cannot write `{BINDINGS}`"), error);
    let (mut resolve, world) = job.world()?;
    let mut files = Files::default();
    let made = wit_bindgen_c::Opts::default().build().generate(&mut resolve, world, &mut files);
    made.map_err(|error| CliError::usage(format!("cannot generate C bindings from `wit/`: {error:#}")).status(1))?;
    let directory = job.directory.join(BINDINGS);
    fs::create_dir_all(&directory).map_err(|error| failed(&error))?;
    let mut generated = Vec::new();
    for (name, content) in files.iter() {
        let path = directory.join(name);
        write(&path, content).map_err(|error| failed(&error))?;
        if path.extension().is_none_or(|extension| extension != "h") {
            generated.push(Path::new(BINDINGS).join(name));
        }
    }
    generated.sort();
    Ok(generated)
}

/// Returns the compiler's command line: its program, and the options for its library and its linker.
fn compiler(job: &BuildJob<'_>) -> Result<Vec<String>> {
    if let Some(sdk) = env::var_os("WASI_SDK_PATH").filter(|path| !path.is_empty()) {
        return Ok(vec![Path::new(&sdk).join("bin/clang").display().to_string(), "--target=wasm32-wasip1".into()]);
    }
    let missing =
        |what: &str| CliError::usage(format!("this package is built with clang, and there is no {what}")).hint(INSTALL);
    let target = "--target=wasm32-wasi";
    let found = COMPILERS.into_iter().find(|clang| job.ask(clang, &["--version"]).is_some());
    let clang = found.ok_or_else(|| missing("clang"))?;
    let has_library = |root: &&&str| Path::new(root).join("include/wasm32-wasi/stdlib.h").is_file();
    let root = SYSROOTS.iter().find(has_library).ok_or_else(|| missing("wasi-libc"))?;
    let mut words = vec![clang.to_owned(), target.to_owned(), format!("--sysroot={root}")];
    let is_file = |path: &Option<String>| path.as_ref().is_some_and(|path| Path::new(path).is_file());
    if !is_file(&job.ask(clang, &[target, "-print-prog-name=wasm-ld"])) {
        let linker = rust_linker(job).ok_or_else(|| missing("wasm-ld"))?;
        words.push(format!("-fuse-ld={}", linker.display()));
    }
    if !is_file(&job.ask(clang, &[target, "--rtlib=compiler-rt", "-print-libgcc-file-name"])) {
        // Plain C needs nothing of it; `long double` and 128-bit integers do, and the linker then reports what is
        // missing.
        words.extend(["-nodefaultlibs".to_owned(), "-lc".to_owned()]);
    }
    Ok(words)
}

/// Returns the linker for wasm that rustup installs with Rust.
fn rust_linker(job: &BuildJob<'_>) -> Option<PathBuf> {
    let hosts = fs::read_dir(rust::sysroot(job)?.join("lib/rustlib")).ok()?;
    hosts.filter_map(|host| Some(host.ok()?.path().join("bin/gcc-ld/wasm-ld"))).find(|path| path.is_file())
}
