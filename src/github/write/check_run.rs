//! One check-run a key and commit.

use super::{Seen, limits, of};
use crate::domain::{CheckConclusion, CheckRunEffect, CheckRunId, Outcome};
use crate::github::call::Call;
use crate::github::path::ApiPath;
use crate::github::read::OurRun;
use crate::github::{ApiError, GitHub, wire};
use http::Method;
use serde_json::{Value, json};

impl GitHub {
    /// Updates the run that is known, or the one found by App, name and external id, or creates one.
    pub(super) async fn put_check_run(
        &self,
        wanted: &CheckRunEffect,
        seen: &Seen,
    ) -> Result<Outcome, ApiError> {
        if let Some(id) = wanted.known {
            match self.patch_check_run(wanted, id).await {
                // Deleted, or never ours: look for it.
                Err(ApiError::Gone { status: 404, .. }) => {}
                Err(error) => return Err(error),
                Ok(()) => return Ok(Outcome::CheckRun { id }),
            }
        }
        let mut found = self.find_check_runs(wanted, seen).await?;
        found.retain(|id| Some(*id) != wanted.known);
        found.sort_unstable();
        // Racing writers can have made two: all of them say the same from now on.
        for id in &found {
            self.patch_check_run(wanted, *id).await?;
        }
        if let Some(newest) = found.last() {
            return Ok(Outcome::CheckRun { id: *newest });
        }
        self.post_check_run(wanted).await
    }

    async fn find_check_runs(
        &self,
        wanted: &CheckRunEffect,
        seen: &Seen,
    ) -> Result<Vec<CheckRunId>, ApiError> {
        let listed;
        let ours = match &seen.check_runs {
            Some((sha, runs)) if *sha == wanted.head_sha => runs,
            Some(_) | None => {
                listed = self.list_our_check_runs(wanted).await?;
                &listed
            }
        };
        Ok(ours
            .iter()
            .filter(|run| run.name == wanted.name && run.external_id == wanted.external_id)
            .map(|run| run.id)
            .collect())
    }

    async fn list_our_check_runs(&self, wanted: &CheckRunEffect) -> Result<Vec<OurRun>, ApiError> {
        let app = self.inner.app_id;
        let path = ApiPath::repo(&wanted.repo.name)
            .seg("commits")
            .seg(&wanted.head_sha)
            .seg("check-runs")
            .query("check_name", &wanted.name)
            .query("app_id", app)
            .query("filter", "all");
        let runs = self
            .list_check_runs("GET own check-runs", &wanted.repo, path)
            .await?;
        Ok(runs.iter().filter_map(|run| OurRun::of(app, run)).collect())
    }

    async fn patch_check_run(
        &self,
        wanted: &CheckRunEffect,
        id: CheckRunId,
    ) -> Result<(), ApiError> {
        let path = ApiPath::repo(&wanted.repo.name).seg("check-runs").seg(id);
        let call = Call::write(
            "PATCH check-run",
            of(&wanted.repo),
            Method::PATCH,
            path,
            Some(body(wanted)),
        );
        self.send(call).await.map(drop)
    }

    async fn post_check_run(&self, wanted: &CheckRunEffect) -> Result<Outcome, ApiError> {
        const NAME: &str = "POST check-run";
        let mut body = body(wanted);
        if let Some(members) = body.as_object_mut() {
            members.insert("head_sha".to_owned(), json!(wanted.head_sha));
        }
        let path = ApiPath::repo(&wanted.repo.name).seg("check-runs");
        let call = Call::write(NAME, of(&wanted.repo), Method::POST, path, Some(body));
        let run: wire::CheckRun = self.json(call).await?;
        let id = run
            .id
            .ok_or_else(|| ApiError::unreadable(NAME, "an answer without `id`"))?;
        Ok(Outcome::CheckRun { id: CheckRunId(id) })
    }
}

fn body(wanted: &CheckRunEffect) -> Value {
    let output = &wanted.output;
    let mut shown = json!({
        "title": limits::bytes(&output.title, limits::CHECK_FIELD),
        "summary": limits::bytes(&output.summary, limits::CHECK_FIELD),
    });
    let mut body = json!({
        "name": wanted.name,
        "external_id": wanted.external_id,
        "actions": wanted.actions.iter().take(3).map(|action| json!({
            "label": limits::chars(&action.label, 20),
            "description": limits::chars(&action.description, 40),
            "identifier": limits::chars(&action.identifier, 20),
        })).collect::<Vec<_>>(),
    });
    if let (Some(shown), false) = (shown.as_object_mut(), output.text.is_empty()) {
        let text = limits::bytes(&output.text, limits::CHECK_FIELD);
        shown.insert("text".to_owned(), json!(text));
    }
    if let Some(members) = body.as_object_mut() {
        members.insert("output".to_owned(), shown);
        let (status, conclusion) = match wanted.conclusion {
            None => ("in_progress", None),
            Some(CheckConclusion::Success) => ("completed", Some("success")),
            Some(CheckConclusion::Failure) => ("completed", Some("failure")),
            Some(CheckConclusion::Neutral) => ("completed", Some("neutral")),
        };
        members.insert("status".to_owned(), json!(status));
        // A conclusion of null is refused: it is left out.
        if let Some(conclusion) = conclusion {
            members.insert("conclusion".to_owned(), json!(conclusion));
        }
        if let Some(url) = &wanted.details_url {
            members.insert("details_url".to_owned(), json!(url));
        }
    }
    body
}
