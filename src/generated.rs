//! The catalog that the build script generated from `configs/`.

crate::include_catalog!();
