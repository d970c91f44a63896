//! Entries as labelled fields: the one table that reader and writer share.
//!
//! INVARIANT: a label names at most one field of a kind of entry, in both languages, so that what is written is
//! read back into the same field.

use super::ledger::{Assumption, Claim, Other, Record};
use super::sections::Language;
use super::text::{Place, Text, fold};
use super::words::{Stated, Vocabulary};

/// A field of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named as the members of the entries are")]
pub enum Field {
    Subject,
    Id,
    RequiredEvidence,
    Observed,
    Artifact,
    Method,
    EvidenceType,
    Consequence,
    Limitation,
    Status,
    Mandatory,
    Needed,
    Support,
}

/// Which kind of entry a section holds: it decides what the subject is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An assumption.
    Assumption,
    /// An entry of the contract.
    Claim,
    /// An evidence record, about a claim.
    Evidence,
    /// A baseline or a verification record, about a verification.
    Verification,
}

impl Kind {
    /// The fields in the order in which they are written.
    pub(super) fn fields(self) -> &'static [Field] {
        match self {
            Self::Assumption => &[Field::Subject, Field::Status, Field::Support],
            Self::Claim => &[
                Field::Subject,
                Field::Id,
                Field::RequiredEvidence,
                Field::EvidenceType,
                Field::Consequence,
                Field::Status,
                Field::Mandatory,
                Field::Needed,
            ],
            Self::Evidence | Self::Verification => &[
                Field::Subject,
                Field::Id,
                Field::Observed,
                Field::Artifact,
                Field::Method,
                Field::EvidenceType,
                Field::Limitation,
                Field::Status,
                Field::Mandatory,
            ],
        }
    }

    /// The label as it is written.
    pub(super) fn label(self, field: Field, language: Language) -> &'static str {
        let (en, ko) = match (field, self) {
            (Field::Subject, Self::Assumption) => ("Assumption", "가정"),
            (Field::Subject, Self::Claim | Self::Evidence) => ("Claim", "주장"),
            (Field::Subject, Self::Verification) => ("Verification", "검증"),
            (Field::Id, _) => ("ID", "ID"),
            (Field::RequiredEvidence, _) => ("Required evidence", "필요한 증거"),
            (Field::Observed, _) => ("Observed fact", "관찰된 사실"),
            (Field::Artifact, _) => ("Artifact or command", "산출물 또는 명령 결과"),
            (Field::Method, _) => ("Method", "방법"),
            (Field::EvidenceType, _) => ("Evidence type", "증거 유형"),
            (Field::Consequence, _) => ("Consequence if unsupported", "뒷받침되지 않을 경우 결과"),
            (Field::Limitation, _) => ("Limitation", "한계"),
            (Field::Status, _) => ("Status", "상태"),
            (Field::Mandatory, _) => ("Mandatory", "필수"),
            (Field::Needed, _) => ("Needed", "시점"),
            (Field::Support, _) => ("Evidence or limitation", "증거 또는 한계"),
        };
        match language {
            Language::En => en,
            Language::Ko => ko,
        }
    }

    /// The field a label names, or `None`.
    pub(super) fn field(self, label: &str) -> Option<Field> {
        let folded = fold(label);
        let bare = folded
            .split_once(['(', '（'])
            .map_or(folded.as_str(), |(before, _)| before.trim());
        self.fields()
            .iter()
            .copied()
            .find(|field| self.aliases(*field).contains(&bare))
    }

    fn aliases(self, field: Field) -> &'static [&'static str] {
        match (field, self) {
            (Field::Subject, Self::Assumption) => &[
                "assumption",
                "material assumption",
                "가정",
                "중요한 가정",
                "중요 가정",
            ],
            (Field::Subject, Self::Claim | Self::Evidence) => &[
                "claim",
                "claims",
                "decision relevant claim",
                "주장",
                "결정 관련 주장",
            ],
            (Field::Subject, Self::Verification) => &[
                "verification",
                "mandatory verification",
                "required verification",
                "check",
                "baseline",
                "gate",
                "test",
                "검증",
                "필수 검증",
                "기준",
                "기준 검증",
                "검사",
                "게이트",
            ],
            (Field::Id, _) => &[
                "id",
                "no",
                "#",
                "number",
                "번호",
                "식별자",
                "claim id",
                "record id",
                "verification id",
            ],
            (Field::RequiredEvidence, _) => &[
                "required evidence",
                "evidence required",
                "evidence needed",
                "필요한 증거",
                "필수 증거",
                "필요 증거",
                "요구 증거",
            ],
            (Field::Observed, _) => &[
                "observed fact",
                "observed facts",
                "observed",
                "observation",
                "observations",
                "fact",
                "result",
                "actual",
                "관찰된 사실",
                "관찰 사실",
                "관찰",
                "사실",
                "결과",
                "관측",
                "관측된 사실",
            ],
            (Field::Artifact, _) => &[
                "artifact or command",
                "artifact or command result",
                "artifact or command output",
                "artifact",
                "artifact command",
                "artefact",
                "command",
                "command result",
                "artifacts",
                "source",
                "산출물 또는 명령 결과",
                "산출물 또는 명령",
                "산출물",
                "명령",
                "명령 결과",
                "산출물 명령",
            ],
            (Field::Method, _) => &["method", "how", "방법", "방식"],
            (Field::EvidenceType, _) => &[
                "evidence type",
                "type",
                "kind",
                "증거 유형",
                "유형",
                "증거 종류",
            ],
            (Field::Consequence, _) => &[
                "consequence if unsupported",
                "consequence",
                "if unsupported",
                "consequences if unsupported",
                "뒷받침되지 않을 경우 결과",
                "뒷받침되지 않을 경우의 결과",
                "뒷받침되지 않을 경우",
                "미지원 시 결과",
            ],
            (Field::Limitation, _) => &[
                "limitation",
                "limitations",
                "limits",
                "한계",
                "제한",
                "제한 사항",
            ],
            (Field::Status, _) => &["status", "state", "상태"],
            (Field::Mandatory, _) => {
                &["mandatory", "required", "is mandatory", "필수", "필수 여부"]
            }
            (Field::Needed, _) => &["needed", "when", "stage", "시점", "단계"],
            (Field::Support, _) => &[
                "evidence or limitation",
                "supporting evidence or limitation",
                "support",
                "supporting evidence",
                "evidence",
                "limitation",
                "basis",
                "증거 또는 한계",
                "뒷받침 증거 또는 한계",
                "뒷받침 증거",
                "증거",
                "한계",
                "근거",
            ],
        }
    }
}

