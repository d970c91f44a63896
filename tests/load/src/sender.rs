//! GitHub's side of a delivery: signed, on a connection that is kept, with the answer's status and time.

use crate::payload::Delivery;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Where deliveries go.
#[derive(Clone)]
pub struct Target {
    pub address: String,
    pub path: String,
}

impl Target {
    /// # Errors
    /// Anything but a plain address on this machine.
    pub fn of(url: &str) -> Result<Self, String> {
        let rest = url
            .strip_prefix("http://")
            .ok_or("`--url` must begin with `http://`")?;
        let (address, path) = rest.split_once('/').unwrap_or((rest, ""));
        if !address.starts_with("127.") {
            return Err("`--url` must be on 127.0.0.1: this is no tool against others".to_owned());
        }
        Ok(Self {
            address: address.to_owned(),
            path: format!("/{path}"),
        })
    }
}

/// What came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// 0: none.
    pub status: u16,
    /// Was a moment named at which to come again?
    pub retry_after: bool,
}

/// One connection, made anew when it is closed.
pub struct Sender {
    target: Target,
    connection: Option<SendRequest<Full<Bytes>>>,
}

impl Sender {
    pub fn new(target: Target) -> Self {
        Self {
            target,
            connection: None,
        }
    }

    pub async fn send(&mut self, delivery: &Delivery) -> Answer {
        // Once more on a new connection when the old one was closed meanwhile.
        for _ in 0..2 {
            if let Some(answer) = self.once(delivery).await {
                return answer;
            }
            self.connection = None;
        }
        Answer {
            status: 0,
            retry_after: false,
        }
    }

    async fn once(&mut self, delivery: &Delivery) -> Option<Answer> {
        if self.connection.as_ref().is_none_or(SendRequest::is_closed) {
            self.connection = Some(connect(&self.target.address).await?);
        }
        let connection = self.connection.as_mut()?;
        connection.ready().await.ok()?;
        let request = Request::post(&self.target.path)
            .header("host", &self.target.address)
            .header("content-type", "application/json")
            .header("user-agent", "GitHub-Hookshot/load")
            .header("x-github-event", "pull_request")
            .header("x-github-delivery", &delivery.id)
            .header("x-hub-signature-256", &delivery.signature)
            .body(Full::new(delivery.body.clone()))
            .ok()?;
        let response = connection.send_request(request).await.ok()?;
        let answer = Answer {
            status: response.status().as_u16(),
            retry_after: response.headers().contains_key("retry-after"),
        };
        if response.into_body().collect().await.is_err() {
            self.connection = None;
        }
        Some(answer)
    }
}

async fn connect(address: &str) -> Option<SendRequest<Full<Bytes>>> {
    let stream = TcpStream::connect(address).await.ok()?;
    stream.set_nodelay(true).ok()?;
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .ok()?;
    tokio::spawn(async move {
        let _ = connection.await;
    });
    Some(sender)
}
