//! Who set a label, and when (classifier specification, section 5): presence proves nothing, for anyone with
//! the triage role can set a label.
//!
//! INVARIANT: only server-side times count (`head_since`, event times), never a commit date; unknown or
//! unreadable is not honoured.

use super::text::clipped;
use crate::domain::{AccountType, Facts, Known, LabelAction, LabelEvent, Timestamp};
use crate::policy::Policy;

/// May the label open a gate?
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Provenance {
    /// It is present, and was set for the present head by somebody who may.
    Verified {
        /// The login that set it.
        actor: String,
        /// An owner, or the bot itself.
        by: Authority,
        /// When, by GitHub's clock.
        at: Timestamp,
    },
    /// It is not on the pull request.
    Absent,
    /// It is present but not honoured.
    Unverified {
        /// Why not, for people.
        reason: String,
    },
}

/// In which capacity a label was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authority {
    /// One of the configured owners.
    Owner,
    /// The bot's own App account.
    Bot,
}

impl Provenance {
    /// May it open a gate?
    #[must_use]
    pub fn is_verified(&self) -> bool {
        match self {
            Self::Verified { .. } => true,
            Self::Absent | Self::Unverified { .. } => false,
        }
    }
}

/// Looks at one label. Names compare without case, as GitHub's label names do.
#[must_use]
pub fn honoured(label: &str, facts: &Facts, policy: &Policy) -> Provenance {
    if !facts.labels.iter().any(|present| same_name(present, label)) {
        return Provenance::Absent;
    }
    verify(label, facts, policy).unwrap_or_else(|reason| Provenance::Unverified { reason })
}

fn verify(label: &str, facts: &Facts, policy: &Policy) -> Result<Provenance, String> {
    let events = match &facts.label_events {
        Known::Known(events) => events,
        Known::Unknown(cause) => {
            return Err(format!("its history is unknown: {}", clipped(cause, 200)));
        }
    };
    let event = establishing_event(label, events).ok_or("no event shows who set it")?;
    let head_since = facts
        .head_since
        .ok_or("it is unknown since when this commit is the head")?;
    let (actor, by) = authority(event, policy)?;
    if event.at < head_since {
        return Err(format!(
            "set at {}, before the present head became the head at {head_since}",
            event.at
        ));
    }
    Ok(Provenance::Verified {
        actor,
        by,
        at: event.at,
    })
}

/// The last event of the label, if it set it. The order is that of GitHub's clock, then that of the list.
fn establishing_event<'a>(label: &str, events: &'a [LabelEvent]) -> Option<&'a LabelEvent> {
    let last = events
        .iter()
        .filter(|event| same_name(&event.label, label))
        .max_by_key(|event| event.at)?; // of equal times the last in the list
    match last.action {
        LabelAction::Labeled => Some(last),
        LabelAction::Unlabeled => None,
    }
}

fn authority(event: &LabelEvent, policy: &Policy) -> Result<(String, Authority), String> {
    let actor = event
        .actor
        .as_deref()
        .ok_or("set by an account that is gone")?;
    let shown = clipped(actor, 60);
    match &event.actor_type {
        Some(AccountType::User) => owner(event, actor, policy).map(|()| (shown, Authority::Owner)),
        Some(AccountType::Bot) => {
            let own = format!("{}[bot]", policy.bot.app_slug);
            if actor.eq_ignore_ascii_case(&own) {
                Ok((shown, Authority::Bot))
            } else {
                Err(format!("set by `{shown}`, which is not this bot"))
            }
        }
        Some(AccountType::Other(kind)) => Err(format!(
            "set by `{shown}`, an account of type `{}`",
            clipped(kind, 30)
        )),
        None => Err(format!("set by `{shown}`, an account of unknown type")),
    }
}

fn owner(event: &LabelEvent, actor: &str, policy: &Policy) -> Result<(), String> {
    let shown = clipped(actor, 60);
    if !policy
        .owners
        .logins
        .iter()
        .any(|login| login.eq_ignore_ascii_case(actor))
    {
        return Err(format!("set by `{shown}`, who is not an owner"));
    }
    if policy.owners.pinned.is_empty() {
        return Ok(());
    }
    // A login can be given up and taken by somebody else; the pinned id cannot.
    let pinned = policy
        .owners
        .pinned
        .iter()
        .find(|(login, _)| login.eq_ignore_ascii_case(actor))
        .map(|(_, id)| *id)
        .ok_or_else(|| format!("set by `{shown}`, an owner whose account id is not pinned"))?;
    match event.actor_id {
        Some(id) if id != pinned => Err(format!(
            "set by `{shown}` with account id {id}, the owner's is {pinned}"
        )),
        Some(_) | None => Ok(()),
    }
}

fn same_name(a: &str, b: &str) -> bool {
    a == b || a.to_lowercase() == b.to_lowercase()
}
