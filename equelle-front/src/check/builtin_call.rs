//! Calls of built-ins: the rules of the table applied.

use crate::check::builtins::{self, ArgumentRule, DimensionRule, Param, ResultRule, Row, Target};
use crate::check::call::argument_count;
use crate::check::checker::{Checker, dim, show_dimension, tree_dim, value};
use crate::check::geometry::is_pointwise;
use crate::check::stencil::bare;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, Ident};
use crate::typed::{Builtin, Expr, ExprKind, StmtKind, TreeDimension, TreeType};
use crate::types::{Basic, CanonicalSet, Dimension, EntityKind, SetId, Shape, Type};

/// Most bytes of a tag in a file name: names have at most 255, and numbers and endings follow.
const MAX_TAG_BYTES: usize = 200;

impl<'a> Checker<'a> {
    /// A call of a built-in that has a value.
    pub fn builtin(&mut self, callee: &'a Ident, args: &'a [ast::Expr], span: Span) -> Option<Expr> {
        if let Some(set) = builtins::canonical_set(&callee.name) {
            for arg in args {
                self.expr(arg);
            }
            if !args.is_empty() {
                let spans: Vec<Span> = args.iter().map(|a| a.span).collect();
                return self.fail(argument_count(&callee.name, &[], &spans, span));
            }
            let ty = Type::domain(set.kind, self.sets.canonical(set));
            return Some(value(ExprKind::CanonicalSet(set), ty, Dimension::NONE, span));
        }
        let Some(row) = builtins::lookup(&callee.name) else {
            for arg in args {
                self.expr(arg);
            }
            return self.unknown_builtin(callee);
        };
        match row.target {
            Target::Call { result, dimension, .. } => {
                let values: Vec<Option<Expr>> = args.iter().map(|a| self.expr(a)).collect();
                let row = builtins::for_arguments(row, &values);
                let Target::Call { builtin, .. } = row.target else { return None };
                let args = self.values(row, args, values, span)?;
                let operands: Vec<TreeType> = args.iter().map(|a| a.ty.clone()).collect();
                let args: Vec<Expr> = args.into_iter().map(bare).collect();
                let dim = self.result_dimension(row, dimension, &args)?;
                let ty = self.result_type(result, &args)?;
                let call = value(ExprKind::Builtin { builtin, args }, ty, dim, span);
                Some(if is_pointwise(builtin) { self.keep_periodic(call, &operands) } else { call })
            }
            Target::Vector => self.vector(row, args, span),
            Target::Power => {
                let [base, exponent] = <[Expr; 2]>::try_from(self.arguments(row, args, span)?).ok()?;
                self.power(callee.span, base, exponent, span)
            }
            Target::Table2 => {
                let args = self.arguments(row, args, span)?;
                let (kind, ty) = (ExprKind::Builtin { builtin: Builtin::InputTable2, args }, TreeType::Table2);
                let dims = vec![TreeDimension::default(); ty.elements().len()];
                Some(Expr { kind, ty, dims, span })
            }
            Target::Stencil(word) => self.stencil_builtin(word, args, span),
            Target::Output => {
                self.output(callee, args, span);
                self.fail(
                    Diagnostic::new(Code::NoValue, span, "`Output` has no value")
                        .hint("make it a statement of its own: `Output(\"tag\", data)`"),
                )
            }
            Target::NewtonSolve => self.newton_solve(row, args, span),
            Target::NewtonSolveSystem => self.newton_solve_system(row, args, span),
        }
    }

    fn unknown_builtin<T>(&mut self, callee: &Ident) -> Option<T> {
        if super::stencil::RULES.contains(&callee.name.as_str()) || matches!(callee.name.as_str(), "Low" | "High") {
            return self.fail(
                Diagnostic::new(Code::UnknownBuiltin, callee.span, format!("`{}` is no value: it stands in `Halo` only", callee.name))
                    .hint("write `Halo(u, Periodic(i), Value(Low(j), 0))`"),
            );
        }
        if callee.name == "Range" {
            return self.fail(
                Diagnostic::new(Code::UnknownBuiltin, callee.span, "`Range` is no value: it stands after `In` of a `For` loop only")
                    .hint("write `For n In Range(a, b) {`"),
            );
        }
        let sets: Vec<String> = CanonicalSet::all().map(CanonicalSet::name).collect();
        let near = self.suggest(&callee.name, builtins::names().chain(sets.iter().map(String::as_str)));
        let diagnostic = Diagnostic::new(Code::UnknownBuiltin, callee.span, format!("there is no built-in function `{}`", callee.name));
        self.fail(match near {
            Some(near) => diagnostic.hint(format!("did you mean `{near}`?")),
            None => diagnostic.hint("names of your own functions begin with a lower-case letter"),
        })
    }

