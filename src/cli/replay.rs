//! `quadgate replay`: puts a delivery back to work, out of the store or by asking GitHub to send it again.

use super::input::{ConfigArgument, load};
use super::operator::{Desk, name};
use super::terminal::plain;
use super::{Exit, Io, connect, runtime};
use crate::domain::DeliveryId;
use crate::settings::Loaded;
use crate::store::StoreError;
use clap::Args;
use serde_json::{Value, json};

/// Arguments of `replay`.
#[derive(Debug, Args)]
#[command(
    after_help = "A running server takes the work up within 30 seconds; without one it is done at the next start.\n\
    Exit codes: 0 put back to work, 1 there is nothing to put back, 2 unusable."
)]
pub(super) struct Arguments {
    /// The delivery's GUID, as `X-GitHub-Delivery`, the log and the App's list of deliveries have it
    #[arg(value_name = "DELIVERY")]
    delivery: DeliveryId,

    /// Ask GitHub to send it again, instead of looking into the store
    #[arg(long)]
    from_github: bool,

    #[command(flatten)]
    config: ConfigArgument,

    /// Print what was done as a JSON document
    #[arg(long)]
    json: bool,
}

/// What came of it.
enum Replayed {
    /// Words for people, members for machines.
    Done(String, Value),
    Nothing(String),
}

pub(super) fn run(arguments: &Arguments, io: &mut Io<'_>) -> Exit {
    let Some(loaded) = load(&arguments.config.directory_or_default(), io) else {
        return Exit::Unusable;
    };
    let replayed = runtime().and_then(|runtime| {
        runtime.block_on(async {
            if arguments.from_github {
                from_github(&arguments.delivery, &loaded).await
            } else {
                from_store(&arguments.delivery, &loaded).await
            }
        })
    });
    match replayed {
        Ok(Replayed::Done(words, members)) => {
            if arguments.json {
                io.print_json(&members);
            } else {
                io.print(plain(&words));
            }
            Exit::Ok
        }
        Ok(Replayed::Nothing(words)) => {
            io.say(format!("quadgate: {}", plain(&words)));
            Exit::Findings
        }
        Err(problem) => {
            io.say(format!("quadgate: {}", plain(&problem)));
            Exit::Unusable
        }
    }
}

async fn from_store(delivery: &DeliveryId, loaded: &Loaded) -> Result<Replayed, String> {
    let desk = Desk::open(loaded).await?;
    desk.note("replay", &json!({"delivery": delivery}))?;
    let subjects = match desk.store.put_back(delivery, desk.now).await {
        Ok(subjects) => subjects,
        Err(StoreError::Missing { what }) => {
            return Ok(Replayed::Nothing(format!(
                "the store has no {what} (it keeps 30 days); `--from-github` asks GitHub to send it again"
            )));
        }
        Err(error) => return Err(error.to_string()),
    };
    if subjects.is_empty() {
        return Ok(Replayed::Nothing(format!(
            "delivery `{}` asked for no work",
            delivery.as_str()
        )));
    }
    let names: Vec<String> = subjects.iter().map(name).collect();
    let words = format!("back to work: {}", names.join(", "));
    let members =
        json!({"kind": "replay", "from": "store", "delivery": delivery, "subjects": names});
    Ok(Replayed::Done(words, members))
}

async fn from_github(delivery: &DeliveryId, loaded: &Loaded) -> Result<Replayed, String> {
    let github = connect(&loaded.server)?;
    let found = github.delivery(delivery).await;
    let Some(attempt) = found.map_err(|error| error.to_string())? else {
        return Ok(Replayed::Nothing(format!(
            "GitHub lists no delivery `{}` of this App (it keeps a few days)",
            delivery.as_str()
        )));
    };
    github
        .redeliver(&attempt)
        .await
        .map_err(|error| error.to_string())?;
    let words = format!(
        "GitHub sends `{}` again (event {}, last answered with {})",
        delivery.as_str(),
        attempt.event,
        attempt.status_code
    );
    let members = json!({"kind": "replay", "from": "github", "delivery": delivery, "event": attempt.event,
        "last_status": attempt.status_code});
    Ok(Replayed::Done(words, members))
}
