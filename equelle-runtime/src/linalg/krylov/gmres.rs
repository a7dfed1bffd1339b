//! Generalised minimal residuals with restart, right preconditioning and modified Gram-Schmidt.
//!
//! Y. Saad and M. H. Schultz, GMRES: a generalized minimal residual algorithm for solving
//! nonsymmetric linear systems, SIAM J. Sci. Stat. Comput. 7 (1986), doi:10.1137/0907058. The
//! flexible form, which stores each preconditioned basis vector, for a preconditioner that depends
//! on its argument: Y. Saad, A flexible inner-outer preconditioned GMRES algorithm, SIAM J. Sci.
//! Comput. 14 (1993), doi:10.1137/0914028.

use super::iteration::{Control, Cycle, ResidualMonitor, StopReason, System};
use crate::linalg::space::vector_space::{LinearOperator, Preconditioner, VectorSpace};

/// Basis of GMRES(m), for any matrix. Memory: m + 3 vectors, allocated as the first cycle needs
/// them. The flexible form takes m more: with a preconditioner that is variable or rounds much, and
/// after a cycle whose recurrence was far from the true residual.
///
/// Memory traffic of iteration j of a cycle (from 0): one product with the matrix, one
/// preconditioner, and 40 (j + 1) + 24 bytes an unknown if each operation is a pass of its own, on
/// average 20 m + 44. With the fused operations of [`VectorSpace`], 32 (j + 1) + 16, on average 16
/// m + 32. The update at the end of a cycle adds 24 or 16 an iteration. A check of the residual
/// adds nothing.
#[derive(Debug)]
pub struct Gmres<S: VectorSpace> {
    restart: usize,
    basis: Vec<S::Vector>,
    /// The preconditioned basis vectors, in the flexible form.
    directions: Vec<S::Vector>,
    /// True if the flexible form is used even for a preconditioner that claims to be fixed.
    flexible: bool,
    work: S::Vector,
}

impl<S: VectorSpace> Gmres<S> {
    /// A basis for at most `restart` iterations a cycle, at least 1.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(space: &mut S, restart: usize) -> Result<Self, S::Error> {
        Ok(Gmres { restart: restart.max(1), basis: Vec::new(), directions: Vec::new(), flexible: false, work: space.zeros()? })
    }

    /// Allocates `basis[index]` if it does not exist.
    fn grow(&mut self, space: &mut S, index: usize) -> Result<(), S::Error> {
        while self.basis.len() <= index {
            let vector = space.zeros()?;
            self.basis.push(vector);
        }
        Ok(())
    }
}

/// A plane rotation that maps the second of two numbers to zero.
struct Rotation<T> {
    cosine: T,
    sine: T,
}

impl<T: Clone> Rotation<T> {
    /// The rotation and the length of (a, b). For (0, 0) both factors are 0: a zero pivot and a
    /// zero residual, which the host sees.
    fn new<S: VectorSpace<Scalar = T>>(space: &mut S, a: &T, b: &T) -> (Self, T) {
        let (aa, bb) = (space.mul(a, a), space.mul(b, b));
        let square = space.add(&aa, &bb);
        let length = space.sqrt(&square);
        (Rotation { cosine: space.ratio(a, &length), sine: space.ratio(b, &length) }, length)
    }

    fn apply<S: VectorSpace<Scalar = T>>(&self, space: &mut S, a: &T, b: &T) -> (T, T) {
        let (ca, sb) = (space.mul(&self.cosine, a), space.mul(&self.sine, b));
        let (cb, sa) = (space.mul(&self.cosine, b), space.mul(&self.sine, a));
        (space.add(&ca, &sb), space.sub(&cb, &sa))
    }
}

