//! `lint` and `status`: several ledgers judged in one run, told as text, JSON or SARIF.

use super::{Exit, Io, Loaded, Unusable, active_files, load, parse_quadrant, repository_path};
use crate::domain::Quadrant;
use crate::evidence::{
    Context, Finding, Judgement, Severity, Stated, duplicates, is_ledger_path, judge, sarif,
};
use clap::Args;
use serde_json::json;
use std::fs;
use std::io::{Read as _, Write};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct LintArgs {
    /// Ledgers, Markdown or JSON; none: every active ledger.
    files: Vec<PathBuf>,
    #[command(flatten)]
    known: KnownArgs,
    /// Print JSON.
    #[arg(long, conflicts_with = "sarif")]
    json: bool,
    /// Print SARIF 2.1.0 for code scanning.
    #[arg(long)]
    sarif: bool,
    /// The page that SARIF rules point to.
    #[arg(long, default_value = HELP)]
    docs_url: String,
}

/// A name, not an address: where the documentation is served is the operator's to say.
const HELP: &str = "urn:quadgate:docs:evidence.md";

#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// Ledgers; none: every active ledger.
    files: Vec<PathBuf>,
    #[command(flatten)]
    known: KnownArgs,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What is known about the change besides the ledger.
#[derive(Debug, Args)]
struct KnownArgs {
    /// The quadrant of the change: the floor of its risk.
    #[arg(long, value_parser = parse_quadrant)]
    quadrant: Option<Quadrant>,
    /// A high-risk domain the change touches, by name; repeatable.
    #[arg(long = "high-risk", value_name = "DOMAIN")]
    high_risk: Vec<String>,
    /// A changed file; repeatable.
    #[arg(long = "changed-file", value_name = "PATH")]
    changed: Vec<String>,
    /// A file with one changed path a line; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    changed_files_from: Option<PathBuf>,
    /// The ledgers are committed: an active one is reported.
    #[arg(long)]
    committed: bool,
}

impl KnownArgs {
    /// The changed files; `None` when nothing was said about them.
    fn changed(&self) -> Result<Option<Vec<String>>, Unusable> {
        let mut changed = self.changed.clone();
        let Some(path) = &self.changed_files_from else {
            return Ok((!changed.is_empty()).then_some(changed));
        };
        let read = |source| Unusable::Read {
            path: path.clone(),
            source,
        };
        let text = if path.as_os_str() == "-" {
            let mut text = String::new();
            std::io::stdin()
                .lock()
                .read_to_string(&mut text)
                .map_err(read)?;
            text
        } else {
            fs::read_to_string(path).map_err(read)?
        };
        changed.extend(
            text.lines()
                .filter(|line| !line.is_empty())
                .map(str::to_owned),
        );
        Ok(Some(changed))
    }
}

/// One ledger and what it carries.
struct Judged {
    path: String,
    loaded: Loaded,
    judgement: Judgement,
}

/// All ledgers of a run, and the files that are none.
struct Run {
    judged: Vec<Judged>,
    unusable: Vec<(String, Unusable)>,
}

impl Run {
    fn of(files: &[PathBuf], known: &KnownArgs, root: &Path) -> Result<Self, Unusable> {
        let files = if files.is_empty() {
            active_files(root)?
        } else {
            files.to_vec()
        };
        let changed = known.changed()?;
        let linted: Vec<String> = files
            .iter()
            .map(|file| repository_path(file, root))
            .collect();
        // A ledger is the record of the work and no part of it.
        let is_work = |path: &&str| !is_ledger_path(path) && !linted.iter().any(|one| one == path);
        let changed: Option<Vec<&str>> = changed.as_ref().map(|paths| {
            let paths = paths.iter().map(String::as_str);
            paths.filter(is_work).collect()
        });
        let domains: Vec<&str> = known.high_risk.iter().map(String::as_str).collect();
        let mut run = Self {
            judged: Vec::new(),
            unusable: Vec::new(),
        };
        for file in files {
            let path = repository_path(&file, root);
            match load(&file) {
                Ok(loaded) => {
                    let context = Context {
                        quadrant: known.quadrant,
                        high_risk_domains: &domains,
                        changed_files: changed.as_deref(),
                        committed_path: known.committed.then_some(path.as_str()),
                    };
                    let judgement = judge(&loaded.ledger, &context);
                    run.judged.push(Judged {
                        path,
                        loaded,
                        judgement,
                    });
                }
                Err(error) => run.unusable.push((path, error)),
            }
        }
        run.add_duplicates();
        Ok(run)
    }

    fn add_duplicates(&mut self) {
        let active: Vec<_> = (0..)
            .zip(&self.judged)
            .filter(|(_, one)| one.path.contains(".evidence-gated/active/"))
            .collect();
        let pairs: Vec<_> = active
            .iter()
            .map(|(_, one)| (one.path.as_str(), &one.loaded.ledger))
            .collect();
        let found: Vec<(usize, Finding)> = duplicates(&pairs)
            .into_iter()
            .filter_map(|(index, finding)| Some((active.get(index)?.0, finding)))
            .collect();
        for (index, finding) in found {
            if let Some(one) = self.judged.get_mut(index) {
                one.judgement.findings.push(finding);
            }
        }
    }

