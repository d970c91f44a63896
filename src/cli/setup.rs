//! `quadgate setup`: makes the GitHub App through a local page, keeps its secrets, writes a starting configuration.

use super::input::ConfigArgument;
use super::terminal::plain;
use super::{Exit, Io, runtime};
use crate::domain::RepoName;
use crate::github::needs::Features;
use crate::github::{self, Proxy, Timeouts};
use crate::settings;
use crate::setup::files::{self, Start};
use crate::setup::page::{self, Flow, Made, Outcome};
use crate::setup::{NAME_LIMIT, Place, Wanted, is_loopback, new_state};
use clap::Args;
use serde_json::json;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// A code of GitHub's is good for an hour; nobody is waited for longer.
const PATIENCE: Duration = Duration::from_hours(1);
/// For the last page to reach the browser.
const LAST_PAGE: Duration = Duration::from_secs(3);

/// Arguments of `setup`.
#[derive(Debug, Args)]
#[command(
    after_help = "Opens a page on this machine that takes you to GitHub, where you confirm the App. From elsewhere: \
    `ssh -L PORT:127.0.0.1:PORT HOST` with `--listen 127.0.0.1:PORT`.\n\
    Exit codes: 0 the App is made and its secrets are kept, 1 it is not, 2 unusable."
)]
pub(super) struct Arguments {
    /// Where GitHub will send webhooks: the public address of `quadgate serve`
    #[arg(long, value_name = "URL", value_parser = webhook_url)]
    webhook_url: String,

    /// The organisation that is to own the App [default: you]
    #[arg(long, value_parser = login)]
    org: Option<String>,

    /// The App's name, unique on GitHub
    #[arg(long, default_value = "quadgate", value_parser = app_name)]
    name: String,

    /// GitHub; for an Enterprise Server `https://HOST`
    #[arg(long, value_name = "URL", default_value = "https://github.com")]
    github_url: Place,

    /// Where the local page listens; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: SocketAddr,

    /// Where `.env` and `secrets/` are written
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,

    #[command(flatten)]
    config: ConfigArgument,

    /// A repository to gate: with it a starting configuration is written, if there is none
    #[arg(long = "repo", value_name = "OWNER/NAME")]
    repos: Vec<RepoName>,

    /// The repository that gets the decision Issues [default: `governance` beside the first `--repo`]
    #[arg(long, value_name = "OWNER/NAME", requires = "repos")]
    governance: Option<RepoName>,

    /// Whose answers count [default: the person who owns the App]
    #[arg(long, value_name = "LOGIN", value_parser = login)]
    owner: Option<String>,

    /// The public address of the admin pages, when people are to sign in there
    #[arg(long, value_name = "URL", value_parser = admin_url)]
    admin_url: Option<String>,

    /// Ask also for what merging needs
    #[arg(long)]
    merge: bool,

    /// Ask also for what opening reverts needs
    #[arg(long)]
    revert: bool,

    /// Replace secrets that are there already
    #[arg(long)]
    force: bool,

    /// Print what was made as a JSON document, without the secrets
    #[arg(long)]
    json: bool,
}

fn webhook_url(text: &str) -> Result<String, String> {
    let uri: http::Uri = text.parse().map_err(|_| "not an address".to_owned())?;
    let usable = match uri.scheme_str() {
        Some("https") => uri.host().is_some(),
        // GitHub never reaches it; a stand-in does.
        Some("http") => uri.host().is_some_and(is_loopback),
        Some(_) | None => false,
    };
    if usable && uri.query().is_none() && !text.contains('@') {
        Ok(text.to_owned())
    } else {
        Err("GitHub sends webhooks to an address such as `https://your.host/webhook`".to_owned())
    }
}

fn admin_url(text: &str) -> Result<String, String> {
    let text = text.trim_end_matches('/');
    let uri: http::Uri = text.parse().map_err(|_| "not an address".to_owned())?;
    let whole = uri.authority().map(|host| format!("https://{host}"));
    if whole.as_deref() == Some(text) && !text.contains('@') {
        Ok(text.to_owned())
    } else {
        Err(
            "people sign in at an address such as `https://gate.example.org`, without a path"
                .to_owned(),
        )
    }
}

fn login(text: &str) -> Result<String, String> {
    let fits = (1..=39).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        && !text.starts_with('-');
    if fits {
        Ok(text.to_owned())
    } else {
        Err("not a login of GitHub's".to_owned())
    }
}

fn app_name(text: &str) -> Result<String, String> {
    let length = text.chars().count();
    if (1..=NAME_LIMIT).contains(&length) && !text.chars().any(char::is_control) {
        Ok(text.to_owned())
    } else {
        Err(format!("a name has 1 to {NAME_LIMIT} characters"))
    }
}

