//! A browser as far as a form goes, and the real program in a folder of its own with an empty environment.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStderr, Command};

/// A step takes milliseconds; a machine under load gets this long.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// What a browser got.
pub struct Page {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Page {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The value of an attribute of the first tag that has this text in it.
    pub fn attribute(&self, of: &str, name: &str) -> String {
        let at = self
            .body
            .find(of)
            .unwrap_or_else(|| panic!("no {of} in {}", self.body));
        let start = self.body[..at].rfind('<').expect("a tag");
        let tag = self.body[start..].split('>').next().expect("an end");
        let value = tag.split(&format!("{name}=\"")).nth(1).expect(name);
        let value = value.split('"').next().expect("a quote");
        value
            .replace("&quot;", "\"")
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&amp;", "&")
    }
}

/// Asks for a page.
pub async fn get(url: &str) -> Page {
    ask("GET", url, None, "").await
}

/// Sends a form.
pub async fn post(url: &str, form: &[(&str, &str)]) -> Page {
    let encode = |text: &str| {
        percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
    };
    let pairs: Vec<String> = form
        .iter()
        .map(|(name, value)| format!("{}={}", encode(name), encode(value)))
        .collect();
    ask("POST", url, None, &pairs.join("&")).await
}

/// Asks under another host's name.
pub async fn get_as(url: &str, host: &str) -> Page {
    ask("GET", url, Some(host), "").await
}

async fn ask(method: &str, url: &str, host: Option<&str>, body: &str) -> Page {
    let rest = url.strip_prefix("http://").expect("an http address");
    let (address, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.unwrap_or(address);
    let exchange = async {
        let mut stream = TcpStream::connect(address).await.expect("listens");
        let request = format!(
            "{method} /{path} HTTP/1.1\r\nhost: {host}\r\nuser-agent: visitor\r\nconnection: close\r\n\
             content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.expect("an answer");
        String::from_utf8(answer).expect("UTF-8")
    };
    let answer = tokio::time::timeout(DEADLINE, exchange)
        .await
        .unwrap_or_else(|_| panic!("{method} {url} is not answered"));
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok());
    Page {
        status: status.expect("a status"),
        head: head.to_owned(),
        body: body.to_owned(),
    }
}

/// What a run of the program left.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ended {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("{error}: {}{}", self.out, self.err))
    }
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quadgate"));
    command
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("USER", "op")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// Runs the program to its end, while what runs in this test goes on.
pub async fn quadgate(folder: &Path, arguments: &[&str]) -> Ended {
    let output = command(folder, arguments).output();
    let output = tokio::time::timeout(DEADLINE, output)
        .await
        .unwrap_or_else(|_| panic!("{arguments:?} does not end"))
        .expect("starts");
    Ended {
        code: output.status.code().expect("exits"),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// The program while it runs.
pub struct Running {
    child: Child,
    said: Lines<BufReader<ChildStderr>>,
    err: String,
}

impl Running {
    /// Starts the program.
    pub fn start(folder: &Path, arguments: &[&str]) -> Self {
        let mut child = command(folder, arguments).spawn().expect("starts");
        let said = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        Self {
            child,
            said,
            err: String::new(),
        }
    }

    /// The first line of standard error with these words.
    pub async fn line(&mut self, words: &str) -> String {
        let looking = async {
            while let Some(line) = self.said.next_line().await.expect("UTF-8") {
                self.err.push_str(&line);
                self.err.push('\n');
                if line.contains(words) {
                    return Some(line);
                }
            }
            None
        };
        let found = tokio::time::timeout(DEADLINE, looking).await;
        match found {
            Ok(Some(line)) => line,
            Ok(None) | Err(_) => panic!("it does not say `{words}`:\n{}", self.err),
        }
    }

    /// Asks it to end.
    pub async fn terminate(&self) {
        let id = self.child.id().expect("it runs").to_string();
        let kill = Command::new("kill").args(["-TERM", &id]).status().await;
        assert!(kill.expect("kill runs").success());
    }

    /// Waits for its end.
    pub async fn ended(mut self) -> Ended {
        let ending = async {
            let mut out = String::new();
            let mut stdout = self.child.stdout.take().expect("a pipe");
            let (read, ()) = tokio::join!(stdout.read_to_string(&mut out), async {
                while let Ok(Some(line)) = self.said.next_line().await {
                    self.err.push_str(&line);
                    self.err.push('\n');
                }
            });
            read.expect("UTF-8");
            let status = self.child.wait().await.expect("ends");
            Ended {
                code: status.code().expect("exits"),
                out,
                err: std::mem::take(&mut self.err),
            }
        };
        tokio::time::timeout(DEADLINE, ending)
            .await
            .expect("it ends")
    }
}
