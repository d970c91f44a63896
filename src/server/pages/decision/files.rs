//! The files of a decision as the store keeps them for a time: what each does to the verdict, and why.

use crate::domain::{Axes, Criticality, RepoId, Reversibility};
use crate::server::pages::error::PageError;
use crate::server::pages::parts;
use crate::server::pages::words;
use crate::store::Store;
use maud::{Markup, html};
use serde::Deserialize;

/// Files that one page lists.
const LISTED: usize = 300;

/// What is known of the files.
pub(super) enum Files {
    /// The worst first, and how many there are.
    Kept(Vec<File>, usize),
    /// So many that they were not kept.
    TooLarge,
    /// No longer kept.
    Gone,
}

#[derive(Deserialize)]
struct Explanation {
    files: Vec<File>,
}

/// One changed file.
#[derive(Debug, Deserialize)]
pub(super) struct File {
    path: String,
    #[serde(default)]
    previous_path: Option<String>,
    status: String,
    #[serde(flatten)]
    axes: Axes,
    ir_because: String,
    cr_because: String,
}

/// Reads what was kept of a decision.
pub(super) async fn read(
    store: &dyn Store,
    repo: Option<RepoId>,
    decision: Option<&str>,
) -> Result<Files, PageError> {
    let kept = match decision {
        Some(id) => store.decision(id).await?,
        None => None,
    };
    let Some(kept) = kept.filter(|kept| Some(kept.row.repo) == repo && kept.row.entry.is_some())
    else {
        return Ok(Files::Gone);
    };
    // Unfolding may take a while for thousands of files.
    let read =
        tokio::task::spawn_blocking(move || kept.explanation.read::<Explanation>("an explanation"));
    let read = read
        .await
        .map_err(|error| PageError::unavailable("the store", &error))?;
    let Some(explanation) = read? else {
        return Ok(Files::TooLarge);
    };
    let mut files = explanation.files;
    let count = files.len();
    files.sort_by_key(|file| std::cmp::Reverse(file.axes.quadrant())); // stable: GitHub's order within
    files.truncate(LISTED);
    Ok(Files::Kept(files, count))
}

pub(super) fn section(files: &Files) -> Markup {
    html! {
        section aria-labelledby="files" {
            @match files {
                Files::Kept(rows, count) => {
                    h2 #files { (words::count(u64::try_from(*count).unwrap_or(u64::MAX), "file", "files")) }
                    @if rows.is_empty() { (parts::nothing("The change names no file.")) } @else { (table(rows)) }
                    @if *count > rows.len() { p.dim { "The " (rows.len()) " with the highest axes are listed." } }
                }
                Files::TooLarge => {
                    h2 #files { "Files" }
                    (parts::nothing("The change has so many files that they were not kept. The verdict and the votes are in the log."))
                }
                Files::Gone => {
                    h2 #files { "Files" }
                    (parts::nothing("The files of this decision are no longer kept (retention.decision_days). The verdict and the votes stay in the log."))
                }
            }
        }
    }
}

fn table(rows: &[File]) -> Markup {
    html! {
        table.stack {
            caption { "Each axis folds over all files; the product is the vote of the path rule. Highest first." }
            thead { tr { th scope="col" { span.hidden { "Quadrant" } } th scope="col" { "File" } th scope="col" { "Undone by a revert?" } th scope="col" { "Does it matter?" } } }
            tbody {
                @for file in rows {
                    tr {
                        td { (parts::badge(file.axes.quadrant())) }
                        th scope="row" {
                            span.path { (words::shown(&file.path)) }
                            span.because {
                                (words::shown(&file.status))
                                @if let Some(previous) = &file.previous_path { " from " span.path { (words::shown(previous)) } }
                            }
                        }
                        (axis(&file.axes.ir.to_string(), file.axes.ir == Reversibility::Irreversible, &file.ir_because))
                        (axis(&file.axes.cr.to_string(), file.axes.cr == Criticality::Critical, &file.cr_because))
                    }
                }
            }
        }
    }
}

fn axis(word: &str, raised: bool, because: &str) -> Markup {
    html! {
        td {
            span class=[raised.then_some("raised")] { (word) }
            span.because { (words::shown(because)) }
        }
    }
}
