//! Launchers of MPI, recognised by the variables that they set for the processes they start.

/// MPIs whose launchers and libraries understand each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Open MPI.
    OpenMpi,
    /// MPICH and what follows it: Intel MPI, Cray MPICH, MVAPICH.
    Mpich,
}

impl Family {
    /// Both.
    pub const ALL: [Family; 2] = [Family::OpenMpi, Family::Mpich];

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Family::OpenMpi => "Open MPI",
            Family::Mpich => "MPICH",
        }
    }
}

/// A start of this process by a launcher, with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MpiStart {
    /// The MPI of the launcher, where it tells.
    pub family: Option<Family>,
    /// Number of processes.
    pub n_ranks: u32,
    /// The number of this one.
    pub rank: Option<u32>,
}

/// The start of this process, if there is one of more than one process. `variable` is the value of
/// a variable of the environment.
pub fn mpi_start(variable: impl Fn(&str) -> Option<String>) -> Option<MpiStart> {
    let number = |name: &str| variable(name).and_then(|text| text.trim().parse::<u32>().ok());
    let open_mpi = || number("OMPI_COMM_WORLD_SIZE").map(|n| (Some(Family::OpenMpi), n, number("OMPI_COMM_WORLD_RANK")));
    let mpich = || number("PMI_SIZE").zip(number("PMI_RANK")).map(|(n, rank)| (Some(Family::Mpich), n, Some(rank)));
    // SLURM_NTASKS is set in an allocation too, where nothing is started several times.
    let slurm = || number("SLURM_STEP_NUM_TASKS").map(|n| (None, n, number("SLURM_PROCID")));
    let (family, n_ranks, rank) = open_mpi().or_else(mpich).or_else(slurm)?;
    (n_ranks > 1).then_some(MpiStart { family, n_ranks, rank })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Option<MpiStart> {
        mpi_start(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn launchers_are_recognised_by_their_variables() {
        assert_eq!(of(&[]), None);
        let found = of(&[("OMPI_COMM_WORLD_SIZE", "4"), ("OMPI_COMM_WORLD_RANK", "2"), ("PMIX_RANK", "2")]);
        assert_eq!(found, Some(MpiStart { family: Some(Family::OpenMpi), n_ranks: 4, rank: Some(2) }));
        let found = of(&[("PMI_RANK", "0"), ("PMI_SIZE", "3")]);
        assert_eq!(found, Some(MpiStart { family: Some(Family::Mpich), n_ranks: 3, rank: Some(0) }));
        let found = of(&[("SLURM_STEP_NUM_TASKS", "8"), ("SLURM_PROCID", "7")]);
        assert_eq!(found, Some(MpiStart { family: None, n_ranks: 8, rank: Some(7) }));
        // Open MPI within a step of SLURM says which MPI it is.
        let found = of(&[("SLURM_STEP_NUM_TASKS", "2"), ("OMPI_COMM_WORLD_SIZE", "16")]);
        assert_eq!(found.and_then(|found| found.family), Some(Family::OpenMpi));
    }

    /// A shell in an allocation, one process, or a rank without their number, is no start of
    /// several.
    #[test]
    fn what_starts_one_process_is_no_launcher() {
        assert_eq!(of(&[("SLURM_NTASKS", "8"), ("SLURM_PROCID", "0")]), None);
        assert_eq!(of(&[("SLURM_STEP_NUM_TASKS", "1"), ("SLURM_PROCID", "0")]), None);
        assert_eq!(of(&[("OMPI_COMM_WORLD_SIZE", "1")]), None);
        assert_eq!(of(&[("PMIX_RANK", "1")]), None);
        assert_eq!(of(&[("PMI_RANK", "1")]), None);
    }
}
