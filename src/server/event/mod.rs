//! From one webhook payload to the subjects that must be looked at.
//!
//! A pure function: no store, no clock. Work is level-triggered, so a payload only says *where* to look; the
//! few things taken from it are what nothing else tells: the head SHA that it announces, who pressed a button, who
//! edited a comment. [`triggers`] is the table, one arm a case.

mod name;
mod wire;

pub use name::Event;

use crate::domain::{
    AppId, CommentId, InstallationId, IssueNumber, PullNumber, RepoId, RepoRef, Sha, Subject,
    Trigger,
};
use crate::store::{InstallationStatus, Note};
use std::sync::Arc;
use wire::{CheckRun, Payload, PullRequest, Repository};

/// The check-run in which the judge's verdict stands.
const JUDGMENT: &str = "classifier-judgment";

/// What the configuration says about a repository.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Standing {
    /// Its pull requests are ours to classify.
    pub supervised: bool,
    /// Its merged commits are looked at afterwards.
    pub watched: bool,
    /// Our Issues stand there.
    pub inbox: bool,
    /// Does the merge gate merge, and into which branches?
    pub merges: Merges,
    /// The names of the checks that CI is judged by; none named: every check is.
    pub required_checks: Vec<String>,
}

impl Standing {
    /// Can a check of this name change what CI says? Of a name that is missing anything may be true.
    fn judges_by(&self, check: Option<&str>) -> bool {
        self.required_checks.is_empty()
            || check.is_none_or(|check| self.required_checks.iter().any(|name| name == check))
    }
}

/// Does the merge gate merge? If it does not, nothing is to be looked at because CI ended or a base moved.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Merges {
    /// It does not.
    #[default]
    Off,
    /// It does, into the default branch.
    IntoDefault,
    /// It does, into these branches.
    Into(Vec<String>),
}

impl Merges {
    fn is_on(&self) -> bool {
        *self != Self::Off
    }

    fn into(&self, branch: &str, default: Option<&str>) -> bool {
        match self {
            Self::Off => false,
            Self::IntoDefault => default == Some(branch),
            Self::Into(branches) => branches.iter().any(|base| base == branch),
        }
    }
}

/// Asks the configuration of the moment about a repository.
pub type Supervision = Arc<dyn Fn(&RepoRef) -> Standing + Send + Sync>;

/// What reading needs to know besides the payload.
#[derive(Clone)]
pub struct Context {
    /// Our own App: what it does comes back as events, which must not make work.
    pub own_app: AppId,
    /// Which repositories are ours.
    pub supervision: Supervision,
}

/// What a delivery asks for.
#[derive(Debug, PartialEq, Eq)]
pub enum Reading {
    /// Keep it.
    Work {
        /// The payload's `action`.
        action: Option<String>,
        /// Where to look.
        triggers: Vec<Trigger>,
        /// What it says about the world.
        notes: Vec<Note>,
    },
    /// Do not keep it.
    Ignored(Ignored),
}

/// Why a delivery is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ignored {
    /// An event we do not know.
    UnknownEvent,
    /// A known event that changes nothing for us.
    NothingToDo,
    /// Something our own App did.
    OwnEcho,
    /// The repository is not supervised.
    Unsupervised,
    /// The repository is archived: every write would be refused.
    Archived,
    /// No installation is named: a repository's own webhook, not the App's.
    NoInstallation,
}

impl Ignored {
    /// The word for metrics and answers.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::UnknownEvent => "unknown-event",
            Self::NothingToDo => "nothing-to-do",
            Self::OwnEcho => "own-echo",
            Self::Unsupervised => "unsupervised",
            Self::Archived => "archived",
            Self::NoInstallation => "no-installation",
        }
    }
}

