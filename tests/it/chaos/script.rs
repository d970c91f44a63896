//! What people and CI do on one day, made from a seed.

use crate::crashes_program::Seeded;
use crate::merging::{MESSAGE, ci, ready, signed};
use crate::world::{INBOX, REPO, World};
use fake_github::FileSpec;

const QUADRANTS: [char; 4] = ['A', 'B', 'C', 'D'];
/// Most pull requests of a day.
const PULLS: u64 = 3;

/// What happens before the world comes to rest again; each deed is about another pull request.
#[derive(Debug)]
pub(super) struct Act {
    pub(super) deeds: Vec<Deed>,
}

/// One thing that is done.
#[derive(Debug, Clone)]
pub(super) enum Deed {
    Open(u64, char),
    /// The branch is written anew.
    Push(u64, char),
    Label(u64),
    /// Said on the newest open Issue about the pull request, if there is one.
    Say {
        pull: u64,
        owner: bool,
        words: &'static str,
    },
    /// 👍 or 👎 there.
    React(u64, &'static str),
    Ci(u64, &'static str),
    Ready(u64),
    Close(u64),
}

impl Deed {
    /// The pull request it is about.
    pub(super) fn pull(&self) -> u64 {
        match self {
            Self::Open(pull, _)
            | Self::Push(pull, _)
            | Self::Label(pull)
            | Self::Say { pull, .. }
            | Self::React(pull, _)
            | Self::Ci(pull, _)
            | Self::Ready(pull)
            | Self::Close(pull) => *pull,
        }
    }

    pub(super) fn happens(&self, world: &World) {
        let github = &world.github;
        let open = |pull: u64| github.pull(REPO, pull).open;
        match self {
            Self::Open(pull, quadrant) => {
                let number = github.open_pull(REPO, &signed(*quadrant));
                assert_eq!(number, *pull);
            }
            Self::Push(pull, quadrant) => {
                if open(*pull) {
                    let files = files_of(*quadrant, *pull);
                    github.force_push(REPO, *pull, &[MESSAGE], &files);
                }
            }
            Self::Label(pull) => github
                .as_user("octo-dev")
                .label(REPO, *pull, "documentation"),
            Self::Say { pull, owner, words } => {
                if let Some(issue) = issue_about(world, *pull) {
                    let who = if *owner { "octo-owner" } else { "octo-dev" };
                    github.as_user(who).comment(INBOX, issue, words);
                }
            }
            Self::React(pull, content) => {
                if let Some(issue) = issue_about(world, *pull) {
                    github.as_user("octo-owner").react(INBOX, issue, content);
                }
            }
            Self::Ci(pull, conclusion) => {
                ci(world, *pull, "build", Some(conclusion));
            }
            Self::Ready(pull) => ready(world, *pull),
            Self::Close(pull) => {
                if open(*pull) {
                    github.as_user("octo-dev").close(REPO, *pull);
                }
            }
        }
    }
}

fn files_of(quadrant: char, pull: u64) -> [FileSpec; 1] {
    [match quadrant {
        'A' => FileSpec::added(&format!("examples/{pull}.md"), "An example.\n"),
        'B' => FileSpec::added(&format!("src/part_{pull}.rs"), "fn a() { 2 }\n"),
        'C' => FileSpec::removed(&format!("docs/{pull}.md"), "text\n"),
        'D' => FileSpec::added(&format!(".github/workflows/{pull}.yml"), "on: push\n"),
        other => panic!("no quadrant {other}"),
    }]
}

/// The newest open Issue about a pull request.
fn issue_about(world: &World, pull: u64) -> Option<u64> {
    world.issues_about(pull).last().map(|issue| issue.number)
}

/// The day of a seed.
pub(super) fn script(seed: u64) -> Vec<Act> {
    let mut random = seeded(seed, 1);
    let mut opened = 0;
    let mut acts = Vec::new();
    for _ in 0..4 + random.below(5) {
        let mut deeds: Vec<Deed> = Vec::new();
        for _ in 0..=random.below(2) {
            let deed = if opened == 0 || (opened < PULLS && random.below(3) == 0) {
                opened += 1;
                Deed::Open(opened, QUADRANTS[random.below(4)])
            } else {
                deed(&mut random, opened)
            };
            if deeds.iter().all(|other| other.pull() != deed.pull()) {
                deeds.push(deed);
            }
        }
        acts.push(Act { deeds });
    }
    acts
}

fn deed(random: &mut Seeded, opened: u64) -> Deed {
    let pull =
        1 + u64::try_from(random.below(usize::try_from(opened).expect("small"))).expect("small");
    match random.below(20) {
        0..=3 => Deed::Push(pull, QUADRANTS[random.below(4)]),
        4 => Deed::Label(pull),
        5..=9 => Deed::Say {
            pull,
            owner: random.below(4) > 0,
            words: ["/approve A", "/approve B", "/reject", "well", "/approve"][random.below(5)],
        },
        10 => Deed::React(pull, ["+1", "-1"][random.below(2)]),
        11..=14 => Deed::Ci(pull, ["success", "success", "failure"][random.below(3)]),
        15..=18 => Deed::Ready(pull),
        _ => Deed::Close(pull),
    }
}

/// A stream of numbers of its own for each use of a seed.
pub(super) fn seeded(seed: u64, stream: u64) -> Seeded {
    let mixed =
        (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ stream.wrapping_mul(0xd1b5_4a32_d192_ed03)) | 1;
    let mut random = Seeded(mixed);
    for _ in 0..8 {
        random.below(2);
    }
    random
}
