//! What is said after a merge: the Issue about a failure, the pull request that takes it back.

/// Every sentence of it, in one language.
pub(crate) struct AfterMergeTexts {
    pub title: &'static str,
    pub intro: &'static str,
    pub failed: &'static str,
    pub more: &'static str,
    pub todo_heading: &'static str,
    pub todo: &'static str,
    pub revert_heading: &'static str,
    pub by_hand: &'static str,
    pub coming: &'static str,
    pub opened: &'static str,
    pub refused: &'static str,
    pub end: &'static str,
    pub revert_title: &'static str,
    pub revert_intro: &'static str,
    pub revert_note: &'static str,
}

pub(super) const EN: AfterMergeTexts = AfterMergeTexts {
    title: "Fails after its merge: {pr}",
    intro: "{pull} was merged into {base} as {commit}. There, required checks fail.",
    failed: "**What fails:**",
    more: "- and {count} more",
    todo_heading: "### What to do",
    todo: "1. Look at the runs of [the commit]({link}). If CI itself was at fault, run them again.\n2. If the change is at fault, take it back or mend it with a new pull request.\n3. Merge nothing else into {base} until its checks are green.\n4. Close this Issue when they are.",
    revert_heading: "### Taking it back",
    by_hand: "No revert pull request is opened: {reason}. By hand: `git revert {sha}` on a branch of {base}, and a pull request.",
    coming: "A pull request that takes it back is being opened from the branch `{branch}`. It passes the merge gate like every other.",
    opened: "Pull request {pr} takes it back. It passes the merge gate like every other.",
    refused: "The pull request that takes it back could not be opened ({reason}). By hand: `git revert {sha}` on a branch of {base}, and a pull request.",
    end: "This Issue holds nothing up. It stays open until somebody closes it.",
    revert_title: "Revert \"{title}\"",
    revert_intro: "Takes back {pull}: commit {commit} fails required checks on {base}.",
    revert_note: "Every file that the commit touched goes back to what it was before. The label says that this is a recovery; it lowers nothing: the change is judged like every other.",
};

pub(super) const KO: AfterMergeTexts = AfterMergeTexts {
    title: "머지 뒤 실패: {pr}",
    intro: "{pull}: {base}에 {commit}(으)로 머지되었습니다. 그곳에서 필수 check가 실패합니다.",
    failed: "**실패한 것:**",
    more: "- 그 밖에 {count}개",
    todo_heading: "### 할 일",
    todo: "1. [이 커밋]({link})의 실행을 보십시오. CI 자체의 문제이면 다시 실행하십시오.\n2. 변경이 문제이면 되돌리거나 새 PR로 고치십시오.\n3. check가 성공할 때까지 {base}에 다른 것을 머지하지 마십시오.\n4. 성공하면 이 Issue를 닫으십시오.",
    revert_heading: "### 되돌리기",
    by_hand: "되돌리는 PR을 열지 않습니다: {reason}. 직접 하려면 {base}의 브랜치에서 `git revert {sha}` 후 PR을 여십시오.",
    coming: "브랜치 `{branch}`에서 되돌리는 PR을 여는 중입니다. 다른 PR과 똑같이 머지 게이트를 지납니다.",
    opened: "PR {pr}이(가) 되돌립니다. 다른 PR과 똑같이 머지 게이트를 지납니다.",
    refused: "되돌리는 PR을 열지 못했습니다 ({reason}). 직접 하려면 {base}의 브랜치에서 `git revert {sha}` 후 PR을 여십시오.",
    end: "이 Issue는 아무것도 막지 않습니다. 누군가 닫을 때까지 열려 있습니다.",
    revert_title: "Revert \"{title}\"",
    revert_intro: "{pull}을(를) 되돌립니다: 커밋 {commit}이(가) {base}에서 필수 check에 실패합니다.",
    revert_note: "이 커밋이 건드린 모든 파일이 이전으로 돌아갑니다. 라벨은 복구라는 표시이며 아무것도 낮추지 않습니다: 이 변경도 다른 것과 똑같이 판정됩니다.",
};

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn all(texts: &AfterMergeTexts) -> [&'static str; 15] {
        [
            texts.title,
            texts.intro,
            texts.failed,
            texts.more,
            texts.todo_heading,
            texts.todo,
            texts.revert_heading,
            texts.by_hand,
            texts.coming,
            texts.opened,
            texts.refused,
            texts.end,
            texts.revert_title,
            texts.revert_intro,
            texts.revert_note,
        ]
    }

    #[test]
    fn both_languages_use_the_same_values() {
        let values = |text: &'static str| -> BTreeSet<&'static str> {
            text.split('{')
                .skip(1)
                .filter_map(|rest| rest.split('}').next())
                .collect()
        };
        for (en, ko) in all(&EN).into_iter().zip(all(&KO)) {
            assert_eq!(values(en), values(ko), "{en}");
        }
    }
}
