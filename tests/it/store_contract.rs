//! What every store keeps, whatever the database. `contract!` makes one test of each function below, given a
//! factory; the second database adds one line.

use quadgate::domain::*;
use quadgate::store::*;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// A store with whatever must live as long as it.
pub struct Given {
    pub store: Arc<dyn Store>,
    pub _keep: Box<dyn std::any::Any + Send>,
}

pub const LEASE: Duration = Duration::from_mins(1);

pub fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_750_000_000_000 + seconds * 1000)
}

pub fn repo(id: u64) -> RepoRef {
    RepoRef {
        id: RepoId(id),
        name: format!("octo-org/widgets-{id}").parse().unwrap(),
        installation: InstallationId(7),
    }
}

pub fn pull(number: u64) -> Subject {
    Subject::Pull {
        repo: repo(555),
        number: PullNumber(number),
    }
}

pub fn sha(digit: char) -> Sha {
    digit.to_string().repeat(40).parse().unwrap()
}

pub fn deep(subject: Subject) -> Trigger {
    Trigger {
        subject,
        deep: true,
        announces_head: None,
    }
}

pub fn shallow(subject: Subject) -> Trigger {
    Trigger {
        subject,
        deep: false,
        announces_head: None,
    }
}

pub fn delivery(id: &str, seconds: i64, triggers: Vec<Trigger>) -> NewDelivery {
    NewDelivery {
        id: id.parse().unwrap(),
        event: "pull_request".into(),
        action: Some("opened".into()),
        body_sha256: [7; 32],
        received_at: at(seconds),
        triggers,
        notes: Vec::new(),
    }
}

pub fn state(number: u64, head: char, issue: Option<u64>) -> PullState {
    PullState {
        repo: repo(555),
        number: PullNumber(number),
        title: Some("Tidy the engine".into()),
        head_sha: sha(head),
        head_since: at(0),
        fingerprint: None,
        quadrant: Some(Quadrant::D),
        decision: None,
        witness: None,
        check_run: Some(CheckRunId(9_007_199_254_740_993)),
        check_digest: None,
        issue: issue.map(|n| IssueRef {
            repo: repo(777),
            number: IssueNumber(n),
            kind: IssueKind::PendingOwner,
            key: format!("key-{n}"),
            head_sha: sha(head),
            nonce: None,
            opened_at: at(1),
        }),
        issue_refused: None,
        answered: None,
        inbox: InboxMemory::default(),
        evidence: issue.map(|_| EvidenceState {
            head_sha: sha(head),
            against: Known::Unknown("HTTP 502".into()),
            verifications: vec!["it holds".into()],
            check_run: Some(CheckRunId(7)),
            check_digest: None,
        }),
        gate: GateMemory::default(),
        closed: false,
        after_merge: None,
    }
}

pub fn plan(effects: usize) -> NewPlan {
    NewPlan {
        decision_id: "decision-1".into(),
        entries: serde_json::json!([{"quadrant": "D"}]),
        effects: (0..effects)
            .map(|n| Effect::AddLabels {
                repo: repo(555),
                number: IssueNumber(n as u64),
                labels: vec!["x".into()],
            })
            .collect(),
        state_after: state(12, 'a', Some(3)),
        decision: None,
    }
}

/// A decision about a head of pull request 12.
pub fn decision(id: &str, head: char, seconds: i64) -> Decision {
    Decision {
        row: DecisionRow {
            id: id.into(),
            repo: RepoId(555),
            name: repo(555).name,
            number: PullNumber(12),
            head_sha: sha(head),
            at: at(seconds),
            quadrant: Quadrant::C,
            policy: "sha256:policy".into(),
            version: "0.1.0".into(),
            entry: None,
        },
        facts: Document::of("facts", &serde_json::json!({"of": id})).unwrap(),
        explanation: Document::of("an explanation", &vec![id; 1000]).unwrap(),
    }
}

pub async fn claimed(store: &dyn Store, seconds: i64) -> Claim {
    store
        .claim("w1", at(seconds), LEASE)
        .await
        .unwrap()
        .expect("something is due")
}

pub async fn nothing_due(store: &dyn Store, seconds: i64) -> bool {
    store
        .claim("w1", at(seconds), LEASE)
        .await
        .unwrap()
        .is_none()
}

async fn status_of(store: &dyn Store, id: &str) -> DeliveryStatus {
    let rows = store.recent_deliveries(100).await.unwrap();
    rows.iter()
        .find(|row| row.id.as_str() == id)
        .expect("kept")
        .status
}

fn lost(result: &Result<(), StoreError>) -> bool {
    matches!(result, Err(StoreError::LeaseLost { .. }))
}

pub async fn a_delivery_becomes_one_claim(given: Given) {
    let store = &*given.store;
    let mut wake = store.wakeup();
    let opened = Trigger {
        announces_head: Some(sha('a')),
        ..deep(pull(12))
    };
    let accepted = store.accept(delivery("d-1", 0, vec![opened])).await;
    assert_eq!(accepted.unwrap(), Accepted::New);
    assert!(wake.has_changed().unwrap());
    wake.mark_unchanged();
    assert_eq!(store.queue_depth().await.unwrap(), 1);
    assert_eq!(
        store.oldest_waiting(at(30)).await.unwrap(),
        Duration::from_secs(30)
    );

    let claim = claimed(store, 1).await;
    assert_eq!(claim.subject, pull(12));
    assert!(claim.deep);
    assert_eq!((claim.generation, claim.attempts), (1, 0));
    assert_eq!(claim.announced, [(sha('a'), at(0))]);
    assert_eq!(claim.deliveries, ["d-1".parse().unwrap()]);
    assert_eq!((claim.state.clone(), claim.plan.clone()), (None, None));
    assert!(nothing_due(store, 2).await, "one worker a subject");

    let left = state(12, 'a', None);
    store
        .finish(&claim, Finish::new(Some(left.clone()), at(3)))
        .await
        .unwrap();
    assert_eq!(store.queue_depth().await.unwrap(), 0);
    assert!(!wake.has_changed().unwrap());
    assert_eq!(status_of(store, "d-1").await, DeliveryStatus::Done);
    assert!(nothing_due(store, 100).await);
    let read = store.pull_state(RepoId(555), PullNumber(12)).await.unwrap();
    assert_eq!(read, Some(left.clone()));

    store.enqueue(shallow(pull(12)), at(5)).await.unwrap();
    let again = claimed(store, 5).await;
    assert!(!again.deep);
    assert_eq!(again.state, Some(left));
    assert!(again.announced.is_empty() && again.deliveries.is_empty());
}

