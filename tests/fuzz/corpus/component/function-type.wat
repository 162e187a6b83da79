(component (import "x" (instance $i (type $c (func)) (export "t" (type (eq $c))) (export "f" (func)))) (export "a:b/c" (instance $i)))
