//! The decision page's markup: the verdict first, then why, then what was done.

use super::Decision;
use super::files;
use crate::domain::{
    Axes, Criticality, IssueKind, PullState, Quadrant, Reversibility, Reverting, Timestamp,
};
use crate::server::pages::parts;
use crate::server::pages::record::{Entry, Vote};
use crate::server::pages::words;
use maud::{Markup, html};

const PATH_RULE: &str = "path_classifier_default";

pub(super) fn body(decision: &Decision<'_>, now: Timestamp) -> Markup {
    let place = format!("{}#{}", decision.repo, decision.number);
    let newest = decision.history.newest_verdict();
    let shown = decision.verdict.as_ref();
    let is_newest = shown.map(|entry| entry.seq) == newest.map(|entry| entry.seq);
    html! {
        h1 { (place) }
        @if let Some(title) = decision.state.as_ref().and_then(|state| state.title.as_deref()) { p.title { (words::shown(title)) } }
        @if let Some(quadrant) = shown.and_then(|entry| entry.quadrant) {
            p.state { (parts::badge(quadrant)) span { (standing(decision, quadrant, is_newest, now)) } }
        } @else {
            p.lead { "There is no verdict in the part of the log that was looked at." }
        }
        @if !is_newest && shown.is_some() {
            p.info {
                "This is an earlier decision. "
                a href=(parts::pull_href(decision.repo.as_str(), decision.number.0)) { "Show the newest one" } "."
            }
        }
        @if let Some(stopped_at) = decision.history.stopped_at {
            p.info {
                "The log is long: entries before #" (words::grouped(stopped_at)) " were not looked at. "
                a href=(format!("/audit?repo={}&pull={}&before={stopped_at}", decision.repo.as_str().replace('/', "%2F"), decision.number)) { "Look further back" } "."
            }
        }
        div.two {
            @if let Some(entry) = shown { (grid(entry)) }
            (about(decision, shown, now))
        }
        @if let Some(entry) = shown {
            (votes(entry))
            (files::section(&decision.files))
            (evidence(entry))
        }
        (doings(decision))
        (heads(decision, shown))
        section aria-labelledby="entries" {
            h2 #entries { "All entries" }
            @if decision.history.entries.is_empty() {
                (parts::nothing("The log holds none."))
            } @else {
                (parts::entries(decision.history.entries.iter(), false))
            }
        }
    }
}

/// How it stands, in one sentence.
fn standing(
    decision: &Decision<'_>,
    quadrant: Quadrant,
    is_newest: bool,
    now: Timestamp,
) -> Markup {
    let state = decision.state.as_ref().filter(|_| is_newest);
    let answered = state.and_then(|state| state.answered.as_ref());
    let choice = answered.map(|answered| words::answer(answered.choice.as_str()).into_owned());
    let issue = state.and_then(|state| state.issue.as_ref());
    let waits = issue.filter(|issue| issue.kind == IssueKind::PendingOwner);
    let merged = state.and_then(|state| state.after_merge.as_ref());
    html! {
        @match (merged, waits) {
            (Some(merge), _) => { "Merged as " code { (merge.commit.short()) } " into " code { (words::shown(&merge.base_ref)) } "." },
            (None, _) if state.is_some_and(|state| state.closed) => {
                @if was_merged(decision) { "Merged." } @else { "Closed without a merge." }
            },
            (None, Some(issue)) => {
                "An owner must answer; the question has stood for " (parts::ago(issue.opened_at, now)) "."
                @if let Some(choice) = &choice { " So far: " (choice) "." }
            },
            (None, None) => {
                @match &choice {
                    Some(choice) => { "An owner has " (choice) "." },
                    None => { (capital(words::meaning(quadrant))) "." },
                }
            },
        }
    }
}

