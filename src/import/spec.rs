//! Specifications of `usage` (usage.jdx.dev) → commands.

use climax_catalog::Risk;
use usage::spec::effect::SpecCommandEffect;
use usage::{Spec, SpecArg, SpecCommand, SpecFlag};

use super::{Command, Flag, Operand, Sure, Value, prose, values};
