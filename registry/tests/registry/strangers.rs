//! A registry's directory in which somebody else has put links, pipes and files. Nothing is read, written or removed through
//! them.
#![cfg(unix)]

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
    process::Command,
};

use tollhouse_registry::{Error, Registry};

use crate::support::{Home, request};

/// A home with a release, and a stranger's file beside the registry.
fn home() -> Home {
    let home = Home::new();
    home.registry.publish(request("a:b", "1.0.0", "first")).expect("it publishes");
    fs::write(home.path("token"), "ghp_token").expect("written");
    home
}

fn replace_by_link(path: &Path, target: &Path) {
    if path.is_dir() {
        fs::remove_dir_all(path).expect("it is there");
    } else {
        fs::remove_file(path).expect("it is there");
    }
    symlink(target, path).expect("made");
}

/// Yanks, by a registry that was just opened.
fn yank(home: &Home) -> Result<(), tollhouse_registry::ChangeError> {
    Registry::unchecked(home.path("registry")).yank(&"a:b@1.0.0".parse().expect("a name"), true).map(drop)
}

#[test]
fn writing_with_a_link_as_tmp_removes_nothing_and_fails() {
    let home = home();
    fs::create_dir(home.path("letters")).expect("made");
    for name in ["id_ed25519", ".tmp-0123"] {
        fs::write(home.path("letters").join(name), "precious").expect("written");
    }
    replace_by_link(&home.path("registry/tmp"), &home.path("letters"));
    let error = yank(&home).expect_err("a link").to_string();
    assert!(error.contains("registry/tmp") && error.contains("directory"), "{error}");
    assert!(home.path("letters/id_ed25519").exists() && home.path("letters/.tmp-0123").exists());
}

#[test]
fn files_of_others_in_tmp_stay() {
    let home = home();
    fs::write(home.path("registry/tmp/letter"), "precious").expect("written");
    symlink(home.path("token"), home.path("registry/tmp/.tmp-link")).expect("made");
    yank(&home).expect("it is written");
    assert!(home.path("registry/tmp/letter").exists() && home.path("registry/tmp/.tmp-link").is_symlink());
    assert_eq!(fs::read_to_string(home.path("token")).expect("it is there"), "ghp_token");
}

#[test]
fn writing_with_a_link_as_index_or_lock_fails() {
    for name in ["index", "lock"] {
        let home = home();
        replace_by_link(&home.path("registry").join(name), &home.path("token"));
        let error = home.registry.publish(request("a:c", "1.0.0", "")).expect_err(name);
        assert!(error.to_string().contains(name), "{error}");
        assert_eq!(fs::read_to_string(home.path("token")).expect("it is there"), "ghp_token", "{name}");
        replace_by_link(&home.path("registry").join(name), &home.path("new"));
        assert!(home.registry.publish(request("a:c", "1.0.0", "")).is_err(), "{name}");
        assert!(!home.path("new").exists(), "{name}");
    }
}

#[test]
fn appending_to_an_index_with_a_second_name_fails() {
    let home = home();
    fs::hard_link(home.path("registry/index"), home.path("backup")).expect("made");
    let before = fs::read(home.path("backup")).expect("it is there");
    assert!(yank(&home).expect_err("a second name").to_string().contains("index"));
    assert_eq!(fs::read(home.path("backup")).expect("it is there"), before);
    fs::remove_file(home.path("backup")).expect("removed");
    yank(&home).expect("it is the only name again");
}

#[test]
fn blobs_behind_a_link_are_refused() {
    let home = home();
    fs::rename(home.path("registry/blobs/sha256"), home.path("elsewhere")).expect("moved");
    symlink(home.path("elsewhere"), home.path("registry/blobs/sha256")).expect("made");
    let release = home.registry.list().expect("the index is whole").remove(0);
    let error = home.registry.load_component(&release).expect_err("a link");
    assert!(matches!(error, Error::Kind { .. }), "{error}");
}

