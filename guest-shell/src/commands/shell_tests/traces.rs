//! `set -x` of lists.

use super::check;

#[tokio::test]
async fn trace_shows_lists_of_arrays_as_written() {
    check(&[
        ("set -x; a=(\"x y\" 'z' $HOME); a+=([7]=\"$b\") 2>&1", "", 0),
        (
            "{ set -x; a=(\"x y\" 'z' w); m=([k]='v w'); a+=(\"$u\"); } 2>&1",
            "+ a=(\"x y\" 'z' w)\n+ m=([k]='v w')\n+ a+=(\"$u\")\n",
            0,
        ),
        (
            "{ set -x; declare -A m=([k]='v w' [j]=x); declare -a b=(1 '2 3'); } 2>&1",
            "+ m=(['k']='v w' ['j']='x')\n+ declare -A m\n+ b=('1' '2 3')\n+ declare -a b\n",
            0,
        ),
    ])
    .await;
}
