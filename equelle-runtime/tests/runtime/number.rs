//! Reading and writing of numbers.

use equelle_runtime::number::{NumberError, Words, general, line_and_column, parse_integer, parse_number, quoted, write_shortest};

#[test]
fn numbers_read_as_the_standard_library_reads_them() {
    let mut words: Vec<String> = [
        "0",
        "-0",
        "+0",
        "1",
        "-1",
        "+1",
        "1.",
        ".5",
        "-.5",
        "1e8",
        "1E8",
        "1e+8",
        "-4.3714e+04",
        "0.1",
        "0.30000000000000004",
        "123456789012345",
        "1234567890123456",
        "123456789012345678",
        "1234567890123456789",
        "12345678901234567890",
        "9007199254740993",
        "1e22",
        "1e23",
        "0.000001",
        "0.0000000000000000000001",
        "0.00000000000000000000001",
        "00000000000000000000000000001.5",
        "1e308",
        "4.9e-324",
        "1e-400",
        "2.2250738585072011e-308",
        "1.7976931348623157e308",
    ]
    .map(String::from)
    .to_vec();
    // And a sweep over digits, scales and signs.
    let mut state = 1u64;
    for _ in 0..20_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = state ^ (state >> 29);
        let value = f64::from_bits(bits);
        if value.is_finite() {
            words.push(format!("{value:e}"));
        }
        let digits = (bits >> 7) % 10u64.pow((bits % 19) as u32 + 1);
        let point = (bits >> 3) as usize % 25;
        words.push(if point == 0 { format!("{digits}") } else { format!("-{}.{digits:0>point$}", bits % 1000) });
    }
    for word in words {
        let expected: f64 = word.parse().unwrap();
        assert_eq!(parse_number(word.as_bytes()).map(f64::to_bits), Ok(expected.to_bits()), "{word}");
    }
}

#[test]
fn words_that_are_no_numbers() {
    for word in [
        "", "+", "-", ".", "-.", "e5", "1e", "1e+", "1.2.3", "--1", "+-1", "nan", "inf", "-inf", "NaN", "infinity", "0x10", "1,5", "1f",
        "1_000", "\u{661}",
    ] {
        assert_eq!(parse_number(word.as_bytes()), Err(NumberError::NotANumber), "{word}");
    }
    assert_eq!(parse_number(b"1e999"), Err(NumberError::OutOfRange));
    assert_eq!(parse_number(b"\xff"), Err(NumberError::NotANumber));
    for word in ["", "+", "-", "1.0", "1e3", "0x1", "--1"] {
        assert_eq!(parse_integer(word.as_bytes()), Err(NumberError::NotANumber), "{word}");
    }
    assert_eq!(parse_integer(b"99999999999999999999"), Err(NumberError::OutOfRange));
    assert_eq!((parse_integer(b"-12"), parse_integer(b"+7"), parse_integer(b"007")), (Ok(-12), Ok(7), Ok(7)));
}

#[test]
fn words_and_places() {
    let text = b"  1 2\r\n\t3\n\n4";
    let words: Vec<_> = Words::new(text).map(|w| (w.bytes, line_and_column(text, w.offset))).collect();
    assert_eq!(words, [(&b"1"[..], (1, 3)), (b"2", (1, 5)), (b"3", (2, 2)), (b"4", (4, 1))]);
    assert_eq!(quoted(b"a\nb"), "`a\\nb`");
    assert_eq!(quoted(&[b'x'; 40]), format!("`{}...`", "x".repeat(30)));
}

#[test]
fn shortest_digits_read_back() {
    let cases = [
        (0.0, "0"),
        (-0.0, "-0"),
        (500.0, "500"),
        (0.1, "0.1"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1e15, "1000000000000000"),
        (1e16, "1e16"),
        (1e-5, "0.00001"),
        (1e-6, "1e-6"),
        (-2.5e-300, "-2.5e-300"),
        (f64::NAN, "nan"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
    ];
    for (value, expected) in cases {
        let mut text = String::new();
        write_shortest(&mut text, value);
        assert_eq!(text, expected);
        if value.is_finite() {
            assert_eq!(parse_number(text.as_bytes()).map(f64::to_bits), Ok(value.to_bits()));
        }
    }
}

#[test]
fn six_digits_as_c_writes_them() {
    // Expected: what `printf("%g")` prints.
    let cases = [
        (0.0, "0"),
        (-0.0, "-0"),
        (500.0, "500"),
        (522.5, "522.5"),
        (1.0 / 3.0, "0.333333"),
        (100_000.0, "100000"),
        (123_456.0, "123456"),
        (1_234_567.0, "1.23457e+06"),
        (999_999.5, "1e+06"),
        (1e6, "1e+06"),
        (1e-4, "0.0001"),
        (1e-5, "1e-05"),
        (-1.5e-7, "-1.5e-07"),
        (1e100, "1e+100"),
        (0.000_123_456_7, "0.000123457"),
        (f64::NAN, "nan"),
        (f64::NEG_INFINITY, "-inf"),
    ];
    for (value, expected) in cases {
        assert_eq!(general(value), expected);
    }
}
