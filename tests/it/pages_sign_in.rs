//! Sign-in on the admin pages: the web flow against the stand-in, who sees what, and what is refused.

use crate::pages::{Page, ask, hostile};
use crate::world::{ENVIRONMENT, REPO, World};
use fake_github::{Config, FaultAnswer, FaultKind, FaultRule};
use quadgate::app::StartError;
use std::process::Command;
use std::time::Duration;

const HOST: &str = "gate.example.com";

/// A server at `https://gate.example.com` behind sign-in; the owner and a developer read the gated repository.
async fn closed() -> World {
    let mut world = World::arranged().await;
    world.client_secret = Some("test-client-secret");
    world.server_lines = format!(
        "admin_url: https://{HOST}\ngithub_client_id: {}\n",
        Config::default().client_id()
    );
    world.github.set_collaborator(REPO, "octo-owner", "admin");
    world.github.add_user("octo-stranger");
    world.serve().await.expect("starts");
    world
}

/// A browser: it keeps its cookies.
struct Browser<'a> {
    world: &'a World,
    cookies: Vec<(String, String)>,
}

impl<'a> Browser<'a> {
    fn new(world: &'a World) -> Self {
        Self {
            world,
            cookies: Vec::new(),
        }
    }

    async fn request(&mut self, method: &str, path: &str, body: &str) -> Page {
        let at = self.world.app().admin.expect("admin pages");
        let cookies: Vec<String> = self
            .cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let cookies = cookies.join("; ");
        let page = ask(
            at,
            method,
            path,
            &[("Host", HOST), ("Cookie", &cookies)],
            body,
        )
        .await;
        for set in page.all("set-cookie") {
            for part in ["Secure", "HttpOnly", "SameSite=Lax", "Path=/"] {
                assert!(set.contains(part), "{set}");
            }
            let (name, value) = set
                .split(';')
                .next()
                .and_then(|pair| pair.split_once('='))
                .expect("a pair");
            assert!(name.starts_with("__Host-"), "{set}");
            self.cookies.retain(|(kept, _)| kept != name);
            if !set.contains("Max-Age=0") {
                self.cookies.push((name.to_owned(), value.to_owned()));
            }
        }
        page
    }

    async fn get(&mut self, path: &str) -> Page {
        self.request("GET", path, "").await
    }

    /// Begins; the address at the stand-in.
    async fn begin(&mut self, to: &str) -> String {
        let page = self.get(&format!("/sign-in/start{to}")).await;
        assert_eq!(page.status, 303);
        page.header("location").to_owned()
    }

    /// Agrees at the stand-in as somebody; the way back.
    async fn agree(&self, there: &str, login: &str) -> String {
        let host = self
            .world
            .github
            .url()
            .trim_start_matches("http://")
            .to_owned();
        let path = there.trim_start_matches(&self.world.github.url());
        let at = host.parse().expect("an address");
        let page = ask(
            at,
            "GET",
            &format!("{path}&login={login}"),
            &[("Host", &host)],
            "",
        )
        .await;
        let back = page.header("location");
        back.strip_prefix(&format!("https://{HOST}"))
            .expect("back to us")
            .to_owned()
    }

    async fn sign_in(&mut self, login: &str) -> Page {
        let there = self.begin("").await;
        let back = self.agree(&there, login).await;
        self.get(&back).await
    }

    fn is_in(&self) -> bool {
        self.cookies
            .iter()
            .any(|(name, _)| name == "__Host-quadgate-session")
    }
}

