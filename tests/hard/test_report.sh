#!/bin/sh
# SPDX-License-Identifier: MIT
# The memory model at its full size: the published configurations.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_folder
tap_run 'plot published: PNG' "$BEVSCOPE" plot published toy -o published.png
tap_run 'plot published: really PNG' grep -q PNG published.png
tap_done
