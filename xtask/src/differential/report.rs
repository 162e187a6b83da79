//! Report of a run: a table by cause, with one shrunk example each.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::cause::{DifferenceCause, GroupedCauses};
use super::compare::DifferenceAspect;

/// Longest excerpt of an output, in characters.
const EXCERPT: usize = 400;

/// Outcome of a run over one subject.
pub(crate) struct RunReport {
    /// Name of the generator.
    pub(crate) subject: &'static str,
    /// Seed of the cases.
    pub(crate) seed: u64,
    /// Cases that were compared.
    pub(crate) compared: usize,
    /// Number of cases for which the reference gave no usable result.
    pub(crate) void: usize,
    /// Number of cases whose results differ.
    pub(crate) differing: usize,
    /// Differing cases by cause.
    pub(crate) causes: GroupedCauses,
}

impl RunReport {
    /// Returns the number of differing cases that no accepted difference explains.
    pub(crate) fn unexplained(&self) -> usize {
        let accepted = self.causes.causes.iter().filter(|cause| cause.accepted.is_some());
        self.differing - accepted.map(|cause| cause.cases.len()).sum::<usize>()
    }

    /// Returns the row of this subject in the table of subjects.
    pub(crate) fn summary(&self) -> String {
        let share = 100.0 * self.differing as f64 / self.compared.max(1) as f64;
        format!(
            "| {} | {} | {} | {share:.2} % | {} | {} |",
            self.subject,
            self.compared,
            self.differing,
            self.differing - self.unexplained(),
            self.void
        )
    }

    /// Returns the page of this subject, in Markdown.
    pub(crate) fn page(&self) -> String {
        let mut page = format!("# {} (seed {})\n\n{SUMMARY_HEAD}\n{}\n\n", self.subject, self.seed, self.summary());
        page.push_str("| cases | aspects | productions |\n| --- | --- | --- |\n");
        for cause in &self.causes.causes {
            let accepted = cause.accepted.as_ref().map_or(String::new(), |reason| format!(" (accepted: {reason})"));
            writeln!(page, "| {} | {} | {}{accepted} |", cause.cases.len(), aspects(cause), productions(cause)).ok();
        }
        for (suspect, cases) in &self.causes.rest {
            writeln!(page, "| {} | not shrunk | {suspect}? |", cases.len()).ok();
        }
        for (number, cause) in self.causes.causes.iter().enumerate() {
            write!(page, "\n## {}. {}\n\n{}", number + 1, productions(cause), example(cause)).ok();
        }
        page
    }

    /// Returns one JSON object for each cause, with all that another program or a regression test needs.
    pub(crate) fn records(&self) -> String {
        let record = |cause: &DifferenceCause| {
            json!({
                "subject": self.subject, "features": cause.features, "cases": cause.cases, "job": cause.example.job(),
                "aspects": cause.aspects.iter().map(|aspect| aspect.name()).collect::<Vec<_>>(),
                "reference": cause.trial.reference, "ours": cause.trial.ours, "accepted": cause.accepted,
            })
        };
        self.causes.causes.iter().map(|cause| format!("{}\n", record(cause))).collect()
    }
}

/// Head of the table of subjects.
pub(crate) const SUMMARY_HEAD: &str = "\
| subject | scripts | differing | share | accepted | undecided |
| --- | --- | --- | --- | --- | --- |";

fn aspects(cause: &DifferenceCause) -> String {
    cause.aspects.iter().map(|aspect| aspect.name()).collect::<Vec<_>>().join(", ")
}

fn productions(cause: &DifferenceCause) -> String {
    let names: Vec<String> = cause.features.iter().map(|name| format!("`{}`", name.replace('|', "\\|"))).collect();
    if names.is_empty() { "(none left)".to_owned() } else { names.join(" ") }
}

fn example(cause: &DifferenceCause) -> String {
    let mut text = format!("{} cases, such as {}\n\n", cause.cases.len(), cause.cases[0]);
    write!(text, "```sh\n{}```\n", cause.example.text()).ok();
    for (path, file) in &cause.example.files {
        writeln!(text, "- file `{path}` ({:o}): {:?}", file.mode, excerpt(&file.text)).ok();
    }
    if let Some(stdin) = &cause.example.stdin {
        writeln!(text, "- stdin: {:?}", excerpt(stdin)).ok();
    }
    let (reference, ours) = (&cause.trial.reference, &cause.trial.ours);
    for key in ["stdout", "exit_code", "stderr", "files", "modes", "links"] {
        if reference[key] != ours[key] && shows(key, cause) {
            writeln!(text, "- {key}: reference {}, ours {}", brief(&reference[key]), brief(&ours[key])).ok();
        }
    }
    if cause.aspects.contains(&DifferenceAspect::Limit) {
        writeln!(text, "- ours: {}", brief(&ours["error"])).ok();
    }
    text
}

/// Returns true if a key of the results belongs to an aspect that differs, or explains a difference in another one.
fn shows(key: &str, cause: &DifferenceCause) -> bool {
    let has = |aspect| cause.aspects.contains(&aspect);
    match key {
        "files" | "links" => has(DifferenceAspect::Files),
        "modes" => has(DifferenceAspect::Modes),
        _ => true,
    }
}

fn brief(value: &Value) -> String {
    excerpt(&value.to_string())
}

fn excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
