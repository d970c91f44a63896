//! The state of the stand-in: what GitHub would have in its database, and the changes it allows.
//!
//! One file a noun. Changes are methods of [`World`], take the acting account, refuse as GitHub does and
//! announce themselves as webhooks, so that a test and the product change the world in the same way.

pub(crate) mod account;
pub(crate) mod app;
pub(crate) mod check;
pub(crate) mod comment;
pub(crate) mod commit;
pub(crate) mod file;
pub(crate) mod issue;
pub(crate) mod label;
pub(crate) mod merge;
pub(crate) mod oauth;
pub(crate) mod pull;
pub(crate) mod reaction;
pub(crate) mod registration;
pub(crate) mod repo;
pub(crate) mod status;

use crate::{
    auth::Doors, config::Config, faults::Faults, limits::Limits, record::RequestRecord,
    refusal::Refusal, webhooks::Hooks,
};
use account::Account;
use app::{App, Installation};
use chrono::{DateTime, SecondsFormat, Utc};
use repo::Repo;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};

pub(crate) type Time = DateTime<Utc>;

/// Everything there is.
pub(crate) struct World {
    pub(crate) base: String,
    pub(crate) clock: Clock,
    pub(crate) ids: Ids,
    pub(crate) accounts: BTreeMap<u64, Account>,
    pub(crate) apps: BTreeMap<u64, App>,
    pub(crate) own_app: u64,
    pub(crate) installations: BTreeMap<u64, Installation>,
    pub(crate) repos: BTreeMap<u64, Repo>,
    /// Lower-case `owner/name` of earlier names, still answered by a redirect.
    pub(crate) old_names: HashMap<String, u64>,
    pub(crate) hooks: Hooks,
    pub(crate) registration: registration::Registration,
    pub(crate) doors: Doors,
    pub(crate) limits: Limits,
    pub(crate) faults: Faults,
    pub(crate) requests: Vec<RequestRecord>,
    pub(crate) check_contract: bool,
    pub(crate) client_secret: String,
    pub(crate) sign_ins: oauth::SignIns,
    violations: Vec<String>,
    /// Members of `org/team`, lower case.
    pub(crate) teams: HashMap<String, Vec<u64>>,
}

/// The clock of everything GitHub dates.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Clock {
    /// Stands until it is moved.
    Set(Time),
    /// Runs with the machine, shifted.
    Running(chrono::TimeDelta),
}

impl Clock {
    pub(crate) fn now(self) -> Time {
        match self {
            Self::Set(time) => time,
            Self::Running(shift) => Utc::now() + shift,
        }
    }

    pub(crate) fn advance(&mut self, by: chrono::TimeDelta) {
        match self {
            Self::Set(time) => *time += by,
            Self::Running(shift) => *shift += by,
        }
    }
}

/// Ids start where GitHub's are today: above 32 bits, check suites above what a double holds.
#[derive(Debug)]
pub(crate) struct Ids {
    small: u64,
    issue: u64,
    comment: u64,
    check_run: u64,
    check_suite: u64,
    delivery: u64,
    digests: u64,
}

impl Default for Ids {
    fn default() -> Self {
        Self {
            small: 1_000,
            issue: 3_000_000_000,
            comment: 5_000_000_000,
            check_run: 34_026_156_644,
            check_suite: 9_007_199_254_740_992,
            delivery: 12_000_000_000,
            digests: 0,
        }
    }
}

impl Ids {
    fn bump(counter: &mut u64) -> u64 {
        *counter += 1;
        *counter
    }
    pub(crate) fn small(&mut self) -> u64 {
        Self::bump(&mut self.small)
    }
    pub(crate) fn issue(&mut self) -> u64 {
        Self::bump(&mut self.issue)
    }
    pub(crate) fn comment(&mut self) -> u64 {
        Self::bump(&mut self.comment)
    }
    pub(crate) fn check_run(&mut self) -> u64 {
        Self::bump(&mut self.check_run)
    }
    pub(crate) fn check_suite(&mut self) -> u64 {
        Self::bump(&mut self.check_suite)
    }
    pub(crate) fn delivery(&mut self) -> u64 {
        Self::bump(&mut self.delivery)
    }
    /// A fresh hexadecimal digest; the same run makes the same ones.
    pub(crate) fn digest(&mut self) -> String {
        let n = Self::bump(&mut self.digests);
        hex(&Sha256::digest(format!("fake-github {n}")))
    }
    /// A fresh commit SHA.
    pub(crate) fn sha(&mut self) -> String {
        self.digest().chars().take(40).collect()
    }
    /// A fresh GUID.
    pub(crate) fn guid(&mut self) -> String {
        let digits: Vec<char> = self.digest().chars().take(32).collect();
        let groups: Vec<String> = [(0, 8), (8, 4), (12, 4), (16, 4), (20, 12)]
            .iter()
            .map(|(from, len)| digits.iter().skip(*from).take(*len).collect())
            .collect();
        groups.join("-")
    }
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A time as GitHub writes it.
pub(crate) fn stamp(time: Time) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

impl World {
    pub(crate) fn new(config: &Config, base: String) -> Self {
        let mut world = Self {
            base,
            clock: config.clock(),
            ids: Ids::default(),
            accounts: BTreeMap::new(),
            apps: BTreeMap::new(),
            own_app: config.app_id,
            installations: BTreeMap::new(),
            repos: BTreeMap::new(),
            old_names: HashMap::new(),
            hooks: Hooks::new(config.webhook_secret.clone()),
            registration: registration::Registration::new(config.webhook_url.clone()),
            doors: Doors::new(config),
            limits: Limits::new(config.rate_limit),
            faults: Faults::default(),
            requests: Vec::new(),
            check_contract: config.check_contract,
            client_secret: config.client_secret.clone(),
            sign_ins: oauth::SignIns::default(),
            violations: Vec::new(),
            teams: HashMap::new(),
        };
        world.register_app(config.app_id, &config.app_slug, &config.permissions);
        world
    }

    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    /// Notes a breach of the contract by the product or by us.
    pub(crate) fn violate(&mut self, text: String) {
        self.violations.push(text);
    }

    pub(crate) fn violations(&self) -> &[String] {
        &self.violations
    }

    pub(crate) fn repo(&self, id: u64) -> Result<&Repo, Refusal> {
        self.repos.get(&id).ok_or_else(Refusal::not_found)
    }

    pub(crate) fn repo_mut(&mut self, id: u64) -> Result<&mut Repo, Refusal> {
        self.repos.get_mut(&id).ok_or_else(Refusal::not_found)
    }
}
