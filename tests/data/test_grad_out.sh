#!/bin/sh
# A gradient of the output from a file: used as it is, or refused in a line that says what, where,
# what was expected; NaN and infinite values are counted; a pixel by name.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_folder
tap_street street

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
        --grad-out "$1" >out 2>err
}
says() { # TEXT
    sed 's/^/# /' err
    [ "$(grep -c bevscope err)" = 1 ] && grep -qF "$1" err
}

npy right.npy "($ny, $nx, $c)" "$count" "$one" "$one"
verify right.npy && [ ! "$(grep bevscope err)" ]
tap_ok $? 'a gradient of the right shape is taken'
# refused NAME WORDS TITLE: the file is refused in one line that says so.
refused() {
    verify "$1"
    [ $? = 1 ] && says "$2"
    tap_ok $? "$3"
}
npy shape.npy "($ny, $nx, 7)" $((ny * nx * 7)) "$one"
refused shape.npy \
    "shape.npy: grad_out has the shape ($ny, $nx, 7), must be (ny, nx, channels) = ($ny, $nx, $c)" \
    'another shape is refused'
npy rank.npy "($count,)" "$count" "$one"
refused rank.npy "grad_out has the shape ($count,), must be (ny, nx, channels)" 'and another rank'
head -c 500 right.npy >500.npy
refused 500.npy "but has 372" 'a truncated file is refused'
refused none.npy none.npy 'and none at all'
refused /dev/zero 'not an .npy array: wrong magic bytes' 'a device without end, by its first bytes'
mkfifo endless
cat right.npy /dev/zero 2>/dev/null >endless &
refused endless "longer than the limit of $((128 + 4 * count)) bytes" 'a pipe without end, by its header'
npy nan.npy "($ny, $nx, $c)" "$count" "$one" "$nan" "$infinite" "$nan"
verify nan.npy
says "nan.npy: grad_out: 2 of $count values are NaN, 1 infinite, the first at [0, 0, 1]"
tap_ok $? 'NaN and infinite values are counted, with the first place'
"$BEVSCOPE" verify toy --device cpu --grad-out right.npy >/dev/null 2>err
[ $? = 2 ] && says 'add --direction backward'
tap_ok $? 'forward there is none'
"$BEVSCOPE" bench toy --quick --cache warm --device cpu --dtype fp32 --direction backward \
    --grad-out right.npy >out 2>err && grep -q cpu_grad_v4 out
tap_ok $? 'bench takes it'

snapshot() { # OPTIONS...
    "$BEVSCOPE" snapshot street.json --backward --device cpu --dtype fp32 -o back.png "$@" >out 2>err
}
misused() { # WORDS TITLE OPTIONS...
    words=$1 title=$2
    shift 2
    snapshot "$@"
    [ $? = 2 ] && says "$words"
    tap_ok $? "$title"
}
npy street.npy '(50, 50, 16)' 0
head -c $((50 * 50 * 16 * 4)) /dev/zero | tr '\000' '\074' >>street.npy # 0.0115
snapshot --grad-out street.npy && grep -q 'over 2500 cells' out && grep -q 'of 264 feed it; the brightest' out
tap_ok $? 'snapshot takes a file instead of a loss'
sed 's/^/# /' out
snapshot --pixel front,5,2 && grep -q 'the chosen one: front, column 5, row 2' out
tap_ok $? 'snapshot shows the bins of a pixel'
snapshot --pixel 1,5,2 && grep -q 'the chosen one: front, column 5, row 2' out
tap_ok $? 'or of a camera by number'
misused "there is no camera 'side'" 'a camera that is not there' --pixel side,5,2
misused '11,2 is outside of 11 x 4 pixels' 'a pixel that is not there' --pixel front,11,2
misused 'is not CAMERA,X,Y' 'half a pixel' --pixel front,5
"$BEVSCOPE" snapshot toy --pixel 0,0,0 -o back.png 2>err
[ $? = 2 ] && says 'add --backward'
tap_ok $? 'forward a pixel has no gradient'
misused 'comes from a file' 'a file and a cell are one too many' --grad-out right.npy --cell 1,1
tap_done
