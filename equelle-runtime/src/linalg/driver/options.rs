//! Options of linear solvers: method, preconditioner, tolerances, limits.

use crate::error::{Error, ErrorKind};
use crate::linalg::krylov::iteration::Pursuit;
use crate::linalg::precond::amg::{AmgCycle, AmgOptions, AmgSmoother};
use crate::params::Parameters;
use crate::threads::Threads;

/// A method for linear systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Sparse direct LU factorisation.
    Lu,
    /// Conjugate gradients, for symmetric definite matrices.
    Cg,
    /// Stabilised bi-conjugate gradients, for any matrix.
    BiCgStab,
    /// Generalised minimal residuals with restart, for any matrix.
    Gmres,
}

impl Method {
    /// All methods.
    pub const ALL: [Method; 4] = [Method::Lu, Method::Cg, Method::BiCgStab, Method::Gmres];

    /// The value of the parameter `solver`.
    pub fn key(self) -> &'static str {
        match self {
            Method::Lu => "lu",
            Method::Cg => "cg",
            Method::BiCgStab => "bicgstab",
            Method::Gmres => "gmres",
        }
    }

    /// The name in messages.
    pub fn title(self) -> &'static str {
        match self {
            Method::Lu => "LU",
            Method::Cg => "CG",
            Method::BiCgStab => "BiCGStab",
            Method::Gmres => "GMRES",
        }
    }
}

/// A preconditioner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preconditioning {
    /// None.
    None,
    /// The inverse of the diagonal.
    Jacobi,
    /// The inverses of the diagonal blocks that couple fields on the same element.
    BlockJacobi,
    /// Incomplete LU factors without fill.
    Ilu0,
    /// Incomplete LU factors without fill, by blocks of fields on the same element.
    BlockIlu0,
    /// A factorised sparse approximate inverse.
    Fsai,
    /// Algebraic multigrid by smoothed aggregation.
    Amg,
    /// Two stages: multigrid for the pressure equation, then block ILU(0).
    Cpr,
}

impl Preconditioning {
    /// All preconditioners.
    pub const ALL: [Preconditioning; 8] = [
        Preconditioning::None,
        Preconditioning::Jacobi,
        Preconditioning::BlockJacobi,
        Preconditioning::Ilu0,
        Preconditioning::BlockIlu0,
        Preconditioning::Fsai,
        Preconditioning::Amg,
        Preconditioning::Cpr,
    ];

    /// The value of the parameter `preconditioner`.
    pub fn key(self) -> &'static str {
        match self {
            Preconditioning::None => "none",
            Preconditioning::Jacobi => "jacobi",
            Preconditioning::BlockJacobi => "block_jacobi",
            Preconditioning::Ilu0 => "ilu0",
            Preconditioning::BlockIlu0 => "block_ilu0",
            Preconditioning::Fsai => "fsai",
            Preconditioning::Amg => "amg",
            Preconditioning::Cpr => "cpr",
        }
    }

    /// The name in messages.
    pub fn title(self) -> &'static str {
        match self {
            Preconditioning::None => "no preconditioner",
            Preconditioning::Jacobi => "Jacobi",
            Preconditioning::BlockJacobi => "block Jacobi",
            Preconditioning::Ilu0 => "ILU(0)",
            Preconditioning::BlockIlu0 => "block ILU(0)",
            Preconditioning::Fsai => "FSAI",
            Preconditioning::Amg => "AMG",
            Preconditioning::Cpr => "CPR",
        }
    }
}

/// The reason why a method cannot be used with a preconditioner, whatever the matrix; `None` if it
/// can.
pub fn refusal(method: Method, preconditioner: Preconditioning) -> Option<&'static str> {
    match (method, preconditioner) {
        (Method::Lu, Preconditioning::None) => None,
        (Method::Lu, _) => Some("a direct solver takes no preconditioner"),
        (Method::Cg, Preconditioning::Cpr) => {
            Some("CG needs a symmetric preconditioner, and two stages one after the other are not symmetric")
        }
        (Method::Cg | Method::BiCgStab | Method::Gmres, _) => None,
    }
}

