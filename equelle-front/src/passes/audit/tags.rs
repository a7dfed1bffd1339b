//! Tags of audits.

/// Begin of the tags of audits. The blank is one that no line breaks at, which names do not have.
pub const TAG: &str = "audit\u{a0}of ";
/// Ends of the tags of audits, in the order of the outputs of a round: what came in through the
/// boundary and from sources, the change, and then the content.
pub const PARTS: [&str; 4] = [": boundary", ": sources", ": change", ": content"];
