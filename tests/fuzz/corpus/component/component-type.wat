(component (type $t (component)) (import "f" (func $f)) (export "g" (func $f)) (export "t" (type $t)))
