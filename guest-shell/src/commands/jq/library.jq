def select(f): if f then . else empty end;
def recurse(f): def r: ., (f | r); r;
def recurse: recurse(.[]?);
def recurse(f; c): def r: ., (f | select(c) | r); r;
def values: select(. != null);
def nulls: select(. == null);
def booleans: select(type == "boolean");
def numbers: select(type == "number");
def strings: select(type == "string");
def arrays: select(type == "array");
def objects: select(type == "object");
def iterables: select(type == "array" or type == "object");
def scalars: select(type != "array" and type != "object");
def finites: select(isfinite);
def normals: select(isnormal);
def map(f): [.[] | f];
def map_values(f): .[] |= f;
def _assign(paths; $value): reduce path(paths) as $path (.; setpath($path; $value));
def del(f): delpaths([path(f)]);
def paths: path(..) | select(length > 0);
def paths(f): path(.. | select(f)) | select(length > 0);
def leaf_paths: paths(scalars);
def pick(f): . as $whole | reduce path(f) as $path (null; setpath($path; $whole | getpath($path)));
def range($upto): _range(0; $upto; null);
def range($from; $upto): _range($from; $upto; null);
def first(f): label $done | (f | ., break $done);
def first: .[0];
def last: .[-1];
def last(f): (reduce f as $each ([]; [$each])) as $last | if $last == [] then empty else $last[0] end;
def isempty(f): label $done | ((f | false, break $done), true);
def limit($n; f):
  if $n > 0 then label $done | foreach f as $each ($n; . - 1; $each, if . <= 0 then break $done else empty end)
  elif $n == 0 then empty
  else error("limit doesn't support negative count") end;
def skip($n; f):
  if $n > 0 then foreach f as $each ($n; . - 1; if . < 0 then $each else empty end)
  elif $n == 0 then f
  else error("skip doesn't support negative count") end;
def nth($n): .[$n];
def nth($n; f): if $n < 0 then error("nth doesn't support negative indices") else first(skip($n; f)) end;
def until(stop; f): def r: if stop then . else (f | r) end; r;
def while(go; f): def r: if go then ., (f | r) else empty end; r;
def range($from; $upto; $by):
  if ([$from, $upto, $by | type] | unique) == ["number"] then _range($from; $upto; $by)
  elif $by > 0 then $from | while(. < $upto; . + $by)
  elif $by < 0 then $from | while(. > $upto; . + $by)
  else empty end;
def repeat(f): def r: f, r; r;
def in(container): . as $key | container | has($key);
def inside(container): . as $part | container | contains($part);
def any(f; c): isempty(first(f | c or empty)) | not;
def any(c): any(.[]; c);
def any: any(.);
def all(f; c): isempty(first(f | c and empty));
def all(c): all(.[]; c);
def all: all(.);
def add(f): reduce f as $each (null; . + $each);
def add: add(.[]);
def combinations:
  if length == 0 then [] else .[0][] as $each | (.[1:] | combinations) as $rest | [$each] + $rest end;
