//! The driver as its users have it: commands, messages, files and folders of runs, builds and their
//! cache, packages in somebody's hands, and the pages that tell of them.

mod back_end;
mod background_build;
mod book;
mod cli;
mod embed;
mod forensics;
mod grid;
mod grid_bad;
mod imports;
mod library;
mod newcomer;
mod outputs;
mod records;
mod restart;
mod wrong_inputs;
