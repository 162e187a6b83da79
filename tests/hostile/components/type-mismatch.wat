;; A function that returns another type than declared.
;; publish: refused

(component (core module $m (func (export "run") (result i32) (i64.const 1))) (core instance $i (instantiate $m)) (func (export "run") (result u32) (canon lift (core func $i "run"))))