pub(super) fn run(arguments: &Arguments, io: &mut Io<'_>) -> Exit {
    let config = arguments.config.directory_or_default();
    let plan = match prepare(arguments, &config, io) {
        Ok(plan) => plan,
        Err(problem) => return refuse(io, &problem),
    };
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(problem) => return refuse(io, &problem),
    };
    let outcome = match runtime.block_on(walk(arguments, plan.features, io)) {
        Ok(outcome) => outcome,
        Err(problem) => return refuse(io, &problem),
    };
    // The page may still hold a connection of a browser that went away.
    runtime.shutdown_background();
    let not_made = match outcome {
        Some(Outcome::Made(made)) => return report(arguments, &config, &plan, &made, io),
        Some(Outcome::Refused(why)) => format!("no App was made: {why}"),
        Some(Outcome::Spent(why)) => format!(
            "the App was made, but its key is lost ({why}): delete it in its settings on GitHub and run `quadgate setup` again"
        ),
        Some(Outcome::NotKept(why)) => format!(
            "the App was made, but its secrets could not be kept ({why}): mend that, delete the App in its settings on GitHub and run `quadgate setup` again"
        ),
        None => "no App was made: nobody confirmed it".to_owned(),
    };
    io.say(format!("quadgate: {}", plain(&not_made)));
    Exit::Findings
}

fn refuse(io: &mut Io<'_>, problem: &str) -> Exit {
    io.say(format!("quadgate: {}", plain(problem)));
    Exit::Unusable
}

/// What is known before anything is asked.
struct Plan {
    features: Features,
    /// The repositories of a configuration to be written; empty: none is.
    repos: Vec<RepoName>,
}

fn prepare(arguments: &Arguments, config: &Path, io: &mut Io<'_>) -> Result<Plan, String> {
    let standing = files::standing(&arguments.out);
    if let Some(path) = standing.first()
        && !arguments.force
    {
        return Err(format!(
            "`{}` is there already; `--force` replaces the secrets, `--out DIR` writes them elsewhere",
            path.display()
        ));
    }
    let mut features = Features {
        merge: arguments.merge,
        revert: arguments.revert,
    };
    if config.exists() {
        if !arguments.repos.is_empty() {
            return Err(format!(
                "`{}` is there already: edit its projects.yml instead of giving `--repo`, or name another directory with `--config`",
                config.display()
            ));
        }
        if let Ok(loaded) = settings::load(config) {
            features.merge |= loaded.policy.merge.enabled;
            features.revert |= loaded.policy.auto_revert_pr;
        }
        return Ok(Plan {
            features,
            repos: Vec::new(),
        });
    }
    let mut repos = arguments.repos.clone();
    if repos.is_empty() && !arguments.json {
        repos.extend(ask_for_repo(config, io)?);
    }
    if !repos.is_empty() && arguments.org.is_some() && arguments.owner.is_none() {
        return Err("an organisation answers nothing: name the person whose answers count with `--owner LOGIN`".to_owned());
    }
    if !arguments.listen.ip().is_loopback() {
        io.say(format!(
            "warning: the page is reachable from outside at `{}`; loopback is enough for a browser on this machine",
            arguments.listen
        ));
    }
    Ok(Plan { features, repos })
}

/// On a terminal: shall a configuration be written?
fn ask_for_repo(config: &Path, io: &mut Io<'_>) -> Result<Option<RepoName>, String> {
    if !std::io::stdin().is_terminal() {
        return Ok(None);
    }
    io.say(format!(
        "There is no configuration in `{}`. A repository to gate (owner/name; empty: write none)?",
        config.display()
    ));
    let mut line = String::new();
    std::io::stdin()
        .read_line(&mut line)
        .map_err(|error| format!("the answer cannot be read: {error}"))?;
    match line.trim() {
        "" => Ok(None),
        name => name
            .parse()
            .map(Some)
            .map_err(|_| format!("`{name}` is not `owner/name`")),
    }
}

/// Serves the page until something came of it. `None`: nothing did in an hour.
async fn walk(
    arguments: &Arguments,
    features: Features,
    io: &mut Io<'_>,
) -> Result<Option<Outcome>, String> {
    let listener = TcpListener::bind(arguments.listen)
        .await
        .map_err(|error| format!("`{}` cannot be listened on: {error}", arguments.listen))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let (router, mut outcome) = page::router(flow(arguments, features, address)?);
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(async move {
        let until_stopped = async move {
            let _ = stopped.await;
        };
        axum::serve(listener, router)
            .with_graceful_shutdown(until_stopped)
            .await
    });
    io.say(format!(
        "Open this page in a browser: {}/",
        page::base_url(address)
    ));
    let ended = tokio::select! {
        ended = outcome.wait_for(Option::is_some) => ended.ok().and_then(|ended| ended.clone()),
        () = tokio::time::sleep(PATIENCE) => None,
        _ = tokio::signal::ctrl_c() => Some(Outcome::Refused("stopped at the terminal".to_owned())),
    };
    let _ = stop.send(());
    // A browser that keeps its connection open is not waited for.
    let _ = tokio::time::timeout(LAST_PAGE, serving).await;
    Ok(ended)
}

