//! The closed vocabularies of a ledger, and words that may turn out not to belong to them.
//!
//! INVARIANT: a word that is not exactly in the vocabulary stays as written and is reported; it is never rounded
//! to a neighbour. The words are English in both languages; Korean spellings are read and written back in English.

use super::text::{Place, Text, fold};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{borrow::Cow, fmt};

/// A closed set of words.
pub trait Vocabulary: Copy + Eq + fmt::Debug + 'static {
    /// What the set is called.
    const NAME: &'static str;
    /// Every member.
    const ALL: &'static [Self];
    /// The word as it is written.
    fn word(self) -> &'static str;
    /// Other spellings, folded.
    fn spellings(self) -> &'static [&'static str];
    /// The member a word stands for.
    fn read(raw: &str) -> Option<Self> {
        let folded = fold(raw);
        Self::ALL.iter().copied().find(|member| {
            same_word(member.word(), &folded) || member.spellings().contains(&folded.as_str())
        })
    }
    /// All words, for a hint.
    fn all_words() -> String {
        let words: Vec<_> = Self::ALL
            .iter()
            .map(|member| format!("`{}`", member.word()))
            .collect();
        words.join(", ")
    }
}

/// Is this the folded form of the word? As `fold(word) == folded`, without building it.
fn same_word(word: &str, folded: &str) -> bool {
    let plain = |byte: u8| {
        if byte == b'_' {
            b' '
        } else {
            byte.to_ascii_lowercase()
        }
    };
    word.bytes().map(plain).eq(folded.bytes())
}

macro_rules! vocabulary {
    ($(#[$doc:meta])* $name:ident called $called:literal { $($(#[$member_doc:meta])* $member:ident = $word:literal $(| $spelling:literal)*;)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$member_doc])* $member,)+
        }

        impl Vocabulary for $name {
            const NAME: &'static str = $called;
            const ALL: &'static [Self] = &[$(Self::$member),+];
            fn word(self) -> &'static str {
                match self { $(Self::$member => $word,)+ }
            }
            fn spellings(self) -> &'static [&'static str] {
                match self { $(Self::$member => &[$($spelling),*],)+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.word())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }
    };
}

vocabulary! {
    /// How much can go wrong; the order is the order of raising.
    Risk called "risk" {
        /// Contained and undone by a revert.
        Low = "LOW" | "낮음" | "low risk" | "낮은 위험";
        /// Needs named verification before completion.
        Medium = "MEDIUM" | "중간" | "보통" | "medium risk" | "중간 위험";
        /// Needs a person's approval of exactly the recorded actions.
        High = "HIGH" | "높음" | "high risk" | "높은 위험";
    }
}

vocabulary! {
    /// How far the work is. Bookkeeping: authorizes nothing, blocks nothing, proves nothing.
    Phase called "operational phase" {
        /// The ledger exists, the contract is not written.
        Draft = "DRAFT" | "초안";
        /// Evidence and baselines are being gathered.
        Investigating = "INVESTIGATING" | "조사 중" | "조사";
        /// The authorized change is being made.
        Executing = "EXECUTING" | "실행 중" | "실행";
        /// The change is made and is being verified.
        Verifying = "VERIFYING" | "검증 중";
    }
}

vocabulary! {
    /// What the gate decides.
    Disposition called "disposition" {
        /// An authoritative clarification is needed first.
        BlockedClarification = "BLOCKED_CLARIFICATION";
        /// Factual evidence is missing, conflicting or not to be had.
        BlockedEvidence = "BLOCKED_EVIDENCE";
        /// Supported work of low risk may proceed.
        Allow = "ALLOW";
        /// Supported work may proceed; named verification must pass before completion.
        AllowWithVerification = "ALLOW_WITH_VERIFICATION";
        /// Supported work of high risk waits for an explicit approval.
        Checkpoint = "CHECKPOINT";
        /// Every mandatory verification passed and every required claim is supported.
        Complete = "COMPLETE";
    }
}

impl Disposition {
    /// May a ledger be archived with it?
    #[must_use]
    pub fn is_final(self) -> bool {
        match self {
            Self::Complete | Self::BlockedEvidence | Self::BlockedClarification => true,
            Self::Allow | Self::AllowWithVerification | Self::Checkpoint => false,
        }
    }

    /// How much it permits: blocked 0, checkpoint 1, allowed with verification 2, allowed 3, complete 4.
    #[must_use]
    pub fn permits(self) -> u8 {
        match self {
            Self::BlockedClarification | Self::BlockedEvidence => 0,
            Self::Checkpoint => 1,
            Self::AllowWithVerification => 2,
            Self::Allow => 3,
            Self::Complete => 4,
        }
    }
}

vocabulary! {
    /// How a verification, claim or record stands.
    Status called "status" {
        /// Observed to hold.
        Pass = "PASS" | "passed" | "통과" | "합격";
        /// Observed not to hold.
        Fail = "FAIL" | "failed" | "실패";
        /// Not observed.
        Unverified = "UNVERIFIED" | "unverifiable" | "미검증" | "검증 안 됨" | "검증되지 않음";
        /// Failed before the change, in the same way.
        PreexistingFailure = "PREEXISTING_FAILURE" | "pre existing failure" | "기존 실패";
    }
}

