//! One entry: what it says, and how it becomes one line of JSON.
//!
//! INVARIANT: one line an entry, valid UTF-8, members in the order of the specification, `hash` last. What a
//! reader would not see, or could take for a line end, is written as a `\u` escape.

use crate::domain::{
    AccountId, Choice, DeliveryId, EvidenceEntry, InstallationId, IssueKind, MergeMethod,
    PullNumber, Quadrant, RepoId, RepoName, Sha, Timestamp, Witness, is_unseen,
};
use crate::rules::RuleReport;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io;

/// An entry before the log gives it its number and its place in the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryDraft {
    /// When it was decided.
    pub ts: Timestamp,
    /// Our id of the decision: found again after a crash, so that no decision is written twice.
    pub decision: String,
    /// The pull request and commit it speaks about; `None` where it is about none.
    pub about: Option<About>,
    /// What it says.
    #[serde(flatten, with = "waiting")]
    pub body: Body,
    /// `sha256:` and the digest of the policy in force.
    pub policy: String,
    /// The delivery that led to it; `None` for the tick and the command line.
    pub delivery: Option<DeliveryId>,
    /// Version of this program.
    pub version: String,
}

/// A body as it waits in the store. By itself it is written without its kind, as it stands in the log, so the kind waits
/// beside it, and one that would be read back as another kind must not be written to the log.
mod waiting {
    use super::Body;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    #[derive(Serialize)]
    struct Given<'a> {
        kind: &'a str,
        body: &'a Body,
    }

    #[derive(Deserialize)]
    struct Found {
        kind: String,
        body: Body,
    }

    pub(super) fn serialize<S: Serializer>(body: &Body, to: S) -> Result<S::Ok, S::Error> {
        let kind = body.kind();
        Given { kind, body }.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Body, D::Error> {
        let Found { kind, body } = Found::deserialize(from)?;
        if kind == body.kind() {
            return Ok(body);
        }
        let read = body.kind();
        Err(D::Error::custom(format!(
            "an entry of kind `{kind}` was read back as `{read}`"
        )))
    }
}

/// The pull request an entry is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The base repository's id.
    pub repo_id: RepoId,
    /// The base repository's name of the moment.
    pub repo: RepoName,
    /// The pull request.
    pub number: PullNumber,
    /// The head that was judged.
    pub head_sha: Sha,
}

