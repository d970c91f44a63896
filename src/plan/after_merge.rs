//! A merged commit that fails its checks on the base branch: one Issue, and a pull request that takes it back where the
//! gate allows one.
//!
//! INVARIANT: the keys are those of the commit, so that however often it fails there is one Issue and one branch.

use super::evaluation::Issues;
use super::render::{self, Language, Merged, TakingBack};
use super::{Plan, key, labels};
use crate::audit::{About, Body, EntryDraft};
use crate::domain::{
    AfterMerge, CommentEffect, CommentMode, DeliveryId, Effect, IssueKind, OpenIssueEffect,
    PullState, RepoId, RepoRef, RevertEffect, Sha, Timestamp, TreeChange,
};

/// Branches of reverts begin like this; the commit's first digits follow.
pub const REVERT_BRANCH: &str = "quadgate/revert-";

/// What is put back, and on which tip of the base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undo {
    /// The base branch's tip.
    pub base_tip: Sha,
    /// The tip's tree.
    pub base_tree: Sha,
    /// The changed paths.
    pub changes: Vec<TreeChange>,
}

/// A merged commit that fails.
#[derive(Clone, Copy)]
pub struct IncidentInput<'a> {
    /// The state of its pull request, closed and watched.
    pub prior: &'a PullState,
    /// What is watched.
    pub watch: &'a AfterMerge,
    /// The repository as it is called now.
    pub repo: &'a RepoRef,
    /// The pull request's title.
    pub title: &'a str,
    /// Its page.
    pub url: &'a str,
    /// Which checks fail, one cause each.
    pub failed: &'a [String],
    /// How it is taken back, or why not.
    pub undo: Result<&'a Undo, &'a str>,
    /// Where the Issue goes.
    pub issues: Issues<'a>,
    /// Does this repository have this label for sure?
    pub has_label: &'a dyn Fn(RepoId, &str) -> bool,
    /// The language of the inbox.
    pub language: Language,
    /// The present moment.
    pub now: Timestamp,
    /// `sha256:` and the digest of the policy.
    pub policy: &'a str,
    /// The delivery that led here.
    pub delivery: Option<&'a DeliveryId>,
    /// Version of this program.
    pub version: &'a str,
    /// Base of GitHub's pages.
    pub web_base: &'a str,
}

/// What is still to be done about it; empty when all of it is there.
#[must_use]
pub fn incident(input: &IncidentInput<'_>) -> Plan {
    let mut plan = Plan {
        decision_id: decision(input),
        entries: Vec::new(),
        effects: Vec::new(),
        state_after: PullState {
            repo: input.repo.clone(),
            ..input.prior.clone()
        },
    };
    // The Issue comes first: it is what a person must see, whatever becomes of the rest.
    if input.watch.incident.is_none()
        && let Issues::In(inbox) = input.issues
    {
        open_issue(input, inbox, &mut plan);
    }
    if input.watch.revert.is_none()
        && let Ok(undo) = input.undo
    {
        open_revert(input, undo, &mut plan);
    }
    let reverts = input.watch.revert.is_none() && input.undo.is_ok();
    let has_issue = input.watch.incident.is_some() || matches!(input.issues, Issues::In(_));
    if let Some(watch) = &mut plan.state_after.after_merge {
        // With a revert there is something left to be said, soon.
        watch.settled = has_issue && !reverts;
        watch.looked_at = (!reverts).then_some(input.now);
    }
    plan
}

/// What became of the revert is said on the Issue.
#[must_use]
pub fn incident_news(input: &IncidentInput<'_>) -> Option<Plan> {
    let incident = input.watch.incident.as_ref()?;
    let became = input.watch.revert.as_ref()?;
    let key = format!("{}/revert", issue_key(input));
    let comment = CommentEffect {
        repo: incident.repo.clone(),
        number: incident.number,
        body: render::incident_news(&merged(input), became, &key, input.language),
        key,
        mode: CommentMode::Once,
    };
    let mut state_after = input.prior.clone();
    if let Some(watch) = &mut state_after.after_merge {
        watch.settled = true;
        watch.looked_at = Some(input.now);
        if let Some(incident) = &mut watch.incident {
            incident.told = true;
        }
    }
    Some(Plan {
        decision_id: format!("{}/news", decision(input)),
        entries: Vec::new(),
        effects: vec![Effect::Comment(comment)],
        state_after,
    })
}

