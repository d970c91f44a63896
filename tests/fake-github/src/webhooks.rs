//! Webhooks: every change announces itself here as a delivery, signed when it is taken or posted.
//!
//! Nothing is sent by itself unless a test or the demo asks. The list of deliveries is what the App's
//! delivery API shows.

use crate::model::{Time, World, hex, issue::merge, stamp};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use std::{collections::VecDeque, sync::Arc};

/// Deliveries and which of them still wait.
pub(crate) struct Hooks {
    secret: String,
    pub(crate) log: Vec<Delivery>,
    waiting: VecDeque<u64>,
    /// Set while a test arranges what nobody is to hear of.
    pub(crate) quiet: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Delivery {
    pub(crate) id: u64,
    pub(crate) guid: String,
    pub(crate) event: String,
    pub(crate) action: Option<String>,
    pub(crate) installation: Option<u64>,
    pub(crate) repo: Option<u64>,
    pub(crate) body: Arc<str>,
    pub(crate) at: Time,
    pub(crate) redelivery: bool,
    /// What the receiver answered; `None` while it waits, 0 when it did not answer.
    pub(crate) answered: Option<u16>,
}

impl Delivery {
    /// One row of the App's list.
    pub(crate) fn json(&self) -> Value {
        let code = self.answered.unwrap_or(0);
        let status = match code {
            200..=299 => "OK",
            0 => "failed to connect to host",
            _ => "Invalid HTTP Response",
        };
        json!({
            "id": self.id, "guid": self.guid, "delivered_at": stamp(self.at),
            "redelivery": self.redelivery, "duration": 0.03, "status": status, "status_code": code,
            "event": self.event, "action": self.action,
            "installation_id": self.installation, "repository_id": self.repo, "throttled_at": null,
        })
    }
}

/// A webhook ready to be sent, once, twice, late, or not at all.
#[derive(Debug, Clone)]
pub struct WebhookRequest {
    /// The id in the App's list of deliveries.
    pub delivery_id: u64,
    /// `X-GitHub-Delivery`; a redelivery keeps it.
    pub guid: String,
    /// `X-GitHub-Event`.
    pub event: String,
    /// The payload's `action`.
    pub action: Option<String>,
    /// All headers, the signature among them.
    pub headers: Vec<(String, String)>,
    /// The raw body.
    pub body: Vec<u8>,
}

impl WebhookRequest {
    /// The payload.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// `event.action`, or the event alone.
    pub fn name(&self) -> String {
        self.action.as_ref().map_or_else(
            || self.event.clone(),
            |action| format!("{}.{action}", self.event),
        )
    }
}

/// `sha256=…` over a body, as `X-Hub-Signature-256` carries it.
pub fn sign(secret: &str, body: &[u8]) -> String {
    // Any key length is accepted by HMAC; the fallback cannot be reached and signs nothing valid.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else {
        return "sha256=".into();
    };
    mac.update(body);
    format!("sha256={}", hex(&mac.finalize().into_bytes()))
}

impl Hooks {
    pub(crate) fn new(secret: String) -> Self {
        Self {
            secret,
            log: Vec::new(),
            waiting: VecDeque::new(),
            quiet: false,
        }
    }

    /// What signs them.
    pub(crate) fn secret(&self) -> &str {
        &self.secret
    }

    pub(crate) fn push(&mut self, delivery: Delivery) {
        if self.quiet {
            return;
        }
        self.waiting.push_back(delivery.id);
        self.log.push(delivery);
    }

    /// The next one that waits, signed.
    pub(crate) fn take(&mut self, app: u64) -> Option<WebhookRequest> {
        let id = self.waiting.pop_front()?;
        let delivery = self.log.iter_mut().find(|delivery| delivery.id == id)?;
        delivery.answered = Some(202);
        let body = delivery.body.as_bytes().to_vec();
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let headers = vec![
            header("content-type", "application/json"),
            header("user-agent", "GitHub-Hookshot/fake"),
            header("x-github-delivery", &delivery.guid),
            header("x-github-event", &delivery.event),
            header("x-github-hook-id", "1"),
            header("x-github-hook-installation-target-id", &app.to_string()),
            header("x-github-hook-installation-target-type", "integration"),
            header("x-hub-signature-256", &sign(&self.secret, &body)),
        ];
        Some(WebhookRequest {
            delivery_id: id,
            guid: delivery.guid.clone(),
            event: delivery.event.clone(),
            action: delivery.action.clone(),
            headers,
            body,
        })
    }

    pub(crate) fn record(&mut self, id: u64, status: u16) {
        if let Some(delivery) = self.log.iter_mut().find(|delivery| delivery.id == id) {
            delivery.answered = Some(status);
        }
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

impl World {
    /// Queues an event about a repository, if our App is installed there and not suspended.
    pub(crate) fn announce(
        &mut self,
        repo: u64,
        event: &str,
        action: Option<&str>,
        sender: u64,
        body: Value,
    ) {
        let Some(installation) = self
            .installation_of_repo(repo)
            .filter(|found| found.suspended_at.is_none())
        else {
            return;
        };
        let installation = installation.id;
        let Ok(held) = self.repo(repo) else { return };
        let repository = self.repo_json(held);
        let mut payload = json!({"repository": repository});
        if let Some(organization) = self.organization_json(held.owner) {
            merge(&mut payload, json!({"organization": organization}));
        }
        merge(
            &mut payload,
            json!({"installation": {"id": installation, "node_id": format!("MI_{installation}")}}),
        );
        merge(&mut payload, body);
        self.queue(
            event,
            action,
            sender,
            Some(repo),
            Some(installation),
            payload,
        );
    }

    /// Queues an event about the installation itself.
    pub(crate) fn announce_installation(
        &mut self,
        id: u64,
        event: &str,
        action: &str,
        sender: u64,
        body: Value,
    ) {
        let Ok(installation) = self.installation(id) else {
            return;
        };
        let mut payload = json!({"installation": self.installation_json(installation)});
        merge(&mut payload, body);
        self.queue(event, Some(action), sender, None, Some(id), payload);
    }

    fn queue(
        &mut self,
        event: &str,
        action: Option<&str>,
        sender: u64,
        repo: Option<u64>,
        installation: Option<u64>,
        mut payload: Value,
    ) {
        let mut head = json!({"sender": self.account_json(sender)});
        if let Some(action) = action {
            merge(&mut head, json!({"action": action}));
        }
        merge(&mut payload, head);
        let delivery = Delivery {
            id: self.ids.delivery(),
            guid: self.ids.guid(),
            event: event.into(),
            action: action.map(Into::into),
            installation,
            repo,
            body: payload.to_string().into(),
            at: self.now(),
            redelivery: false,
            answered: None,
        };
        self.hooks.push(delivery);
    }

    /// Queues a delivery again under the same GUID, as the API's attempts do.
    pub(crate) fn redeliver(&mut self, id: u64) -> bool {
        let Some(mut again) = self
            .hooks
            .log
            .iter()
            .find(|delivery| delivery.id == id)
            .cloned()
        else {
            return false;
        };
        again.id = self.ids.delivery();
        again.at = self.now();
        again.redelivery = true;
        again.answered = None;
        self.hooks.push(again);
        true
    }
}
