# SPDX-License-Identifier: MIT
# report.sh SCENE FOLDER [OPTION...]: FOLDER/report.md, a page about a scene's memory regimes with its
# pictures. The options, such as --gpu h200, are those of regime and plot.
set -e
scene=$1 folder=$2
shift 2
mkdir -p "$folder"
{
    echo "# $scene: memory regimes"
    echo
    bevscope regime "$scene" "$@" --format markdown
    for kind in working-set mrc roofline terms; do
        bevscope plot $kind "$scene" "$@" -o "$folder/$kind.png" >&2
        echo "![$kind]($kind.png)"
    done
} >"$folder/report.md"
