//! The table of diagnostic codes. A code once given keeps its meaning. 00xx text and syntax, 01xx
//! names, 02xx types and domains, 03xx units, 04xx functions, 05xx built-ins and solvers, 09xx
//! limits; W for warnings.

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The program has no meaning.
    Error,
    /// It has, but perhaps not the one intended.
    Warning,
    /// For information.
    Note,
}

macro_rules! codes {
    ($($variant:ident = $code:literal, $severity:ident, $title:literal;)*) => {
        /// Stable identity of a diagnostic.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs)]
        pub enum Code { $(#[doc = $title] $variant,)* }

        impl Code {
            /// All codes in order.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// `E0042`.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $code,)* }
            }

            /// Severity of every diagnostic with this code.
            pub fn severity(self) -> Severity {
                match self { $(Code::$variant => Severity::$severity,)* }
            }

            /// A few words.
            pub fn title(self) -> &'static str {
                match self { $(Code::$variant => $title,)* }
            }
        }
    };
}

// Syntax codes are listed first, then those of the checker. Keep each family together.
codes! {
    UnexpectedCharacter = "E0001", Error, "unexpected character";
    MalformedNumber = "E0002", Error, "malformed number";
    NumberOutOfRange = "E0003", Error, "number out of range";
    UnterminatedString = "E0004", Error, "unterminated string";
    UnexpectedToken = "E0005", Error, "unexpected token";
    UnknownEscape = "E0006", Error, "unknown escape in a string";
    MisplacedContinuation = "E0007", Error, "`...` not at the end of a line";
    MissingContinuation = "E0008", Error, "statement split over lines without `...`";
    ComparisonChain = "E0009", Error, "chain of comparisons";
    OnChain = "E0010", Error, "On or Extend twice without parentheses";
    TernaryChain = "E0011", Error, "chain of ternaries without parentheses";
    MisplacedUnit = "E0012", Error, "unit after something that is not a number";
    IndexAfterNumber = "E0013", Error, "index after a number";
    InvalidUnit = "E0014", Error, "malformed unit";
    MisplacedBrace = "E0015", Error, "brace in the wrong place";
    MissingBrace = "E0016", Error, "block without closing brace";
    UnmatchedBrace = "E0017", Error, "closing brace without block";
    ExpressionStatement = "E0018", Error, "expression used as a statement";
    UpperCaseName = "E0019", Error, "name that begins with an upper-case letter";
    MissingArgument = "E0020", Error, "missing argument";
    InvalidParameter = "E0021", Error, "parameter that is not a plain name";
    InvalidArrayType = "E0022", Error, "array of arrays or of no elements";
    DeclarationWithBody = "E0023", Error, "function declared and defined in one statement";
    NestingTooDeep = "E0024", Error, "nesting too deep";
    TextTooLong = "E0025", Error, "program too long";
    PowerChain = "E0026", Error, "chain of powers without parentheses";
    PowerOfNegative = "E0027", Error, "power of a negated value without parentheses";

    UnknownName = "E0101", Error, "unknown name";
    UnknownFunction = "E0102", Error, "unknown function";
    UnknownBuiltin = "E0103", Error, "unknown built-in";
    Redeclaration = "E0104", Error, "name already in use";
    AssignToImmutable = "E0105", Error, "second assignment to an immutable variable";
    AssignToFunction = "E0106", Error, "assignment to a function";
    UnassignedVariable = "E0107", Error, "use of an unassigned variable";
    FunctionAsValue = "E0108", Error, "function used as a value";
    NotAFunction = "E0109", Error, "call of something that is not a function";
    FirstAssignmentInside = "E0110", Error, "first assignment of an outer variable inside a loop or function";
    ImportNotFound = "E0111", Error, "import of a text that cannot be read";
    CircularImport = "E0112", Error, "circular import";
    ImportedEffect = "E0113", Error, "imported text that does more than define";
    UnknownImport = "E0114", Error, "import of a name that is not there";
    ImportInside = "E0115", Error, "import inside a function or a loop";

    NotNumeric = "E0201", Error, "arithmetic on something that is not a number";
    ArrayOperand = "E0202", Error, "operation on a whole array";
    DifferentDomains = "E0203", Error, "collections on different domains";
    DifferentTypes = "E0204", Error, "sum of different types";
    SequenceArithmetic = "E0205", Error, "arithmetic that sequences do not have";
    VectorProduct = "E0206", Error, "product of two vectors";
    DivisionByNonScalar = "E0207", Error, "division by something that is not a Scalar";
    NotComparable = "E0208", Error, "comparison of things that cannot be compared";
    NoNorm = "E0209", Error, "norm of something that has none";
    SequenceOnExtend = "E0210", Error, "On or Extend of a sequence";
    ExtendTarget = "E0211", Error, "Extend to something that is not a domain";
    ExtendNotContained = "E0212", Error, "Extend to a domain that does not contain the data's";
    OnTarget = "E0213", Error, "On something that is not a collection of entities";
    OnData = "E0214", Error, "On of something that is not a collection";
    OnNotContained = "E0215", Error, "On entities outside the data's domain";
    TernaryCondition = "E0216", Error, "condition that is not a Bool";
    TernaryBranches = "E0217", Error, "branches of different types";
    DeclaredType = "E0218", Error, "value does not have the declared type";
    TypeDomain = "E0219", Error, "type names something that is not a collection of entities";
    EmptyArray = "E0220", Error, "empty array";
    NestedArray = "E0221", Error, "array of arrays";
    ArrayElementTypes = "E0222", Error, "array elements of different types";
    ArrayIndex = "E0223", Error, "array index out of bounds";
    VectorIndex = "E0224", Error, "component index out of bounds";
    NotIndexable = "E0225", Error, "index into something that has no elements";
    LogicOperand = "E0226", Error, "logic on something that is not a Bool";
    NotASequence = "E0227", Error, "loop over something that is not a sequence";
    NoValue = "E0228", Error, "use of a call that has no value";
    ExtendData = "E0229", Error, "Extend of something that cannot be spread";
    NoDomainOfText = "E0230", Error, "collection or sequence of String";
    PowerOperand = "E0231", Error, "power of something that is not a Scalar";
    NotFinite = "E0232", Error, "constant that is not finite";
    ArrayLengths = "E0233", Error, "arrays of different lengths";
    LoopCondition = "E0234", Error, "condition of a loop that is not one Bool";
    RangeBounds = "E0235", Error, "bounds of a Range that are not whole numbers";
    TableElement = "E0236", Error, "array of tables";

    UnknownUnit = "E0301", Error, "unknown unit";
    SumDimensions = "E0302", Error, "sum of different dimensions";
    ComparisonDimensions = "E0303", Error, "comparison of different dimensions";
    TernaryDimensions = "E0304", Error, "branches of different dimensions";
    MutableDimension = "E0305", Error, "mutable variable would change its dimension";
    SqrtDimension = "E0306", Error, "square root of an odd dimension";
    ProdReduceDimension = "E0307", Error, "product of a whole collection with a dimension";
    UnitRange = "E0308", Error, "unit out of range";
    PowerDimension = "E0309", Error, "power of a dimension that is not a whole number";
    ArgumentDimension = "E0310", Error, "argument of a wrong dimension";
    DimensionRange = "E0311", Error, "exponent of a dimension out of range";

    ArgumentCount = "E0401", Error, "wrong number of arguments";
    ArgumentType = "E0402", Error, "wrong argument type";
    Recursion = "E0403", Error, "recursion";
    MissingReturn = "E0404", Error, "function without result";
    AfterReturn = "E0405", Error, "return is not the last statement";
    ReturnOutside = "E0406", Error, "return outside a function";
    FunctionTwice = "E0407", Error, "function declared or defined twice";
    ResultType = "E0408", Error, "result does not have the declared type";
    ParameterCount = "E0409", Error, "definition and declaration have different parameters";
    FunctionNotDefined = "E0410", Error, "function is declared but not yet defined";
    DuplicateParameter = "E0411", Error, "two parameters of one name";
    ReturnInLoop = "E0412", Error, "return inside a loop";

    OutputData = "E0501", Error, "data that cannot be written";
    NewtonFunction = "E0502", Error, "residual is not a function";
    NewtonGuess = "E0503", Error, "unsuitable guess for an unknown";
    NewtonResidual = "E0504", Error, "residual does not match its unknown";
    NewtonNested = "E0505", Error, "Newton inside a residual";
    NewtonCount = "E0506", Error, "different numbers of residuals and unknowns";
    NewtonArguments = "E0507", Error, "Newton system needs arrays";
    StencilLeft = "E0508", Error, "assignment by index of something else than the cell itself";
    NewtonIndependent = "E0509", Error, "equation that depends on no unknown, or unknown in no equation";
    DomainRepeated = "E0510", Error, "domain by condition in a loop or a residual";
    ConditionOnState = "E0511", Error, "condition of a domain that depends on state";
    ParameterKey = "E0512", Error, "input with a key that something else has";
    OutputName = "E0513", Error, "output with the name of another one's column";

    StencilBeyond = "E0601", Error, "read beyond the grid without a rule";
    StencilOrder = "E0602", Error, "indices in another order than the axes";
    StencilTwice = "E0603", Error, "axis used twice in a read";
    StencilNotIndex = "E0604", Error, "index that is no index variable with a whole offset";
    StencilOperand = "E0605", Error, "read by index of something that has no cells";
    StencilDomain = "E0606", Error, "read by index of a collection that is not on all cells";
    HaloTwice = "E0607", Error, "two rules for a side";
    HaloRule = "E0608", Error, "something else than a rule in Halo";
    HaloUnit = "E0609", Error, "value of a rule with a wrong type or dimension";
    HaloMutable = "E0610", Error, "halo of a mutable variable";
    HaloEscapes = "E0611", Error, "halo with a value of a function that has ended";

    TooManyInstances = "E0901", Error, "too many instances of functions";
    NestedTooDeeply = "E0902", Error, "nested too deeply";

    UnusedVariable = "W0101", Warning, "unused variable";
    UnusedParameter = "W0102", Warning, "unused parameter";
    NeverAssigned = "W0103", Warning, "variable is never assigned";
    UnusedImport = "W0104", Warning, "imported name is never used";
    EqualityOfReals = "W0201", Warning, "equality of computed numbers";
    ConstantCondition = "W0202", Warning, "condition of a loop that its rounds never change";
    LastStep = "W0203", Warning, "end of a loop that rounding may miss by a tiny step";
    DefaultDimension = "W0301", Warning, "dimension of a default is dropped";
    UncalledFunction = "W0401", Warning, "function is never called";
    MissingParameter = "W0402", Warning, "definition leaves out a declared parameter";
    ResultDomain = "W0403", Warning, "result is on another domain than declared";
    DroppedDerivative = "W0501", Warning, "derivative of a reduction is dropped";
    TagOfFile = "W0502", Warning, "tag that cannot be part of a file name";
}