pub async fn a_guid_counts_once(given: Given) {
    let store = &*given.store;
    let first = delivery("d-1", 0, vec![deep(pull(12))]);
    assert_eq!(store.accept(first.clone()).await.unwrap(), Accepted::New);

    let other_body = NewDelivery {
        body_sha256: [8; 32],
        ..first.clone()
    };
    assert_eq!(
        store.accept(other_body.clone()).await.unwrap(),
        Accepted::Conflict
    );

    // Unfinished: back to work, also when a backoff was running.
    let claim = claimed(store, 1).await;
    store.retry(&claim, at(9000), "HTTP 502").await.unwrap();
    assert!(nothing_due(store, 2).await);
    let redelivered = NewDelivery {
        received_at: at(3),
        ..first.clone()
    };
    assert_eq!(store.accept(redelivered).await.unwrap(), Accepted::Requeued);
    let claim = claimed(store, 3).await;
    assert_eq!(claim.deliveries.len(), 1);
    store
        .finish(&claim, Finish::new(None, at(4)))
        .await
        .unwrap();

    assert_eq!(store.accept(first).await.unwrap(), Accepted::Duplicate);
    assert_eq!(store.accept(other_body).await.unwrap(), Accepted::Conflict);
    assert!(nothing_due(store, 5).await, "a duplicate makes no work");
}

pub async fn a_burst_becomes_one_evaluation(given: Given) {
    let store = &*given.store;
    for n in 0..150 {
        let trigger = Trigger {
            announces_head: Some(format!("{n:040x}").parse().unwrap()),
            subject: pull(12),
            deep: n == 0,
        };
        store
            .accept(delivery(&format!("d-{n}"), n, vec![trigger]))
            .await
            .unwrap();
    }
    assert_eq!(store.queue_depth().await.unwrap(), 1);
    let claim = claimed(store, 200).await;
    assert!(claim.deep, "sticky until it is finished");
    assert_eq!(claim.generation, 150);
    assert_eq!(claim.deliveries.len(), 100);
    assert_eq!(claim.deliveries[0].as_str(), "d-149", "newest first");
    assert_eq!(claim.announced.len(), 100);
    assert_eq!(claim.announced[99].1, at(149), "oldest first");
    store
        .finish(&claim, Finish::new(None, at(201)))
        .await
        .unwrap();
    assert_eq!(status_of(store, "d-149").await, DeliveryStatus::Done);
    assert!(nothing_due(store, 300).await);
}

pub async fn what_comes_during_work_is_worked_after(given: Given) {
    let store = &*given.store;
    store
        .accept(delivery("d-1", 0, vec![deep(pull(12))]))
        .await
        .unwrap();
    let claim = claimed(store, 1).await;
    store
        .accept(delivery("d-2", 10, vec![shallow(pull(12))]))
        .await
        .unwrap();
    assert!(nothing_due(store, 11).await);
    let wake = store.wakeup();
    store
        .finish(&claim, Finish::new(None, at(12)))
        .await
        .unwrap();
    assert!(wake.has_changed().unwrap());
    assert_eq!(status_of(store, "d-1").await, DeliveryStatus::Done);
    assert_eq!(status_of(store, "d-2").await, DeliveryStatus::Waiting);
    assert_eq!(
        store.oldest_waiting(at(15)).await.unwrap(),
        Duration::from_secs(5)
    );
    let claim = claimed(store, 13).await;
    assert!(!claim.deep, "the deep one is finished");
    assert_eq!(claim.deliveries, ["d-2".parse().unwrap()]);
}

pub async fn one_delivery_may_name_several_subjects(given: Given) {
    let store = &*given.store;
    let both = vec![deep(pull(1)), deep(pull(2))];
    store.accept(delivery("d-1", 0, both)).await.unwrap();
    let first = claimed(store, 1).await;
    let second = claimed(store, 1).await;
    assert_ne!(first.subject, second.subject, "different ones in parallel");
    store
        .finish(&first, Finish::new(None, at(2)))
        .await
        .unwrap();
    assert_eq!(status_of(store, "d-1").await, DeliveryStatus::Waiting);
    store
        .finish(&second, Finish::new(None, at(2)))
        .await
        .unwrap();
    assert_eq!(status_of(store, "d-1").await, DeliveryStatus::Done);
}

pub async fn the_longest_waiting_goes_first(given: Given) {
    let store = &*given.store;
    for (number, seconds) in [(3, 30), (1, 10), (2, 20)] {
        store
            .enqueue(deep(pull(number)), at(seconds))
            .await
            .unwrap();
    }
    // New wishes do not move a waiting one back.
    store.enqueue(deep(pull(1)), at(40)).await.unwrap();
    for number in [1, 2, 3] {
        assert_eq!(claimed(store, 50).await.subject, pull(number));
    }
}