impl<S: VectorSpace> Cycle<S> for Gmres<S> {
    fn cycle<A: LinearOperator<S>, M: Preconditioner<S>>(
        &mut self,
        space: &mut S,
        system: System<'_, A, M>,
        x: &mut S::Vector,
        r: &mut S::Vector,
        control: Control,
    ) -> Result<(usize, StopReason), S::Error> {
        let keeps = self.keeps(system.preconditioner);
        let zero = space.constant(0.0);
        let one = space.constant(1.0);
        self.grow(space, 0)?;
        let square = space.dot(r, r);
        let mut watch = ResidualMonitor::new(control);
        if system.operator.has_two_norms() {
            // The recurrence knows the 2-norm alone: it aims for the same part of that.
            let larger = system.operator.larger_square(space, r, &square);
            let [square, larger] = space.read([&square, &larger])?;
            watch = ResidualMonitor::new(Control { target: control.target.times((square / larger).sqrt()), ..control });
        }
        let norm = space.sqrt(&square);
        let inverse = space.ratio(&one, &norm);
        space.copy(&mut self.basis[0], r);
        space.scale(&mut self.basis[0], &inverse);

        // Upper triangle after the rotations, by columns, and the right-hand side of the small
        // least-squares problem.
        let mut columns: Vec<Vec<S::Scalar>> = Vec::new();
        let mut rotations: Vec<Rotation<S::Scalar>> = Vec::new();
        let mut rhs = vec![norm];
        let mut least_pivot = space.constant(f64::INFINITY);
        let proposal = loop {
            let j = columns.len();
            self.grow(space, j + 1)?;
            let (known, new) = self.basis.split_at_mut(j + 1);
            let w = &mut new[0];
            let made = if keeps {
                if self.directions.len() <= j {
                    let vector = space.zeros()?;
                    self.directions.push(vector);
                }
                &mut self.directions[j]
            } else {
                &mut self.work
            };
            system.preconditioner.apply(space, made, &known[j]);
            let mut h = system.operator.apply_dot(space, w, made, &known[0]);
            let mut column = Vec::with_capacity(j + 1);
            let mut known_square = zero.clone();
            for (i, v) in known.iter().enumerate() {
                // The component along the next basis vector; after the last one, of `w` itself.
                let next = space.sub_scaled_dot(w, &h, v, known.get(i + 1));
                let h_square = space.mul(&h, &h);
                known_square = space.add(&known_square, &h_square);
                column.push(std::mem::replace(&mut h, next));
            }
            let square = h;
            // Where the Krylov space ends, `w` is only round-off. It must not become a basis
            // vector: iterations before the next check would take it for a direction.
            let (left, known_length) = (space.sqrt(&square), space.sqrt(&known_square));
            let below = space.zero_if_cancelled(&left, &known_length);
            let inverse = space.ratio(&one, &below);
            space.scale(w, &inverse);
            for (i, rotation) in rotations.iter().enumerate() {
                (column[i], column[i + 1]) = rotation.apply(space, &column[i], &column[i + 1]);
            }
            let (rotation, pivot) = Rotation::new(space, &column[j], &below);
            least_pivot = space.min(&least_pivot, &pivot);
            column[j] = pivot.clone();
            columns.push(column);
            let (here, next) = rotation.apply(space, &rhs[j], &zero);
            rotations.push(rotation);
            rhs[j] = here;
            rhs.push(next);

            let iteration = j + 1;
            if watch.is_due(iteration) {
                let [residual, pivot, least_pivot] = space.read([&rhs[iteration], &pivot, &least_pivot])?;
                // An overflow may also appear as a direction of length zero.
                if !pivot.is_finite() {
                    break StopReason::NonFinite;
                }
                let residual = residual.abs();
                if least_pivot == 0.0 {
                    break StopReason::Breakdown("the Krylov space does not grow any more and holds no solution".to_owned());
                }
                if let Some(proposal) = watch.check(space, iteration, residual, || None) {
                    break proposal;
                }
            }
            if iteration == self.restart {
                break StopReason::Restart;
            }
        };
        self.correct(space, system, x, r, &columns, &mut rhs);
        Ok((columns.len(), proposal))
    }

    fn allow_for_variation(&mut self) -> bool {
        !std::mem::replace(&mut self.flexible, true)
    }
}

impl<S: VectorSpace> Gmres<S> {
    /// True if preconditioned basis vectors are stored.
    fn keeps(&self, preconditioner: &impl Preconditioner<S>) -> bool {
        self.flexible || preconditioner.is_rounded()
    }

    /// `x = x + M V y`, where `y` solves the triangular system; `r` is overwritten. Columns with a
    /// zero pivot contribute nothing.
    fn correct<A, M: Preconditioner<S>>(
        &mut self,
        space: &mut S,
        system: System<'_, A, M>,
        x: &mut S::Vector,
        r: &mut S::Vector,
        columns: &[Vec<S::Scalar>],
        rhs: &mut [S::Scalar],
    ) {
        for j in (0..columns.len()).rev() {
            rhs[j] = space.ratio(&rhs[j], &columns[j][j]);
            for i in 0..j {
                let product = space.mul(&columns[j][i], &rhs[j]);
                rhs[i] = space.sub(&rhs[i], &product);
            }
        }
        if self.keeps(system.preconditioner) {
            for (y, direction) in rhs.iter().zip(&self.directions).take(columns.len()) {
                space.add_scaled(x, y, direction);
            }
            return;
        }
        let zero = space.constant(0.0);
        space.scale(r, &zero);
        for (y, v) in rhs[..columns.len()].chunks(2).zip(self.basis.chunks(2)) {
            match y {
                [first, second] => space.add_scaled_two(r, first, &v[0], second, &v[1]),
                _ => space.add_scaled(r, &y[0], &v[0]),
            }
        }
        system.preconditioner.apply(space, &mut self.work, r);
        let one = space.constant(1.0);
        space.add_scaled(x, &one, &self.work);
    }
}