/// Options of a linear solve.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearOptions {
    /// The method; `None` chooses from the properties of the matrix and tries others after a
    /// failure (see [`super::choose`]).
    pub method: Option<Method>,
    /// Preconditioner of the iterative methods; `None` chooses.
    pub preconditioner: Option<Preconditioning>,
    /// Largest `|b - A x|` over `|b|` of a solved system, with scaled rows where these differ much
    /// in size ([`mod@crate::linalg::driver::solve`]); checked on the true residual for every
    /// method.
    pub tolerance: f64,
    /// Total iterations of the iterative methods.
    pub max_iterations: usize,
    /// Iterations of GMRES between restarts.
    pub restart: usize,
    /// Iterations between two checks of the residual. The host reads values from a device only
    /// then.
    pub check_every: usize,
    /// Residual that is as good as zero, relative to the right-hand side: round-off outside the
    /// range of a singular matrix may be that large, and a method that gets no further succeeds.
    /// Iterative methods aim for it ([`crate::linalg::krylov::iteration::Target`]), since that may
    /// save another solve. No parameter: Newton's method sets it.
    pub negligible: f64,
    /// How far iterative methods go for it. No parameter: Newton's method sets it.
    pub pursuit: Pursuit,
    /// Machine epsilon of the type that the entries of matrices and right-hand sides were rounded
    /// to. No parameter: the caller sets it.
    pub rounding: f64,
    /// Number of solves like this one, where it is known: as many may share a set-up. No parameter:
    /// the run sets it.
    pub solves: Option<usize>,
    /// Options of multigrid, which detects by itself whether the matrix is symmetric.
    pub amg: AmgOptions,
    /// Number of the elliptic field, from 0, for CPR; `None` determines it from the matrix.
    pub pressure: Option<usize>,
    /// Threads for loops over unknowns; they change no bit. No parameter: the run sets them.
    pub threads: Threads,
}

/// Number of unknowns up to which a direct solver is tried after iterative methods have failed.
pub const MAX_LU_UNKNOWNS: usize = 50_000;

impl Default for LinearOptions {
    fn default() -> Self {
        LinearOptions {
            method: None,
            preconditioner: None,
            tolerance: 1e-8,
            max_iterations: 5000,
            restart: 30,
            check_every: 1,
            negligible: 0.0,
            pursuit: Pursuit::Near,
            rounding: f64::EPSILON,
            solves: None,
            amg: AmgOptions::default(),
            pressure: None,
            threads: Threads::one(),
        }
    }
}

impl LinearOptions {
    /// Reads `solver`, `preconditioner`, `solver_tol`, `solver_max_iter`, `solver_restart`,
    /// `amg_smoother`, `amg_cycle`, `amg_strength` and `cpr_pressure` (the number of an unknown,
    /// from 1), and the names that older programs used for them. Returns a warning for the user for
    /// each old name, in order.
    ///
    /// # Errors
    /// `Data` for a value that is not legal (lists the legal ones), and for a solver and a
    /// preconditioner that do not go together.
    pub fn from_parameters(parameters: &Parameters) -> Result<(LinearOptions, Vec<String>), Error> {
        let mut options = LinearOptions::default();
        let mut warnings = Vec::new();
        old_keys(parameters, &mut options, &mut warnings)?;
        match parameters.text("solver") {
            None => {}
            Some("CPU") => {
                warnings.push("`solver=CPU` is an old name: use `solver=lu`".to_owned());
                options.method = Some(Method::Lu);
            }
            Some(text) => options.method = word_or_auto(parameters, "solver", text, Method::ALL, Method::key)?,
        }
        match parameters.text("preconditioner") {
            None => {}
            Some("diagonal") => {
                warnings.push("`preconditioner=diagonal` is an old name: use `preconditioner=jacobi`".to_owned());
                options.preconditioner = Some(Preconditioning::Jacobi);
            }
            Some(text) => {
                options.preconditioner = word_or_auto(parameters, "preconditioner", text, Preconditioning::ALL, Preconditioning::key)?;
            }
        }
        if let Some(tolerance) = tolerance(parameters, "solver_tol")? {
            options.tolerance = tolerance;
        }
        if let Some(count) = count(parameters, "solver_max_iter", 1)? {
            options.max_iterations = count;
        }
        if let Some(count) = count(parameters, "solver_restart", 1)? {
            options.restart = count;
        }
        if let Some(text) = parameters.text("amg_smoother") {
            options.amg.smoother = word_or_auto(parameters, "amg_smoother", text, AmgSmoother::ALL, AmgSmoother::key)?;
        }
        if let Some(text) = parameters.text("amg_cycle") {
            options.amg.cycle = word(parameters, "amg_cycle", text, AmgCycle::ALL, AmgCycle::key)?;
        }
        if let Some(strength) = parameters.number("amg_strength")? {
            if !(0.0..1.0).contains(&strength) {
                let at = parameters.place("amg_strength");
                let message = format!("parameter `amg_strength`{at} must be 0 or more and below 1, not `{strength}`");
                return Err(Error::new(ErrorKind::Data, message)
                    .hint("couplings above this part of the largest ones of their rows are coarsened along"));
            }
            options.amg.strength = strength;
        }
        options.pressure = count(parameters, "cpr_pressure", 1)?.map(|number| number - 1);
        if options.method == Some(Method::Lu) && !cfg!(feature = "lu") {
            return Err(Error::new(ErrorKind::Data, "this program was built without LU (cargo feature `lu` of equelle-runtime)")
                .hint("use solver=cg, bicgstab or gmres"));
        }
        if let (Some(method), Some(preconditioner)) = (options.method, options.preconditioner)
            && let Some(reason) = refusal(method, preconditioner)
        {
            let at = parameters.place("preconditioner");
            let message =
                format!("`solver={}` and `preconditioner={}`{at} do not go together: {reason}", method.key(), preconditioner.key());
            let hint = if method == Method::Lu { "leave out `preconditioner`" } else { "use solver=gmres or solver=bicgstab" };
            return Err(Error::new(ErrorKind::Data, message).hint(hint));
        }
        Ok((options, warnings))
    }
}

