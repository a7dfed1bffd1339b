//! Additions to the row of an equation, and the signs of the sums that they stand in.

use equelle_front::backend::forms::Refusal;
use equelle_front::backend::inside::offset;
use equelle_front::ir::{KExpr, LocalId, ParamId, Path, Space, UnaryOp};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use crate::codegen::emit::derivatives::{Sign, Target};
use crate::codegen::emit::stencil_point::{End, StencilPoint};
use crate::codegen::emit::text::{Level, Text, ident};
use crate::codegen::emit::uses::Use;
use crate::codegen::emit::writer::{Failure, Form, Writer, Written};

impl Writer<'_> {
    /// The variable for the derivative by the element of an unknown that belongs to the current
    /// element.
    pub(in crate::codegen) fn diagonal(&self, unknown: u32) -> Ident {
        ident(&format!("own_{}", self.params[unknown as usize]))
    }

    /// The variable for the derivative by the element of an unknown at a place; on a side there is
    /// one for each axis.
    pub(in crate::codegen) fn derivative(&self, unknown: u32, place: StencilPoint) -> Option<Ident> {
        let name = &self.params[unknown as usize];
        match place {
            StencilPoint::Here => Some(self.diagonal(unknown)),
            StencilPoint::Neighbour(side) => Some(ident(&format!("{}_by_{name}", side.name()))),
            StencilPoint::SideFace(_) => None,
        }
    }

    /// Before a block of a side of a cell, where the sign is known.
    pub(in crate::codegen) fn begin_side(&mut self, side: End) {
        if let Some(derivatives) = &mut self.derivatives {
            derivatives.signs.push(if side == End::Low { Sign::Minus } else { Sign::Plus });
        }
    }

    /// After it.
    pub(in crate::codegen) fn end_side(&mut self) {
        if let Some(derivatives) = &mut self.derivatives {
            derivatives.signs.pop();
        }
    }

    /// True if the pattern of an equation is being written, which may follow paths that lead
    /// nowhere.
    pub(in crate::codegen) fn tells_pattern(&self) -> bool {
        self.derivatives.as_ref().is_some_and(|d| d.target == Target::Pattern)
    }

    /// An addition to the row.
    pub(in crate::codegen) fn add(&mut self, unknown: ParamId, at: &Path, value: &KExpr) -> Written<TokenStream> {
        let Some(derivatives) = &self.derivatives else { return Err(self.internal("derivatives outside a Jacobian form")) };
        let target = derivatives.target;
        let set = self.set_of(unknown)?;
        let number = Literal::usize_unsuffixed(unknown.0 as usize);
        let own = self.kernel.space == Space::Set(set) && self.is_back_here(at);
        if target == Target::Pattern {
            if own {
                return Ok(TokenStream::new());
            }
            let position = self.position(set, at)?;
            return Ok(quote! { pattern.add(#number, #position); });
        }
        let (mut negative, factors) = self.sign();
        let value = match value {
            KExpr::Unary(UnaryOp::Neg, value) => {
                negative = !negative;
                self.expr(value)?
            }
            value => self.expr(value)?,
        };
        let value = if factors.is_empty() {
            value
        } else {
            let value = value.at(Level::Cast);
            Text::new(Level::Product, quote! { #(#factors *)* #value })
        };
        let op = if negative {
            quote! { -= }
        } else {
            quote! { += }
        };
        let value = value.at(Level::Choice);
        if target == Target::Offsets {
            let to = (unknown.0, offset(at));
            let variable = self.derivatives.iter().flat_map(|d| &d.columns).find(|(unknown, by, _)| (*unknown, *by) == to);
            let (_, _, variable) = variable.ok_or(Failure::Form(Refusal::Columns))?;
            return Ok(quote! { #variable #op #value; });
        }
        if target == Target::Places {
            let place = self.place(at).ok_or(Failure::Form(Refusal::ChosenEntity))?;
            let variable = self.derivative(unknown.0, place).ok_or(Failure::Form(Refusal::Columns))?;
            if let Some(derivatives) = &mut self.derivatives
                && !derivatives.reached.contains(&(unknown.0, place))
            {
                derivatives.reached.push((unknown.0, place));
            }
            // A side function is handed the variables; elsewhere they are of all axes.
            return Ok(match (self.form, place) {
                (Form::Row, _) if !self.in_row => quote! { *#variable #op #value; },
                (_, StencilPoint::Neighbour(_)) => {
                    self.uses.add(Use::Axis);
                    quote! { #variable[axis] #op #value; }
                }
                (_, StencilPoint::Here | StencilPoint::SideFace(_)) => quote! { #variable #op #value; },
            });
        }
        if own {
            if let Some(derivatives) = &mut self.derivatives {
                derivatives.diagonals.insert(unknown.0);
            }
            let name = self.diagonal(unknown.0);
            return Ok(quote! { #name #op #value; });
        }
        if target == Target::Search {
            let position = self.position(set, at)?;
            return Ok(quote! { row[pattern.place(position, #number, #position)] #op #value; });
        }
        if let Some(derivatives) = &mut self.derivatives {
            derivatives.additions = derivatives.additions.map(|n| n + 1);
        }
        Ok(quote! { row[usize::from(slots[next])] #op #value; next += 1; })
    }

    /// The signs of the sums around: whether an odd number of them is -1, and those that are
    /// variables.
    fn sign(&mut self) -> (bool, Vec<Ident>) {
        let mut negative = false;
        let mut factors = Vec::new();
        for sign in self.derivatives.iter().flat_map(|d| &d.signs) {
            match sign {
                Sign::Plus => {}
                Sign::Minus => negative = !negative,
                Sign::Named(name, face) => {
                    self.uses.add(Use::Sign(*face));
                    factors.push(name.clone());
                }
            }
        }
        (negative, factors)
    }

    /// True if the body of a sum is written once for each end of a face.
    pub(in crate::codegen) fn written_twice(&mut self, face: LocalId, short: bool) -> bool {
        match &mut self.derivatives {
            None => short,
            // The diagonal is known then, which is worth more than short text; sums in sums would
            // double with every level.
            Some(derivatives) => {
                let outermost = derivatives.signs.is_empty();
                *derivatives.twice.entry(face).or_insert(short || outermost)
            }
        }
    }

    /// Before the body of a sum: its sign.
    pub(in crate::codegen) fn begin_sum(&mut self, own: Option<End>, face: LocalId, sign: &Option<Ident>) {
        if let Some(derivatives) = &mut self.derivatives {
            derivatives.signs.push(match (own, sign) {
                (Some(End::High), _) => Sign::Minus,
                (None, Some(name)) => Sign::Named(name.clone(), face),
                (Some(End::Low), _) | (None, None) => Sign::Plus,
            });
            if derivatives.additions != Some(0) {
                derivatives.additions = None;
            }
        }
    }

    /// After it. How many faces there are varies.
    pub(in crate::codegen) fn end_sum(&mut self) {
        if let Some(derivatives) = &mut self.derivatives {
            derivatives.signs.pop();
            if derivatives.additions != Some(0) {
                derivatives.additions = None;
            }
        }
    }

    /// True if the grid alone decides a condition, so that the pattern follows it.
    pub(in crate::codegen) fn decided(&self, condition: &KExpr) -> bool {
        self.derivatives.as_ref().is_none_or(|d| d.skeleton.is_decided(condition))
    }

    /// Begins to count the additions of a branch; the count until now.
    pub(in crate::codegen) fn begin_branch(&mut self) -> Option<usize> {
        self.derivatives.as_mut().and_then(|d| d.additions.replace(0))
    }

    /// After the branches of a choice: the one taken passes over the slots of the other.
    pub(in crate::codegen) fn end_branches(
        &mut self,
        before: Option<usize>,
        then_count: Option<usize>,
        decided: bool,
        then: &mut TokenStream,
        otherwise: &mut TokenStream,
    ) -> Written<()> {
        let Some(derivatives) = &mut self.derivatives else { return Ok(()) };
        let otherwise_count = derivatives.additions;
        let within = if decided {
            if then_count == otherwise_count { then_count } else { None }
        } else {
            if derivatives.target != Target::Slots {
                derivatives.additions = None;
                return Ok(());
            }
            let (Some(a), Some(b)) = (then_count, otherwise_count) else { return Err(Failure::Form(Refusal::Columns)) };
            let pass = |n: usize| {
                let n = Literal::usize_unsuffixed(n);
                quote! { next += #n; }
            };
            if b > 0 {
                then.extend(pass(b));
            }
            if a > 0 {
                let rest = std::mem::take(otherwise);
                *otherwise = pass(a);
                otherwise.extend(rest);
            }
            Some(a + b)
        };
        derivatives.additions = before.zip(within).map(|(a, b)| a + b);
        Ok(())
    }
}
