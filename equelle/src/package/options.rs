//! Options of the text of a package.

use std::path::Path;

use equelle_front::backend::Backend;

/// Options of the text of a package.
#[derive(Clone, Copy)]
pub struct PackageOptions<'a> {
    /// Back-ends it can run on; the first one is the default.
    pub backends: &'a [&'a dyn Backend],
    /// Folder that holds the runtime crates, `<folder>/equelle-runtime` and so on.
    pub runtime_crates: &'a Path,
}
