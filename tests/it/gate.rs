//! The merge gate against its case files, and the promises that hold for every input.

use super::classifier::{facts_with, policy};
use quadgate::audit::Body;
use quadgate::domain::{
    Effect, Facts, FailedOrder, GateMemory, Known, Ordered, Outcome, PullState, Quadrant, Timestamp,
};
use quadgate::gate::burn_in::BurnIn;
use quadgate::gate::merge::{self, Answer, Hold, MergeStep, Next};
use quadgate::gate::revalidation::{self, BaseRun, MergedCommit, Revalidation};
use quadgate::gate::revert::{self, Revert, Target};
use quadgate::gate::{ConditionId, Conditions, GateFacts, GateInput, State, agents, judge};
use quadgate::policy::{AgentRegistry, Ci, Policy, RepoOverride};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const CONDITIONS: &str = include_str!("data/gate/conditions.json");
const STEPS: &str = include_str!("data/gate/merge.json");
const BURN_IN: &str = include_str!("data/gate/burn_in.json");
const REVALIDATION: &str = include_str!("data/gate/revalidation.json");
const DOCS: &str = include_str!("../../docs/merge-gate.md");

const HEAD: &str = "0123456789abcdef0123456789abcdef01234567";
const NOW: &str = "2026-05-25T12:34:56Z";

const MESSAGE: &str = "Change a thing\n\nAgent-Tool: codex\nAgent-Model: gpt-5\nAgent-Session: s_ab12-cd\n\
                       Agent-Machine: box-1\nTask-Ref: Issue#7\n";

fn cases(text: &str) -> Vec<Value> {
    serde_json::from_str(text).expect("a list of cases")
}

fn of<T: DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}"))
}

/// A value, or `{"unknown": "cause"}`.
fn known<T: DeserializeOwned>(value: &Value) -> Known<T> {
    match value.get("unknown").and_then(Value::as_str) {
        Some(cause) => Known::Unknown(cause.to_owned()),
        None => Known::Known(of(value)),
    }
}

/// Everything of one judgement, with every condition holding unless the case says otherwise.
struct Given {
    facts: Facts,
    gate: GateFacts,
    policy: Policy,
    quadrant: Quadrant,
    approved: bool,
    burn_in: BurnIn,
    now: Timestamp,
}

impl Given {
    fn read(case: &Value) -> Self {
        let now = NOW.parse().expect("a time");
        Self {
            facts: facts(&case["facts"]),
            gate: gate(&case["gate"]),
            policy: gate_policy(&case["policy"]),
            quadrant: case.get("quadrant").map_or(Quadrant::A, of),
            approved: case["approved"] == json!(true),
            burn_in: BurnIn::read(&case["burn_in"], now).0,
            now,
        }
    }

    fn judge(&self) -> Conditions {
        judge(&GateInput {
            facts: &self.facts,
            gate: &self.gate,
            quadrant: self.quadrant,
            approved: self.approved,
            policy: &self.policy,
            burn_in: &self.burn_in,
            now: self.now,
        })
    }
}

fn merged(mut into: Value, overlay: &Value) -> Value {
    for (key, value) in overlay.as_object().into_iter().flatten() {
        assert!(into.get(key).is_some(), "`{key}` is no member of the base");
        into[key] = value.clone();
    }
    into
}

fn facts(overlay: &Value) -> Facts {
    let base = json!({
        "repo_id": 1_296_269, "base_ref": "main", "draft": false, "head_moved_to": null,
        "head_since": "2026-05-25T12:00:00Z", "labels": ["ready-to-merge"], "commit_count": 1,
        "label_events": [{"label": "ready-to-merge", "action": "labeled", "actor": "octo-owner",
                          "actor_type": "User", "at": "2026-05-25T12:05:00Z"}],
        "commits": [{"sha": "1".repeat(40), "message": MESSAGE}],
    });
    facts_with(&merged(base, overlay))
}

