//! From what was read to findings. Pure: no client, no disk, no clock.

use super::finding::{Finding, Unknown};
use crate::domain::AppId;
use crate::github::needs::{self, Features, Level};
use crate::github::{
    ApiError, AppView, CLOCK_TOLERANCE, DeliveryAttempt, HookConfig, RequiredCheck,
};
use std::collections::BTreeMap;

/// Clocks closer than this are as good as equal.
const CLOSE: u64 = 15;
/// The newest deliveries that are counted.
const DELIVERIES: usize = 30;

/// Why GitHub's answer is missing.
pub fn unknown(error: &ApiError) -> Unknown {
    let mend = match error {
        ApiError::Unauthorized {
            clock_skew: Some(_),
            ..
        } => "set this machine's clock (NTP)",
        ApiError::Unauthorized {
            clock_skew: None, ..
        } => {
            "generate a private key in the App's settings, name it in `QUADGATE_PRIVATE_KEY_PATH`, and check `QUADGATE_APP_ID`"
        }
        ApiError::Gone {
            call: "GET app", ..
        } => "check `QUADGATE_APP_ID` (the App's settings show it) and `github_url` in server.yml",
        ApiError::Gone { .. } => "check the name, and that the App is installed there",
        ApiError::Refused { .. } => {
            "give the App the permission in its settings and accept it at the installation"
        }
        ApiError::Suspended { .. } => "unsuspend the App in the account's settings (Applications)",
        ApiError::RateLimited { .. } => "wait and run `quadgate doctor` again",
        ApiError::Transient { .. } => {
            "check the network, the proxy variables and `github_url` in server.yml, then run `quadgate doctor` again"
        }
        ApiError::Unreadable { .. }
        | ApiError::Conflict { .. }
        | ApiError::Unprocessable { .. }
        | ApiError::MethodNotAllowed { .. } => {
            "check `github_url` in server.yml: is a GitHub API there?"
        }
    };
    Unknown {
        cause: error.to_string(),
        mend: mend.to_owned(),
    }
}

/// GitHub takes the key; is the App the configured one?
pub fn app(app: &AppView, slug: &str) -> Finding {
    if app.slug == slug {
        return Finding::ok(
            "app-key",
            format!("GitHub takes the key of `{}` (id {})", app.slug, app.id),
        );
    }
    Finding::fail(
        "app-key",
        format!(
            "GitHub takes the key, but of the App `{}`; env.yml names `{slug}`",
            app.slug
        ),
        format!(
            "write `bot_app_slug: {}` into env.yml, or give the key and id of `{slug}`",
            app.slug
        ),
    )
}

/// Our clock less GitHub's, in seconds.
pub fn clock(skew: Option<i64>) -> Finding {
    const CHECK: &str = "clock";
    const MEND: &str = "set this machine's clock (NTP)";
    let Some(skew) = skew else {
        let why = Unknown {
            cause: "GitHub did not answer with its time".to_owned(),
            mend: "check the network and run `quadgate doctor` again".to_owned(),
        };
        return Finding::unknown(CHECK, &why);
    };
    let apart = skew.unsigned_abs();
    let side = if skew > 0 { "ahead of" } else { "behind" };
    let words = format!("{apart} s {side} GitHub's");
    if apart > CLOCK_TOLERANCE.as_secs() {
        Finding::fail(CHECK, words, MEND)
    } else if apart > CLOSE {
        Finding::warn(CHECK, words, MEND)
    } else {
        Finding::ok(CHECK, "within a few seconds of GitHub's")
    }
}

/// Who holds permissions and gets events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// The App, by its settings.
    App,
    /// An installation, by what its account accepted.
    Installation,
}

impl Holder {
    fn mend(self, what: &str) -> String {
        match self {
            Self::App => format!("in the App's settings, Permissions & events: {what}"),
            Self::Installation => format!(
                "accept what the App asks for in the account's settings (Applications): {what}"
            ),
        }
    }
}

