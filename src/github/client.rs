//! One call: identity, timeouts, one new token after a 401, redirects on the same host, the report to the observer.
//!
//! octocrab is the transport: requests go through [`Octocrab::execute`] with a token of ours, since its own
//! installation clients mint one token a waiting request, and its helpers drop headers and parse into models that
//! refuse unknown words. INVARIANT: targets are relative, so the token reaches the configured host alone; only
//! reads are repeated.

use super::auth::{AppKey, Minted, TokenSlot, usable_for};
use super::call::{Call, Reply, Who, read_json, talk};
use super::config::{ClientConfig, ClientError, ReadRetry, Timeouts, base_uri};
use super::error::{self, ApiError};
use super::etag::Kept;
use super::observer::{CallOutcome, Observer, RateLeft};
use super::path::ApiPath;
use super::{transport, wire};
use crate::domain::{AppId, InstallationId, Timestamp};
use http::header::{ACCEPT, CONTENT_TYPE, IF_NONE_MATCH, LOCATION, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri};
use octocrab::{OctoBody, Octocrab};
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::{OnceCell, Semaphore};

/// The version of the REST API that we read.
pub(super) const API_VERSION: &str = "2022-11-28";
/// Requests in flight at once; GitHub counts more than a hundred as abuse.
const IN_FLIGHT: usize = 20;
const REDIRECTS: usize = 3;

/// The client. Cheap to clone; one for the whole program.
#[derive(Clone)]
pub struct GitHub {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    http: Octocrab,
    pub(super) base: Uri,
    key: AppKey,
    pub(super) app_id: AppId,
    user_agent: HeaderValue,
    timeouts: Timeouts,
    retry: ReadRetry,
    observer: Arc<dyn Observer>,
    permits: Semaphore,
    pub(super) kept: Kept,
    /// GitHub's clock minus ours in seconds; zero unless GitHub refused our App token for its times.
    clock_offset: AtomicI64,
    /// Our clock minus GitHub's in seconds, as the last answer showed it.
    clock_skew: Mutex<Option<i64>>,
    installations: Mutex<HashMap<InstallationId, Arc<Installation>>>,
    /// The App as GitHub shows it, once read.
    pub(super) app: OnceCell<super::AppView>,
    /// Labels known to exist, by repository id and lower-case name.
    pub(super) labels: Mutex<HashSet<(u64, String)>>,
}

#[derive(Default)]
struct Installation {
    token: TokenSlot,
    rate: Mutex<Option<RateLeft>>,
}

impl GitHub {
    /// Makes the client. Nothing is sent yet. Must be called inside a tokio runtime, where the connections live.
    ///
    /// # Errors
    /// The address, the key or the machine's root certificates cannot be used; the text says which.
    pub fn new(config: ClientConfig) -> Result<Self, ClientError> {
        let base = base_uri(&config.base_url)?;
        let user_agent = HeaderValue::from_str(&config.user_agent)
            .ok()
            .filter(|value| !value.is_empty())
            .ok_or_else(|| ClientError::UserAgent(config.user_agent.clone()))?;
        let key = AppKey::new(config.app_id, &config.private_key)?;
        let http = transport::build(&base, config.timeouts, &config.proxy)?;
        Ok(Self {
            inner: Arc::new(Inner {
                http,
                base,
                key,
                app_id: config.app_id,
                user_agent,
                timeouts: config.timeouts,
                retry: config.retry,
                observer: config.observer,
                permits: Semaphore::new(IN_FLIGHT),
                kept: Kept::default(),
                clock_offset: AtomicI64::new(0),
                clock_skew: Mutex::default(),
                installations: Mutex::default(),
                app: OnceCell::new(),
                labels: Mutex::default(),
            }),
        })
    }

    /// What is left of an installation's core budget, as its last answer said.
    #[must_use]
    pub fn rate_left(&self, installation: InstallationId) -> Option<RateLeft> {
        *lock(&self.inner.installation(installation).rate)
    }

    /// Our clock minus GitHub's in seconds, as the last answer showed it; `None` before the first one.
    #[must_use]
    pub fn clock_skew(&self) -> Option<i64> {
        *lock(&self.inner.clock_skew)
    }

