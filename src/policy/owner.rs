//! `owner.yml`: the people who may answer a D decision.

use super::placeholder;
use super::shape::Written;
use super::source::Problem;
use crate::domain::AccountId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The owners: who may answer.
#[derive(Debug, Clone)]
pub struct Owners {
    /// Logins that may answer, compared without case; never empty in a loaded policy.
    pub logins: Vec<String>,
    /// Numeric ids pinned for those logins (lower case), resolved by the server; empty offline.
    pub pinned: Vec<(String, AccountId)>,
}

/// `owner.yml` as written: the people who may answer a D decision.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "owner.yml")]
pub struct OwnerFile {
    /// GitHub login of the owner. Only an account of type User counts.
    #[schemars(length(min = 1), regex(pattern = "^[A-Za-z0-9][A-Za-z0-9_-]{0,38}$"))]
    pub github_login: String,
    /// Further logins whose answers count like the owner's. Default: the owner alone.
    #[serde(default)]
    #[schemars(with = "Vec<String>", length(min = 1), extend("uniqueItems" = true))]
    pub allowlisted_actors: Option<Vec<String>>,
    /// A name for people, never used to tell who somebody is.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub display_name: Option<String>,
}

/// The owners, or what is wrong with their logins.
pub(super) fn compile(
    file: &mut Written<OwnerFile>,
    warnings: &mut Vec<Problem>,
) -> Result<Owners, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut logins: Vec<String> = Vec::new();
    let mut take = |path: &[&str], login: &str| {
        if let Err((message, hint)) = check_login(login) {
            problems.push(file.problem(path, message).hint(hint));
        } else if placeholder(login) {
            let message = format!("the owner `{login}` is a placeholder: nobody can answer");
            let hint = "write your own GitHub login";
            warnings.push(file.problem(path, message).hint(hint));
        }
        if !logins.iter().any(|known| known.eq_ignore_ascii_case(login)) {
            logins.push(login.to_owned());
        }
    };
    take(&["github_login"], &file.value.github_login);
    let others = file.value.allowlisted_actors.iter().flatten();
    for (index, login) in others.enumerate() {
        take(&["allowlisted_actors", &index.to_string()], login);
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    file.value
        .allowlisted_actors
        .get_or_insert_with(|| logins.clone());
    Ok(Owners {
        logins,
        pinned: Vec::new(),
    })
}

/// Does this look like a login of a person? Otherwise why not, and the way out.
fn check_login(login: &str) -> Result<(), (String, &'static str)> {
    let plain = login
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    let starts_well = login.starts_with(|c: char| c.is_ascii_alphanumeric());
    if plain && starts_well && login.len() <= 39 {
        return Ok(());
    }
    let hint = if login.starts_with('@') {
        "write it without the `@`"
    } else if login.ends_with("[bot]") {
        "only people can be owners, no Apps"
    } else if login.contains('/') {
        "write a person's login, no repository, team or address"
    } else {
        "a login has at most 39 letters, digits and hyphens and starts with a letter or digit"
    };
    Err((format!("`{login}` is not a GitHub login of an owner"), hint))
}
