//! The exit codes of all commands, in one place. They are a promise: scripts rely on them.

use crate::domain::Quadrant;
use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done, nothing to object to.
    Ok,
    /// Done, with findings.
    Findings,
    /// The input, the arguments or the configuration cannot be used; nothing was decided.
    Unusable,
    /// The change is of this quadrant.
    Quadrant(Quadrant),
}

/// The exit codes as `--help` shows them.
pub(super) const HELP: &str = "\
Exit codes:
  0   done; for `classify` and `explain`: A, may merge by itself
  1   done, with findings (checks and linters)
  2   unusable input, arguments or configuration: nothing was decided
  10  B: reversible, critical: may merge by itself, leaves an audit Issue
  11  C: irreversible, non-critical: may merge by itself, leaves an audit Issue
  12  D: irreversible, critical: an owner must answer";

impl Exit {
    /// By how many findings there are.
    pub(super) fn of_findings(count: usize) -> Self {
        if count == 0 { Self::Ok } else { Self::Findings }
    }

    /// The number.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Ok | Self::Quadrant(Quadrant::A) => 0,
            Self::Findings => 1,
            Self::Unusable => 2,
            Self::Quadrant(Quadrant::B) => 10,
            Self::Quadrant(Quadrant::C) => 11,
            Self::Quadrant(Quadrant::D) => 12,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_every_code() {
        let all = [
            Exit::Ok,
            Exit::Findings,
            Exit::Unusable,
            Exit::Quadrant(Quadrant::B),
            Exit::Quadrant(Quadrant::C),
            Exit::Quadrant(Quadrant::D),
        ];
        for exit in all {
            let line = format!("\n  {:<3} ", exit.code());
            assert!(HELP.contains(&line), "{line:?}");
        }
        assert_eq!(Exit::Quadrant(Quadrant::A).code(), 0);
    }
}