#[tokio::test]
async fn who_signs_in_sees_what_they_can_read_and_comes_where_they_wanted() {
    let world = closed().await;
    let number = hostile(&world).await;
    let wanted = format!("/pulls/{REPO}/{number}");

    let mut owner = Browser::new(&world);
    let page = owner.get(&wanted).await;
    assert_eq!(page.status, 303);
    let door = page.header("location").to_owned();
    assert!(door.starts_with("/sign-in?to=%2Fpulls"), "{door}");
    owner
        .get(&door)
        .await
        .shows("Sign in with GitHub")
        .hides(REPO);
    let there = owner.begin(door.trim_start_matches("/sign-in")).await;
    assert!(
        there.contains("code_challenge_method=S256") && there.contains("state="),
        "{there}"
    );
    let back = owner.agree(&there, "octo-owner").await;
    let page = owner.get(&back).await;
    assert_eq!(
        (page.status, page.header("location")),
        (303, wanted.as_str())
    );
    assert_eq!(
        owner.cookies.len(),
        1,
        "the flow's cookie is gone: {:?}",
        owner.cookies
    );
    owner
        .get(&wanted)
        .await
        .shows("the verdict")
        .shows("octo-owner")
        .shows("Sign out");
    owner.get("/audit").await.shows(">#1</a>");
    owner
        .get("/")
        .await
        .shows("1 decision in 30 days")
        .hides("Work in the queue");

    let mut stranger = Browser::new(&world);
    assert_eq!(stranger.sign_in("octo-stranger").await.status, 303);
    for (path, status) in [
        (wanted.as_str(), 404),
        ("/audit/1", 404),
        ("/audit", 200),
        ("/inbox", 200),
        ("/", 200),
    ] {
        let page = stranger.get(path).await;
        assert_eq!(page.status, status, "{path}");
        page.hides(REPO).hides("alert(1)");
    }
    stranger
        .get("/inbox")
        .await
        .shows("Nothing waits for an owner");
    stranger.get("/").await.shows("0 decisions in 30 days");
    stranger
        .get(&format!(
            "/audit?repo={}&text=octo",
            REPO.replace('/', "%2F")
        ))
        .await
        .hides(">#1</a>");
    world.github.assert_no_violations();
}

#[tokio::test]
async fn what_belongs_to_no_repository_is_shown_to_nobody_who_signed_in() {
    let world = closed().await;
    hostile(&world).await;
    let installation = world.github.installation_of(REPO);
    let mut owner = Browser::new(&world);
    owner.sign_in("octo-owner").await;
    owner.get("/inbox").await.shows(REPO);
    world.github.uninstall(installation);
    world.settle().await;
    let removed = world.log_of("installation_removed");
    let seq = removed.first().expect("an entry")["seq"].clone();
    // Within the minute the owner is still known to read the repository.
    owner
        .get("/audit")
        .await
        .shows(">#1</a>")
        .hides(&format!(">#{seq}</a>"));
    assert_eq!(owner.get(&format!("/audit/{seq}")).await.status, 404);
}

#[tokio::test]
async fn what_can_be_read_is_asked_again_each_minute_and_not_known_is_not_shown() {
    let world = closed().await;
    hostile(&world).await;
    let mut owner = Browser::new(&world);
    owner.sign_in("octo-owner").await;
    owner.get("/inbox").await.shows(REPO);
    world.github.set_collaborator(REPO, "octo-owner", "none");
    owner.get("/inbox").await.shows(REPO);
    world.advance(Duration::from_secs(61));
    owner.get("/inbox").await.hides(REPO);

    world.github.set_collaborator(REPO, "octo-owner", "read");
    world.advance(Duration::from_secs(61));
    world.github.fail(
        FaultRule::answer("GET", "/user/installations", FaultAnswer::server_error(502)).times(9),
    );
    let page = owner.get("/inbox").await;
    assert_eq!(page.status, 503);
    page.shows("Not known what you may see").hides(REPO);
    world.github.clear_faults();
    owner.get("/inbox").await.shows(REPO);

    // A list that is shorter than it says is no list.
    world.advance(Duration::from_secs(61));
    world
        .github
        .fail(FaultRule::new("GET", "/user/installations", FaultKind::EmptyList).times(9));
    assert_eq!(owner.get("/inbox").await.status, 503);
    world.github.clear_faults();

    world.github.revoke_people();
    world.advance(Duration::from_secs(61));
    assert_eq!(owner.get("/inbox").await.status, 303);
}

#[tokio::test]
async fn long_lists_of_repositories_are_read_to_their_end() {
    let world = closed().await;
    for number in 0..120 {
        let name = format!("octo-org/early-{number}");
        world.github.add_repo(&name);
        world.github.set_collaborator(&name, "octo-dev", "read");
    }
    world.github.set_collaborator(REPO, "octo-dev", "read");
    hostile(&world).await;
    let mut developer = Browser::new(&world);
    developer.sign_in("octo-dev").await;
    developer.get("/inbox").await.shows(REPO);
}

