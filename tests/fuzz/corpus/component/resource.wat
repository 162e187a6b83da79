(component
  (import "a:b/c" (instance $i
    (export "counter" (type $c (sub resource)))
    (export "[constructor]counter" (func (param "start" u32) (result (own $c))))
    (export "[method]counter.increment" (func (param "self" (borrow $c)) (param "by" u32)))
    (export "[static]counter.max" (func (param "a" (borrow $c)) (param "b" (own $c)) (result (own $c))))
    (export "drop" (func (param "x" (own $c))))))
  (export "a:b/d" (instance $i)))
