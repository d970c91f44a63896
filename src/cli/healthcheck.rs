//! `quadgate healthcheck`: asks the running server whether it is well, for containers without a shell.

use super::input::{ConfigArgument, load};
use super::terminal::plain;
use super::{Exit, Io, runtime};
use clap::Args;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A server that is well answers at once.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest answer that is read.
const MOST: u64 = 16 * 1024;

/// Arguments of `healthcheck`.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 it is well, 1 it is not, 2 unusable.")]
pub(super) struct Arguments {
    #[command(flatten)]
    config: ConfigArgument,

    /// Also whether it can work: the store answers and GitHub takes the App's key (`/readyz`)
    #[arg(long)]
    ready: bool,
}

pub(super) fn run(arguments: &Arguments, io: &mut Io<'_>) -> Exit {
    let Some(loaded) = load(&arguments.config.directory_or_default(), io) else {
        return Exit::Unusable;
    };
    let server = &loaded.server;
    let (address, path) = match (arguments.ready, server.admin_listen) {
        (false, _) => (server.listen, "/healthz"),
        (true, Some(admin)) => (admin, "/readyz"),
        (true, None) => {
            io.say("quadgate: `/readyz` is served at `admin_listen`, which is off");
            return Exit::Unusable;
        }
    };
    let asked = runtime().map(|runtime| runtime.block_on(ask(reachable(address), path)));
    match asked {
        Ok(Ok(())) => Exit::Ok,
        Ok(Err(why)) => {
            io.say(format!("quadgate: {}", plain(&why)));
            Exit::Findings
        }
        Err(problem) => {
            io.say(format!("quadgate: {}", plain(&problem)));
            Exit::Unusable
        }
    }
}

/// Where a server that listens everywhere is found from here.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip @ (IpAddr::V4(_) | IpAddr::V6(_)) => ip,
    };
    SocketAddr::new(ip, address.port())
}

async fn ask(address: SocketAddr, path: &str) -> Result<(), String> {
    let exchange = async {
        let mut stream = TcpStream::connect(address).await?;
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.take(MOST).read_to_end(&mut answer).await?;
        Ok::<_, std::io::Error>(String::from_utf8_lossy(&answer).into_owned())
    };
    let answer = tokio::time::timeout(PATIENCE, exchange)
        .await
        .map_err(|_| {
            format!(
                "`http://{address}{path}` does not answer within {} s",
                PATIENCE.as_secs()
            )
        })?
        .map_err(|error| format!("`http://{address}{path}` does not answer: {error}"))?;
    let status = answer.split(' ').nth(1).unwrap_or_default();
    if status == "200" {
        return Ok(());
    }
    let body = answer
        .split_once("\r\n\r\n")
        .map_or("", |(_, body)| body.trim());
    Err(format!("`http://{address}{path}` answers {status}: {body}"))
}
