//! Runs a script on the facts, bounded by counted operations.
//!
//! The language and its limits stand in `policy::user_rules::script`; what a script may ask of the facts is in
//! [`objects`], the functions over values in [`words`]. INVARIANT: a run is a pure function of script and facts; what
//! it raised counts even when the script goes on, and whatever goes wrong is a failure.

mod objects;
mod run;
mod words;

use super::Ended;
use super::view::View;
use crate::domain::Quadrant;
use crate::policy::Place;
use crate::policy::user_rules::Script;
use crate::policy::user_rules::script::{CONSTANTS, MAX_OPERATIONS, engine, lower, place};
use objects::{FactsObject, Raise};
use rhai::{Dynamic, EvalAltResult, Module, Scope, Shared};
use run::Run;
use std::sync::{Arc, LazyLock};

/// Everything a script can call, built once for the whole program.
static FUNCTIONS: LazyLock<Shared<Module>> = LazyLock::new(|| {
    let mut module = Module::new();
    words::register(&mut module);
    objects::register(&mut module);
    module.build_index();
    module.into()
});

/// Runs a script: how it ended, and where it failed.
pub(super) fn run(script: &Script, view: Arc<View>) -> (Ended, Place) {
    run_counted(script, &Arc::new(Run::new(view)))
}

/// The same with a count that is kept by the caller.
fn run_counted(script: &Script, run: &Arc<Run>) -> (Ended, Place) {
    let mut engine = engine();
    engine.register_global_module(Shared::clone(&FUNCTIONS));
    let watched = Arc::clone(run);
    engine.on_progress(move |operations| watched.progress(operations));
    let facts = FactsObject(Arc::clone(run));
    // `raise` finds the run by the tag: it is called without any of its objects.
    engine.set_default_tag(Dynamic::from(facts.clone()));
    let mut scope = Scope::new();
    scope
        .push_constant("facts", facts)
        .push_constant("B", Quadrant::B)
        .push_constant("C", Quadrant::C)
        .push_constant("D", Quadrant::D);
    match engine.eval_ast_with_scope::<Dynamic>(&mut scope, script.tree()) {
        Ok(value) => (ended(&value, run), Place::START),
        Err(error) => {
            let place = place(innermost(&error).position());
            let why = format!("line {}: {}", place.line, words_of(&error));
            (Ended::Failed(why), place)
        }
    }
}

/// What the script answered: nothing, or what it raised.
fn ended(value: &Dynamic, run: &Run) -> Ended {
    if !value.is_unit() && !value.is::<Raise>() {
        return Ended::Failed(format!(
            "the rule ends with a value of type {}; it may end with nothing or with `raise(D, \"why\")`",
            type_of(value)
        ));
    }
    match run.raised() {
        Some((quadrant, why)) => Ended::Raised(quadrant, why),
        None => Ended::Passed,
    }
}

fn type_of(value: &Dynamic) -> &'static str {
    if value.is::<Quadrant>() {
        return "quadrant";
    }
    objects::type_name(value)
}

/// The error itself, without the functions it came through.
fn innermost(error: &EvalAltResult) -> &EvalAltResult {
    match error {
        EvalAltResult::ErrorInFunctionCall(_, _, inner, _) => innermost(inner),
        other => other,
    }
}

fn words_of(error: &EvalAltResult) -> String {
    let text = match innermost(error) {
        EvalAltResult::ErrorTooManyOperations(_) | EvalAltResult::ErrorTerminated(..) => {
            return format!("more than {MAX_OPERATIONS} operations");
        }
        EvalAltResult::ErrorDataTooLarge(what, _) => {
            return format!("{} is over its bound", lower(what));
        }
        EvalAltResult::ErrorTooManyVariables(_) => return "too many variables".to_owned(),
        EvalAltResult::ErrorStackOverflow(_) => {
            return "functions call each other too deeply".to_owned();
        }
        EvalAltResult::ErrorRuntime(value, _) => return value.to_string(),
        EvalAltResult::ErrorFunctionNotFound(call, _) => {
            return format!("there is no function `{}`", signature(call));
        }
        EvalAltResult::ErrorVariableNotFound(name, _) if CONSTANTS.contains(&name.as_str()) => {
            return format!("`{name}` is not seen inside a function; pass it on as an argument");
        }
        EvalAltResult::ErrorDotExpr(what, _) => what.clone(),
        other => other.to_string(),
    };
    // The engine puts the place at the end of its words; ours stands before them.
    let text = text.split(" (line ").next().unwrap_or_default();
    lower(text)
}

#[cfg(test)]
mod tests;

/// `matches (File, &str | ImmutableString | String)` as people write it.
fn signature(call: &str) -> String {
    call.replace("&str | ImmutableString | String", "string")
        .replace(" (", "(")
        .replace("i64", "integer")
}
