//! A page for every code: what it means, a program that has it, and the program put right.

use crate::diagnostic::Code;

/// The page of a code such as `E0005` (letter case does not matter), in Markdown; `None` if there
/// is no such code.
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
    E0014 E0015 E0016 E0017 E0018 E0019 E0020 E0021 E0022 E0023 E0024 E0025 E0026
    E0027
    E0101 E0102 E0103 E0104 E0105 E0106 E0107 E0108 E0109 E0110
    E0111 E0112 E0113 E0114 E0115
    E0201 E0202 E0203 E0204 E0205 E0206 E0207 E0208 E0209 E0210 E0211 E0212 E0213
    E0214 E0215 E0216 E0217 E0218 E0219 E0220 E0221 E0222 E0223 E0224 E0225 E0226
    E0227 E0228 E0229 E0230 E0231 E0232 E0233 E0234 E0235 E0236
    E0301 E0302 E0303 E0304 E0305 E0306 E0307 E0308 E0309 E0310 E0311
    E0401 E0402 E0403 E0404 E0405 E0406 E0407 E0408 E0409 E0410 E0411 E0412
    E0501 E0502 E0503 E0504 E0505 E0506 E0507 E0508 E0509 E0510
    E0511 E0512 E0513
    E0601 E0602 E0603 E0604 E0605 E0606 E0607 E0608 E0609 E0610 E0611
    E0901 E0902
    W0101 W0102 W0103 W0104
    W0201 W0202 W0203
    W0301
    W0401 W0402 W0403
    W0501 W0502
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
