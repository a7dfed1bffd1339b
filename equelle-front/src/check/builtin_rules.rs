//! Rules of the table of built-ins, applied to the arguments of a call.

use crate::check::builtins::{ArgumentRule, DimensionRule, Param, ResultRule, Row};
use crate::check::checker::{Checker, dim, show_dimension, tree_dim};
use crate::check::operation::Operation;
use crate::check::parameters::argument_count;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::typed::{Expr, TreeDimension, TreeType};
use crate::types::{Basic, CanonicalSet, Dimension, EntityKind, SetId, Shape, Type};

/// A row of the table, applied to a call.
pub(super) struct BuiltinRules<'c, 'a> {
    pub checker: &'c mut Checker<'a>,
    pub row: &'c Row,
}

impl<'a> BuiltinRules<'_, 'a> {
    /// Arguments that obey the rules of the self.row.
    pub fn arguments(&mut self, args: &'a [ast::Expr], span: Span) -> Option<Vec<Expr>> {
        let values: Vec<Option<Expr>> = args.iter().map(|a| self.checker.expr(a)).collect();
        self.values(args, values, span)
    }

    /// Those that have been looked at.
    pub fn values(&mut self, args: &[ast::Expr], values: Vec<Option<Expr>>, span: Span) -> Option<Vec<Expr>> {
        self.count(args, span)?;
        let mut valid = true;
        // Arguments beside a table of two arguments are compared with the argument after it.
        let first = usize::from(matches!(self.row.params.first(), Some(Param { rule: ArgumentRule::Table2, .. })));
        for (i, arg) in values.iter().enumerate() {
            let first = values.get(first).and_then(Option::as_ref);
            if let Some(arg) = arg {
                valid &= self.argument(i, arg, first).is_some();
            }
        }
        let values = values.into_iter().collect::<Option<Vec<_>>>()?;
        valid.then_some(values)
    }

    pub fn count(&mut self, args: &[ast::Expr], span: Span) -> Option<()> {
        if args.len() == self.row.params.len() {
            return Some(());
        }
        let names: Vec<&str> = self.row.params.iter().map(|p| p.name).collect();
        let spans: Vec<Span> = args.iter().map(|a| a.span).collect();
        self.checker.fail(argument_count(self.row.name, &names, &spans, span))
    }

    /// True if an argument obeys its rule; reports it if not.
    pub fn argument(&mut self, index: usize, arg: &Expr, first: Option<&Expr>) -> Option<()> {
        let param = self.row.params.get(index)?;
        if matches!(param.rule, ArgumentRule::Table2) && arg.ty == TreeType::Table2 {
            return Some(());
        }
        let ty = arg.ty.value();
        let first = first.and_then(|f| f.ty.value());
        if ty.is_some_and(|ty| self.obeys(param.rule, &ty, first.as_ref())) {
            return Some(());
        }
        let found = self.checker.show(&arg.ty);
        if let (ArgumentRule::LikeFirst, Some(Shape::Single), Some(Shape::Single)) =
            (param.rule, ty.map(|ty| ty.shape), first.map(|first| first.shape))
        {
            let message = format!("`{}` of single values lacks the set of faces that take part", self.row.name);
            let hint = "give `a` or `b` on a set of faces: `(...) Extend InteriorFaces()`";
            return self.checker.fail(Diagnostic::new(Code::ArgumentType, arg.span, message).label(found).hint(hint));
        }
        let mut diagnostic = Diagnostic::new(
            Code::ArgumentType,
            arg.span,
            format!("argument {} of `{}`, `{}`, must be {}, not {found}", index + 1, self.row.name, param.name, param.rule.expected()),
        )
        .label(found);
        let particular = ty.and_then(|ty| self.argument_hint(param.rule, &ty));
        diagnostic = diagnostic.hint(particular.unwrap_or_else(|| param.rule.hint().to_owned()));
        self.checker.fail(diagnostic)
    }

    fn obeys(&self, rule: ArgumentRule, ty: &Type, first: Option<&Type>) -> bool {
        let collection = matches!(ty.shape, Shape::Collection(_));
        let plain = ty.shape != Shape::Sequence;
        match rule {
            ArgumentRule::Text => *ty == Type::TEXT,
            ArgumentRule::Scalar => *ty == Type::SCALAR,
            ArgumentRule::Scalars => ty.basic == Basic::Scalar && plain,
            ArgumentRule::ScalarsWithFirst => {
                let other = first.filter(|f| f.basic == Basic::Scalar).and_then(Type::mapping);
                ty.basic == Basic::Scalar && plain && (other.is_none() || ty.mapping().is_none() || other == ty.mapping())
            }
            ArgumentRule::ScalarCollection => ty.basic == Basic::Scalar && collection,
            ArgumentRule::NumberCollection => matches!(ty.basic, Basic::Scalar | Basic::Vector) && collection,
            ArgumentRule::BoolCollection => ty.basic == Basic::Bool && collection,
            ArgumentRule::BoolsOnFirst => {
                // A first argument that is no domain is reported for itself.
                let set = first.filter(|f| f.is_domain()).and_then(Type::mapping);
                ty.basic == Basic::Bool && collection && (set.is_none() || set == ty.mapping())
            }
            ArgumentRule::ScalarsOn(sets) => {
                ty.basic == Basic::Scalar && collection && sets.iter().any(|s| ty.mapping() == Some(self.checker.sets.canonical(*s)))
            }
            ArgumentRule::NumbersOnFaces => matches!(ty.basic, Basic::Scalar | Basic::Vector) && self.can_be_on_faces(ty),
            ArgumentRule::ScalarsOnFaces => ty.basic == Basic::Scalar && self.can_be_on_faces(ty),
            // A first argument that is wrong is reported for itself.
            ArgumentRule::LikeFirst => first.is_none_or(|first| {
                let valid = matches!(first.basic, Basic::Scalar | Basic::Vector) && self.can_be_on_faces(first);
                let fits = match (first.shape, ty.shape) {
                    (Shape::Single, _) => self.is_on_faces(ty),
                    (_, Shape::Single) => true,
                    (of_first, shape) => of_first == shape,
                };
                !valid || ty.basic == first.basic && fits
            }),
            ArgumentRule::ScalarsOnCells => {
                let cells = self.checker.sets.canonical(CanonicalSet::ALL_CELLS);
                ty.basic == Basic::Scalar && plain && ty.mapping().is_none_or(|set| set == cells)
            }
            ArgumentRule::Vectors => ty.basic == Basic::Vector && plain,
            ArgumentRule::VectorsLikeFirst => {
                // A first argument that is no Vector is reported for itself.
                let other = first.filter(|f| f.basic == Basic::Vector).and_then(Type::mapping);
                ty.basic == Basic::Vector && plain && (other.is_none() || ty.mapping().is_none() || other == ty.mapping())
            }
            ArgumentRule::Table => *ty == Type::TABLE,
            ArgumentRule::Table2 => false,
            ArgumentRule::Faces => ty.basic == Basic::Entity(EntityKind::Face) && ty.mapping().is_some(),
            ArgumentRule::BoundaryFaces => {
                let faces = ty.basic == Basic::Entity(EntityKind::Face) && ty.mapping().is_some();
                faces && !ty.within.is_some_and(|within| self.has_interior_faces(within, ty.is_domain()))
            }
            ArgumentRule::Entities => matches!(ty.basic, Basic::Entity(_)) && ty.mapping().is_some(),
            ArgumentRule::Domain => ty.is_domain(),
            ArgumentRule::Special(_) => true,
        }
    }

    /// True if faces in a set have two cells: all in an interior set, and some in `AllFaces()`.
    fn has_interior_faces(&self, within: SetId, whole: bool) -> bool {
        let canonical = |set| self.checker.sets.canonical(set);
        self.checker.sets.is_subset(within, canonical(CanonicalSet::INTERIOR_FACES))
            || (whole && within == canonical(CanonicalSet::ALL_FACES))
    }

    fn can_be_on_faces(&self, ty: &Type) -> bool {
        ty.shape == Shape::Single || self.is_on_faces(ty)
    }

    fn is_on_faces(&self, ty: &Type) -> bool {
        matches!(ty.shape, Shape::Collection(set) if self.checker.sets.get(set).kind == EntityKind::Face)
    }

    fn argument_hint(&self, rule: ArgumentRule, ty: &Type) -> Option<String> {
        match rule {
            ArgumentRule::ScalarsOn(sets) if ty.basic == Basic::Scalar => {
                let all = sets.last()?;
                let set = ty.mapping()?;
                let hint = if self.checker.sets.is_subset(set, self.checker.sets.canonical(*all)) {
                    format!("pad it with zeros: `(...) Extend {}()`", all.name())
                } else {
                    match (self.checker.sets.get(set).kind, all.kind) {
                        (EntityKind::Cell, EntityKind::Face) => format!(
                            "compute values on {}() first: `Gradient(...)`, or cell values read at faces, `(...) On FirstCell(InteriorFaces())`",
                            all.name()
                        ),
                        (_, _) => format!("the values must be on {}()", all.name()),
                    }
                };
                Some(hint)
            }
            ArgumentRule::Domain => {
                Some(format!("name a domain, such as `{}`", ty.mapping().map_or("AllCells()", |s| self.checker.set_name(s))))
            }
            ArgumentRule::ScalarCollection | ArgumentRule::NumberCollection | ArgumentRule::BoolCollection if ty.shape == Shape::Single => {
                Some("one value needs no reduction; spread it with `Extend` if you mean it".to_owned())
            }
            ArgumentRule::BoundaryFaces if ty.basic == Basic::Entity(EntityKind::Face) => {
                Some("pass `BoundaryFaces()` or a subset of it; of a face with two cells take `FirstCell(f)` or `SecondCell(f)`".to_owned())
            }
            ArgumentRule::Text => Some("write the name between double quotes".to_owned()),
            ArgumentRule::NumberCollection if ty.basic == Basic::Bool => Some("truth is reduced by `AnyReduce` and `AllReduce`".to_owned()),
            ArgumentRule::BoolsOnFirst if ty.basic == Basic::Bool && ty.mapping().is_some() => {
                Some("bring the condition to the domain: `(...) On` it".to_owned())
            }
            ArgumentRule::BoolCollection | ArgumentRule::BoolsOnFirst if ty.basic == Basic::Scalar => {
                Some("compare it with something: `x > 0`".to_owned())
            }
            ArgumentRule::ScalarsWithFirst if ty.basic == Basic::Scalar && ty.mapping().is_some() => {
                Some("bring both to one domain with `On` or `Extend`".to_owned())
            }
            ArgumentRule::Scalars if ty.basic == Basic::Vector => {
                Some("take its components `v[0]`, `v[1]`, ..., or its length `|v|`".to_owned())
            }
            ArgumentRule::Scalar
            | ArgumentRule::Scalars
            | ArgumentRule::ScalarsWithFirst
            | ArgumentRule::ScalarCollection
            | ArgumentRule::NumberCollection
            | ArgumentRule::BoolCollection
            | ArgumentRule::BoolsOnFirst
            | ArgumentRule::ScalarsOn(_)
            | ArgumentRule::NumbersOnFaces
            | ArgumentRule::ScalarsOnFaces
            | ArgumentRule::LikeFirst
            | ArgumentRule::ScalarsOnCells
            | ArgumentRule::Vectors
            | ArgumentRule::VectorsLikeFirst
            | ArgumentRule::Table
            | ArgumentRule::Table2
            | ArgumentRule::Faces
            | ArgumentRule::BoundaryFaces
            | ArgumentRule::Entities
            | ArgumentRule::Special(_) => None,
        }
    }

    pub fn result_type(&mut self, rule: ResultRule, args: &[Expr]) -> Option<Type> {
        let mapping = |i: usize| args.get(i).and_then(|a| a.ty.value()).and_then(|ty| ty.mapping());
        Some(match rule {
            ResultRule::Scalar => Type::SCALAR,
            ResultRule::Bool => Type::BOOL,
            ResultRule::ElementOfFirst => Type::single(args.first()?.ty.value()?.basic),
            ResultRule::ScalarsLikeEither => {
                let shape = mapping(0).or(mapping(1)).or(mapping(2)).map_or(Shape::Single, Shape::Collection);
                Type { basic: Basic::Scalar, shape, within: None, halo: crate::types::Halo::NONE }
            }
            ResultRule::Sequence => Type::SEQUENCE,
            ResultRule::Table => Type::TABLE,
            ResultRule::LikeFirst(basic) => {
                Type { basic, shape: mapping(0).map_or(Shape::Single, Shape::Collection), within: None, halo: crate::types::Halo::NONE }
            }
            ResultRule::CellsLikeFirst => {
                Type::entities(EntityKind::Cell, mapping(0)?, self.checker.sets.canonical(CanonicalSet::ALL_CELLS))
            }
            ResultRule::ScalarsOn(set) => Type::collection(Basic::Scalar, self.checker.sets.canonical(set)),
            ResultRule::OnCells => Type::collection(args.first()?.ty.value()?.basic, self.checker.sets.canonical(CanonicalSet::ALL_CELLS)),
            ResultRule::OnSecond(basic) => Type::collection(basic, mapping(1)?),
            ResultRule::NewDomainInFirst => {
                self.checker.runtime_sets.has_conditions = true;
                self.checker.runtime_sets.add(&mut self.checker.sets, mapping(0)?)
            }
            ResultRule::NewDomainInSecond => self.checker.runtime_sets.add(&mut self.checker.sets, mapping(1)?),
        })
    }

    pub fn result_dimension(&mut self, rule: DimensionRule, args: &[Expr]) -> Option<TreeDimension> {
        let of = |i: usize| args.get(i).map_or(Dimension::NONE, dim);
        let dimension = match rule {
            DimensionRule::None => Dimension::NONE,
            DimensionRule::Length => self.checker.options.dimension(Dimension::LENGTH),
            DimensionRule::First => return Some(tree_dim(args.first()?)),
            DimensionRule::Second => return Some(tree_dim(args.get(1)?)),
            DimensionRule::Equal | DimensionRule::Ratio => {
                let joined = self.same_dimensions(args)?;
                if matches!(rule, DimensionRule::Equal) {
                    return Some(joined);
                }
                Dimension::NONE
            }
            DimensionRule::Pure => {
                for arg in args.iter().filter(|arg| arg.ty.value() != Some(Type::TABLE)) {
                    if self.checker.options.agree(dim(arg), Dimension::NONE) {
                        continue;
                    }
                    let found = show_dimension(dim(arg));
                    return self.checker.fail(
                        Diagnostic::new(
                            Code::ArgumentDimension,
                            arg.span,
                            format!("`{}` takes numbers without a dimension, and this has {found}", self.row.name),
                        )
                        .label(found.clone())
                        .hint(format!("divide by a reference value: `{}(... / (1 {found}))`", self.row.name)),
                    );
                }
                Dimension::NONE
            }
            DimensionRule::Product => {
                let [a, b] = args else { return None };
                Operation::new(self.checker, "", a.span.to(b.span)).in_range(
                    &format!("this `{}`", self.row.name),
                    dim(a).times(dim(b)),
                    &[a, b],
                )?
            }
            DimensionRule::Half if tree_dim(args.first()?) == TreeDimension::OfZero => return Some(TreeDimension::OfZero),
            DimensionRule::Half => match of(0).square_root() {
                Some(root) => root,
                None if self.checker.options.nondimensional => Dimension::NONE,
                None => {
                    let found = show_dimension(of(0));
                    return self.checker.fail(
                        Diagnostic::new(
                            Code::SqrtDimension,
                            args.first()?.span,
                            format!("the square root of {found} has no whole exponents"),
                        )
                        .label(found)
                        .hint("every exponent must be even; check the factors"),
                    );
                }
            },
            DimensionRule::DemandNone => {
                if !self.checker.options.agree(of(0), Dimension::NONE) {
                    let found = show_dimension(of(0));
                    return self.checker.fail(
                        Diagnostic::new(
                            Code::ProdReduceDimension,
                            args.first()?.span,
                            format!("`{}` of values with {found} would have a dimension that depends on the grid", self.row.name),
                        )
                        .label(found)
                        .hint("divide by a reference value first"),
                    );
                }
                Dimension::NONE
            }
            DimensionRule::DropSecond => {
                if !self.checker.options.agree(of(1), Dimension::NONE) {
                    let found = show_dimension(of(1));
                    self.checker.report(
                        Diagnostic::new(
                            Code::DefaultDimension,
                            args.get(1)?.span,
                            format!("the default has {found}, but what `{}` gives has no dimension", self.row.name),
                        )
                        .label(found.clone())
                        .hint(format!("give the unit to the result: `{}(...) * 1 {found}`", self.row.name)),
                    );
                }
                Dimension::NONE
            }
        };
        Some(dimension.into())
    }

    /// The dimension that all arguments have; reports the first that has another one.
    fn same_dimensions(&mut self, args: &[Expr]) -> Option<TreeDimension> {
        let (first, others) = args.split_first()?;
        // A zero says nothing of the dimension: the first argument after it does.
        let (mut told, mut joined) = (first, tree_dim(first));
        for arg in others {
            let what = format!("`{}`", self.row.name);
            joined = Operation::new(self.checker, &what, first.span.to(arg.span)).same_dimension(Code::ArgumentDimension, told, arg)?;
            if tree_dim(told) == TreeDimension::OfZero {
                told = arg;
            }
        }
        Some(joined)
    }
}
