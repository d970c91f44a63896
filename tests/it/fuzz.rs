//! The checks of `fuzz/` on the stable compiler: random bytes, and mutations of what the product really meets.

#[path = "../../fuzz/checks.rs"]
mod checks;

use proptest::prelude::*;

/// Pieces that reach further than random bytes do.
const PIECES: [&str; 24] = [
    "/approve A",
    "/approve",
    "/reject",
    "APPROVE",
    "LGTM",
    "> ",
    "```\n",
    "<!-- ",
    " -->",
    "\n\n",
    "\r\n",
    "    ",
    "<!-- quadgate:ballot v=1 repo=o/r nonce=1 head=",
    " mac=",
    "{\"action\":\"",
    "requested_action",
    "edited\"",
    ",\"installation\":{\"id\":1},\"repository\":{\"id\":1,\"full_name\":\"o/r\"}",
    "\"comment\":{\"id\":1}",
    ",\"sender\":{\"id\":18446744073709551615}",
    "null",
    "}",
    "계속 진행",
    "\u{202e}",
];

/// Pieces of ledgers, in both languages and several shapes.
const LEDGER_PIECES: [&str; 58] = [
    "# Evidence ledger: x\n\n",
    "---\nchange id: x\n---\n",
    "## Change ID\n\n",
    "## 상태\n\n",
    "## Disposition\n\nCOMPLETE\n\n",
    "## 최종 상태\n\nCOMPLETE\n\n",
    "## Operational phase\n\nEXECUTING\n\n",
    "## Requested action\n\n- do it\n\n",
    "## 승인된 범위\n\n- `src/**`\n\n",
    "## Authorized scope\n\n- `**`, `src/[a`, `../**`\n\n",
    "## Explicitly out of scope\n\nnone\n\n",
    "## Risk classification\n\n- Level: LOW\n- Reason: small\n\n",
    "## Evidence contract\n\n",
    "## 증거 계약\n\n",
    "- Claim: C1: it holds\n  - Required evidence: a run\n  - Evidence type: runtime\n  - Status: PASS\n",
    "- C2: 된다\n  - 증거 유형: 정적\n  - 상태: UNVERIFIED\n  - 시점: 변경 후\n",
    "## Evidence records\n\n",
    "| Claim | Observed fact | Artifact or command | Method | Evidence type | Limitation | Status |\n|---|---|---|---|---|---|---|\n",
    "| C1 | `a\\|b` | x | run | runtime | none | PASS |\n",
    "C1 -> seen -> `cmd` -> run -> none -> PASS\n",
    "## Baseline verification\n\n- Verification: `make`\n  - Status: FAIL\n\n",
    "## Verification records\n\n",
    "- Verification: `make`\n  - Observed fact: ok\n  - Status: PREEXISTING_FAILURE\n",
    "## Checkpoint\n\n- Status: APPROVED\n\n",
    "```text\nCHECKPOINT APPROVAL REQUIRED\n\nApproval covers:\n- x\n\nIrreversible consequences:\n- y\n\nRequired verification:\n- z\n\nReply APPROVE to authorize exactly the actions above.\n```\n\n",
    "CHECKPOINT 승인 필요\n\n승인 범위:\n- x\n",
    "### Approval record\n\n- Reply: APPROVE\n\n",
    "### 승인 기록\n\n- 회신: 계속 진행\n\n",
    "## Execution log\n\n- edited `src/a.rs`\n\n",
    "## Limitations, Missing, Conflicting, Unresolved\n\n- Missing: none\n\n",
    "## 미해결\n\n- 없음\n\n",
    "## Notes\n\n```\n## Change ID\n```\n\n",
    "<!-- ",
    " -->\n",
    "    code\n",
    "> quoted\n",
    "1. one\n   - two\n",
    "\t\u{feff}\u{a0}\n",
    "\r\n",
    "\r",
    "~~~\n",
    "**Status:** PASS\n",
    "[x]: y\n",
    "***\n",
    "Setext\n===\n",
    "{\"change_id\":\"x\",\"missing\":[\"none\"]}",
    "`` C1 -> seen -> `cmd` -> run -> none -> PASS\n",
    "`a -> b",
    " -> ",
    " → ",
    "  more: ",
    "| Status | | Status | a: b |\n|---|---|---|---|\n| PASS | `` | FAIL | \\\\ |\n",
    "**a: b** — c\n",
    "&#110;one\n",
    "### \n",
    "none\n\nprose\n\n",
    "Phase: Phase: ",
    "PENDING\n",
];

fn ledger() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        9 => (0..LEDGER_PIECES.len()).prop_map(|at| LEDGER_PIECES[at].as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        3 => (0..PIECES.len()).prop_map(|at| PIECES[at].as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_comment_is_read(bytes in bytes()) {
        checks::command(&bytes);
    }

    #[test]
    fn no_text_is_a_ballot_by_chance(bytes in bytes()) {
        checks::marker(&bytes);
    }

    #[test]
    fn any_ledger_is_read(bytes in ledger()) {
        checks::ledger(&bytes);
    }

    #[test]
    fn any_payload_is_read(bytes in bytes()) {
        checks::payload(&bytes);
    }
}
