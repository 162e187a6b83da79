(component (import "x" (instance $i (export "f" (func)) (export "f-1" (func)) (export "f1" (func)))) (export "y" (instance $i)) (export "z" (instance $i)))
