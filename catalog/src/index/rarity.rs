//! The rarity of terms, in arithmetic that every machine does alike.

/// A score of one, in units of a term's weight times its impact.
///
/// A request has at most 96 terms, each worth at most 28 of these with its stand-ins, and as many compounds, each worth at
/// most 11: scores stay below 2^30.
pub(super) const UNIT: f64 = 1000.0 * 255.0;

/// How much a term tells that stands in `frequency` of `tools`: BM25's inverse document frequency, its peaks flattened.
pub(super) fn rarity(tools: usize, frequency: usize) -> f64 {
    let [tools, frequency] = [tools, frequency].map(count);
    let idf = ln(1.0 + (tools - frequency + 0.5) / (frequency + 0.5));
    (idf * idf.sqrt()).sqrt()
}

/// A number of tools or terms as a float.
#[expect(clippy::cast_precision_loss, reason = "tools and terms are counted in 32 bits")]
pub(super) fn count(number: usize) -> f64 {
    number as f64
}

/// The natural logarithm for values from 1 on, by basic operations: the system's may differ in the last bit.
pub(super) fn ln(mut value: f64) -> f64 {
    let mut halvings = 0.0;
    while value > 2.0 {
        value /= 2.0;
        halvings += 1.0;
    }

    let ratio = (value - 1.0) / (value + 1.0);
    let (mut sum, mut power, mut odd) = (0.0, ratio, 1.0);
    while odd < 40.0 {
        sum += power / odd;
        power *= ratio * ratio;
        odd += 2.0;
    }

    2.0 * sum + halvings * std::f64::consts::LN_2
}

/// Rounds a weight to a whole number.
pub(super) fn fixed(value: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "weights are small and positive")]
    let fixed = value.round() as u32;
    fixed
}
