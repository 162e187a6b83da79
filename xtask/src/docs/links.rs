//! Links between the Markdown files of the repository, and paths of the repository that the files name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Address of the files that are not pages of the site.
const REPOSITORY: &str = "https://github.com/tollhouse/tollhouse/blob/main";

/// Table of contents of the site.
const SUMMARY: &str = "docs/SUMMARY.md";

/// Directories in which a path named in backquotes must exist. `tools` is not among them, because methods of MCP begin
/// with it (`tools/call`).
const CHECKED_DIRECTORIES: [&str; 10] =
    ["docs", "examples", "guest-js", "guest-shell", "host", "python", "registry", "tests", "wit", "xtask"];

/// Markdown files of a repository, with their headings and links.
pub(super) struct Links {
    repository: PathBuf,
    files: BTreeMap<PathBuf, MarkdownFile>,
    /// Files that the table of contents names.
    pages: BTreeSet<PathBuf>,
}

struct MarkdownFile {
    text: String,
    /// Anchors of the file's headings.
    anchors: BTreeSet<String>,
    /// Destinations of the file's links, as written, and the position of each link in the text.
    links: Vec<(String, usize)>,
    /// Repository paths in backquotes, and the position of each in the text.
    paths: Vec<(String, usize)>,
}

impl Links {
    /// Reads the Markdown files of a repository.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be read, or names every link and path whose target does not exist.
    pub(super) fn read(repository: &Path, paths: Vec<PathBuf>) -> Result<Self> {
        let mut files = BTreeMap::new();
        for path in paths {
            let text = fs::read_to_string(repository.join(&path)).with_context(|| path.display().to_string())?;
            files.insert(path, MarkdownFile::read(text));
        }
        let mut links = Self { repository: repository.to_owned(), files, pages: BTreeSet::new() };
        let broken = links.broken();
        if !broken.is_empty() {
            bail!("links or paths lead nowhere:\n{}", broken.join("\n"));
        }
        let summary = links.files.get(Path::new(SUMMARY)).with_context(|| format!("there is no {SUMMARY}"))?;
        let named = summary.links.iter().map(|(to, _)| LinkTarget::of(Path::new(SUMMARY), to));
        links.pages = named.flatten().map(|target| target.path).collect();
        Ok(links)
    }

    /// Returns the files that the table of contents names.
    pub(super) fn pages(&self) -> impl Iterator<Item = &Path> {
        self.pages.iter().map(PathBuf::as_path)
    }

    /// Returns the table of contents with paths relative to the root.
    pub(super) fn summary(&self) -> Result<String> {
        self.with_links(Path::new(SUMMARY), |target, _| Some(target.path.display().to_string()))
    }

    /// Returns the text of a page in which links to files that are not pages lead to the repository on the web.
    pub(super) fn rewritten(&self, page: &Path) -> Result<String> {
        self.with_links(page, |target, to| {
            let is_shown = self.pages.contains(&target.path) || target.path.starts_with("docs/images");
            (!is_shown && !to.starts_with('#')).then(|| format!("{REPOSITORY}/{}", target.path.display()))
        })
    }

    fn with_links(&self, path: &Path, replacement: impl Fn(&LinkTarget, &str) -> Option<String>) -> Result<String> {
        let file = self.files.get(path).with_context(|| format!("{} is no Markdown file here", path.display()))?;
        let mut text = file.text.clone();
        // Replacements go from the end to the start, so that earlier positions stay valid.
        for (to, start) in file.links.iter().rev() {
            let Some(new) = LinkTarget::of(path, to).and_then(|target| replacement(&target, to)) else { continue };
            let old = format!("]({to})");
            let found = text[*start..].find(&old);
            let found =
                start + found.with_context(|| format!("{}: `[text]({to})` is the form of links", path.display()))?;
            text.replace_range(found..found + old.len(), &format!("]({new})"));
        }
        Ok(text)
    }

