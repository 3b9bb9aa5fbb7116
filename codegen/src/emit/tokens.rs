//! Tokens of rows and of the values of their fields.

use climax_catalog::{List, Row, Rows, Str, Value};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

/// Prints a row as a struct expression.
pub(super) fn row<R: Row>(row: &R) -> TokenStream {
    let name = format_ident!("{}", R::NAME);
    let fields = row.fields().into_iter().map(|(name, value)| field(name, value));
    quote!(#name { #(#fields),* })
}

fn field(name: &str, value: Value) -> TokenStream {
    let name = format_ident!("{name}");
    let value = self::value(value);
    quote!(#name: #value)
}

fn value(value: Value) -> TokenStream {
    match value {
        Value::Bool(value) => quote!(#value),
        Value::Number(value) => number(value),
        Value::Float(value) => quote!(#value),
        Value::Text(id) => text(id),
        Value::List(list) => self::list(list),
        Value::Rows(Rows(start, end)) => {
            let [start, end] = [start, end].map(number);
            quote!(Rows(#start, #end))
        }
        Value::Variant(name, variant) => {
            let [name, variant] = [name, &variant].map(|word| format_ident!("{word}"));
            quote!(::climax::catalog::#name::#variant)
        }
        Value::Optional(inner) => optional_with(inner, |inner| self::value(*inner)),
    }
}

pub(super) fn number(value: u32) -> TokenStream {
    let value = Literal::u32_unsuffixed(value);
    quote!(#value)
}

pub(super) fn text(id: Str) -> TokenStream {
    let id = number(id.0);
    quote!(Str(#id))
}

pub(super) fn list(List(start, end): List) -> TokenStream {
    let [start, end] = [start, end].map(number);
    quote!(List(#start, #end))
}

pub(super) fn optional(id: Option<Str>) -> TokenStream {
    optional_with(id, text)
}

pub(super) fn optional_with<T>(value: Option<T>, print: impl Fn(T) -> TokenStream) -> TokenStream {
    value.map(print).map_or_else(|| quote!(None), |value| quote!(Some(#value)))
}
