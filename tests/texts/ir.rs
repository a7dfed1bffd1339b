//! The IR by itself: text form, verifier, interpreter, and kernels written by hand.

mod compiled;
mod golden;
mod interpreter;
mod kernels;
mod simulate;
mod text;
mod verify;