fn gate(overlay: &Value) -> GateFacts {
    let all = merged(
        json!({
            "head_sha": HEAD, "open": true, "draft": false, "archived": false, "mergeable": true,
            "default_branch": "main", "behind_by": 0, "statuses": [],
            "check_runs": [{"name": "build", "app_slug": "github-actions", "app_id": 15368,
                            "status": "completed", "conclusion": "success"}],
            "allowed_methods": ["squash", "merge", "rebase"], "may_write": true, "auto_merge": null,
            "queued": false, "evidence": [],
        }),
        overlay,
    );
    GateFacts {
        head_sha: of(&all["head_sha"]),
        open: of(&all["open"]),
        draft: of(&all["draft"]),
        archived: of(&all["archived"]),
        mergeable: known(&all["mergeable"]),
        default_branch: known(&all["default_branch"]),
        behind_by: known(&all["behind_by"]),
        check_runs: known(&all["check_runs"]),
        statuses: known(&all["statuses"]),
        allowed_methods: known(&all["allowed_methods"]),
        may_write: known(&all["may_write"]),
        auto_merge: known(&all["auto_merge"]),
        queued: known(&all["queued"]),
        evidence: known(&all["evidence"]),
    }
}

/// The classifier's test policy, with one required check, a registry, required evidence, and merging on.
fn gate_policy(overlay: &Value) -> Policy {
    let all = merged(
        json!({
            "required_checks": ["build"], "publisher": "github-actions", "allow_no_ci": false, "override": null,
            "merge": {"enabled": true}, "base_branches": [], "evidence": "required", "disabled": [],
            "severity_overrides": {}, "l4_burn_in_days": 60, "bot_repo": "octo-org/bot", "bot_repo_id": null,
            "pinned": {}, "registry": {"tools": ["codex", "cursor", "manual"],
                "models": {"codex": ["gpt-5"], "cursor": ["*"]}, "machines": []},
        }),
        overlay,
    );
    let mut policy = policy();
    policy.ci = Ci {
        required_checks: of(&all["required_checks"]),
        expected_check_publisher: of(&all["publisher"]),
        allow_no_ci: of(&all["allow_no_ci"]),
    };
    if !all["override"].is_null() {
        let own: RepoOverride = of(&all["override"]);
        let repo = "octo-org/widgets".parse().expect("a name");
        policy.repos.overrides.push((repo, own));
    }
    policy.merge = of(&all["merge"]);
    if overlay.get("base_branches").is_some() {
        policy.merge.base_branches = of(&all["base_branches"]);
    }
    policy.evidence = of(&all["evidence"]);
    policy.skills.disabled = of(&all["disabled"]);
    policy.skills.severity_overrides = of(&all["severity_overrides"]);
    policy.l4_burn_in_days = of(&all["l4_burn_in_days"]);
    policy.bot.repo = of(&all["bot_repo"]);
    policy.bot.repo_id = of(&all["bot_repo_id"]);
    let pinned: std::collections::BTreeMap<String, u64> = of(&all["pinned"]);
    policy.owners.pinned = pinned
        .into_iter()
        .map(|(login, id)| (login, quadgate::domain::AccountId(id)))
        .collect();
    policy.agents = of::<Option<AgentRegistry>>(&all["registry"]);
    policy
}

