//! Time at which generated code checks the conditions of a launch on the host.
#![cfg(feature = "codegen")]

use backend_cuda::codegen::Cuda;
use equelle_front::backend::Backend;
use equelle_front::ir::text::parse;
use equelle_front::verify::verify;

const MODULE: &str = r#"
module m
kernel compute_beyond over BoundaryFaces() {
  param faces: Face On BoundaryFaces() In AllFaces()
  result beyond: Cell On BoundaryFaces() In AllCells()
  check on_empty not(is_empty(faces[here]))
  body { yield entity(second(faces[here])) }
}
kernel check_beyond over BoundaryFaces() {
  param beyond: Cell On BoundaryFaces() In AllCells()
  check on_empty not(is_empty(beyond[here]))
  body {
  }
}
kernel compute_sum over BoundaryFaces() {
  param u: Scalar On AllCells()
  param beyond: Cell On BoundaryFaces() In AllCells()
  result sum: Scalar On BoundaryFaces()
  check on_empty not(is_empty(beyond[here]))
  body { yield (u[beyond[here]] + 1.0) }
}
main {
}
"#;

/// Later launches rely on the conditions of the first two kernels; none relies on the numbers of
/// the third.
#[test]
fn what_later_launches_rely_on_is_looked_at_at_once() {
    let module = verify(parse(MODULE).expect("a module")).expect("a valid module");
    let files = Cuda.files(&module).expect("kernels with storage");
    let (_, host) = files.iter().find(|(name, _)| name.ends_with("kernels_cuda.rs")).expect("a host side");
    for (kernel, looks) in [("compute_beyond", true), ("check_beyond", true), ("compute_sum", false)] {
        let begin = host.find(&format!("fn {kernel}(")).expect("a launch");
        let rest = &host[begin..];
        let body = &rest[..rest.find("\n    }\n").expect("its end")];
        let (launch, after) = body.split_once("self.launch_over").expect("a launch");
        assert!(!launch.contains("check_flag"), "{kernel}: {body}");
        assert_eq!(after.contains("self.check_flag()?"), looks, "{kernel}: {body}");
    }
}
