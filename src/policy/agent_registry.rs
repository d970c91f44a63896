//! `agent_registry.yml`: the agents whose commits are known (L4).

use super::shape::Written;
use super::source::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `agent_registry.yml`: the agents whose commits are known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "agent_registry.yml")]
pub struct AgentRegistry {
    /// Values of the trailer `Agent-Tool` that are known.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    pub tools: Vec<String>,
    /// By tool: values of `Agent-Model` that are known; `["*"]` is any. A tool that is not named here: any.
    #[serde(default)]
    pub models: BTreeMap<String, Vec<String>>,
    /// Values of `Agent-Machine` that are known.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    pub machines: Vec<String>,
}

impl AgentRegistry {
    /// Is this tool known?
    #[must_use]
    pub fn knows_tool(&self, tool: &str) -> bool {
        self.tools.iter().any(|known| known == tool)
    }

    /// Is this model of this tool known?
    #[must_use]
    pub fn knows_model(&self, tool: &str, model: &str) -> bool {
        self.knows_tool(tool)
            && self
                .models
                .get(tool)
                .is_none_or(|models| models.iter().any(|known| known == "*" || known == model))
    }
}

/// The registry; `None` when the file says nothing.
pub(super) fn compile(
    file: &Written<AgentRegistry>,
    warnings: &mut Vec<Problem>,
) -> Option<AgentRegistry> {
    let registry = &file.value;
    for tool in registry.models.keys() {
        if !registry.knows_tool(tool) {
            let message = format!("`{tool}` is not among the `tools`: its models are not used");
            warnings.push(file.key_problem(&["models", tool], message));
        }
    }
    (*registry != AgentRegistry::default()).then(|| registry.clone())
}
