;; A name that is exported twice.
;; publish: refused

(component (core module $m (func (export "run"))) (core instance $i (instantiate $m)) (func $f (canon lift (core func $i "run"))) (export "run" (func $f)) (export "run" (func $f)))
