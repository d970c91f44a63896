//! Bytes in and out: a small HTTP/1.1 server that can also cut a connection, and a client for webhooks.

use super::{Fate, Incoming, Outgoing, answer};
use crate::{Shared, webhooks::WebhookRequest};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Request, Response,
    body::{Body, Frame, Incoming as Stream, SizeHint},
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use tokio::net::{TcpListener, TcpStream};

const MAX_BODY: usize = 25 * 1024 * 1024;
/// GitHub waits ten seconds for a webhook's answer.
const WEBHOOK_PATIENCE: Duration = Duration::from_secs(10);

/// Serves until the task is dropped.
pub(crate) async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            // Answers are small and many: waiting to fill a packet would cost 40 ms each.
            let _ = stream.set_nodelay(true);
            let service = service_fn(|request| respond(Arc::clone(&shared), request));
            // An error here is a connection that one side closed, often on purpose.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn respond(
    shared: Arc<Shared>,
    request: Request<Stream>,
) -> Result<Response<Sent>, io::Error> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, MAX_BODY)
        .collect()
        .await
        .map_err(|_| closed())?
        .to_bytes()
        .to_vec();
    let text =
        |value: &hyper::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let raw_query = head.uri.query().unwrap_or_default().to_owned();
    let path = head.uri.path();
    // Enterprise Server answers below this prefix; here both work.
    let path = path
        .strip_prefix("/api/v3")
        .filter(|rest| rest.starts_with('/'))
        .unwrap_or(path);
    let incoming = Incoming {
        method: head.method.as_str().to_owned(),
        path: path.to_owned(),
        query: pairs(&raw_query),
        raw_query,
        headers: head
            .headers
            .iter()
            .map(|(name, value)| (name.as_str().to_owned(), text(value)))
            .collect(),
        body,
    };
    match answer(&shared, &incoming) {
        Fate::Send(out) => whole(out),
        Fate::SendLate(out, long) => {
            tokio::time::sleep(long).await;
            whole(out)
        }
        Fate::Cut(out) => cut(out),
        Fate::Drop => Err(closed()),
        Fate::Hang(long) => {
            tokio::time::sleep(long).await;
            Err(closed())
        }
    }
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, "closed on purpose")
}

pub(super) fn pairs(query: &str) -> Vec<(String, String)> {
    let decode = |text: &str| {
        percent_encoding::percent_decode_str(&text.replace('+', " "))
            .decode_utf8_lossy()
            .into_owned()
    };
    let parts = query.split('&').filter(|part| !part.is_empty());
    parts
        .map(|part| part.split_once('=').unwrap_or((part, "")))
        .map(|(name, value)| (decode(name), decode(value)))
        .collect()
}

fn head(out: &Outgoing) -> hyper::http::response::Builder {
    let start = Response::builder().status(out.status);
    out.headers
        .iter()
        .fold(start, |builder, (name, value)| builder.header(name, value))
}

fn whole(out: Outgoing) -> Result<Response<Sent>, io::Error> {
    let builder = head(&out);
    builder
        .body(Sent {
            rest: Some(out.body.into()),
            then_fail: false,
        })
        .map_err(io::Error::other)
}

fn cut(mut out: Outgoing) -> Result<Response<Sent>, io::Error> {
    let builder = head(&out).header("content-length", out.body.len());
    out.body.truncate(out.body.len() / 2);
    builder
        .body(Sent {
            rest: Some(out.body.into()),
            then_fail: true,
        })
        .map_err(io::Error::other)
}

/// A body in one piece that may end in a broken connection.
struct Sent {
    rest: Option<Bytes>,
    then_fail: bool,
}

impl Body for Sent {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        Poll::Ready(match self.rest.take() {
            Some(bytes) => Some(Ok(Frame::data(bytes))),
            None => self.then_fail.then(|| Err(closed())),
        })
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_none() && !self.then_fail
    }

    fn size_hint(&self) -> SizeHint {
        match &self.rest {
            Some(bytes) if !self.then_fail => SizeHint::with_exact(bytes.len() as u64),
            _ => SizeHint::default(),
        }
    }
}

/// Posts a webhook; answers the status, 0 when there was no answer in time.
pub(crate) async fn post(url: &str, webhook: &WebhookRequest) -> u16 {
    tokio::time::timeout(WEBHOOK_PATIENCE, post_now(url, webhook))
        .await
        .ok()
        .flatten()
        .unwrap_or(0)
}

async fn post_now(url: &str, webhook: &WebhookRequest) -> Option<u16> {
    let rest = url.strip_prefix("http://")?;
    let (host, path) = rest
        .find('/')
        .and_then(|at| rest.split_at_checked(at))
        .unwrap_or((rest, "/"));
    let stream = TcpStream::connect(host).await.ok()?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .ok()?;
    let driving = tokio::spawn(connection);
    let start = Request::builder()
        .method("POST")
        .uri(path)
        .header("host", host);
    let start = webhook
        .headers
        .iter()
        .fold(start, |builder, (name, value)| builder.header(name, value));
    let request = start
        .body(Full::new(Bytes::from(webhook.body.clone())))
        .ok()?;
    let response = sender.send_request(request).await.ok()?;
    let status = response.status().as_u16();
    let _ = response.into_body().collect().await;
    driving.abort();
    Some(status)
}
