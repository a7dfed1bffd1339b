//! Types, entity sets and physical dimensions: the vocabulary shared by checker, typed tree and IR.

use std::fmt;

/// Kinds of grid entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntityKind {
    /// Cells: the control volumes.
    Cell,
    /// Faces between cells or on the boundary.
    Face,
    /// Edges (in 2D: the faces).
    Edge,
    /// Vertices.
    Vertex,
}

impl EntityKind {
    /// All kinds, in the order of their canonical sets.
    pub const ALL: [EntityKind; 4] = [EntityKind::Cell, EntityKind::Face, EntityKind::Edge, EntityKind::Vertex];

    /// `Cell`, `Face`, ...
    pub fn name(self) -> &'static str {
        match self {
            EntityKind::Cell => "Cell",
            EntityKind::Face => "Face",
            EntityKind::Edge => "Edge",
            EntityKind::Vertex => "Vertex",
        }
    }
}

/// Part of the entities of one kind that a canonical set holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Extent {
    /// Entities that do not touch the boundary.
    Interior,
    /// Entities that touch the boundary.
    Boundary,
    /// All of them.
    All,
}

/// One of the twelve canonical sets, such as `InteriorFaces()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CanonicalSet {
    /// Kind of its entities.
    pub kind: EntityKind,
    /// Part of the entities.
    pub extent: Extent,
}

impl CanonicalSet {
    /// `AllCells()`
    pub const ALL_CELLS: CanonicalSet = CanonicalSet { kind: EntityKind::Cell, extent: Extent::All };
    /// `AllFaces()`
    pub const ALL_FACES: CanonicalSet = CanonicalSet { kind: EntityKind::Face, extent: Extent::All };
    /// `InteriorFaces()`
    pub const INTERIOR_FACES: CanonicalSet = CanonicalSet { kind: EntityKind::Face, extent: Extent::Interior };
    /// `BoundaryFaces()`
    pub const BOUNDARY_FACES: CanonicalSet = CanonicalSet { kind: EntityKind::Face, extent: Extent::Boundary };

    /// All twelve: for each kind Interior, Boundary, All.
    pub fn all() -> impl Iterator<Item = CanonicalSet> {
        EntityKind::ALL
            .into_iter()
            .flat_map(|kind| [Extent::Interior, Extent::Boundary, Extent::All].into_iter().map(move |extent| CanonicalSet { kind, extent }))
    }

    /// Name of the built-in without parentheses: `InteriorFaces`.
    pub fn name(self) -> String {
        let extent = match self.extent {
            Extent::Interior => "Interior",
            Extent::Boundary => "Boundary",
            Extent::All => "All",
        };
        let kind = match self.kind {
            EntityKind::Cell => "Cells",
            EntityKind::Face => "Faces",
            EntityKind::Edge => "Edges",
            EntityKind::Vertex => "Vertices",
        };
        format!("{extent}{kind}")
    }
}

/// Index of an entity set in [`SetTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SetId(pub u32);

/// A set of distinct entities: canonical, or made at run time by an input.
#[derive(Clone, Debug, PartialEq)]
pub struct EntitySet {
    /// Canonical set, if it is one.
    pub canonical: Option<CanonicalSet>,
    /// Kind of its entities.
    pub kind: EntityKind,
    /// The set it is a subset of; an All-set is its own parent.
    pub parent: SetId,
    /// Name in messages and generated code: `AllCells()` for canonical sets, else the variable's
    /// name (or `set17` while anonymous).
    pub name: String,
}

/// All entity sets of a program. The twelve canonical ones always come first, in the order of
/// [`CanonicalSet::all`].
#[derive(Clone, Debug, PartialEq)]
pub struct SetTable {
    sets: Vec<EntitySet>,
}

impl Default for SetTable {
    fn default() -> Self {
        Self::new()
    }
}

impl SetTable {
    /// The canonical sets alone.
    pub fn new() -> Self {
        let mut table = SetTable { sets: Vec::new() };
        for set in CanonicalSet::all() {
            let parent = table.canonical(CanonicalSet { extent: Extent::All, ..set });
            table.sets.push(EntitySet { canonical: Some(set), kind: set.kind, parent, name: format!("{}()", set.name()) });
        }
        table
    }