/// What reader and writer need of an entry.
pub(super) trait Entry: Default {
    /// Sets a field from its text; fields the entry does not have are ignored by the caller's table.
    fn set(&mut self, field: Field, text: Text, at: Place);
    /// The text of a field, `None` when it says nothing.
    fn get(&self, field: Field) -> Option<&str>;
    /// The fields without a name.
    fn other(&self) -> &[Other];
    /// The same, to add to.
    fn other_mut(&mut self) -> &mut Vec<Other>;
    /// Says where the entry stands.
    fn place(&mut self, at: Place);
}

fn said(text: &Text) -> Option<&str> {
    (!text.is_empty()).then(|| text.as_str())
}

fn word<T: Vocabulary>(stated: Option<&Stated<T>>) -> Option<&str> {
    stated.map(Stated::as_str)
}

/// An empty field is an absent one.
fn read<T: Vocabulary>(text: &Text, at: Place) -> Option<Stated<T>> {
    (!text.is_empty()).then(|| Stated::read(text.as_str(), at))
}

macro_rules! entry {
    ($entry:ident, texts { $($text:ident = $text_field:ident),* }, words { $($word:ident = $word_field:ident),* }, without { $($absent:ident),* }) => {
        impl Entry for $entry {
            fn set(&mut self, field: Field, text: Text, at: Place) {
                match field {
                    $(Field::$text => self.$text_field = text,)*
                    $(Field::$word => self.$word_field = read(&text, at),)*
                    $(Field::$absent)|* => {}
                }
            }
            fn get(&self, field: Field) -> Option<&str> {
                match field {
                    $(Field::$text => said(&self.$text_field),)*
                    $(Field::$word => word(self.$word_field.as_ref()),)*
                    $(Field::$absent)|* => None,
                }
            }
            fn other(&self) -> &[Other] {
                &self.other
            }
            fn other_mut(&mut self) -> &mut Vec<Other> {
                &mut self.other
            }
            fn place(&mut self, at: Place) {
                self.at = at;
            }
        }
    };
}

entry!(Assumption,
    texts { Subject = subject, Support = support },
    words { Status = status },
    without { Id, RequiredEvidence, Observed, Artifact, Method, EvidenceType, Consequence, Limitation, Mandatory, Needed });
entry!(Claim,
    texts { Subject = subject, Id = id, RequiredEvidence = required_evidence, Consequence = consequence },
    words { EvidenceType = evidence_type, Status = status, Mandatory = mandatory, Needed = needed },
    without { Observed, Artifact, Method, Limitation, Support });
entry!(Record,
    texts { Subject = subject, Id = id, Observed = observed, Artifact = artifact, Method = method, Limitation = limitation },
    words { EvidenceType = evidence_type, Status = status, Mandatory = mandatory },
    without { RequiredEvidence, Consequence, Needed, Support });

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_label_names_one_field_and_is_read_back() {
        for kind in [
            Kind::Assumption,
            Kind::Claim,
            Kind::Evidence,
            Kind::Verification,
        ] {
            let mut seen = HashSet::new();
            for field in kind.fields() {
                for alias in kind.aliases(*field) {
                    assert_eq!(fold(alias), *alias);
                    assert!(seen.insert(*alias), "{kind:?}: `{alias}` twice");
                }
                for language in [Language::En, Language::Ko] {
                    assert_eq!(kind.field(kind.label(*field, language)), Some(*field));
                }
            }
        }
    }
}