/// The permissions held against the table: what is missing, and what is more than needed.
pub fn permissions(
    held: &BTreeMap<String, String>,
    features: Features,
    holder: Holder,
) -> Vec<Finding> {
    const CHECK: &str = "permissions";
    let needed = needs::permissions(features);
    let has = |name: &str| held.get(name).and_then(|level| Level::from_word(level));
    let mut findings = Vec::new();
    for (name, permission) in &needed {
        if has(name).is_some_and(|level| level >= permission.level) {
            continue;
        }
        let wanted = format!("{} {}", permission.title, permission.level.title());
        let message = format!(
            "`{name}: {}` is missing, for {}",
            permission.level.as_str(),
            permission.why
        );
        findings.push(if permission.spare {
            Finding::warn(CHECK, message, holder.mend(&wanted))
        } else {
            Finding::fail(CHECK, message, holder.mend(&wanted))
        });
    }
    let spare: Vec<String> = held
        .iter()
        .filter(|(name, level)| {
            let level = Level::from_word(level).unwrap_or(Level::Write);
            needed
                .get(name.as_str())
                .is_none_or(|permission| level > permission.level)
        })
        .map(|(name, level)| format!("`{name}: {level}`"))
        .collect();
    // What an installation holds too much, the App asks for: said once.
    if !spare.is_empty() && holder == Holder::App {
        let message = format!("more than needed: {}", spare.join(", "));
        findings.push(Finding::warn(
            CHECK,
            message,
            holder.mend("lower or remove them; a key that is stolen opens less"),
        ));
    }
    if findings.is_empty() {
        findings.push(Finding::ok(CHECK, "all that is needed"));
    }
    findings
}

/// The events subscribed to against the table.
pub fn events(subscribed: &[String], features: Features, holder: Holder) -> Vec<Finding> {
    const CHECK: &str = "events";
    let needed = needs::events(features);
    let mut findings: Vec<Finding> = needed
        .iter()
        .filter(|event| !subscribed.iter().any(|name| name == event.name))
        .map(|event| {
            let message = format!("no `{}` events: {}", event.name, event.why);
            let what = format!("subscribe to {}", event.title);
            Finding::fail(CHECK, message, holder.mend(&what))
        })
        .collect();
    let spare: Vec<&str> = subscribed
        .iter()
        .map(String::as_str)
        .filter(|name| !needed.iter().any(|event| event.name == *name))
        .collect();
    if !spare.is_empty() && holder == Holder::App {
        let message = format!("events that nobody reads: {}", spare.join(", "));
        findings.push(Finding::warn(
            CHECK,
            message,
            holder.mend("unsubscribe from them"),
        ));
    }
    if findings.is_empty() {
        findings.push(Finding::ok(CHECK, "all that is needed"));
    }
    findings
}

/// The webhook's settings against the server's.
pub fn webhook(hook: &HookConfig, webhook_path: &str) -> Vec<Finding> {
    const CHECK: &str = "webhook";
    const SETTINGS: &str = "in the App's settings, Webhook:";
    let mut findings = Vec::new();
    match &hook.url {
        None => findings.push(Finding::fail(
            CHECK,
            "no address: GitHub sends nothing",
            format!("{SETTINGS} tick Active and give the address of the server"),
        )),
        Some(url) => {
            let path = url.parse::<http::Uri>().ok();
            let path = path.as_ref().map_or("", http::Uri::path);
            if path != webhook_path {
                findings.push(Finding::warn(
                    CHECK,
                    format!("goes to `{url}`, the server takes webhooks at `{webhook_path}`"),
                    format!("{SETTINGS} end the address with `{webhook_path}`, unless your proxy rewrites it"),
                ));
            }
            if url.starts_with("http://") {
                findings.push(Finding::warn(
                    CHECK,
                    format!("`{url}` is not encrypted"),
                    format!("{SETTINGS} use an `https://` address"),
                ));
            }
        }
    }
    if hook
        .content_type
        .as_deref()
        .is_some_and(|kind| kind != "json")
    {
        findings.push(Finding::fail(
            CHECK,
            "the content type is not JSON: every delivery is answered with 415",
            format!("{SETTINGS} content type `application/json`"),
        ));
    }
    if !hook.has_secret {
        findings.push(Finding::fail(
            CHECK,
            "no secret is set: every delivery is refused with 401",
            format!("{SETTINGS} set the secret of `QUADGATE_WEBHOOK_SECRET`"),
        ));
    }
    if hook.insecure_ssl {
        findings.push(Finding::warn(
            CHECK,
            "certificates are not verified",
            format!("{SETTINGS} enable SSL verification"),
        ));
    }
    if findings.is_empty() {
        let url = hook.url.as_deref().unwrap_or_default();
        findings.push(Finding::ok(CHECK, format!("goes to `{url}`, signed")));
    }
    findings
}

