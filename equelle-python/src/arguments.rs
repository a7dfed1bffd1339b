//! Parameters and arrays of a call.

use std::path::Path;
use std::sync::Arc;

use equelle_runtime::observer::StateValue;
use equelle_runtime::{ArrayValues, DataArray, Parameters};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyTuple};

use crate::errors;

/// An argument, as the package hands it over: numbers of NumPy's type `float64`, truth values as
/// `uint8`, indices as `int64`, in any memory layout.
#[derive(FromPyObject)]
pub enum Argument<'py> {
    /// As on the command line.
    Text(String),
    /// The type of its values, and the array.
    Array(String, Bound<'py, PyAny>),
}

/// The name of the argument that is the path of a parameter file.
const PARAMETER_FILE: &str = "param_file";

/// Parameters of a call. The values of arrays are copied, in C order.
pub fn parameters(py: Python<'_>, given: &[(String, Argument<'_>)]) -> PyResult<Parameters> {
    let mut parameters = Parameters::default();
    for (name, argument) in given {
        set(py, &mut parameters, name, argument)?;
    }
    Ok(parameters)
}

fn set(py: Python<'_>, parameters: &mut Parameters, name: &str, argument: &Argument<'_>) -> PyResult<()> {
    match argument {
        Argument::Text(path) if name == PARAMETER_FILE => {
            parameters.read_file(Path::new(path)).map_err(|error| errors::from_error(&error))?;
        }
        Argument::Text(text) => parameters.set_argument(name, text),
        Argument::Array(kind, array) => parameters.set_array(name, data_array(py, kind, array)?),
    }
    Ok(())
}

fn data_array(py: Python<'_>, kind: &str, array: &Bound<'_, PyAny>) -> PyResult<DataArray> {
    Ok(match kind {
        "columns" => {
            let columns: Vec<(String, Bound<'_, PyAny>)> = array.extract()?;
            let mut values = Vec::with_capacity(columns.len());
            for (name, column) in columns {
                values.push((name, Arc::new(PyBuffer::<f64>::get(&column)?.to_vec(py)?)));
            }
            let rows = values.first().map_or(0, |(_, column)| column.len());
            DataArray { shape: vec![rows], values: ArrayValues::Columns(values) }
        }
        "truths" => {
            let buffer = PyBuffer::<u8>::get(array)?;
            let truths = buffer.to_vec(py)?.into_iter().map(|truth| truth != 0).collect();
            DataArray { shape: buffer.shape().to_vec(), values: ArrayValues::Truths(Arc::new(truths)) }
        }
        "indices" => {
            let buffer = PyBuffer::<i64>::get(array)?;
            DataArray { shape: buffer.shape().to_vec(), values: ArrayValues::Indices(Arc::new(buffer.to_vec(py)?)) }
        }
        _ => {
            let buffer = PyBuffer::<f64>::get(array)?;
            DataArray { shape: buffer.shape().to_vec(), values: ArrayValues::Numbers(Arc::new(buffer.to_vec(py)?)) }
        }
    })
}

/// A value for a variable of a run: a Bool, a number, or an array of `float64` or of truth values
/// as `uint8`.
pub fn state_value(py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<StateValue> {
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(StateValue::Bool(truth.is_true()));
    }
    // An array of one element is a number, too, but not one of these.
    if let Ok(number) = value.cast::<PyFloat>() {
        return Ok(StateValue::Scalar(number.value()));
    }
    if let Ok(components) = value.cast::<PyTuple>() {
        return Ok(StateValue::Vector(components.extract()?));
    }
    if let Ok(truths) = PyBuffer::<u8>::get(value) {
        return Ok(StateValue::Bools(truths.to_vec(py)?.into_iter().map(|truth| truth != 0).collect()));
    }
    let buffer = PyBuffer::<f64>::get(value)?;
    let values = buffer.to_vec(py)?;
    Ok(match buffer.shape() {
        &[_, dim] => StateValue::Vectors { dim, values },
        _ => StateValue::Scalars(values),
    })
}
