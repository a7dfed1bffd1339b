//! Functions of cells and faces for both loops by hand, without branches.

use super::{DRY, GRAVITY, MIN_SPEED_DIFFERENCE};

/// Values that faces need of a cell besides its state; all zero where it is dry.
pub struct Wet {
    /// Discharges along x and y.
    pub mx: f64,
    pub my: f64,
    /// Velocity along x and y.
    pub u: f64,
    pub v: f64,
    /// Speed of waves.
    pub wave: f64,
    /// Pressure over density, times depth.
    pub pressure: f64,
}

/// `PROGRAM` keeps the operations of the Equelle program; otherwise one division does for both
/// velocities.
#[inline(always)]
pub fn wet<const PROGRAM: bool>(w: f64, hu: f64, hv: f64, bottom: f64) -> Wet {
    let h = w - bottom;
    let wet = h > DRY;
    let depth = if wet { h } else { 1.0 };
    let (u, v) = if PROGRAM {
        (hu / depth, hv / depth)
    } else {
        let inverse = 1.0 / depth;
        (hu * inverse, hv * inverse)
    };
    let or_zero = |x: f64| if wet { x } else { 0.0 };
    Wet {
        mx: or_zero(hu),
        my: or_zero(hv),
        u: or_zero(u),
        v: or_zero(v),
        wave: or_zero((GRAVITY * depth).sqrt()),
        pressure: or_zero(0.5 * GRAVITY * h * h),
    }
}

/// Central-upwind flux through a face from the state, flux along the normal, velocity along the
/// normal and speed of waves of both sides. `PROGRAM` keeps the operations of the Equelle program;
/// otherwise there is one division.
#[inline(always)]
pub fn central_upwind<const PROGRAM: bool>(q: [[f64; 3]; 2], f: [[f64; 3]; 2], velocity: [f64; 2], wave: [f64; 2]) -> [f64; 3] {
    let larger = |a: f64, b: f64| if a > b { a } else { b };
    let smaller = |a: f64, b: f64| if a < b { a } else { b };
    let high = larger(larger(velocity[0] + wave[0], velocity[1] + wave[1]), 0.0);
    let low = smaller(smaller(velocity[0] - wave[0], velocity[1] - wave[1]), 0.0);
    let speed_difference = high - low;
    let moves = speed_difference * speed_difference > MIN_SPEED_DIFFERENCE * MIN_SPEED_DIFFERENCE;
    if PROGRAM {
        let width = if moves { speed_difference } else { 1.0 };
        let part = low / width;
        [0, 1, 2].map(|i| {
            let flux = (high * f[0][i] - low * f[1][i]) / width + high * part * (q[1][i] - q[0][i]);
            if moves { flux } else { 0.0 }
        })
    } else {
        let inverse = 1.0 / if moves { speed_difference } else { 1.0 };
        let inverse = if moves { inverse } else { 0.0 };
        let (first, second) = (high * inverse, low * inverse);
        let both = high * second;
        [0, 1, 2].map(|i| first * f[0][i] - second * f[1][i] + both * (q[1][i] - q[0][i]))
    }
}
