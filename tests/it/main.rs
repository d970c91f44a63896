//! The integration tests: one binary, one module a subject.
// Clippy's permissions for tests reach only functions marked as tests; here everything is one.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::duration_suboptimal_units,
    clippy::format_collect,
    clippy::manual_assert,
    clippy::needless_pass_by_value,
    clippy::unchecked_time_subtraction
)]

mod after_merge;
mod answers;
mod answers_refused;
mod api_budget;
mod architecture;
mod audit;
mod audit_cli;
mod audit_export;
mod bad_days;
mod bad_machine;
mod bad_meanwhile;
mod burn_in;
mod burst;
mod chaos;
mod classifier;
mod classifier_reports;
mod classifier_trailers;
mod cli;
mod cli_config;
mod cli_git_range;
mod cli_verdicts;
mod config_errors;
mod config_policy;
mod config_secrets;
mod crashes;
mod crashes_program;
mod database;
mod decisions;
mod docs;
mod doctor;
mod evidence;
mod evidence_cli;
mod evidence_generated;
mod evidence_merging;
mod evidence_pull;
mod fake_github;
mod fuzz;
mod gate;
mod github_client;
mod github_client_merge;
mod github_client_read;
mod github_client_stub;
mod github_client_write;
mod inbox;
mod inbox_marker;
mod ingress;
mod ingress_events;
mod journey;
mod merge_groups;
mod merging;
mod merging_handed_over;
mod merging_refused;
mod model;
mod newcomer;
mod operator;
mod outage;
mod packaging;
mod pages;
mod pages_sign_in;
mod plan;
mod plan_passive;
mod replay;
mod replicas;
mod reports_e2e;
mod setup;
mod status;
mod store_contract;
mod store_postgres;
mod store_sqlite;
mod sweep;
mod user_rules;
mod visitor;
mod world;