/// A value from a list of words, in upper or lower case.
fn word<T: Copy, const N: usize>(
    parameters: &Parameters,
    key: &str,
    text: &str,
    legal: [T; N],
    name: fn(T) -> &'static str,
) -> Result<T, Error> {
    let found = legal.into_iter().find(|&legal| text.eq_ignore_ascii_case(name(legal)));
    found.ok_or_else(|| not_legal(parameters, key, text, &legal.map(name)))
}

/// A value from a list of words; `auto` is `None`.
fn word_or_auto<T: Copy, const N: usize>(
    parameters: &Parameters,
    key: &str,
    text: &str,
    legal: [T; N],
    name: fn(T) -> &'static str,
) -> Result<Option<T>, Error> {
    if text.eq_ignore_ascii_case("auto") {
        return Ok(None);
    }
    let found = legal.into_iter().find(|&legal| text.eq_ignore_ascii_case(name(legal)));
    let names: Vec<&str> = std::iter::once("auto").chain(legal.map(name)).collect();
    found.map(Some).ok_or_else(|| not_legal(parameters, key, text, &names))
}

fn not_legal(parameters: &Parameters, key: &str, text: &str, legal: &[&str]) -> Error {
    Error::new(ErrorKind::Data, format!("parameter `{key}`{} cannot be `{text}`", parameters.place(key)))
        .hint(format!("it is one of: {}", legal.join(", ")))
}

/// A relative tolerance.
fn tolerance(parameters: &Parameters, key: &str) -> Result<Option<f64>, Error> {
    let Some(value) = parameters.number(key)? else { return Ok(None) };
    if value > 0.0 && value < 1.0 {
        return Ok(Some(value));
    }
    Err(Error::new(ErrorKind::Data, format!("parameter `{key}`{} must lie between 0 and 1, not `{value}`", parameters.place(key)))
        .hint("it is the largest residual of a solved linear system, relative to its right-hand side"))
}

fn count(parameters: &Parameters, key: &str, least: usize) -> Result<Option<usize>, Error> {
    let Some(value) = parameters.integer(key)? else { return Ok(None) };
    if value >= least {
        return Ok(Some(value));
    }
    Err(Error::new(ErrorKind::Data, format!("parameter `{key}`{} must be {least} or more, not `{value}`", parameters.place(key))))
}

/// Old keys without a counterpart.
const OLD_KEYS_WITHOUT_EFFECT: [&str; 5] =
    ["linsolver_smooth_steps", "linsolver_prolongate_factor", "linsolver_verbosity", "linsolver_save_system", "linsolver_save_filename"];

/// Translates the keys of the original serial runtime.
fn old_keys(parameters: &Parameters, options: &mut LinearOptions, warnings: &mut Vec<String>) -> Result<(), Error> {
    let mut superseded = |old: &str, new: &str| {
        let is_ignored = parameters.contains(new);
        let what = if is_ignored { format!("`{new}` is given, so it is ignored") } else { format!("use `{new}`") };
        warnings.push(format!("parameter `{old}`{} is an old name: {what}", parameters.place(old)));
        !is_ignored
    };
    let kind = parameters.integer("linsolver_type")?;
    if let Some(text) = parameters.text("linsolver") {
        let method = match text {
            "umfpack" => Method::Lu,
            "petsc" => Method::Gmres,
            "istl" => match kind {
                Some(0 | 1) => Method::Cg,
                None | Some(2) => Method::BiCgStab,
                // Algebraic multigrid as a solver of its own: for symmetric matrices.
                Some(3 | 4) => Method::Cg,
                Some(other) => return Err(not_legal(parameters, "linsolver_type", &other.to_string(), &["0", "1", "2", "3", "4"])),
            },
            _ => return Err(not_legal(parameters, "linsolver", text, &["umfpack", "istl", "petsc"])),
        };
        if superseded("linsolver", "solver") {
            options.method = Some(method);
        }
    }
    if kind.is_some() {
        superseded("linsolver_type", "solver");
    }
    if let Some(value) = tolerance(parameters, "linsolver_residual_tolerance")?
        && superseded("linsolver_residual_tolerance", "solver_tol")
    {
        options.tolerance = value;
    }
    // 0 meant the default.
    if let Some(value) = count(parameters, "linsolver_max_iterations", 0)?
        && superseded("linsolver_max_iterations", "solver_max_iter")
        && value > 0
    {
        options.max_iterations = value;
    }
    for key in OLD_KEYS_WITHOUT_EFFECT {
        if parameters.text(key).is_some() {
            warnings.push(format!("parameter `{key}`{} is of an older solver and has no effect", parameters.place(key)));
        }
    }
    Ok(())
}
