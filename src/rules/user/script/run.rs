//! One run of one script: its view of the facts, what it has used up, what it raised.
//!
//! INVARIANT: [`Run::charge`] and the engine's own count share one bound, so that a function that looks at much
//! costs much, whatever the machine.

use crate::domain::Quadrant;
use crate::policy::globs::Sense;
use crate::policy::user_rules::PathSet;
use crate::policy::user_rules::script::MAX_OPERATIONS;
use crate::rules::user::view::View;
use regex::{Regex, RegexBuilder};
use rhai::{Dynamic, EvalAltResult};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The most globs or patterns of one run.
const MAX_COMPILED: usize = 64;
/// What compiling one costs.
const COMPILING: u64 = 1_000;
/// The most bytes that a compiled pattern may take.
const MAX_PATTERN: usize = 256 * 1024;
/// So many bytes of text are searched or copied for one operation.
const BYTES: usize = 64;

/// What a function of ours answers.
pub(super) type Answer<T> = Result<T, Box<EvalAltResult>>;

/// See the head of the file.
#[derive(Debug)]
pub(in crate::rules::user) struct Run {
    pub view: Arc<View>,
    /// Every file, by its index.
    pub every_file: Arc<[u32]>,
    /// Charged by functions.
    charged: AtomicU64,
    /// Counted by the engine.
    counted: AtomicU64,
    raised: Mutex<Option<(Quadrant, String)>>,
    globs: Mutex<HashMap<String, Arc<PathSet>>>,
    patterns: Mutex<HashMap<String, Arc<Regex>>>,
}

impl Run {
    pub fn new(view: Arc<View>) -> Self {
        let count = u32::try_from(view.files.items.len()).unwrap_or(u32::MAX);
        Self {
            view,
            every_file: (0..count).collect(),
            charged: AtomicU64::new(0),
            counted: AtomicU64::new(0),
            raised: Mutex::new(None),
            globs: Mutex::new(HashMap::new()),
            patterns: Mutex::new(HashMap::new()),
        }
    }

    /// Called by the engine at each of its operations; something: the run ends.
    pub fn progress(&self, counted: u64) -> Option<Dynamic> {
        self.counted.store(counted, Ordering::Relaxed);
        (self.operations() > MAX_OPERATIONS).then_some(Dynamic::UNIT)
    }

    /// Operations so far.
    pub fn operations(&self) -> u64 {
        let charged = self.charged.load(Ordering::Relaxed);
        charged.saturating_add(self.counted.load(Ordering::Relaxed))
    }

    /// Pays for work before it is done.
    pub fn charge(&self, operations: u64) -> Answer<()> {
        self.charged.fetch_add(operations, Ordering::Relaxed);
        if self.operations() > MAX_OPERATIONS {
            return Err(Box::new(EvalAltResult::ErrorTerminated(
                Dynamic::UNIT,
                rhai::Position::NONE,
            )));
        }
        Ok(())
    }

    /// Pays for looking at a text.
    pub fn charge_text(&self, bytes: usize) -> Answer<()> {
        self.charge(1 + u64::try_from(bytes / BYTES).unwrap_or(u64::MAX))
    }

    /// Keeps the highest vote; of equal ones the first.
    pub fn raise(&self, quadrant: Quadrant, why: &str) {
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        if raised
            .as_ref()
            .is_none_or(|(highest, _)| quadrant > *highest)
        {
            *raised = Some((quadrant, why.to_owned()));
        }
    }

    /// What was raised.
    pub fn raised(&self) -> Option<(Quadrant, String)> {
        self.raised
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// A list of globs, compiled once a run. Widening, as everything that can make a rule raise.
    pub fn globs(&self, globs: &[String]) -> Answer<Arc<PathSet>> {
        self.compiled(&self.globs, &globs.join("\n"), |_| {
            PathSet::compile(globs, Sense::Widening).map_err(|problems| {
                let first = problems.first().map(ToString::to_string);
                first.unwrap_or_default()
            })
        })
    }

    /// A pattern, compiled once a run; `^` and `$` are the ends of a line.
    pub fn pattern(&self, pattern: &str) -> Answer<Arc<Regex>> {
        self.compiled(&self.patterns, pattern, |pattern| {
            let built = RegexBuilder::new(pattern)
                .multi_line(true)
                .size_limit(MAX_PATTERN)
                .build();
            let regex = built.map_err(|error| {
                let text = error.to_string();
                let last = text.lines().last().unwrap_or_default().trim().to_owned();
                format!("`{pattern}` is not a regular expression: {last}")
            })?;
            if regex.is_match("") {
                return Err(format!(
                    "`{pattern}` matches the empty text, hence every line"
                ));
            }
            Ok(regex)
        })
    }

    fn compiled<T>(
        &self,
        cache: &Mutex<HashMap<String, Arc<T>>>,
        key: &str,
        compile: impl FnOnce(&str) -> Result<T, String>,
    ) -> Answer<Arc<T>> {
        let mut cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = cache.get(key) {
            return Ok(Arc::clone(made));
        }
        if cache.len() >= MAX_COMPILED {
            return Err(format!("more than {MAX_COMPILED} globs or patterns in one run").into());
        }
        self.charge(COMPILING)?;
        let made = Arc::new(compile(key)?);
        cache.insert(key.to_owned(), Arc::clone(&made));
        Ok(made)
    }
}