/// What an entry says. A new kind is a variant here and its word in [`Body::kind`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Body {
    /// A pull request was put into a quadrant.
    Classification {
        /// Every rule, in chain order.
        rules_fired: Vec<RuleReport>,
        /// The verdict.
        quadrant: Quadrant,
        /// The line that names what decided.
        reasoning: String,
        /// The base branch it was judged against.
        base_ref: String,
        /// Login of the author; `null` when the account is gone.
        author: Option<String>,
        /// What the evidence gate says of the head; absent when it has nothing to say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        evidence: Option<EvidenceEntry>,
    },
    /// An owner's answer was honoured.
    OwnerAnswer {
        /// What was answered.
        answer: Choice,
        /// Login of the owner.
        actor: String,
        /// Id of the owner.
        actor_id: Option<AccountId>,
        /// The comment, reaction or button it came from.
        signal: String,
        /// When it was given, by GitHub's clock.
        answered_at: Timestamp,
        /// The nonce of the ballot; `null` for a button where no Issue could be opened.
        nonce: Option<String>,
        /// The verdict it answers.
        quadrant: Quadrant,
    },
    /// An Issue is to be opened. Written before it is there, so it is named by its key.
    IssueOpened {
        /// What it is for.
        issue_kind: IssueKind,
        /// The repository it is opened in.
        inbox: RepoName,
        /// Our key of it, which stands in its text.
        issue_key: String,
        /// The nonce of a ballot.
        nonce: Option<String>,
    },
    /// An Issue of ours ended.
    IssueClosed {
        /// What it was for.
        issue_kind: IssueKind,
        /// Which, such as `owner/inbox#12`.
        issue: String,
        /// Our key of it.
        issue_key: String,
        /// Why.
        because: Closing,
    },
    /// A new decision took the place of the one an Issue was about.
    Superseded {
        /// What the Issue was for.
        issue_kind: IssueKind,
        /// Which, such as `owner/inbox#12`.
        issue: String,
        /// Our key of it.
        issue_key: String,
        /// The head it was about.
        old_head_sha: Sha,
        /// The new verdict.
        quadrant: Quadrant,
    },
    /// An approval that was in force is no longer what the owner's signals say (deleted, taken back, edited by
    /// somebody else, ballot changed).
    AnswerWithdrawn {
        /// What was in force.
        answer: Choice,
        /// The comment, reaction or button it came from.
        signal: String,
    },
    /// The check-run of a merge group.
    MergeGroup {
        /// The group's ref.
        head_ref: String,
        /// The pull requests in it that were looked at.
        members: Vec<PullNumber>,
        /// Is it a success?
        passes: bool,
        /// Why not.
        because: Option<String>,
    },
    /// The App was uninstalled; nothing of that account is gated any more.
    InstallationRemoved {
        /// Which installation.
        installation: InstallationId,
    },
    /// A merge of the head was ordered: the entry stands before the call.
    Merged {
        /// `direct`, `auto` or `queue`.
        merge_mode: String,
        /// How; `null` where the merge queue decides.
        merge_method: Option<MergeMethod>,
        /// The base branch it goes to.
        base_ref: String,
        /// The verdict on the head.
        quadrant: Quadrant,
        /// What does not hold and does not block, one line each.
        warnings: Vec<String>,
    },
    /// A pull request that is ready was not merged, or GitHub refused to.
    MergeRefused {
        /// Every reason, one line each.
        refused_because: Vec<String>,
    },
    /// The clock of an agent identity ran out: it blocks from now on.
    Promoted {
        /// The identity.
        agent: String,
        /// When its clock began to run.
        clock_started_at: Timestamp,
    },
    /// A pull request that reverts a merged commit was ordered.
    Reverted {
        /// The commit that broke its base branch.
        reverts: Sha,
        /// The checks that failed, one line each.
        failed_checks: Vec<String>,
    },
}

/// Why an Issue ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Closing {
    /// An owner answered.
    Answered,
    /// The pull request was merged.
    PullMerged,
    /// The pull request was closed.
    PullClosed,
    /// Its time had come.
    Passive,
}

impl Body {
    /// The word in `kind`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Classification { .. } => "classification",
            Self::OwnerAnswer { .. } => "owner_answer",
            Self::IssueOpened { .. } => "issue_opened",
            Self::IssueClosed { .. } => "issue_closed",
            Self::Superseded { .. } => "superseded",
            Self::AnswerWithdrawn { .. } => "answer_withdrawn",
            Self::MergeGroup { .. } => "merge_group",
            Self::InstallationRemoved { .. } => "installation_removed",
            Self::Merged { .. } => "merged",
            Self::MergeRefused { .. } => "merge_refused",
            Self::Promoted { .. } => "promoted",
            Self::Reverted { .. } => "reverted",
        }
    }
}

impl EntryDraft {
    /// Does it say what was decided? The check-run names the last such entry of its plan.
    #[must_use]
    pub fn decides(&self) -> bool {
        match self.body {
            Body::Classification { .. }
            | Body::OwnerAnswer { .. }
            | Body::AnswerWithdrawn { .. }
            | Body::Merged { .. }
            | Body::MergeRefused { .. } => true,
            Body::IssueOpened { .. }
            | Body::IssueClosed { .. }
            | Body::Superseded { .. }
            | Body::MergeGroup { .. }
            | Body::InstallationRemoved { .. }
            | Body::Promoted { .. }
            | Body::Reverted { .. } => false,
        }
    }
}

/// The members in written order; `hash` is added to the written form.
#[derive(Serialize)]
struct Written<'a> {
    seq: u64,
    ts: Timestamp,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pr: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    head_sha: Option<&'a Sha>,
    #[serde(flatten)]
    body: &'a Body,
    policy: &'a str,
    delivery: Option<&'a DeliveryId>,
    version: &'a str,
    decision: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    repo_id: Option<RepoId>,
    prev: &'a str,
}

