//! `published_verdict`: the quadrant that the canonical App published on the head SHA, as a vote. It can only
//! raise.

use super::publisher::{CHECK_NAME, is_canonical};
use super::{Finding, Outcome, Rule};
use crate::domain::{CheckRunFact, Facts, Known, Quadrant};
use crate::policy::Policy;

pub(super) const RULE: Rule = Rule {
    id: "published_verdict",
    votes: &[Quadrant::A, Quadrant::B, Quadrant::C, Quadrant::D],
    when: "the canonical App published a completed check-run `classifier-judgment` with a line `Quadrant: X` on the head",
    run,
};

fn run(facts: &Facts, policy: &Policy) -> Outcome {
    let Some(publisher) = &policy.publisher else {
        return Finding::abstain_because("no publisher is configured").into();
    };
    let runs = match &facts.check_runs {
        Known::Known(runs) => runs,
        // `facts_incomplete` votes D for unknown check-runs.
        Known::Unknown(_) => return Finding::abstain_because("check-runs unknown").into(),
    };
    let canonical: Vec<&CheckRunFact> = runs
        .iter()
        .filter(|run| run.name == CHECK_NAME && is_canonical(run, publisher))
        .collect();
    let verdict = canonical
        .iter()
        .filter(|run| run.status == "completed")
        .filter_map(|run| published_quadrant(run))
        .max();
    match verdict {
        Some(quadrant) => Finding::vote_for(
            quadrant,
            format!("`{}` published quadrant {quadrant}", publisher.slug),
        ),
        None if canonical.is_empty() => Finding::abstain(),
        None => Finding::abstain_because("no completed canonical run carries a readable verdict"),
    }
    .into()
}

/// The highest verdict in the output of one run.
fn published_quadrant(run: &CheckRunFact) -> Option<Quadrant> {
    [&run.title, &run.summary, &run.text]
        .into_iter()
        .flatten()
        .flat_map(|text| text.split(['\n', '\r']))
        .filter_map(verdict_line)
        .max()
}

/// Reads `Quadrant: X`: key without case, after optional blanks, one letter and then no further word character.
fn verdict_line(line: &str) -> Option<Quadrant> {
    let (key, value) = line.split_once(':')?;
    if !key
        .trim_matches([' ', '\t'])
        .eq_ignore_ascii_case("quadrant")
    {
        return None;
    }
    let mut letters = value.trim_start_matches([' ', '\t']).chars();
    let quadrant = Quadrant::from_letter(letters.next()?)?;
    let word_goes_on = letters
        .next()
        .is_some_and(|c| c.is_alphanumeric() || c == '_');
    (!word_goes_on).then_some(quadrant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_verdict_lines_and_nothing_else() {
        for (line, quadrant) in [
            ("Quadrant: A", Some(Quadrant::A)),
            ("  quadrant:d", Some(Quadrant::D)),
            ("\tQUADRANT: \tb - because", Some(Quadrant::B)),
            ("Quadrant: C.", Some(Quadrant::C)),
            ("Quadrant: Z", None),
            ("Quadrant: Dangerous", None),
            ("Quadrant: D_", None),
            ("Quadrant: D\u{c774}", None),
            ("Quadrant:", None),
            ("The Quadrant: D", None),
            ("> Quadrant: D", None),
            ("quadrants: D", None),
            ("Quadrant D", None),
        ] {
            assert_eq!(verdict_line(line), quadrant, "{line:?}");
        }
    }
}
