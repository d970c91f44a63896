//! Reactions. GitHub sends no webhook for them.

use super::{Time, World};
use crate::refusal::Refusal;

const CONTENTS: [&str; 8] = [
    "+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes",
];

#[derive(Debug, Clone)]
pub(crate) struct Reaction {
    pub(crate) id: u64,
    pub(crate) user: u64,
    pub(crate) content: String,
    pub(crate) at: Time,
}

/// One reaction a kind and user: the standing one wins. `true` when it is new.
pub(crate) fn put(reactions: &mut Vec<Reaction>, fresh: Reaction) -> (Reaction, bool) {
    let standing = reactions
        .iter()
        .find(|old| old.user == fresh.user && old.content == fresh.content);
    if let Some(standing) = standing {
        return (standing.clone(), false);
    }
    reactions.push(fresh.clone());
    (fresh, true)
}

impl World {
    pub(crate) fn new_reaction(&mut self, content: &str, user: u64) -> Result<Reaction, Refusal> {
        if !CONTENTS.contains(&content) {
            return Err(Refusal::field("Reaction", "content", "invalid"));
        }
        Ok(Reaction {
            id: self.ids.small(),
            user,
            content: content.into(),
            at: self.now(),
        })
    }

    pub(crate) fn react(
        &mut self,
        repo: u64,
        number: u64,
        content: &str,
        user: u64,
    ) -> Result<(Reaction, bool), Refusal> {
        self.issue(repo, number)?;
        let fresh = self.new_reaction(content, user)?;
        Ok(put(&mut self.issue_mut(repo, number)?.reactions, fresh))
    }

    pub(crate) fn unreact(&mut self, repo: u64, number: u64, id: u64) -> Result<(), Refusal> {
        let reactions = &mut self.issue_mut(repo, number)?.reactions;
        let before = reactions.len();
        reactions.retain(|reaction| reaction.id != id);
        if reactions.len() == before {
            Err(Refusal::not_found())
        } else {
            Ok(())
        }
    }
}