pub async fn a_lost_lease_changes_nothing(given: Given) {
    let store = &*given.store;
    store
        .accept(delivery("d-1", 0, vec![deep(pull(12))]))
        .await
        .unwrap();
    let slow = claimed(store, 0).await;
    store.save_plan(&slow, &plan(2)).await.unwrap();
    assert!(nothing_due(store, 59).await);
    assert_eq!(store.next_due().await.unwrap(), Some(at(60)));
    let quick = store
        .claim("w1", at(60), LEASE)
        .await
        .unwrap()
        .expect("the lease is over");
    assert_ne!(slow.lease(), quick.lease(), "even for the same worker");
    assert_eq!(quick.attempts, 1);

    let finish = Finish {
        count: vec!["quadrant_a_count".into()],
        ..Finish::new(Some(state(12, 'b', None)), at(61))
    };
    assert!(lost(&store.finish(&slow, finish).await));
    assert!(lost(&store.renew(&slow, at(61), LEASE).await));
    assert!(lost(&store.retry(&slow, at(61), "x").await));
    assert!(lost(&store.bury(&slow, "x", at(61)).await));
    assert!(lost(&store.release(&slow).await));
    assert!(lost(&store.save_plan(&slow, &plan(1)).await));
    assert!(lost(&store.effect_started(&slow, 0).await));
    assert!(lost(&store.effect_done(&slow, 0, &Outcome::Done).await));
    let witness = Witness {
        seq: 1,
        hash: "sha256:x".into(),
    };
    assert!(lost(&store.plan_audited(&slow, &witness, None).await));

    assert_eq!(store.audit_tail().await.unwrap(), None);
    assert!(store.counters().await.unwrap().is_empty());
    assert!(store.dead_letters().await.unwrap().is_empty());
    let read = store.pull_state(RepoId(555), PullNumber(12)).await.unwrap();
    assert_eq!(read, None);
    let kept = quick.plan.as_ref().expect("the plan outlives its maker");
    assert_eq!(kept.effects.len(), 2);

    store.renew(&quick, at(100), LEASE).await.unwrap();
    assert!(nothing_due(store, 159).await);
    store
        .finish(&quick, Finish::new(None, at(160)))
        .await
        .unwrap();
    assert!(lost(
        &store.finish(&quick, Finish::new(None, at(161))).await
    ));
}

pub async fn retry_waits_and_counts(given: Given) {
    let store = &*given.store;
    store
        .accept(delivery("d-1", 0, vec![deep(pull(12))]))
        .await
        .unwrap();
    let claim = claimed(store, 1).await;
    store.retry(&claim, at(900), "rate limit").await.unwrap();
    assert_eq!(store.next_due().await.unwrap(), Some(at(900)));
    // A new trigger does not cut a wait short that GitHub asked for.
    store
        .accept(delivery("d-2", 5, vec![shallow(pull(12))]))
        .await
        .unwrap();
    assert!(nothing_due(store, 899).await);
    let claim = claimed(store, 900).await;
    assert_eq!(claim.attempts, 1);
    assert!(claim.deep, "not covered yet");
    store.release(&claim).await.unwrap();
    let claim = claimed(store, 900).await;
    assert_eq!(claim.attempts, 1, "a release is no attempt");
    store
        .finish(&claim, Finish::new(None, at(901)))
        .await
        .unwrap();
    assert_eq!(store.next_due().await.unwrap(), None);
    store.enqueue(shallow(pull(12)), at(902)).await.unwrap();
    assert_eq!(claimed(store, 902).await.attempts, 0);
}

pub async fn dead_letters_are_seen_and_revived(given: Given) {
    let store = &*given.store;
    store
        .accept(delivery("d-1", 0, vec![deep(pull(12))]))
        .await
        .unwrap();
    let claim = claimed(store, 1).await;
    store.bury(&claim, "404 Not Found", at(2)).await.unwrap();
    assert!(nothing_due(store, 3).await);
    assert_eq!(status_of(store, "d-1").await, DeliveryStatus::Dead);
    let letters = store.dead_letters().await.unwrap();
    assert_eq!(letters.len(), 1);
    let letter = &letters[0];
    assert_eq!(
        (letter.id.as_str(), letter.reason.as_str(), letter.attempts),
        ("pull/555/12", "404 Not Found", 1)
    );
    assert_eq!(letter.deliveries, ["d-1".parse().unwrap()]);

    store.revive(&letter.id, at(10)).await.unwrap();
    assert!(store.dead_letters().await.unwrap().is_empty());
    let claim = claimed(store, 10).await;
    assert!(claim.deep && claim.attempts == 0);
    assert_eq!(claim.deliveries, ["d-1".parse().unwrap()]);
    store.bury(&claim, "again", at(11)).await.unwrap();
    store.drop_dead("pull/555/12").await.unwrap();
    assert_eq!(status_of(store, "d-1").await, DeliveryStatus::Done);
    assert!(matches!(
        store.drop_dead("pull/555/12").await,
        Err(StoreError::Missing { .. })
    ));
    assert!(matches!(
        store.revive("pull/1/1", at(12)).await,
        Err(StoreError::Missing { .. })
    ));
}