    /// Id of a canonical set.
    pub fn canonical(&self, set: CanonicalSet) -> SetId {
        let position = CanonicalSet::all().position(|s| s == set);
        SetId(position.unwrap_or_default() as u32)
    }

    /// Adds a set made at run time, a subset of `parent`.
    pub fn add(&mut self, parent: SetId, name: Option<&str>) -> SetId {
        let id = SetId(self.sets.len() as u32);
        let name = name.map_or_else(|| format!("set{}", id.0), str::to_owned);
        self.sets.push(EntitySet { canonical: None, kind: self.get(parent).kind, parent, name });
        id
    }

    /// Renames a set made at run time; canonical sets keep their name.
    pub fn rename(&mut self, id: SetId, name: &str) {
        let set = &mut self.sets[id.0 as usize];
        if set.canonical.is_none() {
            set.name = name.to_owned();
        }
    }

    /// The set itself.
    ///
    /// # Panics
    /// If the id is of another table.
    pub fn get(&self, id: SetId) -> &EntitySet {
        &self.sets[id.0 as usize]
    }

    /// Ids of all sets.
    pub fn ids(&self) -> impl Iterator<Item = SetId> + use<> {
        (0..self.sets.len() as u32).map(SetId)
    }

    /// True if every element of `inner` is known to be in `outer`: reflexive, transitive over
    /// parents.
    pub fn is_subset(&self, inner: SetId, outer: SetId) -> bool {
        let mut set = inner;
        loop {
            if set == outer {
                return true;
            }
            let parent = self.get(set).parent;
            if parent == set {
                return false;
            }
            set = parent;
        }
    }

    /// The smallest canonical set known to hold `id`.
    pub fn canonical_superset(&self, id: SetId) -> CanonicalSet {
        let mut set = id;
        loop {
            match self.get(set).canonical {
                Some(canonical) => return canonical,
                None => set = self.get(set).parent,
            }
        }
    }

    /// True if the two sets are known to have no element in common (an interior and a boundary set
    /// of one kind).
    pub fn are_disjoint(&self, a: SetId, b: SetId) -> bool {
        let (a, b) = (self.canonical_superset(a), self.canonical_superset(b));
        a.kind != b.kind || matches!((a.extent, b.extent), (Extent::Interior, Extent::Boundary) | (Extent::Boundary, Extent::Interior))
    }
}

/// Types of one value or element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Basic {
    /// One real number.
    Scalar,
    /// A geometric vector, as many components as the grid has dimensions.
    Vector,
    /// A truth value.
    Bool,
    /// A grid entity, or Empty.
    Entity(EntityKind),
    /// Text.
    Text,
    /// A function of one number that data give: rows of arguments and values.
    Table,
    /// An index variable of a Cartesian grid: in the typed tree only.
    Axis(u8),
}

/// How many of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One.
    Single,
    /// One per element of a set.
    Collection(SetId),
    /// A domain: the entities of the set themselves, all distinct and none Empty.
    Domain(SetId),
    /// An ordered list tied to no grid.
    Sequence,
}

/// The type of a value, without arrays (the typed tree adds those) and without mutability (a
/// property of variables).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// Type of each element.
    pub basic: Basic,
    /// How many.
    pub shape: Shape,
    /// For entities: a set known to hold every non-Empty element. For a domain: its own set.
    pub within: Option<SetId>,
    /// Rules for its values beyond the grid where it is read by index: in the typed tree only.
    pub halo: Halo,
}

/// Rules for values beyond the grid, as the checker numbers them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Halo(pub u32);

impl Halo {
    /// No rules.
    pub const NONE: Halo = Halo(0);
}

