//! The seal of the ballot: holds for what was posted, and for nothing else.

use quadgate::domain::*;
use quadgate::inbox::*;

const RECORD: &str = "Decision\n\n```text\nCHECKPOINT APPROVAL REQUIRED\n\nApproval covers:\n- merge of octo-org/widgets#12\n```\n\n<!-- quadgate:key=7/12/d/aa/bb -->";

fn repo(id: u64, name: &str) -> RepoRef {
    RepoRef {
        id: RepoId(id),
        name: name.parse().unwrap(),
        installation: InstallationId(1),
    }
}

fn head(digit: &str) -> Sha {
    digit.repeat(40).parse().unwrap()
}

fn key() -> ReceiptKey {
    ReceiptKey::new(&[42; 32]).unwrap()
}

fn body(repo: &RepoRef, number: u64, head: &Sha, nonce: &str) -> String {
    let stamp = Stamp {
        repo,
        number: PullNumber(number),
        head,
        nonce,
    };
    seal(RECORD, stamp, &key())
}

fn check(body: &str, nonce: Option<&str>) -> Result<Sealed, MarkerError> {
    verify(body, &key(), RepoId(7), PullNumber(12), nonce)
}

fn good() -> String {
    body(&repo(7, "octo-org/widgets"), 12, &head("a"), "n0nce")
}

#[test]
fn what_was_posted_verifies() {
    let sealed = check(&good(), Some("n0nce")).unwrap();
    assert_eq!(sealed.head(), &head("a"));
    assert_eq!(sealed.nonce(), "n0nce");
    assert!(check(&good(), None).is_ok());
}

#[test]
fn line_ends_and_blanks_at_the_end_do_no_harm() {
    let crlf = good().replace('\n', "\r\n");
    assert!(check(&crlf, Some("n0nce")).is_ok());
    assert!(check(good().trim_end(), Some("n0nce")).is_ok());
    assert!(check(&format!("{}\n\n", good()), Some("n0nce")).is_ok());
}

#[test]
fn any_change_of_any_character_fails() {
    let good = good();
    let seal_at = good.find("<!-- quadgate:ballot").unwrap();
    for (at, c) in good.char_indices() {
        if c == '\n' && at + 2 >= seal_at {
            continue;
        }
        let mut changed = good.clone();
        changed.replace_range(at..at + c.len_utf8(), if c == 'x' { "y" } else { "x" });
        assert!(check(&changed, Some("n0nce")).is_err(), "{at}: {changed}");
        let mut shorter = good.clone();
        shorter.replace_range(at..at + c.len_utf8(), "");
        let only_the_end = at >= good.trim_end().len();
        // Blank lines right before the seal are not visible text.
        let before_seal = at + 1 == seal_at;
        assert!(
            only_the_end || before_seal || check(&shorter, Some("n0nce")).is_err(),
            "{at}"
        );
    }
}

#[test]
fn what_was_added_fails() {
    let good = good();
    assert_eq!(
        check(&format!("note\n{good}"), None),
        Err(MarkerError::Changed)
    );
    assert_eq!(
        check(&format!("{good}/approve"), None),
        Err(MarkerError::NotLast)
    );
    let twice = format!("{good}{}", good.lines().last().unwrap());
    assert_eq!(check(&twice, None), Err(MarkerError::Several));
    assert_eq!(check(RECORD, None), Err(MarkerError::Missing));
    assert_eq!(check("", None), Err(MarkerError::Missing));
    assert_eq!(
        check("<!-- quadgate:ballot v=1", None),
        Err(MarkerError::Unreadable)
    );
    assert_eq!(
        check("<!-- quadgate:ballot nonsense -->", None),
        Err(MarkerError::Unreadable)
    );
}

#[test]
fn a_copied_seal_fails() {
    let mine = repo(7, "octo-org/widgets");
    for other in [
        body(&mine, 13, &head("a"), "n0nce"),
        body(&repo(8, "octo-org/widgets"), 12, &head("a"), "n0nce"),
    ] {
        assert_eq!(check(&other, Some("n0nce")), Err(MarkerError::Changed));
    }
    let older_ballot = body(&mine, 12, &head("a"), "0lder");
    assert_eq!(
        check(&older_ballot, Some("n0nce")),
        Err(MarkerError::Foreign)
    );
    let moved = good().replace(
        &format!("head={}", head("a")),
        &format!("head={}", head("b")),
    );
    assert_eq!(check(&moved, Some("n0nce")), Err(MarkerError::Changed));
    let renamed = good().replace("repo=octo-org/widgets", "repo=octo-org/gadgets");
    assert_eq!(check(&renamed, Some("n0nce")), Err(MarkerError::Changed));
    let foreign_key = ReceiptKey::new(&[43; 32]).unwrap();
    assert_eq!(
        verify(&good(), &foreign_key, RepoId(7), PullNumber(12), None),
        Err(MarkerError::Changed)
    );
}

#[test]
fn a_short_key_is_refused_and_no_key_is_printed() {
    assert!(ReceiptKey::new(b"").is_err());
    assert!(ReceiptKey::new(&[1; 31]).is_err());
    assert_eq!(format!("{:?}", key()), "ReceiptKey(..)");
}
