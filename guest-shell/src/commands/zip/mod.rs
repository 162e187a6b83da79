//! `zip` and `unzip`, which follow Info-ZIP's 3.0 and 6.0, without ZIP64 and encryption.
//!
//! | module | contents |
//! | --- | --- |
//! | [`pattern`] | patterns of names with `*`, `?` and `[…]`, in which `*` matches `/` |
//! | [`entry`] | binary format of archives |
//! | [`zip_options`], [`unzip_options`] | command-line options |
//! | [`selection`] | selection of files by `zip` |
//! | [`create`] | `zip` |
//! | [`finish`] | actions of `zip` other than creating the archive |
//! | [`extract`] | `unzip` |
//! | [`place`] | extraction of files by `unzip` |
//! | [`list`] | lists of the entries of an archive |

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
