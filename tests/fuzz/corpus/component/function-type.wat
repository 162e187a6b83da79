(component (type $t (func)) (import "f" (func $f)) (export "g" (func $f)) (export "t" (type $t)))
