//! What findings follow from what was read.

use super::*;
use crate::doctor::State;
use crate::domain::Timestamp;

const JUDGING: Features = Features {
    merge: false,
    revert: false,
};
const MERGING: Features = Features {
    merge: true,
    revert: false,
};

fn held(features: Features) -> BTreeMap<String, String> {
    needs::permissions(features)
        .into_values()
        .map(|permission| {
            (
                permission.name.to_owned(),
                permission.level.as_str().to_owned(),
            )
        })
        .collect()
}

fn states(findings: &[Finding]) -> Vec<State> {
    findings.iter().map(|finding| finding.state).collect()
}

fn attempt(status_code: i64) -> DeliveryAttempt {
    DeliveryAttempt {
        id: 1,
        guid: "0b989ba4-242f-11e5-81e1-c7b6966d2516"
            .parse()
            .expect("a GUID"),
        delivered_at: Timestamp::from_millis(0),
        redelivery: false,
        status_code,
        event: "pull_request".to_owned(),
    }
}

#[test]
fn what_is_needed_is_well_and_no_more() {
    assert_eq!(
        states(&permissions(&held(JUDGING), JUDGING, Holder::App)),
        [State::Ok]
    );
    let findings = permissions(&held(MERGING), JUDGING, Holder::App);
    assert_eq!(states(&findings), [State::Warn]);
    assert!(findings[0].message.contains("`contents: write`"));
    assert!(findings[0].message.contains("`workflows: write`"));
    // The App's own finding says it; the account cannot lower what the App asks for.
    let findings = permissions(&held(MERGING), JUDGING, Holder::Installation);
    assert_eq!(states(&findings), [State::Ok]);
}

#[test]
fn what_is_missing_is_named_with_the_way_to_it() {
    let findings = permissions(&held(JUDGING), MERGING, Holder::App);
    assert_eq!(states(&findings), [State::Fail, State::Warn]);
    assert!(findings[0].message.contains("`contents: write` is missing"));
    assert!(
        findings[0]
            .mend
            .as_ref()
            .is_some_and(|mend| mend.contains("Contents read and write"))
    );
    assert!(findings[1].message.contains("workflow"));
    let mut unknown_level = held(JUDGING);
    unknown_level.insert("checks".into(), "sometimes".into());
    let findings = permissions(&unknown_level, JUDGING, Holder::App);
    assert!(states(&findings).contains(&State::Fail));
}

#[test]
fn events_are_needed_by_feature() {
    let names = |features| -> Vec<String> {
        let events = needs::events(features);
        events.iter().map(|event| event.name.to_owned()).collect()
    };
    assert_eq!(
        states(&events(&names(MERGING), MERGING, Holder::App)),
        [State::Ok]
    );
    let findings = events(&names(JUDGING), MERGING, Holder::App);
    assert_eq!(states(&findings), [State::Fail]);
    assert!(findings[0].message.contains("`push`"));
    let findings = events(&names(MERGING), JUDGING, Holder::App);
    assert_eq!(states(&findings), [State::Warn]);
}

#[test]
fn deliveries_tell_what_stands_in_the_way() {
    let of = |codes: &[i64]| {
        let attempts: Vec<_> = codes.iter().map(|code| attempt(*code)).collect();
        deliveries(&attempts)
    };
    assert_eq!(of(&[202, 200]).state, State::Ok);
    assert_eq!(of(&[]).state, State::Warn);
    assert_eq!(of(&[202, 0]).state, State::Warn);
    for (code, words) in [
        (0, "nothing answers"),
        (401, "signature"),
        (404, "no webhook there"),
        (415, "JSON"),
        (502, "proxy"),
        (500, "500"),
    ] {
        let finding = of(&[code, 202]);
        assert_eq!(finding.state, State::Fail);
        assert!(finding.message.contains(words), "{}", finding.message);
    }
}

#[test]
fn a_required_check_counts_from_our_app() {
    let us = AppId(7);
    let of = |apps: &[(&str, Option<u64>)]| {
        let checks: Vec<_> = apps
            .iter()
            .map(|(context, app)| RequiredCheck {
                context: (*context).to_owned(),
                app: app.map(AppId),
            })
            .collect();
        required(&checks, "L1.C3", us, "main").state
    };
    assert_eq!(of(&[("L1.C3", Some(7))]), State::Ok);
    assert_eq!(of(&[("L1.C3", None), ("L1.C3", Some(7))]), State::Ok);
    assert_eq!(of(&[("L1.C3", None)]), State::Warn);
    assert_eq!(of(&[("L1.C3", Some(8))]), State::Fail);
    assert_eq!(of(&[("build", Some(7))]), State::Fail);
}

#[test]
fn clocks_that_differ_are_told() {
    assert_eq!(clock(Some(-3)).state, State::Ok);
    assert_eq!(clock(Some(30)).state, State::Warn);
    assert_eq!(clock(Some(-90)).state, State::Fail);
    assert!(clock(Some(-90)).message.contains("behind"));
    assert_eq!(clock(None).state, State::Fail);
}

#[test]
fn the_webhook_must_be_there_in_json_and_signed() {
    let good = HookConfig {
        url: Some("https://gate.example.org/webhook".to_owned()),
        content_type: Some("json".to_owned()),
        insecure_ssl: false,
        has_secret: true,
    };
    assert_eq!(states(&webhook(&good, "/webhook")), [State::Ok]);
    assert_eq!(states(&webhook(&good, "/hooks")), [State::Warn]);
    let bad = HookConfig {
        url: None,
        content_type: Some("form".to_owned()),
        insecure_ssl: true,
        has_secret: false,
    };
    let all = [State::Fail, State::Fail, State::Fail, State::Warn];
    assert_eq!(states(&webhook(&bad, "/webhook")), all);
}
