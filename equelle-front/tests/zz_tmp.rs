use equelle_front::syntax::parse;
#[test]
fn measure() {
    let n = 100_000;
    let texts = [
            format!("x = {}1", "(".repeat(n)),
            format!("x = {}1", "-".repeat(n)),
            format!("x = {}a", "Not ".repeat(n)),
            format!("x = {}1", "f(".repeat(n)),
            format!("x = {}", "a ? ".repeat(n)),
            format!("x = {}", "a Or b And c == d < e + f * g / (".repeat(n)),
            format!("x = 1 [{}Meter", "(".repeat(n)),
            format!("x : {}Scalar", "Array Of 2 ".repeat(n)),
            "For a In b {\n".repeat(n) + &"}\n".repeat(n),
            "f() = {".repeat(n),
    ];
    let which: usize = std::env::var("W").unwrap().parse().unwrap();
    let size: usize = std::env::var("S").unwrap().parse().unwrap();
    let t = texts[which].clone();
    std::thread::Builder::new().stack_size(size << 10).spawn(move || { parse(&t); }).unwrap().join().unwrap();
}
