//! Builds the documentation as a site with a search: `cargo xtask docs`.
//!
//! mdBook renders the Markdown files of the repository in the order of `docs/SUMMARY.md`, with pages that are generated
//! from the code ([`reference`]). [`links`] checks that the target of each link, and of each path in backquotes,
//! exists; the tests of this crate run the same check.

mod links;
mod reference;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::build::{self, Profile};
use crate::python;
use crate::run::{cargo, command, output, root, run, say, target};
use links::Links;

/// Version of mdBook that renders the site.
const MDBOOK: &str = "0.5.4";

/// Configuration of mdBook, without the title.
const BOOK: &str = r#"[book]
title = "Tollhouse"
language = "en"
src = "src"

[build]
build-dir = "site"
create-missing = false

[output.html]
git-repository-url = "https://github.com/tollhouse/tollhouse"
no-section-label = true

[output.html.fold]
enable = true

[output.html.search]
limit-results = 20
"#;

/// Builds the site, in `target/docs/site`.
pub(crate) fn docs() -> Result<()> {
    build::all(Profile::Debug)?;
    build_site(&root(), &target().join("debug/tollhouse"), &mdbook()?)
}

fn build_site(repository: &Path, tollhouse: &Path, mdbook: &Path) -> Result<()> {
    let place = target().join("docs");
    let sources = place.join("src");
    if sources.exists() {
        fs::remove_dir_all(&sources)?;
    }
    say("checking the links of the documentation");
    let links = Links::read(repository, markdown_files()?)?;
    let mut summary = links.summary()?;
    for page in links.pages() {
        write(&sources.join(page), &links.rewritten(page)?)?;
    }
    copy_images(repository, &sources)?;
    say("making the reference from the code");
    for page in reference::pages(tollhouse)? {
        summary.push_str(&page.entry());
        write(&sources.join(&page.path), &page.text)?;
    }
    write(&sources.join("SUMMARY.md"), &summary)?;
    write(&place.join("book.toml"), BOOK)?;
    say("rendering the site");
    run(command(mdbook).arg("build").arg(&place))?;
    python::reference_to(&place.join("site/python"))?;
    println!("{}", place.join("site/index.html").display());
    Ok(())
}

/// Returns the Markdown files that git tracks, relative to the root.
fn markdown_files() -> Result<Vec<PathBuf>> {
    let listed = output(command("git").args(["ls-files", "--cached", "--others", "--exclude-standard", "*.md"]))?;
    Ok(listed.lines().map(PathBuf::from).collect())
}

fn copy_images(repository: &Path, sources: &Path) -> Result<()> {
    let (from, to) = (repository.join("docs/images"), sources.join("docs/images"));
    fs::create_dir_all(&to)?;
    for entry in fs::read_dir(&from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    let directory = path.parent().context("a file lies in a directory")?;
    fs::create_dir_all(directory)?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Installs mdBook if it is missing, and returns its path.
fn mdbook() -> Result<PathBuf> {
    let tools = target().join("docs/tools");
    let mdbook = tools.join("bin/mdbook");
    let is_this_version =
        |mdbook| output(command(mdbook).arg("--version")).is_ok_and(|version| version.contains(MDBOOK));
    if !(mdbook.exists() && is_this_version(&mdbook)) {
        say("installing mdBook, which takes five minutes");
        let mut install = cargo(&["install", "--locked", "--force", "--no-default-features", "--features", "search"]);
        install.args(["--version", MDBOOK, "mdbook", "--root"]).arg(&tools);
        // mdBook's crates are not those of the workspace, so they get a target directory of their own.
        run(install.env_remove("CARGO_TARGET_DIR"))?;
    }
    Ok(mdbook)
}
