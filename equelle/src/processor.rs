//! The processor that simulators are built for.
//!
//! Rust never contracts or reorders operations: the processor changes speed, and no bit of a
//! result.

use std::env;
use std::fmt;
use std::str::FromStr;

use equelle_runtime::hash::StableHash;

/// `--target-cpu`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TargetCpu {
    /// That of this machine: all that it has.
    #[default]
    Native,
    /// Any of this architecture.
    Generic,
    /// One that the Rust compiler knows by this name.
    Named(String),
}

impl FromStr for TargetCpu {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "native" => Ok(TargetCpu::Native),
            "generic" => Ok(TargetCpu::Generic),
            name if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+".contains(c)) => {
                Ok(TargetCpu::Named(name.to_owned()))
            }
            _ => Err("expected native, generic or the name of a processor as `rustc --print target-cpus` lists them".into()),
        }
    }
}

impl fmt::Display for TargetCpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TargetCpu::Native => "native",
            TargetCpu::Generic => "generic",
            TargetCpu::Named(name) => name,
        })
    }
}

/// Cargo's flags for code generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flags {
    /// Flag of the Rust compiler. `generic` has none.
    processor: Option<String>,
    /// The user's, from the environment; cargo then looks at no configuration. The variable, and
    /// flags with its separator.
    environment: Option<(&'static str, String, char)>,
    /// Tells machines apart that have a cache in common.
    machine: String,
}

impl Flags {
    /// For a processor. `RUSTFLAGS` are appended and override ours.
    pub fn new(cpu: &TargetCpu) -> Self {
        let set = |name: &'static str, separator| env::var(name).ok().map(|flags| (name, flags, separator));
        Flags::with(cpu, set("CARGO_ENCODED_RUSTFLAGS", '\u{1f}').or_else(|| set("RUSTFLAGS", ' ')))
    }

    fn with(cpu: &TargetCpu, environment: Option<(&'static str, String, char)>) -> Self {
        let processor = (*cpu != TargetCpu::Generic).then(|| format!("-Ctarget-cpu={cpu}"));
        let machine = if *cpu == TargetCpu::Native { features() } else { String::new() };
        Flags { processor, environment, machine }
    }

    /// A variable for cargo's environment, where the user has set it.
    pub fn variable(&self) -> Option<(&'static str, String)> {
        let (name, flags, separator) = self.environment.as_ref()?;
        let flags = match &self.processor {
            Some(processor) if flags.is_empty() => processor.clone(),
            Some(processor) => format!("{processor}{separator}{flags}"),
            None => flags.clone(),
        };
        Some((name, flags))
    }

    /// An argument for cargo, where the user has set nothing in the environment.
    pub fn configuration(&self) -> Option<String> {
        if self.environment.is_some() {
            return None;
        }
        self.processor.as_ref().map(|processor| format!("build.rustflags=[\"{processor}\"]"))
    }

    /// Adds all that makes programs different.
    #[must_use]
    pub fn hash(&self, hash: StableHash) -> StableHash {
        let environment = self.environment.as_ref().map_or("", |(_, flags, _)| flags.as_str());
        hash.text(self.processor.as_deref().unwrap_or_default()).text(environment).text(&self.machine)
    }
}

/// Features of this processor, as far as compilers make use of them.
fn features() -> String {
    macro_rules! detected {
        ($detect:ident: $($feature:tt)*) => {
            [$(($feature, std::arch::$detect!($feature))),*]
        };
    }
    #[cfg(target_arch = "x86_64")]
    let known = detected!(is_x86_feature_detected:
        "sse3" "ssse3" "sse4.1" "sse4.2" "sse4a" "popcnt" "avx" "avx2" "fma" "f16c" "bmi1" "bmi2" "lzcnt" "adx" "tbm" "movbe" "gfni" "vaes" "vpclmulqdq"
        "avx512f" "avx512cd" "avx512bw" "avx512dq" "avx512vl" "avx512ifma" "avx512vbmi" "avx512vbmi2" "avx512vnni" "avx512bitalg" "avx512vpopcntdq"
        "avx512bf16" "avx512vp2intersect"
    );
    #[cfg(target_arch = "aarch64")]
    let known = detected!(is_aarch64_feature_detected:
        "neon" "asimd" "fp16" "fhm" "rdm" "lse" "lse2" "rcpc" "rcpc2" "dotprod" "bf16" "i8mm" "fcma" "jsconv" "frintts" "sve" "sve2" "f32mm" "f64mm"
    );
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let known: [(&str, bool); 0] = [];
    known.into_iter().filter(|(_, there)| *there).map(|(name, _)| name).collect::<Vec<_>>().join("+")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        assert_eq!("native".parse(), Ok(TargetCpu::Native));
        assert_eq!("generic".parse(), Ok(TargetCpu::Generic));
        assert_eq!("x86-64-v3".parse(), Ok(TargetCpu::Named("x86-64-v3".into())));
        assert!("".parse::<TargetCpu>().is_err() && "a b".parse::<TargetCpu>().is_err() && "a\"]".parse::<TargetCpu>().is_err());
    }

    /// Flags of the environment stay, and come after ours: the Rust compiler takes the last
    /// processor named.
    #[test]
    fn flags_of_the_user_count_more() {
        let native = Flags::with(&TargetCpu::Native, None);
        assert_eq!(native.configuration().as_deref(), Some("build.rustflags=[\"-Ctarget-cpu=native\"]"));
        assert_eq!(native.variable(), None);
        let given = Flags::with(&TargetCpu::Native, Some(("RUSTFLAGS", "-C target-cpu=haswell".into(), ' ')));
        assert_eq!(given.configuration(), None);
        assert_eq!(given.variable(), Some(("RUSTFLAGS", "-Ctarget-cpu=native -C target-cpu=haswell".into())));
        let generic = Flags::with(&TargetCpu::Generic, Some(("RUSTFLAGS", "-g".into(), ' ')));
        assert_eq!((generic.configuration(), generic.variable()), (None, Some(("RUSTFLAGS", "-g".into()))));
        assert_eq!(Flags::with(&TargetCpu::Generic, None).configuration(), None);
    }

    #[test]
    fn different_flags_are_different_programs() {
        let digits = |cpu: &TargetCpu, flags: Option<&str>| {
            Flags::with(cpu, flags.map(|flags| ("RUSTFLAGS", flags.to_owned(), ' '))).hash(StableHash::default()).digits()
        };
        let all = [
            digits(&TargetCpu::Native, None),
            digits(&TargetCpu::Generic, None),
            digits(&TargetCpu::Named("haswell".into()), None),
            digits(&TargetCpu::Generic, Some("-g")),
        ];
        let distinct: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
        assert_eq!(digits(&TargetCpu::Native, None), all[0], "the same at every call");
    }
}
