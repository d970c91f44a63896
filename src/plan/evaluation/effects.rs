//! The effects of a decision, in their order: labels, the new Issue, the answer's marks, the check-run, the end of the
//! old Issue.

use super::{Decision, Issues, remarks};
use crate::domain::{
    CheckConclusion, CheckOutput, CheckRunEffect, Choice, CommentEffect, CommentMode, Effect,
    IssueKind, IssueNumber, IssueRef, OpenIssueEffect, Quadrant, RepoRef,
};
use crate::inbox::{Stamp, seal};
use crate::plan::labels::{self, Label};
use crate::plan::render::{self, IssueOutcome, check, issue};
use crate::plan::{CHECK_RUN_NAME, evidence, key};

/// Digests of what the check-runs say.
pub(super) struct Says {
    /// `L1.C3`.
    pub(super) verdict: String,
    /// `evidence-gate`; `None`: there is none.
    pub(super) evidence: Option<String>,
}

/// The effects, and the digests of what the check-runs say.
pub(super) fn effects(decision: &Decision<'_>) -> (Vec<Effect>, Says) {
    let (check, check_digest) = check_run(decision);
    let prior = decision.input.prior;
    let old = decision.open_issue();
    let ballot = decision.ballot();
    let opened = decision
        .opens()
        .and_then(|kind| match decision.input.issues {
            Issues::In(repo) => Some(open(decision, kind, repo)),
            Issues::Unavailable(_) => None,
        });
    let says_the_same = prior.is_some_and(|prior| {
        prior.head_sha == decision.input.facts.head_sha
            && prior.check_digest.as_ref() == Some(&check_digest)
    });
    let mut effects = Vec::new();
    if let Some(opened) = &opened {
        ensure(
            decision,
            &opened.repo,
            labels::of_issue(opened.kind),
            &mut effects,
        );
        effects.push(Effect::OpenIssue(opened.clone()));
    }
    remarks::effects(decision, &mut effects);
    mark_answer(decision, ballot, &mut effects);
    // A decision that is new but says the same keeps its check-run, which names the entry of then.
    if !says_the_same || opened.is_some() || decision.honoured.is_some() {
        effects.push(Effect::CheckRun(check));
    }
    let evidence = evidence_check(decision, &mut effects);
    if decision.honoured.is_some() && decision.choice() == Some(Choice::Reject) {
        reject(decision, ballot, &mut effects);
    }
    if let Some(old) = old.filter(|_| decision.kept().is_none()) {
        effects.push(close(decision, old));
    }
    let says = Says {
        verdict: check_digest,
        evidence,
    };
    (effects, says)
}

/// The check-run of the evidence gate: where there is something to say, and where something was said of this head.
fn evidence_check(decision: &Decision<'_>, effects: &mut Vec<Effect>) -> Option<String> {
    let evidence = decision.input.evidence?;
    let before = decision.evidence_before();
    let known = before.and_then(|before| before.check_run);
    if !evidence.speaks() && known.is_none() {
        return None;
    }
    let (check, says) = evidence::check_run(
        evidence,
        decision.input,
        known,
        &whole(decision),
        details(decision),
    );
    if before.and_then(|before| before.check_digest.as_ref()) != Some(&says) {
        effects.push(Effect::CheckRun(check));
    }
    Some(says)
}

pub(super) fn ensure(
    decision: &Decision<'_>,
    repo: &RepoRef,
    label: Label,
    effects: &mut Vec<Effect>,
) {
    if !(decision.input.has_label)(repo, label.name) {
        effects.push(Effect::EnsureLabel {
            repo: repo.clone(),
            label: label.spec(),
        });
    }
}

fn open(decision: &Decision<'_>, kind: IssueKind, repo: &RepoRef) -> OpenIssueEffect {
    let input = decision.input;
    let issue_key = decision.issue_key(kind);
    let whole = whole(decision);
    let said = issue::IssueInput {
        kind,
        facts: input.facts,
        verdict: input.verdict,
        title: input.title,
        url: input.url,
        whole: &whole,
        required_checks: input.required_checks,
        verifications: input.verifications,
        passive_close_hours: input.passive_close_hours,
        key: &issue_key,
        language: input.language,
    };
    let body = issue::body(&said);
    let (body, nonce) = match kind {
        IssueKind::PendingOwner => {
            let stamp = Stamp {
                repo: input.repo,
                number: input.facts.number,
                head: &input.facts.head_sha,
                nonce: input.nonce,
            };
            (seal(&body, stamp, input.key), Some(input.nonce.to_owned()))
        }
        IssueKind::AuditB | IssueKind::AuditC | IssueKind::PostMerge => (body, None),
    };
    OpenIssueEffect {
        repo: repo.clone(),
        title: issue::title(&said),
        key: issue_key,
        kind,
        body,
        labels: vec![labels::of_issue(kind).name.to_owned()],
        head_sha: input.facts.head_sha.clone(),
        nonce,
    }
}

/// The label of an answer that is honoured now.
fn mark_answer(decision: &Decision<'_>, ballot: Option<&IssueRef>, effects: &mut Vec<Effect>) {
    let (Some(answer), Some(issue)) = (decision.honoured, ballot) else {
        return;
    };
    let label = labels::of_choice(answer.choice());
    ensure(decision, &issue.repo, label, effects);
    effects.push(Effect::AddLabels {
        repo: issue.repo.clone(),
        number: issue.number,
        labels: vec![label.name.to_owned()],
    });
    // The label of the answer that this one takes the place of.
    let before = decision
        .input
        .prior
        .and_then(|prior| prior.answered.as_ref());
    let before = before.map(|before| labels::of_choice(before.choice));
    if let Some(before) = before.filter(|before| *before != label) {
        effects.push(Effect::RemoveLabel {
            repo: issue.repo.clone(),
            number: issue.number,
            label: before.name.to_owned(),
        });
    }
}

