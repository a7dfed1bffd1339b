//! Names of components of Vectors.

/// Name of the column of a component: `v_x`; of a single number, its tag.
///
/// # Panics
/// If there is no such axis.
pub fn component(tag: &str, axis: usize, is_vector: bool) -> String {
    let axis = if is_vector { ["_x", "_y", "_z"][axis] } else { "" };
    format!("{tag}{axis}")
}
