//! Phrases of general assent: they sound like an approval and authorize nothing.
//!
//! INVARIANT: the only approval is the one word `APPROVE` under the record it answers. This list exists to explain a
//! refusal, never to grant anything: what is not on it is no approval either.

use super::text::fold_sentence;

/// English and Korean, in the form of [`fold_sentence`].
const PHRASES: &[&str] = &[
    "go ahead",
    "please go ahead",
    "go for it",
    "proceed",
    "please proceed",
    "continue",
    "please continue",
    "keep going",
    "carry on",
    "lgtm",
    "looks good",
    "looks good to me",
    "sounds good",
    "ship it",
    "do it",
    "just do it",
    "approved",
    "i approve",
    "approve it",
    "approve all",
    "yes",
    "yep",
    "yeah",
    "ok",
    "okay",
    "sure",
    "fine",
    "agreed",
    "great",
    "perfect",
    "thumbs up",
    "+1",
    "your call",
    "up to you",
    "use your judgment",
    "use your judgement",
    "use your best judgment",
    "use your best judgement",
    "your judgment",
    "at your discretion",
    "your discretion",
    "do your best",
    "do what you think is best",
    "whatever you think is best",
    "i trust you",
    "i leave it to you",
    "it's up to you",
    "no objection",
    "no objections",
    "계속 진행",
    "계속 진행하세요",
    "계속 진행하십시오",
    "계속 진행해",
    "계속 진행해 주세요",
    "계속하세요",
    "계속해",
    "계속",
    "진행",
    "진행하세요",
    "진행해",
    "진행해 주세요",
    "진행하십시오",
    "당신의 판단에 맡깁니다",
    "판단에 맡깁니다",
    "판단에 맡길게요",
    "알아서 하세요",
    "알아서 해",
    "알아서 해 주세요",
    "알아서 진행하세요",
    "최선을 다하세요",
    "최선을 다해 주세요",
    "당신의 재량에 따릅니다",
    "재량에 따릅니다",
    "재량에 맡깁니다",
    "승인",
    "승인합니다",
    "승인 회신",
    "동의합니다",
    "네",
    "예",
    "좋아요",
    "좋습니다",
    "그렇게 하세요",
    "그렇게 해 주세요",
    "괜찮습니다",
    "문제 없습니다",
    "믿고 맡깁니다",
];

/// The phrase of general assent that a reply consists of or contains, or `None`.
#[must_use]
pub fn general_phrase(reply: &str) -> Option<&'static str> {
    let folded = fold_sentence(reply);
    if folded.is_empty() {
        return None;
    }
    let whole = PHRASES
        .iter()
        .find(|phrase| fold_sentence(phrase) == folded);
    whole.or_else(|| contained(&folded)).copied()
}

/// Longer phrases are recognised inside a reply as well; single words are not.
fn contained(folded: &str) -> Option<&'static &'static str> {
    let padded = format!(" {folded} ");
    PHRASES
        .iter()
        .filter(|phrase| phrase.contains(' '))
        .find(|phrase| padded.contains(&format!(" {} ", fold_sentence(phrase))))
}

/// Is the reply the approving word and nothing else? Code and emphasis marks around it are seen through.
#[must_use]
pub fn is_approve(reply: &str) -> bool {
    reply.trim().trim_matches(['`', '*', '"']).trim() == "APPROVE"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assent_is_recognised_in_both_languages() {
        for reply in [
            "Go ahead!",
            "go ahead, please",
            "LGTM",
            "\"계속 진행\"",
            "당신의 판단에 맡깁니다.",
            "Yes.",
            "OK 👍 go ahead",
            "It's up to you",
        ] {
            assert!(general_phrase(reply).is_some(), "{reply}");
            assert!(!is_approve(reply), "{reply}");
        }
    }

    #[test]
    fn only_the_word_alone_approves() {
        assert!(is_approve(" `APPROVE` "));
        for reply in [
            "approve",
            "APPROVE.",
            "APPROVE but keep the table",
            "APPROVED",
            "",
        ] {
            assert!(!is_approve(reply), "{reply}");
        }
    }
}
