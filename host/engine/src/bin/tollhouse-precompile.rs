//! Makes the files of a guest that the host embeds. Part of the build; users never need it.
//!
//! `tollhouse-precompile GUEST OUT`, with GUEST a core module (`.wasm`) or a portable guest as the crate
//! `tollhouse-guests` has it (`.wasm.zst`), writes `OUT.wasm` (the pre-initialised component), `OUT.cwasm.zst` (its machine
//! code, compressed), `OUT.pages` (numbers of the memory pages that scripts write to, four bytes each) and `OUT.digest` (the
//! blake3 digest of the component). `tollhouse-precompile --generic GUEST OUT` writes code for every machine of this
//! architecture; `tollhouse-precompile --portable CORE.wasm OUT` writes, in place of machine code, `OUT.wasm.zst`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tollhouse_engine::{generic_guest, guest, warm_pages};

/// Compression level of machine code, which is quick enough for every build, and within a tenth of the smallest size that
/// zstd reaches.
const LEVEL: i32 = 12;

/// Compression level of what is published, which is compressed rarely. 22 saves nothing more.
const PUBLISHED_LEVEL: i32 = 19;

/// Form of a guest that is written.
#[derive(Clone, Copy)]
enum Form {
    /// Machine code for this machine's processor, with all that it has.
    Native,
    /// Machine code for every processor that [`generic_guest()`] compiles for.
    Generic,
    /// The component itself.
    Portable,
}

fn main() -> Result<()> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    match arguments.as_slice() {
        [flag, core, out] if flag.as_os_str() == "--portable" => make(&component(core)?, out, Form::Portable),
        [flag, guest, out] if flag.as_os_str() == "--generic" => make(&component(guest)?, out, Form::Generic),
        [guest, out] => make(&component(guest)?, out, Form::Native),
        _ => bail!("usage: tollhouse-precompile [--portable | --generic] GUEST OUT"),
    }
}

/// Returns the component of a guest: unpacked if it is a portable one, else made of the core module.
fn component(guest: &Path) -> Result<Vec<u8>> {
    if guest.extension().is_some_and(|extension| extension == "zst") {
        let component = zstd::decode_all(read(guest)?.as_slice());
        return component.with_context(|| format!("{} is damaged", guest.display()));
    }
    preinitialized(guest)
}

fn preinitialized(core: &Path) -> Result<Vec<u8>> {
    guest::preinitialize(&read(core)?)
}

/// Writes the files of a component: the digest last, by which the build knows that they are whole.
fn make(component: &[u8], out: &Path, form: Form) -> Result<()> {
    let code = match form {
        Form::Generic => generic_guest()?.precompile_component(component)?,
        Form::Native | Form::Portable => guest::precompile(component)?,
    };
    write(&out.with_extension("wasm"), component)?;
    let (extension, content) = match form {
        Form::Native => ("cwasm.zst", zstd::encode_all(code.as_slice(), LEVEL)?),
        Form::Generic => ("cwasm.zst", zstd::encode_all(code.as_slice(), PUBLISHED_LEVEL)?),
        Form::Portable => ("wasm.zst", packed(component)?),
    };
    write(&out.with_extension(extension), &content)?;
    let name = out.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let pages: Vec<u8> = warm_pages::pages(name, &code)?.into_iter().flat_map(u32::to_le_bytes).collect();
    write(&out.with_extension("pages"), &pages)?;
    write(&out.with_extension("digest"), blake3::hash(component).to_hex().as_bytes())
}

/// Compresses a portable guest. Its checksum tells a damaged file.
fn packed(component: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = zstd::Encoder::new(Vec::new(), PUBLISHED_LEVEL)?;
    encoder.include_checksum(true)?;
    encoder.set_pledged_src_size(Some(component.len() as u64))?;
    std::io::copy(&mut &component[..], &mut encoder)?;
    Ok(encoder.finish()?)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}