/// Does the log tell of a merge that happened? An order that was refused is followed by its refusal.
fn was_merged(decision: &Decision<'_>) -> bool {
    let last = decision
        .history
        .entries
        .iter()
        .find_map(|entry| match entry.kind.as_str() {
            "merged" => Some(true),
            "merge_refused" => Some(false),
            "issue_closed" => (entry.because.as_deref() == Some("pull_merged")).then_some(true),
            _ => None,
        });
    last.unwrap_or(false)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// The product of the axes, the verdict marked.
fn grid(entry: &Entry) -> Markup {
    let by_path = entry
        .rules_fired
        .iter()
        .find(|vote| vote.rule == PATH_RULE)
        .and_then(|vote| vote.quadrant);
    let cell = |ir, cr| {
        let quadrant = Axes { ir, cr }.quadrant();
        let is_verdict = entry.quadrant == Some(quadrant);
        let classes = if is_verdict {
            format!("verdict {}", parts::class(quadrant))
        } else {
            String::new()
        };
        let words = match (is_verdict, by_path == Some(quadrant)) {
            (true, _) => "the verdict",
            (false, true) => "by the paths alone",
            (false, false) => "",
        };
        html! { td class=[(!classes.is_empty()).then_some(classes)] { b { (quadrant.letter()) } @if !words.is_empty() { span { (words) } } } }
    };
    html! {
        section aria-labelledby="grid" {
            h2 #grid { "Verdict" }
            table.grid {
                caption { "Can it be undone, and does it matter?" }
                thead { tr { td.corner {} th scope="col" { "reversible" } th scope="col" { "irreversible" } } }
                tbody {
                    @for cr in [Criticality::NonCritical, Criticality::Critical] {
                        tr {
                            th scope="row" { (cr) }
                            (cell(Reversibility::Reversible, cr)) (cell(Reversibility::Irreversible, cr))
                        }
                    }
                }
            }
        }
    }
}

fn about(decision: &Decision<'_>, shown: Option<&Entry>, now: Timestamp) -> Markup {
    let place = format!("{}#{}", decision.repo, decision.number);
    let state = decision.state.as_ref();
    let text = |value: Option<&str>| value.map(|value| html! { (words::shown(value)) });
    let code = |value: Option<&str>| value.map(|value| html! { code { (words::shown(value)) } });
    html! {
        section aria-labelledby="about" {
            h2 #about { "What decided" }
            @if let Some(reasoning) = shown.and_then(|entry| entry.reasoning.as_deref()) { p { (words::shown(reasoning)) } }
            (parts::facts(&[
                ("Pull request", Some(parts::github_link(decision.web_base, "pull", &place))),
                ("Author", text(shown.and_then(|entry| entry.author.as_deref()))),
                ("Head", code(shown.and_then(|entry| entry.head_sha.as_deref()).or(state.map(|state| state.head_sha.as_str())))),
                ("Base branch", code(shown.and_then(|entry| entry.base_ref.as_deref()))),
                ("Decided", shown.map(|entry| html! { (parts::when(entry.ts)) " (" (words::span(now.since(entry.ts))) " ago)" })),
                ("Issue", state.and_then(|state| issue(decision, state))),
                ("Policy", shown.and_then(|entry| entry.policy.as_deref()).map(digest)),
                ("Audit entry", shown.map(parts::entry_link)),
            ]))
        }
    }
}

/// The head of a digest; all of it stands in the entry.
fn digest(whole: &str) -> Markup {
    let head: String = whole.chars().take(19).collect();
    html! { code title=(words::shown(whole)) { (words::shown(&head)) "…" } }
}

fn issue(decision: &Decision<'_>, state: &PullState) -> Option<Markup> {
    let link = |repo: &str, number: u64| {
        parts::github_link(decision.web_base, "issues", &format!("{repo}#{number}"))
    };
    if let Some(issue) = &state.issue {
        return Some(link(issue.repo.name.as_str(), issue.number.0));
    }
    if let Some(reason) = &state.issue_refused {
        return Some(html! { strong { "could not be opened: " (words::shown(reason)) } });
    }
    let ballot = state.inbox.ballot.as_ref()?;
    Some(html! { (link(ballot.repo.name.as_str(), ballot.number.0)) ", closed with the answer" })
}

/// Who voted or has something to say; the others are named.
fn votes(entry: &Entry) -> Markup {
    let silent = |vote: &&Vote| vote.quadrant.is_none() && vote.reason.is_none();
    let mut speaking: Vec<&Vote> = entry
        .rules_fired
        .iter()
        .filter(|vote| !silent(vote))
        .collect();
    speaking.sort_by_key(|vote| std::cmp::Reverse(vote.quadrant)); // stable: chain order within
    let silent: Vec<&Vote> = entry.rules_fired.iter().filter(silent).collect();
    html! {
        section aria-labelledby="votes" {
            h2 #votes { "Votes" }
            table {
                caption { "Every rule ran; the highest vote wins (A, C, B, D)." }
                thead { tr { th scope="col" { "Vote" } th scope="col" { "Rule" } th scope="col" { "Why" } } }
                tbody {
                    @for vote in &speaking {
                        tr {
                            td { @match vote.quadrant { Some(quadrant) => (parts::badge(quadrant)), None => span.dim { "none" } } }
                            th.mono scope="row" { (words::shown(&vote.rule)) }
                            td { (vote.says()) }
                        }
                    }
                }
            }
            @if !silent.is_empty() {
                p.dim {
                    "No vote: "
                    @for (index, vote) in silent.iter().enumerate() { @if index > 0 { ", " } code { (words::shown(&vote.rule)) } }
                    "."
                }
            }
        }
    }
}

fn evidence(entry: &Entry) -> Markup {
    let Some(evidence) = &entry.evidence else {
        return html! {};
    };
    let against = evidence.against();
    let word =
        |value: &Option<String>, otherwise: &str| value.as_deref().unwrap_or(otherwise).to_owned();
    html! {
        section aria-labelledby="evidence" {
            h2 #evidence { "Evidence" }
            (parts::facts(&[
                ("Disposition", Some(html! { (words::shown(&word(&evidence.effective, "no ledger"))) })),
                ("Risk", Some(html! { (words::shown(&word(&evidence.risk, "not known"))) })),
                ("Gate", Some(html! { (words::shown(&word(&evidence.mode, "not known"))) })),
            ]))
            @if against.is_empty() {
                p { "Nothing is held against this head." }
            } @else {
                h3 { "Held against this head" }
                ul { @for line in &against { li { (words::shown(line)) } } }
            }
        }
    }
}

/// Answers and merges: what people and the gate did.
fn doings(decision: &Decision<'_>) -> Markup {
    const KINDS: [&str; 5] = [
        "owner_answer",
        "answer_withdrawn",
        "merged",
        "merge_refused",
        "reverted",
    ];
    let doings: Vec<&Entry> = decision
        .history
        .entries
        .iter()
        .filter(|entry| KINDS.contains(&entry.kind.as_str()))
        .collect();
    let state = decision.state.as_ref();
    let failed = state.and_then(|state| state.gate.failed.as_ref());
    let watch = state.and_then(|state| state.after_merge.as_ref());
    let merged = decision.history.newest_of("merged").is_some();
    html! {
        section aria-labelledby="doings" {
            h2 #doings { "Answers and merge" }
            @if let Some(failed) = failed.filter(|_| watch.is_none()) {
                p.info.bad { "The last merge that was ordered did not happen: " (words::shown(&failed.reason)) }
            }
            @if let Some(watch) = watch {
                p {
                    "Merged " (parts::when(watch.merged_at)) @if !merged { ", not by this server" } ". "
                    @if watch.settled { "Its checks are settled. " } @else { "Its checks are watched until " (parts::when(watch.until)) ". " }
                    @if let Some(incident) = &watch.incident {
                        (parts::github_link(decision.web_base, "issues", &format!("{}#{}", incident.repo.name, incident.number))) " tells of a failure. "
                    }
                    @match &watch.revert {
                        Some(Reverting::Opened { number }) => { (parts::pull_link(&format!("{}#{number}", decision.repo))) " takes it back." },
                        Some(Reverting::Refused { reason }) => { "It could not be taken back: " (words::shown(reason)) },
                        None => {},
                    }
                }
            }
            @if doings.is_empty() && watch.is_none() {
                (parts::nothing("Nobody has answered, and no merge was ordered."))
            } @else {
                (parts::entries(doings.into_iter(), false))
            }
        }
    }
}

/// Every verdict, by its head.
fn heads(decision: &Decision<'_>, shown: Option<&Entry>) -> Markup {
    let verdicts: Vec<&Entry> = decision
        .history
        .entries
        .iter()
        .filter(|entry| entry.is_verdict())
        .collect();
    html! {
        section aria-labelledby="heads" {
            h2 #heads { "History of heads" }
            @if verdicts.is_empty() {
                (parts::nothing("No verdict in the part of the log that was looked at."))
            } @else {
                table.stack {
                    caption { "Newest first." }
                    thead { tr { th scope="col" { "Head" } th scope="col" { "Verdict" } th scope="col" { "Decided" } th scope="col" { "Why" } th scope="col" { "Entry" } } }
                    tbody {
                        @for entry in &verdicts {
                            tr {
                                th scope="row" {
                                    @let sha = entry.head_sha.as_deref().and_then(|sha| sha.get(..7)).unwrap_or("?");
                                    @if shown.is_some_and(|shown| shown.seq == entry.seq) {
                                        code { (sha) } " (shown)"
                                    } @else {
                                        a href=(format!("{}?entry={}", parts::pull_href(decision.repo.as_str(), decision.number.0), entry.seq)) {
                                            code { (sha) }
                                        }
                                    }
                                }
                                td { @if let Some(quadrant) = entry.quadrant { (parts::badge(quadrant)) } }
                                td { (parts::when(entry.ts)) }
                                td { (entry.says()) }
                                td { (parts::entry_link(entry)) }
                            }
                        }
                    }
                }
            }
        }
    }
}
