//! `L4`: the tools and models that the commits name are in the registry. Advisory until the clock of an identity that
//! is not registered has run out; an explicit severity of the operator wins over both.

use super::GateInput;
use super::condition::{Finding, listed};
use super::identity::{agent, own_commits, quoted};
use crate::domain::Known;
use crate::policy::Severity;

pub(super) fn judge(input: &GateInput<'_>) -> (Finding, Severity) {
    let advisory = Severity::P2;
    let Some(registry) = &input.policy.agents else {
        let off = Finding::off("there is no agent registry (`agent_registry.yml`)");
        return (off, advisory);
    };
    let commits = match own_commits(input.facts) {
        Known::Known(commits) => commits,
        Known::Unknown(cause) => return (Finding::unknown(cause), advisory),
    };
    let named: Vec<_> = commits.iter().map(|commit| agent(commit)).collect();
    let mut strangers = Vec::new();
    for agent in named.iter().flatten() {
        if !registry.knows_model(&agent.tool, &agent.model) && !strangers.contains(&agent) {
            strangers.push(agent);
        }
    }
    if strangers.is_empty() {
        let finding = if !named.is_empty() && named.iter().all(Option::is_some) {
            Finding::holds("every tool and model is registered")
        } else {
            Finding::unknown("not every commit names one tool and one model")
        };
        return (finding, advisory);
    }
    let mut severity = advisory;
    let mut clauses = Vec::new();
    for agent in strangers {
        let what = if registry.knows_tool(&agent.tool) {
            format!("model {} of {}", quoted(&agent.model), quoted(&agent.tool))
        } else {
            format!("tool {}", quoted(&agent.tool))
        };
        let clock = input.burn_in.clock(&agent.id());
        let days = input.policy.l4_burn_in_days;
        let standing = match (
            clock,
            clock.and_then(|clock| clock.days_left(days, input.now)),
        ) {
            (Some(clock), _) if clock.promoted_at.is_some() => {
                severity = Severity::P0;
                "blocks since its clock ran out".to_owned()
            }
            (Some(_) | None, Some(left)) => format!("advisory for {left} more days"),
            (Some(_) | None, None) => "advisory".to_owned(),
        };
        clauses.push(format!(
            "{what} is not in `agent_registry.yml` ({standing})"
        ));
    }
    (Finding::fails(listed(&clauses)), severity)
}
