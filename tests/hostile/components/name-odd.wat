;; A name that is invalid in WIT and denotes another path.
;; publish: refused

(component (core module $m (func (export "run"))) (core instance $i (instantiate $m)) (func $f (canon lift (core func $i "run"))) (export "../../etc/passwd" (func $f)))
