//! `quadgate serve`: runs the server until it is told to stop.

use super::input::ConfigArgument;
use super::terminal::plain;
use super::{Exit, Io};
use crate::app::{App, AppConfig};
use crate::clock::SystemClock;
use crate::settings::{self, Log, LogFormat, Secrets};
use clap::Args;
use std::path::Path;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    config: ConfigArgument,
    /// Start although the audit log ends before the last entry that was written
    #[arg(long)]
    accept_audit_loss: bool,
}

pub(super) fn run(arguments: &Arguments, io: &mut Io<'_>) -> Exit {
    let directory = arguments.config.directory_or_default();
    let mut loaded = match settings::load(&directory) {
        Ok(loaded) => loaded,
        Err(problems) => {
            for problem in &problems {
                io.say(plain(&problem.to_string()));
            }
            io.say(
                "quadgate does not start with a wrong configuration; see `quadgate config check`",
            );
            return Exit::Unusable;
        }
    };
    for warning in &loaded.warnings {
        io.say(format!("warning: {}", plain(&warning.to_string())));
    }
    let environment = match settings::from_process(Path::new(".")) {
        Ok(environment) => environment,
        Err(problem) => return refuse(io, &problem),
    };
    let secrets = match Secrets::read(&environment) {
        Ok(secrets) => secrets,
        Err(problems) => {
            for problem in &problems {
                io.say(problem.to_string());
            }
            return Exit::Unusable;
        }
    };
    let configured = loaded.server.database_url.take();
    loaded.server.database_url = match settings::database_url(&environment, configured.as_ref()) {
        Ok(url) => url,
        Err(problem) => return refuse(io, &problem.to_string()),
    };
    if let Err(problem) = start_logging(&loaded.server.log) {
        return refuse(io, &problem);
    }
    let receipt_key = match settings::receipt_key(&secrets, &loaded.server.data_dir) {
        Ok(key) => key,
        Err(error) => return refuse(io, &error.to_string()),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return refuse(io, &format!("the runtime does not start: {error}")),
    };
    let config = AppConfig {
        policy: loaded.policy,
        server: loaded.server,
        secrets,
        receipt_key,
        clock: Arc::new(SystemClock),
        fault_point: fault_point(),
        accept_audit_loss: arguments.accept_audit_loss,
    };
    match runtime.block_on(serve(config, &directory)) {
        Ok(()) => Exit::Ok,
        Err(error) => refuse(io, &error.to_string()),
    }
}

fn refuse(io: &mut Io<'_>, problem: &str) -> Exit {
    io.say(format!("quadgate: {}", plain(problem)));
    Exit::Unusable
}

fn start_logging(log: &Log) -> Result<(), String> {
    let filter = EnvFilter::try_new(&log.level)
        .map_err(|error| format!("`log.level` of server.yml: {error}"))?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    let started = match log.format {
        LogFormat::Human => lines.with_target(false).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| format!("the log does not start: {error}"))
}

async fn serve(config: AppConfig, directory: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let path = config.server.webhook_path.clone();
    let app = App::start(config).await?;
    let admin = app.admin.map_or_else(
        || "nowhere".to_owned(),
        |address| format!("http://{address}"),
    );
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        webhooks = %format!("http://{}{path}", app.webhooks),
        %admin,
        "quadgate serves"
    );
    loop {
        tokio::select! {
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            _ = hangup.recv() => reload(&app, directory).await,
        }
    }
    tracing::info!("stopping: nothing is accepted any more, the work in hand ends");
    app.stop().await;
    tracing::info!("stopped");
    Ok(())
}

/// A bad new configuration keeps the old one running and says so.
async fn reload(app: &App, directory: &Path) {
    match settings::load(directory) {
        Ok(loaded) => {
            for warning in &loaded.warnings {
                tracing::warn!(%warning, "configuration");
            }
            let digest = loaded.policy.digest.clone();
            match app.replace_policy(loaded.policy).await {
                Ok(()) => {
                    tracing::info!(policy = %digest, "the new policy is in force; server.yml is read at start only");
                }
                Err(error) => {
                    tracing::error!(%error, "the new policy is refused; the old one stays in force");
                }
            }
        }
        Err(problems) => {
            for problem in &problems {
                tracing::error!(%problem, "configuration");
            }
            tracing::error!("the new configuration is refused; the old one stays in force");
        }
    }
}

/// In builds for development, `QUADGATE_CRASH_AT=step` or `step:n` kills the process at that step (the n-th time), so
/// that tests can crash the real program between any two steps. Production builds have no such switch.
#[cfg(debug_assertions)]
fn fault_point() -> crate::worker::FaultPoint {
    use std::sync::atomic::{AtomicU32, Ordering};
    let Ok(wanted) = std::env::var("QUADGATE_CRASH_AT") else {
        return Arc::new(|_| {});
    };
    let (step, count) = wanted.split_once(':').unwrap_or((&wanted, "1"));
    let (step, left) = (step.to_owned(), AtomicU32::new(count.parse().unwrap_or(1)));
    Arc::new(move |reached| {
        if reached == step && left.fetch_sub(1, Ordering::SeqCst) == 1 {
            std::process::abort();
        }
    })
}

#[cfg(not(debug_assertions))]
fn fault_point() -> crate::worker::FaultPoint {
    Arc::new(|_| {})
}
