//! Units that inputs are given where they are read: `InputScalarWithDefault("k", 0.3) * 1 [Meter]`.
//!
//! An input has no dimension, so programs multiply it by a quantity at once. The products and
//! quotients of an input with numbers, up to the first with a dimension, say in which unit the user
//! gives the input. Where several statements use an input, all must say the same.
//!
//! An output `p / (1 [Bar])` is in bar likewise: the quantity that divides it is its unit.

use crate::ir::interface::ExpectedUnit;
use crate::ir::{Block, Function, FunctionId, Module, Op, StmtKind, ValueId};
use crate::ops::Arithmetic;
use crate::source::Span;
use crate::types::Dimension;

/// Longest chain of products that is followed.
const MAX_PRODUCTS: usize = 64;

/// Uses of the values of all functions of a module.
pub(super) struct AllUses<'a> {
    /// By number of the function.
    functions: Vec<Uses<'a>>,
}

/// A place where a table is asked for a value, and the calls that lead there.
struct Interpolation<'a> {
    calls: Vec<Call<'a>>,
    argument: ValueId,
    value: ValueId,
}

/// A function that is called, by which call.
#[derive(Clone, Copy)]
struct Call<'a> {
    callee: FunctionId,
    /// Arguments of the parameters; none for the unknowns of a residual.
    args: &'a [ValueId],
    /// Number of parameters before those.
    unknowns: usize,
    results: &'a [ValueId],
}

/// Uses of the values of a function.
pub(super) struct Uses<'a> {
    function: &'a Function,
    /// The product of numbers that a value is.
    constants: Vec<Option<Constant>>,
    /// The divisor of a value that is a quotient.
    quotients: Vec<Option<ValueId>>,
    used_by: Vec<Vec<Use<'a>>>,
}

/// A use of a value.
#[derive(Clone, Copy)]
enum Use<'a> {
    /// In an operation with these results.
    Operation(&'a Op, &'a [ValueId]),
    /// As the result of this number of its function.
    Result(usize),
    /// In anything else.
    Other,
}

/// A product of numbers.
#[derive(Clone, Copy)]
struct Constant {
    factor: f64,
    dimension: Dimension,
    /// The number, if it is but one.
    literal: Option<Span>,
}

impl<'a> AllUses<'a> {
    pub(super) fn of(module: &'a Module) -> Self {
        AllUses { functions: module.functions.iter().map(Uses::of).collect() }
    }

    fn callee(&self, call: &Call<'a>) -> &Uses<'a> {
        &self.functions[call.callee.0 as usize]
    }

    /// The unit of the values of a table of a function, by what multiplies them.
    pub(super) fn unit_of_values(&self, uses: &Uses<'a>, table: ValueId) -> Option<ExpectedUnit> {
        self.unit_from_interpolations(uses, table, |at| self.unit(uses, &at.calls, at.value))
    }

    /// The unit of the values of a table of two arguments, whose value at a row is the first term
    /// of two sums.
    pub(super) fn unit_of_sums(&self, uses: &Uses<'a>, table: ValueId) -> Option<ExpectedUnit> {
        self.unit_from_interpolations(uses, table, |at| {
            let inner = at.calls.last().map_or(uses, |call| self.callee(call));
            self.unit(uses, &at.calls, inner.sum_from(inner.sum_from(at.value)?)?)
        })
    }

    /// The unit of the arguments of a table: the divisor of what it is asked for.
    pub(super) fn unit_of_arguments(&self, uses: &Uses<'a>, table: ValueId) -> Option<ExpectedUnit> {
        self.unit_from_interpolations(uses, table, |at| self.divisor(uses, &at.calls, at.argument))
    }

    /// The unit of a value that calls lead to, or of the result of the call that it is.
    fn unit(&self, uses: &Uses<'a>, calls: &[Call<'a>], value: ValueId) -> Option<ExpectedUnit> {
        let Some((call, outer)) = calls.split_last() else { return uses.unit(value) };
        let inner = self.callee(call);
        match inner.used_by[value.0 as usize][..] {
            [Use::Result(number)] if call.unknowns == 0 => self.unit(uses, outer, *call.results.get(number)?),
            _ => inner.unit(value),
        }
    }

