//! Functions of the program as the checker knows them.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::check::scope::{Declared, DefinitionId, ScopeId};
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::Ident;
use crate::typed::{FunctionId, TreeDimension, TreeType, VarId};

/// Functions of the program so far.
#[derive(Default)]
pub(super) struct Definitions<'a> {
    pub all: Vec<Definition<'a>>,
    /// Names of functions that some call or Newton names, by place: a nested function has one
    /// definition per instance around it.
    pub called: HashSet<Span>,
    /// Names of functions whose body has been walked.
    pub walked: HashSet<Span>,
    /// Parameters of residuals of systems, by place: each residual takes all unknowns, whether its
    /// equation has them or not.
    pub unknowns: HashSet<Span>,
    /// Names of functions that give values in rules of `Halo`, or call such functions.
    pub givers: HashSet<&'a str>,
}

impl<'a> Definitions<'a> {
    pub fn get(&self, id: DefinitionId) -> &Definition<'a> {
        &self.all[id.0 as usize]
    }

    pub fn get_mut(&mut self, id: DefinitionId) -> &mut Definition<'a> {
        &mut self.all[id.0 as usize]
    }
}

/// A function of the program; one per visit of its definition, so nested functions have one per
/// instance around them.
pub(super) struct Definition<'a> {
    pub name: &'a Ident,
    /// Scope that the body sees, up to the horizon.
    pub scope: ScopeId,
    pub horizon: u32,
    pub declared: Option<Rc<FunctionType<'a>>>,
    /// Parameters, body and place; `None` while it is only declared.
    pub defined: Option<Defined<'a>>,
    pub instances: HashMap<Vec<Argument>, Option<Instance>>,
}

#[derive(Clone)]
pub(super) struct Defined<'a> {
    pub params: Rc<[&'a Ident]>,
    /// Number of them that the definition lists; the others are those of the declaration.
    pub listed: usize,
    pub body: &'a ast::Block,
    pub span: Span,
}

/// A declared function type.
pub(super) struct FunctionType<'a> {
    pub names: Vec<&'a Ident>,
    /// One per parameter; `None` where the type was reported.
    pub params: Vec<Option<Declared>>,
    pub result: Option<Declared>,
    pub span: Span,
}

/// Type and dimensions of an argument: what instances differ by.
pub(super) type Argument = (TreeType, Vec<TreeDimension>);

/// A checked instance.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub id: FunctionId,
    pub ty: TreeType,
    pub dims: Vec<TreeDimension>,
    /// Its variables that rules beyond the grid of the result give, which it returns too.
    pub given: Vec<VarId>,
    /// A Newton call that it reaches.
    pub newton: Option<Span>,
}
