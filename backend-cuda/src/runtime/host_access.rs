//! Values and derivatives in plain vectors.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::grid::{Grid, NONE};
use equelle_runtime::{DerivativeAccess, EntityKind, Error, HostAccess};

use crate::runtime::collections::{
    Bool, BoolCollection, Collection, Derivatives, EntityCollection, Scalar, ScalarCollection, Vector, VectorCollection,
};
use crate::runtime::grid::bytes_of;
use crate::runtime::precision::doubles;
use crate::runtime::program::CudaRuntime;
use crate::runtime::rows::{Rows, fault};

impl CudaRuntime {
    fn stored(&mut self, domain: &Arc<Domain>, bytes: &[u8]) -> Result<Collection, Error> {
        let buffer = self.upload(domain.name(), bytes)?;
        Ok(Collection::dense(domain, buffer))
    }
}

impl HostAccess for CudaRuntime {
    fn grid(&self) -> &Grid {
        self.session.grid()
    }

    fn scalar_value(&mut self, s: &Scalar) -> Result<f64, Error> {
        self.number(s)
    }

    fn bool_value(&mut self, b: &Bool) -> Result<bool, Error> {
        match b {
            Bool::Known(value) => Ok(*value),
            Bool::Device(buffer) => Ok(self.download(buffer.address(), 1)?[0] != 0),
        }
    }

    fn vector_value(&mut self, v: &Vector) -> Result<Vec<f64>, Error> {
        let dim = self.session.grid().dim();
        Ok(doubles(&self.download(v.pointer(), 8 * dim)?))
    }

    fn vector_from(&mut self, components: &[f64]) -> Result<Vector, Error> {
        let checked = Error::vector_size(components.len(), self.session.grid().dim());
        self.located(checked)?;
        let padded: [f64; 3] = std::array::from_fn(|axis| components.get(axis).copied().unwrap_or(0.0));
        Ok(Vector(self.upload("a Vector", &bytes_of(&padded, f64::to_le_bytes))?))
    }

    fn domain_elements(&mut self, domain: &Arc<Domain>) -> Result<Vec<u32>, Error> {
        Ok(domain.elements().to_vec())
    }

    fn values(&mut self, c: &ScalarCollection) -> Result<Vec<f64>, Error> {
        let dense = self.dense(c)?;
        self.download_reals(dense.pointer(), c.domain.len())
    }

    fn vectors(&mut self, c: &VectorCollection) -> Result<Vec<Vec<f64>>, Error> {
        let (n, dim) = (c.domain().len(), self.session.grid().dim());
        let all = self.download_reals(c.pointer(), n * dim)?;
        Ok((0..dim).map(|d| all[d * n..(d + 1) * n].to_vec()).collect())
    }

    fn bools(&mut self, c: &BoolCollection) -> Result<Vec<bool>, Error> {
        Ok(self.download(c.0.pointer(), c.0.domain.len())?.into_iter().map(|b| b != 0).collect())
    }

    fn entity_indices(&mut self, c: &EntityCollection) -> Result<Vec<Option<u32>>, Error> {
        let bytes = self.download(c.values.pointer(), 4 * c.values.domain.len())?;
        let index = |&chunk: &[u8; 4]| Some(u32::from_le_bytes(chunk)).filter(|&i| i != NONE);
        Ok(bytes.as_chunks::<4>().0.iter().map(index).collect())
    }

    fn scalar_collection(&mut self, domain: &Arc<Domain>, values: Vec<f64>) -> Result<ScalarCollection, Error> {
        self.upload_values(domain, &values)
    }

    fn vector_collection(&mut self, domain: &Arc<Domain>, components: Vec<Vec<f64>>) -> Result<VectorCollection, Error> {
        let bytes = self.precision.bytes_of(&components.concat());
        Ok(VectorCollection::constant(self.stored(domain, &bytes)?))
    }

    fn bool_collection(&mut self, domain: &Arc<Domain>, values: Vec<bool>) -> Result<BoolCollection, Error> {
        let bytes: Vec<u8> = values.into_iter().map(u8::from).collect();
        Ok(BoolCollection(self.stored(domain, &bytes)?))
    }

    fn entity_collection(&mut self, domain: &Arc<Domain>, kind: EntityKind, values: Vec<Option<u32>>) -> Result<EntityCollection, Error> {
        let indices: Vec<u32> = values.into_iter().map(|v| v.unwrap_or(NONE)).collect();
        let values = self.stored(domain, &bytes_of(&indices, u32::to_le_bytes))?;
        Ok(EntityCollection { values, kind })
    }
}

impl DerivativeAccess for CudaRuntime {
    fn with_derivatives(
        &mut self,
        values: &ScalarCollection,
        unknowns: &[ScalarCollection],
        rows: &[Vec<(usize, usize, f64)>],
    ) -> Result<ScalarCollection, Error> {
        let mut n_cols = 0;
        let mut places = Vec::with_capacity(unknowns.len());
        for unknown in unknowns {
            let (first, total) = self.place_of(unknown)?;
            places.push((first, unknown.domain.len()));
            n_cols = total;
        }
        let (mut ends, mut columns, mut entries) = (vec![0u64], Vec::new(), Vec::new());
        for row in rows {
            let mut row: Vec<(u32, f64)> = row
                .iter()
                .map(|&(unknown, position, value)| {
                    let &(first, _) = places.get(unknown).filter(|place| position < place.1)?;
                    Some(((first + position) as u32, value))
                })
                .collect::<Option<_>>()
                .ok_or_else(|| fault("derivatives by what is no unknown"))?;
            row.sort_unstable_by_key(|&(column, _)| column);
            columns.extend(row.iter().map(|&(column, _)| column));
            entries.extend(row.iter().map(|&(_, value)| value));
            ends.push(columns.len() as u64);
        }
        let row_ptr = self.upload("rows of the Jacobian", &bytes_of(&ends, u64::to_le_bytes))?;
        let device_columns = self.upload("columns of the Jacobian", &bytes_of(&columns, u32::to_le_bytes))?;
        let entries = self.upload_reals("the Jacobian", &entries)?;
        let rows = Rc::new(Rows::on_device(row_ptr, device_columns, rows.len(), columns.len(), n_cols));
        Ok(Collection { derivatives: Some(Rc::new(Derivatives::Rows { rows, entries })), ..values.clone() })
    }

    fn derivatives(&mut self, values: &ScalarCollection) -> Result<Vec<Vec<(usize, f64)>>, Error> {
        let Some(jacobian) = self.jacobian_of(values)? else { return Ok(Vec::new()) };
        let entries = self.download_reals(jacobian.entries.address(), jacobian.rows.entries())?;
        let host = jacobian.rows.host(self)?;
        let row = |ends: &[usize]| (ends[0]..ends[1]).map(|k| (host.columns[k] as usize, entries[k])).collect();
        Ok(host.row_ptr.windows(2).map(row).collect())
    }
}