    /// Sends a call and reads its JSON.
    pub(super) async fn json<T: DeserializeOwned>(&self, call: Call) -> Result<T, ApiError> {
        let name = call.name;
        let reply = self.send(call).await?;
        read_json(name, &reply)
    }

    /// Sends a call; whatever is not a success is an error. Reads are repeated when the failure passes quickly.
    pub(super) async fn send(&self, call: Call) -> Result<Reply, ApiError> {
        let mut left = if call.method == Method::GET {
            self.inner.retry.times
        } else {
            0
        };
        let mut pause = self.inner.retry.pause;
        loop {
            // Boxed: several calls at once would make futures of many kilobytes.
            match Box::pin(self.inner.attempt(call.clone())).await {
                Err(error) if left > 0 && error.passes_quickly() => {
                    tracing::debug!(call = call.name, %error, "read is repeated");
                    left -= 1;
                    tokio::time::sleep(pause).await;
                    pause = pause.saturating_mul(2);
                }
                done => return done,
            }
        }
    }

    /// Sends one read with a person's token, once; whatever is not a success is an error.
    pub(super) async fn as_person(
        &self,
        token: &SecretString,
        call: &Call,
    ) -> Result<Reply, ApiError> {
        let client = self.inner.carrying(call.name, token.clone())?;
        let reply = Box::pin(self.inner.exchange_once(&client, call, None)).await?;
        if reply.status.is_success() {
            Ok(reply)
        } else {
            Err(call.gives_up_on(&reply, SystemTime::now()))
        }
    }

    /// The target of a page link, after its host has been checked: never another host than ours.
    pub(super) fn same_host(&self, link: &str) -> Result<ApiPath, String> {
        self.inner.same_host(link)
    }
}

impl Inner {
    fn installation(&self, id: InstallationId) -> Arc<Installation> {
        lock(&self.installations).entry(id).or_default().clone()
    }

    /// One try, with at most one new token and a few redirects.
    async fn attempt(&self, mut call: Call) -> Result<Reply, ApiError> {
        let mut redirects = 0;
        loop {
            let reply = self.authorised(&call).await?;
            if reply.status.is_success() {
                return Ok(reply);
            }
            if !is_redirect(reply.status) {
                return Err(call.gives_up_on(&reply, SystemTime::now()));
            }
            redirects += 1;
            if redirects > REDIRECTS {
                return Err(ApiError::unreadable(call.name, "too many redirects"));
            }
            // GitHub asks for the same method and body at the new place (a renamed repository); a redirected
            // request was not carried out.
            let location = reply
                .headers
                .get(LOCATION)
                .and_then(|value| value.to_str().ok())
                .ok_or_else(|| ApiError::unreadable(call.name, "a redirect without a target"))?;
            call.path = self
                .same_host(location)
                .map_err(|problem| ApiError::unreadable(call.name, problem))?;
        }
    }

    async fn authorised(&self, call: &Call) -> Result<Reply, ApiError> {
        match call.who {
            Who::App => self.as_app(call).await,
            Who::Person => Err(ApiError::unreadable(
                call.name,
                "a person's call without the person's token",
            )),
            Who::Installation(id) => {
                let installation = self.installation(id);
                let token = installation
                    .token
                    .get(None, |serial| self.mint(id, serial))
                    .await?;
                let reply = self.exchange(&token.client, call).await?;
                if reply.status != StatusCode::UNAUTHORIZED {
                    return Ok(reply);
                }
                // Revoked, or ended early: GitHub did nothing, so that even a write may go out again.
                let token = installation
                    .token
                    .get(Some(token.serial), |serial| self.mint(id, serial))
                    .await?;
                self.exchange(&token.client, call).await
            }
        }
    }