/// The payload is not what GitHub sends.
#[derive(Debug, thiserror::Error)]
pub enum PayloadError {
    /// Not JSON, or a member has another type.
    #[error("body is not a readable payload: {0}")]
    Json(#[from] serde_json::Error),
    /// JSON, but no object.
    #[error("body is not a JSON object")]
    NotAnObject,
}

/// Reads a payload.
///
/// # Errors
/// When it is not a JSON object, or a member we need has another type than GitHub gives it.
pub fn read(event: Event, body: &[u8], context: &Context) -> Result<Reading, PayloadError> {
    // serde reads a struct from a list too.
    if body.iter().find(|b| !b.is_ascii_whitespace()) != Some(&b'{') {
        // Broken JSON is told with its place.
        serde_json::from_slice::<serde::de::IgnoredAny>(body)?;
        return Err(PayloadError::NotAnObject);
    }
    let payload: Payload = serde_json::from_slice(body)?;
    Ok(match event {
        Event::Other => Reading::Ignored(Ignored::UnknownEvent),
        Event::Ping => Reading::Ignored(Ignored::NothingToDo),
        Event::Installation | Event::InstallationRepositories => {
            installation(event, payload, context)
        }
        Event::Repository => repository(payload, context),
        Event::PullRequest
        | Event::CheckRun
        | Event::CheckSuite
        | Event::Status
        | Event::Push
        | Event::IssueComment
        | Event::Issues
        | Event::MergeGroup => in_repository(event, payload, context),
    })
}

fn in_repository(event: Event, payload: Payload, context: &Context) -> Reading {
    let repo = match repo_of(&payload) {
        Ok(repo) => repo,
        Err(ignored) => return Reading::Ignored(ignored),
    };
    if payload.repository.as_ref().and_then(|r| r.archived) == Some(true) {
        return Reading::Ignored(Ignored::Archived);
    }
    let standing = (context.supervision)(&repo);
    let ours = match event {
        Event::Issues | Event::IssueComment => standing.supervised || standing.inbox,
        _ => standing.supervised || standing.watched,
    };
    if !ours {
        return Reading::Ignored(Ignored::Unsupervised);
    }
    let mut notes = vec![Note::RepoSeen(repo.clone())];
    notes.extend(pressed(event, &payload, context.own_app));
    notes.extend(comment_edited(event, &payload, &repo));
    let about_issue = matches!(event, Event::Issues | Event::IssueComment);
    let found = if standing.supervised || about_issue {
        triggers(event, &payload, &repo, context.own_app, &standing)
    } else {
        some(after_merge(
            event,
            &payload,
            &repo,
            context.own_app,
            &standing,
        ))
    };
    match found {
        Ok(triggers) => Reading::Work {
            action: payload.action,
            triggers,
            notes,
        },
        Err(ignored) => Reading::Ignored(ignored),
    }
}

/// The table: event and action to what must be looked at. `deep` reads everything again; a head is announced
/// where the event is about one.
fn triggers(
    event: Event,
    payload: &Payload,
    repo: &RepoRef,
    own: AppId,
    standing: &Standing,
) -> Result<Vec<Trigger>, Ignored> {
    let action = payload.action.as_deref().unwrap_or_default();
    let merges = &standing.merges;
    let mut found = match (event, action) {
        (Event::PullRequest, "opened" | "reopened" | "synchronize") => {
            pull(payload, repo).map(|subject| Trigger {
                subject,
                deep: true,
                announces_head: head_of(payload),
            })
        }
        .into_iter()
        .collect(),
        (Event::PullRequest, "edited") if base_changed(payload) => looks(pull(payload, repo), true),
        (Event::PullRequest, "closed") => looks(pull(payload, repo), false),
        (
            Event::PullRequest,
            "labeled" | "unlabeled" | "ready_for_review" | "converted_to_draft",
        ) if !is_closed(payload) => looks(pull(payload, repo), false),

        (Event::CheckRun, "rerequested" | "requested_action") if is_own(payload, own) => {
            check_run_pulls(payload, repo, true)
        }
        (Event::CheckRun, "created" | "completed") if is_own(payload, own) => {
            return Err(Ignored::OwnEcho);
        }
        (Event::CheckRun, "created" | "completed") if check_name(payload) == Some(JUDGMENT) => {
            check_run_pulls(payload, repo, true)
        }
        (Event::CheckRun, "completed")
            if merges.is_on() && standing.judges_by(check_name(payload)) =>
        {
            check_run_pulls(payload, repo, false)
        }
        // `requested` comes with every push and says nothing that `pull_request` does not; the sweep covers a lost one.
        (Event::CheckSuite, "rerequested") => check_suite_pulls(payload, repo, true),
        (Event::CheckSuite, "completed") if is_own_suite(payload, own) => {
            return Err(Ignored::OwnEcho);
        }
        (Event::CheckSuite, "completed") if merges.is_on() => {
            check_suite_pulls(payload, repo, false)
        }
        (Event::Status, _) if merges.is_on() && standing.judges_by(payload.context.as_deref()) => {
            pulls_or_head(None, payload.sha.as_deref(), repo, false)
        }
        (Event::Push, _) if is_base(payload, merges) => {
            looks(Some(Subject::Repo { repo: repo.clone() }), false)
        }

        (Event::IssueComment, _) if is_own_comment(payload, own) => return Err(Ignored::OwnEcho),
        (Event::Issues, _) if is_own_issue_touched_by_bot(payload, own) => {
            return Err(Ignored::OwnEcho);
        }
        (Event::IssueComment, "created" | "edited" | "deleted")
        | (Event::Issues, "closed" | "reopened" | "edited" | "deleted" | "transferred") => {
            looks(issue(payload, repo), true)
        }
        (Event::MergeGroup, "checks_requested") => looks(merge_group(payload, repo), true),
        _ => Vec::new(),
    };
    if standing.watched {
        for trigger in after_merge(event, payload, repo, own, standing) {
            if !found.contains(&trigger) {
                found.push(trigger);
            }
        }
    }
    some(found)
}

fn some(found: Vec<Trigger>) -> Result<Vec<Trigger>, Ignored> {
    if found.is_empty() {
        Err(Ignored::NothingToDo)
    } else {
        Ok(found)
    }
}

/// What may tell of a merge, and of the checks of a merged commit. Whether a commit is one, the worker knows.
fn after_merge(
    event: Event,
    payload: &Payload,
    repo: &RepoRef,
    own: AppId,
    standing: &Standing,
) -> Vec<Trigger> {
    let action = payload.action.as_deref().unwrap_or_default();
    let commit = match (event, action) {
        (Event::PullRequest, "closed") => return looks(pull(payload, repo), false),
        (Event::CheckRun, "completed")
            if !is_own(payload, own) && standing.judges_by(check_name(payload)) =>
        {
            let run = payload.check_run.as_ref();
            run.and_then(|run| run.head_sha.as_deref())
        }
        (Event::CheckSuite, "completed") => payload
            .check_suite
            .as_ref()
            .filter(|suite| suite.app.as_ref().and_then(|app| app.id) != Some(own.0))
            .and_then(|suite| suite.head_sha.as_deref()),
        (Event::Status, _)
            if payload.state.as_deref() != Some("pending")
                && standing.judges_by(payload.context.as_deref()) =>
        {
            payload.sha.as_deref()
        }
        _ => None,
    };
    let commit = commit.and_then(|text| text.parse().ok());
    looks(
        commit.map(|sha| Subject::Commit {
            repo: repo.clone(),
            sha,
        }),
        false,
    )
}

/// A button of a check-run of ours: nothing but this payload tells who pressed it.
fn pressed(event: Event, payload: &Payload, own: AppId) -> Option<Note> {
    let is_press =
        event == Event::CheckRun && payload.action.as_deref() == Some("requested_action");
    if !is_press || !is_own(payload, own) {
        return None;
    }
    Some(Note::Pressed {
        external_id: payload.check_run.as_ref()?.external_id.clone()?,
        identifier: payload.requested_action.as_ref()?.identifier.clone()?,
        by: payload.sender.as_ref()?.known()?,
    })
}

/// An edit of a comment: nothing but this payload tells who made it.
fn comment_edited(event: Event, payload: &Payload, repo: &RepoRef) -> Option<Note> {
    if event != Event::IssueComment || payload.action.as_deref() != Some("edited") {
        return None;
    }
    let comment = payload.comment.as_ref()?;
    Some(Note::CommentEdited {
        repo: repo.id,
        issue: IssueNumber(payload.issue.as_ref()?.number?),
        comment: CommentId(comment.id?),
        updated_at: comment.updated_at.as_deref()?.parse().ok()?,
        by: payload.sender.as_ref()?.known()?,
    })
}

/// Installed, suspended, removed, or given more repositories.
fn installation(event: Event, payload: Payload, context: &Context) -> Reading {
    let Some(id) = installation_of(&payload) else {
        return Reading::Ignored(Ignored::NoInstallation);
    };
    let status = |status| vec![Note::Installation(id, status)];
    let all = || vec![look(Subject::Installation { installation: id }, true)];
    let action = payload.action.as_deref().unwrap_or_default();
    let (triggers, notes) = match (event, action) {
        // Events of a suspension's time were never sent: everything is looked at.
        (Event::Installation, "created" | "unsuspend" | "new_permissions_accepted") => {
            (all(), status(InstallationStatus::Active))
        }
        (Event::Installation, "suspend") => (Vec::new(), status(InstallationStatus::Suspended)),
        (Event::Installation, "deleted") => (all(), status(InstallationStatus::Removed)),
        (Event::InstallationRepositories, "added") => {
            let added: Vec<_> = payload
                .repositories_added
                .iter()
                .flatten()
                .filter_map(|repository| repo_ref(repository, id))
                .filter(|repo| (context.supervision)(repo).supervised)
                .collect();
            if added.is_empty() {
                return Reading::Ignored(Ignored::Unsupervised);
            }
            let notes = added.iter().cloned().map(Note::RepoSeen).collect();
            let looks = added
                .into_iter()
                .map(|repo| look(Subject::Repo { repo }, true));
            (looks.collect(), notes)
        }
        _ => return Reading::Ignored(Ignored::NothingToDo),
    };
    Reading::Work {
        action: payload.action,
        triggers,
        notes,
    }
}

/// Renamed or moved: state is keyed by id, only the name is learnt. An archived one needs nothing, one that
/// is back is looked at.
fn repository(payload: Payload, context: &Context) -> Reading {
    let repo = match repo_of(&payload) {
        Ok(repo) => repo,
        Err(ignored) => return Reading::Ignored(ignored),
    };
    let triggers = match payload.action.as_deref() {
        Some("renamed" | "transferred" | "archived") => Vec::new(),
        Some("unarchived") if (context.supervision)(&repo).supervised => {
            vec![look(Subject::Repo { repo: repo.clone() }, true)]
        }
        _ => return Reading::Ignored(Ignored::NothingToDo),
    };
    Reading::Work {
        action: payload.action,
        triggers,
        notes: vec![Note::RepoSeen(repo)],
    }
}

fn look(subject: Subject, deep: bool) -> Trigger {
    Trigger {
        subject,
        deep,
        announces_head: None,
    }
}

fn looks(subject: Option<Subject>, deep: bool) -> Vec<Trigger> {
    subject
        .map(|subject| look(subject, deep))
        .into_iter()
        .collect()
}

fn pull(payload: &Payload, repo: &RepoRef) -> Option<Subject> {
    let inner = payload.pull_request.as_ref().and_then(|pull| pull.number);
    Some(Subject::Pull {
        repo: repo.clone(),
        number: PullNumber(inner.or(payload.number)?),
    })
}

fn issue(payload: &Payload, repo: &RepoRef) -> Option<Subject> {
    Some(Subject::Issue {
        repo: repo.clone(),
        number: IssueNumber(payload.issue.as_ref()?.number?),
    })
}

fn merge_group(payload: &Payload, repo: &RepoRef) -> Option<Subject> {
    let group = payload.merge_group.as_ref()?;
    Some(Subject::MergeGroup {
        repo: repo.clone(),
        head_sha: group.head_sha.as_deref()?.parse().ok()?,
        head_ref: group.head_ref.clone()?,
    })
}

/// Did a branch move that is merged into? Pull requests that wait for it are behind now, or conflict.
fn is_base(payload: &Payload, merges: &Merges) -> bool {
    let default = payload
        .repository
        .as_ref()
        .and_then(|repository| repository.default_branch.as_deref());
    payload
        .reference
        .as_deref()
        .and_then(|reference| reference.strip_prefix("refs/heads/"))
        .is_some_and(|branch| merges.into(branch, default))
}

fn check_run_pulls(payload: &Payload, repo: &RepoRef, deep: bool) -> Vec<Trigger> {
    let run = payload.check_run.as_ref();
    pulls_or_head(
        run.and_then(|run| run.pull_requests.as_deref()),
        run.and_then(|run| run.head_sha.as_deref()),
        repo,
        deep,
    )
}

fn check_suite_pulls(payload: &Payload, repo: &RepoRef, deep: bool) -> Vec<Trigger> {
    let suite = payload.check_suite.as_ref();
    pulls_or_head(
        suite.and_then(|suite| suite.pull_requests.as_deref()),
        suite.and_then(|suite| suite.head_sha.as_deref()),
        repo,
        deep,
    )
}

/// GitHub names no pull requests for commits of forks, and may name some of other repositories.
fn pulls_or_head(
    pulls: Option<&[PullRequest]>,
    head: Option<&str>,
    repo: &RepoRef,
    deep: bool,
) -> Vec<Trigger> {
    let named: Vec<_> = pulls
        .unwrap_or_default()
        .iter()
        .filter(|pull| is_based_on(pull, repo.id))
        .filter_map(|pull| pull.number)
        .map(|number| Subject::Pull {
            repo: repo.clone(),
            number: PullNumber(number),
        })
        .map(|subject| look(subject, deep))
        .collect();
    if !named.is_empty() {
        return named;
    }
    let sha = head.and_then(|text| text.parse::<Sha>().ok());
    let by_head = sha.map(|sha| Subject::Head {
        repo: repo.clone(),
        sha,
    });
    looks(by_head, deep)
}

fn is_based_on(pull: &PullRequest, repo: RepoId) -> bool {
    let base = pull.base.as_ref().and_then(|base| base.repo.as_ref());
    base.and_then(|base| base.id)
        .is_none_or(|id| RepoId(id) == repo)
}

fn head_of(payload: &Payload) -> Option<Sha> {
    let head = payload.pull_request.as_ref()?.head.as_ref()?;
    head.sha.as_deref()?.parse().ok()
}

fn base_changed(payload: &Payload) -> bool {
    payload.changes.as_ref().is_some_and(|c| c.base.is_some())
}

/// A late label event of a closed pull request; should it be open again, `reopened` says so.
fn is_closed(payload: &Payload) -> bool {
    let state = payload
        .pull_request
        .as_ref()
        .and_then(|pull| pull.state.as_deref());
    state == Some("closed")
}

fn is_own(payload: &Payload, own: AppId) -> bool {
    let app = payload.check_run.as_ref().and_then(|run| run.app.as_ref());
    app.and_then(|app| app.id) == Some(own.0)
}

fn is_own_suite(payload: &Payload, own: AppId) -> bool {
    let suite = payload.check_suite.as_ref();
    let app = suite.and_then(|suite| suite.app.as_ref());
    app.and_then(|app| app.id) == Some(own.0)
}

fn check_name(payload: &Payload) -> Option<&str> {
    let run: &CheckRun = payload.check_run.as_ref()?;
    run.name.as_deref()
}

/// Written by our App and touched by a bot. An owner who edits a comment of ours is no echo.
fn is_own_comment(payload: &Payload, own: AppId) -> bool {
    let comment = payload.comment.as_ref();
    let app = comment.and_then(|comment| comment.performed_via_github_app.as_ref());
    let by_bot = payload.sender.as_ref().and_then(|s| s.kind.as_deref()) == Some("Bot");
    by_bot && app.and_then(|app| app.id) == Some(own.0)
}

/// An Issue of our App, touched by a bot: us, most often. What another bot does to it the sweep sees.
fn is_own_issue_touched_by_bot(payload: &Payload, own: AppId) -> bool {
    let issue = payload.issue.as_ref();
    let app = issue.and_then(|issue| issue.performed_via_github_app.as_ref());
    let by_bot = payload.sender.as_ref().and_then(|s| s.kind.as_deref()) == Some("Bot");
    by_bot && app.and_then(|app| app.id) == Some(own.0)
}

fn installation_of(payload: &Payload) -> Option<InstallationId> {
    let installation = payload.installation.as_ref()?;
    installation.id.map(InstallationId)
}

fn repo_of(payload: &Payload) -> Result<RepoRef, Ignored> {
    let installation = installation_of(payload).ok_or(Ignored::NoInstallation)?;
    payload
        .repository
        .as_ref()
        .and_then(|repository| repo_ref(repository, installation))
        .ok_or(Ignored::NothingToDo)
}

fn repo_ref(repository: &Repository, installation: InstallationId) -> Option<RepoRef> {
    Some(RepoRef {
        id: RepoId(repository.id?),
        name: repository.full_name.as_deref()?.parse().ok()?,
        installation,
    })
}
