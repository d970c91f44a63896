//! Figures from made-up logs: what is counted, for whom, and that reading on counts nothing twice.

use super::*;
use std::fmt::Write as _;

const NOW: &str = "2026-05-25T12:00:00Z";

fn now() -> Timestamp {
    NOW.parse().expect("a time")
}

/// Lines of a log about `octo-org/a` (id 1) and `octo-org/b` (id 2).
struct Lines(String, u64);

impl Lines {
    fn add(&mut self, ts: &str, kind: &str, repo: u64, number: u64, rest: &str) -> &mut Self {
        self.1 += 1;
        let name = if repo == 1 { "a" } else { "b" };
        writeln!(
            self.0,
            "{{\"seq\":{},\"ts\":\"{ts}\",\"kind\":\"{kind}\",\"pr\":\"octo-org/{name}#{number}\",{rest},\"repo_id\":{repo}}}",
            self.1
        )
        .expect("a string");
        self
    }

    fn verdict(&mut self, ts: &str, repo: u64, number: u64, quadrant: char) -> &mut Self {
        let rest = format!("\"quadrant\":\"{quadrant}\",\"reasoning\":\"because of {number}\"");
        self.add(ts, "classification", repo, number, &rest)
    }

    fn asked(&mut self, ts: &str, repo: u64, number: u64, nonce: &str) -> &mut Self {
        self.verdict(ts, repo, number, 'D');
        let rest = format!("\"issue_kind\":\"pending_owner\",\"nonce\":\"{nonce}\"");
        self.add(ts, "issue_opened", repo, number, &rest)
    }

    fn answer(&mut self, ts: &str, repo: u64, number: u64, nonce: &str, answer: &str) -> &mut Self {
        let rest = format!(
            "\"answer\":\"{answer}\",\"answered_at\":\"{ts}\",\"nonce\":\"{nonce}\",\"quadrant\":\"D\""
        );
        self.add(ts, "owner_answer", repo, number, &rest)
    }

    fn write(&self, dir: &Path) {
        std::fs::write(dir.join("classifier_audit.jsonl"), &self.0).expect("written");
    }
}

fn eyes(repos: &[u64]) -> Sees {
    let set: std::collections::BTreeSet<RepoId> = repos.iter().copied().map(RepoId).collect();
    Sees::These(set.into())
}

#[test]
fn counts_questions_answers_and_approvals_at_once() {
    let dir = tempfile::tempdir().expect("folder");
    let mut lines = Lines(String::new(), 0);
    lines
        .verdict("2026-05-20T10:00:00Z", 1, 1, 'A')
        .verdict("2026-05-21T10:00:00Z", 2, 1, 'B')
        .asked("2026-05-22T10:00:00Z", 1, 2, "n1")
        .answer("2026-05-22T10:00:20Z", 1, 2, "n1", "approve_a")
        .asked("2026-05-22T11:00:00Z", 1, 3, "n2")
        .answer("2026-05-22T11:00:10Z", 1, 3, "n2", "defer")
        .answer("2026-05-22T12:00:00Z", 1, 3, "n2", "reject")
        // Another ballot's answer, and one of a question that has been replaced, count nothing.
        .asked("2026-05-23T11:00:00Z", 2, 4, "n3")
        .answer("2026-05-23T11:00:01Z", 2, 4, "old", "approve_a");
    lines.write(dir.path());
    let mut figures = Figures::default();
    assert!(
        figures
            .read_on(dir.path(), now(), Budget::fresh())
            .expect("reads")
    );
    let all = figures.summary(&Sees::Everything, day_of(now()) - 29);
    assert_eq!(all.verdicts, [1, 1, 0, 3]);
    assert_eq!((all.answers, all.quick_count), (2, 1));
    assert_eq!(all.median, Some(Duration::from_secs(20)));
    assert_eq!(all.p90, Some(Duration::from_hours(1)));
    assert_eq!(all.days.len(), 4);
    assert_eq!(
        all.quick.first().map(|quick| quick.reasoning.as_str()),
        Some("because of 2")
    );
    let names: Vec<&str> = all.repos.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["octo-org/a", "octo-org/b"]);

    let other = figures.summary(&eyes(&[2]), day_of(now()) - 29);
    assert_eq!(
        (other.verdicts, other.answers, other.quick.len()),
        ([0, 1, 0, 1], 0, 0)
    );
    let nobody = figures.summary(&eyes(&[]), 0);
    assert_eq!((nobody.verdicts, nobody.repos.len()), ([0; 4], 0));
    let late = figures.summary(&Sees::Everything, day_of(now()) - 2);
    assert_eq!(late.verdicts, [0, 0, 0, 1]);
}

#[test]
fn reads_on_and_counts_nothing_twice_also_over_a_rotation() {
    let dir = tempfile::tempdir().expect("folder");
    let mut lines = Lines(String::new(), 0);
    lines.verdict("2026-05-20T10:00:00Z", 1, 1, 'A');
    lines.write(dir.path());
    let mut figures = Figures::default();
    for _ in 0..2 {
        figures
            .read_on(dir.path(), now(), Budget::fresh())
            .expect("reads");
    }
    lines.verdict("2026-05-21T10:00:00Z", 1, 2, 'B');
    lines.write(dir.path());
    std::fs::rename(
        dir.path().join("classifier_audit.jsonl"),
        dir.path().join("classifier_audit.000001.jsonl"),
    )
    .expect("rotated");
    let mut rest = Lines(String::new(), 2);
    rest.verdict("2026-05-22T10:00:00Z", 1, 3, 'C');
    rest.write(dir.path());
    figures
        .read_on(dir.path(), now(), Budget::fresh())
        .expect("reads");
    assert_eq!(figures.summary(&Sees::Everything, 0).verdicts, [1, 1, 1, 0]);
    assert_eq!(figures.seen, 3);
}

#[test]
fn what_is_older_than_the_longest_period_is_neither_read_nor_kept() {
    let dir = tempfile::tempdir().expect("folder");
    let mut lines = Lines(String::new(), 0);
    lines
        .verdict("2026-01-01T10:00:00Z", 1, 1, 'A')
        .asked("2026-02-26T10:00:00Z", 1, 2, "n");
    lines.write(dir.path());
    let mut figures = Figures::default();
    figures
        .read_on(dir.path(), now(), Budget::fresh())
        .expect("reads");
    assert_eq!(figures.summary(&Sees::Everything, 0).verdicts, [0, 0, 0, 1]);
    let later = now().plus(Duration::from_hours(48));
    figures
        .read_on(dir.path(), later, Budget::fresh())
        .expect("reads");
    assert_eq!(figures.summary(&Sees::Everything, 0).verdicts, [0; 4]);
    assert!(figures.repos.is_empty() && figures.asked.is_empty());
}
