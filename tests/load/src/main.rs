//! Load for a webhook server, and the GitHub it asks: sender and stand-in in one process, so that the moment a webhook
//! is due and the moment its check-run arrives are read from one clock.
//!
//! `load --help` says how it is called; `scripts/bench` calls it. Loopback only. A run ends by itself: every wait is
//! bounded. Nothing here knows the program that it measures.
#![allow(clippy::print_stdout, clippy::print_stderr)] // figures are what this program is for

mod arguments;
mod github;
mod limits;
mod payload;
mod process;
mod report;
mod run;
mod sender;
mod table;

use arguments::Arguments;
use std::process::ExitCode;

const HELP: &str = "\
load run --url URL --pid PID --payload FILE [options]   one run; prints one line of JSON
  --label TEXT       name of the run in the table
  --peer TEXT        whose run it is                           [quadgate]
  --secret TEXT      the webhook secret                        [s3cret]
  --api ADDRESS      where the stand-in GitHub listens         [127.0.0.1:4501]
  --n N              deliveries                                [2000]
  --warm N           deliveries before them, not counted       [200]
  --connections N    connections; in a closed loop, in flight  [16]
  --rate R           open loop: deliveries a second; latency counts from the planned moment
  --first N          number of the first pull request          [1]
  --wait S           longest wait for what is still to come    [60]
load limits --dir DIRECTORY --payload FILE              what the disk and HMAC allow; prints one line of JSON
load serve --api ADDRESS                                the stand-in alone, until it is killed
load table --svg FILE FILE...                           lines of JSON to Markdown, and to a picture";

fn main() -> ExitCode {
    let arguments = Arguments::of_process();
    let command = arguments.command().unwrap_or("--help");
    let done = match command {
        "run" => run::run(&arguments),
        "limits" => limits::run(&arguments),
        "serve" => run::serve(&arguments),
        "table" => table::run(&arguments),
        _ => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("load: {problem}");
            ExitCode::FAILURE
        }
    }
}
