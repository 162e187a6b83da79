//! Compiles a guest's core module into the files that the host embeds: `tollhouse-precompile CORE.wasm OUT`.
//!
//! Writes `OUT.wasm` (the pre-initialised component), `OUT.cwasm.zst` (its machine code, compressed), `OUT.digest` (the
//! blake3 digest of that code, so that the host need not compute it at start-up) and `OUT.pages` (numbers of the memory
//! pages that scripts write to, four bytes each). Part of the build; users never need it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Compression level that is quick enough for every build, and within a tenth of the smallest size that zstd reaches.
const LEVEL: i32 = 12;

fn main() -> Result<()> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [core, out] = arguments.as_slice() else {
        bail!("usage: tollhouse-precompile CORE.wasm OUT");
    };
    let core = std::fs::read(core).with_context(|| format!("cannot read {}", core.display()))?;
    let component = tollhouse_engine::guest::preinitialize(&core)?;
    let code = tollhouse_engine::guest::precompile(&component)?;
    write(&out.with_extension("wasm"), &component)?;
    write(&out.with_extension("cwasm.zst"), &zstd::encode_all(code.as_slice(), LEVEL)?)?;
    let name = out.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let pages: Vec<u8> =
        tollhouse_engine::warm_pages::pages(name, &code)?.into_iter().flat_map(u32::to_le_bytes).collect();
    write(&out.with_extension("pages"), &pages)?;
    write(&out.with_extension("digest"), blake3::hash(&code).to_hex().as_bytes())
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}