fn flow(arguments: &Arguments, features: Features, address: SocketAddr) -> Result<Flow, String> {
    let place = arguments.github_url.clone();
    let api = place.api.clone();
    let (out, force) = (arguments.out.clone(), arguments.force);
    Ok(Flow {
        wanted: Wanted {
            place,
            org: arguments.org.clone(),
            name: arguments.name.clone(),
            webhook_url: arguments.webhook_url.clone(),
            admin_url: arguments.admin_url.clone(),
            features,
        },
        address,
        state: new_state()?,
        exchange: Arc::new(move |code| {
            let api = api.clone();
            Box::pin(async move {
                github::convert(&api, &code, Timeouts::default(), &Proxy::Environment).await
            })
        }),
        keep: Arc::new(move |app| files::keep(app, &out, force)),
    })
}

fn report(arguments: &Arguments, config: &Path, plan: &Plan, made: &Made, io: &mut Io<'_>) -> Exit {
    let app = &made.app;
    let written = match configure(arguments, config, plan, made) {
        Ok(written) => written,
        Err(problem) => {
            io.say(format!(
                "quadgate: the App is made and its secrets are kept, but there is no configuration: {}",
                plain(&problem)
            ));
            Vec::new()
        }
    };
    let missing = !plan.repos.is_empty() && written.is_empty();
    let steps = steps(arguments, config, plan, made);
    if arguments.json {
        let files: Vec<_> = made.written.all.iter().chain(&written).collect();
        io.print_json(&json!({
            "kind": "setup", "app_id": app.id, "slug": app.slug, "owner": app.owner, "client_id": app.client_id,
            "html_url": app.html_url, "env_file": made.written.env_file, "private_key": made.written.private_key,
            "files": files, "next_steps": steps,
        }));
    } else {
        io.print(plain(&format!(
            "The App `{}` (id {}) is made.",
            app.slug, app.id
        )));
        for path in made.written.all.iter().chain(&written) {
            io.print(plain(&format!("  wrote {}", path.display())));
        }
        io.print("Next:");
        for (number, step) in (1..).zip(&steps) {
            io.print(plain(&format!("  {number}. {step}")));
        }
    }
    if missing { Exit::Findings } else { Exit::Ok }
}

/// Writes the starting configuration, if one is wanted.
fn configure(
    arguments: &Arguments,
    config: &Path,
    plan: &Plan,
    made: &Made,
) -> Result<Vec<PathBuf>, String> {
    let Some(governance) = governance(arguments, plan)? else {
        return Ok(Vec::new());
    };
    let owner = arguments.owner.clone().or_else(|| made.app.owner.clone());
    let place = &arguments.github_url;
    let start = Start {
        owner: owner
            .ok_or("GitHub does not say who owns the App; name the person with `--owner`")?,
        repos: plan.repos.clone(),
        governance,
        slug: made.app.slug.clone(),
        api: (!place.is_public()).then(|| place.api.clone()),
    };
    files::write_config(config, &start)
}

/// The repository for the Issues; `None` when no configuration is wanted.
fn governance(arguments: &Arguments, plan: &Plan) -> Result<Option<RepoName>, String> {
    let Some(first) = plan.repos.first() else {
        return Ok(None);
    };
    match &arguments.governance {
        Some(named) => Ok(Some(named.clone())),
        None => format!("{}/governance", first.owner())
            .parse()
            .map(Some)
            .map_err(|_| format!("`{first}` has no owner to stand beside")),
    }
}

fn steps(arguments: &Arguments, config: &Path, plan: &Plan, made: &Made) -> Vec<String> {
    let mut steps = Vec::new();
    let shown = config.display();
    match governance(arguments, plan) {
        Ok(Some(governance)) => {
            steps.push(format!(
                "Create the repository {governance} if it is not there (private is fine): decisions are asked for in its Issues."
            ));
            steps.push(format!(
                "Install the App on {governance} and on the repositories it is to gate: {}/installations/new",
                made.app.html_url
            ));
        }
        Ok(None) | Err(_) => steps.push(format!(
            "Install the App on the repositories it is to gate: {}/installations/new",
            made.app.html_url
        )),
    }
    if plan.repos.is_empty() && !config.exists() {
        steps.push(format!(
            "Write the configuration into {shown} (owner.yml, projects.yml, env.yml with `bot_app_slug: {}`); see docs/configuration.md.",
            made.app.slug
        ));
    } else {
        steps.push(format!(
            "Look through {shown}, then: quadgate config check --config {shown}"
        ));
    }
    if let Some(url) = &arguments.admin_url {
        steps.push(format!(
            "To have people sign in on the admin pages: `admin_url: {url}` and `github_client_id: {}` in server.yml.",
            made.app.client_id
        ));
    }
    steps.push(format!(
        "See what is still missing, in {}: quadgate doctor --config {shown}",
        made.written
            .env_file
            .parent()
            .unwrap_or(Path::new("."))
            .display()
    ));
    steps.push(format!("Start it: quadgate serve --config {shown}"));
    steps.push(
        "Require the status check L1.C3, with the App as its source, in the ruleset of each gated repository's base branch."
            .to_owned(),
    );
    steps
}
