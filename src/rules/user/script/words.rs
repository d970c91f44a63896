//! Functions over values: comparing, strings, arrays, maps. Few, and none whose cost is not bounded.
//!
//! INVARIANT: nothing here changes a string in place, and nothing compares what cannot be compared: the language
//! itself would answer `false`, and a rule would be silent for a mistake.

use super::objects::{run_of, type_name};
use super::run::Answer;
use rhai::{Array, Dynamic, FuncRegistration, ImmutableString, Map, Module, NativeCallContext};
use std::cmp::Ordering;
use std::ops::{Range, RangeInclusive};

/// The most pieces that `split` gives.
const MAX_PIECES: usize = crate::policy::user_rules::script::MAX_ARRAY;

macro_rules! function {
    ($module:ident, $name:literal, $function:expr) => {
        FuncRegistration::new($name)
            .in_global_namespace()
            .with_purity(true)
            .set_into_module($module, $function)
    };
}
pub(super) use function;

pub(super) fn register(module: &mut Module) {
    comparing(module);
    numbers(module);
    strings(module);
    collections(module);
}

fn comparing(module: &mut Module) {
    function!(module, "==", |a: Dynamic, b: Dynamic| equal(&a, &b));
    function!(module, "!=", |a: Dynamic, b: Dynamic| equal(&a, &b)
        .map(|same| !same));
    function!(module, "<", |a: Dynamic, b: Dynamic| order(&a, &b)
        .map(Ordering::is_lt));
    function!(module, "<=", |a: Dynamic, b: Dynamic| order(&a, &b)
        .map(Ordering::is_le));
    function!(module, ">", |a: Dynamic, b: Dynamic| order(&a, &b)
        .map(Ordering::is_gt));
    function!(module, ">=", |a: Dynamic, b: Dynamic| order(&a, &b)
        .map(Ordering::is_ge));
    function!(module, "!", |a: bool| !a);
}

fn incomparable<T>(a: &Dynamic, b: &Dynamic) -> Answer<T> {
    Err(format!(
        "a value of type {} cannot be compared with one of type {}",
        type_name(a),
        type_name(b)
    )
    .into())
}

/// Values of one simple kind; nothing (`()`) equals only itself.
fn equal(a: &Dynamic, b: &Dynamic) -> Answer<bool> {
    if a.is_unit() || b.is_unit() {
        return Ok(a.is_unit() && b.is_unit());
    }
    if let (Ok(a), Ok(b)) = (a.as_bool(), b.as_bool()) {
        return Ok(a == b);
    }
    order(a, b).map(Ordering::is_eq)
}

fn order(a: &Dynamic, b: &Dynamic) -> Answer<Ordering> {
    if let (Ok(a), Ok(b)) = (a.as_int(), b.as_int()) {
        return Ok(a.cmp(&b));
    }
    if let (Ok(a), Ok(b)) = (a.as_immutable_string_ref(), b.as_immutable_string_ref()) {
        return Ok(a.as_str().cmp(b.as_str()));
    }
    if let (Ok(a), Ok(b)) = (a.as_char(), b.as_char()) {
        return Ok(a.cmp(&b));
    }
    incomparable(a, b)
}

fn numbers(module: &mut Module) {
    module.set_iterator::<Range<i64>>();
    module.set_iterator::<RangeInclusive<i64>>();
    function!(module, "-", |a: i64| a
        .checked_neg()
        .ok_or_else(|| "the number is too large".into())
        as Answer<i64>);
    function!(module, "parse_int", |text: &str| text
        .trim()
        .parse::<i64>()
        .map_err(|_| "the text is no whole number".into())
        as Answer<i64>);
}

/// Pays for looking at a text.
fn charge(context: &NativeCallContext<'_>, text: &str) -> Answer<()> {
    run_of(context)?.charge_text(text.len())
}

