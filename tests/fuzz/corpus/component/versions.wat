(component (import "a:b/c@0.2.1" (instance $i (export "f" (func)))) (export "a:b/c@0.2.2" (instance $i)) (export "a:b/c@1.0.0-rc.1" (instance $i)))
