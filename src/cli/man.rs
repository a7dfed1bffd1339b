//! `equellec man`

use clap_mangen::Man;

use super::args;
use equelle::failure::Failure;
use equelle::registry::Registry;

/// The manual page of the compiler or of a verb, as roff.
pub(super) fn page(backends: Registry, verb: Option<&str>) -> Result<String, Failure> {
    let mut whole = args::command(backends);
    // Verbs take the options of all verbs over.
    whole.build();
    let command = match verb {
        None => whole,
        Some(verb) => {
            let named = whole.get_subcommands().find(|command| command.get_name() == verb);
            named.ok_or_else(|| Failure::usage(format!("there is no verb `{verb}`; `equellec --help` lists them")))?.clone()
        }
    };
    let mut text = Vec::new();
    Man::new(command).render(&mut text).map_err(|error| Failure::io("write", "manual page".as_ref(), &error))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
