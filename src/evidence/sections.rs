//! The sections of a ledger and the headings by which they are known, in English and Korean.
//!
//! INVARIANT: a heading names at most one section; what names none is kept as an extra section, never guessed at.

use super::text::fold;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The language a ledger is written in. Both are always read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// English.
    #[default]
    En,
    /// Korean.
    Ko,
}

/// A section, in the order in which a ledger is written.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[allow(
    missing_docs,
    reason = "the names are the sections' own headings; see `Section::heading`"
)]
pub enum Section {
    ChangeId,
    Phase,
    Disposition,
    RequestedAction,
    AuthorizedScope,
    OutOfScope,
    ScopeLimits,
    Risk,
    Assumptions,
    Contract,
    Records,
    Baseline,
    Checkpoint,
    Log,
    Verifications,
    Limitations,
    Missing,
    Conflicting,
    Unresolved,
    FinalDisposition,
}

impl Section {
    /// Every section, in order.
    pub const ALL: [Self; 20] = [
        Self::ChangeId,
        Self::Phase,
        Self::Disposition,
        Self::RequestedAction,
        Self::AuthorizedScope,
        Self::OutOfScope,
        Self::ScopeLimits,
        Self::Risk,
        Self::Assumptions,
        Self::Contract,
        Self::Records,
        Self::Baseline,
        Self::Checkpoint,
        Self::Log,
        Self::Verifications,
        Self::Limitations,
        Self::Missing,
        Self::Conflicting,
        Self::Unresolved,
        Self::FinalDisposition,
    ];

    /// The heading as it is written.
    #[must_use]
    pub fn heading(self, language: Language) -> &'static str {
        let (en, ko) = self.headings();
        match language {
            Language::En => en,
            Language::Ko => ko,
        }
    }

    fn headings(self) -> (&'static str, &'static str) {
        match self {
            Self::ChangeId => ("Change ID", "변경 ID"),
            Self::Phase => ("Operational phase", "운영 단계"),
            Self::Disposition => ("Disposition", "상태"),
            Self::RequestedAction => ("Requested action", "요청된 작업"),
            Self::AuthorizedScope => ("Authorized scope", "승인된 범위"),
            Self::OutOfScope => ("Explicitly out of scope", "명시적으로 범위를 벗어난 항목"),
            Self::ScopeLimits => (
                "Scope limitations and unknowns",
                "범위 제한 및 알려지지 않은 사항",
            ),
            Self::Risk => ("Risk classification", "위험 분류"),
            Self::Assumptions => ("Material assumptions", "중요한 가정"),
            Self::Contract => ("Evidence contract", "증거 계약"),
            Self::Records => ("Evidence records", "증거 기록"),
            Self::Baseline => ("Baseline verification", "기준 검증"),
            Self::Checkpoint => ("Checkpoint", "체크포인트"),
            Self::Log => ("Execution log", "실행 로그"),
            Self::Verifications => ("Verification records", "검증 기록"),
            Self::Limitations => ("Limitations", "제한 사항"),
            Self::Missing => ("Missing", "누락"),
            Self::Conflicting => ("Conflicting", "충돌"),
            Self::Unresolved => ("Unresolved", "미해결"),
            Self::FinalDisposition => ("Final disposition", "최종 상태"),
        }
    }

    /// Other headings people use, folded.
    fn aliases(self) -> &'static [&'static str] {
        match self {
            Self::ChangeId => &["change identifier", "id", "변경 아이디", "변경 식별자"],
            Self::Phase => &["phase", "current phase", "단계", "현재 단계"],
            Self::Disposition => &[
                "current disposition",
                "gate disposition",
                "gate",
                "status",
                "current status",
                "current state",
                "state",
                "현재 상태",
                "처분",
                "판정",
                "게이트 상태",
            ],
            Self::RequestedAction => &[
                "requested work",
                "request",
                "requested actions",
                "task",
                "요청 작업",
                "요청",
                "요청된 행위",
                "요청 사항",
            ],
            Self::AuthorizedScope => &[
                "authorised scope",
                "scope",
                "in scope",
                "approved scope",
                "authorized",
                "승인 범위",
                "허가된 범위",
                "범위",
            ],
            Self::OutOfScope => &[
                "out of scope",
                "not in scope",
                "excluded",
                "exclusions",
                "non goals",
                "범위 외",
                "범위 밖",
                "제외",
                "제외 범위",
                "명시적 범위 외",
                "명시적 범위 제외",
                "명시적으로 범위를 벗어남",
                "범위를 벗어난 항목",
            ],
            Self::ScopeLimits => &[
                "scope limitations",
                "scope limits",
                "unknowns",
                "limitations and unknowns",
                "범위 제한",
                "알려지지 않은 사항",
                "범위 한계",
            ],
            Self::Risk => &[
                "risk",
                "risk level",
                "risk classification with reasons",
                "risk classification and reasons",
                "risk assessment",
                "위험",
                "위험도",
                "위험 등급",
                "위험 수준",
                "이유를 포함한 위험 분류",
            ],
            Self::Assumptions => &["assumptions", "가정", "중요 가정", "핵심 가정"],
            Self::Contract => &[
                "contract",
                "claims",
                "evidence contracts",
                "claim contract",
                "계약",
                "주장",
                "주장별 증거 계약",
            ],
            Self::Records => &[
                "evidence record",
                "evidence",
                "records",
                "provenance",
                "evidence log",
                "증거",
                "증거 목록",
                "출처",
            ],
            Self::Baseline => &[
                "baseline",
                "baselines",
                "baseline verifications",
                "baseline runs",
                "기준",
                "기준선",
                "기준선 검증",
                "기준 실행",
                "베이스라인",
            ],
            Self::Checkpoint => &[
                "checkpoint status",
                "checkpoint state",
                "checkpoint record",
                "checkpoint approval",
                "체크포인트 상태",
                "체크포인트 기록",
                "체크포인트 승인",
            ],
            Self::Log => &["log", "execution", "실행 기록", "로그"],
            Self::Verifications => &[
                "verification",
                "verifications",
                "verification record",
                "verification results",
                "post change verification",
                "검증",
                "검증 결과",
                "변경 후 검증",
            ],
            Self::Limitations => &[
                "limitation",
                "known limitations",
                "한계",
                "제한",
                "알려진 한계",
            ],
            Self::Missing => &[
                "missing evidence",
                "누락된 증거",
                "누락 사항",
                "누락된 항목",
            ],
            Self::Conflicting => &[
                "conflicts",
                "conflict",
                "conflicting evidence",
                "상충",
                "상충하는 증거",
                "충돌 사항",
            ],
            Self::Unresolved => &[
                "open questions",
                "unresolved questions",
                "unresolved items",
                "미해결 사항",
                "미해결 질문",
            ],
            Self::FinalDisposition => &[
                "final state",
                "final status",
                "final",
                "최종 처분",
                "최종 판정",
                "최종",
            ],
        }
    }

    /// The section a folded name stands for.
    fn of_folded(folded: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|section| {
            let (en, ko) = section.headings();
            en.eq_ignore_ascii_case(folded)
                || ko.eq_ignore_ascii_case(folded)
                || section.aliases().contains(&folded)
        })
    }
}

