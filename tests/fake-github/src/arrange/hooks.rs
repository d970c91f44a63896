//! Webhooks in the test's hands: take, send, repeat, reorder, drop.

use crate::{FakeGitHub, WebhookRequest, http::wire};
use std::sync::PoisonError;

impl FakeGitHub {
    /// Takes everything that waits, in order, signed and ready to be sent. What is taken counts as delivered
    /// unless [`record_delivery`](Self::record_delivery) says otherwise.
    pub fn deliveries(&self) -> Vec<WebhookRequest> {
        self.with(|world| {
            let app = world.own_app;
            std::iter::from_fn(|| world.hooks.take(app)).collect()
        })
    }

    /// How many wait.
    pub fn waiting_deliveries(&self) -> usize {
        self.with(|world| world.hooks.waiting())
    }

    /// Forgets what waits (arranging made them, nobody is to hear).
    pub fn drop_deliveries(&self) {
        drop(self.deliveries());
    }

    /// Posts one, wherever it came from, and records the answer (0: none in ten seconds).
    pub async fn send(&self, webhook: &WebhookRequest, url: &str) -> u16 {
        let status = wire::post(url, webhook).await;
        self.record_delivery(webhook.delivery_id, status);
        status
    }

    /// Posts what waits, one after the other, also what arises meanwhile; answers the statuses.
    pub async fn deliver_all(&self, url: &str) -> Vec<(WebhookRequest, u16)> {
        let mut sent = Vec::new();
        loop {
            let batch = self.deliveries();
            if batch.is_empty() {
                return sent;
            }
            for webhook in batch {
                let status = self.send(&webhook, url).await;
                sent.push((webhook, status));
            }
        }
    }

    /// What the receiver answered, for the App's list of deliveries (0: no answer).
    pub fn record_delivery(&self, delivery_id: u64, status: u16) {
        self.with(|world| world.hooks.record(delivery_id, status));
    }

    /// Where [`auto_deliver`](Self::auto_deliver) posts to from now on.
    pub fn set_webhook_url(&self, url: &str) {
        *self
            .shared
            .webhook_url
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(url.into());
        self.shared.stir();
    }

    /// Puts a delivery back into the queue under its GUID, as the "Redeliver" button does.
    pub fn redeliver(&self, delivery_id: u64) -> bool {
        self.with(|world| world.redeliver(delivery_id))
    }
}
