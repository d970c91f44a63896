//! Findings as SARIF 2.1.0, for code scanning.
//!
//! Every code is a rule of the driver whether it fired or not, so that a rule keeps its index between runs.

use super::judge::{Code, Finding, Severity};
use serde_json::{Value, json};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The log of one run. `files` are paths relative to the repository root with their findings; `help` is the address of
/// the page whose headings the rules point to.
#[must_use]
pub fn log(files: &[(&str, &[Finding])], help: &str, version: &str) -> Value {
    let rules: Vec<Value> = Code::ALL.iter().map(|code| rule(*code, help)).collect();
    let results: Vec<Value> = files
        .iter()
        .flat_map(|(path, findings)| findings.iter().map(|finding| result(path, finding)))
        .collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "quadgate evidence", "version": version, "informationUri": help, "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

fn rule(code: Code, help: &str) -> Value {
    let anchor = format!("{}-{}", code.code().to_lowercase(), code.name());
    json!({
        "id": code.code(),
        "name": code.name(),
        "shortDescription": { "text": code.says() },
        "helpUri": format!("{help}#{anchor}"),
        "defaultConfiguration": { "level": level(code.severity()) },
    })
}

fn result(path: &str, finding: &Finding) -> Value {
    let index = Code::ALL.iter().position(|code| *code == finding.code);
    json!({
        "ruleId": finding.code.code(),
        "ruleIndex": index,
        "level": level(finding.severity),
        "message": { "text": format!("{}. {}", finding.message, finding.hint) },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": uri(path), "uriBaseId": "%SRCROOT%" },
                "region": { "startLine": finding.line, "startColumn": finding.column },
            },
        }],
    })
}

/// A path as a relative URI.
fn uri(path: &str) -> String {
    use std::fmt::Write as _;
    let mut uri = String::with_capacity(path.len());
    for byte in path.trim_start_matches("./").bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.' | b'~') {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}