    /// Describes each link and path whose target does not exist, with its position.
    fn broken(&self) -> Vec<String> {
        let mut broken = Vec::new();
        for (path, file) in &self.files {
            let line = |start: usize| file.text[..start].matches('\n').count() + 1;
            for (to, start) in &file.links {
                if let Some(problem) = LinkTarget::of(path, to).and_then(|target| self.problem(&target)) {
                    broken.push(format!("{}:{}: {to}: {problem}", path.display(), line(*start)));
                }
            }
            for (named, start) in &file.paths {
                if !self.has_path(path, named) {
                    broken.push(format!("{}:{}: `{named}`: there is no such file", path.display(), line(*start)));
                }
            }
        }
        broken
    }

    /// Returns true if a path that a file names exists, relative to the root or to the directory of the file.
    fn has_path(&self, from: &Path, named: &str) -> bool {
        let directories = [Some(Path::new("")), from.parent()];
        directories.into_iter().flatten().any(|directory| self.repository.join(directory).join(named).exists())
    }

    fn problem(&self, target: &LinkTarget) -> Option<String> {
        if !self.repository.join(&target.path).exists() {
            return Some("there is no such file".to_owned());
        }
        let anchor = target.anchor.as_ref()?;
        let known = self.files.get(&target.path)?.anchors.contains(anchor);
        (!known).then(|| format!("{} has no such heading", target.path.display()))
    }
}

/// Target of a link within the repository.
struct LinkTarget {
    /// File or directory, relative to the root.
    path: PathBuf,
    /// Anchor of a heading in the file.
    anchor: Option<String>,
}

impl LinkTarget {
    /// Parses the destination of a link. Returns `None` for links to other sites.
    fn of(from: &Path, to: &str) -> Option<Self> {
        if to.contains("://") || to.starts_with("mailto:") {
            return None;
        }
        let (file, anchor) = to.split_once('#').map_or((to, None), |(file, anchor)| (file, Some(anchor.to_owned())));
        let path = if file.is_empty() { from.to_owned() } else { normalized(&from.parent()?.join(file)) };
        Some(Self { path, anchor })
    }
}

/// Returns true if code in backquotes is the path of a file or directory of the repository. Patterns, placeholders in
/// capitals (`NAME`) and files that a build makes are excluded.
fn is_repository_path(code: &str) -> bool {
    let is_plain = |part: &str| {
        let is_allowed = part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
        is_allowed && part != "target" && part.chars().any(|c| !c.is_ascii_uppercase())
    };
    let path = code.trim_end_matches('/').split_once('/');
    path.is_some_and(|(directory, rest)| CHECKED_DIRECTORIES.contains(&directory) && rest.split('/').all(is_plain))
}

/// Resolves `.` and `..` in a path. A path that climbs out of the repository keeps the `..` at its start.
fn normalized(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if parts.file_name().is_some() => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    parts
}

impl MarkdownFile {
    fn read(text: String) -> Self {
        let (mut anchors, mut links, mut paths, mut heading) =
            (BTreeSet::new(), Vec::new(), Vec::new(), None::<String>);
        for (event, place) in Parser::new_ext(&text, Options::ENABLE_TABLES).into_offset_iter() {
            if let Event::Code(code) = &event
                && is_repository_path(code)
            {
                paths.push((code.to_string(), place.start));
            }
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    let anchor = anchor(&heading.take().unwrap_or_default());
                    // A repeated heading gets a number.
                    let unique = (1..).map(|n| format!("{anchor}-{n}"));
                    let name = std::iter::once(anchor.clone()).chain(unique).find(|name| !anchors.contains(name));
                    anchors.extend(name);
                }
                Event::Text(part) | Event::Code(part) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&part);
                    }
                }
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    links.push((dest_url.to_string(), place.start));
                }
                _ => {}
            }
        }
        Self { text, anchors, links, paths }
    }
}

/// Returns the anchor that GitHub and mdBook give a heading: lower case, `-` for spaces, no punctuation but `_`.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ' '));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}