    /// The divisor of a value that calls lead to, or of the argument of the call that it is.
    fn divisor(&self, uses: &Uses<'a>, calls: &[Call<'a>], value: ValueId) -> Option<ExpectedUnit> {
        let Some((call, outer)) = calls.split_last() else { return uses.divisor(value) };
        let inner = self.callee(call);
        match inner.function.params.iter().position(|param| *param == value) {
            Some(number) => self.divisor(uses, outer, *call.args.get(number.checked_sub(call.unknowns)?)?),
            None => inner.divisor(value),
        }
    }

    /// The unit on which all interpolations in a table agree; `None` if the table has other uses.
    fn unit_from_interpolations(
        &self,
        uses: &Uses<'a>,
        table: ValueId,
        unit: impl Fn(&Interpolation<'a>) -> Option<ExpectedUnit>,
    ) -> Option<ExpectedUnit> {
        let mut found = Vec::new();
        self.interpolations(uses, table, &mut Vec::new(), &mut found)?;
        common(found.iter().map(unit))
    }

    /// Collects the interpolations in a table; `None` if it has other uses.
    fn interpolations(&self, uses: &Uses<'a>, table: ValueId, calls: &mut Vec<Call<'a>>, found: &mut Vec<Interpolation<'a>>) -> Option<()> {
        for place in &uses.used_by[table.0 as usize] {
            let Use::Operation(op, results) = *place else { return None };
            match op {
                Op::Interpolate { argument, .. } => {
                    found.push(Interpolation { calls: calls.clone(), argument: *argument, value: *results.first()? });
                }
                Op::Call { function, args } => {
                    self.interpolations_in(Call { callee: *function, args, unknowns: 0, results }, table, calls, found)?;
                }
                Op::Newton { residuals, captures, guesses, .. } => {
                    for (residual, args) in residuals.iter().zip(captures) {
                        self.interpolations_in(Call { callee: *residual, args, unknowns: guesses.len(), results }, table, calls, found)?;
                    }
                }
                _ => return None,
            }
        }
        Some(())
    }

    /// Collects the interpolations in a function that is called.
    fn interpolations_in(
        &self,
        call: Call<'a>,
        table: ValueId,
        calls: &mut Vec<Call<'a>>,
        found: &mut Vec<Interpolation<'a>>,
    ) -> Option<()> {
        let callee = self.callee(&call);
        calls.push(call);
        for (number, _) in call.args.iter().enumerate().filter(|(_, arg)| **arg == table) {
            self.interpolations(callee, *callee.function.params.get(call.unknowns + number)?, calls, found)?;
        }
        calls.pop();
        Some(())
    }
}

impl<'a> Uses<'a> {
    /// Collects the uses of all values of a function.
    pub(super) fn of(function: &'a Function) -> Self {
        let n = function.values.len();
        let mut uses = Uses { function, constants: vec![None; n], quotients: vec![None; n], used_by: vec![Vec::new(); n] };
        uses.block(&function.body);
        uses
    }

    fn block(&mut self, block: &'a Block) {
        for statement in &block.statements {
            let mut found = Use::Other;
            if let StmtKind::Let { results, op } = &statement.kind {
                if let [result] = results[..] {
                    self.constants[result.0 as usize] = self.product(op, result);
                    if let Op::Arithmetic(Arithmetic::Div, _, divisor) = op {
                        self.quotients[result.0 as usize] = Some(*divisor);
                    }
                }
                found = Use::Operation(op, results);
            }
            for (number, value) in statement.reads().into_iter().enumerate() {
                let found = if let StmtKind::Return(_) = statement.kind { Use::Result(number) } else { found };
                let places = &mut self.used_by[value.0 as usize];
                // A value that an operation reads twice is used in one place.
                if !matches!((places.last(), found), (Some(Use::Operation(last, _)), Use::Operation(op, _)) if std::ptr::eq(*last, op)) {
                    places.push(found);
                }
            }
            if let StmtKind::For { body, .. } = &statement.kind {
                self.block(body);
            }
        }
    }