#[test]
fn pipes_in_the_place_of_files_are_refused_at_once_and_blobs_healed() {
    let home = home();
    let release = home.registry.list().expect("the index is whole").remove(0);
    let blob = home.path("registry/blobs/sha256").join(release.component.digest.hex());
    let pipe = |path: &Path| {
        fs::remove_file(path).expect("it is there");
        assert!(Command::new("mkfifo").arg(path).status().expect("it starts").success());
    };
    pipe(&blob);
    let problems = Registry::unchecked(home.path("registry")).verify(|_, _, _| {}).problems;
    assert!(problems.iter().any(|problem| problem.problem.contains("regular file")), "{problems:?}");
    home.registry.publish(request("a:b", "1.0.0", "first")).expect("the same bytes put it right");
    home.registry.load_component(&release).expect("it is a file again");
    for name in ["search", "index", "lock"] {
        if name == "search" {
            home.registry.search(&["b".into()], 1).expect("it is made");
        }
        pipe(&home.path("registry").join(name));
        let _ = home.registry.search(&["b".into()], 1);
        assert_eq!(yank(&home).is_ok(), name == "search", "{name}");
    }
}

#[test]
fn registry_writable_by_others_is_refused_unless_trusted() {
    for (place, mode) in
        [("registry", 0o777), ("registry", 0o1777), ("registry", 0o775), ("registry/blobs/sha256", 0o777)]
    {
        let home = home();
        fs::set_permissions(home.path(place), fs::Permissions::from_mode(mode)).expect("it is ours");
        let strict = Registry::unchecked(home.path("registry"));
        let release = home.registry.list();
        let read = release.and_then(|releases| strict.load_component(&releases[0]));
        assert!(matches!(read, Err(Error::Shared { .. })), "{place} {mode:o}: {read:?}");
        assert!(read.expect_err("shared").hint().expect("a hint").contains("--trust-writers"));
        assert!(yank(&home).is_err(), "{place} {mode:o}");
        let trusting = Registry::unchecked(home.path("registry")).trusting_writers(true).checked().expect("trusted");
        trusting.load_component(&trusting.list().expect("it lists")[0]).expect("it is whole");
        fs::set_permissions(home.path(place), fs::Permissions::from_mode(0o755)).expect("it is ours");
        yank(&home).expect("it is ours alone again");
    }
}

#[test]
fn registry_directory_of_another_user_is_refused() {
    let home = home();
    // Only an administrator can give a directory away, and takes none from others either.
    if std::os::unix::fs::chown(home.path("registry/blobs"), Some(54321), None).is_ok() {
        let error = yank(&home).expect_err("it is another user's").to_string();
        assert!(error.contains("54321"), "{error}");
    }
}

#[test]
fn registry_created_is_writable_by_its_user_only() {
    let home = home();
    for place in ["registry", "registry/blobs", "registry/blobs/sha256", "registry/tmp"] {
        let mode = fs::metadata(home.path(place)).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o022, 0, "{place}");
    }
}

#[test]
fn index_of_excessive_length_is_refused_unread() {
    let home = home();
    let file = fs::OpenOptions::new().write(true).open(home.path("registry/index")).expect("it opens");
    file.set_len(1 << 40).expect("a sparse file");
    assert!(matches!(home.open(), Err(Error::Long { .. })));
}

#[test]
fn file_that_others_can_write_is_refused_unless_trusted() {
    for (place, mode) in [("registry/index", 0o666), ("registry/index", 0o664), ("registry/lock", 0o666)] {
        let home = home();
        yank(&home).expect("it is ours alone");
        fs::set_permissions(home.path(place), fs::Permissions::from_mode(mode)).expect("it is ours");
        let refused = yank(&home);
        assert!(format!("{refused:?}").contains("Shared"), "{place} {mode:o}: {refused:?}");
        let trusting = Registry::unchecked(home.path("registry")).trusting_writers(true).checked().expect("trusted");
        trusting.load_component(&trusting.list().expect("it lists")[0]).expect("it is whole");
        fs::set_permissions(home.path(place), fs::Permissions::from_mode(0o644)).expect("it is ours");
        yank(&home).expect("it is ours alone again");
    }
}
