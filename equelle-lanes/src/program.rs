//! Lane programs: what a kernel does, as operations on registers of [`LANES`] elements.
//!
//! A program runs once for each block of elements. Its operations write all lanes of the region
//! that is open; where a region has gaps, lanes in them hold numbers that nothing reads. What
//! writes a variable (`Copy…`, [`Instr::Accumulate`]) or may fail heeds the gaps.

use equelle_front::ir::{FaceFilter, Interpolant, ParamId};
use equelle_front::ops::{Beyond, Comparison, Elementary, Logic, Offset};
use equelle_front::types::{EntityKind, SetId};
use equelle_runtime::grid::Cartesian;

/// Elements of a register.
pub const LANES: usize = 256;

/// Most regions that are open at the same time.
pub const MAX_REGIONS: usize = 24;

/// A register of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RealReg(pub u32);

/// A register of truth values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TruthReg(pub u32);

/// A register of entities; [`equelle_runtime::grid::NONE`] for Empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntityReg(pub u32);

/// Index into [`LaneProgram::uniforms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UniformId(pub u32);

/// Index into an array list of [`ArrayLists`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArrayId(pub u32);

/// Index into [`LaneProgram::offsets`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OffsetId(pub u32);

/// Index into [`LaneProgram::code`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address(pub u32);

/// A number that an operation reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RealSrc {
    /// The same in all lanes.
    Uniform(UniformId),
    /// A register.
    Reg(RealReg),
    /// Consecutive elements of an array: from the position of the first lane, plus the offset.
    Memory(ArrayId, i64),
}

/// Map from entities of a set to their positions in collections on the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RankSource {
    /// All entities of a kind.
    All(EntityKind),
    /// A set.
    Set(SetId),
}

/// Operations on one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RealUnary {
    /// The sign bit flips.
    Neg,
    /// Magnitude.
    Abs,
    /// Square root.
    Sqrt,
    /// One of the other functions.
    Elementary(Elementary),
}

/// Operations on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RealBinary {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a / b`
    Div,
    /// As [`equelle_runtime::math::min`].
    Min,
    /// As [`equelle_runtime::math::max`].
    Max,
    /// `a` to the power of `b`
    Pow,
    /// As [`equelle_runtime::math::atan2`].
    ATan2,
}

/// Operation that accumulates a term into a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Accumulation {
    /// `variable + term`
    Add,
    /// `variable - term`
    Sub,
    /// The sum where the truth value holds, else the difference.
    AddWhere(TruthReg),
    /// `max(variable, term)`
    Max,
    /// `min(variable, term)`
    Min,
}

/// The sign with which a derivative is added: that of the sums that it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntrySign {
    /// Plus: no sum, or the high side of a cell.
    Plus,
    /// Minus: the low side of a cell.
    Minus,
    /// Plus where the truth value holds, else minus.
    PlusWhere(TruthReg),
    /// Minus where the truth value holds, else plus.
    MinusWhere(TruthReg),
}

/// The element of an unknown that a derivative is by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The line of a variant explains its fields.
pub enum EntryColumn {
    /// At the position of the lane, plus the offset.
    Shifted(i64),
    /// That of an entity.
    At { ranks: ArrayId, at: EntityReg },
}