impl Type {
    /// One real number.
    pub const SCALAR: Type = Type { basic: Basic::Scalar, shape: Shape::Single, within: None, halo: Halo::NONE };
    /// One truth value.
    pub const BOOL: Type = Type { basic: Basic::Bool, shape: Shape::Single, within: None, halo: Halo::NONE };
    /// Text.
    pub const TEXT: Type = Type { basic: Basic::Text, shape: Shape::Single, within: None, halo: Halo::NONE };
    /// A table.
    pub const TABLE: Type = Type { basic: Basic::Table, shape: Shape::Single, within: None, halo: Halo::NONE };
    /// A list of real numbers.
    pub const SEQUENCE: Type = Type { basic: Basic::Scalar, shape: Shape::Sequence, within: None, halo: Halo::NONE };

    /// `Collection Of <basic> On <set>` for Scalar, Vector, Bool.
    pub fn collection(basic: Basic, set: SetId) -> Type {
        Type { basic, shape: Shape::Collection(set), within: None, halo: Halo::NONE }
    }

    /// Entities of `kind`, one per element of `set`, each Empty or in `within`.
    pub fn entities(kind: EntityKind, set: SetId, within: SetId) -> Type {
        Type { basic: Basic::Entity(kind), shape: Shape::Collection(set), within: Some(within), halo: Halo::NONE }
    }

    /// The domain that is `set`.
    pub fn domain(kind: EntityKind, set: SetId) -> Type {
        Type { basic: Basic::Entity(kind), shape: Shape::Domain(set), within: Some(set), halo: Halo::NONE }
    }

    /// The set over which it has one value per element (a domain: itself).
    pub fn mapping(&self) -> Option<SetId> {
        match self.shape {
            Shape::Collection(set) | Shape::Domain(set) => Some(set),
            Shape::Single | Shape::Sequence => None,
        }
    }

    /// The type in the IR: index variables are the names of their axes, and halos are gone.
    #[must_use]
    pub fn lowered(self) -> Type {
        match self.basic {
            Basic::Axis(_) => Type::TEXT,
            Basic::Scalar | Basic::Vector | Basic::Bool | Basic::Entity(_) | Basic::Text | Basic::Table => self.bare(),
        }
    }

    /// Without a halo.
    #[must_use]
    pub fn bare(self) -> Type {
        Type { halo: Halo::NONE, ..self }
    }

    /// True if it is a domain.
    pub fn is_domain(&self) -> bool {
        matches!(self.shape, Shape::Domain(_))
    }
}

/// Exponents of the seven SI base dimensions: length, time, mass, temperature, electric current,
/// amount of substance, luminous intensity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dimension(pub [i32; 7]);

impl Dimension {
    /// No dimension.
    pub const NONE: Dimension = Dimension([0; 7]);
    /// Names of the SI base units, in the order of the exponents.
    pub const BASE_UNITS: [&str; 7] = ["Meter", "Second", "Kilogram", "Kelvin", "Ampere", "Mole", "Candela"];
    /// Metre.
    pub const LENGTH: Dimension = Dimension([1, 0, 0, 0, 0, 0, 0]);
    /// Second.
    pub const TIME: Dimension = Dimension([0, 1, 0, 0, 0, 0, 0]);

    /// Largest magnitude of an exponent. A power and its reciprocal are then both in range, or
    /// neither.
    pub const MAX_EXPONENT: i32 = i32::MAX;

    /// Returns the dimension of a product; `None` if an exponent leaves the range.
    pub fn times(self, other: Dimension) -> Option<Dimension> {
        Self::from_exponents(|i| i64::from(self.0[i]) + i64::from(other.0[i]))
    }

    /// Returns the dimension of a quotient; `None` if an exponent leaves the range.
    pub fn over(self, other: Dimension) -> Option<Dimension> {
        Self::from_exponents(|i| i64::from(self.0[i]) - i64::from(other.0[i]))
    }

    /// Returns the dimension of a power; `None` if an exponent leaves the range.
    pub fn power(self, exponent: i32) -> Option<Dimension> {
        Self::from_exponents(|i| i64::from(self.0[i]) * i64::from(exponent))
    }

