//! What `time` prints.

use std::fmt::Write as _;
use std::time::Duration;

use climax_shell::Times;

/// Says the time that has passed, and that of processors for programs and for the system.
pub(super) fn told(times: Times, taken: [Duration; 3]) -> String {
    let line = |(name, taken): (&str, Duration)| {
        let seconds = taken.as_secs_f64();
        match times {
            Times::Minutes => format!("{name}\t{}m{:.3}s\n", (seconds / 60.0).floor(), seconds % 60.0),
            Times::Seconds => format!("{name} {seconds:.2}\n"),
        }
    };
    let lines: String = ["real", "user", "sys"].into_iter().zip(taken).map(line).collect();
    match times {
        Times::Minutes => format!("\n{lines}"),
        Times::Seconds => lines,
    }
}

/// Says the times as `TIMEFORMAT` wants them. Source: bash(1), "TIMEFORMAT".
pub(super) fn formatted(format: &str, [real, user, system]: [Duration; 3]) -> String {
    if format.is_empty() {
        return String::new();
    }
    let mut told = String::new();
    let mut rest = format.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '%' {
            told.push(c);
            continue;
        }
        let places = rest.peek().and_then(|c| c.to_digit(10)).map(|places| places.min(3));
        if places.is_some() {
            rest.next();
        }
        let has_minutes = rest.next_if_eq(&'l').is_some();
        let time = match rest.next() {
            Some('R') => real,
            Some('U') => user,
            Some('S') => system,
            Some('P') => {
                let share = (user + system).as_secs_f64() / real.as_secs_f64().max(1e-6) * 100.0;
                let _ = write!(told, "{share:.2}");
                continue;
            }
            Some('%') | None => {
                told.push('%');
                continue;
            }
            Some(other) => return format!("climax: TIMEFORMAT: `{other}': invalid format character\n"),
        };
        told.push_str(&duration(time, places.unwrap_or(3), has_minutes));
    }
    told.push('\n');
    told
}

/// Writes a duration with so many decimal places. What is less than the last one is left out, and not rounded.
fn duration(time: Duration, places: u32, has_minutes: bool) -> String {
    let seconds = time.as_secs();
    let whole = if has_minutes { format!("{}m{}", seconds / 60, seconds % 60) } else { seconds.to_string() };
    let part = match places {
        0 => String::new(),
        places => {
            let digits = usize::try_from(places).unwrap_or_default();
            format!(".{:0digits$}", time.subsec_millis() / 10_u32.pow(3 - places))
        }
    };
    let unit = if has_minutes { "s" } else { "" };
    format!("{whole}{part}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_as_their_format_wants_them() {
        let taken = [(62, 345_999), (1, 500_000), (0, 61_728)].map(|(s, us)| Duration::new(s, us * 1_000));
        for (format, expected) in [
            ("%R", "62.345\n"),
            ("%1R %0U %2S", "62.3 1 0.06\n"),
            ("real %lR, %2lS", "real 1m2.345s, 0m0.06s\n"),
            ("%9R %%R %P%%", "62.345 %R 2.50%\n"),
            ("a%", "a%\n"),
            ("", ""),
            ("%x", "climax: TIMEFORMAT: `x': invalid format character\n"),
        ] {
            assert_eq!(formatted(format, taken), expected, "{format}");
        }
    }
}
