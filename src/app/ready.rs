//! What must work for `/readyz`.

use crate::github::GitHub;
use crate::server::{ReadyCheck, ReadyChecks, StoreReachable};
use crate::store::Store;
use std::sync::Arc;

/// The checks in the order in which they are made.
pub(super) fn checks(store: Arc<dyn Store>, github: GitHub) -> ReadyChecks {
    let checks: Vec<Box<dyn ReadyCheck>> =
        vec![Box::new(StoreReachable(store)), Box::new(KeyUsable(github))];
    checks.into()
}

/// Does GitHub take the App's key? Asked until it once does, then remembered by the client.
struct KeyUsable(GitHub);

#[async_trait::async_trait]
impl ReadyCheck for KeyUsable {
    fn name(&self) -> &'static str {
        "github-app-key"
    }

    async fn check(&self) -> Result<(), String> {
        self.0
            .app()
            .await
            .map(|_| ())
            .map_err(|error| error.to_string())
    }
}
