//! The IR by itself: text form, verifier, interpreter, and kernels written by hand.

#[path = "ir/compiled.rs"]
mod compiled;
#[path = "ir/golden.rs"]
mod golden;
#[path = "ir/interpreter.rs"]
mod interpreter;
#[path = "ir/kernels.rs"]
mod kernels;
#[path = "ir/simulate.rs"]
mod simulate;
#[path = "ir/text.rs"]
mod text;
#[path = "ir/verify.rs"]
mod verify;