def combinations(n): . as $set | [range(n)] | map($set) | combinations;
def walk(f): def w: if type == "object" then map_values(w) elif type == "array" then map(w) else . end | f; w;
def to_entries: [keys_unsorted[] as $key | {key: $key, value: .[$key]}];
def from_entries:
  reduce .[] as $entry ({};
    . + {($entry | .key // .name // .Name // .Key):
         ($entry | if has("value") then .value else .Value end)});
def with_entries(f): to_entries | map(f) | from_entries;
def reverse: [.[length - 1 - range(0; length)]];
def transpose:
  if . == [] then [] else . as $rows | (map(length) | max) as $width
    | [range(0; $width) as $column | [range(0; $rows | length) as $row | $rows[$row][$column]]] end;
def sort_by(f): _sort_by(map([f]));
def group_by(f): _group_by(map([f]));
def unique_by(f): [group_by(f)[] | .[0]];
def min_by(f): _min_by(map([f]));
def max_by(f): _max_by(map([f]));
def flatten: _flatten(1e9);
def flatten($depth): if $depth < 0 then error("flatten depth must not be negative") else _flatten($depth) end;
def join($separator):
  reduce .[] as $each (null;
    (if . == null then "" else . + $separator end)
    + ($each | if . == null then "" elif type == "boolean" or type == "number" then tojson else . end)) // "";
def ascii_downcase: explode | map(if 65 <= . and . <= 90 then . + 32 else . end) | implode;
def ascii_upcase: explode | map(if 97 <= . and . <= 122 then . - 32 else . end) | implode;
def ascii: [.] | implode;
def toarray: if type == "array" then . else [.] end;
def todate: strftime("%Y-%m-%dT%H:%M:%SZ");
def todateiso8601: strftime("%Y-%m-%dT%H:%M:%SZ");
def fromdateiso8601: strptime("%Y-%m-%dT%H:%M:%SZ") | mktime;
def fromdate: fromdateiso8601;
def date: todate;
def dateadd(unit; n): . + n;
def datesub(unit; n): . - n;
def ltrimstr($left): if startswith($left) then .[$left | length:] end;
def rtrimstr($right): if endswith($right) and ($right | length) > 0 then .[:($right | length) * -1] end;
def trimstr($both): ltrimstr($both) | rtrimstr($both);
def indices($part):
  if type == "array" and ($part | type) == "array" then .[$part]
  elif type == "array" then .[[$part]]
  elif type == "string" and ($part | type) == "string" then _strindices($part)
  else .[$part] end;
def index($part): indices($part) | .[0];
def rindex($part): indices($part) | .[-1:][0];
def match(re; flags): _match(re; flags; false) | .[];
def match($value):
  ($value | type) as $type
  | if $type == "string" then match($value; null)
    elif $type == "array" and ($value | length) > 1 then match($value[0]; $value[1])
    elif $type == "array" and ($value | length) > 0 then match($value[0]; null)
    else error($type + " not a string or array") end;
def test(re; flags): _match(re; flags; true);
def test($value):
  ($value | type) as $type
  | if $type == "string" then test($value; null)
    elif $type == "array" and ($value | length) > 1 then test($value[0]; $value[1])
    elif $type == "array" and ($value | length) > 0 then test($value[0]; null)
    else error($type + " not a string or array") end;
def _captured: [.captures | .[] | select(.name != null) | {key: .name, value: .string}] | from_entries;
def capture(re; flags): match(re; flags) | _captured;
def capture($value): match($value) | _captured;
def _scanned: if (.captures | length) > 0 then [.captures | .[] | .string] else .string end;
def scan($re; $flags): match($re; "g" + $flags) | _scanned;
def scan($re): scan($re; null);
def split($re; flags): . as $text
  | [foreach ((match($re; flags + "g") | [.offset, .length]), null) as $each ([0, null];
      if $each == null then [.[0], $text[.[0]:]] else [$each[0] + $each[1], $text[.[0]:$each[0]]] end; .[1])];
def splits($re; flags): split($re; flags) | .[];
def splits($re): splits($re; null);
def sub($re; text; $flags): . as $in
  | (reduce match($re; $flags) as $found ({made: [], from: 0};
       $in[.from:$found.offset] as $gap
       | [$found | _captured | text] as $texts
       | reduce range($texts | length) as $at (.; .made[$at] += $gap + $texts[$at])
       | .from = $found.offset + $found.length)
     | .made[] + $in[.from:])
    // $in;
def sub($re; text): sub($re; text; "");
def gsub($re; text; $flags): sub($re; text; $flags + "g");
def gsub($re; text): sub($re; text; "g");
def tostream:
  path(def r: (.[]? | r), .; r) as $path
  | getpath($path) | reduce path(.[]?) as $last ([$path, .]; [$path + $last]);
def fromstream(f): {value: null, done: false} as $start
  | foreach f as $event ($start;
      if .done then $start else . end
      | if ($event | length) == 2
        then setpath(["done"]; ($event[0] | length) == 0) | setpath(["value"] + $event[0]; $event[1])
        else setpath(["done"]; ($event[0] | length) == 1) end;
      if .done then .value else empty end);
def truncate_stream(stream): . as $depth | null
  | stream | . as $event
  | if ($event[0] | length) > $depth then setpath([0]; $event[0][$depth:]) else empty end;
def inputs: def r: (try input catch (if . == "break" then empty else error end)) | (., r); r;
def IN(f): any(f == .; .);
def IN(source; f): any(source == f; .);
def INDEX(stream; key): reduce stream as $row ({}; .[$row | key | tostring] |= $row);
def INDEX(key): INDEX(.[]; key);
def JOIN($index; key): [.[] | [., $index[key]]];
def JOIN($index; stream; key): stream | [., $index[key]];
def JOIN($index; stream; key; joined): stream | [., $index[key]] | joined;
def debug(message): (message | debug | empty), .;
def halt_error: halt_error(5);
def abs: if . < 0 then -. end;
def get_prog_origin: null;
def get_jq_origin: null;
