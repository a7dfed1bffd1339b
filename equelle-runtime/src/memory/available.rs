//! Memory that is available to the process.

use std::fs;
use std::path::Path;

use crate::error::{Error, ErrorKind};

/// Memory in bytes that this process can have in total: its current size and what is free. The
/// minimum over the system, control groups, and its own limit (`ulimit -v`). `None` where the
/// system does not report it (read from Linux's `/proc` and `/sys/fs/cgroup`).
pub fn available() -> Option<u64> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok()?;
    let free = kibibytes(&meminfo, "MemAvailable:")?;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let own = kibibytes(&status, "VmRSS:").unwrap_or(0);
    let addresses = fs::read_to_string("/proc/self/limits").ok().and_then(|limits| addresses_left(&limits, &status));
    Some(free.min(group_free().unwrap_or(u64::MAX)).min(addresses.unwrap_or(u64::MAX)).saturating_add(own))
}

/// Free address space, from `/proc/self/limits` and `/proc/self/status`; `None` without a limit.
/// Unused mappings of stacks and libraries count too.
fn addresses_left(limits: &str, status: &str) -> Option<u64> {
    let soft = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?.split_whitespace().next()?;
    Some(soft.parse::<u64>().ok()?.saturating_sub(kibibytes(status, "VmSize:")?))
}

fn kibibytes(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    let number: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(number * 1024)
}

/// Free memory of the control groups of this process; `None` without a limit.
fn group_free() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let root = Path::new("/sys/fs/cgroup");
    let mut folder = root.join(path.trim_start_matches('/'));
    let mut least = None;
    // The limits of parent groups apply as well.
    while folder.starts_with(root) {
        let free = free_of(&folder);
        least = match (least, free) {
            (Some(a), Some(b)) => Some(u64::min(a, b)),
            (a, b) => a.or(b),
        };
        if !folder.pop() {
            break;
        }
    }
    least
}

fn free_of(folder: &Path) -> Option<u64> {
    let number = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    let (limit, used) = (number("memory.max")?, number("memory.current")?);
    let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    // Inactive file pages are reclaimed when memory is short.
    let files = stat.lines().find_map(|line| line.strip_prefix("inactive_file ")?.trim().parse::<u64>().ok()).unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(files)))
}

/// A size such as `16GiB`, `500 MB` or `1000000`, in bytes.
///
/// # Errors
/// `Data` if it is none.
pub fn parse_size(key: &str, text: &str) -> Result<u64, Error> {
    const UNITS: [(&str, u64); 9] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("B", 1),
    ];
    let (number, unit) = UNITS.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit))).unwrap_or((text, 1));
    match number.trim().parse::<f64>() {
        Ok(number) if number >= 0.0 && number * (unit as f64) < u64::MAX as f64 => Ok((number * unit as f64) as u64),
        _ => Err(Error::new(ErrorKind::Data, format!("parameter `{key}` must be a size such as 16GiB, not `{text}`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [("16GiB", 16 << 30), ("1.5 kB", 1500), ("12", 12), ("7B", 7), ("0.5MiB", 1 << 19), ("2TB", 2_000_000_000_000)]
        {
            assert_eq!(parse_size("memory_limit", text).ok(), Some(bytes), "{text}");
        }
        for text in ["", "GiB", "-1", "many", "nan", "inf", "1e300GiB", "5 apples"] {
            let error = parse_size("memory_limit", text).expect_err(text);
            assert_eq!(error.kind, ErrorKind::Data);
            assert!(error.message.contains("`memory_limit`"), "{}", error.message);
        }
    }

    #[test]
    fn limits_of_the_address_space() {
        let limits = |soft: &str| {
            format!(
                "Limit                     Soft Limit           Hard Limit           Units\nMax address space         {soft}           unlimited            bytes\nMax file locks            unlimited            unlimited            locks\n"
            )
        };
        let status = "VmPeak:\t    9000 kB\nVmSize:\t    1024 kB\nVmRSS:\t     100 kB\n";
        assert_eq!(addresses_left(&limits("4294967296"), status), Some((4 << 30) - (1 << 20)));
        assert_eq!(addresses_left(&limits("1000"), status), Some(0));
        assert_eq!(addresses_left(&limits("unlimited"), status), None);
        assert_eq!(addresses_left("", status), None);
    }

    #[test]
    fn linux_tells_what_is_available() {
        if cfg!(target_os = "linux") {
            let bytes = available().expect("on Linux");
            assert!(bytes > 1 << 20, "this process has more: {bytes}");
        }
    }
}
