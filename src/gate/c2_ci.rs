//! `C2`: CI is green on the head. Green is `success` and nothing else: what was skipped, is neutral or still runs has
//! shown nothing.
//!
//! INVARIANT: the bot's own checks never count, nor do published verdicts; a run whose App is unknown can only make
//! things worse.

use super::GateInput;
use super::condition::{Finding, listed};
use super::identity::quoted;
use crate::domain::{AccountType, CheckRunFact, Known, StatusFact};
use crate::policy::{Ci, Policy};
use crate::rules::clipped;

/// Published verdicts: no CI, whatever App they are by.
const VERDICT: &str = "classifier-judgment";

/// One answer of CI.
struct Answer<'a> {
    name: &'a str,
    /// `None`: green. Else why not.
    fault: Option<String>,
}

pub(super) fn judge(input: &GateInput<'_>) -> Finding {
    let ci = input.policy.ci_of(&input.facts.repo);
    let (runs, statuses) = match (&input.gate.check_runs, &input.gate.statuses) {
        (Known::Known(runs), Known::Known(statuses)) => (runs, statuses),
        (Known::Unknown(cause), _) => {
            return Finding::unknown(format!("check-runs are unknown: {}", clipped(cause, 200)));
        }
        (_, Known::Unknown(cause)) => {
            let cause = clipped(cause, 200);
            return Finding::unknown(format!("commit statuses are unknown: {cause}"));
        }
    };
    let answers: Vec<Answer<'_>> = runs
        .iter()
        .filter(|run| !is_own_run(run, input.policy))
        .filter_map(|run| run_answer(run, &ci))
        .chain(
            statuses
                .iter()
                .filter(|status| !is_own_status(status, input.policy))
                .map(status_answer),
        )
        .collect();
    if ci.required_checks.is_empty() {
        any(&answers, &ci)
    } else {
        required(input, &answers, runs, &ci)
    }
}

/// Each required name has an answer, and all answers of that name are green.
fn required(
    input: &GateInput<'_>,
    answers: &[Answer<'_>],
    runs: &[CheckRunFact],
    ci: &Ci,
) -> Finding {
    let mut faults = Vec::new();
    for name in &ci.required_checks {
        let mut of_name = answers
            .iter()
            .filter(|answer| answer.name == name)
            .peekable();
        if of_name.peek().is_none() {
            faults.push(missing(input, name, runs, ci));
        }
        faults.extend(of_name.filter_map(|answer| answer.fault.clone()));
    }
    faults.dedup();
    if !faults.is_empty() {
        return Finding::fails(listed(&faults));
    }
    Finding::holds(match ci.required_checks.as_slice() {
        [only] => format!("{} is green", quoted(only)),
        all => format!("all {} required checks are green", all.len()),
    })
}

/// Why nothing counts for a name: a run of another App is the usual surprise.
fn missing(input: &GateInput<'_>, name: &str, runs: &[CheckRunFact], ci: &Ci) -> String {
    let shown = quoted(name);
    let mut of_name = runs.iter().filter(|run| run.name == name);
    match of_name.next() {
        Some(run) if is_own_run(run, input.policy) => {
            format!("{shown} is the bot's own check and does not count as CI")
        }
        Some(run) => format!(
            "{shown} is by {}, and only check-runs of {} count",
            app(run),
            quoted(&ci.expected_check_publisher)
        ),
        None => format!(
            "required check {shown} has not run on {}",
            input.facts.head_sha.short()
        ),
    }
}

/// Without names: something has run, and all of it is green.
fn any(answers: &[Answer<'_>], ci: &Ci) -> Finding {
    let mut answers = answers
        .iter()
        .filter(|answer| answer.name != VERDICT)
        .peekable();
    if answers.peek().is_none() {
        return if ci.allow_no_ci {
            Finding::holds("there is no check, and none is needed (`allow_no_ci`)")
        } else {
            Finding::fails(format!(
                "no check of {} has run, and none is named: name `required_checks`, or set `allow_no_ci`",
                quoted(&ci.expected_check_publisher)
            ))
        };
    }
    let (mut count, mut faults) = (0_usize, Vec::new());
    for answer in answers {
        count += 1;
        faults.extend(answer.fault.clone());
    }
    if faults.is_empty() {
        Finding::holds(match count {
            1 => "the one check is green".to_owned(),
            count => format!("all {count} checks are green"),
        })
    } else {
        Finding::fails(listed(&faults))
    }
}

/// What a check-run says about CI; `None` when it does not count.
fn run_answer<'a>(run: &'a CheckRunFact, ci: &Ci) -> Option<Answer<'a>> {
    let fault = run_fault(run);
    match &run.app_slug {
        Some(slug) if *slug == ci.expected_check_publisher => Some(Answer {
            name: &run.name,
            fault,
        }),
        Some(_) => None,
        // It may be the expected App's: a red one is believed, a green one is not.
        None => fault.map(|fault| Answer {
            name: &run.name,
            fault: Some(fault),
        }),
    }
}

fn run_fault(run: &CheckRunFact) -> Option<String> {
    let name = quoted(&run.name);
    if run.status != "completed" {
        return Some(format!(
            "{name} has not finished ({})",
            clipped(&run.status, 30)
        ));
    }
    match run.conclusion.as_deref() {
        Some("success") => None,
        Some(conclusion) => Some(format!("{name} concluded {}", quoted(conclusion))),
        None => Some(format!("{name} has no conclusion")),
    }
}

fn status_answer(status: &StatusFact) -> Answer<'_> {
    let name = quoted(&status.context);
    Answer {
        name: &status.context,
        fault: match status.state.as_str() {
            "success" => None,
            "pending" => Some(format!("{name} has not finished (pending)")),
            state => Some(format!("{name} has the status {}", quoted(state))),
        },
    }
}

fn app(run: &CheckRunFact) -> String {
    run.app_slug
        .as_deref()
        .map_or_else(|| "an unknown App".to_owned(), quoted)
}

fn is_own_run(run: &CheckRunFact, policy: &Policy) -> bool {
    run.app_slug
        .as_deref()
        .is_some_and(|slug| slug.eq_ignore_ascii_case(&policy.bot.app_slug))
}

fn is_own_status(status: &StatusFact, policy: &Policy) -> bool {
    let own = format!("{}[bot]", policy.bot.app_slug);
    status.creator.as_ref().is_some_and(|creator| {
        creator.kind == AccountType::Bot && creator.login.eq_ignore_ascii_case(&own)
    })
}
