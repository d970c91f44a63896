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
    fn any_payload_is_read(bytes in bytes()) {
        checks::payload(&bytes);
    }
}