    /// The dimension of these exponents, which an `i64` holds whatever two `i32` they are made of.
    fn from_exponents(exponent: impl Fn(usize) -> i64) -> Option<Dimension> {
        let mut result = Dimension::NONE;
        for (i, e) in result.0.iter_mut().enumerate() {
            *e = i32::try_from(exponent(i)).ok().filter(|e| *e >= -Dimension::MAX_EXPONENT)?;
        }
        Some(result)
    }

    /// Returns the dimension of a square root; `None` if an exponent is odd.
    pub fn square_root(self) -> Option<Dimension> {
        self.0.iter().all(|e| e % 2 == 0).then(|| Dimension(self.0.map(|e| e / 2)))
    }
}

impl Dimension {
    /// Symbols of units with a name of their own.
    const NAMED: [(&'static str, Dimension); 6] = [
        ("N", Dimension([1, -2, 1, 0, 0, 0, 0])),
        ("Pa", Dimension([-1, -2, 1, 0, 0, 0, 0])),
        ("J", Dimension([2, -2, 1, 0, 0, 0, 0])),
        ("W", Dimension([2, -3, 1, 0, 0, 0, 0])),
        ("V", Dimension([2, -3, 1, 0, -1, 0, 0])),
        ("C", Dimension([0, 1, 0, 0, 1, 0, 0])),
    ];

    /// Symbols of the SI base units, as texts have them.
    const SYMBOLS: [(&'static str, usize); 7] = [("kg", 2), ("mol", 5), ("A", 4), ("m", 0), ("s", 1), ("K", 3), ("cd", 6)];

    /// The SI unit as a reader knows it, such as `Pa` or `m²/s`; empty without a dimension.
    pub fn symbol(self) -> String {
        if let Some((name, _)) = Dimension::NAMED.iter().find(|(_, dimension)| *dimension == self) {
            return (*name).to_owned();
        }
        let product = |sign: i32| {
            let powers = Dimension::SYMBOLS.iter().map(|(symbol, index)| (symbol, i64::from(self.0[*index]) * i64::from(sign)));
            let text = |(symbol, power): (&&str, i64)| match power {
                1 => (*symbol).to_owned(),
                2 => format!("{symbol}²"),
                3 => format!("{symbol}³"),
                power => format!("{symbol}^{power}"),
            };
            powers.filter(|(_, power)| *power > 0).map(text).collect::<Vec<_>>()
        };
        let (above, below) = (product(1), product(-1));
        match (above.is_empty(), &below[..]) {
            (true, []) => String::new(),
            (false, []) => above.join("·"),
            (true, [single]) => format!("1/{single}"),
            (false, [single]) => format!("{}/{single}", above.join("·")),
            (true, several) => format!("1/({})", several.join("·")),
            (false, several) => format!("{}/({})", above.join("·"), several.join("·")),
        }
    }
}

impl fmt::Display for Dimension {
    /// `[Meter^-1 * Second^-2 * Kilogram]`; nothing when dimensionless.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = Dimension::BASE_UNITS
            .iter()
            .zip(self.0)
            .filter(|&(_, e)| e != 0)
            .map(|(name, e)| if e == 1 { (*name).to_owned() } else { format!("{name}^{e}") })
            .collect();
        if parts.is_empty() { Ok(()) } else { write!(f, "[{}]", parts.join(" * ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::Dimension;

    #[test]
    fn units_are_as_readers_know_them() {
        let of = |exponents| Dimension(exponents).symbol();
        let found = [
            of([0; 7]),
            of([1, 0, 0, 0, 0, 0, 0]),
            of([-1, -2, 1, 0, 0, 0, 0]),
            of([2, -1, 0, 0, 0, 0, 0]),
            of([0, -1, 0, 0, 0, 0, 0]),
            of([-1, -1, 1, 0, 0, 0, 0]),
            of([1, -3, 1, -1, 0, 0, 0]),
            of([2, -2, 0, -4, 0, 0, 0]),
            of([-3, 0, 1, 0, 0, 0, 0]),
        ];
        assert_eq!(found, ["", "m", "Pa", "m²/s", "1/s", "kg/(m·s)", "kg·m/(s³·K)", "m²/(s²·K^4)", "kg/m³"]);
    }
}
