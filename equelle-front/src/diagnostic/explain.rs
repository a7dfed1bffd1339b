//! A page for every code: what it means, a program that has it, and the program put right.

use crate::diagnostic::Code;

/// The page of a code such as `E0005` (letter case does not matter), in Markdown; `None` if there is no such code.
pub fn explain(code: &str) -> Option<&'static str> {
    let known = Code::ALL.iter().find(|c| c.as_str().eq_ignore_ascii_case(code))?;
    PAGES.iter().find(|(name, _)| *name == known.as_str()).map(|(_, text)| *text)
}

macro_rules! pages {
    ($($code:ident)*) => { &[$((stringify!($code), include_str!(concat!("pages/", stringify!($code), ".md"))),)*] };
}

/// Code and page, in the order of the codes. A test compares this list with the codes.
const PAGES: &[(&str, &str)] = pages! {
    E0001 E0002 E0003 E0004 E0005 E0006 E0007 E0008 E0009 E0010 E0011 E0012 E0013
    E0014 E0015 E0016 E0017 E0018 E0019 E0020 E0021 E0022 E0023 E0024 E0025
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_page_and_every_page_a_code() {
        let codes: Vec<&str> = Code::ALL.iter().map(|c| c.as_str()).collect();
        let pages: Vec<&str> = PAGES.iter().map(|(name, _)| *name).collect();
        assert_eq!(codes, pages);
    }

    #[test]
    fn a_page_begins_with_its_code_and_title() {
        for code in Code::ALL {
            let page = explain(code.as_str()).unwrap_or_else(|| panic!("no page for {}", code.as_str()));
            assert_eq!(page.lines().next(), Some(format!("# {}: {}", code.as_str(), code.title()).as_str()));
        }
    }

    #[test]
    fn unknown_codes_have_no_page() {
        assert_eq!(explain("E9999"), None);
        assert_eq!(explain(""), None);
        assert_eq!(explain("e0001"), explain("E0001"));
    }
}
