;; A name with a special meaning in JavaScript.
;; publish: refused

(component (core module $m (func (export "run"))) (core instance $i (instantiate $m)) (func $f (canon lift (core func $i "run"))) (export "__proto__" (func $f)))