    /// Arguments that obey the rules of the row.
    fn arguments(&mut self, row: &Row, args: &'a [ast::Expr], span: Span) -> Option<Vec<Expr>> {
        let values: Vec<Option<Expr>> = args.iter().map(|a| self.expr(a)).collect();
        self.values(row, args, values, span)
    }

    /// Those that have been looked at.
    fn values(&mut self, row: &Row, args: &[ast::Expr], values: Vec<Option<Expr>>, span: Span) -> Option<Vec<Expr>> {
        self.count(row, args, span)?;
        let mut valid = true;
        // Arguments beside a table of two arguments are compared with the argument after it.
        let first = usize::from(matches!(row.params.first(), Some(Param { rule: ArgumentRule::Table2, .. })));
        for (i, arg) in values.iter().enumerate() {
            let first = values.get(first).and_then(Option::as_ref);
            if let Some(arg) = arg {
                valid &= self.argument(row, i, arg, first).is_some();
            }
        }
        let values = values.into_iter().collect::<Option<Vec<_>>>()?;
        valid.then_some(values)
    }

    pub fn count(&mut self, row: &Row, args: &[ast::Expr], span: Span) -> Option<()> {
        if args.len() == row.params.len() {
            return Some(());
        }
        let names: Vec<&str> = row.params.iter().map(|p| p.name).collect();
        let spans: Vec<Span> = args.iter().map(|a| a.span).collect();
        self.fail(argument_count(row.name, &names, &spans, span))
    }

    /// True if an argument obeys its rule; reports it if not.
    pub fn argument(&mut self, row: &Row, index: usize, arg: &Expr, first: Option<&Expr>) -> Option<()> {
        let param = row.params.get(index)?;
        if matches!(param.rule, ArgumentRule::Table2) && arg.ty == TreeType::Table2 {
            return Some(());
        }
        let ty = arg.ty.value();
        let first = first.and_then(|f| f.ty.value());
        if ty.is_some_and(|ty| self.obeys(param.rule, &ty, first.as_ref())) {
            return Some(());
        }
        let found = self.show(&arg.ty);
        if let (ArgumentRule::LikeFirst, Some(Shape::Single), Some(Shape::Single)) =
            (param.rule, ty.map(|ty| ty.shape), first.map(|first| first.shape))
        {
            let message = format!("`{}` of single values lacks the set of faces that take part", row.name);
            let hint = "give `a` or `b` on a set of faces: `(...) Extend InteriorFaces()`";
            return self.fail(Diagnostic::new(Code::ArgumentType, arg.span, message).label(found).hint(hint));
        }
        let mut diagnostic = Diagnostic::new(
            Code::ArgumentType,
            arg.span,
            format!("argument {} of `{}`, `{}`, must be {}, not {found}", index + 1, row.name, param.name, param.rule.expected()),
        )
        .label(found);
        let particular = ty.and_then(|ty| self.argument_hint(param.rule, &ty));
        diagnostic = diagnostic.hint(particular.unwrap_or_else(|| param.rule.hint().to_owned()));
        self.fail(diagnostic)
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
                ty.basic == Basic::Scalar && collection && sets.iter().any(|s| ty.mapping() == Some(self.sets.canonical(*s)))
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
                let cells = self.sets.canonical(CanonicalSet::ALL_CELLS);
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
        let canonical = |set| self.sets.canonical(set);
        self.sets.is_subset(within, canonical(CanonicalSet::INTERIOR_FACES)) || (whole && within == canonical(CanonicalSet::ALL_FACES))
    }

    fn can_be_on_faces(&self, ty: &Type) -> bool {
        ty.shape == Shape::Single || self.is_on_faces(ty)
    }

    fn is_on_faces(&self, ty: &Type) -> bool {
        matches!(ty.shape, Shape::Collection(set) if self.sets.get(set).kind == EntityKind::Face)
    }