pub async fn a_delivery_is_put_back_to_work(given: Given) {
    let store = &*given.store;
    let both = vec![shallow(pull(12)), deep(pull(13))];
    store.accept(delivery("d-1", 0, both)).await.unwrap();
    let claim = claimed(store, 1).await;
    store
        .finish(&claim, Finish::new(None, at(2)))
        .await
        .unwrap();
    let claim = claimed(store, 2).await;
    store.bury(&claim, "404 Not Found", at(3)).await.unwrap();

    // What was finished and what was given up alike; in full, whatever the delivery asked for.
    let again = store
        .put_back(&"d-1".parse().unwrap(), at(4))
        .await
        .unwrap();
    assert_eq!(again, [pull(12), pull(13)]);
    assert!(store.dead_letters().await.unwrap().is_empty());
    assert_eq!(status_of(store, "d-1").await, DeliveryStatus::Waiting);
    for _ in 0..2 {
        let claim = claimed(store, 5).await;
        assert!(claim.deep && claim.attempts == 0);
        assert_eq!(claim.deliveries, ["d-1".parse().unwrap()]);
        // Asked for once more while it is worked on: nothing is lost, nothing is done at the same time.
        if claim.subject == pull(12) {
            store
                .put_back(&"d-1".parse().unwrap(), at(5))
                .await
                .unwrap();
        }
        store
            .finish(&claim, Finish::new(None, at(6)))
            .await
            .unwrap();
    }
    assert_eq!(claimed(store, 7).await.subject, pull(12));
    assert!(matches!(
        store.put_back(&"d-9".parse().unwrap(), at(8)).await,
        Err(StoreError::Missing { .. })
    ));
}

pub async fn a_buried_full_reading_stays_owed(given: Given) {
    let store = &*given.store;
    store
        .accept(delivery("d-1", 0, vec![deep(pull(12))]))
        .await
        .unwrap();
    let claim = claimed(store, 1).await;
    store.bury(&claim, "403", at(2)).await.unwrap();
    store
        .accept(delivery("d-2", 3, vec![shallow(pull(12))]))
        .await
        .unwrap();
    let claim = claimed(store, 3).await;
    assert!(claim.deep);
    store
        .finish(&claim, Finish::new(None, at(4)))
        .await
        .unwrap();
    assert!(
        store.dead_letters().await.unwrap().is_empty(),
        "the newest state was evaluated"
    );
    assert_eq!(status_of(store, "d-1").await, DeliveryStatus::Done);

    // A dead delivery that GitHub sends again is work again.
    let claim = {
        let again = delivery("d-3", 5, vec![deep(pull(13))]);
        store.accept(again).await.unwrap();
        claimed(store, 5).await
    };
    store.bury(&claim, "403", at(6)).await.unwrap();
    let redelivered = delivery("d-3", 7, vec![deep(pull(13))]);
    assert_eq!(store.accept(redelivered).await.unwrap(), Accepted::Requeued);
    assert_eq!(claimed(store, 7).await.subject, pull(13));
}

pub async fn a_paused_installation_holds_up_nobody(given: Given) {
    let store = &*given.store;
    let elsewhere = Subject::Pull {
        repo: RepoRef {
            installation: InstallationId(8),
            ..repo(556)
        },
        number: PullNumber(1),
    };
    let suspend = NewDelivery {
        notes: vec![Note::Installation(
            InstallationId(7),
            InstallationStatus::Suspended,
        )],
        ..delivery("d-1", 0, Vec::new())
    };
    store.enqueue(deep(pull(12)), at(0)).await.unwrap();
    store.enqueue(deep(elsewhere.clone()), at(1)).await.unwrap();
    assert_eq!(store.accept(suspend.clone()).await.unwrap(), Accepted::New);
    assert_eq!(
        store.installation(InstallationId(7)).await.unwrap(),
        InstallationStatus::Suspended
    );
    assert_eq!(claimed(store, 2).await.subject, elsewhere);
    assert!(nothing_due(store, 3).await);
    assert_eq!(store.queue_depth().await.unwrap(), 1);

    let wake = store.wakeup();
    store
        .set_installation(InstallationId(7), InstallationStatus::Active)
        .await
        .unwrap();
    assert!(wake.has_changed().unwrap());
    // A late redelivery of the suspension does not suspend again.
    assert_eq!(store.accept(suspend).await.unwrap(), Accepted::Duplicate);
    assert_eq!(claimed(store, 4).await.subject, pull(12));
    assert_eq!(
        store.installation(InstallationId(99)).await.unwrap(),
        InstallationStatus::Active
    );
}

pub async fn a_plan_is_read_back_as_far_as_it_got(given: Given) {
    let store = &*given.store;
    store.enqueue(deep(pull(12)), at(0)).await.unwrap();
    let claim = claimed(store, 0).await;
    let new = plan(3);
    store.save_plan(&claim, &new).await.unwrap();
    let witness = Witness {
        seq: 41,
        hash: "sha256:41".into(),
    };
    store.plan_audited(&claim, &witness, None).await.unwrap();
    store.effect_started(&claim, 0).await.unwrap();
    let issue = Outcome::Issue {
        number: IssueNumber(5_000_000_001),
        opened_at: at(1),
        url: "https://github.com/octo-org/widgets/issues/5".into(),
    };
    store.effect_done(&claim, 0, &issue).await.unwrap();
    store.effect_started(&claim, 1).await.unwrap();
    assert!(matches!(
        store.effect_started(&claim, 3).await,
        Err(StoreError::Missing { .. })
    ));
    store.retry(&claim, at(5), "HTTP 502").await.unwrap();

    let claim = claimed(store, 5).await;
    let kept = claim.plan.clone().expect("kept over a retry");
    assert_eq!(kept.generation, claim.generation);
    assert_eq!(kept.decision_id, new.decision_id);
    assert_eq!(kept.entries, new.entries);
    assert_eq!(kept.state_after, new.state_after);
    assert_eq!(kept.witness, Some(witness.clone()));
    let statuses: Vec<_> = kept.effects.iter().map(|e| e.status.clone()).collect();
    assert_eq!(
        statuses,
        [
            EffectStatus::Done(issue),
            EffectStatus::Started,
            EffectStatus::Planned
        ]
    );
    assert_eq!(kept.effects[2].effect, new.effects[2]);

    store.save_plan(&claim, &plan(1)).await.unwrap();
    store.release(&claim).await.unwrap();
    let claim = claimed(store, 6).await;
    let replaced = claim.plan.clone().expect("kept");
    assert_eq!((replaced.effects.len(), replaced.witness), (1, None));
    let finish = Finish {
        count: vec!["quadrant_a_count".into()],
        ..Finish::new(Some(plan(1).state_after), at(7))
    };
    store.finish(&claim, finish).await.unwrap();
    store.enqueue(deep(pull(12)), at(8)).await.unwrap();
    assert_eq!(claimed(store, 8).await.plan, None);
    assert_eq!(store.audit_tail().await.unwrap(), Some(witness));
    assert_eq!(store.counters().await.unwrap()["quadrant_a_count"], 1);
}

