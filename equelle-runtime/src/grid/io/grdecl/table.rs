//! Keywords of decks: the shape of their data, and what the reader does with each.
//!
//! Everything up to the section PROPS is about the grid. A keyword that is not in the table is
//! taken for an array if it has a number for each cell, and left out with a note otherwise.

/// Data that follow a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// None: the rest of the line is a remark.
    Flag,
    /// One record up to its slash.
    Record,
    /// Records up to an empty one.
    Records,
    /// A number for each cell of the box.
    Cells,
    /// Lines of text.
    Lines(usize),
    /// Everything up to a keyword.
    Block(&'static str),
    /// Data that the keyword's own reader takes.
    Own,
}

/// A part of a deck that a grid cannot show. It is refused, unless a parameter says `ignore`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeckFeature {
    /// Connections without geometry.
    Nnc,
    /// Two continua in one cell.
    DualPorosity,
    /// Local refinement and coarsening.
    Refinement,
    /// Transmissibilities in place of permeabilities.
    Transmissibility,
    /// Cells and sides that are joined to aquifers.
    Aquifer,
    /// Only neighbours by index are connected.
    NeighboursOnly,
    /// Pinch-outs by region, and other rules for them.
    PinchRegions,
}

impl DeckFeature {
    /// All of them.
    pub const ALL: [DeckFeature; 7] = [
        DeckFeature::Nnc,
        DeckFeature::DualPorosity,
        DeckFeature::Refinement,
        DeckFeature::Transmissibility,
        DeckFeature::Aquifer,
        DeckFeature::NeighboursOnly,
        DeckFeature::PinchRegions,
    ];

    /// The parameter that may be `ignore`.
    pub const fn parameter(self) -> &'static str {
        match self {
            DeckFeature::Nnc => "nnc",
            DeckFeature::DualPorosity => "dualporo",
            DeckFeature::Refinement => "lgr",
            DeckFeature::Transmissibility => "tran",
            DeckFeature::Aquifer => "aquifer",
            DeckFeature::NeighboursOnly => "nonnc",
            DeckFeature::PinchRegions => "pinchreg",
        }
    }

    /// The reason for which it is refused.
    pub(super) const fn reason(self) -> &'static str {
        match self {
            DeckFeature::Nnc => "connections that name their grids are not read",
            DeckFeature::DualPorosity => "fractures and matrix in one cell are not read",
            DeckFeature::Refinement => "local refinement and coarsening of grids are not read",
            DeckFeature::Transmissibility => "transmissibilities in place of those of geometry and permeability are not read",
            DeckFeature::Aquifer => "connections to aquifers are not read",
            DeckFeature::NeighboursOnly => "faults and pinched layers are connected here, and this keyword forbids it",
            DeckFeature::PinchRegions => "rules for pinched layers that differ from region to region are not read",
        }
    }

    /// The results without it.
    pub(super) const fn without(self) -> &'static str {
        match self {
            DeckFeature::Nnc => "nothing flows through them then",
            DeckFeature::DualPorosity => "cells of both continua are ordinary cells then, and do not exchange",
            DeckFeature::Refinement => "the cells of the coarse grid stay as they are then",
            DeckFeature::Transmissibility => "those of geometry and permeability hold then",
            DeckFeature::Aquifer => "no water comes from them then, and their cells are ordinary ones",
            DeckFeature::NeighboursOnly => "they stay connected then",
            DeckFeature::PinchRegions => "PINCH alone holds then",
        }
    }
}

/// Use of a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It is read.
    Read,
    /// It has no effect on the grid.
    Harmless,
    /// It changes the answer, and is refused unless it is ignored.
    Changes(DeckFeature),
    /// It is refused, for this reason.
    Refused(&'static str),
    /// Nothing behind it is about the grid.
    End,
}

struct Group {
    shape: Shape,
    use_: Use,
    names: &'static [&'static str],
}

