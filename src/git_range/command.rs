//! Running `git`: a cleaned environment, no prompt, no network, bounded output.

use super::{GitError, MAX_OUTPUT};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

/// `git` in one repository.
pub(super) struct Git<'a> {
    directory: &'a Path,
}

impl<'a> Git<'a> {
    pub fn new(directory: &'a Path) -> Self {
        Self { directory }
    }

    /// The output as text; bytes that are not UTF-8 are replaced.
    pub fn text(&self, arguments: &[&str]) -> Result<String, GitError> {
        let output = self.bytes(arguments, None)?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    /// The whole output, or an error; a failed command is never an empty output.
    pub fn bytes(&self, arguments: &[&str], input: Option<&[u8]>) -> Result<Vec<u8>, GitError> {
        let name = arguments.first().copied().unwrap_or_default();
        let stdin = if input.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        };
        let mut child = self
            .command(arguments)
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(GitError::Run)?;
        let (Some(mut stdout), Some(mut stderr)) = (child.stdout.take(), child.stderr.take())
        else {
            return Err(GitError::Unreadable("start"));
        };
        let child_input = child.stdin.take();
        let limit = u64::try_from(MAX_OUTPUT).unwrap_or(u64::MAX);
        // All three pipes are served at once: one that fills up would hold the others.
        let (output, complaint) = thread::scope(|scope| {
            scope.spawn(move || {
                if let (Some(mut pipe), Some(input)) = (child_input, input) {
                    // A command that ends early breaks the pipe; its exit status tells why.
                    let _ = pipe.write_all(input);
                }
            });
            let complaint = scope.spawn(move || {
                let mut text = Vec::new();
                let _ = stderr.by_ref().take(64 * 1024).read_to_end(&mut text);
                let _ = std::io::copy(&mut stderr, &mut std::io::sink());
                text
            });
            let mut output = Vec::new();
            let read = stdout.by_ref().take(limit + 1).read_to_end(&mut output);
            // Closing our end stops a command that has more to say.
            drop(stdout);
            (read.map(|_| output), complaint.join().unwrap_or_default())
        });
        let status = child.wait().map_err(GitError::Run)?;
        let output = output.map_err(GitError::Run)?;
        if output.len() > MAX_OUTPUT {
            return Err(GitError::TooLarge(name.to_owned()));
        }
        if !status.success() {
            let complaint = String::from_utf8_lossy(&complaint);
            let message = complaint.lines().next().unwrap_or_default();
            return Err(GitError::Failed {
                command: name.to_owned(),
                message: message.trim_start_matches("fatal: ").to_owned(),
            });
        }
        Ok(output)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GIT_") {
                command.env_remove(name);
            }
        }
        command
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .arg("--no-pager")
            .arg("-C")
            .arg(self.directory)
            .args(["-c", "core.fsmonitor=false"])
            .args(["-c", "diff.suppressBlankEmpty=false"])
            .args(["-c", "core.hooksPath=/dev/null"])
            .args(arguments);
        command
    }
}