fn open_issue(input: &IncidentInput<'_>, inbox: &RepoRef, plan: &mut Plan) {
    let key = issue_key(input);
    let branch = branch(&input.watch.commit);
    let taking_back = match (&input.watch.revert, input.undo) {
        (Some(became), _) => TakingBack::Became(became),
        (None, Ok(_)) => TakingBack::Coming(&branch),
        (None, Err(reason)) => TakingBack::ByHand(reason),
    };
    let merged = merged(input);
    let body = render::incident_body(&merged, input.failed, taking_back, &key, input.language);
    plan.entries.push(draft(
        input,
        "issue",
        Body::IssueOpened {
            issue_kind: IssueKind::PostMerge,
            inbox: inbox.name.clone(),
            issue_key: key.clone(),
            nonce: None,
        },
    ));
    let label = labels::POST_MERGE_REVALIDATION;
    ensure(input, inbox, label, &mut plan.effects);
    plan.effects.push(Effect::OpenIssue(OpenIssueEffect {
        repo: inbox.clone(),
        key,
        kind: IssueKind::PostMerge,
        title: render::incident_title(&merged, input.language),
        body,
        labels: vec![label.name.to_owned()],
        head_sha: input.watch.commit.clone(),
        nonce: None,
    }));
}

fn open_revert(input: &IncidentInput<'_>, undo: &Undo, plan: &mut Plan) {
    let key = format!("{}/revert", issue_key(input));
    let (title, body, message) = render::revert(&merged(input), input.failed, &key, input.language);
    plan.entries.push(draft(
        input,
        "revert",
        Body::Reverted {
            reverts: input.watch.commit.clone(),
            failed_checks: input.failed.to_vec(),
        },
    ));
    let label = labels::AUTO_REVERT;
    ensure(input, input.repo, label, &mut plan.effects);
    plan.effects.push(Effect::OpenRevert(RevertEffect {
        repo: input.repo.clone(),
        key,
        base_ref: input.watch.base_ref.clone(),
        base_tip: undo.base_tip.clone(),
        base_tree: undo.base_tree.clone(),
        branch: branch(&input.watch.commit),
        changes: undo.changes.clone(),
        message,
        title,
        body,
        label: label.name.to_owned(),
    }));
}

fn ensure(
    input: &IncidentInput<'_>,
    repo: &RepoRef,
    label: labels::Label,
    effects: &mut Vec<Effect>,
) {
    if !(input.has_label)(repo.id, label.name) {
        effects.push(Effect::EnsureLabel {
            repo: repo.clone(),
            label: label.spec(),
        });
    }
}

fn draft(input: &IncidentInput<'_>, what: &str, body: Body) -> EntryDraft {
    EntryDraft {
        ts: input.now,
        decision: format!("{}/{what}", decision(input)),
        about: Some(About {
            repo_id: input.repo.id,
            repo: input.repo.name.clone(),
            number: input.prior.number,
            head_sha: input.watch.commit.clone(),
        }),
        body,
        policy: input.policy.to_owned(),
        delivery: input.delivery.cloned(),
        version: input.version.to_owned(),
    }
}

fn merged<'a>(input: &IncidentInput<'a>) -> Merged<'a> {
    Merged {
        repo: &input.repo.name,
        number: input.prior.number,
        title: input.title,
        url: input.url,
        commit: &input.watch.commit,
        base_ref: &input.watch.base_ref,
        web_base: input.web_base,
    }
}

fn branch(commit: &Sha) -> String {
    let digits: String = commit.as_str().chars().take(16).collect();
    format!("{REVERT_BRANCH}{digits}")
}

fn decision(input: &IncidentInput<'_>) -> String {
    let parts = [&input.repo.id.to_string(), input.watch.commit.as_str()];
    format!("m-{}", key::digest(&parts))
}

/// One a commit.
fn issue_key(input: &IncidentInput<'_>) -> String {
    let commit = &input.watch.commit;
    format!("{}/{}/m/{commit}", input.repo.id, input.prior.number)
}
