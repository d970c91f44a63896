//! Repositories, branches and permissions.

use super::call::{Answer, Call, Reply};
use crate::refusal::Refusal;
use serde_json::{Value, json};

pub(super) fn show(call: &mut Call<'_>) -> Answer {
    let repo = call.world.repo(call.repo)?;
    Ok(Reply::ok(call.world.full_repo_json(repo)))
}

pub(super) fn permission(call: &mut Call<'_>) -> Answer {
    let account = call
        .world
        .account_named(call.param("username"))
        .map(|account| account.id)
        .ok_or_else(Refusal::not_found)?;
    let (permission, role) = call.world.permission_of(call.repo, account)?;
    Ok(Reply::ok(
        json!({"permission": permission, "role_name": role, "user": call.world.account_json(account)}),
    ))
}

fn branch_json(call: &Call<'_>, name: &str, sha: &str) -> Result<Value, Refusal> {
    let repo = call.world.repo(call.repo)?;
    let url = format!("{}/branches/{name}", call.world.repo_url(repo));
    let required = &repo.required_checks;
    let app = |name: &String| {
        let key = (call.repo, name.clone());
        call.world.registration.protected.get(&key)
    };
    Ok(json!({
        "name": name, "commit": call.world.commit_json(call.repo, sha),
        "_links": {"self": url, "html": format!("{}/tree/{name}", call.world.repo_page(repo))},
        "protected": !required.is_empty(), "protection_url": format!("{url}/protection"),
        "protection": {"enabled": !required.is_empty(), "required_status_checks": {
            "enforcement_level": "non_admins", "contexts": required,
            "checks": required.iter().map(|name| json!({"context": name, "app_id": app(name)})).collect::<Vec<_>>(),
        }},
    }))
}

pub(super) fn branch(call: &mut Call<'_>) -> Answer {
    let name = call.param("branch").to_owned();
    let sha = call
        .world
        .repo(call.repo)?
        .branches
        .get(&name)
        .cloned()
        .ok_or_else(|| Refusal::new(404, "Branch not found"))?;
    Ok(Reply::ok(branch_json(call, &name, &sha)?))
}

pub(super) fn branches(call: &mut Call<'_>) -> Answer {
    let all: Vec<_> = call.world.repo(call.repo)?.branches.iter().collect();
    Ok(call.page(
        &all,
        |(name, sha)| json!({"name": name, "commit": {"sha": sha, "url": ""}, "protected": false}),
    ))
}