    async fn as_app(&self, call: &Call) -> Result<Reply, ApiError> {
        let offset = self.clock_offset.load(Ordering::Relaxed);
        let reply = self
            .exchange(&self.signed(call.name, offset)?, call)
            .await?;
        if reply.status != StatusCode::UNAUTHORIZED {
            return Ok(reply);
        }
        // Times outside GitHub's window are refused with a 401: sign by GitHub's own clock, once.
        let skew = error::clock_skew(&reply.headers, SystemTime::now())
            .filter(|skew| skew.unsigned_abs() > error::CLOCK_TOLERANCE.as_secs())
            .unwrap_or(0);
        let corrected = skew.saturating_neg();
        if corrected.abs_diff(offset) < error::CLOCK_TOLERANCE.as_secs() {
            return Ok(reply);
        }
        tracing::warn!(
            skew_seconds = skew,
            "this machine's clock differs from GitHub's"
        );
        self.clock_offset.store(corrected, Ordering::Relaxed);
        self.exchange(&self.signed(call.name, corrected)?, call)
            .await
    }

    fn signed(&self, name: &'static str, offset: i64) -> Result<Octocrab, ApiError> {
        let now = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .ok()
            .and_then(|since| i64::try_from(since.as_secs()).ok())
            .unwrap_or(0)
            .saturating_add(offset);
        let token = self
            .key
            .sign(now)
            .map_err(|_| ApiError::transient(name, "the App's token could not be signed"))?;
        self.carrying(name, token)
    }

    /// The shared connections with a token on every request.
    fn carrying(&self, name: &'static str, token: SecretString) -> Result<Octocrab, ApiError> {
        self.http
            .user_access_token(token)
            .map_err(|_| ApiError::unreadable(name, "the token cannot be sent"))
    }

    /// Buys an installation token.
    async fn mint(&self, id: InstallationId, serial: u64) -> Result<Minted, ApiError> {
        let path = ApiPath::root()
            .seg("app")
            .seg("installations")
            .seg(id)
            .seg("access_tokens");
        let call = Call::write(
            "POST installation token",
            Who::App,
            Method::POST,
            path,
            None,
        );
        let reply = self.as_app(&call).await?;
        if !reply.status.is_success() {
            return Err(call.gives_up_on(&reply, SystemTime::now()));
        }
        let token: wire::Token = read_json(call.name, &reply)?;
        let secret = token
            .token
            .filter(|token| !token.is_empty())
            .map(SecretString::from)
            .ok_or_else(|| ApiError::unreadable(call.name, "an answer without a token"))?;
        let server_now = error::server_time(&reply.headers).map(|at| at.saturating_mul(1000));
        let lifetime = token
            .expires_at
            .and_then(|at| at.parse::<Timestamp>().ok())
            .map_or(Duration::from_mins(30), |end| {
                let now = server_now.map_or_else(now, Timestamp::from_millis);
                end.since(now)
            });
        Ok(Minted {
            client: self.carrying(call.name, secret)?,
            serial,
            use_until: Instant::now() + usable_for(lifetime),
        })
    }

    /// An exchange that asks whether the answer that we keep still holds.
    async fn exchange(&self, client: &Octocrab, call: &Call) -> Result<Reply, ApiError> {
        let etag = self.kept.etag(call);
        let reply = self.exchange_once(client, call, etag.as_ref()).await?;
        let reply = self.kept.settle(call, etag.as_ref(), reply);
        // The kept answer was thrown away meanwhile.
        if reply.status == StatusCode::NOT_MODIFIED && etag.is_some() {
            return self.exchange_once(client, call, None).await;
        }
        Ok(reply)
    }

    /// One HTTP exchange within its time, reported to the observer.
    async fn exchange_once(
        &self,
        client: &Octocrab,
        call: &Call,
        etag: Option<&HeaderValue>,
    ) -> Result<Reply, ApiError> {
        let request = self.request(call, etag)?;
        let _permit = self
            .permits
            .acquire()
            .await
            .map_err(|_| ApiError::transient(call.name, "the client is shutting down"))?;
        let started = Instant::now();
        let result = tokio::time::timeout(self.timeouts.total, talk(client, request, call)).await;
        let (outcome, result) = match result {
            Err(_) => {
                let problem = format!(
                    "no whole answer within {} ms",
                    self.timeouts.total.as_millis()
                );
                (
                    CallOutcome::TimedOut,
                    Err(ApiError::transient(call.name, problem)),
                )
            }
            Ok(Err(broken)) => (broken.outcome(), Err(broken.error(call.name))),
            Ok(Ok(reply)) => (CallOutcome::Status(reply.status.as_u16()), Ok(reply)),
        };
        self.observer.call(call.name, outcome, started.elapsed());
        let reply = result?;
        if let Some(skew) = error::clock_skew(&reply.headers, SystemTime::now()) {
            *lock(&self.clock_skew) = Some(skew);
        }
        self.note_rate(call.who, &reply.headers);
        Ok(reply)
    }