/// Cells with a neighbour at a side, or those at the boundary there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CellSide {
    /// Axis of the side.
    pub axis: u8,
    /// True for the high side.
    pub high: bool,
    /// True for the cells at the boundary.
    pub boundary: bool,
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The line of a variant explains its fields.
pub enum Instr {
    /// The same number in all lanes.
    Fill {
        dst: RealReg,
        value: UniformId,
    },
    /// A variable becomes a number, in the lanes of the region.
    CopyReal {
        dst: RealReg,
        src: RealSrc,
    },
    Unary {
        op: RealUnary,
        dst: RealReg,
        a: RealSrc,
    },
    Binary {
        op: RealBinary,
        dst: RealReg,
        a: RealSrc,
        b: RealSrc,
    },
    /// `acc + a * b`, or with a minus; rounded twice.
    MulAdd {
        dst: RealReg,
        acc: RealSrc,
        minus: bool,
        a: RealSrc,
        b: RealSrc,
    },
    /// `acc + t * (x - y)`, or with a minus; rounded three times.
    MulDiffAdd {
        dst: RealReg,
        acc: RealSrc,
        minus: bool,
        t: RealSrc,
        x: RealSrc,
        y: RealSrc,
    },
    Select {
        dst: RealReg,
        condition: TruthReg,
        a: RealSrc,
        b: RealSrc,
    },
    /// The value of a table, or its slope.
    Interpolate {
        dst: RealReg,
        table: ArrayId,
        of: Interpolant,
        x: RealSrc,
    },
    /// Takes a term into a variable, in the lanes of the region.
    Accumulate {
        variable: RealReg,
        how: Accumulation,
        term: RealSrc,
    },
    /// Takes `t * (x - y)` into a variable, in the lanes of the region.
    AccumulateMulDiff {
        variable: RealReg,
        minus: bool,
        t: RealSrc,
        x: RealSrc,
        y: RealSrc,
    },
    /// The same in the lanes of a side, in the outermost region: [`Instr::EnterSide`] and
    /// [`Instr::Leave`] around it.
    AccumulateSide {
        side: CellSide,
        variable: RealReg,
        minus: bool,
        t: RealSrc,
        x: RealSrc,
        y: RealSrc,
    },
    /// Elements of an array on a set at entities; fails where an entity is not in the set.
    GatherReal {
        dst: RealReg,
        array: ArrayId,
        ranks: ArrayId,
        at: EntityReg,
    },
    /// A component of a Vector of the grid at entities; fails where there is none.
    GatherTriple {
        dst: RealReg,
        array: ArrayId,
        axis: u8,
        at: EntityReg,
    },
    /// Elements at a side of the cells of the lanes: of an array on all faces.
    LoadSide {
        dst: RealReg,
        array: ArrayId,
        axis: u8,
        high: bool,
    },
    /// Elements at an offset from the cells of the lanes: of an array on all cells.
    LoadOffset {
        dst: RealReg,
        array: ArrayId,
        offset: OffsetId,
    },
    /// The number of a cell along an axis.
    CellIndex {
        dst: RealReg,
        at: EntityReg,
        axis: u8,
    },

    FillTruth {
        dst: TruthReg,
        value: UniformId,
    },
    CopyTruth {
        dst: TruthReg,
        src: TruthReg,
    },
    LoadTruth {
        dst: TruthReg,
        array: ArrayId,
        offset: i64,
    },
    GatherTruth {
        dst: TruthReg,
        array: ArrayId,
        ranks: ArrayId,
        at: EntityReg,
    },
    Compare {
        op: Comparison,
        dst: TruthReg,
        a: RealSrc,
        b: RealSrc,
    },
    CompareTruths {
        op: Comparison,
        dst: TruthReg,
        a: TruthReg,
        b: TruthReg,
    },
    Not {
        dst: TruthReg,
        a: TruthReg,
    },
    Logic {
        op: Logic,
        dst: TruthReg,
        a: TruthReg,
        b: TruthReg,
    },
    SelectTruth {
        dst: TruthReg,
        condition: TruthReg,
        a: TruthReg,
        b: TruthReg,
    },
    IsEmpty {
        dst: TruthReg,
        a: EntityReg,
    },
    Same {
        dst: TruthReg,
        a: EntityReg,
        b: EntityReg,
    },
    /// Tests membership in a set; fails where an entity is Empty.
    Member {
        dst: TruthReg,
        ranks: ArrayId,
        at: EntityReg,
    },
    CellOutside {
        dst: TruthReg,
        at: EntityReg,
        axis: u8,
        by: i8,
    },
    CellEven {
        dst: TruthReg,
        at: EntityReg,
        axes: [bool; 3],
    },
    /// Tests if a term takes the place of an extreme: the largest, or the smallest.
    Replaces {
        dst: TruthReg,
        largest: bool,
        extreme: RealSrc,
        term: RealSrc,
    },

    /// The elements of the lanes.
    Here {
        dst: EntityReg,
    },
    Empty {
        dst: EntityReg,
    },
    CopyEntity {
        dst: EntityReg,
        src: EntityReg,
    },
    LoadEntity {
        dst: EntityReg,
        array: ArrayId,
        offset: i64,
    },
    GatherEntity {
        dst: EntityReg,
        array: ArrayId,
        ranks: ArrayId,
        at: EntityReg,
    },
    SelectEntity {
        dst: EntityReg,
        condition: TruthReg,
        a: EntityReg,
        b: EntityReg,
    },
    /// First or second cell of faces; fails where a face is Empty.
    FaceCell {
        dst: EntityReg,
        face: EntityReg,
        second: bool,
    },
    /// The faces at a side of the cells of the lanes.
    SideFace {
        dst: EntityReg,
        axis: u8,
        high: bool,
    },
    /// The cells at an offset from cells; fails where there is none.
    OffsetCell {
        dst: EntityReg,
        from: EntityReg,
        offset: OffsetId,
    },