    fn argument_hint(&self, rule: ArgumentRule, ty: &Type) -> Option<String> {
        match rule {
            ArgumentRule::ScalarsOn(sets) if ty.basic == Basic::Scalar => {
                let all = sets.last()?;
                let set = ty.mapping()?;
                let hint = if self.sets.is_subset(set, self.sets.canonical(*all)) {
                    format!("pad it with zeros: `(...) Extend {}()`", all.name())
                } else {
                    match (self.sets.get(set).kind, all.kind) {
                        (EntityKind::Cell, EntityKind::Face) => format!(
                            "compute values on {}() first: `Gradient(...)`, or cell values read at faces, `(...) On FirstCell(InteriorFaces())`",
                            all.name()
                        ),
                        (_, _) => format!("the values must be on {}()", all.name()),
                    }
                };
                Some(hint)
            }
            ArgumentRule::Domain => Some(format!("name a domain, such as `{}`", ty.mapping().map_or("AllCells()", |s| self.set_name(s)))),
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

    fn result_type(&mut self, rule: ResultRule, args: &[Expr]) -> Option<Type> {
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
            ResultRule::CellsLikeFirst => Type::entities(EntityKind::Cell, mapping(0)?, self.all(EntityKind::Cell)),
            ResultRule::ScalarsOn(set) => Type::collection(Basic::Scalar, self.sets.canonical(set)),
            ResultRule::OnCells => Type::collection(args.first()?.ty.value()?.basic, self.sets.canonical(CanonicalSet::ALL_CELLS)),
            ResultRule::OnSecond(basic) => Type::collection(basic, mapping(1)?),
            ResultRule::NewDomainInFirst => {
                self.conditions = true;
                self.new_domain(mapping(0)?)
            }
            ResultRule::NewDomainInSecond => self.new_domain(mapping(1)?),
        })
    }

    /// A domain that is like no other one.
    fn new_domain(&mut self, parent: SetId) -> Type {
        let set = self.sets.add(parent, None);
        self.new_sets += 1;
        self.anonymous.insert(set);
        Type::domain(self.sets.get(set).kind, set)
    }