vocabulary! {
    /// What kind of observation stands behind a claim.
    EvidenceType called "evidence type" {
        /// Source inspection, search, types, configuration.
        Static = "static" | "정적" | "정적 static" | "정적(static)" | "정적 (static)";
        /// The program was run and watched.
        Runtime = "runtime" | "run time" | "런타임" | "런타임 runtime" | "런타임(runtime)" | "런타임 (runtime)";
    }
}

vocabulary! {
    /// Must a claim or verification hold before completion?
    Mandatory called "mandatory flag" {
        /// It must; the answer when nothing is said.
        Yes = "yes" | "true" | "mandatory" | "required" | "예" | "필수" | "네";
        /// It need not.
        No = "no" | "false" | "optional" | "not mandatory" | "아니오" | "아니요" | "선택";
    }
}

vocabulary! {
    /// When must a claim be supported?
    Needed called "time a claim is needed" {
        /// Before the work; the answer when nothing is said.
        BeforeChange = "before change" | "before the change" | "before" | "변경 전";
        /// After it: the claim is about the changed state.
        AfterChange = "after change" | "after the change" | "after" | "변경 후";
    }
}

vocabulary! {
    /// How a checkpoint stands.
    CheckpointStatus called "checkpoint status" {
        /// No approval is needed.
        NotRequired = "NOT_REQUIRED" | "not needed" | "필요 없음" | "불필요";
        /// The record is presented and waits.
        Pending = "PENDING" | "pending approval" | "awaiting approval" | "대기" | "승인 대기" | "대기 중";
        /// A person answered with an approval.
        Approved = "APPROVED" | "승인됨" | "승인";
        /// A person refused.
        Rejected = "REJECTED" | "declined" | "거부됨" | "거부";
    }
}

/// A word that was read: a member of the vocabulary, or what stood there instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word<T> {
    /// A member.
    Known(T),
    /// Not one; kept as written.
    Other(Text),
}

/// A word and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stated<T> {
    word: Word<T>,
    /// Where.
    pub at: Place,
}

impl<T: Vocabulary> Stated<T> {
    /// Reads a word.
    #[must_use]
    pub fn read(raw: &str, at: Place) -> Self {
        let word = T::read(raw).map_or_else(|| Word::Other(Text::new(raw)), Word::Known);
        Self { word, at }
    }

    /// The member, or `None` when the word is not one.
    #[must_use]
    pub fn known(&self) -> Option<T> {
        match &self.word {
            Word::Known(member) => Some(*member),
            Word::Other(_) => None,
        }
    }

    /// The word as it is written back.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.word {
            Word::Known(member) => member.word(),
            Word::Other(text) => text.as_str(),
        }
    }
}

impl<T: Vocabulary> From<T> for Stated<T> {
    fn from(member: T) -> Self {
        Self {
            word: Word::Known(member),
            at: Place::default(),
        }
    }
}

impl<T: Vocabulary> Serialize for Stated<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de, T: Vocabulary> Deserialize<'de> for Stated<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|raw| Self::read(&raw, Place::default()))
    }
}

impl<T: Vocabulary> JsonSchema for Stated<T> {
    fn schema_name() -> Cow<'static, str> {
        T::NAME
            .split(' ')
            .map(|word| {
                let mut letters = word.chars();
                letters
                    .next()
                    .map(|first| first.to_uppercase().chain(letters).collect::<String>())
                    .unwrap_or_default()
            })
            .collect::<String>()
            .into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<_> = T::ALL.iter().map(|member| member.word()).collect();
        json_schema!({
            "type": "string",
            "description": format!("One of {}. Any other word is kept and reported by the lint.", T::all_words()),
            "examples": words,
        })
    }
}

/// The member of an optional stated word, `None` when absent or unknown.
#[must_use]
pub fn known<T: Vocabulary>(stated: Option<&Stated<T>>) -> Option<T> {
    stated.and_then(Stated::known)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_spelling_is_folded_and_its_own<T: Vocabulary>() {
        for member in T::ALL {
            assert_eq!(T::read(member.word()), Some(*member));
            for spelling in member.spellings() {
                assert_eq!(fold(spelling), *spelling);
                assert_eq!(T::read(spelling), Some(*member), "{spelling}");
            }
        }
    }

    #[test]
    fn spellings_are_unambiguous() {
        every_spelling_is_folded_and_its_own::<Risk>();
        every_spelling_is_folded_and_its_own::<Phase>();
        every_spelling_is_folded_and_its_own::<Disposition>();
        every_spelling_is_folded_and_its_own::<Status>();
        every_spelling_is_folded_and_its_own::<EvidenceType>();
        every_spelling_is_folded_and_its_own::<Mandatory>();
        every_spelling_is_folded_and_its_own::<Needed>();
        every_spelling_is_folded_and_its_own::<CheckpointStatus>();
    }

    #[test]
    fn a_word_with_a_remark_is_not_rounded() {
        for odd in ["PASS once CI ran", "PASS (expected)", "COMPLETED", "ALLOW?"] {
            assert_eq!(Status::read(odd), None, "{odd}");
            assert_eq!(Disposition::read(odd), None, "{odd}");
        }
        assert_eq!(
            Disposition::read("**Allow with verification**"),
            Some(Disposition::AllowWithVerification)
        );
    }
}
