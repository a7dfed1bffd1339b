//! Rows of outputs.

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Numbers that a run put out, for `numpy.asarray`, which takes them without a copy.
#[pyclass(frozen)]
pub struct Row {
    values: Vec<f64>,
    /// Length along each axis.
    shape: Vec<usize>,
}

impl Row {
    /// One number for each element.
    pub fn from_scalars(values: Vec<f64>) -> Row {
        Row { shape: vec![values.len()], values }
    }

    /// `dim` numbers for each element, element by element.
    pub fn from_vectors(values: Vec<f64>, dim: usize) -> Row {
        Row { shape: vec![values.len() / dim.max(1), dim], values }
    }
}

#[pymethods]
impl Row {
    /// The protocol of NumPy: an array over the memory of this object, which it keeps alive. It
    /// cannot be written, since the object is shared.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", pyo3::types::PyTuple::new(py, &self.shape)?)?;
        interface.set_item("typestr", if cfg!(target_endian = "little") { "<f8" } else { ">f8" })?;
        interface.set_item("data", (self.values.as_ptr().addr(), true))?;
        Ok(interface)
    }
}
