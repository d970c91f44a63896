//! The one line that says why: the rules and files that decided, worst first, a count for the rest.
//!
//! INVARIANT: a pure function of the reports and rows; short whatever the size of the change; one line
//! whatever the names in it.

use super::text::clipped;
use super::{FileRow, Finding, RuleReport};
use crate::domain::{Axes, Criticality, Quadrant, Reversibility};

/// Files named on each axis before a count replaces the rest.
const NAMED: usize = 3;
const MAX_PATH: usize = 120;
const MAX_REASON: usize = 240;

/// Builds the line.
pub(super) fn line(reports: &[RuleReport], files: &[FileRow]) -> String {
    let by_path = reports.iter().find_map(|report| match &report.finding {
        Finding::Axes { axes, quadrant } => Some((*axes, *quadrant)),
        Finding::Match { .. } | Finding::NoMatch { .. } | Finding::User { .. } => None,
    });
    let mut votes: Vec<(Quadrant, String)> = reports.iter().filter_map(vote).collect();
    let verdict = votes
        .iter()
        .map(|(quadrant, _)| *quadrant)
        .chain(by_path.map(|(_, quadrant)| quadrant))
        .max();
    let Some(verdict) = verdict else {
        return "no rule voted".to_owned();
    };
    votes.retain(|(quadrant, _)| *quadrant == verdict);
    let mut parts: Vec<String> = votes.into_iter().map(|(_, reason)| reason).collect();
    match by_path {
        // The path rule decided, alone or with others: it names the files first.
        Some((axes, quadrant)) if quadrant == verdict => parts.insert(0, by_files(axes, files)),
        Some((axes, _)) => parts.push(by_files(axes, files)),
        None => {}
    }
    parts.join("; ")
}

/// The vote of a rule other than the path rule.
fn vote(report: &RuleReport) -> Option<(Quadrant, String)> {
    match &report.finding {
        Finding::Axes { .. } | Finding::NoMatch { .. } => None,
        Finding::Match {
            quadrant, reason, ..
        } => Some((
            *quadrant,
            format!("{}: {}", report.rule, clipped(reason, MAX_REASON)),
        )),
        Finding::User {
            quadrant, reason, ..
        } => {
            let reason = reason.as_deref().unwrap_or("raised");
            Some((
                (*quadrant)?,
                format!("{}: {}", report.rule, clipped(reason, MAX_REASON)),
            ))
        }
    }
}

/// `a modified, b removed and 3 more (critical); b: file removed (irreversible)`.
fn by_files(axes: Axes, files: &[FileRow]) -> String {
    let mut worst: Vec<&FileRow> = files.iter().collect();
    worst.sort_by_key(|row| std::cmp::Reverse(row.axes.quadrant())); // stable: the order of the list within
    let deciding: Vec<&FileRow> = worst
        .iter()
        .copied()
        .filter(|row| row.axes.cr == axes.cr)
        .collect();
    let cr = named(&deciding, |row| {
        format!("{} {}", path(row), clipped(&row.status, 40))
    });
    let ir = match axes.ir {
        Reversibility::Reversible if files.len() == 1 => "revertable file edit".to_owned(),
        Reversibility::Reversible => "revertable file edits".to_owned(),
        Reversibility::Irreversible => {
            let lasting: Vec<&FileRow> = worst
                .iter()
                .copied()
                .filter(|row| row.axes.ir == axes.ir)
                .collect();
            named(&lasting, |row| {
                let because = clipped(&row.ir_because.0, MAX_REASON);
                if files.len() == 1 {
                    because
                } else {
                    format!("{}: {because}", path(row))
                }
            })
        }
    };
    let (cr_word, ir_word): (Criticality, Reversibility) = (axes.cr, axes.ir);
    format!("{cr} ({cr_word}); {ir} ({ir_word})")
}

fn named(rows: &[&FileRow], words: impl Fn(&FileRow) -> String) -> String {
    let listed: Vec<String> = rows.iter().take(NAMED).map(|row| words(row)).collect();
    match rows.len().saturating_sub(NAMED) {
        0 => listed.join(", "),
        more => format!("{} and {more} more", listed.join(", ")),
    }
}

fn path(row: &FileRow) -> String {
    match &row.previous_path {
        Some(previous) => format!(
            "{} -> {}",
            clipped(previous, MAX_PATH),
            clipped(&row.path, MAX_PATH)
        ),
        None => clipped(&row.path, MAX_PATH),
    }
}
