//! Ledgers as JSON, and the schema of that JSON (`schemas/evidence_ledger.schema.json`).
//!
//! INVARIANT: what is let in can be written as Markdown and read back as the same ledger.

use super::ledger::Ledger;
use super::markdown;
use super::sections::Language;

/// The JSON is not a ledger.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// Not JSON, or not of the schema.
    #[error("not a ledger in JSON: {0}; `quadgate evidence schema` prints what is expected")]
    Unreadable(#[from] serde_json::Error),
    /// It holds what Markdown has no place for.
    #[error(
        "cannot be written as Markdown without loss: a line is blank, a remark stands in a section that holds none, or the `body` of one of `extras` reads as more than its own section; take it out or reword it"
    )]
    Lossy,
}

/// Writes a ledger as indented JSON with a line end.
///
/// # Errors
/// Does not happen for ledgers; the error is that of the JSON writer.
pub fn write(ledger: &Ledger) -> Result<String, JsonError> {
    let mut text = serde_json::to_string_pretty(ledger)?;
    text.push('\n');
    Ok(text)
}

/// Reads a ledger from JSON.
///
/// # Errors
/// See [`JsonError`].
pub fn read(text: &str) -> Result<Ledger, JsonError> {
    let ledger: Ledger = serde_json::from_str(text)?;
    if markdown::read(&markdown::write(&ledger, Language::En)) == ledger {
        Ok(ledger)
    } else {
        Err(JsonError::Lossy)
    }
}

/// The JSON Schema of a ledger, indented, with a line end.
///
/// # Errors
/// Does not happen; the error is that of the JSON writer.
pub fn schema() -> Result<String, JsonError> {
    let schema = schemars::schema_for!(Ledger);
    let mut text = serde_json::to_string_pretty(&schema)?;
    text.push('\n');
    Ok(text)
}
