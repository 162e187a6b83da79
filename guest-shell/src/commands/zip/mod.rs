//! `zip` and `unzip`, as Info-ZIP's 3.0 and 6.0 have them, without ZIP64 and encryption.
//!
//! | module | contents |
//! | --- | --- |
//! | [`pattern`] | names with `*`, `?` and `[…]`, where `*` goes over `/` |
//! | [`entry`] | archives as bytes |
//! | [`zip_options`], [`unzip_options`] | the command lines |
//! | [`selection`] | what `zip` works on |
//! | [`create`] | `zip` |
//! | [`finish`] | what `zip` does beside making an archive |
//! | [`extract`] | `unzip` |
//! | [`place`] | files that `unzip` writes |
//! | [`list`] | lists of what is in an archive |

mod create;
mod entry;
mod extract;
mod finish;
mod list;
mod pattern;
mod place;
mod selection;
mod unzip_options;
mod zip_options;

use bashkit::BuiltinRegistry;

/// Adds the commands to the registry.
pub(super) fn register(registry: &BuiltinRegistry) {
    registry.insert_command("zip", create::Zip);
    registry.insert_command("unzip", extract::Unzip { info: false });
    registry.insert_command("zipinfo", extract::Unzip { info: true });
}
