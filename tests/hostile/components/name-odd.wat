;; A name that WIT does not allow, and that is a path elsewhere.
;; publish: refused

(component (core module $m (func (export "run"))) (core instance $i (instantiate $m)) (func $f (canon lift (core func $i "run"))) (export "../../etc/passwd" (func $f)))
