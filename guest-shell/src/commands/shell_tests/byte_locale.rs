//! Characters of the locale C, in which each byte is one.

use super::check;

#[tokio::test]
async fn sed_in_the_locale_c_takes_bytes_for_characters() {
    check(&[
        (r#"printf 'héé\n' | LC_ALL=C sed 's/./x/g'"#, "xxxxx\n", 0),
        (r#"printf 'héé\n' | LC_ALL=C sed 's/é/e/g;s/[é]/?/'"#, "hee\n", 0),
        (r#"printf 'é\n' | LC_ALL=C sed 'y/é/e/'; echo $?"#, "1\n", 0),
        (r#"printf 'é\n' | LC_ALL=C sed 'y/é/ab/'"#, "ab\n", 0),
        (r#"printf 'é x\n' > é.txt; LC_ALL=C sed 's/x/é/w ö.txt' é.txt; cat ö.txt; LC_ALL=C sed -i 's/é/E/' é.txt; cat é.txt"#, "é é\né é\nE x\n", 0),
        (r#"x=$(printf 'é\n' | LC_ALL=C sed 's/$/é/'); echo ${#x}"#, "2\n", 0),
        (r#"printf 'aé\n' | LC_ALL=C sed 's/[^a-z]//g'"#, "a\n", 0),
        (r#"printf 'aé\n' | LC_ALL=C sed -E 's/[[:alpha:]]/_/g;l'"#, "_\\303\\251$\n_é\n", 0),
        (r#"printf 'aé\n' | LC_ALL=C sed 's/é*$/<&>/;s/\xa9/!/' | od -c"#, "0000000   a   < 303   !   >  \\n\n0000006\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn grep_in_the_locale_c_takes_bytes_for_characters() {
    check(&[
        (r#"printf 'éa\n' | LC_ALL=C grep -o '.' | od -c"#, "0000000 303  \\n 251  \\n   a  \\n\n0000006\n", 0),
        (r#"printf 'éa\n' | LC_ALL=C grep -c '^...$'"#, "1\n", 0),
        (r#"printf 'éa\n' | LC_ALL=C grep -ob a"#, "2:a\n", 0),
        (r#"printf 'éaé\n' | LC_ALL=C grep --color=always 'aé' | od -c"#, "0000000 303 251 033   [   0   1   ;   3   1   m 033   [   K   a 303 251\n0000020 033   [   m 033   [   K  \\n\n0000027\n", 0),
        (r#"printf 'ÉA\n' | LC_ALL=C grep -i 'éa'; echo $?"#, "1\n", 0),
        (r#"printf 'é\n' | LC_ALL=C grep -E '^é{1}$'"#, "é\n", 0),
        (r#"printf 'éa\n' | LC_ALL=C grep -F é"#, "éa\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn awk_in_the_locale_c_takes_bytes_for_characters() {
    check(&[
        (r#"LC_ALL=C awk 'BEGIN { print length("héllo"), index("héllo","l"), substr("é",1,1) }' | od -c"#, "0000000   6       4     303  \\n\n0000006\n", 0),
        (r#"printf 'é b\n' | LC_ALL=C awk '{print length($1), toupper($0), $1=="é"; printf "%3s|%.1s|\n", "é", "x"}'"#, "2 é B 1\n é|x|\n", 0),
        (r#"printf 'é b\n' > é.txt; LC_ALL=C awk '{print > "ü.txt"; print FILENAME, length(FILENAME)} END{close("ü.txt"); while((getline l<"ü.txt")>0) print length(l)}' é.txt"#, "é.txt 6\n4\n", 0),
        (r#"LC_ALL=C awk -v x=é 'BEGIN{print length(x), x; "echo é" | getline y; print length(y); system("echo é"); print "é" | "cat"}'"#, "2 é\n2\né\né\n", 0),
        (r#"X=é LC_ALL=C awk 'BEGIN{print length(ENVIRON["X"])}'"#, "2\n", 0),
        (r#"printf 'aéb\n' | LC_ALL=C awk -Fé '{print $2}'; printf 'aéb\n' | LC_ALL=C awk '{gsub(/é/,"-");print}'; printf 'aéb\n' | LC_ALL=C awk '{gsub(/[^a-z]/,"-");print}'; printf 'aéb\n' | LC_ALL=C awk '{n=split($0,c,"");print n}'"#, "b\na-b\na--b\n4\n", 0),
        (r#"x=$(LC_ALL=C awk 'BEGIN{printf "é"}'); echo ${#x}"#, "1\n", 0),
        (r#"printf 'é\n' | LC_ALL=C awk 'match($0,/.$/){print RSTART, RLENGTH}'"#, "2 1\n", 0),
        (
            r#"LC_ALL=C awk 'BEGIN { for (i = 250; i < 258; i++) printf "%c", i; printf "%c%c", 233, "é" }' | od -An -tx1"#,
            " fa fb fc fd fe ff 00 01 e9 c3\n",
            0,
        ),
    ])
    .await;
}
