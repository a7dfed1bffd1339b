//! Checkpoints of a program being run.

use equelle_front::checkpoint::{Checkpoints, SavedKind, Skipped, checkpoints};
use equelle_front::ir::Stmt;
use equelle_front::types::{Basic, Shape, Type};
use equelle_runtime::{DerivativeAccess, Error};

use crate::program::{Frame, Interpreter};
use crate::value::{Value, defect};

impl<'a, R: DerivativeAccess> Interpreter<'a, R> {
    /// The checkpoints of the program and the position of a loop of its body. Where an evaluation
    /// is looked for, there are none.
    pub(crate) fn checkpoint_of(&self, stmt: &Stmt) -> Option<(Checkpoints, usize)> {
        let statements = &self.module.main.body.statements;
        let position = statements.iter().position(|other| std::ptr::eq(other, stmt));
        position.filter(|_| self.wanted.is_none()).map(|position| (checkpoints(self.module), position))
    }

    /// Gives back the state of the checkpoint, if the run goes on in this loop.
    pub(crate) fn resume(
        &mut self,
        frame: &mut Frame<'a, R>,
        checkpoints: &Checkpoints,
        position: usize,
        state: &mut R::Loop,
    ) -> Result<(), Error> {
        let Some(checkpoint) = checkpoints.loop_at(position) else { return Ok(()) };
        if !self.rt.resumes(checkpoint.number, state)? {
            return Ok(());
        }
        for (name, mutable) in checkpoint.variables() {
            let value = self.restored(name, &frame.function.mutables[mutable.0 as usize].ty)?;
            frame.mutables[mutable.0 as usize] = Some(value);
        }
        Ok(())
    }

    /// Gives back the values that skipped statements define.
    pub(crate) fn restore_values(&mut self, frame: &mut Frame<'a, R>, checkpoints: &Checkpoints, run: &Skipped) -> Result<(), Error> {
        for &value in &run.values {
            let name = checkpoints.name_of(SavedKind::Value(value)).unwrap_or_default();
            let restored = self.restored(name, &frame.function.values[value.0 as usize].ty)?;
            self.assign(frame, value, restored);
        }
        Ok(())
    }

    /// Writes a checkpoint at the end of a round, if there is one now.
    pub(crate) fn save(
        &mut self,
        frame: &Frame<'a, R>,
        checkpoints: &Checkpoints,
        position: usize,
        state: &mut R::Loop,
    ) -> Result<(), Error> {
        let Some(checkpoint) = checkpoints.loop_at(position) else { return Ok(()) };
        if !self.rt.checkpoint_due() {
            return Ok(());
        }
        for saved in &checkpoint.content {
            let (value, ty) = match saved.what {
                SavedKind::Mutable(mutable) => {
                    let value = frame.mutables[mutable.0 as usize].as_ref();
                    (value.ok_or_else(|| defect("a mutable has not been assigned"))?, frame.function.mutables[mutable.0 as usize].ty)
                }
                SavedKind::Value(value) => (frame.value(value)?, frame.function.values[value.0 as usize].ty),
            };
            let name = &saved.name;
            match value {
                Value::Scalar(v) => self.rt.save_scalar(name, v)?,
                Value::Bool(v) => self.rt.save_bool(name, v)?,
                Value::Vector(v) => self.rt.save_vector(name, v)?,
                Value::Sequence(v) => self.rt.save_sequence(name, v)?,
                Value::Table(_) => return Err(defect("a checkpoint has no tables")),
                Value::Domain(v) if ty.is_domain() => self.rt.save_domain(name, v)?,
                Value::Domain(v) => {
                    let entities = self.rt.entities(v)?;
                    self.rt.save_entities(name, &entities)?;
                }
                Value::Scalars(v) => self.rt.save_collection(name, v)?,
                Value::Vectors(v) => self.rt.save_vectors(name, v)?,
                Value::Bools(v) => self.rt.save_bools(name, v)?,
                Value::Entities(v) => self.rt.save_entities(name, v)?,
                Value::Text(_) => return Err(defect("a Text is no state")),
            }
        }
        self.rt.write_checkpoint(checkpoint.number, state)
    }

    fn restored(&mut self, name: &str, ty: &Type) -> Result<Value<R>, Error> {
        let value = match (ty.shape, ty.basic) {
            (Shape::Single, Basic::Scalar) => Value::Scalar(self.rt.restored_scalar(name)?),
            (Shape::Single, Basic::Bool) => Value::Bool(self.rt.restored_bool(name)?),
            (Shape::Single, Basic::Vector) => Value::Vector(self.rt.restored_vector(name)?),
            (Shape::Sequence, _) => Value::Sequence(self.rt.restored_sequence(name)?),
            (Shape::Domain(_), _) => Value::Domain(self.rt.restored_domain(name)?),
            (Shape::Collection(_), Basic::Scalar) => Value::Scalars(self.rt.restored_collection(name)?),
            (Shape::Collection(_), Basic::Vector) => Value::Vectors(self.rt.restored_vectors(name)?),
            (Shape::Collection(_), Basic::Bool) => Value::Bools(self.rt.restored_bools(name)?),
            (Shape::Collection(_), Basic::Entity(_)) => Value::Entities(self.rt.restored_entities(name)?),
            (Shape::Single, Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_))
            | (Shape::Collection(_), Basic::Text | Basic::Table | Basic::Axis(_)) => {
                return Err(defect("what a checkpoint does not have"));
            }
        };
        // Kernels are launched over sets whose domains may not be state themselves.
        if let (Shape::Collection(set), Some(domain)) = (ty.shape, self.collection_domain(&value)) {
            self.domains.entry(set).or_insert(domain);
        }
        Ok(value)
    }
}
