//! `new`, `approve` and `finalize`: the steps that write.
//!
//! A file is changed in the sections a step is about and nowhere else.

use super::{Exit, Io, Lang, Loaded, Unusable, active_dir, active_files, load, parse_risk};
use crate::domain::Timestamp;
use crate::evidence::{
    Approval, Checkpoint, CheckpointRecord, CheckpointStatus, Context, Disposition, Judgement,
    Language, Ledger, RecordParts, Risk, Section, Severity, Text, json, judge, markdown,
};
use clap::Args;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct NewArgs {
    /// The id of the change; also the file's name.
    #[arg(long)]
    change_id: String,
    /// `LOW`, `MEDIUM` or `HIGH`.
    #[arg(long, value_parser = parse_risk)]
    risk: Risk,
    /// What was asked for.
    #[arg(long)]
    action: Option<String>,
    /// The language of the headings.
    #[arg(long, value_enum, default_value = "en")]
    lang: Lang,
}

pub(super) fn new(args: &NewArgs, root: &Path, io: &mut Io<'_>) -> Result<Exit, Unusable> {
    let id = args.change_id.as_str();
    let usable = id
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
        && !id.starts_with('.')
        && !id.is_empty();
    if !usable {
        return Err(Unusable::Other(format!(
            "`{id}` cannot be a file's name; use letters, digits, `-`, `_` and `.`"
        )));
    }
    // Look for an active ledger first: one change has one.
    for path in active_files(root)? {
        let taken = load(&path)?
            .ledger
            .change_id
            .is_some_and(|item| item.text.as_str().to_lowercase() == id.to_lowercase());
        if taken {
            return Err(Unusable::Other(format!(
                "`{id}` has an active ledger already: `{}`; go on in it",
                path.display()
            )));
        }
    }
    let ledger = Ledger::fresh(id, args.risk, args.action.as_deref(), args.lang.into());
    let dir = active_dir(root);
    let path = dir.join(format!("{id}.md"));
    fs::create_dir_all(&dir).map_err(|source| Unusable::Write { path: dir, source })?;
    create(&path, &markdown::write(&ledger, args.lang.into()))?;
    writeln!(io.out, "{}", path.display())?;
    Ok(Exit::Ok)
}

/// Writes a file that is not there yet.
fn create(path: &Path, text: &str) -> Result<(), Unusable> {
    let write = |source| Unusable::Write {
        path: path.to_owned(),
        source,
    };
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .map_err(write)?;
    file.write_all(text.as_bytes()).map_err(write)
}

#[derive(Debug, Args)]
pub(super) struct ApproveArgs {
    /// The ledger.
    file: PathBuf,
    /// Present a record that covers this action; repeatable.
    #[arg(long, value_name = "ACTION", requires_all = ["consequence", "verification"])]
    covers: Vec<String>,
    /// An irreversible consequence of it; repeatable.
    #[arg(long, value_name = "TEXT", requires = "covers")]
    consequence: Vec<String>,
    /// A verification that must hold before completion; repeatable.
    #[arg(long, value_name = "TEXT", requires = "covers")]
    verification: Vec<String>,
    /// The language of the record; the ledger's own when not given.
    #[arg(long, value_enum)]
    lang: Option<Lang>,
    /// Record this reply, word for word.
    #[arg(long, requires = "by", conflicts_with = "covers")]
    reply: Option<String>,
    /// Who replied.
    #[arg(long, requires = "reply")]
    by: Option<String>,
    /// When, RFC 3339; now when not given.
    #[arg(long, requires = "reply")]
    at: Option<Timestamp>,
}

pub(super) fn approve(args: &ApproveArgs, _root: &Path, io: &mut Io<'_>) -> Result<Exit, Unusable> {
    let mut loaded = load(&args.file)?;
    if !args.covers.is_empty() {
        present(args, &mut loaded)?;
    }
    let record = |loaded: &Loaded| {
        loaded
            .ledger
            .checkpoint
            .as_ref()
            .and_then(|checkpoint| checkpoint.record.clone())
    };
    let Some(record) = record(&loaded) else {
        writeln!(
            io.out,
            "no checkpoint record is presented; give `--covers`, `--consequence` and `--verification` to present one"
        )?;
        return Ok(Exit::Findings);
    };
    let Some(reply) = &args.reply else {
        // Exactly what a person is shown and answers.
        io.out.write_all(record.to_text().as_bytes())?;
        return tell_shape(&record, io);
    };
    record_reply(args, reply, &mut loaded)?;
    let judgement = judge(&loaded.ledger, &Context::default());
    tell(&judgement, io)
}

fn tell_shape(record: &CheckpointRecord, io: &mut Io<'_>) -> Result<Exit, Unusable> {
    let Err(problems) = record.parts() else {
        return Ok(Exit::Ok);
    };
    for problem in problems {
        writeln!(io.out, "not in the exact shape: {problem}")?;
    }
    Ok(Exit::Findings)
}

/// A new record asks anew: an earlier answer does not follow it and is dropped.
fn present(args: &ApproveArgs, loaded: &mut Loaded) -> Result<(), Unusable> {
    let texts = |lines: &[String]| lines.iter().map(|line| Text::new(line)).collect::<Vec<_>>();
    let language = args
        .lang
        .map_or_else(|| markdown::language_of(&loaded.source), Language::from);
    let record = CheckpointRecord::build(&RecordParts {
        language,
        covers: texts(&args.covers),
        consequences: texts(&args.consequence),
        verification: texts(&args.verification),
    });
    loaded.ledger.checkpoint = Some(Checkpoint {
        status: Some(CheckpointStatus::Pending.into()),
        record: Some(record),
        approval: None,
    });
    save(loaded, &[Section::Checkpoint])
}

