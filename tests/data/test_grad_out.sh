#!/bin/sh
# A gradient of the output from a file: used as it is, or refused in a line that says what, where,
# what was expected; NaN and infinite values are counted; a pixel by name.
. "${SRCDIR:-.}/tests/support/tap.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Writes a .npy of float32 values: SHAPE, then values as Python floats; the last COUNT are 0.
npy() { # FILE SHAPE COUNT VALUES...
    npy_file=$1 npy_count=$3
    header=$(printf "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" "$2")
    padded=$(printf '%-117s' "$header")
    shift 3
    {
        printf '\223NUMPY\001\000\166\000%s\n' "$padded"
        for bytes in "$@"; do printf '%b' "$bytes"; done
        head -c $((4 * (npy_count - $#))) /dev/zero
    } >"$npy_file"
}
one='\000\000\200\077' nan='\000\000\300\177' infinite='\000\000\200\377'

shape=$("$BEVSCOPE" info toy --format json | tr -d ' \n' |
    sed -n 's/.*"channels":\([0-9]*\).*"nx":\([0-9]*\),"ny":\([0-9]*\).*/\3 \2 \1/p')
# shellcheck disable=SC2086
set -- $shape
ny=$1 nx=$2 c=$3
echo "# toy: $ny x $nx cells, $c channels"
count=$((ny * nx * c))

verify() { # FILE
    "$BEVSCOPE" verify toy --direction backward --dtype fp32 --align nearest --device cpu \
        --grad-out "$1" >"$folder/out" 2>"$folder/err"
}
says() { # TEXT
    sed 's/^/# /' "$folder/err"
    [ "$(grep -c bevscope "$folder/err")" = 1 ] && grep -qF "$1" "$folder/err"
}

npy "$folder/right.npy" "($ny, $nx, $c)" "$count" "$one" "$one"
verify "$folder/right.npy" && [ ! "$(grep bevscope "$folder/err")" ]
tap_ok $? 'a gradient of the right shape is taken'
# refused NAME WORDS TITLE: the file is refused in one line that says so.
refused() {
    verify "$folder/$1"
    [ $? = 1 ] && says "$2"
    tap_ok $? "$3"
}
npy "$folder/shape.npy" "($ny, $nx, 7)" $((ny * nx * 7)) "$one"
refused shape.npy \
    "shape.npy: grad_out has the shape ($ny, $nx, 7), must be (ny, nx, channels) = ($ny, $nx, $c)" \
    'another shape is refused'
npy "$folder/rank.npy" "($count,)" "$count" "$one"
refused rank.npy "grad_out has the shape ($count,), must be (ny, nx, channels)" 'and another rank'
for type in '<U1' '|S4' '|u1' '<i4'; do
    printf '\223NUMPY\001\000\166\000%-117s\n' \
        "{'descr': '$type', 'fortran_order': False, 'shape': ($ny, $nx, $c), }" >"$folder/type.npy"
    head -c $((4 * count)) /dev/zero >>"$folder/type.npy"
    refused type.npy "must be float16, float32 or float64" "texts and whole numbers are refused: $type"
done
for part in 500 50 9; do head -c $part "$folder/right.npy" >"$folder/$part.npy"; done
refused 500.npy "but has 372" 'a truncated file is refused'
refused 50.npy "truncated: its header has no end" 'and one whose header is cut'
refused 9.npy "truncated: its header has no end" 'and one of nine bytes'
deep=$(printf '%0120d' 0)/$(printf '%0120d' 1)
mkdir -p "$folder/$deep"
cp "$folder/shape.npy" "$folder/$deep/shape.npy"
refused "$deep/shape.npy" "1/shape.npy: grad_out has the shape" 'a long path ends with the name of the file'
refused none.npy none.npy 'and none at all'
npy "$folder/nan.npy" "($ny, $nx, $c)" "$count" "$one" "$nan" "$infinite" "$nan"
verify "$folder/nan.npy"
says "nan.npy: grad_out: 2 of $count values are NaN, 1 infinite, the first at [0, 0, 1]"
tap_ok $? 'NaN and infinite values are counted, with the first place'
"$BEVSCOPE" verify toy --device cpu --grad-out "$folder/right.npy" >/dev/null 2>"$folder/err"
[ $? = 2 ] && says 'add --direction backward'
tap_ok $? 'forward there is none'
"$BEVSCOPE" bench toy --quick --cache warm --device cpu --dtype fp32 --direction backward \
    --grad-out "$folder/right.npy" >"$folder/out" 2>"$folder/err" && grep -q cpu_grad_v4 "$folder/out"
tap_ok $? 'bench takes it'

snapshot() { # OPTIONS...
    "$BEVSCOPE" snapshot intersection --backward --device cpu --dtype fp32 -o "$folder/back.png" \
        "$@" >"$folder/out" 2>"$folder/err"
}
misused() { # WORDS TITLE OPTIONS...
    words=$1 title=$2
    shift 2
    snapshot "$@"
    [ $? = 2 ] && says "$words"
    tap_ok $? "$title"
}
npy "$folder/street.npy" '(200, 200, 80)' 0
head -c $((200 * 200 * 80 * 4)) /dev/zero | tr '\000' '\074' >>"$folder/street.npy" # 0.0115
snapshot --grad-out "$folder/street.npy" && grep -q 'over 40000 cells' "$folder/out" &&
    grep -q 'of 4224 feed it; the brightest' "$folder/out"
tap_ok $? 'snapshot takes a file instead of a loss'
sed 's/^/# /' "$folder/out"
snapshot --pixel front,20,8 && grep -q 'the chosen one: front, column 20, row 8' "$folder/out"
tap_ok $? 'snapshot shows the bins of a pixel'
snapshot --pixel 1,20,8 && grep -q 'the chosen one: front, column 20, row 8' "$folder/out"
tap_ok $? 'or of a camera by number'
misused "there is no camera 'side'" 'a camera that is not there' --pixel side,20,8
misused '44,8 is outside of 44 x 16 pixels' 'a pixel that is not there' --pixel front,44,8
misused 'is not CAMERA,X,Y' 'half a pixel' --pixel front,20
"$BEVSCOPE" snapshot toy --pixel 0,0,0 -o "$folder/back.png" 2>"$folder/err"
[ $? = 2 ] && says 'add --backward'
tap_ok $? 'forward a pixel has no gradient'
misused 'comes from a file' 'a file and a cell are one too many' --grad-out "$folder/right.npy" --cell 1,1
tap_done
