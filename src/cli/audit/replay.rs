//! `quadgate audit replay`: decides again what was decided, from the facts of then, and says what would change.
//!
//! What was decided is read from the log, the facts from the store. INVARIANT: every decision of the log that the filters
//! admit is either judged again or named with the reason why not; nothing is written anywhere.

mod report;

use super::Stop;
use super::progress::Meter;
use super::shown::{repo, time};
use crate::audit::{Filter, LogFile, Progress, Record, Records, log_files};
use crate::cli::input::{ConfigArgument, load};
use crate::cli::{Exit, Io};
use crate::domain::{AccountId, RepoName, Timestamp};
use crate::policy::Policy;
use crate::rules::{Basis, Difference, RuleReport, Verdict};
use crate::settings::Server;
use crate::store::sqlite::SqliteReader;
use crate::store::{Store, StoreError};
use clap::Args;
use report::Report;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::runtime::Runtime;

/// Arguments of `audit replay`.
#[derive(Debug, Args)]
#[command(
    after_help = "The log and the store are those that DIR/server.yml names; --log and --data-dir name others. Decisions whose facts are kept no more (`retention.decision_days`) are counted and named.\n\nExit codes: 0 nothing would change, 1 something would, or this program judges otherwise than the one that decided; 2 unusable, or no decision could be judged again."
)]
pub(super) struct Arguments {
    #[command(flatten)]
    config: ConfigArgument,
    /// Only this repository, as `owner/repo`
    #[arg(long, value_parser = repo)]
    repo: Option<RepoName>,
    /// Only decisions from this time on (`2026-05-25` or `2026-05-25T12:00:00Z`)
    #[arg(long, value_parser = time)]
    since: Option<Timestamp>,
    /// Only decisions before this time
    #[arg(long, value_parser = time)]
    until: Option<Timestamp>,
    /// The log's directory [default: `audit_dir` of the configuration]
    #[arg(long, value_name = "DIR")]
    log: Option<PathBuf>,
    /// The directory of the SQLite store [default: `data_dir` of the configuration]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Print one JSON document a line: each change, each decision that could not be judged again, then the sums
    #[arg(long)]
    json: bool,
}

/// What became of one decision.
enum Outcome {
    /// The same quadrant by the same votes.
    Same,
    /// Another one under another policy.
    Changed(Difference, Verdict),
    /// The policy is the one of then, and yet the verdict is another one.
    OtherProgram(Option<Difference>, Verdict),
    /// It could not be judged again.
    NoFacts(String),
}

pub(super) fn run(arguments: &Arguments, io: &mut Io<'_>) -> Result<Exit, Stop> {
    let directory = arguments.config.directory_or_default();
    let loaded = load(&directory, io).ok_or(Stop::Said)?;
    let server = &loaded.server;
    let log = arguments.log.as_ref().unwrap_or(&server.audit_dir);
    let files = files(log)?;
    let bytes = files.iter().map(LogFile::bytes).sum();
    let mut judge = Judge::new(arguments.data_dir.as_deref(), server, loaded.policy)?;
    let mut report = Report::new(&judge.policy.digest, arguments.json, io.colour);
    let mut meter = Meter::new(io.progress, bytes);
    let filter = Filter {
        kind: Some("classification".into()),
        repo: arguments.repo.clone(),
        since: arguments.since,
        until: arguments.until,
        ..Filter::default()
    };
    let mut now = Progress::default();
    for record in Records::new(files).matching(filter) {
        let record = record.map_err(|error| Stop::Unusable(error.to_string()))?;
        now.entries += 1;
        let outcome = judge.again(&record)?;
        let lines = report.add(&record, outcome);
        if !lines.is_empty() {
            meter.clear(io.err);
        }
        for line in lines {
            writeln!(io.out, "{line}")?;
        }
        meter.tick(now, io.err);
    }
    meter.clear(io.err);
    for line in report.sums() {
        writeln!(io.out, "{line}")?;
    }
    for warning in report.warnings() {
        io.say(warning);
    }
    Ok(report.exit())
}