/// What became of the newest deliveries, newest first.
pub fn deliveries(attempts: &[DeliveryAttempt]) -> Finding {
    const CHECK: &str = "deliveries";
    let newest: Vec<&DeliveryAttempt> = attempts.iter().take(DELIVERIES).collect();
    let Some(last) = newest.first() else {
        return Finding::warn(
            CHECK,
            "GitHub has not delivered anything lately",
            "open a pull request in a gated repository, or redeliver the ping in the App's settings, Advanced",
        );
    };
    let failed = newest.iter().filter(|attempt| !attempt.succeeded()).count();
    let of = newest.len();
    if last.succeeded() {
        if failed == 0 {
            return Finding::ok(CHECK, format!("the last {of} were taken"));
        }
        return Finding::warn(
            CHECK,
            format!("{failed} of the last {of} were not taken; the newest was"),
            "see them in the App's settings, Advanced; `quadgate replay GUID --from-github` repeats one",
        );
    }
    let (said, mend) = match last.status_code {
        0 => (
            "nothing answers at the webhook's address".to_owned(),
            "is the server running, and does its address reach it from the internet through TLS?",
        ),
        401 => (
            "the server refuses the signature (401)".to_owned(),
            "give the server the App's webhook secret in `QUADGATE_WEBHOOK_SECRET`",
        ),
        404 | 405 => (
            format!("no webhook there ({})", last.status_code),
            "let the App's webhook address end with `webhook_path` of server.yml",
        ),
        415 => (
            "the server wants JSON (415)".to_owned(),
            "set the content type `application/json` in the App's settings, Webhook",
        ),
        status @ 502..=504 => (
            format!("the proxy reaches no server ({status})"),
            "is the server running behind the proxy?",
        ),
        status => (
            format!("answered with {status}"),
            "see the server's log and the App's settings, Advanced",
        ),
    };
    Finding::fail(
        CHECK,
        format!("the newest was not taken, {failed} of the last {of}: {said}"),
        mend,
    )
}

/// Is our check required on a branch, from our App?
pub fn required(required: &[RequiredCheck], check: &str, app: AppId, branch: &str) -> Finding {
    const CHECK: &str = "required-check";
    let ruleset = format!(
        "in the ruleset of `{branch}`: require the status check `{check}` and choose the App as its source"
    );
    let ours: Vec<Option<AppId>> = required
        .iter()
        .filter(|required| required.context == check)
        .map(|required| required.app)
        .collect();
    if ours.contains(&Some(app)) {
        return Finding::ok(
            CHECK,
            format!("`{branch}` requires `{check}` from this App"),
        );
    }
    if ours.contains(&None) {
        return Finding::warn(
            CHECK,
            format!("`{branch}` requires `{check}`, but from anybody who can publish checks"),
            ruleset,
        );
    }
    match ours.first() {
        Some(_) => Finding::fail(
            CHECK,
            format!("`{branch}` requires `{check}` from another App"),
            ruleset,
        ),
        None => Finding::fail(
            CHECK,
            format!("`{branch}` does not require `{check}`: nothing is held back"),
            ruleset,
        ),
    }
}

/// The labels that are there, of those that the server makes and of those that a person sets.
pub fn labels(present: &[String], made: &[&str], set_by_people: &[&str]) -> Finding {
    const CHECK: &str = "labels";
    let there = |name: &&str| present.iter().any(|label| label.eq_ignore_ascii_case(name));
    let missing: Vec<&str> = set_by_people
        .iter()
        .filter(|name| !there(name))
        .copied()
        .collect();
    if let Some(name) = missing.first() {
        return Finding::warn(
            CHECK,
            format!("there is no label `{name}`, with which an owner asks for a merge"),
            format!("create the label `{name}` in the repository"),
        );
    }
    let standing = made.iter().filter(|name| there(name)).count();
    let all = made.len();
    Finding::ok(
        CHECK,
        if standing == all {
            format!("all {all} are there")
        } else {
            format!("{standing} of {all} are there; the others are made when first needed")
        },
    )
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
