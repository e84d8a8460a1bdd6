//! What a check found.

use serde::Serialize;

/// One check and what is wrong; nothing is wrong where there are no problems.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// A few words for people: `unknown operations are refused`.
    pub check: String,
    pub problems: Vec<Problem>,
}

impl Finding {
    /// A check that failed for one reason.
    #[must_use]
    pub fn failed(check: &str, reason: String) -> Self {
        Self { check: check.into(), problems: vec![Problem::error(reason)] }
    }

    /// True where the plugin does not keep the contract.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity == Severity::Error)
    }
}

/// One thing that is wrong, with where it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub severity: Severity,
    pub text: String,
}

/// How bad it is, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The author should look at it; it can be right.
    Warning,
    /// The contract is broken.
    Error,
}

impl Problem {
    pub(crate) fn error(text: String) -> Self {
        Self { severity: Severity::Error, text }
    }

    pub(crate) fn warning(text: String) -> Self {
        Self { severity: Severity::Warning, text }
    }
}
