//! `quadgate config test`: decision cases against the policy, so that operators can test theirs in CI.
//!
//! A case says what is given and what must come out. INVARIANT: a file without cases and a case that expects nothing
//! are unusable: they would pass for tests.

use super::super::input::{ConfigArgument, load, read_bounded};
use super::super::terminal::plain;
use super::super::{Exit, Io};
use crate::domain::{Criticality, Facts, Quadrant, Reversibility};
use crate::policy::Policy;
use crate::rules::{self, Finding, RuleReport, UserResult, Verdict};
use clap::Args;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Arguments of `config test`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    config: ConfigArgument,

    /// Print every case with what came out as a JSON document
    #[arg(long)]
    json: bool,

    /// JSON files with a list of cases, or with a member `cases` that is one and `given` for all of them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// A file of cases, in either shape.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Document {
    List(Vec<Map<String, Value>>),
    Object {
        /// Members of `given` that a case need not repeat.
        #[serde(default)]
        given: Map<String, Value>,
        cases: Vec<Map<String, Value>>,
    },
}

/// One case. `why` and the like are for people.
#[derive(Debug, Deserialize)]
struct Case {
    id: String,
    given: Facts,
    expect: Expect,
}

/// What must come out; what is not written may be anything.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Expect {
    /// Exactly this quadrant.
    quadrant: Option<Quadrant>,
    /// At least this quadrant, in the order of the fold.
    min: Option<Quadrant>,
    /// This reversibility by the path rule.
    ir: Option<Reversibility>,
    /// This criticality by the path rule.
    cr: Option<Criticality>,
    /// By a rule's name: how it ended.
    rules: BTreeMap<String, Outcome>,
    /// This text stands in the reasoning.
    reasoning: Option<String>,
}

/// How one rule ended, in the words of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum Outcome {
    A,
    B,
    C,
    D,
    /// It did not vote.
    #[serde(rename = "abstain")]
    Abstain,
    /// A user rule had nothing to say.
    #[serde(rename = "pass")]
    Pass,
    /// A user rule raised, to whatever quadrant.
    #[serde(rename = "raise")]
    Raise,
    /// A user rule failed.
    #[serde(rename = "error")]
    Error,
}

impl Outcome {
    fn is(self, finding: &Finding) -> bool {
        let user = match finding {
            Finding::User { result, .. } => Some(*result),
            Finding::Axes { .. } | Finding::Match { .. } | Finding::NoMatch { .. } => None,
        };
        match self {
            Self::A => finding.vote() == Some(Quadrant::A),
            Self::B => finding.vote() == Some(Quadrant::B),
            Self::C => finding.vote() == Some(Quadrant::C),
            Self::D => finding.vote() == Some(Quadrant::D),
            Self::Abstain => finding.vote().is_none(),
            Self::Pass => user == Some(UserResult::Pass),
            Self::Raise => user == Some(UserResult::Raise),
            Self::Error => user == Some(UserResult::Error),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
            Self::D => "D",
            Self::Abstain => "abstain",
            Self::Pass => "pass",
            Self::Raise => "raise",
            Self::Error => "error",
        }
    }
}

pub(super) fn run(arguments: &Arguments, io: &mut Io<'_>) -> Exit {
    let directory = arguments.config.directory_or_default();
    let Some(loaded) = load(&directory, io) else {
        return Exit::Unusable;
    };
    // All files are read before a case runs: half a result would be taken for a whole one.
    let mut files = Vec::new();
    for file in &arguments.files {
        match read(file) {
            Ok(cases) => files.push((file, cases)),
            Err(why) => {
                io.say(plain(&why));
                return Exit::Unusable;
            }
        }
    }
    let (mut passed, mut failed, mut rows) = (0_usize, 0_usize, Vec::new());
    for (file, cases) in &files {
        let shown = plain(&file.to_string_lossy());
        let mut wrong = 0_usize;
        for case in cases {
            let verdict = rules::evaluate(&case.given, &loaded.policy);
            let differs = differences(&case.expect, &verdict);
            if arguments.json {
                rows.push(row(&shown, case, &verdict, &differs));
            } else if !differs.is_empty() {
                let (differs, found) = (differs.join(", "), verdict.quadrant());
                let line = format!(
                    "FAILED {}: {differs}, found {found}: {}",
                    case.id,
                    verdict.reasoning()
                );
                io.print(plain(&line));
            }
            wrong += usize::from(!differs.is_empty());
        }
        let right = cases.len().saturating_sub(wrong);
        if files.len() > 1 && !arguments.json {
            io.print(format!("{shown}: {right} passed, {wrong} failed"));
        }
        passed += right;
        failed += wrong;
    }
    if arguments.json {
        io.print_json(&document(&loaded.policy, passed, failed, &rows));
    } else {
        io.print(format!("{passed} passed, {failed} failed"));
    }
    if failed == 0 {
        Exit::Ok
    } else {
        Exit::Findings
    }
}

