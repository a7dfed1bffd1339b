//! Names of keywords in decks.

/// Keywords without data.
pub(super) const FLAGS: [&str; 27] = [
    "NOECHO", "ECHO", "RUNSPEC", "GRID", "EDIT", "REGIONS", "INIT", "NEWTRAN", "OLDTRAN", "OIL", "WATER", "GAS", "DISGAS", "VAPOIL",
    "UNIFIN", "UNIFOUT", "FMTIN", "FMTOUT", "IMPES", "FULLIMP", "NOSIM", "NONNC", "UNIFOUTS", "BLACKOIL", "CPR", "MONITOR", "NOINSPEC",
];

/// Keywords behind which there is nothing about the grid.
pub(super) const ENDS: [&str; 6] = ["PROPS", "SOLUTION", "SUMMARY", "SCHEDULE", "END", "OPTIMIZE"];

/// Arrays of cells that are known to be such.
pub(super) const CELL_ARRAYS: [&str; 42] = [
    "ACTNUM", "PORO", "PERMX", "PERMY", "PERMZ", "PERMXY", "PERMYZ", "PERMZX", "PERMXX", "PERMYY", "PERMZZ", "NTG", "MULTX", "MULTX-",
    "MULTY", "MULTY-", "MULTZ", "MULTZ-", "MULTPV", "DX", "DY", "DZ", "TOPS", "SATNUM", "PVTNUM", "EQLNUM", "FIPNUM", "FLUXNUM", "MULTNUM",
    "OPERNUM", "ROCKNUM", "IMBNUM", "ENDNUM", "FACIES", "SWL", "SWCR", "SWU", "SGL", "SGCR", "SGU", "SOWCR", "SOGCR",
];

const SINGLE: [&str; 22] = [
    "SPECGRID", "DIMENS", "COORD", "ZCORN", "INCLUDE", "BOX", "ENDBOX", "EQUALS", "COPY", "ADD", "MULTIPLY", "FAULTS", "MULTFLT", "MINPV",
    "PINCH", "GRIDUNIT", "NNC", "COORDSYS", "MAPAXES", "MAPUNITS", "GDORIENT", "CARFIN",
];

/// Whether a word is a keyword that decks of grids have; one in the middle of data shows that a
/// slash is missing.
pub(super) fn is_known(word: &str) -> bool {
    [&FLAGS[..], &ENDS[..], &CELL_ARRAYS[..], &SINGLE[..]].iter().any(|names| names.contains(&word))
}
