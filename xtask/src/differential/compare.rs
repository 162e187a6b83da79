//! Comparison of two results of one case.

use std::collections::BTreeSet;

use serde_json::Value;

/// Aspect in which two results differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum DifferenceAspect {
    /// The sides differ in standard output.
    Stdout,
    /// The sides differ in the exit status.
    Status,
    /// Names, contents or targets of the files, directories and links that the script left.
    Files,
    /// Permission bits of the files that the script left.
    Modes,
    /// Presence of text on standard error, on one side only.
    Stderr,
    /// Our side reached a limit or died.
    Limit,
}

impl DifferenceAspect {
    /// Returns the name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Status => "status",
            Self::Files => "files",
            Self::Modes => "modes",
            Self::Stderr => "stderr",
            Self::Limit => "limit",
        }
    }
}

/// Outcome of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ComparisonVerdict {
    /// Both sides gave the same result.
    Same,
    /// The sides differ in these aspects.
    Differs(BTreeSet<DifferenceAspect>),
    /// The reference gave no usable result, for this reason.
    Void(String),
}

/// Words of bash about a substitution that it has printed, and cannot read. Where the script itself is wrong, bash
/// reports it when it reads the script.
const MISREAD: &str = ": command substitution: line ";

/// Compares our result with that of the reference.
pub(crate) fn compare(reference: &Value, ours: &Value) -> ComparisonVerdict {
    if let Some(reason) = reference["refused"].as_str() {
        return ComparisonVerdict::Void(reason.to_owned());
    }
    if reference["late"] == true || reference["crashed"] == true {
        return ComparisonVerdict::Void("the reference did not end in time".to_owned());
    }
    if reference["cut"] == true {
        return ComparisonVerdict::Void("the reference wrote more than is compared".to_owned());
    }
    // bash prints this about a child process that crashed.
    if reference["stderr"].as_str().is_some_and(|text| text.contains(" Segmentation fault ")) {
        return ComparisonVerdict::Void("a program of the reference crashed".to_owned());
    }
    // bash 5.2 prints the body of `$(…)` and reads that again when it runs it: its text of a here-document in a group
    // that another command follows is a syntax error.
    let misread = |stream: &str| reference[stream].as_str().is_some_and(|text| text.contains(MISREAD));
    if misread("stdout") || misread("stderr") {
        return ComparisonVerdict::Void("bash misread its own text of a substitution".to_owned());
    }
    if ours["crashed"] == true || ours["status"] == "limited" {
        return ComparisonVerdict::Differs(BTreeSet::from([DifferenceAspect::Limit]));
    }
    let mut aspects = BTreeSet::new();
    let mut note = |differs: bool, aspect| {
        if differs {
            aspects.insert(aspect);
        }
    };
    note(reference["stdout"] != ours["stdout"], DifferenceAspect::Stdout);
    note(reference["exit_code"] != ours["exit_code"], DifferenceAspect::Status);
    note(reference["files"] != ours["files"] || reference["links"] != ours["links"], DifferenceAspect::Files);
    note(reference["modes"] != ours["modes"], DifferenceAspect::Modes);
    note(is_empty(reference) != is_empty(ours), DifferenceAspect::Stderr);
    if aspects.contains(&DifferenceAspect::Files) {
        // A file that exists on one side only has no mode to compare.
        aspects.remove(&DifferenceAspect::Modes);
    }
    if aspects.is_empty() { ComparisonVerdict::Same } else { ComparisonVerdict::Differs(aspects) }
}

fn is_empty(result: &Value) -> bool {
    result["stderr"].as_str().is_none_or(str::is_empty)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::{ComparisonVerdict, DifferenceAspect, compare};

    #[test]
    fn comparison_names_each_aspect_that_differs() {
        let reference =
            json!({"stdout": "1\n", "stderr": "", "exit_code": 0, "files": {"a": "x"}, "modes": {"a": "644"}});
        assert_eq!(compare(&reference, &reference), ComparisonVerdict::Same);
        let mut ours = reference.clone();
        ours["stdout"] = "2\n".into();
        ours["stderr"] = "oops".into();
        ours["files"] = json!({});
        ours["modes"] = json!({});
        let expected = BTreeSet::from([DifferenceAspect::Stdout, DifferenceAspect::Stderr, DifferenceAspect::Files]);
        assert_eq!(compare(&reference, &ours), ComparisonVerdict::Differs(expected));
    }

    #[test]
    fn comparison_of_texts_on_stderr_is_by_emptiness_alone() {
        let result = |text: &str| json!({"stdout": "", "stderr": text, "exit_code": 1});
        assert_eq!(compare(&result("bash: line 1: x"), &result("x: no")), ComparisonVerdict::Same);
    }

    #[test]
    fn comparison_with_a_reference_that_was_late_is_void() {
        assert!(matches!(compare(&json!({"late": true}), &json!({})), ComparisonVerdict::Void(_)));
    }

    #[test]
    fn comparison_with_a_reference_that_misread_its_own_text_is_void() {
        let text = "bash: command substitution: line 14: syntax error near unexpected token `{'\n";
        let ours = json!({"stdout": "a\n", "stderr": "", "exit_code": 0});
        assert!(matches!(compare(&json!({"stdout": text, "exit_code": 0}), &ours), ComparisonVerdict::Void(_)));
    }

    #[test]
    fn comparison_with_a_reference_that_was_cut_or_crashed_is_void() {
        let ours = json!({"stdout": "1\n", "stderr": "", "exit_code": 0});
        let crashed = "bash: line 7:   180 Segmentation fault      bc <<'END'\n";
        let crashed = json!({"stdout": "status 139\n", "stderr": crashed, "exit_code": 0});
        assert!(matches!(compare(&crashed, &ours), ComparisonVerdict::Void(_)));
        assert!(matches!(compare(&json!({"stdout": "1\n1\n", "cut": true}), &ours), ComparisonVerdict::Void(_)));
    }
}