    fn request(
        &self,
        call: &Call,
        etag: Option<&HeaderValue>,
    ) -> Result<Request<OctoBody>, ApiError> {
        let mut request = Request::builder()
            .method(call.method.clone())
            .uri(self.target(&call.path))
            .header(USER_AGENT, self.user_agent.clone())
            .header(ACCEPT, call.accept)
            .header("x-github-api-version", API_VERSION);
        if let Some(etag) = etag {
            request = request.header(IF_NONE_MATCH, etag.clone());
        }
        let body = match &call.body {
            None => OctoBody::empty(),
            Some(value) => {
                request = request.header(CONTENT_TYPE, "application/json");
                OctoBody::from(value.to_string())
            }
        };
        request
            .body(body)
            .map_err(|_| ApiError::unreadable(call.name, "the request cannot be built"))
    }

    /// The target below the host. GraphQL stands beside an Enterprise Server's REST API, not below it.
    fn target(&self, path: &ApiPath) -> String {
        let base = self.base.path().trim_end_matches('/');
        let path = path.as_str();
        if path == "/graphql" {
            let beside = base.strip_suffix("/v3").unwrap_or(base);
            return format!("{beside}{path}");
        }
        if path.starts_with(base) {
            // A link of GitHub's own.
            return path.to_owned();
        }
        format!("{base}{path}")
    }

    fn note_rate(&self, who: Who, headers: &HeaderMap) {
        let text = |name| {
            headers
                .get(name)
                .and_then(|value: &HeaderValue| value.to_str().ok())
        };
        let number = |name| text(name).and_then(|value| value.parse::<u64>().ok());
        let (Some(remaining), Some(reset)) =
            (number("x-ratelimit-remaining"), number("x-ratelimit-reset"))
        else {
            return;
        };
        let reset = i64::try_from(reset)
            .unwrap_or(i64::MAX)
            .saturating_mul(1000);
        let left = RateLeft {
            remaining,
            limit: number("x-ratelimit-limit"),
            reset: Timestamp::from_millis(reset),
        };
        let resource = text("x-ratelimit-resource").unwrap_or("core");
        let installation = match who {
            Who::App | Who::Person => None,
            Who::Installation(id) => Some(id),
        };
        if let Some(id) = installation
            && resource == "core"
        {
            *lock(&self.installation(id).rate) = Some(left);
        }
        self.observer.rate(installation, resource, left);
    }

    fn same_host(&self, link: &str) -> Result<ApiPath, String> {
        let uri: Uri = link
            .parse()
            .map_err(|_| "a link that is not an address".to_owned())?;
        let target = uri
            .path_and_query()
            .map_or("/", http::uri::PathAndQuery::as_str);
        let ours = match (uri.scheme_str(), uri.authority()) {
            (None, None) => true,
            (Some(scheme), Some(authority)) => {
                Some(scheme) == self.base.scheme_str()
                    && self
                        .base
                        .authority()
                        .is_some_and(|own| own.as_str().eq_ignore_ascii_case(authority.as_str()))
            }
            (Some(_), None) | (None, Some(_)) => false,
        };
        if ours {
            Ok(ApiPath::checked(target))
        } else {
            let host: String = uri.host().unwrap_or("?").chars().take(100).collect();
            Err(format!("a link to another host, `{host}`, is not followed"))
        }
    }
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 307 | 308)
}

fn now() -> Timestamp {
    chrono::DateTime::<chrono::Utc>::from(SystemTime::now()).into()
}

/// A poisoned lock guards plain values here, which are whole at any time.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