pub async fn decisions_outlive_their_plans(given: Given) {
    let store = &*given.store;
    let of_pull = |limit| store.decisions_of(RepoId(555), PullNumber(12), limit);
    let mut entries = Vec::new();
    for (seq, id, head) in [(1, "d-1", 'a'), (2, "d-2", 'b'), (3, "d-3", 'b')] {
        let seconds = i64::try_from(seq).unwrap();
        store.enqueue(deep(pull(12)), at(seconds)).await.unwrap();
        let claim = claimed(store, seconds).await;
        let new = NewPlan {
            decision_id: id.into(),
            decision: Some(decision(id, head, seconds)),
            ..plan(1)
        };
        store.save_plan(&claim, &new).await.unwrap();
        let kept = store.decision(id).await.unwrap().expect("kept");
        assert_eq!(Some(kept), new.decision, "not in the log yet");
        // Again, as after a crash before it was acknowledged.
        store.save_plan(&claim, &new).await.unwrap();
        let entry = Witness {
            seq,
            hash: format!("sha256:{seq}"),
        };
        let last = Witness {
            seq: seq + 100,
            hash: "sha256:last".into(),
        };
        store
            .plan_audited(&claim, &last, Some(&entry))
            .await
            .unwrap();
        entries.push(entry);
        let left = state(12, head, None);
        let finish = Finish::new(Some(left), at(seconds));
        store.finish(&claim, finish).await.unwrap();
    }
    let rows = of_pull(10).await.unwrap();
    let ids: Vec<_> = rows.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids, ["d-3", "d-2", "d-1"], "newest first, of all heads");
    let noted: Vec<_> = rows
        .iter()
        .rev()
        .filter_map(|row| row.entry.clone())
        .collect();
    assert_eq!(noted, entries);
    assert_eq!(of_pull(2).await.unwrap(), rows[..2]);
    assert_eq!(
        store
            .decisions_of(RepoId(555), PullNumber(13), 9)
            .await
            .unwrap(),
        []
    );
    assert_eq!(store.decision("d-4").await.unwrap(), None);
    let read = store.decision("d-1").await.unwrap().expect("kept");
    assert_eq!(read.row, rows[2]);
    let facts: Option<serde_json::Value> = read.facts.read("facts").unwrap();
    assert_eq!(facts, Some(serde_json::json!({"of": "d-1"})));
    let long: Option<Vec<String>> = read.explanation.read("an explanation").unwrap();
    assert_eq!(long.expect("kept").len(), 1000);
    let other: Result<Option<u64>, _> = read.facts.read("the facts");
    let error = other.unwrap_err().to_string();
    assert!(error.contains("store holds the facts that"), "{error}");
}

pub async fn old_decisions_are_pruned_unless_an_issue_is_about_them(given: Given) {
    let store = &*given.store;
    for (id, head) in [("d-1", 'a'), ("d-2", 'b'), ("d-3", 'c')] {
        store.enqueue(deep(pull(12)), at(0)).await.unwrap();
        let claim = claimed(store, 0).await;
        let new = NewPlan {
            decision_id: id.into(),
            decision: Some(decision(id, head, if head == 'c' { 100 } else { 0 })),
            ..plan(0)
        };
        store.save_plan(&claim, &new).await.unwrap();
        let left = state(12, 'b', Some(3));
        let finish = Finish::new(Some(left), at(0));
        store.finish(&claim, finish).await.unwrap();
    }
    assert_eq!(store.prune_decisions(at(0)).await.unwrap(), 0);
    assert_eq!(store.prune_decisions(at(50)).await.unwrap(), 1);
    assert!(store.decision("d-1").await.unwrap().is_none());
    assert!(
        store.decision("d-2").await.unwrap().is_some(),
        "its Issue is open"
    );
    assert!(
        store.decision("d-3").await.unwrap().is_some(),
        "it is young"
    );
    store.enqueue(deep(pull(12)), at(1)).await.unwrap();
    let claim = claimed(store, 1).await;
    let finish = Finish::new(Some(state(12, 'b', None)), at(1));
    store.finish(&claim, finish).await.unwrap();
    assert_eq!(store.prune_decisions(at(50)).await.unwrap(), 1);
}

pub async fn a_subject_without_a_plan_has_nothing_to_audit(given: Given) {
    let store = &*given.store;
    store.enqueue(deep(pull(12)), at(0)).await.unwrap();
    let claim = claimed(store, 0).await;
    let witness = Witness {
        seq: 1,
        hash: "sha256:1".into(),
    };
    assert!(matches!(
        store.plan_audited(&claim, &witness, None).await,
        Err(StoreError::Missing { .. })
    ));
    assert_eq!(store.audit_tail().await.unwrap(), None, "undone together");
}

