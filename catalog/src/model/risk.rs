//! What calls may change, and what they print.

use strum::{EnumString, IntoStaticStr, VariantNames};

/// How much an argument can change beyond its tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ArgRisk {
    /// No more than its tool.
    #[default]
    OfTool,
    /// At least this, whatever its value.
    Always(Risk),
    /// At least this, by its value.
    ByValue {
        /// Values with their risks.
        values: Vec<(String, Risk)>,
        /// The risk of all other values.
        otherwise: Risk,
    },
}

/// Whether a call that gives an argument prints secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Sensitive {
    /// No.
    #[default]
    Never,
    /// Yes.
    Always,
    /// With these values. `*` stands for any characters.
    Values(Vec<String>),
}

/// Returns whether a text fits a pattern in which each `*` stands for any characters.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };

    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }

    rest.ends_with(last)
}

impl Sensitive {
    /// Returns whether a value makes the call print secrets. Values of enums of the world, such as kinds of resources, are
    /// often written in lists and in any case, so `secrets,pods` and `Secret` count as `secret*` does.
    #[must_use]
    pub fn of(&self, value: &str) -> bool {
        match self {
            Self::Never => false,
            Self::Always => true,
            Self::Values(values) => value.split([',', '/']).any(|part| {
                let part = part.to_lowercase();
                values.iter().any(|known| fits(&known.to_lowercase(), &part))
            }),
        }
    }
}

impl ArgRisk {
    /// Returns the highest risk that a value can have; `None` if no value adds one.
    #[must_use]
    pub fn highest(&self) -> Option<Risk> {
        match self {
            Self::OfTool => None,
            Self::Always(risk) => Some(*risk),
            Self::ByValue { values, otherwise } => values.iter().map(|(_, risk)| *risk).chain([*otherwise]).max(),
        }
    }

    /// Returns the risk of a value, as it stands on the command line; `None` if it adds none.
    #[must_use]
    pub fn of(&self, value: &str) -> Option<Risk> {
        match self {
            Self::OfTool => None,
            Self::Always(risk) => Some(*risk),
            Self::ByValue { values, otherwise } => {
                Some(values.iter().find(|(known, _)| known == value).map_or(*otherwise, |(_, risk)| *risk))
            }
        }
    }
}

/// How much a tool can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Risk {
    /// Changes nothing.
    Read,
    /// Creates or changes something.
    Write,
    /// Deletes, overwrites, or cannot be undone.
    Destructive,
}

impl Risk {
    /// Returns the level's name in configs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns the risk that annotations state: a tool without a written risk may write.
    #[must_use]
    pub fn promised(written: Option<Self>) -> Self {
        written.unwrap_or(Self::Write)
    }
}
