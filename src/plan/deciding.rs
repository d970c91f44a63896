//! Which files and rules decided, and what the change would be without those files.

use crate::domain::{Axes, Criticality, Quadrant, Reversibility};
use crate::rules::{FileRow, Finding, RuleReport, Verdict};

/// What decided a verdict.
pub(crate) struct Deciding<'a> {
    /// Files, worst first; empty when no file decided.
    pub files: Vec<&'a FileRow>,
    /// Rules other than the path rule whose vote is the verdict.
    pub rules: Vec<&'a RuleReport>,
    /// The quadrant without those files, where that is lower and something is left.
    pub without: Option<Quadrant>,
}

pub(crate) fn deciding(verdict: &Verdict) -> Deciding<'_> {
    let quadrant = verdict.quadrant();
    let rules: Vec<_> = verdict
        .rules_fired()
        .iter()
        .filter(|report| !is_path_rule(report) && report.finding.vote() == Some(quadrant))
        .collect();
    let files = match verdict.axes() {
        Some(axes) if axes.quadrant() == quadrant => raising(verdict.files(), axes),
        Some(_) | None => Vec::new(),
    };
    let others = verdict
        .rules_fired()
        .iter()
        .filter(|report| !is_path_rule(report))
        .filter_map(|report| report.finding.vote())
        .max();
    let left = rest(verdict.files(), &files);
    let without = left
        .map(|left| others.map_or(left, |others| left.max(others)))
        .filter(|without| !files.is_empty() && *without < quadrant);
    Deciding {
        files,
        rules,
        without,
    }
}

fn is_path_rule(report: &RuleReport) -> bool {
    match report.finding {
        Finding::Axes { .. } => true,
        Finding::Match { .. } | Finding::NoMatch { .. } | Finding::User { .. } => false,
    }
}

/// The files that make the change what it is: those that are it by themselves, if the rest is less; else every file
/// that raises an axis.
fn raising(rows: &[FileRow], change: Axes) -> Vec<&FileRow> {
    let quadrant = change.quadrant();
    if quadrant == Quadrant::A {
        return Vec::new();
    }
    let alone: Vec<_> = rows
        .iter()
        .filter(|row| row.axes.quadrant() == quadrant)
        .collect();
    if !alone.is_empty() && rest(rows, &alone).is_none_or(|rest| rest < quadrant) {
        return alone;
    }
    let mut raising: Vec<_> = rows
        .iter()
        .filter(|row| {
            row.axes.ir == Reversibility::Irreversible || row.axes.cr == Criticality::Critical
        })
        .collect();
    raising.sort_by_key(|row| std::cmp::Reverse(row.axes.quadrant()));
    raising
}

/// The product over the files that are not among those; `None` when none is left.
fn rest(rows: &[FileRow], without: &[&FileRow]) -> Option<Quadrant> {
    rows.iter()
        .filter(|row| !without.iter().any(|other| std::ptr::eq(*other, *row)))
        .map(|row| row.axes)
        .reduce(Axes::or)
        .map(Axes::quadrant)
}