pub async fn pulls_are_found_by_head_and_issue(given: Given) {
    let store = &*given.store;
    for (number, head, issue) in [(1, 'a', Some(31)), (2, 'a', None), (3, 'b', Some(33))] {
        store.enqueue(deep(pull(number)), at(0)).await.unwrap();
        let claim = claimed(store, 0).await;
        let left = state(number, head, issue);
        store
            .finish(&claim, Finish::new(Some(left), at(1)))
            .await
            .unwrap();
    }
    let numbers = |found: Vec<PullState>| found.iter().map(|s| s.number.0).collect::<Vec<_>>();
    let with_head = store.pulls_with_head(RepoId(555), &sha('a')).await;
    assert_eq!(numbers(with_head.unwrap()), [1, 2]);
    let elsewhere = store.pulls_with_head(RepoId(556), &sha('a')).await;
    assert!(elsewhere.unwrap().is_empty());
    assert_eq!(numbers(store.open_issues().await.unwrap()), [1, 3]);

    // The Issue is closed; reopened, it still finds its pull request.
    store.enqueue(deep(pull(3)), at(2)).await.unwrap();
    let claim = claimed(store, 2).await;
    store
        .finish(&claim, Finish::new(Some(state(3, 'c', None)), at(3)))
        .await
        .unwrap();
    assert_eq!(numbers(store.open_issues().await.unwrap()), [1]);
    let found = store
        .pull_for_issue(RepoId(777), IssueNumber(33))
        .await
        .unwrap()
        .expect("remembered");
    assert_eq!((found.number, found.issue), (PullNumber(3), None));
    // One whose Issue could not be opened stands in no list of open ones.
    assert!(store.refused_issues().await.unwrap().is_empty());
    for (closed, expected) in [(false, vec![2]), (true, vec![])] {
        store.enqueue(deep(pull(2)), at(4)).await.unwrap();
        let claim = claimed(store, 4).await;
        let refused = PullState {
            issue_refused: Some("Issues are switched off".into()),
            closed,
            ..state(2, 'a', None)
        };
        store
            .finish(&claim, Finish::new(Some(refused), at(5)))
            .await
            .unwrap();
        assert_eq!(numbers(store.refused_issues().await.unwrap()), expected);
        assert_eq!(numbers(store.open_issues().await.unwrap()), [1]);
    }
    let in_another_repo = store.pull_for_issue(RepoId(555), IssueNumber(33)).await;
    assert_eq!(in_another_repo.unwrap(), None);
    let old_head = store.pulls_with_head(RepoId(555), &sha('b')).await;
    assert!(old_head.unwrap().is_empty());
}

pub async fn small_things_are_remembered(given: Given) {
    let store = &*given.store;
    let renamed = RepoRef {
        name: "octo-org/renamed".parse().unwrap(),
        ..repo(u64::MAX)
    };
    store.repo_seen(&repo(u64::MAX)).await.unwrap();
    store.repo_seen(&renamed).await.unwrap();
    assert_eq!(
        store.repo_by_id(RepoId(u64::MAX)).await.unwrap(),
        Some(renamed)
    );
    assert_eq!(store.repo_by_id(RepoId(1)).await.unwrap(), None);
    let named = async |name: &str| store.repo_by_name(&name.parse().unwrap()).await.unwrap();
    assert_eq!(
        named("Octo-Org/Renamed").await.map(|repo| repo.id),
        Some(RepoId(u64::MAX))
    );
    assert_eq!(named("octo-org/gone").await, None);

    let first = store.pin_owner("Octo-Owner", AccountId(1001)).await;
    assert_eq!(first.unwrap(), AccountId(1001));
    let squatter = store.pin_owner("octo-owner", AccountId(6666)).await;
    assert_eq!(squatter.unwrap(), AccountId(1001), "the first pin holds");
    let pinned = store.pinned_owners().await.unwrap();
    assert_eq!(
        pinned.into_iter().collect::<Vec<_>>(),
        [("octo-owner".to_owned(), AccountId(1001))]
    );

    assert_eq!(store.bump("x", 2).await.unwrap(), 2);
    assert_eq!(store.bump("x", 3).await.unwrap(), 5);

    assert!(!store.label_ensured(RepoId(1), "a").await.unwrap());
    store.set_label_ensured(RepoId(1), "a", true).await.unwrap();
    store.set_label_ensured(RepoId(1), "a", true).await.unwrap();
    assert!(store.label_ensured(RepoId(1), "a").await.unwrap());
    assert!(!store.label_ensured(RepoId(2), "a").await.unwrap());
    let there = store.labels_ensured(RepoId(1)).await.unwrap();
    assert_eq!(there.into_iter().collect::<Vec<_>>(), ["a"]);
    assert!(store.labels_ensured(RepoId(2)).await.unwrap().is_empty());
    store
        .set_label_ensured(RepoId(1), "a", false)
        .await
        .unwrap();
    assert!(!store.label_ensured(RepoId(1), "a").await.unwrap());

    assert_eq!(store.meta("k").await.unwrap(), None);
    store.set_meta("k", "1").await.unwrap();
    store.set_meta("k", "2").await.unwrap();
    assert_eq!(store.meta("k").await.unwrap().as_deref(), Some("2"));
    for (key, was, swapped) in [
        ("k", Some("1"), false),
        ("k", None, false),
        ("k", Some("2"), true),
        ("new", Some("2"), false),
        ("new", None, true),
    ] {
        let done = store.swap_meta(key, was, "3").await.unwrap();
        assert_eq!(done, swapped, "{key} {was:?}");
    }
    assert_eq!(store.meta("k").await.unwrap().as_deref(), Some("3"));

    let witness = |seq: u64| Witness {
        seq,
        hash: format!("sha256:{seq}"),
    };
    store.set_audit_tail(&witness(2)).await.unwrap();
    store.set_audit_tail(&witness(1)).await.unwrap();
    assert_eq!(store.audit_tail().await.unwrap(), Some(witness(2)));
}

