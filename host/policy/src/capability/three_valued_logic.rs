//! Three-valued logic: the truth of a condition when a value that it reads may be missing.

/// The truth of a condition. In this order, "and" is the minimum and "or" the maximum (Kleene's logic).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Truth {
    /// The condition is known not to hold.
    Fails,
    /// The truth is unknown: a value is missing, null, or cannot be compared.
    Unknown,
    /// The condition is known to hold.
    Holds,
}

impl Truth {
    /// Returns true if the condition is not known to fail.
    #[must_use]
    pub fn may_hold(self) -> bool {
        self != Self::Fails
    }

    /// Combines truths with "and". Stops at the first that fails.
    pub(super) fn all(truths: impl IntoIterator<Item = Self>) -> Self {
        let mut least = Self::Holds;
        for truth in truths {
            least = least.min(truth);
            if least == Self::Fails {
                break;
            }
        }
        least
    }

    /// Combines truths with "or". Stops at the first that holds.
    pub(super) fn any(truths: impl IntoIterator<Item = Self>) -> Self {
        let mut greatest = Self::Fails;
        for truth in truths {
            greatest = greatest.max(truth);
            if greatest == Self::Holds {
                break;
            }
        }
        greatest
    }

    /// Negates a truth.
    pub(super) fn not(self) -> Self {
        match self {
            Self::Fails => Self::Holds,
            Self::Unknown => Self::Unknown,
            Self::Holds => Self::Fails,
        }
    }
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Fails }
    }
}

#[cfg(test)]
mod tests {
    use super::Truth::{self, Fails, Holds, Unknown};

    #[test]
    fn truth_combines_as_kleene_says() {
        for (a, b, all, any) in [
            (Holds, Unknown, Unknown, Holds),
            (Fails, Unknown, Fails, Unknown),
            (Holds, Fails, Fails, Holds),
            (Unknown, Unknown, Unknown, Unknown),
        ] {
            assert_eq!((Truth::all([a, b]), Truth::all([b, a])), (all, all), "{a:?} and {b:?}");
            assert_eq!((Truth::any([a, b]), Truth::any([b, a])), (any, any), "{a:?} or {b:?}");
        }
        assert_eq!((Truth::all([]), Truth::any([])), (Holds, Fails));
        assert_eq!([Fails, Unknown, Holds].map(Truth::not), [Holds, Unknown, Fails]);
        assert!(Unknown.may_hold() && !Fails.may_hold());
    }
}