const fn group(shape: Shape, use_: Use, names: &'static [&'static str]) -> Group {
    Group { shape, use_, names }
}

const GROUPS: &[Group] = &[
    group(
        Shape::Cells,
        Use::Read,
        &[
            "ACTNUM", "PORO", "PORV", "PERMX", "PERMY", "PERMZ", "PERMXY", "PERMYZ", "PERMZX", "PERMXX", "PERMYY", "PERMZZ", "PERMR",
            "PERMTHT", "NTG", "MULTX", "MULTX-", "MULTY", "MULTY-", "MULTZ", "MULTZ-", "MULTPV", "DX", "DY", "DZ", "DZNET", "TOPS",
            "SATNUM", "PVTNUM", "EQLNUM", "FIPNUM", "FLUXNUM", "MULTNUM", "OPERNUM", "ROCKNUM", "IMBNUM", "ENDNUM", "MISCNUM", "KRNUM",
            "PINCHNUM", "FACIES", "SWL", "SWCR", "SWU", "SGL", "SGCR", "SGU", "SOWCR", "SOGCR", "MINPVV", "DEPTH", "THCONR", "THCROCK",
            "THCOIL", "THCGAS", "THCWATER", "HEATCR", "ROCKFRAC", "DIFFMX", "DIFFMY", "DIFFMZ",
        ],
    ),
    group(
        Shape::Own,
        Use::Read,
        &[
            "SPECGRID", "DIMENS", "COORD", "ZCORN", "INCLUDE", "BOX", "MINPV", "MINPORV", "PINCH", "GRIDUNIT", "GRIDOPTS", "DXV", "DYV",
            "DZV", "DEPTHZ", "EQUALS", "COPY", "ADD", "MULTIPLY", "MAXVALUE", "MINVALUE", "OPERATE", "OPERATER", "EQUALREG", "ADDREG",
            "MULTIREG", "COPYREG", "FAULTS", "MULTFLT", "MULTREGT", "MULTREGP", "PATHS", "NNC", "EDITNNC", "EDITNNCR",
        ],
    ),
    group(
        Shape::Flag,
        Use::Read,
        &["ENDBOX", "METRIC", "FIELD", "LAB", "PINCHOUT", "EDIT", "GRID", "ENDINC", "NONNC", "SKIP", "SKIP100", "SKIP300", "ENDSKIP"],
    ),
    group(Shape::Lines(1), Use::Harmless, &["TITLE"]),
    group(
        Shape::Flag,
        Use::Harmless,
        &[
            "NOECHO", "ECHO", "RUNSPEC", "REGIONS", "INIT", "NEWTRAN", "OLDTRAN", "OLDTRANR", "OIL", "WATER", "GAS", "DISGAS", "VAPOIL",
            "VAPWAT", "DISGASW", "UNIFIN", "UNIFOUT", "UNIFOUTS", "FMTIN", "FMTOUT", "FMTHMD", "IMPES", "AIM", "VISCD", "FULLIMP", "NOSIM",
            "BLACKOIL", "CPR", "MONITOR", "NOMONITO", "NOINSPEC", "INSPEC", "NORSSPEC", "RSSPEC", "NOGGF", "CART", "MULTIN", "MULTOUT",
            "NODPPM", "PVT-M", "BRINE", "SOLVENT", "POLYMER", "POLYMW", "FOAM", "SURFACT", "SURFACTW", "THERMAL", "TEMP", "ALKALINE",
            "MISCIBLE", "DIFFUSE", "GRAVDR", "CO2STORE", "CO2STOR", "CO2SOL", "H2STORE", "GASWAT", "LIVEOIL", "DEADOIL", "WARP",
            "FRICTION", "ECLMC", "DUMPFLUX", "COAL", "BIOFILM", "MICP", "PRECSALT", "SALTREC", "MECH", "MPFA", "WATVISCT", "SALTSOL",
        ],
    ),
    group(
        Shape::Record,
        Use::Harmless,
        &[
            "START", "TABDIMS", "EQLDIMS", "REGDIMS", "WELLDIMS", "VFPPDIMS", "VFPIDIMS", "FAULTDIM", "NSTACK", "ENDSCALE", "SATOPTS",
            "EQLOPTS", "ROCKCOMP", "AQUDIMS", "NUPCOL", "WSEGDIMS", "ACTDIMS", "UDQDIMS", "UDQPARAM", "UDADIMS", "MESSAGES", "MSGFILE",
            "TRACERS", "PARALLEL", "NUMRES", "PIMTDIMS", "SMRYDIMS", "SCDPDIMS", "LGR", "COMPS", "GRIDFILE", "RPTGRID", "RPTGRIDL",
            "RPTRUNSP", "RPTISOL", "COORDSYS", "MAPAXES", "MAPUNITS", "GDORIENT", "OPTIONS", "DEBUG", "TRACKS", "MEMORY", "JFUNC",
            "ACTPARAM", "CPIFACT", "TVDP", "PEDIMS", "OUTSOL", "GRIDSOL", "ROCKDIMS", "NMATRIX", "RIVRDIMS", "DISPDIMS", "CNAMES", "EOS",
        ],
    ),
    group(Shape::Records, Use::Harmless, &["DUMPCUPL", "THPRESFT", "HEATTX", "MULTREGD", "MULTREGH"]),
    group(Shape::Records, Use::Changes(DeckFeature::Nnc), &["NNCGEN", "EDITNNCG"]),
    group(Shape::Flag, Use::Changes(DeckFeature::DualPorosity), &["DUALPORO", "DUALPERM", "DPGRID"]),
    group(Shape::Record, Use::Changes(DeckFeature::DualPorosity), &["SIGMA", "SIGMAV", "SIGMAGD", "DPNUM"]),
    group(Shape::Block("ENDFIN"), Use::Changes(DeckFeature::Refinement), &["CARFIN", "RADFIN", "RADFIN4", "REFINE"]),
    group(Shape::Records, Use::Changes(DeckFeature::Refinement), &["AMALGAM", "COARSEN"]),
    group(Shape::Record, Use::Changes(DeckFeature::Refinement), &["AUTOREF", "AUTOCOAR"]),
    group(Shape::Flag, Use::Harmless, &["ENDFIN"]),
    group(
        Shape::Cells,
        Use::Changes(DeckFeature::Transmissibility),
        &["TRANX", "TRANY", "TRANZ", "TRANR", "TRANTHT", "TRANXY", "TRANYZ", "TRANZX", "PSPLITX", "PSPLITY", "PSPLITZ"],
    ),
    group(Shape::Records, Use::Changes(DeckFeature::Aquifer), &["AQUNUM", "AQUCON", "AQUANCON", "AQANCONL"]),
    group(Shape::Records, Use::Changes(DeckFeature::PinchRegions), &["PINCHREG"]),
    group(Shape::Flag, Use::Refused("radial coordinates are not read"), &["RADIAL", "SPIDER"]),
    group(Shape::Record, Use::Refused("grids in files of their own are not read"), &["GDFILE", "IMPORT"]),
    group(Shape::Flag, Use::End, &["PROPS", "SOLUTION", "SUMMARY", "SCHEDULE", "END", "OPTIMIZE"]),
];

/// Shape and use of a keyword.
pub(super) fn find(name: &str) -> Option<(Shape, Use)> {
    GROUPS.iter().find(|group| group.names.contains(&name)).map(|group| (group.shape, group.use_))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_keyword_stands_twice() {
        let mut seen = BTreeSet::new();
        for name in GROUPS.iter().flat_map(|group| group.names) {
            assert!(seen.insert(name), "{name}");
            assert!(
                name.len() <= 8 && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'-'),
                "{name}"
            );
        }
    }
}
