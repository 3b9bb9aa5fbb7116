//! Decides which patterns mean the same in JSON Schema, whose patterns are those of JavaScript.
//!
//! Source: ECMA-262, section 22.2.1, "Patterns", with the flag `u`.

use std::convert::Infallible;

use regex_syntax::ast::{
    self, AssertionKind, Ast, ClassSetBinaryOp, ClassSetItem, GroupKind, HexLiteralKind, Literal, LiteralKind,
    SpecialLiteralKind, Visitor,
};

/// Whether JavaScript reads a pattern as this program does. Classes such as `\w` may hold more characters here.
pub(super) fn is_portable(tree: &Ast) -> bool {
    ast::visit(tree, FindsForeign(false)).is_ok_and(|has_foreign| !has_foreign)
}

/// Finds what JavaScript refuses or reads otherwise.
struct FindsForeign(bool);

impl Visitor for FindsForeign {
    type Output = bool;
    type Err = Infallible;

    fn finish(self) -> Result<bool, Self::Err> {
        Ok(self.0)
    }

    fn visit_pre(&mut self, tree: &Ast) -> Result<(), Self::Err> {
        self.0 |= match tree {
            Ast::Flags(_) | Ast::ClassUnicode(_) => true,
            Ast::Literal(literal) => !is_portable_outside_classes(literal),
            Ast::Assertion(assertion) => !matches!(
                assertion.kind,
                AssertionKind::StartLine
                    | AssertionKind::EndLine
                    | AssertionKind::WordBoundary
                    | AssertionKind::NotWordBoundary
            ),
            // JavaScript repeats no assertion and no repetition.
            Ast::Repetition(repetition) => {
                matches!(*repetition.ast, Ast::Assertion(_) | Ast::Repetition(_) | Ast::Empty(_))
            }
            Ast::Group(group) => match &group.kind {
                GroupKind::CaptureIndex(_) => false,
                GroupKind::CaptureName { .. } => true,
                GroupKind::NonCapturing(flags) => !flags.items.is_empty(),
            },
            Ast::Empty(_)
            | Ast::Dot(_)
            | Ast::ClassPerl(_)
            | Ast::ClassBracketed(_)
            | Ast::Alternation(_)
            | Ast::Concat(_) => false,
        };
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Self::Err> {
        self.0 |= match item {
            ClassSetItem::Literal(literal) => !is_portable_in_class(literal),
            ClassSetItem::Range(range) => !is_portable_in_class(&range.start) || !is_portable_in_class(&range.end),
            ClassSetItem::Ascii(_) | ClassSetItem::Unicode(_) | ClassSetItem::Bracketed(_) => true,
            ClassSetItem::Empty(_) | ClassSetItem::Perl(_) | ClassSetItem::Union(_) => false,
        };
        Ok(())
    }

    fn visit_class_set_binary_op_pre(&mut self, _: &ClassSetBinaryOp) -> Result<(), Self::Err> {
        self.0 = true;
        Ok(())
    }
}

fn is_portable_outside_classes(literal: &Literal) -> bool {
    match literal.kind {
        LiteralKind::Verbatim => !matches!(literal.c, ']' | '}'),
        LiteralKind::Meta => is_syntax_character(literal.c),
        _ => is_portable_escape(literal),
    }
}

fn is_portable_in_class(literal: &Literal) -> bool {
    match literal.kind {
        LiteralKind::Verbatim => !matches!(literal.c, '[' | ']'),
        LiteralKind::Meta => is_syntax_character(literal.c) || literal.c == '-',
        _ => is_portable_escape(literal),
    }
}

/// Whether JavaScript permits a backslash before the character.
fn is_syntax_character(character: char) -> bool {
    r"^$\.*+?()[]{}|".contains(character)
}

fn is_portable_escape(literal: &Literal) -> bool {
    match &literal.kind {
        LiteralKind::Superfluous => literal.c == '/',
        LiteralKind::HexFixed(kind) => matches!(kind, HexLiteralKind::X | HexLiteralKind::UnicodeShort),
        LiteralKind::Special(kind) => !matches!(kind, SpecialLiteralKind::Bell | SpecialLiteralKind::Space),
        LiteralKind::Verbatim | LiteralKind::Meta | LiteralKind::Octal | LiteralKind::HexBrace(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_javascript_refuses_are_not_portable() {
        let tree = |text: &str| ast::parse::Parser::new().parse(text).unwrap();
        for text in [
            "",
            "a|b",
            r"[a-z0-9._/-]+",
            r"(?:x{2,3}?|y*)\.\/\\",
            r"^\d+$",
            r"[\w.-]+@\bz",
            r"[^\]\-\\x]\x41\u0041\n",
            "(a)+größe",
            "[{}]",
        ] {
            assert!(is_portable(&tree(text)), "{text}");
        }
        for text in [
            "(?i)main",
            "(?i:main)",
            "a(?s).",
            "(?-u:a)",
            "(?P<n>a)",
            "(?<n>a)",
            r"\p{L}",
            r"\pL",
            r"[\p{L}]",
            "[[:alpha:]]",
            "[a-z&&[^b]]",
            "[a[b]]",
            "[]a]",
            "a]",
            "a}",
            r"\Aa\z",
            r"\b{start}a",
            r"\x{41}",
            r"\U00000041",
            r"\a",
            r"\-",
            r"\#",
            r"\%",
            r"[\&]",
            "a**",
            "a{2}{3}",
            r"\b+",
            "^*",
        ] {
            assert!(!is_portable(&tree(text)), "{text}");
        }
    }
}
