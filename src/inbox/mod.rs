//! The decision inbox: how an owner's answer is read, who may answer, which signal counts, and the sealed ballot.
//!
//! Pure: comments, reactions and moments come in as values. May name `domain` and `policy`. INVARIANT: an
//! [`Answer`] is built by [`resolve`] alone, from an owner's signal on a ballot whose seal holds and whose head is
//! the head of now. In doubt nothing is approved.

mod assent;
mod grammar;
mod marker;
mod owners;
mod reading;
mod resolve;

pub use marker::{BadKey, MarkerError, ReceiptKey, Sealed, Stamp, seal, verify};
pub use owners::{Speaker, Standing, standing};
pub use reading::{Comment, Edit, Place, Read, Reading, Why, read};
pub use resolve::{
    Answer, Ballot, Clarification, Reaction, Resolution, Resolved, Signal, SignalId, Unhonoured,
    resolve,
};
