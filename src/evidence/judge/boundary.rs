//! The boundaries of the work: its risk, its scope, its file, and that there is one ledger a change.

use super::finding::{Code, Finding};
use super::{Context, Weighed};
use crate::domain::Quadrant;
use crate::evidence::ledger::Ledger;
use crate::evidence::scope;
use crate::evidence::sections::Section;
use crate::evidence::text::Place;
use crate::evidence::words::{Risk, known};
use std::collections::BTreeMap;

/// How a file came to be outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// It is among the changed files.
    Changed,
    /// The execution log says so, here.
    Logged(Place),
}

/// The risk that the change carries whatever the ledger says.
fn floor(context: &Context<'_>) -> Risk {
    let by_quadrant = context
        .quadrant
        .map_or(Risk::Low, |quadrant| match quadrant {
            Quadrant::A => Risk::Low,
            Quadrant::B | Quadrant::C => Risk::Medium,
            Quadrant::D => Risk::High,
        });
    if context.high_risk_domains.is_empty() {
        by_quadrant
    } else {
        Risk::High
    }
}

/// The ledger's risk, raised to the floor; high when the ledger states none.
pub(super) fn risk(ledger: &Ledger, context: &Context<'_>) -> Risk {
    let stated = ledger
        .risk
        .as_ref()
        .and_then(|section| known(section.level.as_ref()));
    stated.unwrap_or(Risk::High).max(floor(context))
}

/// The files outside the authorized scope, each once: changed ones, then those of the log.
pub(super) fn outside(ledger: &Ledger, context: &Context<'_>) -> Vec<(String, How)> {
    let changed = context.changed_files.unwrap_or_default();
    let executed = scope::executed(ledger);
    if changed.is_empty() && executed.is_empty() {
        return Vec::new();
    }
    // Compiling globs is the dearest step of a judgement: once, and only where there is something to compare.
    let authorized = scope::Scope::of(ledger);
    let changed = changed
        .iter()
        .map(|path| ((*path).to_owned(), How::Changed));
    let logged = executed
        .into_iter()
        .map(|(path, at)| (path, How::Logged(at)));
    let mut outside: Vec<(String, How)> = Vec::new();
    let mut scratch = Vec::new();
    for (path, how) in changed.chain(logged) {
        if !authorized.covers(&path, &mut scratch)
            && !outside.iter().any(|(known, _)| *known == path)
        {
            outside.push((path, how));
        }
    }
    outside
}

pub(super) fn check(weighed: &Weighed<'_>, context: &Context<'_>, findings: &mut Vec<Finding>) {
    let ledger = weighed.ledger;
    lowered(ledger, context, findings);
    for (path, how) in &weighed.outside {
        let (at, told) = match how {
            How::Changed => (ledger.spans.place(Section::AuthorizedScope), "is changed"),
            How::Logged(at) => (*at, "was changed, as the execution log says,"),
        };
        findings.push(Finding::new(
            Code::OutsideScope,
            at,
            format!("`{path}` {told} and is not in the authorized scope"),
            "undo it, or record the expansion, reassess the risk and have the wider scope approved",
        ));
    }
    if let Some(path) = context
        .committed_path
        .filter(|path| path.contains(".evidence-gated/active/"))
    {
        findings.push(Finding::new(
            Code::ActiveCommitted,
            Place::default(),
            format!("`{path}` is an active ledger and is committed"),
            "finalize it, keep it on purpose as `docs/evidence-gated/<change-id>.md`, or leave it out of the commit",
        ));
    }
}

fn lowered(ledger: &Ledger, context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(word) = ledger
        .risk
        .as_ref()
        .and_then(|section| section.level.as_ref())
    else {
        return;
    };
    let floor = floor(context);
    let Some(stated) = word.known().filter(|stated| *stated < floor) else {
        return;
    };
    let quadrant = context
        .quadrant
        .map(|quadrant| format!("quadrant {quadrant}"));
    let domains = context
        .high_risk_domains
        .iter()
        .map(|domain| (*domain).to_owned());
    let why = quadrant
        .into_iter()
        .chain(domains)
        .collect::<Vec<_>>()
        .join(", ");
    findings.push(Finding::new(
        Code::RiskLowered,
        word.at,
        format!("the ledger says `{stated}`, the change carries `{floor}` ({why})"),
        format!("write `{floor}`; a ledger may raise its risk, not lower it"),
    ));
}

/// Active ledgers that are about one change: the index of every later one with its finding.
///
/// `active` holds the path and the ledger of each active file.
#[must_use]
pub fn duplicates(active: &[(&str, &Ledger)]) -> Vec<(usize, Finding)> {
    let mut first: BTreeMap<String, &str> = BTreeMap::new();
    let mut findings = Vec::new();
    for (index, (path, ledger)) in active.iter().enumerate() {
        let Some(id) = &ledger.change_id else {
            continue;
        };
        match first.get(&id.text.as_str().to_lowercase()) {
            None => {
                first.insert(id.text.as_str().to_lowercase(), path);
            }
            Some(earlier) => findings.push((
                index,
                Finding::new(
                    Code::DuplicateLedger,
                    id.at,
                    format!("`{}` has an active ledger already: `{earlier}`", id.text),
                    "keep one ledger a change; go on in the first",
                ),
            )),
        }
    }
    findings
}