fn files(log: &Path) -> Result<Vec<LogFile>, Stop> {
    let unusable = |why: String| Stop::Unusable(format!("audit log `{}`: {why}", log.display()));
    let files = log_files(log).map_err(|error| unusable(error.to_string()))?;
    if files.is_empty() {
        return Err(unusable("there is none".into()));
    }
    Ok(files)
}

/// The store and the policy to judge by.
struct Judge {
    runtime: Runtime,
    store: Arc<dyn Store>,
    policy: Policy,
    /// The owners as that policy has them: its logins, with the accounts that the server pinned.
    owners: Vec<(String, AccountId)>,
}

impl Judge {
    fn new(data_dir: Option<&Path>, server: &Server, policy: Policy) -> Result<Self, Stop> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Stop::Unusable(format!("the runtime does not start: {error}")))?;
        let opened = async {
            let said = |error: StoreError| error.to_string();
            let store: Arc<dyn Store> = match data_dir {
                Some(named) => Arc::new(SqliteReader::look(named).await.map_err(said)?),
                None => crate::cli::store::look(server).await?,
            };
            let pinned: BTreeMap<String, AccountId> = store.pinned_owners().await.map_err(said)?;
            Ok((store, pinned))
        };
        let (store, pinned) = runtime.block_on(opened).map_err(Stop::Unusable)?;
        let owners = policy
            .owners
            .logins
            .iter()
            .map(|login| login.to_ascii_lowercase())
            .filter_map(|login| pinned.get(&login).map(|id| (login.clone(), *id)))
            .collect();
        Ok(Self {
            runtime,
            store,
            policy,
            owners,
        })
    }

    /// Judges one decision of the log again.
    fn again(&mut self, record: &Record) -> Result<Outcome, Stop> {
        let (basis, was) = match (self.basis(record)?, reports(record)) {
            (Err(why), _) | (Ok(_), Err(why)) => return Ok(Outcome::NoFacts(why)),
            (Ok(basis), Ok(was)) => (basis, was),
        };
        let Some(quadrant) = record.quadrant else {
            return Ok(Outcome::NoFacts("its entry names no quadrant".into()));
        };
        let same_policy = record.policy.as_ref() == Some(&self.policy.digest);
        self.policy.owners.pinned = if same_policy {
            basis.owners.clone()
        } else {
            self.owners.clone()
        };
        let would = basis.judge(&self.policy);
        let difference = Difference::of((quadrant, &was), &would);
        if same_policy {
            let same = difference.is_none()
                && would.rules_fired() == was
                && record.reasoning.as_deref() == Some(would.reasoning());
            return Ok(if same {
                Outcome::Same
            } else {
                Outcome::OtherProgram(difference, would)
            });
        }
        Ok(match difference {
            Some(difference) => Outcome::Changed(difference, would),
            None => Outcome::Same,
        })
    }

    /// What the decision was computed from, or why that is not there.
    fn basis(&self, record: &Record) -> Result<Result<Basis, String>, Stop> {
        let Some(id) = &record.decision else {
            return Ok(Err("its entry names no decision".into()));
        };
        let found = self.runtime.block_on(self.store.decision(id));
        let decision = match found {
            Ok(Some(decision)) => decision,
            Ok(None) => return Ok(Err("its facts are not kept".into())),
            Err(error @ StoreError::Unreadable { .. }) => return Ok(Err(error.to_string())),
            Err(error) => return Err(Stop::Unusable(error.to_string())),
        };
        Ok(
            match decision.facts.read::<Basis>("the facts of a decision") {
                Ok(Some(basis))
                    if Some(basis.facts.head_sha.as_str()) == record.head_sha.as_deref() =>
                {
                    Ok(basis)
                }
                Ok(Some(_)) => Err("the facts that are kept are of another head".into()),
                Ok(None) => Err("its facts were too large to be kept".into()),
                Err(error) => Err(error.to_string()),
            },
        )
    }
}

/// The reports of the entry.
fn reports(record: &Record) -> Result<Vec<RuleReport>, String> {
    serde_json::from_value(Value::Array(record.rules_fired.clone()))
        .map_err(|error| format!("the rules of its entry cannot be read: {error}"))
}
