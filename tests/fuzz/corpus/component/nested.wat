(component (component $c (component) (import "f" (func $f)) (export "g" (func $f))) (import "f" (func $f)) (instance $i (instantiate $c (with "f" (func $f)))) (export "i" (instance $i)))
