(component (import "f" (func $f)) (import "i" (instance $i (export "f" (func)))) (export "g" (func $f)) (export "g-x" (instance $i)))
