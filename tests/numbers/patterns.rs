//! The pages of the book with patterns and tables, and programs written in its way against closed
//! forms.

mod closed_forms;
mod gradients;
mod grid_file;
mod muscl;
mod page;
mod tables;