    /// Fails where an entity is Empty.
    Require {
        at: EntityReg,
    },
    /// Fails where a condition does not hold.
    Check {
        condition: TruthReg,
    },
    /// Fails in all lanes.
    Fail,

    /// Opens a region: the lanes where a condition is the value. Without any, goes on behind `end`.
    Enter {
        condition: TruthReg,
        value: bool,
        end: Address,
    },
    /// Opens a region: the cells with a neighbour at a side, or those at the boundary there.
    EnterSide {
        side: CellSide,
        end: Address,
    },
    /// Closes the region.
    Leave,
    /// Goes over the faces of cells, one of each cell at a time, each in a region of the cells that
    /// have another. Fails where a cell is Empty. Ends behind `end`, an [`Instr::NextFaces`].
    Faces {
        cell: EntityReg,
        face: EntityReg,
        outward: TruthReg,
        only: FaceFilter,
        end: Address,
    },
    /// Closes the region, and goes on with the next faces of a loop.
    NextFaces {
        begin: Address,
    },

    /// Adds to a derivative of the row of each lane, by an element of an unknown; fails where there
    /// is no such element.
    AddEntry {
        unknown: u32,
        place: EntryColumn,
        sign: EntrySign,
        value: RealSrc,
    },
    /// The row of each lane has a derivative by an element of an unknown, if there is such a one.
    MarkEntry {
        unknown: u32,
        place: EntryColumn,
    },

    /// Writes a result.
    StoreReal {
        result: u32,
        src: RealSrc,
    },
    StoreTruth {
        result: u32,
        src: TruthReg,
    },
    StoreEntity {
        result: u32,
        src: EntityReg,
    },
}

/// Something that is the same for all elements of a launch; truth values are 1 and 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The line of a variant explains its fields.
pub enum Uniform {
    /// A number, by its bits.
    Const(u64),
    /// A parameter that is a Scalar or a Bool.
    Param(ParamId),
    /// A component of a parameter that is a Vector.
    Component(ParamId, u8),
    /// A collection with one value for each axis.
    PerAxis(ParamId, u8),
    Unary(RealUnary, UniformId),
    Binary(RealBinary, UniformId, UniformId),
    Compare(Comparison, UniformId, UniformId),
    Not(UniformId),
    Logic(Logic, UniformId, UniformId),
    /// Condition, value if it holds, value if not.
    Select(UniformId, UniformId, UniformId),
    Interpolate(ArrayId, Interpolant, UniformId),
}

/// An array of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RealArray {
    /// A parameter that is a collection of Scalars.
    Scalars(ParamId),
    /// A component of a collection of Vectors.
    Component(ParamId, u8),
    /// Volumes, areas or lengths of all entities of a kind.
    Measures(EntityKind),
    /// Given transmissibilities of all faces.
    FaceTransmissibilities,
}

/// An array of Vectors of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TripleArray {
    /// Centroids of all entities of a kind.
    Centroids(EntityKind),
    /// Normals of all faces.
    Normals,
    /// Gaps of all faces.
    FaceGaps,
}

/// Arrays that a program reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArrayLists {
    /// Numbers.
    pub reals: Vec<RealArray>,
    /// Vectors.
    pub triples: Vec<TripleArray>,
    /// Truth values: parameters.
    pub truths: Vec<ParamId>,
    /// Entities: parameters.
    pub entities: Vec<ParamId>,
    /// Tables: parameters.
    pub tables: Vec<ParamId>,
    /// Places in sets.
    pub ranks: Vec<RankSource>,
}

/// Positions of the elements of the lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Layout {
    /// Consecutive entities, from this one on.
    Consecutive(u32),
    /// Elements of a list.
    #[default]
    List,
}

/// A compiled kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LaneProgram {
    /// Operations in order.
    pub code: Vec<Instr>,
    /// In an order in which each is made of earlier ones.
    pub uniforms: Vec<Uniform>,
    /// Arrays that it reads.
    pub arrays: ArrayLists,
    /// Offsets of reads by index, and what sides do.
    pub offsets: Vec<(Offset, Beyond)>,
    /// Positions of the elements.
    pub layout: Layout,
    /// The grid, if it is Cartesian.
    pub shape: Option<Cartesian>,
    /// Numbers of registers.
    pub n_reals: u32,
    /// Number of registers of truth values.
    pub n_truths: u32,
    /// Number of registers of entities.
    pub n_entities: u32,
}

impl LaneProgram {
    /// True if it asks for the cells of faces or the faces of cells.
    pub fn reads_topology(&self) -> bool {
        self.code.iter().any(|instr| matches!(instr, Instr::Faces { .. } | Instr::FaceCell { .. }))
    }
}
