(component
  (core module $m (func (export "f") (param i32) (result i32) local.get 0))
  (core instance $i (instantiate $m))
  (func (export "add-one") (param "x" u32) (result u32) (canon lift (core func $i "f"))))
