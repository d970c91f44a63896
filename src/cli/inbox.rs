//! `quadgate inbox read`: how would this comment be read? A comment as JSON comes in, the reading goes out; nothing
//! is fetched and nothing is done.

use super::input::{ConfigArgument, load};
use super::{Exit, Io};
use crate::domain::AccountType;
use crate::inbox::{Comment, Edit, Place, Speaker, read};
use crate::policy::Owners;
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};
use std::io::Read;

/// `quadgate inbox …`
#[derive(Debug, Args)]
pub struct InboxArgs {
    #[command(subcommand)]
    command: InboxCommand,
}

#[derive(Debug, Subcommand)]
enum InboxCommand {
    /// Read one comment (JSON on standard input) as the server would
    #[command(
        after_help = "The document: {\"body\": \"/approve A\", \"author\": \"octo-owner\", \"author_type\": \"User\", \
        \"edited_by\": null, \"on\": \"pending_issue\"}\n`on` is \"pending_issue\" or \"audit_issue\".\nExit codes: 0 read, 2 unusable."
    )]
    Read {
        /// Answer as JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        config: ConfigArgument,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    body: Option<String>,
    author: Option<String>,
    #[serde(default = "person")]
    author_type: Option<AccountType>,
    #[serde(default)]
    edited_by: Option<String>,
    on: Place,
}

#[expect(clippy::unnecessary_wraps, reason = "the shape serde asks for")]
fn person() -> Option<AccountType> {
    Some(AccountType::User)
}

#[derive(Serialize)]
struct Said {
    reading: crate::inbox::Reading,
    why: String,
}

/// Runs the command on standard input, with the owners of the configuration.
pub(super) fn run(args: &InboxArgs, io: &mut Io<'_>) -> Exit {
    let InboxCommand::Read { config, .. } = &args.command;
    match load(&config.directory_or_default(), io) {
        Some(loaded) => read_from(
            args,
            &loaded.policy.owners,
            &mut std::io::stdin().lock(),
            io,
        ),
        None => Exit::Unusable,
    }
}

/// Reads the comment; [`Exit::Ok`] when it was read, whatever it means.
pub fn read_from(args: &InboxArgs, owners: &Owners, input: &mut dyn Read, io: &mut Io<'_>) -> Exit {
    let InboxCommand::Read { json, .. } = args.command;
    let mut text = Vec::new();
    let document = input
        .read_to_end(&mut text)
        .map_err(|error| error.to_string())
        .and_then(|_| serde_json::from_slice(&text).map_err(|error| error.to_string()));
    let said = match document {
        Ok(document) => said(document, owners),
        Err(error) => {
            io.say(format!(
                "error: not a comment document: {error}; see `quadgate inbox read --help`"
            ));
            return Exit::Unusable;
        }
    };
    let members = serde_json::to_value(&said).unwrap_or_default();
    if json {
        io.print(members.to_string());
    } else {
        let word = members.get("reading").and_then(serde_json::Value::as_str);
        io.print(format!("{}: {}", word.unwrap_or_default(), said.why));
    }
    Exit::Ok
}

fn said(document: Document, owners: &Owners) -> Said {
    let speaker = |login: String, kind| Speaker {
        login,
        id: None,
        kind,
    };
    let kind = document
        .author_type
        .unwrap_or(AccountType::Other("unknown".to_owned()));
    let edit = document.edited_by.map_or(Edit::Never, |login| {
        Edit::By(speaker(login, AccountType::User))
    });
    let comment = Comment {
        body: document.body,
        author: document.author.map(|login| speaker(login, kind)),
        edit,
        on: document.on,
    };
    let read = read(&comment, owners);
    Said {
        reading: read.reading,
        why: read.why.to_string(),
    }
}
