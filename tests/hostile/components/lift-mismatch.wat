;; A function that is lifted with a mismatching type.
;; publish: refused

(component (core module $m (func (export "run") (result i32) (i32.const 1))) (core instance $i (instantiate $m)) (func (export "run") (result string) (canon lift (core func $i "run"))))