pub async fn several_are_claimed_at_once(given: Given) {
    let store = &*given.store;
    for number in 1..=3 {
        let id = format!("d-{number}");
        let seconds = i64::try_from(number).unwrap();
        let work = delivery(&id, seconds, vec![deep(pull(number))]);
        store.accept(work).await.unwrap();
    }
    let two = store.claim_several("w", at(9), LEASE, 2).await.unwrap();
    let of = |claims: &[Claim]| -> Vec<String> {
        claims.iter().map(|claim| claim.subject.key()).collect()
    };
    assert_eq!(of(&two), [pull(1).key(), pull(2).key()]);
    let rest = store.claim_several("v", at(9), LEASE, 9).await.unwrap();
    assert_eq!(of(&rest), [pull(3).key()], "each is given out once");
    let none = store.claim_several("v", at(9), LEASE, 9).await.unwrap();
    assert!(none.is_empty());
    // A plan under one lease is no other's.
    store.save_plan(&two[0], &plan(1)).await.unwrap();
    let finish = Finish {
        state: None,
        now: at(10),
        count: vec![],
    };
    store.finish(&two[0], finish.clone()).await.unwrap();
    assert!(lost(&store.save_plan(&two[0], &plan(1)).await));
    store.finish(&two[1], finish).await.unwrap();
    assert_eq!(store.queue_depth().await.unwrap(), 1);
}

pub async fn finished_deliveries_are_pruned(given: Given) {
    let store = &*given.store;
    for (id, number) in [("old-done", 1), ("old-waiting", 2)] {
        store
            .accept(delivery(id, 0, vec![deep(pull(number))]))
            .await
            .unwrap();
    }
    let claim = claimed(store, 1).await;
    store
        .finish(&claim, Finish::new(None, at(2)))
        .await
        .unwrap();
    store
        .accept(delivery("new", 100, Vec::new()))
        .await
        .unwrap();
    assert_eq!(store.prune(at(50)).await.unwrap(), 1);
    let left: Vec<_> = store
        .recent_deliveries(10)
        .await
        .unwrap()
        .into_iter()
        .map(|row| row.id.to_string())
        .collect();
    assert_eq!(left, ["new", "old-waiting"]);
    assert_eq!(claimed(store, 101).await.subject, pull(2));
}

pub async fn buttons_of_heads_that_are_gone_are_pruned(given: Given) {
    let store = &*given.store;
    let external = |head: char| format!("555/1/{}", sha(head));
    for head in ['a', 'b'] {
        let mut new = delivery(&format!("press-{head}"), 0, Vec::new());
        new.notes = vec![Note::Pressed {
            external_id: external(head),
            identifier: "approve".into(),
            by: Account {
                login: "octo-owner".into(),
                id: AccountId(1001),
                kind: AccountType::User,
            },
        }];
        store.accept(new).await.unwrap();
    }
    let trigger = deep(pull(1));
    store.accept(delivery("d", 0, vec![trigger])).await.unwrap();
    let claim = claimed(store, 1).await;
    let finish = Finish::new(Some(state(1, 'b', None)), at(2));
    store.finish(&claim, finish).await.unwrap();

    store.prune(at(0)).await.unwrap();
    assert_eq!(store.presses(&external('a')).await.unwrap().len(), 1);
    store.prune(at(50)).await.unwrap();
    assert!(store.presses(&external('a')).await.unwrap().is_empty());
    assert_eq!(
        store.presses(&external('b')).await.unwrap().len(),
        1,
        "its head is the head"
    );
}

pub async fn racing_workers_never_share_a_subject(given: Given) {
    const SUBJECTS: u64 = 8;
    const EACH: u64 = 20;
    let store = given.store.clone();
    let working = Arc::new(std::sync::Mutex::new(std::collections::HashSet::new()));
    let producers = (0..EACH).map(|n| {
        let store = store.clone();
        tokio::spawn(async move {
            for subject in 0..SUBJECTS {
                let id = format!("d-{n}-{subject}");
                let new = delivery(&id, 0, vec![deep(pull(subject))]);
                store.accept(new).await.unwrap();
            }
        })
    });
    let producers: Vec<_> = producers.collect();
    let workers: Vec<_> = (0..4)
        .map(|n| {
            let (store, working) = (store.clone(), working.clone());
            tokio::spawn(async move {
                let mut finished = 0;
                let mut idle = 0;
                while idle < 50 {
                    let Some(claim) = store.claim(&format!("w{n}"), at(0), LEASE).await.unwrap()
                    else {
                        idle += 1;
                        tokio::task::yield_now().await;
                        continue;
                    };
                    idle = 0;
                    let key = claim.subject.key();
                    assert!(working.lock().unwrap().insert(key.clone()), "{key} twice");
                    tokio::task::yield_now().await;
                    assert!(working.lock().unwrap().remove(&key));
                    store
                        .finish(&claim, Finish::new(None, at(0)))
                        .await
                        .unwrap();
                    finished += 1;
                }
                finished
            })
        })
        .collect();
    for producer in producers {
        producer.await.unwrap();
    }
    let mut finished = 0;
    for worker in workers {
        finished += worker.await.unwrap();
    }
    // Whatever the workers left when they gave up.
    while let Some(claim) = store.claim("last", at(0), LEASE).await.unwrap() {
        store
            .finish(&claim, Finish::new(None, at(0)))
            .await
            .unwrap();
        finished += 1;
    }
    assert!((SUBJECTS..=SUBJECTS * EACH).contains(&finished));
    let rows = store.recent_deliveries(1000).await.unwrap();
    assert_eq!(rows.len() as u64, SUBJECTS * EACH);
    assert!(rows.iter().all(|row| row.status == DeliveryStatus::Done));
}

