//! Who may answer: the configured owners, by the id that stays.

use crate::domain::{Account, AccountId, AccountType};
use crate::policy::Owners;

/// Somebody who said something. `id` is `None` only in documents that carry none (the command line).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Speaker {
    /// The login of the moment.
    pub login: String,
    /// The id that stays.
    pub id: Option<AccountId>,
    /// Person, bot or something else.
    pub kind: AccountType,
}

impl From<Account> for Speaker {
    fn from(account: Account) -> Self {
        Self {
            login: account.login,
            id: Some(account.id),
            kind: account.kind,
        }
    }
}

/// How somebody stands to the owners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// An owner.
    Owner,
    /// Not of type User: bots and organisations never answer.
    NotAPerson,
    /// A person who is no owner.
    Stranger,
    /// Has an owner's login but not the id that was pinned for it: to be reported loudly.
    Impostor,
}

/// Is this an owner?
///
/// With an id, the id decides: it must be pinned for a login that is configured now. A login decides only where there is no id
/// and nothing is pinned, which is the case offline.
#[must_use]
pub fn standing(owners: &Owners, speaker: &Speaker) -> Standing {
    match speaker.kind {
        AccountType::User => {}
        AccountType::Bot | AccountType::Other(_) => return Standing::NotAPerson,
    }
    let configured = |login: &str| {
        owners
            .logins
            .iter()
            .any(|owner| owner.eq_ignore_ascii_case(login))
    };
    let pinned = owners
        .pinned
        .iter()
        .any(|(login, id)| Some(*id) == speaker.id && configured(login));
    let offline = speaker.id.is_none() && owners.pinned.is_empty();
    match (pinned, configured(&speaker.login)) {
        (true, _) => Standing::Owner,
        (false, true) if offline => Standing::Owner,
        (false, true) => Standing::Impostor,
        (false, false) => Standing::Stranger,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(login: &str, id: Option<u64>) -> Speaker {
        Speaker {
            login: login.into(),
            id: id.map(AccountId),
            kind: AccountType::User,
        }
    }

    #[test]
    fn the_id_decides() {
        let owners = Owners {
            logins: vec!["Octo-Owner".into()],
            pinned: vec![
                ("octo-owner".into(), AccountId(1001)),
                ("octo-former".into(), AccountId(1002)),
            ],
        };
        for (login, id, expect) in [
            ("octo-owner", Some(1001), Standing::Owner),
            ("renamed-owner", Some(1001), Standing::Owner),
            ("octo-owner", Some(6666), Standing::Impostor),
            ("octo-owner", None, Standing::Impostor),
            ("octo-former", Some(1002), Standing::Stranger),
            ("octo-guest", Some(5), Standing::Stranger),
        ] {
            assert_eq!(standing(&owners, &person(login, id)), expect, "{login}");
        }
        let bot = Speaker {
            kind: AccountType::Bot,
            ..person("octo-owner", Some(1001))
        };
        assert_eq!(standing(&owners, &bot), Standing::NotAPerson);
    }

    #[test]
    fn without_pins_an_id_is_nobody() {
        let owners = Owners {
            logins: vec!["octo-owner".into()],
            pinned: vec![],
        };
        assert_eq!(
            standing(&owners, &person("OCTO-owner", None)),
            Standing::Owner
        );
        assert_eq!(
            standing(&owners, &person("octo-owner", Some(1))),
            Standing::Impostor
        );
    }
}