    /// The product of numbers that an operation computes.
    fn product(&self, op: &Op, result: ValueId) -> Option<Constant> {
        if let Op::Real(number) = op {
            let info = &self.function.values[result.0 as usize];
            return Some(Constant { factor: *number, dimension: info.dim, literal: Some(info.span) });
        }
        let Op::Arithmetic(op, a, b) = op else { return None };
        let [a, b] = [self.constant(*a)?, self.constant(*b)?];
        match op {
            Arithmetic::Mul => a.times(b),
            Arithmetic::Div => a.over(b),
            Arithmetic::Add | Arithmetic::Sub => None,
        }
    }

    fn constant(&self, value: ValueId) -> Option<Constant> {
        self.constants[value.0 as usize]
    }

    /// The unit that an input is given.
    pub(super) fn unit(&self, input: ValueId) -> Option<ExpectedUnit> {
        let unit = self.unit_from_uses(input, None, MAX_PRODUCTS)?;
        unit.factor.is_normal().then_some(unit)
    }

    /// The sum of which a value is the first term, if it is used for nothing else.
    fn sum_from(&self, value: ValueId) -> Option<ValueId> {
        match self.used_by[value.0 as usize][..] {
            [Use::Operation(Op::Arithmetic(Arithmetic::Add, first, _), &[sum])] if *first == value => Some(sum),
            _ => None,
        }
    }

    /// The unit that an output is in: a number without a dimension, which the program gets by
    /// dividing by a quantity.
    pub(super) fn divisor(&self, output: ValueId) -> Option<ExpectedUnit> {
        let Constant { factor, dimension, literal } = self.constant(self.quotients[output.0 as usize]?)?;
        let is_number = self.function.values[output.0 as usize].dim == Dimension::NONE;
        let is_unit = dimension != Dimension::NONE && factor.is_normal();
        (is_number && is_unit).then_some(ExpectedUnit { dimension, factor, literal })
    }

    /// The unit on which all uses of a value agree; the value is an input, perhaps times numbers.
    fn unit_from_uses(&self, value: ValueId, so_far: Option<Constant>, left: usize) -> Option<ExpectedUnit> {
        common(self.used_by[value.0 as usize].iter().map(|found| self.unit_from_use(*found, value, so_far, left)))
    }

    fn unit_from_use(&self, found: Use<'_>, value: ValueId, so_far: Option<Constant>, left: usize) -> Option<ExpectedUnit> {
        let Use::Operation(Op::Arithmetic(op, a, b), &[result]) = found else { return None };
        let product = match (op, *a == value, *b == value) {
            (Arithmetic::Mul, true, false) => times(so_far, self.constant(*b)?)?,
            (Arithmetic::Mul, false, true) => times(so_far, self.constant(*a)?)?,
            (Arithmetic::Div, true, false) => so_far.unwrap_or(Constant::ONE).over(self.constant(*b)?)?,
            (Arithmetic::Mul | Arithmetic::Div | Arithmetic::Add | Arithmetic::Sub, _, _) => return None,
        };
        if product.dimension == Dimension::NONE {
            return self.unit_from_uses(result, Some(product), left.checked_sub(1)?);
        }
        Some(ExpectedUnit { dimension: product.dimension, factor: product.factor, literal: product.literal })
    }
}