/// What a heading stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// One section.
    One(Section),
    /// The header: change id, phase, disposition and more as labelled lines.
    Header,
    /// Limitations, missing, conflicting and unresolved in one section.
    Gaps,
}

const HEADERS: &[&str] = &[
    "header",
    "ledger header",
    "metadata",
    "summary",
    "change id and current state",
    "change id and current status",
    "change id and disposition",
    "change id and status",
    "phase and disposition",
    "헤더",
    "머리말",
    "요약",
    "변경 id 및 현재 상태",
    "변경 id와 현재 상태",
    "단계 및 상태",
    "단계와 상태",
];

const GAPS: &[&str] = &[
    "limitations missing conflicting unresolved",
    "limitations missing conflicting and unresolved",
    "limitations missing evidence conflicts unresolved",
    "gaps",
    "제한 사항 누락 충돌 미해결",
    "한계 누락 충돌 미해결",
    "제한 누락 충돌 미해결",
    "제한 사항 누락 충돌 미해결 섹션",
];

/// What a heading or label names, seen through numbering (`3.`, `A)`), a gloss in parentheses and dress.
#[must_use]
pub fn named(raw: &str) -> Option<Named> {
    let folded = fold(raw);
    let bare = without_number(&folded);
    if let Some(named) = whole(bare) {
        return Some(named);
    }
    let (before, gloss) = gloss(bare)?;
    whole(before).or_else(|| whole(gloss))
}

fn whole(folded: &str) -> Option<Named> {
    if folded.is_empty() {
        return None;
    }
    if HEADERS.contains(&folded) {
        return Some(Named::Header);
    }
    if GAPS.contains(&folded) {
        return Some(Named::Gaps);
    }
    Section::of_folded(folded).map(Named::One)
}

/// `3. risk` and `a) risk` are `risk`.
fn without_number(folded: &str) -> &str {
    let rest = folded.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '§');
    let rest = rest.strip_prefix(')').unwrap_or(rest);
    let rest = if rest.len() == folded.len() {
        match folded.split_once([')', '.']) {
            Some((letter, rest)) if letter.chars().count() == 1 => rest,
            _ => rest,
        }
    } else {
        rest
    };
    rest.trim_start()
}

/// `상태 (disposition)` is `상태` with the gloss `disposition`.
fn gloss(folded: &str) -> Option<(&str, &str)> {
    let (before, rest) = folded.split_once(['(', '（'])?;
    let inside = rest.trim_end().trim_end_matches([')', '）']);
    Some((before.trim(), inside.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn every_name_is_folded_and_names_one_section() {
        let mut seen: HashMap<String, Section> = HashMap::new();
        for section in Section::ALL {
            let (en, ko) = section.headings();
            let names = section.aliases().iter().map(|name| (*name).to_owned());
            for name in names.chain([fold(en), fold(ko)]) {
                assert_eq!(fold(&name), name);
                assert_eq!(named(&name), Some(Named::One(section)), "{name}");
                assert_eq!(seen.insert(name.clone(), section), None, "{name} twice");
            }
        }
        for name in HEADERS.iter().chain(GAPS) {
            assert_eq!(fold(name), *name);
            assert!(!seen.contains_key(*name));
        }
    }

    #[test]
    fn headings_are_seen_through_numbers_and_glosses() {
        for heading in [
            "## 3. Risk",
            "3) **Risk classification**",
            "위험 분류 (Risk Classification)",
            "A. risk",
            "분류(Risk)",
        ] {
            let heading = heading.trim_start_matches("## ");
            assert_eq!(named(heading), Some(Named::One(Section::Risk)), "{heading}");
        }
        assert_eq!(named("제한 사항/누락/충돌/미해결"), Some(Named::Gaps));
        assert_eq!(named("Risk appetite of the company"), None);
        assert_eq!(named("1."), None);
    }
}