    fn result_dimension(&mut self, row: &Row, rule: DimensionRule, args: &[Expr]) -> Option<TreeDimension> {
        let of = |i: usize| args.get(i).map_or(Dimension::NONE, dim);
        let dimension = match rule {
            DimensionRule::None => Dimension::NONE,
            DimensionRule::Length => self.dimension(Dimension::LENGTH),
            DimensionRule::First => return Some(tree_dim(args.first()?)),
            DimensionRule::Second => return Some(tree_dim(args.get(1)?)),
            DimensionRule::Equal | DimensionRule::Ratio => {
                let joined = self.same_dimensions(row, args)?;
                if matches!(rule, DimensionRule::Equal) {
                    return Some(joined);
                }
                Dimension::NONE
            }
            DimensionRule::Pure => {
                for arg in args.iter().filter(|arg| arg.ty.value() != Some(Type::TABLE)) {
                    if self.agree(dim(arg), Dimension::NONE) {
                        continue;
                    }
                    let found = show_dimension(dim(arg));
                    return self.fail(
                        Diagnostic::new(
                            Code::ArgumentDimension,
                            arg.span,
                            format!("`{}` takes numbers without a dimension, and this has {found}", row.name),
                        )
                        .label(found.clone())
                        .hint(format!("divide by a reference value: `{}(... / (1 {found}))`", row.name)),
                    );
                }
                Dimension::NONE
            }
            DimensionRule::Product => {
                let [a, b] = args else { return None };
                self.in_range(&format!("this `{}`", row.name), a.span.to(b.span), dim(a).times(dim(b)), &[a, b])?
            }
            DimensionRule::Half if tree_dim(args.first()?) == TreeDimension::OfZero => return Some(TreeDimension::OfZero),
            DimensionRule::Half => match of(0).square_root() {
                Some(root) => root,
                None if self.options.nondimensional => Dimension::NONE,
                None => {
                    let found = show_dimension(of(0));
                    return self.fail(
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
                if !self.agree(of(0), Dimension::NONE) {
                    let found = show_dimension(of(0));
                    return self.fail(
                        Diagnostic::new(
                            Code::ProdReduceDimension,
                            args.first()?.span,
                            format!("`{}` of values with {found} would have a dimension that depends on the grid", row.name),
                        )
                        .label(found)
                        .hint("divide by a reference value first"),
                    );
                }
                Dimension::NONE
            }
            DimensionRule::DropSecond => {
                if !self.agree(of(1), Dimension::NONE) {
                    let found = show_dimension(of(1));
                    self.report(
                        Diagnostic::new(
                            Code::DefaultDimension,
                            args.get(1)?.span,
                            format!("the default has {found}, but what `{}` gives has no dimension", row.name),
                        )
                        .label(found.clone())
                        .hint(format!("give the unit to the result: `{}(...) * 1 {found}`", row.name)),
                    );
                }
                Dimension::NONE
            }
        };
        Some(dimension.into())
    }

    /// The dimension that all arguments have; reports the first that has another one.
    fn same_dimensions(&mut self, row: &Row, args: &[Expr]) -> Option<TreeDimension> {
        let (first, others) = args.split_first()?;
        // A zero says nothing of the dimension: the first argument after it does.
        let (mut told, mut joined) = (first, tree_dim(first));
        for arg in others {
            let what = format!("`{}`", row.name);
            joined = self.same_dimension(Code::ArgumentDimension, &what, first.span.to(arg.span), told, arg)?;
            if tree_dim(told) == TreeDimension::OfZero {
                told = arg;
            }
        }
        Some(joined)
    }

    /// Warns of a tag with which files cannot be named.
    fn tag_of_file(&mut self, tag: &str, span: Span) {
        let is_refused = |letter: char| matches!(letter, '/' | '\\' | ':') || letter.is_control();
        let (message, hint) = if let Some(letter) = tag.chars().find(|&letter| is_refused(letter)) {
            let message = format!("`{}` cannot be part of a file name because of {letter:?}: collections go to files", tag.escape_debug());
            (message, format!("write {:?}", tag.replace(is_refused, "-")))
        } else if tag.len() > MAX_TAG_BYTES {
            let message = format!("a tag of {} bytes is too long for a file name: collections go to files", tag.len());
            (message, format!("write a tag of at most {MAX_TAG_BYTES} bytes"))
        } else {
            return;
        };
        self.report(Diagnostic::new(Code::TagOfFile, span, message).hint(hint));
    }

    /// `Output(tag, data)`
    pub fn output(&mut self, callee: &Ident, args: &'a [ast::Expr], span: Span) -> Option<StmtKind> {
        let values: Vec<Option<Expr>> = args.iter().map(|a| self.expr(a)).collect();
        let row = builtins::lookup(&callee.name)?;
        self.count(row, args, span)?;
        let mut values = values.into_iter();
        let (tag, data) = (values.next().flatten(), values.next().flatten());
        let tag_fits = tag.as_ref().map(|tag| self.argument(row, 0, tag, None));
        let data = data?;
        let unwritable = |ty: &&Type| match ty.shape {
            Shape::Single => matches!(ty.basic, Basic::Entity(_) | Basic::Table | Basic::Axis(_)),
            Shape::Collection(_) | Shape::Domain(_) => false,
            Shape::Sequence => true,
        };
        let wrong = data.ty.elements().iter().find(unwritable);
        if wrong.is_some() || data.ty == TreeType::Void {
            let found = self.show(&data.ty);
            let hint = match wrong {
                Some(&Type::TABLE) if data.ty == TreeType::Table2 => "write what it gives: `Interpolate(table, x, y)`",
                Some(&Type::TABLE) => "write what it gives: `Interpolate(table, x)`",
                Some(Type { shape: Shape::Sequence, .. }) => "write its elements in a loop: `For s In ...`",
                Some(_) | None => "write numbers computed from it",
            };
            return self.fail(
                Diagnostic::new(
                    Code::OutputData,
                    data.span,
                    format!("`Output` writes single values, collections, and arrays of them, not {found}"),
                )
                .label(found)
                .hint(hint),
            );
        }
        tag_fits??;
        let tag = tag?;
        if let ExprKind::Text(text) = &tag.kind
            && data.ty.elements().iter().any(|ty| matches!(ty.shape, Shape::Collection(_) | Shape::Domain(_)))
        {
            self.tag_of_file(text, tag.span);
        }
        Some(StmtKind::Output { tag, value: data })
    }
}