impl EntryDraft {
    /// The line with its line end, and its place in the chain.
    ///
    /// # Errors
    /// A member cannot be written as JSON.
    pub fn encode(&self, seq: u64, prev: &str) -> Result<(Vec<u8>, Witness), io::Error> {
        let about = self.about.as_ref();
        let written = Written {
            seq,
            ts: self.ts,
            kind: self.body.kind(),
            pr: about.map(|about| format!("{}#{}", about.repo, about.number)),
            head_sha: about.map(|about| &about.head_sha),
            body: &self.body,
            policy: &self.policy,
            delivery: self.delivery.as_ref(),
            version: &self.version,
            decision: &self.decision,
            repo_id: about.map(|about| about.repo_id),
            prev,
        };
        let mut line = Vec::with_capacity(1024);
        written.serialize(&mut serde_json::Serializer::with_formatter(&mut line, Seen))?;
        let hash = digest(&line);
        line.pop();
        line.extend_from_slice(format!(",\"hash\":\"{hash}\"}}\n").as_bytes());
        Ok((line, Witness { seq, hash }))
    }
}

/// `sha256:` and 64 digits.
pub(super) fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", hex::encode(Sha256::digest(bytes)))
}

/// Text for bytes that need not be UTF-8 (paths read from git): bytes that are not, as `\xFF`; a backslash
/// as two, so that the two never look alike.
#[must_use]
pub fn text_of_bytes(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(&chunk.valid().replace('\\', r"\\"));
        for byte in chunk.invalid() {
            let _ = write!(text, r"\x{byte:02X}");
        }
    }
    text
}

/// Compact JSON in which everything unseen is escaped.
struct Seen;

impl serde_json::ser::Formatter for Seen {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| is_unseen(*c)) {
            let (plain, tail) = rest.split_at(at);
            writer.write_all(plain.as_bytes())?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = tail.get(c.len_utf8()..).unwrap_or_default();
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(reasoning: &str) -> EntryDraft {
        EntryDraft {
            ts: "2026-05-25T12:34:56Z".parse().unwrap(),
            decision: "d-1".into(),
            about: Some(About {
                repo_id: RepoId(9_007_199_254_740_993),
                repo: "owner/repo".parse().unwrap(),
                number: PullNumber(123),
                head_sha: "a".repeat(40).parse().unwrap(),
            }),
            body: Body::Classification {
                rules_fired: vec![],
                quadrant: Quadrant::B,
                reasoning: reasoning.into(),
                base_ref: "main".into(),
                author: Some("octocat".into()),
                evidence: None,
            },
            policy: "sha256:00".into(),
            delivery: None,
            version: "0.1.0".into(),
        }
    }

    #[test]
    fn members_stand_in_the_specified_order() {
        let (line, _) = draft("x").encode(41, super::super::GENESIS).unwrap();
        let line = String::from_utf8(line).unwrap();
        let order = [
            "seq",
            "ts",
            "kind",
            "pr",
            "head_sha",
            "rules_fired",
            "quadrant",
            "reasoning",
            "policy",
            "delivery",
            "version",
            "decision",
            "repo_id",
            "prev",
            "hash",
        ];
        let places: Vec<_> = order
            .iter()
            .map(|name| line.find(&format!("\"{name}\":")).expect(name))
            .collect();
        assert!(places.is_sorted(), "{line}");
        assert!(line.contains("\"repo_id\":9007199254740993"));
    }

    #[test]
    fn one_line_whatever_the_text() {
        for text in [
            "a\nb",
            "a\r\nb",
            "a\u{2028}b\u{85}c\u{202e}d\0",
            "\u{1f680}\u{e0041}\"\\",
        ] {
            let (line, _) = draft(text).encode(1, super::super::GENESIS).unwrap();
            let line = String::from_utf8(line).unwrap();
            let body = line.strip_suffix('\n').unwrap();
            assert!(!body.chars().any(is_unseen), "{line}");
            let back: serde_json::Value = serde_json::from_str(&line).unwrap();
            assert_eq!(back["reasoning"], text);
        }
    }

    #[test]
    fn bytes_that_are_no_text_stay_told_apart() {
        assert_eq!(text_of_bytes(b"infra/\xffa.tf"), r"infra/\xFFa.tf");
        assert_eq!(text_of_bytes(br"infra/\xFFa.tf"), r"infra/\\xFFa.tf");
    }
}