fn document(policy: &Policy, passed: usize, failed: usize, cases: &[Value]) -> Value {
    json!({
        "ok": failed == 0,
        "policy": policy.digest,
        "passed": passed,
        "failed": failed,
        "cases": cases,
    })
}

fn row(file: &str, case: &Case, verdict: &Verdict, differs: &[String]) -> Value {
    json!({
        "file": file,
        "id": case.id,
        "ok": differs.is_empty(),
        "differs": differs,
        "quadrant": verdict.quadrant(),
        "reasoning": verdict.reasoning(),
        "rules_fired": verdict.rules_fired(),
    })
}

fn read(path: &Path) -> Result<Vec<Case>, String> {
    let shown = path.to_string_lossy();
    let text = File::open(path)
        .and_then(read_bounded)
        .map_err(|error| format!("quadgate: `{shown}` cannot be read: {error}"))?;
    let document: Document = serde_json::from_slice(&text)
        .map_err(|error| format!("{shown}: not a document of cases: {error}"))?;
    let (given, cases) = match document {
        Document::List(cases) => (Map::new(), cases),
        Document::Object { given, cases } => (given, cases),
    };
    if cases.is_empty() {
        return Err(format!("{shown}: no case in it: nothing would be tested"));
    }
    let mut read: Vec<Case> = Vec::with_capacity(cases.len());
    for (index, mut case) in cases.into_iter().enumerate() {
        let refuse = |why: String| format!("{shown}: case {}: {why}", index + 1);
        complete(&mut case, &given);
        let case: Case = serde_json::from_value(Value::Object(case))
            .map_err(|error| refuse(format!("cannot be read: {error}")))?;
        if case.expect == Expect::default() {
            return Err(refuse(format!("`{}` expects nothing", case.id)));
        }
        read.push(case);
    }
    Ok(read)
}

/// Fills in what a case need not write: members that stand for all cases, and counts of lists that are whole.
fn complete(case: &mut Map<String, Value>, shared: &Map<String, Value>) {
    let Some(given) = case.get_mut("given").and_then(Value::as_object_mut) else {
        return;
    };
    for (key, value) in shared {
        given.entry(key).or_insert_with(|| value.clone());
    }
    for (count, list) in [("changed_files", "files"), ("commit_count", "commits")] {
        let length = match given.get(list) {
            Some(Value::Array(items)) => items.len(),
            _ => 0,
        };
        given.entry(count).or_insert_with(|| length.into());
    }
}

/// All that differs from what is expected.
fn differences(expect: &Expect, verdict: &Verdict) -> Vec<String> {
    let Expect {
        quadrant,
        min,
        ir,
        cr,
        rules,
        reasoning,
    } = expect;
    let (found, axes) = (verdict.quadrant(), verdict.axes());
    let mut wrong = Vec::new();
    if let Some(wanted) = quadrant.filter(|wanted| *wanted != found) {
        wrong.push(format!("expected {wanted}"));
    }
    if let Some(least) = min.filter(|least| found < *least) {
        wrong.push(format!("expected at least {least}"));
    }
    if let Some(wanted) = ir.filter(|wanted| axes.is_none_or(|axes| axes.ir != *wanted)) {
        wrong.push(format!("expected {wanted}"));
    }
    if let Some(wanted) = cr.filter(|wanted| axes.is_none_or(|axes| axes.cr != *wanted)) {
        wrong.push(format!("expected {wanted}"));
    }
    for (name, wanted) in rules {
        let report = verdict
            .rules_fired()
            .iter()
            .find(|report| report.rule.as_str() == name);
        match report {
            None => wrong.push(format!("expected `{name}` to run, there is no such rule")),
            Some(report) if !wanted.is(&report.finding) => {
                wrong.push(format!(
                    "expected `{name}` to end with {}, it {}",
                    wanted.word(),
                    ended(report)
                ));
            }
            Some(_) => {}
        }
    }
    if let Some(text) = reasoning
        .as_ref()
        .filter(|text| !verdict.reasoning().contains(*text))
    {
        wrong.push(format!("expected `{text}` in the reasoning"));
    }
    wrong
}

/// How a rule ended, in words.
fn ended(report: &RuleReport) -> String {
    let how = match (&report.finding, report.finding.vote()) {
        (
            Finding::User {
                result: UserResult::Error,
                ..
            },
            _,
        ) => "failed".to_owned(),
        (_, Some(vote)) => format!("voted {vote}"),
        (Finding::User { .. }, None) => "passed".to_owned(),
        (_, None) => "abstained".to_owned(),
    };
    match report.finding.reason() {
        Some(reason) => format!("{how} ({reason})"),
        None => how,
    }
}