fn strings(module: &mut Module) {
    type Context<'c> = NativeCallContext<'c>;
    function!(module, "is_empty", |text: &str| text.is_empty());
    function!(module, "starts_with", |text: &str, part: &str| text
        .starts_with(part));
    function!(module, "ends_with", |text: &str, part: &str| text
        .ends_with(part));
    function!(module, "len", |context: Context<'_>, text: &str| {
        charge(&context, text)?;
        Ok(length(text.chars().count())) as Answer<i64>
    });
    function!(
        module,
        "contains",
        |context: Context<'_>, text: &str, part: &str| {
            charge(&context, text)?;
            Ok(text.contains(part)) as Answer<bool>
        }
    );
    function!(module, "lower", |context: Context<'_>, text: &str| {
        charge(&context, text)?;
        Ok(text.to_lowercase().into()) as Answer<ImmutableString>
    });
    function!(module, "upper", |context: Context<'_>, text: &str| {
        charge(&context, text)?;
        Ok(text.to_uppercase().into()) as Answer<ImmutableString>
    });
    function!(module, "trimmed", |context: Context<'_>, text: &str| {
        charge(&context, text)?;
        Ok(text.trim().into()) as Answer<ImmutableString>
    });
    function!(
        module,
        "before",
        |context: Context<'_>, text: &str, mark: &str| {
            charge(&context, text)?;
            Ok(part(text.split_once(mark).map(|(before, _)| before))) as Answer<Dynamic>
        }
    );
    function!(
        module,
        "after",
        |context: Context<'_>, text: &str, mark: &str| {
            charge(&context, text)?;
            Ok(part(text.split_once(mark).map(|(_, after)| after))) as Answer<Dynamic>
        }
    );
    function!(
        module,
        "replaced",
        |context: Context<'_>, text: &str, from: &str, to: &str| {
            charge(&context, text)?;
            replaced(text, from, to)
        }
    );
    function!(
        module,
        "split",
        |context: Context<'_>, text: &str, mark: &str| {
            charge(&context, text)?;
            split(text, mark)
        }
    );
    function!(module, "to_string", |number: i64| ImmutableString::from(
        number.to_string()
    ));
    function!(module, "to_string", |text: ImmutableString| text);
}

/// A part of a text, or nothing.
fn part(text: Option<&str>) -> Dynamic {
    text.map_or(Dynamic::UNIT, |text| ImmutableString::from(text).into())
}

fn replaced(text: &str, from: &str, to: &str) -> Answer<ImmutableString> {
    use crate::policy::user_rules::script::MAX_STRING;
    if from.is_empty() {
        return Err("the text to be replaced is empty".into());
    }
    // Looked at before it is made: a short text can stand for a very long one.
    let times = text.matches(from).count();
    let grown = to.len().saturating_sub(from.len()).saturating_mul(times);
    if text.len().saturating_add(grown) > MAX_STRING {
        return Err(format!("the text would have more than {MAX_STRING} bytes").into());
    }
    Ok(text.replace(from, to).into())
}

fn split(text: &str, mark: &str) -> Answer<Array> {
    if mark.is_empty() {
        return Err("the mark to split at is empty".into());
    }
    if text.matches(mark).count() >= MAX_PIECES {
        return Err(format!("more than {MAX_PIECES} pieces").into());
    }
    let pieces = text.split(mark);
    Ok(pieces
        .map(|piece| ImmutableString::from(piece).into())
        .collect())
}

fn collections(module: &mut Module) {
    module.set_iterable::<Array>();
    function!(module, "len", |array: &mut Array| length(array.len()));
    function!(module, "is_empty", |array: &mut Array| array.is_empty());
    FuncRegistration::new("push")
        .in_global_namespace()
        .with_purity(false)
        .set_into_module(module, |array: &mut Array, value: Dynamic| {
            array.push(value);
        });
    function!(module, "contains", |array: &mut Array, wanted: Dynamic| {
        for value in array.iter() {
            if equal(value, &wanted)? {
                return Ok(true);
            }
        }
        Ok(false) as Answer<bool>
    });
    function!(module, "join", |array: &mut Array, between: &str| {
        let texts = array.iter().map(ToString::to_string);
        ImmutableString::from(texts.collect::<Vec<_>>().join(between))
    });
    function!(module, "len", |map: &mut Map| length(map.len()));
    function!(module, "is_empty", |map: &mut Map| map.is_empty());
    function!(module, "contains", |map: &mut Map, key: &str| map
        .contains_key(key));
    FuncRegistration::new("set")
        .in_global_namespace()
        .with_purity(false)
        .set_into_module(module, |map: &mut Map, key: &str, value: Dynamic| {
            map.insert(key.into(), value);
        });
    function!(module, "keys", |map: &mut Map| {
        map.keys()
            .map(|key| ImmutableString::from(key.as_str()).into())
            .collect::<Array>()
    });
}

pub(super) fn length(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