/// The pull request is told why before it is closed.
fn reject(decision: &Decision<'_>, ballot: Option<&IssueRef>, effects: &mut Vec<Effect>) {
    let input = decision.input;
    let number = IssueNumber(input.facts.number.0);
    let said_in = ballot.map_or_else(
        || CHECK_RUN_NAME.to_owned(),
        |issue| issue_url(decision, issue),
    );
    let comment_key = format!("{}/rejected", decision.id);
    effects.push(Effect::Comment(CommentEffect {
        repo: input.repo.clone(),
        number,
        body: render::rejected_pull(&said_in, &comment_key, input.language),
        key: comment_key,
        mode: CommentMode::Once,
    }));
    effects.push(Effect::ClosePull {
        repo: input.repo.clone(),
        number: input.facts.number,
    });
}

fn close(decision: &Decision<'_>, old: &IssueRef) -> Effect {
    let input = decision.input;
    let comment = decision.honoured.is_none().then(|| {
        let comment_key = format!("{}/superseded", old.key);
        CommentEffect {
            repo: old.repo.clone(),
            number: old.number,
            body: render::superseded(
                &input.repo.name,
                input.facts.number,
                input.verdict.quadrant(),
                &input.facts.head_sha,
                &input.facts.base_ref,
                &comment_key,
                input.language,
            ),
            key: comment_key,
            mode: CommentMode::Once,
        }
    });
    Effect::CloseIssue {
        repo: old.repo.clone(),
        number: old.number,
        not_planned: comment.is_some(),
        comment,
    }
}

fn check_run(decision: &Decision<'_>) -> (CheckRunEffect, String) {
    let input = decision.input;
    let quadrant = input.verdict.quadrant();
    let conclusion = match (quadrant, decision.choice()) {
        (Quadrant::A | Quadrant::B | Quadrant::C, _) => CheckConclusion::Success,
        (Quadrant::D, Some(choice)) if choice.approves() => CheckConclusion::Success,
        (Quadrant::D, _) => CheckConclusion::Failure,
    };
    let waits = decision.wanted == Some(IssueKind::PendingOwner);
    let actions = if waits {
        check::buttons(input.language)
    } else {
        Vec::new()
    };
    let whole = whole(decision);
    let mut output = check::output(&check::CheckInput {
        verdict: input.verdict,
        answered: decision.choice(),
        has_issue: decision.wanted.is_some(),
        closed_by_hand: input.closed_by_hand,
        whole: &whole,
        language: input.language,
    });
    let digest = says(&output, conclusion);
    output
        .summary
        .push_str(&check::footer(input.policy, input.version, input.language));
    let check = CheckRunEffect {
        repo: input.repo.clone(),
        head_sha: input.facts.head_sha.clone(),
        name: CHECK_RUN_NAME.to_owned(),
        external_id: key::check_run(input.repo.id, input.facts.number, &input.facts.head_sha),
        known: input
            .prior
            .filter(|prior| prior.head_sha == input.facts.head_sha)
            .and_then(|prior| prior.check_run),
        conclusion: Some(conclusion),
        output,
        actions,
        details_url: details(decision),
        names_issue: true,
    };
    (name_issue(decision, check), digest)
}

/// An Issue that is opened by this plan is filled in by its outcome; what is known already, at once.
fn name_issue(decision: &Decision<'_>, mut effect: CheckRunEffect) -> CheckRunEffect {
    let input = decision.input;
    if decision.wanted.is_none() {
        effect.names_issue = false;
        return effect;
    }
    let known = match (decision.kept(), decision.opens(), input.issues) {
        (Some(issue), _, _) => IssueOutcome::Opened {
            url: issue_url(decision, issue),
        },
        (None, Some(_), Issues::In(_)) => return effect,
        (None, Some(_), Issues::Unavailable(reason)) => IssueOutcome::Refused {
            reason: reason.to_owned(),
        },
        (None, None, _) => match input.prior.and_then(|prior| prior.issue_refused.as_ref()) {
            Some(reason) => IssueOutcome::Refused {
                reason: reason.clone(),
            },
            None => IssueOutcome::None,
        },
    };
    check::fill_issue(effect, &known)
}

fn says(output: &CheckOutput, conclusion: CheckConclusion) -> String {
    let conclusion = match conclusion {
        CheckConclusion::Success => "success",
        CheckConclusion::Failure => "failure",
        CheckConclusion::Neutral => "neutral",
    };
    key::digest(&[conclusion, &output.title, &output.summary, &output.text])
}

fn issue_url(decision: &Decision<'_>, issue: &IssueRef) -> String {
    let web = decision.input.web_base;
    format!("{web}/{}/issues/{}", issue.repo.name, issue.number)
}

/// Our page of the pull request.
fn details(decision: &Decision<'_>) -> Option<String> {
    let input = decision.input;
    let base = input.details_base?;
    Some(format!(
        "{base}/pulls/{}/{}",
        input.repo.name, input.facts.number
    ))
}

/// Where all of a text that was cut can be read.
fn whole(decision: &Decision<'_>) -> String {
    details(decision).unwrap_or_else(|| format!("{}/files", decision.input.url))
}
