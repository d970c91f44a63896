//! Accounts: people, bots, organisations. The login of the moment and the id that stays.

use super::World;
use crate::refusal::Refusal;

/// What an account is, in GitHub's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountKind {
    /// A person.
    User,
    /// The account of an App.
    Bot,
    /// An organisation.
    Organization,
    /// A placeholder left by an import.
    Mannequin,
}

impl AccountKind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::User => "User",
            Self::Bot => "Bot",
            Self::Organization => "Organization",
            Self::Mannequin => "Mannequin",
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Account {
    pub(crate) id: u64,
    pub(crate) login: String,
    pub(crate) kind: AccountKind,
    /// A deleted account shows as `null` wherever it acted.
    pub(crate) deleted: bool,
}

impl World {
    pub(crate) fn add_account(&mut self, login: &str, kind: AccountKind) -> u64 {
        let id = self.ids.small();
        self.accounts.insert(
            id,
            Account {
                id,
                login: login.into(),
                kind,
                deleted: false,
            },
        );
        id
    }

    /// The account that has this login now; compared without case.
    pub(crate) fn account_named(&self, login: &str) -> Option<&Account> {
        self.accounts
            .values()
            .find(|account| !account.deleted && account.login.eq_ignore_ascii_case(login))
    }

    pub(crate) fn account(&self, id: u64) -> Option<&Account> {
        self.accounts.get(&id).filter(|account| !account.deleted)
    }

    pub(crate) fn login(&self, id: u64) -> String {
        self.account(id)
            .map_or_else(|| "ghost".into(), |account| account.login.clone())
    }

    pub(crate) fn rename_account(&mut self, id: u64, login: &str) -> Result<(), Refusal> {
        self.accounts
            .get_mut(&id)
            .ok_or_else(Refusal::not_found)?
            .login = login.into();
        Ok(())
    }

    pub(crate) fn delete_account(&mut self, id: u64) -> Result<(), Refusal> {
        self.accounts
            .get_mut(&id)
            .ok_or_else(Refusal::not_found)?
            .deleted = true;
        Ok(())
    }
}