#[test]
fn every_condition_has_its_state_and_reason() {
    let cases = cases(CONDITIONS);
    assert!(cases.len() >= 100, "only {} cases", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        let conditions = Given::read(&case["given"]).judge();
        let found = conditions
            .all()
            .iter()
            .find(|one| json!(one.id) == case["condition"])
            .expect("a condition of that name");
        let expect = &case["expect"];
        let severity = expect
            .get("severity")
            .cloned()
            .unwrap_or(json!(found.severity));
        let seen =
            json!({"state": found.state, "severity": found.severity, "reason": found.reason});
        let wanted =
            json!({"state": expect["state"], "severity": severity, "reason": expect["reason"]});
        if seen != wanted {
            wrong.push(format!(
                "{}:\n  wanted {wanted}\n  found  {seen}",
                case["id"]
            ));
        }
        // A condition that blocks holds the merge up, and no other one does.
        let blocks =
            found.severity.blocks() && matches!(found.state, State::Fails | State::Unknown);
        assert_eq!(
            blocks,
            conditions.blocks().any(|one| one.id == found.id),
            "{}",
            case["id"]
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_condition_has_cases_and_a_heading() {
    let cases = cases(CONDITIONS);
    for id in ConditionId::ALL {
        let heading = format!("## {id}");
        assert!(
            DOCS.lines().any(|line| line == heading),
            "docs/merge-gate.md has no `{heading}`"
        );
        for state in ["holds", "fails", "unknown"] {
            // C3 rests on no fact that could be unknown: the rules have made D of those.
            let there = cases
                .iter()
                .any(|case| case["condition"] == json!(id) && case["expect"]["state"] == state);
            assert!(
                there || (id == ConditionId::Approval && state == "unknown"),
                "{id} never {state}"
            );
        }
    }
}

#[test]
fn with_nothing_missing_every_condition_holds() {
    let conditions = Given::read(&json!({})).judge();
    let states: Vec<_> = conditions
        .all()
        .iter()
        .map(|one| (one.id, one.state))
        .collect();
    let all: Vec<_> = ConditionId::ALL
        .into_iter()
        .map(|id| (id, State::Holds))
        .collect();
    assert_eq!(states, all);
    assert!(conditions.may_merge());
    assert_eq!(merge::standing(&conditions), "");
}

#[test]
fn every_unmet_condition_is_named_not_only_the_first() {
    let given = Given::read(&json!({
        "quadrant": "D", "facts": {"labels": [], "commits": [{"sha": "1".repeat(40), "message": "x"}]},
        "gate": {"draft": true, "behind_by": 2, "check_runs": [], "evidence": ["x"]},
    }));
    let unmet: Vec<_> = given.judge().unmet().map(|one| one.id).collect();
    assert_eq!(unmet, ConditionId::ALL);
}

fn step_in_words(step: &MergeStep) -> String {
    match step {
        MergeStep::Nothing(Hold::Off) => "nothing: off".to_owned(),
        MergeStep::Nothing(Hold::Conditions) => "nothing: conditions".to_owned(),
        MergeStep::Nothing(Hold::Underway) => "nothing: underway".to_owned(),
        MergeStep::Nothing(Hold::Refused(reason)) => format!("nothing: {reason}"),
        MergeStep::Merge { method, .. } => format!("merge {method}"),
        MergeStep::EnableAuto { method, .. } => format!("auto {method}"),
        MergeStep::DisableAuto => "auto-off".to_owned(),
        MergeStep::Enqueue { .. } => "queue".to_owned(),
        MergeStep::UpdateBranch { .. } => "update".to_owned(),
        MergeStep::DryRun(step) => format!("dry-run: {}", step_in_words(step)),
    }
}

#[test]
fn every_step_is_the_right_one() {
    let mut wrong = Vec::new();
    for case in cases(STEPS) {
        let given = Given::read(&case["given"]);
        let step = merge::decide(&given.judge(), &given.gate, &given.policy);
        if case["step"] != step_in_words(&step) {
            wrong.push(format!("{}: {}", case["id"], step_in_words(&step)));
        }
        assert_eq!(
            step.acts(),
            !step_in_words(&step).contains(':'),
            "{}",
            case["id"]
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn refusals_by_github_are_told_apart() {
    let sha: quadgate::domain::Sha = HEAD.parse().unwrap();
    let merge = MergeStep::Merge {
        method: quadgate::domain::MergeMethod::Squash,
        sha: sha.clone(),
    };
    let update = MergeStep::UpdateBranch { expected_head: sha };
    assert_eq!(merge::after(&merge, Answer::Conflict), Next::StartOver);
    assert_eq!(
        merge::after(&merge, Answer::NotAllowed),
        Next::WaitForChange
    );
    assert_eq!(merge::after(&merge, Answer::Invalid), Next::WaitForChange);
    assert_eq!(
        merge::after(&merge, Answer::Forbidden),
        Next::WaitForOperator
    );
    // GitHub says 422 where the expected head is no longer the head.
    assert_eq!(merge::after(&update, Answer::Invalid), Next::StartOver);
    assert_eq!(
        merge::after(&update, Answer::Forbidden),
        Next::WaitForOperator
    );
}

#[test]
fn clocks_run_start_again_and_promote() {
    for case in cases(BURN_IN) {
        let id = &case["id"];
        let days = case["days"].as_u64().unwrap();
        let events = case["events"].as_array().unwrap();
        let at = |event: &Value| -> Timestamp { of(&event["at"]) };
        let mut last = events.first().map(at).unwrap();
        let (mut burn_in, restarted) = BurnIn::read(&case["kept"], last);
        assert_eq!(
            json!(restarted),
            case.get("restarted").cloned().unwrap_or(json!([])),
            "{id}"
        );
        for event in events {
            last = at(event);
            if let Some(agent) = event["seen"].as_str() {
                burn_in.seen(agent, last);
            } else if let Some(agent) = event["rejected"].as_str() {
                burn_in.rejected(agent, last);
            } else {
                assert_eq!(json!(burn_in.advance(days, last)), event["advance"], "{id}");
            }
        }
        let mut seen = json!({});
        for (agent, clock) in burn_in.clocks() {
            let mut clock_seen = json!(clock);
            if let Some(left) = clock.days_left(days, last) {
                clock_seen["days_left"] = json!(left);
            }
            clock_seen
                .as_object_mut()
                .unwrap()
                .retain(|_, value| !value.is_null());
            seen[agent] = clock_seen;
        }
        assert_eq!(seen, case["expect"], "{id}");
        // What is kept is read back as it was.
        assert_eq!(
            BurnIn::read(&json!(burn_in), last),
            (burn_in.clone(), Vec::new()),
            "{id}"
        );
    }
}

#[test]
fn agents_are_named_once_and_unknown_commits_name_nobody() {
    let ids = |facts: &Facts| match agents(facts) {
        Known::Known(agents) => agents
            .iter()
            .map(quadgate::gate::Agent::id)
            .collect::<Vec<_>>(),
        Known::Unknown(cause) => vec![format!("unknown: {cause}")],
    };
    let two = json!({"commit_count": 2, "commits": [
        {"sha": "1".repeat(40), "message": MESSAGE}, {"sha": "2".repeat(40), "message": MESSAGE}]});
    assert_eq!(ids(&facts(&two)), ["codex/gpt-5"]);
    assert_eq!(
        ids(&facts(&json!({"commits": {"unknown": "HTTP 502"}}))),
        ["unknown: the commits are unknown: HTTP 502"]
    );
}

fn base_run(value: &Value) -> BaseRun {
    BaseRun {
        run: of(&value["run"]),
        started_at: of(&value["started_at"]),
        completed_at: of(&value["completed_at"]),
    }
}

#[test]
fn merged_commits_are_judged_and_reverted_only_where_proved() {
    let mut wrong = Vec::new();
    for case in cases(REVALIDATION) {
        let sha: quadgate::domain::Sha = HEAD.parse().unwrap();
        let commit = MergedCommit {
            sha: sha.clone(),
            check_runs: match known::<Vec<Value>>(&case["check_runs"]) {
                Known::Known(runs) => Known::Known(runs.iter().map(base_run).collect()),
                Known::Unknown(cause) => Known::Unknown(cause),
            },
            statuses: known(&case["statuses"]),
        };
        let mut policy = policy();
        policy.ci.required_checks = of(&case["required"]);
        policy.auto_revert_pr = of(&case["auto_revert_pr"]);
        let outcome = revalidation::judge(&commit, &policy.ci);
        let words = match &outcome {
            Revalidation::NotWatched => "not-watched".to_owned(),
            Revalidation::Green => "green".to_owned(),
            Revalidation::Pending(names) => format!("pending: {}", names.join("; ")),
            Revalidation::Infrastructure(names) => format!("infrastructure: {}", names.join("; ")),
            Revalidation::Failed(names) => format!("failed: {}", names.join("; ")),
            Revalidation::Unknown(cause) => format!("unknown: {cause}"),
        };
        let target = Target {
            sha: sha.clone(),
            parents: known(&case["parents"]),
            is_revert: known(&case["is_revert"]),
        };
        let revert = match revert::judge(&outcome, &target, &policy) {
            Revert::NotNeeded => "not-needed".to_owned(),
            Revert::IssueOnly(why) => format!("issue: {why}"),
            Revert::OpenPull { target } => {
                assert_eq!(target, sha);
                "open".to_owned()
            }
        };
        if case["expect"] != words || case["revert"] != revert {
            wrong.push(format!("{}: {words} / {revert}", case["id"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Overlays, each of which may or may not touch what a merge rests on.
fn overlays() -> Vec<Value> {
    cases(CONDITIONS)
        .into_iter()
        .chain(cases(STEPS))
        .map(|case| case["given"].clone())
        .collect()
}

/// One of several things that may be remembered of the gate.
fn remembering(given: &Given, which: usize) -> PullState {
    let order = |head: &quadgate::domain::Sha, logged| Ordered {
        head_sha: head.clone(),
        ground: "another".into(),
        logged,
    };
    let (here, elsewhere) = (
        &given.facts.head_sha,
        "f".repeat(40).parse().expect("a SHA"),
    );
    let gate = match which {
        0 => GateMemory::default(),
        1 => GateMemory {
            ordered: Some(order(here, true)),
            said: Some("text".into()),
            ..GateMemory::default()
        },
        2 => GateMemory {
            ordered: Some(order(&elsewhere, true)),
            ..GateMemory::default()
        },
        3 => GateMemory {
            ordered: Some(order(here, false)),
            ..GateMemory::default()
        },
        stale => GateMemory {
            failed: Some(FailedOrder {
                order: order(here, true),
                reason: "moved".into(),
                stale: stale == 4,
                tries: 1,
                told: false,
            }),
            ended: 1,
            ..GateMemory::default()
        },
    };
    PullState {
        gate,
        ..crate::store_contract::state(7, 'a', None)
    }
}

fn planned(
    given: &Given,
    conditions: &Conditions,
    step: &MergeStep,
    prior: &PullState,
) -> quadgate::plan::Plan {
    quadgate::plan::gate(&quadgate::plan::GateInput {
        prior,
        base_ref: &given.facts.base_ref,
        quadrant: given.quadrant,
        labelled: true,
        conditions,
        step,
        ground: "ground",
        retry_refused: false,
        policy: &given.policy,
        now: given.now,
        delivery: None,
        version: "0.0.0",
    })
}

fn combined(picked: &[usize], all: &[Value]) -> Value {
    let mut given = json!({});
    for index in picked {
        for (part, value) in all[index % all.len()].as_object().unwrap() {
            match (
                given.get_mut(part).and_then(Value::as_object_mut),
                value.as_object(),
            ) {
                (Some(into), Some(members)) if part != "burn_in" => {
                    into.extend(members.clone());
                }
                _ => given[part] = value.clone(),
            }
        }
    }
    given
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { failure_persistence: None, ..Default::default() })]

    /// Facts are put together from those of several cases: whatever comes out, no merge without every condition.
    #[test]
    fn nothing_merges_unless_every_blocking_condition_holds(picked in proptest::collection::vec(0_usize..10_000, 0..4)) {
        let given = Given::read(&combined(&picked, &overlays()));
        let conditions = given.judge();
        let step = merge::decide(&conditions, &given.gate, &given.policy);
        let planned = match &step {
            MergeStep::DryRun(inner) => inner.as_ref(),
            other => other,
        };
        match planned {
            MergeStep::Merge { sha, .. } | MergeStep::EnableAuto { sha, .. } | MergeStep::Enqueue { sha } => {
                proptest::prop_assert!(given.policy.merge.enabled);
                for one in conditions.all().iter().filter(|one| one.severity.blocks()) {
                    proptest::prop_assert!(matches!(one.state, State::Holds | State::Off), "{one:?}");
                }
                proptest::prop_assert!(!given.gate.draft && given.gate.open && !given.gate.archived);
                proptest::prop_assert_eq!(sha, &given.facts.head_sha);
                proptest::prop_assert_eq!(sha, &given.gate.head_sha);
            }
            MergeStep::UpdateBranch { expected_head } => {
                proptest::prop_assert_eq!(expected_head, &given.facts.head_sha);
                proptest::prop_assert!(conditions.blocks().all(|one| one.id == ConditionId::Base));
            }
            MergeStep::Nothing(_) | MergeStep::DisableAuto | MergeStep::DryRun(_) => {}
        }
        proptest::prop_assert!(!(given.policy.merge.dry_run && step.acts()));
        proptest::prop_assert!(given.policy.merge.enabled || step == MergeStep::Nothing(Hold::Off));
    }

    /// Whatever was remembered: an order names the judged head, comes last and right after its entry, and is given once.
    #[test]
    fn a_planned_order_names_the_judged_head_and_is_logged_first(
        picked in proptest::collection::vec(0_usize..10_000, 0..4),
        memory in 0_usize..6,
    ) {
        let given = Given::read(&combined(&picked, &overlays()));
        let conditions = given.judge();
        let step = merge::decide(&conditions, &given.gate, &given.policy);
        let prior = remembering(&given, memory);
        let plan = planned(&given, &conditions, &step, &prior);
        let orders: Vec<&Effect> = plan.effects.iter().filter(|effect| effect.rests_on_the_gate()).collect();
        proptest::prop_assert!(orders.len() <= 1);
        if !given.policy.merge.enabled {
            proptest::prop_assert!(plan.effects.is_empty());
        }
        let merges = |entry: &quadgate::audit::EntryDraft| matches!(entry.body, Body::Merged { .. });
        if let Some(order) = orders.first() {
            proptest::prop_assert_eq!(plan.effects.last(), Some(*order));
            proptest::prop_assert!(step.acts() && !given.policy.merge.dry_run);
            let head = match order {
                Effect::Merge(merge) | Effect::EnableAutoMerge(merge) => Some(&merge.sha),
                Effect::Enqueue { sha, .. } => Some(sha),
                _ => None,
            };
            if let Some(head) = head {
                proptest::prop_assert!(conditions.may_merge());
                proptest::prop_assert_eq!(head, conditions.head_sha());
                proptest::prop_assert_eq!(head, &given.facts.head_sha);
                let entry = plan.entries.last().expect("an entry");
                proptest::prop_assert!(merges(entry));
                proptest::prop_assert_eq!(&entry.about.as_ref().expect("about").head_sha, head);
            } else {
                proptest::prop_assert!(!plan.entries.iter().any(merges));
            }
        } else {
            proptest::prop_assert!(!plan.entries.iter().any(merges));
        }
        // Carried out, it leaves nothing to plan; refused, it is told and not given again.
        let mut done = plan.state_after.clone();
        let mut refused = plan.state_after.clone();
        for effect in &plan.effects {
            quadgate::plan::settle(&mut done, effect, &Outcome::Done);
            let outcome = if effect.rests_on_the_gate() {
                Outcome::Refused { reason: "GitHub's words".into() }
            } else {
                Outcome::Done
            };
            quadgate::plan::settle(&mut refused, effect, &outcome);
        }
        let again = planned(&given, &conditions, &step, &done);
        let handed_over = matches!(step, MergeStep::EnableAuto { .. } | MergeStep::Enqueue { .. });
        proptest::prop_assert!(again.is_empty() || handed_over, "{again:?}");
        let told = planned(&given, &conditions, &step, &refused);
        proptest::prop_assert!(!told.effects.iter().any(Effect::rests_on_the_gate));
        proptest::prop_assert_eq!(told.entries.len(), usize::from(!orders.is_empty()));
        proptest::prop_assert!(planned(&given, &conditions, &step, &told.state_after).is_empty());
    }

    /// Core conditions are judged whatever `disabled` says, and one more unmet condition never opens the gate.
    #[test]
    fn switching_off_opens_no_core_condition(picked in proptest::collection::vec(0_usize..10_000, 0..4)) {
        let mut given = Given::read(&combined(&picked, &overlays()));
        given.policy.skills.disabled.clear();
        let before = given.judge();
        given.policy.skills.disabled = ["mergeable", "C1", "C2", "C3", "C4", "C5", "ci_green", "trailers", "validator_classifier"]
            .map(str::to_owned)
            .to_vec();
        proptest::prop_assert_eq!(before, given.judge());
    }
}