fn record_reply(args: &ApproveArgs, reply: &str, loaded: &mut Loaded) -> Result<(), Unusable> {
    let checkpoint = loaded
        .ledger
        .checkpoint
        .get_or_insert_with(Checkpoint::default);
    let at = args
        .at
        .unwrap_or_else(|| chrono::Utc::now().into())
        .whole_seconds();
    checkpoint.approval = Some(Approval {
        reply: Text::new(reply),
        by: Text::new(args.by.as_deref().unwrap_or_default()),
        when: Text::new(&at.to_string()),
        record: checkpoint.record.clone(),
        ..Approval::default()
    });
    let shaped = checkpoint
        .record
        .as_ref()
        .is_some_and(|record| record.parts().is_ok());
    let approved = shaped && crate::evidence::is_approve(reply);
    checkpoint.status = Some(
        if approved {
            CheckpointStatus::Approved
        } else {
            CheckpointStatus::Pending
        }
        .into(),
    );
    save(loaded, &[Section::Checkpoint])
}

fn rendered(loaded: &Loaded, sections: &[Section]) -> Result<String, Unusable> {
    if loaded.is_json {
        return json::write(&loaded.ledger).map_err(|source| Unusable::Json {
            path: loaded.path.clone(),
            source,
        });
    }
    Ok(markdown::patch(&loaded.source, &loaded.ledger, sections))
}

fn save(loaded: &Loaded, sections: &[Section]) -> Result<(), Unusable> {
    fs::write(&loaded.path, rendered(loaded, sections)?).map_err(|source| Unusable::Write {
        path: loaded.path.clone(),
        source,
    })
}

fn tell(judgement: &Judgement, io: &mut Io<'_>) -> Result<Exit, Unusable> {
    for finding in &judgement.findings {
        writeln!(
            io.out,
            "{}:{}: {} {}: {}",
            finding.line,
            finding.column,
            finding.code,
            finding.code.name(),
            finding.message
        )?;
    }
    writeln!(io.out, "effective {}", judgement.effective)?;
    Ok(Exit::of_findings(judgement.findings.len()))
}

#[derive(Debug, Args)]
pub(super) struct FinalizeArgs {
    /// The ledger.
    file: PathBuf,
    /// The final disposition to record; the ledger's own when not given.
    #[arg(long, value_parser = parse_final)]
    disposition: Option<Disposition>,
    /// The quadrant of the change: the floor of its risk.
    #[arg(long, value_parser = super::parse_quadrant)]
    quadrant: Option<crate::domain::Quadrant>,
}

fn parse_final(text: &str) -> Result<Disposition, String> {
    use crate::evidence::Vocabulary as _;
    Disposition::read(text)
        .filter(|one| one.is_final())
        .ok_or_else(|| format!("`{text}` is no final disposition; write `COMPLETE`, `BLOCKED_EVIDENCE` or `BLOCKED_CLARIFICATION`"))
}

pub(super) fn finalize(
    args: &FinalizeArgs,
    _root: &Path,
    io: &mut Io<'_>,
) -> Result<Exit, Unusable> {
    let mut loaded = load(&args.file)?;
    let own = [&loaded.ledger.final_disposition, &loaded.ledger.disposition];
    let own = own
        .into_iter()
        .flatten()
        .find_map(|word| word.known().filter(|one| one.is_final()));
    let Some(wanted) = args.disposition.or(own) else {
        writeln!(
            io.out,
            "the ledger declares no final disposition; write one or give `--disposition`"
        )?;
        return Ok(Exit::Findings);
    };
    loaded.ledger.final_disposition = Some(wanted.into());
    loaded.ledger.disposition = Some(wanted.into());
    let context = Context {
        quadrant: args.quadrant,
        ..Context::default()
    };
    let judgement = judge(&loaded.ledger, &context);
    let errors = judgement
        .findings
        .iter()
        .any(|finding| finding.severity == Severity::Error);
    if judgement.conclusion != wanted || (wanted == Disposition::Complete && errors) {
        tell(&judgement, io)?;
        writeln!(
            io.out,
            "`{wanted}` is not earned; the ledger stays where it is"
        )?;
        return Ok(Exit::Findings);
    }
    let sections = [Section::Disposition, Section::FinalDisposition];
    let place = put(&loaded, &sections)?;
    writeln!(io.out, "{wanted}: {}", place.display())?;
    Ok(Exit::Ok)
}

/// Writes a finalized ledger: an active one to the archive, another where it is. Never over an archived ledger.
fn put(loaded: &Loaded, sections: &[Section]) -> Result<PathBuf, Unusable> {
    let Some(target) = archived(&loaded.path) else {
        save(loaded, sections)?;
        return Ok(loaded.path.clone());
    };
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| Unusable::Write { path, source }
    };
    if let Some(dir) = target.parent() {
        fs::create_dir_all(dir).map_err(failed(dir))?;
    }
    create(&target, &rendered(loaded, sections)?)?;
    fs::remove_file(&loaded.path).map_err(failed(&loaded.path))?;
    Ok(target)
}

/// Where an active ledger goes; a ledger that is kept elsewhere on purpose stays.
fn archived(path: &Path) -> Option<PathBuf> {
    let dir = path.parent()?;
    let active = dir.file_name()? == "active";
    let archive = dir.parent()?.join("archive");
    active.then(|| archive.join(path.file_name().unwrap_or_default()))
}
