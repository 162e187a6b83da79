//! Table of commands that replace programs and were derived from bashkit. They are added to bashkit's own commands, and
//! are reported, streamed and found in `PATH` like these.

use std::sync::Arc;

use bashkit::Builtin;

use super::archive::bzip2::{Bunzip2, Bzcat, Bzip2};
use super::archive::comparison::CompressedComparison;
use super::archive::gzip::{Gunzip, Gzip, Zcat};
use super::archive::search::CompressedGrep;
use super::archive::tar::Tar;
use super::archive::xz::Xz;
use super::archive::zstd::Zstd;
use super::cal::Cal;
use super::coreutils_extra::{GrepAlias, ListAlias, Sum};
use super::date::Date;
use super::du::Du;
use super::encodings::EncodingCommand;
use super::identity::{Groups, Id, UserDatabase};
use super::line_breaks::{Conversion, LineBreaks};
use super::shred::Shred;
use super::who::Who;
use super::wrappers::{Ionice, Setsid, Stdbuf};
use super::{
    awk, cat, checksum, cmp, col, colrm, comm, csplit, cut, df, diff, dirname, dirstack, ed, enable, env, expand, expr,
    factor, file, find, fmt, fold, grep, head, hexdump, iconv, join, less, logger, look, ls, mapfile, mktemp,
};
use super::{
    nl, numfmt, od, openssl, paste, pr, printf, sed, shuf, sort, split, stat, strings, tail, textrev, time, touch, tr,
    tree, truncate, uniq, watch, wc, which, xargs, xxd,
};

