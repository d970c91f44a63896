//! Reads the evidence ledgers of a head and has them judged.
//!
//! INVARIANT: ledgers are read at the head that is judged and from nowhere else; nothing is asked of GitHub when the gate
//! is off or the head names no ledger.

use super::{Bench, WorkError, retry};
use crate::domain::{Facts, PullState, RepoRef};
use crate::github::{ApiError, Content};
use crate::plan::evidence::{LONGEST_LEDGER, Wanted};
use crate::plan::{Evidence, EvidenceInput, LedgerRead, LedgerText};
use crate::policy::{EvidenceMode, Policy};
use crate::rules::Verdict;
use crate::store::Claim;
use std::sync::Arc;
use tokio::task::JoinSet;

/// What the evidence is read for.
pub(super) struct EvidenceOf<'a> {
    pub(super) claim: &'a Claim,
    pub(super) repo: &'a RepoRef,
    pub(super) prior: Option<&'a PullState>,
    pub(super) policy: &'a Arc<Policy>,
}

/// Was the evidence looked at, where it is to be? That of a state from before there was such a gate was not.
pub(super) fn was_seen(state: &PullState, policy: &Policy) -> bool {
    match policy.evidence {
        EvidenceMode::Off => true,
        EvidenceMode::Advisory | EvidenceMode::Required => state.evidence.is_some(),
    }
}

impl Bench {
    /// The evidence of the head; `None` when its gate is off. Facts and verdict go through and come back: judging takes
    /// them to another thread.
    pub(super) async fn read_evidence(
        &self,
        of: EvidenceOf<'_>,
        facts: Facts,
        verdict: Verdict,
    ) -> Result<(Facts, Verdict, Option<Evidence>), WorkError> {
        let mode = of.policy.evidence;
        match mode {
            EvidenceMode::Off => return Ok((facts, verdict, None)),
            EvidenceMode::Advisory | EvidenceMode::Required => {}
        }
        let wanted = Wanted::of(&facts);
        let last_try = of.claim.attempts >= retry::TRIES_BEFORE_UNKNOWN;
        let ledgers = self.ledgers(of.repo, &facts, &wanted, last_try).await?;
        let prior = of.prior.and_then(|prior| prior.evidence.clone());
        let prior = prior.filter(|prior| prior.head_sha == facts.head_sha);
        let policy = Arc::clone(of.policy);
        tokio::task::spawn_blocking(move || {
            let evidence = Evidence::judge(&EvidenceInput {
                mode,
                facts: &facts,
                verdict: &verdict,
                high_risk: &policy.high_risk,
                wanted: &wanted,
                ledgers: &ledgers,
                prior: prior.as_ref(),
            });
            (facts, verdict, Some(evidence))
        })
        .await
        .map_err(|error| WorkError::Broken(format!("the evidence was not judged: {error}")))
    }

    /// The ledgers in the order in which they are wanted, all read at once. Before the last try a failure that may pass
    /// is an error.
    async fn ledgers(
        &self,
        repo: &RepoRef,
        facts: &Facts,
        wanted: &Wanted,
        last_try: bool,
    ) -> Result<Vec<LedgerRead>, WorkError> {
        let mut tasks = JoinSet::new();
        for (at, path) in wanted.paths.iter().enumerate() {
            let (github, repo, path) = (self.github.clone(), repo.clone(), path.clone());
            let head = facts.head_sha.clone();
            tasks.spawn(async move {
                let content = github
                    .content_up_to(&repo, &path, &head, LONGEST_LEDGER)
                    .await;
                (at, path, content)
            });
        }
        let mut read = Vec::with_capacity(wanted.paths.len());
        while let Some(joined) = tasks.join_next().await {
            let (at, path, content) = joined.map_err(|error| {
                WorkError::Broken(format!("reading a ledger was cut short: {error}"))
            })?;
            match content {
                Err(error) if error.is_retryable() && !last_try => return Err(error.into()),
                content => {
                    let text = text_of(content);
                    read.push((at, LedgerRead { path, text }));
                }
            }
        }
        read.sort_by_key(|(at, _)| *at);
        Ok(read.into_iter().map(|(_, ledger)| ledger).collect())
    }
}

fn text_of(content: Result<Content, ApiError>) -> LedgerText {
    match content {
        Ok(Content::Text(text)) => LedgerText::Text(text),
        Ok(Content::Absent) => LedgerText::Unusable("is not there at this head".to_owned()),
        Ok(Content::TooLong) => LedgerText::Unusable(format!(
            "is larger than {} KiB; a ledger is a page of text",
            LONGEST_LEDGER / 1024
        )),
        Ok(Content::NotText) => LedgerText::Unusable("is no UTF-8 text".to_owned()),
        Ok(Content::Refused(reason)) => LedgerText::Unknown(reason),
        Err(error) => LedgerText::Unknown(error.to_string()),
    }
}
