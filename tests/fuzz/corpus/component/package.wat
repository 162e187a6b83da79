(component (type $w (component (type $i (component (type $j (instance (export "f" (func)))) (export "a:b/c" (instance (type $j))))) (export "a:b/w" (component (type $i))))) (export "w" (type $w)))
