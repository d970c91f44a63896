//! How fast a log of a million entries is checked and searched, and in how much memory: each command runs in a process of
//! its own, which tells its peak (`VmHWM`). The log is written by the documented format, not by the program's own writer.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it tells a person"
)]

use clap::Parser;
use quadgate::audit::{ACTIVE_FILE, GENESIS};
use quadgate::cli::Io;
use quadgate::cli::audit::{AuditArgs, run};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

type Anything<T> = Result<T, Box<dyn std::error::Error>>;

/// Names the command that a child process runs; its words follow as arguments.
const CHILD: &str = "QUADGATE_BENCH_AUDIT";
/// A file of the log begins anew at this size, as by default.
const FILE_BYTES: usize = 64 * 1024 * 1024;
const REPOS: u64 = 100;

#[derive(Parser)]
struct Words {
    #[command(flatten)]
    audit: AuditArgs,
}

fn main() -> Anything<ExitCode> {
    if std::env::var_os(CHILD).is_some() {
        return child();
    }
    // Without `--bench` (as a test) a small log shows that it works.
    let real = std::env::args().any(|word| word == "--bench");
    let sizes = if real {
        [100_000, 1_000_000]
    } else {
        [200, 400]
    };
    println!(
        "{:>9}  {:42} {:>8} {:>13} {:>10}",
        "entries", "audit …", "seconds", "entries/s", "peak MiB"
    );
    for entries in sizes {
        let dir = tempfile::tempdir()?;
        let started = Instant::now();
        let bytes = write(dir.path(), entries)?;
        let mib = bytes / (1024 * 1024);
        let took = started.elapsed().as_secs_f64();
        println!("{entries:>9}  (written: {mib} MiB in {took:.1} s)");
        for words in [
            "verify",
            "query --format json",
            "query --format csv --kind classification",
            "query --repo octo-org/widgets-42 --quadrant D",
            "query --text lifeboat",
            "query --newest-first --limit 20",
            "why octo-org/widgets-42#47",
        ] {
            measure(words, dir.path(), entries)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs one command over the log in a child process and prints its figures.
fn measure(words: &str, log: &Path, entries: u64) -> Anything<()> {
    let mut child = Command::new(std::env::current_exe()?);
    child.env(CHILD, "1").args(words.split(' '));
    if words != "verify" {
        child.arg("--log");
    }
    let output = child.arg(log).output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("`audit {words}` failed: {said}").into());
    }
    let told = String::from_utf8(output.stdout)?;
    let (seconds, kib) = told.trim().split_once(' ').ok_or("no figures")?;
    let (seconds, kib): (f64, f64) = (seconds.parse()?, kib.parse()?);
    #[allow(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = entries as f64 / seconds;
    println!(
        "{entries:>9}  {words:42} {seconds:>8.2} {rate:>13.0} {:>10.1}",
        kib / 1024.0
    );
    Ok(())
}

/// Runs the command, its output counted and thrown away; prints seconds and the peak in KiB.
fn child() -> Anything<ExitCode> {
    let words = Words::try_parse_from(std::env::args())?;
    let started = Instant::now();
    let exit = run(
        &words.audit,
        &mut Io {
            out: &mut io::sink(),
            err: &mut io::stderr(),
            colour: false,
            progress: false,
        },
    );
    let seconds = started.elapsed().as_secs_f64();
    println!("{seconds} {}", peak()?);
    Ok(exit.into())
}

/// The most memory this process ever held, in KiB.
fn peak() -> Anything<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let line = line.ok_or("no VmHWM in /proc/self/status")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}

/// Writes a log of so many entries; how many bytes.
fn write(dir: &Path, entries: u64) -> Anything<usize> {
    let path = |number: u32| -> PathBuf { dir.join(format!("classifier_audit.{number:06}.jsonl")) };
    let (mut number, mut total, mut size) = (1, 0, 0);
    let mut file = BufWriter::new(File::create(path(number))?);
    let mut prev = GENESIS.to_owned();
    for seq in 1..=entries {
        let body = entry(seq, &prev);
        prev = format!(
            "sha256:{}",
            hex::encode(Sha256::digest(format!("{body}}}")))
        );
        let line = format!("{body},\"hash\":\"{prev}\"}}\n");
        if size + line.len() > FILE_BYTES {
            file.flush()?;
            number += 1;
            size = 0;
            file = BufWriter::new(File::create(path(number))?);
        }
        file.write_all(line.as_bytes())?;
        size += line.len();
        total += line.len();
    }
    file.flush()?;
    fs::rename(path(number), dir.join(ACTIVE_FILE))?;
    Ok(total)
}

/// An entry up to its hash: two verdicts, then the words of an owner.
fn entry(seq: u64, prev: &str) -> String {
    let digest = hex::encode(Sha256::digest(seq.to_be_bytes()));
    let head = digest.get(..40).unwrap_or_default();
    let (day, hour, minute) = (1 + seq / 50_000 % 28, seq / 2_000 % 24, seq / 30 % 60);
    let repo = seq % REPOS;
    let pull = seq / 3;
    let quadrant = ["A", "B", "C", "D"]
        .get((seq / REPOS % 4) as usize)
        .unwrap_or(&"D");
    let start = format!(
        "{{\"seq\":{seq},\"ts\":\"2026-05-{day:02}T{hour:02}:{minute:02}:00Z\",\"kind\":\"{}\",\"pr\":\"octo-org/widgets-{repo}#{pull}\",\"head_sha\":\"{head}\"",
        if seq.is_multiple_of(3) {
            "owner_answer"
        } else {
            "classification"
        }
    );
    let said = if seq.is_multiple_of(3) {
        format!(
            ",\"answer\":\"approve_a\",\"actor\":\"octo-owner\",\"actor_id\":1001,\"signal\":\"comment/{seq}\",\"answered_at\":\"2026-05-25T12:34:56Z\",\"nonce\":\"{head}\",\"quadrant\":\"D\""
        )
    } else {
        let word = if seq % 10_007 == 1 { " lifeboat" } else { "" };
        format!(
            ",\"rules_fired\":[{{\"rule\":\"path_classifier_default\",\"ir\":\"reversible\",\"cr\":\"critical\",\"quadrant\":\"{quadrant}\"}},{{\"rule\":\"published_verdict\",\"match\":false}},{{\"rule\":\"bot_self_repo\",\"match\":false}},{{\"rule\":\"empty_pr\",\"match\":false}},{{\"rule\":\"auto_revert_marker\",\"match\":false}},{{\"rule\":\"agent_session_invalid\",\"match\":false}},{{\"rule\":\"classifier_publisher_invalid\",\"match\":false}},{{\"rule\":\"facts_incomplete\",\"match\":false}}],\"quadrant\":\"{quadrant}\",\"reasoning\":\"src/module_{seq}.rs modified (critical){word}\",\"base_ref\":\"main\",\"author\":\"octocat\""
        )
    };
    format!(
        "{start}{said},\"policy\":\"sha256:{digest}\",\"delivery\":\"{head}\",\"version\":\"0.1.0\",\"decision\":\"d-{digest}\",\"repo_id\":{repo},\"prev\":\"{prev}\""
    )
}