/// The unit that all places give, if each gives one.
fn common(mut units: impl Iterator<Item = Option<ExpectedUnit>>) -> Option<ExpectedUnit> {
    let first = units.next()??;
    units.all(|unit| unit.is_some_and(|unit| unit.is_same_as(&first))).then_some(first)
}

/// A number that multiplies an input, after others.
fn times(so_far: Option<Constant>, number: Constant) -> Option<Constant> {
    match so_far {
        Some(so_far) => so_far.times(number),
        None => Some(number),
    }
}

impl Constant {
    const ONE: Constant = Constant { factor: 1.0, dimension: Dimension::NONE, literal: None };

    fn times(self, other: Constant) -> Option<Constant> {
        Some(Constant { factor: self.factor * other.factor, dimension: self.dimension.times(other.dimension)?, literal: None })
    }

    fn over(self, other: Constant) -> Option<Constant> {
        Some(Constant { factor: self.factor / other.factor, dimension: self.dimension.over(other.dimension)?, literal: None })
    }
}

#[cfg(test)]
mod tests {
    use crate::check::{CheckOptions, check_text};
    use crate::ir::interface::Interface;
    use crate::lower::lower;
    use crate::source::SourceMap;

    fn interface(text: &str) -> Interface {
        let checked = check_text(text, &CheckOptions::default());
        let program = checked.program.unwrap_or_else(|| panic!("{text}: {:?}", checked.diagnostics));
        lower(&program, &SourceMap::new("units.equelle", text), "units").interface
    }

    /// Returns the unit found for the input `a`: dimension, factor, literal.
    fn unit(text: &str) -> Option<(String, f64, Option<String>)> {
        let text = text.replace("$A", "InputScalarWithDefault(\"a\", 1)").replace("$B", "InputScalarWithDefault(\"b\", 1)");
        let found = interface(&text).inputs.into_iter().find(|input| input.name == "a").expect("an input");
        found.unit.map(|unit| (unit.dimension.to_string(), unit.factor, unit.literal.map(|span| text[span.range()].to_owned())))
    }

    #[test]
    fn numbers_multiply_and_divide() {
        let literal = |text: &str| Some(text.to_owned());
        for (expression, dimension, factor, text) in [
            ("$A * 1 [Kilo*Meter]", "[Meter]", 1000.0, literal("1 [Kilo*Meter]")),
            ("2 [Hour] * $A", "[Second]", 7200.0, literal("2 [Hour]")),
            ("(($A)) * (1 [Bar])", "[Meter^-1 * Second^-2 * Kilogram]", 1e5, literal("(1 [Bar])")),
            ("$A / 4 [Second]", "[Second^-1]", 0.25, None),
            // `a * b / c` is `a * (b / c)`.
            ("$A * 1 [Meter] / 2 [Second]", "[Meter * Second^-1]", 0.5, None),
            // The first product with a dimension says what the input is in.
            ("$A * 1 [Meter] * 3 [Meter]", "[Meter]", 1.0, literal("1 [Meter]")),
            ("$A / 2 * 1 [Meter]", "[Meter]", 0.5, None),
            ("(1 [Kelvin] + $A * 1 [Kelvin])", "[Kelvin]", 1.0, literal("1 [Kelvin]")),
        ] {
            let found = unit(&format!("x = {expression}\nOutput(\"x\", x)\n"));
            assert_eq!(found, Some((dimension.to_owned(), factor, text)), "{expression}");
        }
    }

