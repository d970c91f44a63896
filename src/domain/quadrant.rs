//! The two axes and their product (classifier specification, section 1).

use serde::{Deserialize, Serialize};
use std::fmt;

/// Can `git revert` undo the change without outside side effects?
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reversibility {
    /// `git revert` restores the state of the world.
    Reversible,
    /// Something stays behind after a revert. The answer in doubt.
    Irreversible,
}

/// Does the change touch what the product's users depend on?
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criticality {
    /// Documentation outside doctrine, examples, new tests, comments.
    NonCritical,
    /// Everything else. The answer in doubt.
    Critical,
}

/// Both axes of one file or of one change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Axes {
    /// The reversibility axis.
    pub ir: Reversibility,
    /// The criticality axis.
    pub cr: Criticality,
}

impl Axes {
    /// The lowest axes: the neutral element of [`Axes::or`].
    pub const LOWEST: Self = Self {
        ir: Reversibility::Reversible,
        cr: Criticality::NonCritical,
    };
    /// The highest axes: what holds in doubt.
    pub const HIGHEST: Self = Self {
        ir: Reversibility::Irreversible,
        cr: Criticality::Critical,
    };

    /// Folds two findings about the same change: each axis on its own, the higher one wins.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            ir: self.ir.max(other.ir),
            cr: self.cr.max(other.cr),
        }
    }

    /// The product of the axes.
    #[must_use]
    pub fn quadrant(self) -> Quadrant {
        match (self.ir, self.cr) {
            (Reversibility::Reversible, Criticality::NonCritical) => Quadrant::A,
            (Reversibility::Reversible, Criticality::Critical) => Quadrant::B,
            (Reversibility::Irreversible, Criticality::NonCritical) => Quadrant::C,
            (Reversibility::Irreversible, Criticality::Critical) => Quadrant::D,
        }
    }
}

/// One of the four quadrants.
///
/// The order is the order of the fold, `A < C < B < D`: the highest vote wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Quadrant {
    /// Reversible and non-critical: approved.
    A,
    /// Irreversible and non-critical: approved, with an audit Issue.
    C,
    /// Reversible and critical: approved, with an audit Issue.
    B,
    /// Irreversible and critical: an owner must answer.
    D,
}

impl Quadrant {
    /// All quadrants in fold order.
    pub const ALL: [Self; 4] = [Self::A, Self::C, Self::B, Self::D];

    /// The letter as people write it.
    #[must_use]
    pub fn letter(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
            Self::D => "D",
        }
    }

    /// Reads one letter, in either case; anything else is `None`.
    #[must_use]
    pub fn from_letter(letter: char) -> Option<Self> {
        match letter.to_ascii_uppercase() {
            'A' => Some(Self::A),
            'B' => Some(Self::B),
            'C' => Some(Self::C),
            'D' => Some(Self::D),
            _ => None,
        }
    }
}

impl fmt::Display for Quadrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.letter())
    }
}

impl fmt::Display for Reversibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reversible => "reversible",
            Self::Irreversible => "irreversible",
        })
    }
}

impl fmt::Display for Criticality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NonCritical => "non-critical",
            Self::Critical => "critical",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_that_of_the_fold() {
        let mut all = [Quadrant::D, Quadrant::A, Quadrant::B, Quadrant::C];
        all.sort();
        assert_eq!(all, Quadrant::ALL);
    }

    #[test]
    fn axes_fold_before_the_product() {
        let removed_example = Axes {
            ir: Reversibility::Irreversible,
            cr: Criticality::NonCritical,
        };
        let edited_source = Axes {
            ir: Reversibility::Reversible,
            cr: Criticality::Critical,
        };
        assert_eq!(removed_example.or(edited_source).quadrant(), Quadrant::D);
    }
}
