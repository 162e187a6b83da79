(component (import "HTTP-get" (func $f (param "URL-x" string))) (export "GET-http" (func $f)))
