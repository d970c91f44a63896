//! The stand-in held to what it promises, through HTTP.
#![cfg(test)] // what is allowed in tests is allowed in all of it

mod auth;
mod caller;
mod conditional;
mod faults;
mod groups;
mod merging;
mod paging;
mod webhooks;