/// An entry for the chain: its decision.
pub struct Chain(pub String);

impl Chained for Chain {
    fn decision(&self) -> &str {
        &self.0
    }

    fn line(&self, seq: u64, prev: &str) -> std::io::Result<(String, Witness)> {
        let hash = format!("hash of {}", self.0);
        let at = Witness { seq, hash };
        Ok((format!("{seq} {} after {prev}\n", self.0), at))
    }
}

fn chain(decisions: &[&str]) -> Vec<Arc<dyn Chained>> {
    let entry = |decision: &&str| -> Arc<dyn Chained> { Arc::new(Chain((*decision).to_owned())) };
    decisions.iter().map(entry).collect()
}

pub async fn entries_are_chained_once_and_in_order(given: Given) {
    let store = &*given.store;
    assert!(
        store.append_audit(chain(&["early"])).await.is_err(),
        "no replica has looked where the file ends"
    );
    let end = store.open_chain(None, "start").await.unwrap();
    assert_eq!((end.seq, end.hash.as_str()), (0, "start"));
    assert_eq!(store.audit_tail().await.unwrap(), None);
    let places = store.append_audit(chain(&["a", "b", "a"])).await.unwrap();
    let seqs: Vec<_> = places.iter().map(|place| place.seq).collect();
    assert_eq!(seqs, [1, 2, 1], "a decision stands once");
    let again = store.append_audit(chain(&["b", "c"])).await.unwrap();
    assert_eq!((again[0].clone(), again[1].seq), (places[1].clone(), 3));
    assert_eq!(store.audit_tail().await.unwrap(), Some(again[1].clone()));

    let lines: Vec<_> = store
        .chain_behind(1, 10)
        .await
        .unwrap()
        .into_iter()
        .map(|line| line.line)
        .collect();
    assert_eq!(lines, ["2 b after hash of a\n", "3 c after hash of b\n"]);
    assert_eq!(store.chain_written().await.unwrap(), 0);
    store.set_chain_written(2, 1).await.unwrap();
    assert_eq!(store.chain_written().await.unwrap(), 2);
    let kept = store.chain_behind(0, 10).await.unwrap();
    assert_eq!(kept[0].at.seq, 2, "the newest written one is kept");
    assert_eq!(store.chain_hash(1).await.unwrap(), None);
    assert_eq!(
        store.chain_hash(2).await.unwrap().as_deref(),
        Some("hash of b")
    );
}

pub async fn the_chain_goes_on_where_the_file_ends(given: Given) {
    let store = &*given.store;
    let on_disk = |seq: u64| Witness {
        seq,
        hash: format!("file {seq}"),
    };
    let end = store.open_chain(Some(&on_disk(7)), "start").await.unwrap();
    assert_eq!(end, on_disk(7));
    store.append_audit(chain(&["a"])).await.unwrap();
    let line = store.chain_behind(7, 1).await.unwrap().remove(0);
    assert_eq!(line.line, "8 a after file 7\n");
    // Another replica's file is not there yet.
    let end = store.open_chain(Some(&on_disk(7)), "start").await.unwrap();
    assert_eq!(end, line.at);
    store
        .append_audit(chain(&["lost", "lost too"]))
        .await
        .unwrap();
    store.cut_chain(Some(&line.at), "start").await.unwrap();
    let after = store.append_audit(chain(&["b"])).await.unwrap();
    assert_eq!(after[0].seq, 9);
    assert_eq!(store.chain_behind(8, 9).await.unwrap().len(), 1);
}

/// Runs one test of the contract on a runtime of its own.
pub fn run<F: Future<Output = ()>>(test: F) {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(test);
}

/// One test a line of the contract, for the store that `$given` makes.
macro_rules! contract {
    (@each $attributes:tt $given:expr; $($test:ident)*) => {$(
        $crate::store_contract::contract! { @one $attributes $given; $test }
    )*};
    (@one ($(#[$attribute:meta])*) $given:expr; $test:ident) => {
        #[test]
        $(#[$attribute])*
        fn $test() {
            $crate::store_contract::run(async {
                $crate::store_contract::$test($given.await).await;
            });
        }
    };
    ($given:expr $(; $(#[$attribute:meta])+)?) => {
        $crate::store_contract::contract! { @each ($($(#[$attribute])+)?) $given;
            a_delivery_becomes_one_claim
            a_guid_counts_once
            a_burst_becomes_one_evaluation
            what_comes_during_work_is_worked_after
            one_delivery_may_name_several_subjects
            the_longest_waiting_goes_first
            several_are_claimed_at_once
            a_lost_lease_changes_nothing
            retry_waits_and_counts
            dead_letters_are_seen_and_revived
            a_delivery_is_put_back_to_work
            a_buried_full_reading_stays_owed
            a_paused_installation_holds_up_nobody
            a_plan_is_read_back_as_far_as_it_got
            decisions_outlive_their_plans
            old_decisions_are_pruned_unless_an_issue_is_about_them
            a_subject_without_a_plan_has_nothing_to_audit
            pulls_are_found_by_head_and_issue
            small_things_are_remembered
            buttons_of_heads_that_are_gone_are_pruned
            finished_deliveries_are_pruned
            racing_workers_never_share_a_subject
            entries_are_chained_once_and_in_order
            the_chain_goes_on_where_the_file_ends
        }
    };
}
pub(crate) use contract;
