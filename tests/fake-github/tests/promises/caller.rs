//! A small client: one connection a request, JSON in and out, and the App's JWTs.

use bytes::Bytes;
use chrono::Utc;
use fake_github::{Config, FakeGitHub, TEST_KEY_PEM};
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper_util::rt::TokioIo;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};
use std::collections::HashMap;

pub const REPO: &str = "octo-org/widgets";

/// What came back.
#[derive(Debug)]
pub struct Got {
    pub status: u16,
    pub headers: HashMap<String, String>,
    pub text: String,
    pub json: Value,
}

pub struct Client {
    base: String,
    pub auth: Option<String>,
    pub headers: Vec<(String, String)>,
}

impl Client {
    pub fn new(github: &FakeGitHub, auth: Option<&str>) -> Self {
        let headers = vec![("user-agent".to_owned(), "tests".to_owned())];
        Self {
            base: github.url(),
            auth: auth.map(|word| format!("Bearer {word}")),
            headers,
        }
    }

    /// `Err` when the connection ended before the answer did.
    pub async fn try_send(
        &self,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> Result<Got, String> {
        let host = self.base.trim_start_matches("http://");
        let stream = tokio::net::TcpStream::connect(host)
            .await
            .expect("the stand-in listens");
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .expect("a connection");
        tokio::spawn(connection);
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", host);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if let Some(auth) = &self.auth {
            request = request.header("authorization", auth);
        }
        let bytes = body.map_or_else(Bytes::new, |body| body.to_string().into());
        let answer = sender
            .send_request(request.body(Full::new(bytes)).expect("a request"))
            .await
            .map_err(|e| e.to_string())?;
        let (head, body) = answer.into_parts();
        let text = body.collect().await.map_err(|e| e.to_string())?.to_bytes();
        let text = String::from_utf8_lossy(&text).into_owned();
        Ok(Got {
            status: head.status.as_u16(),
            headers: head
                .headers
                .iter()
                .map(|(k, v)| (k.to_string(), v.to_str().unwrap_or("").to_owned()))
                .collect(),
            json: serde_json::from_str(&text).unwrap_or(Value::Null),
            text,
        })
    }

    pub async fn send(&self, method: &str, path: &str, body: Value) -> Got {
        self.try_send(method, path, Some(body))
            .await
            .expect("an answer")
    }

    pub async fn get(&self, path: &str) -> Got {
        self.try_send("GET", path, None).await.expect("an answer")
    }
}

/// A JWT with times relative to now.
pub fn jwt(iss: &str, iat: i64, exp: i64) -> String {
    let now = Utc::now().timestamp();
    let claims = json!({"iss": iss, "iat": now + iat, "exp": now + exp});
    let key = EncodingKey::from_rsa_pem(TEST_KEY_PEM.as_bytes()).expect("the test key");
    jsonwebtoken::encode(&Header::new(Algorithm::RS256), &claims, &key).expect("a JWT")
}

pub fn good_jwt() -> String {
    jwt("12345", -60, 540)
}

/// A stand-in with one repository, and a client with a token for it.
pub async fn ready() -> (FakeGitHub, Client) {
    ready_with(Config::default()).await
}

pub async fn ready_with(config: Config) -> (FakeGitHub, Client) {
    let github = FakeGitHub::start(config).await.expect("it starts");
    github.add_repo(REPO);
    let installation = github.installation_of(REPO);
    let app = Client::new(&github, Some(&good_jwt()));
    let got = app
        .send(
            "POST",
            &format!("/app/installations/{installation}/access_tokens"),
            json!({}),
        )
        .await;
    assert_eq!(got.status, 201, "{}", got.text);
    let client = Client::new(&github, got.json["token"].as_str());
    (github, client)
}
