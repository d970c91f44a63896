//! `evidence`: the evidence ledger passes. Blocks where the operator requires it, warns where it is advisory.

use super::GateInput;
use super::condition::{Finding, listed};
use crate::domain::Known;
use crate::policy::{EvidenceMode, Severity};
use crate::rules::clipped;

pub(super) fn judge(input: &GateInput<'_>) -> (Finding, Severity) {
    let severity = match input.policy.evidence {
        EvidenceMode::Off => {
            let off = Finding::off("evidence ledgers are not looked at (`evidence.mode: off`)");
            return (off, Severity::P3);
        }
        EvidenceMode::Advisory => Severity::P2,
        EvidenceMode::Required => Severity::P1,
    };
    let finding = match &input.gate.evidence {
        Known::Known(findings) if findings.is_empty() => Finding::holds("the evidence passes"),
        Known::Known(findings) => {
            let findings: Vec<String> = findings.iter().map(|one| clipped(one, 200)).collect();
            Finding::fails(listed(&findings))
        }
        Known::Unknown(cause) => {
            Finding::unknown(format!("the evidence is unknown: {}", clipped(cause, 200)))
        }
    };
    (finding, severity)
}
