use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::observer::{CellBox, RunState, StateValue};
use equelle_runtime::output::Record;
use equelle_runtime::{Error, Parameters, Reduction, Session, io, session::Options};

fn main() -> Result<(), Error> {
    let memory = io::DataSource::memory([("u", b"1 2 3 4".to_vec())]);
    let words = ["k=0.5", "u_filename=u", "steps=2*1"].map(str::to_owned);
    let parameters = Parameters::from_words_in(memory, &words)?;
    let grid = Grid::cartesian(Cartesian::line(4, 0.25))?;
    let mut session = Session::on_grid(decay::program(), parameters, grid, Options::silent())?;
    let outputs = session.record_outputs();
    session.observe(Box::new(|state: &mut dyn RunState| {
        println!("step {}: {}", state.moment().step, state.reduce("u", Reduction::Sum)?);
        if state.moment().step == 1 {
            // The two cells in the middle get what nobody computed.
            state.write_box("u", &CellBox::line(1..3), StateValue::Scalars(vec![8.0, 8.0]))?;
        }
        Ok(())
    }));
    backend_serial::runtime::run(session, decay::simulate)?;
    for output in outputs.take() {
        if let Record::Collection { tag, values } = output {
            println!("{tag}: {values:?}");
        }
    }
    Ok(())
}
