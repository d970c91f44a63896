//! The evidence of a head, judged from texts.
