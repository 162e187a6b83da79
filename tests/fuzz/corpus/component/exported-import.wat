(component
  (import "a:b/c@1.0.0" (instance $i
    (type $r (record (field "a" u8) (field "std-dev" (option f64))))
    (export "rec" (type $rec (eq $r)))
    (type $v (variant (case "circle" f64) (case "empty")))
    (export "var" (type $var (eq $v)))
    (type $e (enum "red" "dark-blue"))
    (export "enu" (type $enu (eq $e)))
    (type $f (flags "read" "write-all"))
    (export "fla" (type $fla (eq $f)))
    (export "all" (func (param "a" bool) (param "b" s8) (param "c" u16) (param "d" s64) (param "e" f32) (param "f" char)
      (param "g" string) (param "h" (list u8)) (param "i" (list $rec)) (param "j" (tuple u8 $var)) (param "k" $enu)
      (param "l" $fla) (param "m" (option (option u8))) (param "n" (result)) (result (result $rec (error $var)))))))
  (export "a:b/d@1.0.0" (instance $i)))
