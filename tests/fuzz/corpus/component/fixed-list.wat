(component (import "f" (func $f (param "m" (list u8 4)) (param "n" (map string u8)))) (export "g" (func $f)))
