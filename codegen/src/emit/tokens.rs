//! Tokens of texts, ranges and options.

use climax_catalog::{Rows, Str};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

pub(super) fn text(id: Str) -> TokenStream {
    let id = Literal::u32_unsuffixed(id.0);
    quote!(Str(#id))
}

pub(super) fn optional(id: Option<Str>) -> TokenStream {
    optional_with(id, text)
}

pub(super) fn optional_with<T>(value: Option<T>, print: impl Fn(T) -> TokenStream) -> TokenStream {
    value.map(print).map_or_else(|| quote!(None), |value| quote!(Some(#value)))
}

pub(super) fn range(Rows(start, end): Rows) -> TokenStream {
    let [start, end] = [start, end].map(Literal::u32_unsuffixed);
    quote!(Rows(#start, #end))
}