    /// Coordinates are lengths, and rounds as long as the elements of the sequence or the step that
    /// is computed; where rounds are counted, and without dimensions, there is no unit.
    #[test]
    fn axes_have_units() {
        let sequence = "For dt In InputSequenceOfScalar(\"s\")$U {\n    Output(\"x\", dt)\n}\n";
        let computed =
            "t : Mutable Scalar = 0 [Second]\nWhile t < 1 [Second] {\n    dt = 0.5 [Second]\n    t = t + dt\n}\nOutput(\"t\", t)\n";
        let counted = "n : Mutable Scalar = 0\nWhile n < 3 {\n    n = n + 1\n}\nOutput(\"n\", n)\n";
        for (text, time) in [
            (sequence.replace("$U", " * 1 [Day]"), "s"),
            (sequence.replace("$U", ""), ""),
            (computed.to_owned(), "s"),
            (counted.to_owned(), ""),
        ] {
            let found = interface(&text);
            assert_eq!((found.coordinates.symbol(), found.time.symbol()), ("m".to_owned(), time.to_owned()), "{text}");
            let found = interface(&format!("# dimensions: ignore\n{text}"));
            assert_eq!((found.coordinates, found.time), Default::default(), "{text}");
        }
    }

    /// `p / (1 [Bar])` is in bar; what keeps its dimension, or has another divisor, is not.
    #[test]
    fn outputs_are_in_the_unit_that_divides_them() {
        let text = "bar = 1 [Bar]\np = InputCollectionOfScalar(\"p\", AllCells()) * 1 [Pascal]\n\
                    Output(\"p\", p / bar)\nOutput(\"q\", p / (2 [Kilo*Pascal]))\nOutput(\"si\", p)\nOutput(\"half\", 0.5 * (p / bar))\n\
                    Output(\"twice\", p / bar)\nOutput(\"twice\", p / (1 [Pascal]))\n";
        let interface = interface(text);
        let units: Vec<_> = interface
            .outputs
            .iter()
            .map(|output| {
                let literal = output.unit.and_then(|unit| unit.literal).map(|span| &text[span.range()]);
                (output.name.as_str(), output.unit.map(|unit| unit.factor), literal)
            })
            .collect();
        let expected = [("p", Some(1e5), Some("1 [Bar]")), ("q", Some(2e3), Some("(2 [Kilo*Pascal])")), ("si", None, None)];
        assert_eq!(units[..3], expected);
        assert_eq!(units[3..], [("half", None, None), ("twice", None, None)]);
    }

    #[test]
    fn nothing_is_guessed() {
        for text in [
            "x = $A\nOutput(\"x\", x)\n",
            "x = $A * 2\nOutput(\"x\", x)\n",
            "x = $A * |AllCells()|\nOutput(\"x\", x)\n",
            "x = 1 [Meter] / $A\nOutput(\"x\", x)\n",
            "x = -$A * $B * 1 [Meter]\nOutput(\"x\", x)\n",
            // Two uses that differ, in one statement and in two reads.
            "a = $A\nOutput(\"x\", a * 1 [Meter])\nOutput(\"y\", a * 1 [Second])\n",
            "a = $A\nOutput(\"x\", a * 1 [Meter])\nOutput(\"y\", a)\n",
            "Output(\"x\", $A * 1 [Meter])\nOutput(\"y\", $A * 1 [Feet])\n",
        ] {
            assert_eq!(unit(text), None, "{text}");
        }
    }

    #[test]
    fn variables_and_functions_are_seen_through() {
        let kilometres = Some(("[Meter]".to_owned(), 1000.0, Some("1 [Kilo*Meter]".to_owned())));
        assert_eq!(unit("unit = 1 [Kilo*Meter]\na = $A\nx = a * unit\nOutput(\"x\", x)\nOutput(\"y\", a * unit * 2)\n"), kilometres);
        let text = "read(name, cells) = {\n-> InputCollectionOfVector(name, cells) * 1 [Kilo*Meter]\n}\n\
                    ts = InputSequenceOfScalar(\"ts\") * 1 [Day]\nFor dt In ts {\nOutput(\"v\", read(\"v\", AllCells()) * dt)\n}\n";
        let units: Vec<_> = interface(text).inputs.into_iter().map(|input| (input.name, input.unit.map(|unit| unit.factor))).collect();
        assert_eq!(units, [("ts".to_owned(), Some(86400.0)), ("v".to_owned(), Some(1000.0))]);
    }
}
