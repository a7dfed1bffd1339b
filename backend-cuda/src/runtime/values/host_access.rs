//! Values and derivatives in plain vectors.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::grid::{Grid, NONE};
use equelle_runtime::{DerivativeAccess, EntityKind, Error, HostAccess};

use crate::runtime::autodiff::jacobian::jacobian_of;
use crate::runtime::linalg::csr::CsrPattern;
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{
    Bool, BoolCollection, Collection, Derivatives, DeviceTable, EntityCollection, Scalar, ScalarCollection, Vector, VectorCollection,
};

impl HostAccess for CudaRuntime {
    fn grid(&self) -> &Grid {
        self.session.grid()
    }

    fn scalar_value(&mut self, s: &Scalar) -> Result<f64, Error> {
        self.resolve_step()?;
        s.value(&self.executor)
    }

    fn bool_value(&mut self, b: &Bool) -> Result<bool, Error> {
        self.resolve_step()?;
        match b {
            Bool::Host(value) => Ok(*value),
            Bool::Device(buffer) => Ok(self.executor.download_one::<u8>(buffer.address())? != 0),
        }
    }

    fn vector_value(&mut self, v: &Vector) -> Result<Vec<f64>, Error> {
        self.resolve_step()?;
        let dim = self.session.grid().dim();
        self.executor.download(v.pointer(), dim)
    }

    fn vector_from(&mut self, components: &[f64]) -> Result<Vector, Error> {
        let checked = Error::vector_size(components.len(), self.session.grid().dim());
        self.located(checked)?;
        let padded: [f64; 3] = std::array::from_fn(|axis| components.get(axis).copied().unwrap_or(0.0));
        Ok(Vector(self.executor.upload("a Vector", &padded)?))
    }

    fn table_numbers(&self, table: &DeviceTable) -> Vec<f64> {
        table.table.numbers().to_vec()
    }

    fn domain_elements(&mut self, domain: &Arc<Domain>) -> Result<Vec<u32>, Error> {
        Ok(domain.elements().to_vec())
    }

    fn values(&mut self, c: &ScalarCollection) -> Result<Vec<f64>, Error> {
        self.resolve_step()?;
        let dense = self.dense(c)?;
        self.executor.download_reals(dense.pointer(), c.domain.len())
    }

    fn vectors(&mut self, c: &VectorCollection) -> Result<Vec<Vec<f64>>, Error> {
        self.resolve_step()?;
        let (n, dim) = (c.domain().len(), self.session.grid().dim());
        let all = self.executor.download_reals(c.pointer(), n * dim)?;
        Ok((0..dim).map(|d| all[d * n..(d + 1) * n].to_vec()).collect())
    }

    fn bools(&mut self, c: &BoolCollection) -> Result<Vec<bool>, Error> {
        self.resolve_step()?;
        Ok(self.executor.download::<u8>(c.0.pointer(), c.0.domain.len())?.into_iter().map(|b| b != 0).collect())
    }

    fn entity_indices(&mut self, c: &EntityCollection) -> Result<Vec<Option<u32>>, Error> {
        self.resolve_step()?;
        let entities: Vec<u32> = self.executor.download(c.values.pointer(), c.values.domain.len())?;
        Ok(entities.into_iter().map(|entity| Some(entity).filter(|&entity| entity != NONE)).collect())
    }

    fn scalar_collection(&mut self, domain: &Arc<Domain>, values: Vec<f64>) -> Result<ScalarCollection, Error> {
        Ok(Collection::dense(domain, self.executor.upload_reals(domain.name(), &values)?))
    }

    fn vector_collection(&mut self, domain: &Arc<Domain>, components: Vec<Vec<f64>>) -> Result<VectorCollection, Error> {
        let values = self.executor.upload_reals(domain.name(), &components.concat())?;
        Ok(VectorCollection::constant(Collection::dense(domain, values)))
    }

    fn bool_collection(&mut self, domain: &Arc<Domain>, values: Vec<bool>) -> Result<BoolCollection, Error> {
        let bytes: Vec<u8> = values.into_iter().map(u8::from).collect();
        Ok(BoolCollection(Collection::dense(domain, self.executor.upload(domain.name(), &bytes)?)))
    }

    fn entity_collection(&mut self, domain: &Arc<Domain>, kind: EntityKind, values: Vec<Option<u32>>) -> Result<EntityCollection, Error> {
        let indices: Vec<u32> = values.into_iter().map(|v| v.unwrap_or(NONE)).collect();
        let values = Collection::dense(domain, self.executor.upload(domain.name(), &indices)?);
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
            let (first, total) = self.located(unknown.columns())?;
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
                .ok_or_else(|| Error::internal("derivatives by what is no unknown"))?;
            row.sort_unstable_by_key(|&(column, _)| column);
            columns.extend(row.iter().map(|&(column, _)| column));
            entries.extend(row.iter().map(|&(_, value)| value));
            ends.push(columns.len() as u64);
        }
        let row_ptr = self.executor.upload("rows of the Jacobian", &ends)?;
        let device_columns = self.executor.upload("columns of the Jacobian", &columns)?;
        let entries = self.executor.upload_reals("the Jacobian", &entries)?;
        let rows = Rc::new(CsrPattern::on_device(row_ptr, device_columns, rows.len(), columns.len(), n_cols));
        Ok(Collection { derivatives: Some(Rc::new(Derivatives::Rows { rows, entries })), ..values.clone() })
    }

    fn derivatives(&mut self, values: &ScalarCollection) -> Result<Vec<Vec<(usize, f64)>>, Error> {
        let Some(jacobian) = jacobian_of(&self.executor, values)? else { return Ok(Vec::new()) };
        let entries = self.executor.download_reals(jacobian.entries.address(), jacobian.rows.entries())?;
        let host = jacobian.rows.host(&self.executor)?;
        let row = |ends: &[usize]| (ends[0]..ends[1]).map(|k| (host.columns[k] as usize, entries[k])).collect();
        Ok(host.row_ptr.windows(2).map(row).collect())
    }
}