#[tokio::test]
async fn a_session_ends_by_its_form_alone_and_by_time() {
    let world = closed().await;
    let mut owner = Browser::new(&world);
    owner.sign_in("octo-owner").await;
    let page = owner.get("/inbox").await;
    let token = page
        .body
        .split("name=\"token\" value=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    let token = token.expect("a token").to_owned();
    for forged in ["", "token=", "token=0", &format!("token={}x", &token[1..])] {
        let page = owner.request("POST", "/sign-out", forged).await;
        assert_eq!(page.status, 403, "{forged}");
    }
    assert_eq!(owner.get("/sign-out").await.status, 405);
    assert_eq!(owner.get("/inbox").await.status, 200);
    let cookies = owner.cookies.clone();
    let page = owner
        .request("POST", "/sign-out", &format!("token={token}"))
        .await;
    assert_eq!((page.status, page.header("location")), (303, "/sign-in"));
    assert!(!owner.is_in());
    owner.cookies = cookies;
    assert_eq!(
        owner.get("/inbox").await.status,
        303,
        "the old cookie opens nothing"
    );

    owner.sign_in("octo-owner").await;
    world.advance(Duration::from_secs(8 * 3_600));
    assert_eq!(owner.get("/inbox").await.status, 303);
}

#[tokio::test]
async fn a_return_that_this_browser_did_not_ask_for_lets_nobody_in() {
    let world = closed().await;
    let mut owner = Browser::new(&world);
    let there = owner.begin("?to=%2F%2Fevil.example").await;
    let back = owner.agree(&there, "octo-owner").await;

    // Somebody else's browser follows the link (login CSRF), or the state is another.
    let mut other = Browser::new(&world);
    assert_eq!(other.get(&back).await.status, 400);
    other.begin("").await;
    assert_eq!(other.get(&back).await.status, 400);
    assert!(!other.is_in());
    // A code that another flow earned does not fit this one's verifier.
    let code = back
        .split("code=")
        .nth(1)
        .and_then(|rest| rest.split('&').next())
        .expect("a code");
    let own = other.begin("").await;
    let state = own
        .split("state=")
        .nth(1)
        .and_then(|rest| rest.split('&').next())
        .expect("a state");
    let stolen = other
        .get(&format!("/sign-in/callback?code={code}&state={state}"))
        .await;
    assert_eq!(stolen.status, 400);
    stolen.shows("Sign in again");
    assert!(!other.is_in());
    // The code is spent now: who began gets nothing for it either, and nobody was led to another host.
    assert_eq!(owner.get(&back).await.status, 400);

    let there = owner.begin("?to=%2F%2Fevil.example").await;
    let back = owner.agree(&there, "octo-owner").await;
    assert_eq!(owner.get(&back).await.header("location"), "/");

    let mut nobody = Browser::new(&world);
    let there = nobody.begin("").await;
    let back = nobody.agree(&there, "").await;
    nobody.get(&back).await.shows("was not agreed to");
    assert!(!nobody.is_in());
}

#[tokio::test]
async fn without_the_secret_nothing_starts() {
    let mut world = World::arranged().await;
    world.server_lines = format!("admin_url: https://{HOST}\ngithub_client_id: Iv23x\n");
    let error = world.serve().await.expect_err("no secret");
    assert!(matches!(error, StartError::ClientSecret), "{error}");
    assert!(error.to_string().contains("QUADGATE_CLIENT_SECRET_FILE"));
}

#[test]
fn the_program_does_not_start_with_pages_that_anybody_can_reach() {
    let dir = tempfile::tempdir().expect("folder");
    for (name, text) in [
        ("owner.yml", "github_login: octo-owner\n"),
        (
            "projects.yml",
            "governance_repo: octo-org/bot\nsupervised_repos: [octo-org/widgets]\n",
        ),
        ("env.yml", "bot_app_slug: quadgate\nallow_no_ci: true\n"),
        ("server.yml", "admin_listen: 0.0.0.0:0\n"),
    ] {
        std::fs::write(dir.path().join(name), text).expect("written");
    }
    let ended = Command::new(env!("CARGO_BIN_EXE_quadgate"))
        .args(["serve", "--config"])
        .arg(dir.path())
        .envs(ENVIRONMENT)
        .output()
        .expect("runs");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(
        said.contains("server.yml:1:15") && said.contains("without a sign-in"),
        "{said}"
    );
}