    fn findings(&self) -> usize {
        self.judged
            .iter()
            .map(|one| one.judgement.findings.len())
            .sum()
    }

    fn exit(&self) -> Exit {
        if self.unusable.is_empty() {
            Exit::of_findings(self.findings())
        } else {
            Exit::Unusable
        }
    }

    fn tell_unusable(&self, stderr: &mut dyn Write) -> std::io::Result<()> {
        for (_, error) in &self.unusable {
            writeln!(stderr, "quadgate evidence: {error}")?;
        }
        Ok(())
    }

    fn to_json(&self) -> serde_json::Value {
        let files: Vec<_> = self.judged.iter().map(Judged::to_json).collect();
        let unusable: Vec<_> = self
            .unusable
            .iter()
            .map(|(path, error)| json!({ "path": path, "error": error.to_string() }))
            .collect();
        json!({
            "version": 1,
            "files": files,
            "unusable": unusable,
            "findings": self.findings(),
        })
    }
}

impl Judged {
    fn to_json(&self) -> serde_json::Value {
        let ledger = &self.loaded.ledger;
        json!({
            "path": self.path,
            "change_id": ledger.change_id.as_ref().map(|id| id.text.as_str()),
            "phase": ledger.phase.as_ref().map(Stated::as_str),
            "declared": ledger.disposition.as_ref().map(Stated::as_str),
            "effective": self.judgement.effective,
            "conclusion": self.judgement.conclusion,
            "risk": self.judgement.risk,
            "mandatory_verifications": self.judgement.mandatory_verifications,
            "outside_scope": self.judgement.outside_scope,
            "findings": self.judgement.findings,
        })
    }

    fn tell_findings(&self, stdout: &mut dyn Write) -> std::io::Result<()> {
        for finding in &self.judgement.findings {
            let severity = match finding.severity {
                Severity::Warning => "warning",
                Severity::Error => "error",
            };
            let place = format!("{}:{}:{}", self.path, finding.line, finding.column);
            writeln!(
                stdout,
                "{place}: {severity} {} {}: {}",
                finding.code,
                finding.code.name(),
                finding.message
            )?;
            writeln!(stdout, "    {}", finding.hint)?;
        }
        Ok(())
    }

    fn tell_summary(&self, stdout: &mut dyn Write) -> std::io::Result<()> {
        let declared = self
            .loaded
            .ledger
            .disposition
            .as_ref()
            .map_or("nothing", |word| word.as_str());
        let Judgement {
            effective,
            risk,
            findings,
            ..
        } = &self.judgement;
        writeln!(
            stdout,
            "{}: effective {effective} (declared {declared}), risk {risk}, {} findings",
            self.path,
            findings.len()
        )
    }

    fn tell_status(&self, stdout: &mut dyn Write) -> std::io::Result<()> {
        let ledger = &self.loaded.ledger;
        let id = ledger
            .change_id
            .as_ref()
            .map_or("(no change id)", |id| id.text.as_str());
        let phase = ledger
            .phase
            .as_ref()
            .map_or("not stated", |word| word.as_str());
        let declared = ledger
            .disposition
            .as_ref()
            .map_or("not stated", |word| word.as_str());
        writeln!(stdout, "{id}  ({})", self.path)?;
        writeln!(stdout, "  phase       {phase}")?;
        writeln!(stdout, "  declared    {declared}")?;
        writeln!(stdout, "  effective   {}", self.judgement.effective)?;
        writeln!(stdout, "  if it ended {}", self.judgement.conclusion)?;
        writeln!(stdout, "  risk        {}", self.judgement.risk)?;
        for verification in &self.judgement.mandatory_verifications {
            writeln!(stdout, "  must hold   {verification}")?;
        }
        for path in &self.judgement.outside_scope {
            writeln!(stdout, "  outside     {path}")?;
        }
        writeln!(stdout, "  findings    {}", self.judgement.findings.len())
    }
}

pub(super) fn lint(args: &LintArgs, root: &Path, io: &mut Io<'_>) -> Result<Exit, Unusable> {
    let run = Run::of(&args.files, &args.known, root)?;
    if args.json {
        writeln!(io.out, "{:#}", run.to_json())?;
    } else if args.sarif {
        let files: Vec<_> = run
            .judged
            .iter()
            .map(|one| (one.path.as_str(), one.judgement.findings.as_slice()))
            .collect();
        writeln!(
            io.out,
            "{:#}",
            sarif::log(&files, &args.docs_url, env!("CARGO_PKG_VERSION"))
        )?;
    } else {
        for one in &run.judged {
            one.tell_findings(io.out)?;
            one.tell_summary(io.out)?;
        }
    }
    run.tell_unusable(io.err)?;
    Ok(run.exit())
}

pub(super) fn status(args: &StatusArgs, root: &Path, io: &mut Io<'_>) -> Result<Exit, Unusable> {
    let run = Run::of(&args.files, &args.known, root)?;
    if args.json {
        writeln!(io.out, "{:#}", run.to_json())?;
    } else {
        if run.judged.is_empty() && run.unusable.is_empty() {
            writeln!(io.out, "no active ledger")?;
        }
        for one in &run.judged {
            one.tell_status(io.out)?;
        }
    }
    run.tell_unusable(io.err)?;
    Ok(run.exit())
}
