//! A value that may not be known, with the reason why not.

use serde::de::{MapAccess, SeqAccess, Visitor, value::SeqAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{fmt, marker::PhantomData};

/// What was read, or why it could not be read.
///
/// INVARIANT: a failed read is never an empty value. In JSON a known list is written as it is, an unknown
/// one as `{"unknown": "cause"}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known<T> {
    /// The whole value was read.
    Known(T),
    /// It could not be read, or not all of it; the text names the cause for people.
    Unknown(String),
}

impl<T> Known<T> {
    /// The value, or `None` when it is unknown.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }

    /// The cause, or `None` when the value is known.
    pub fn cause(&self) -> Option<&str> {
        match self {
            Self::Known(_) => None,
            Self::Unknown(cause) => Some(cause),
        }
    }

    /// What follows from the value; unknown stays unknown.
    #[must_use]
    pub fn map<U>(self, follows: impl FnOnce(T) -> U) -> Known<U> {
        match self {
            Self::Known(value) => Known::Known(follows(value)),
            Self::Unknown(cause) => Known::Unknown(cause),
        }
    }
}

impl<T> Known<Vec<T>> {
    /// The items that were read; nothing when unknown. Use only where an unknown value has been dealt with.
    #[must_use]
    pub fn items(&self) -> &[T] {
        match self {
            Self::Known(items) => items,
            Self::Unknown(_) => &[],
        }
    }
}

impl<T> Default for Known<Vec<T>> {
    fn default() -> Self {
        Self::Known(Vec::new())
    }
}

impl<T: Serialize> Serialize for Known<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Unknown<'a> {
            unknown: &'a str,
        }
        match self {
            Self::Known(value) => value.serialize(serializer),
            Self::Unknown(cause) => Unknown { unknown: cause }.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Known<Vec<T>> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListOrUnknown<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for ListOrUnknown<T> {
            type Value = Known<Vec<T>>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list, or {\"unknown\": \"cause\"}")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(Known::Known)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut cause = None;
                while let Some(key) = map.next_key::<String>()? {
                    if key != "unknown" {
                        return Err(serde::de::Error::unknown_field(&key, &["unknown"]));
                    }
                    cause = Some(map.next_value::<String>()?);
                }
                cause
                    .map(Known::Unknown)
                    .ok_or_else(|| serde::de::Error::missing_field("unknown"))
            }
        }

        deserializer.deserialize_any(ListOrUnknown(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_survives_json_and_is_not_empty() {
        let unknown: Known<Vec<u8>> = Known::Unknown("HTTP 502".into());
        let json = serde_json::to_string(&unknown).expect("writes");
        assert_eq!(json, r#"{"unknown":"HTTP 502"}"#);
        assert_eq!(
            serde_json::from_str::<Known<Vec<u8>>>(&json).expect("reads"),
            unknown
        );
        assert!(unknown.known().is_none());
        assert!(serde_json::from_str::<Known<Vec<u8>>>(r#"{"unknwon":"x"}"#).is_err());
        assert!(serde_json::from_str::<Known<Vec<u8>>>("{}").is_err());
    }
}
