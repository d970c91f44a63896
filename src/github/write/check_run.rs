//! One check-run a key and commit.
//!
//! INVARIANT: GitHub adds the remarks (annotations) of each update to those it has and never takes one away, so a run
//! that may have some is asked for them first, and only what is missing is sent.

use super::{Seen, limits, of};
use crate::domain::{CheckAnnotation, CheckConclusion, CheckRunEffect, CheckRunId, Outcome};
use crate::github::call::Call;
use crate::github::page::Listing;
use crate::github::path::ApiPath;
use crate::github::read::OurRun;
use crate::github::{ApiError, GitHub, wire};
use http::Method;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Remarks that GitHub takes in one request.
const REMARKS_A_REQUEST: usize = 50;

impl GitHub {
    /// Updates the run that is known, or the one found by App, name and external id, or creates one.
    pub(super) async fn put_check_run(
        &self,
        wanted: &CheckRunEffect,
        seen: &Seen,
    ) -> Result<Outcome, ApiError> {
        if let Some(id) = wanted.known {
            match self.update_check_run(wanted, id).await {
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
            self.update_check_run(wanted, *id).await?;
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

    /// Makes a run that exists say this, with the remarks that it lacks.
    async fn update_check_run(
        &self,
        wanted: &CheckRunEffect,
        id: CheckRunId,
    ) -> Result<(), ApiError> {
        let lacking = self.lacking_remarks(wanted, id).await?;
        let (first, more) = first_and_more(&lacking);
        self.patch_check_run(wanted, id, first).await?;
        for remarks in more {
            self.patch_check_run(wanted, id, remarks).await?;
        }
        Ok(())
    }

    async fn patch_check_run(
        &self,
        wanted: &CheckRunEffect,
        id: CheckRunId,
        remarks: &[CheckAnnotation],
    ) -> Result<(), ApiError> {
        let path = ApiPath::repo(&wanted.repo.name).seg("check-runs").seg(id);
        let call = Call::write(
            "PATCH check-run",
            of(&wanted.repo),
            Method::PATCH,
            path,
            Some(body(wanted, remarks)),
        );
        self.send(call).await.map(drop)
    }

    async fn post_check_run(&self, wanted: &CheckRunEffect) -> Result<Outcome, ApiError> {
        const NAME: &str = "POST check-run";
        let (first, more) = first_and_more(&wanted.output.annotations);
        let mut body = body(wanted, first);
        if let Some(members) = body.as_object_mut() {
            members.insert("head_sha".to_owned(), json!(wanted.head_sha));
        }
        let path = ApiPath::repo(&wanted.repo.name).seg("check-runs");
        let call = Call::write(NAME, of(&wanted.repo), Method::POST, path, Some(body));
        let run: wire::CheckRun = self.json(call).await?;
        let id = run
            .id
            .ok_or_else(|| ApiError::unreadable(NAME, "an answer without `id`"))?;
        let id = CheckRunId(id);
        for remarks in more {
            self.patch_check_run(wanted, id, remarks).await?;
        }
        Ok(Outcome::CheckRun { id })
    }

    /// The wanted remarks that the run does not have, each as often as it lacks it. No call when none is wanted.
    async fn lacking_remarks(
        &self,
        wanted: &CheckRunEffect,
        id: CheckRunId,
    ) -> Result<Vec<CheckAnnotation>, ApiError> {
        let remarks = &wanted.output.annotations;
        if remarks.is_empty() {
            return Ok(Vec::new());
        }
        let listing = Listing {
            name: "GET check-run annotations",
            who: of(&wanted.repo),
            path: ApiPath::repo(&wanted.repo.name)
                .seg("check-runs")
                .seg(id)
                .seg("annotations"),
            expected: None,
        };
        let mut there: HashMap<Key, usize> = HashMap::new();
        for held in self.list::<Vec<wire::Annotation>>(listing).await?.items {
            *there.entry(Key::of_held(held)).or_default() += 1;
        }
        let lacks = |remark: &&CheckAnnotation| match there.get_mut(&Key::of_wanted(remark)) {
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            Some(_) | None => true,
        };
        Ok(remarks.iter().filter(lacks).cloned().collect())
    }
}

/// By what two remarks are the same.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    path: String,
    line: u64,
    level: String,
    title: String,
    message: String,
}

impl Key {
    fn of_wanted(remark: &CheckAnnotation) -> Self {
        Self {
            path: remark.path.clone(),
            line: u64::from(remark.line),
            level: remark.level.as_str().to_owned(),
            title: limits::chars(&remark.title, limits::REMARK_TITLE),
            message: limits::bytes(&remark.message, limits::REMARK).into_owned(),
        }
    }

    fn of_held(held: wire::Annotation) -> Self {
        Self {
            path: held.path.unwrap_or_default(),
            line: held.start_line.unwrap_or_default(),
            level: held.level.unwrap_or_default(),
            title: held.title.unwrap_or_default(),
            message: held.message.unwrap_or_default(),
        }
    }
}

/// What goes into the first request, and what into each one after it.
fn first_and_more(
    remarks: &[CheckAnnotation],
) -> (&[CheckAnnotation], std::slice::Chunks<'_, CheckAnnotation>) {
    let (first, rest) = remarks.split_at(remarks.len().min(REMARKS_A_REQUEST));
    (first, rest.chunks(REMARKS_A_REQUEST))
}

fn remark(remark: &CheckAnnotation) -> Value {
    let key = Key::of_wanted(remark);
    json!({
        "path": key.path,
        "start_line": key.line,
        "end_line": key.line,
        "annotation_level": key.level,
        "title": key.title,
        "message": key.message,
    })
}

fn body(wanted: &CheckRunEffect, remarks: &[CheckAnnotation]) -> Value {
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
    if let (Some(shown), false) = (shown.as_object_mut(), remarks.is_empty()) {
        let remarks: Vec<Value> = remarks.iter().map(remark).collect();
        shown.insert("annotations".to_owned(), json!(remarks));
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