/// Command with its name.
type NamedUtility = (&'static str, Arc<dyn Builtin>);

/// Returns the commands. `user` owns the files.
pub(super) fn all(user: &str, clock: Date) -> Vec<NamedUtility> {
    let mut utilities: Vec<NamedUtility> = vec![
        ("date", Arc::new(clock)),
        ("cal", Arc::new(Cal::with_clock(clock))),
        ("dirname", Arc::new(dirname::Dirname)),
        ("dirs", Arc::new(dirstack::Dirs)),
        ("ed", Arc::new(ed::Ed)),
        ("enable", Arc::new(enable::Enable)),
        ("env", Arc::new(env::Env)),
        ("expr", Arc::new(expr::Expr)),
        ("logger", Arc::new(logger::Logger)),
        ("logout", Arc::new(enable::Logout)),
        ("mapfile", Arc::new(mapfile::Mapfile)),
        ("mktemp", Arc::new(mktemp::Mktemp)),
        ("numfmt", Arc::new(numfmt::Numfmt)),
        ("popd", Arc::new(dirstack::Popd)),
        ("pushd", Arc::new(dirstack::Pushd)),
        ("pr", Arc::new(pr::Pr::with_clock(clock))),
        ("openssl", Arc::new(openssl::Openssl)),
        ("printf", Arc::new(printf::Printf::with_clock(clock))),
        ("readarray", Arc::new(mapfile::Mapfile)),
        ("shuf", Arc::new(shuf::Shuf)),
        ("ionice", Arc::new(Ionice)),
        ("setsid", Arc::new(Setsid)),
        ("stdbuf", Arc::new(Stdbuf)),
        ("suspend", Arc::new(enable::Suspend)),
        ("time", Arc::new(time::GnuTime)),
        ("watch", Arc::new(watch::Watch)),
        ("which", Arc::new(which::Which)),
        ("xargs", Arc::new(xargs::Xargs)),
    ];
    for name in ["awk", "gawk", "mawk", "nawk"] {
        utilities.push((name, Arc::new(awk::Awk::with_clock(clock))));
    }
    utilities.extend(filters());
    utilities.extend(checksums());
    utilities.extend(file_commands(clock, user));
    utilities.extend(compressors());
    utilities
}

/// Commands that filter text or bytes.
fn filters() -> Vec<NamedUtility> {
    vec![
        ("base32", Arc::new(EncodingCommand::base32())),
        ("base64", Arc::new(EncodingCommand::base64())),
        ("basenc", Arc::new(EncodingCommand::basenc())),
        ("cat", Arc::new(cat::Cat)),
        ("col", Arc::new(col::Col)),
        ("colrm", Arc::new(colrm::Colrm)),
        ("comm", Arc::new(comm::Comm)),
        ("csplit", Arc::new(csplit::Csplit)),
        ("cut", Arc::new(cut::Cut)),
        ("egrep", Arc::new(GrepAlias::egrep())),
        ("expand", Arc::new(expand::Expand)),
        ("factor", Arc::new(factor::Factor)),
        ("fgrep", Arc::new(GrepAlias::fgrep())),
        ("fmt", Arc::new(fmt::Fmt)),
        ("fold", Arc::new(fold::Fold)),
        ("grep", Arc::new(grep::Grep)),
        ("head", Arc::new(head::Head)),
        ("hd", Arc::new(hexdump::Hexdump::hd())),
        ("hexdump", Arc::new(hexdump::Hexdump::with_words())),
        ("iconv", Arc::new(iconv::Iconv)),
        ("join", Arc::new(join::Join)),
        ("look", Arc::new(look::Look)),
        ("nl", Arc::new(nl::Nl)),
        ("od", Arc::new(od::Od)),
        ("paste", Arc::new(paste::Paste)),
        ("rev", Arc::new(textrev::Rev)),
        ("sed", Arc::new(sed::Sed)),
        ("sort", Arc::new(sort::Sort)),
        ("split", Arc::new(split::Split)),
        ("strings", Arc::new(strings::Strings)),
        ("tac", Arc::new(textrev::Tac)),
        ("tail", Arc::new(tail::Tail)),
        ("tr", Arc::new(tr::Tr)),
        ("unexpand", Arc::new(expand::Unexpand)),
        ("uniq", Arc::new(uniq::Uniq)),
        ("wc", Arc::new(wc::Wc)),
        ("xxd", Arc::new(xxd::Xxd)),
    ]
}

/// Commands that print checksums.
fn checksums() -> Vec<NamedUtility> {
    let mut utilities: Vec<NamedUtility> = vec![("sum", Arc::new(Sum))];
    utilities.extend(checksum::commands().map(|(name, command)| (name, Arc::new(command) as Arc<dyn Builtin>)));
    utilities
}

/// Commands that compress files, and those that work on compressed files.
fn compressors() -> Vec<NamedUtility> {
    let mut utilities: Vec<NamedUtility> = vec![
        ("bunzip2", Arc::new(Bunzip2)),
        ("bzcat", Arc::new(Bzcat)),
        ("bzip2", Arc::new(Bzip2)),
        ("gunzip", Arc::new(Gunzip)),
        ("gzip", Arc::new(Gzip)),
        ("zcat", Arc::new(Zcat)),
    ];
    utilities.extend(Xz::family().map(|command| (command.name(), Arc::new(command) as Arc<dyn Builtin>)));
    utilities.extend(Zstd::family().map(|command| (command.name(), Arc::new(command) as Arc<dyn Builtin>)));
    utilities.extend(CompressedGrep::family().map(|command| (command.name(), Arc::new(command) as Arc<dyn Builtin>)));
    utilities
        .extend(CompressedComparison::family().map(|command| (command.name(), Arc::new(command) as Arc<dyn Builtin>)));
    utilities
}

/// Commands for files and directories.
fn file_commands(clock: Date, user: &str) -> Vec<NamedUtility> {
    vec![
        ("cmp", Arc::new(cmp::Cmp)),
        ("df", Arc::new(df::Df)),
        ("dir", Arc::new(ListAlias::dir(ls::Ls::new(clock, user)))),
        ("vdir", Arc::new(ListAlias::vdir(ls::Ls::new(clock, user)))),
        ("diff", Arc::new(diff::Diff)),
        ("diff3", Arc::new(diff::Diff3)),
        ("du", Arc::new(Du::new(clock, user))),
        ("fallocate", Arc::new(truncate::Fallocate)),
        ("file", Arc::new(file::File)),
        ("groups", Arc::new(Groups(UserDatabase::new(user)))),
        ("who", Arc::new(Who)),
        ("id", Arc::new(Id(UserDatabase::new(user)))),
        ("find", Arc::new(find::Find::new(clock, user))),
        ("less", Arc::new(less::Less)),
        ("ls", Arc::new(ls::Ls::new(clock, user))),
        ("dos2unix", Arc::new(LineBreaks(Conversion::DosToUnix))),
        ("mac2unix", Arc::new(LineBreaks(Conversion::MacToUnix))),
        ("sdiff", Arc::new(diff::Sdiff)),
        ("shred", Arc::new(Shred)),
        ("stat", Arc::new(stat::Stat::new(clock, user))),
        ("tar", Arc::new(Tar::with_clock(clock))),
        ("touch", Arc::new(touch::Touch::with_clock(clock))),
        ("tree", Arc::new(tree::Tree::new(clock, user))),
        ("truncate", Arc::new(truncate::Truncate)),
        ("unix2dos", Arc::new(LineBreaks(Conversion::UnixToDos))),
        ("unix2mac", Arc::new(LineBreaks(Conversion::UnixToMac))),
    ]
}
