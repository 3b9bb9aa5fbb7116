//! Decimal numbers of any size, compared without rounding.

use std::cmp::Ordering;

/// A number as its text says it: `0.DIGITS × 10^exponent`, with a sign. Zero has no digits and no sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    is_negative: bool,
    exponent: i64,
    /// The significant digits, without zeros at either end.
    digits: Vec<u8>,
}

impl Decimal {
    /// Reads a number in the notation of floats; `None` for other texts, and beyond the largest float.
    pub(super) fn parse(text: &str) -> Option<Self> {
        // Its grammar and its range decide what a number is; its value is rounded.
        text.parse().ok().filter(|number: &f64| number.is_finite())?;
        let (is_negative, unsigned) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], saturating(&unsigned[at + 1..])),
            None => (unsigned, 0),
        };
        let whole = mantissa.find('.').unwrap_or(mantissa.len());
        let written: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
        let Some(first) = written.iter().position(|digit| *digit != b'0') else { return Some(Self::zero()) };
        let last = written.iter().rposition(|digit| *digit != b'0').unwrap_or(first);
        let point = i64::try_from(whole).ok()? - i64::try_from(first).ok()?;

        Some(Self { is_negative, exponent: exponent.saturating_add(point), digits: written[first..=last].to_vec() })
    }

    /// The number that a bound of a policy means: the shortest text that rounds to it.
    pub(super) fn of_bound(bound: f64) -> Self {
        // Bounds are finite.
        Self::parse(&bound.to_string()).unwrap_or_else(Self::zero)
    }

    fn zero() -> Self {
        Self { is_negative: false, exponent: 0, digits: Vec::new() }
    }

    fn sign(&self) -> i8 {
        match (self.digits.is_empty(), self.is_negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_size = || (self.exponent, &self.digits).cmp(&(other.exponent, &other.digits));
        self.sign().cmp(&other.sign()).then_with(|| if self.is_negative { by_size().reverse() } else { by_size() })
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Reads an exponent. One of too many digits is the smallest or the largest.
fn saturating(exponent: &str) -> i64 {
    let limit = if exponent.starts_with('-') { i64::MIN } else { i64::MAX };
    exponent.parse().unwrap_or(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_ordered_by_their_exact_value() {
        let ascending = [
            "-1e308",
            "-9007199254740993",
            "-9007199254740992",
            "-1.0000000000000000000001",
            "-1",
            "-1e-400",
            "-1e-99999999999999999999",
            "0",
            "1e-99999999999999999999",
            "1e-400",
            "0.1",
            "0.1000000000000000000001",
            "0.2",
            "1",
            "9.99",
            "10",
            "9007199254740992",
            "9007199254740993",
            "1e300",
        ];
        for pair in ascending.windows(2) {
            let [smaller, larger] = [pair[0], pair[1]].map(|text| Decimal::parse(text).unwrap());
            assert_eq!([smaller.cmp(&larger), larger.cmp(&smaller)], [Ordering::Less, Ordering::Greater], "{pair:?}");
        }
    }

    #[test]
    fn notations_of_one_number_are_equal() {
        for same in [
            &["0", "-0", "+0.00", "0e5", "0e-99999999999999999999"][..],
            &["1200", "+1200", "1.2e3", "0.0012E+6", "001200.000", "1200."],
            &["-0.5", "-.5", "-5e-1", "-0500e-3"],
        ] {
            for text in same {
                assert_eq!(Decimal::parse(text), Decimal::parse(same[0]), "{text}");
            }
        }
        for bound in [0.1, -2.5, 1e300, 5e-324, 0.0, 9_007_199_254_740_992.0] {
            assert_eq!(Decimal::of_bound(bound), Decimal::parse(&format!("{bound:e}")).unwrap());
        }
    }

    #[test]
    fn other_texts_are_no_numbers() {
        for text in ["", " 1", "1 ", "one", "nan", "inf", "-infinity", "1e400", "0x10", "1_000", "e5", ".", "-"] {
            assert_eq!(Decimal::parse(text), None, "{text:?}");
        }
    }
}
