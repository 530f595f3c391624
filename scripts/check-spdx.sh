#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that each source file names its licence. usage: check-spdx.sh [SOURCE_ROOT]
set -eu
cd "${1:-.}"

files=$(git ls-files -co --exclude-standard -- \
	'*.c' '*.h' '*.py' '*.sh' '*.mk' 'Makefile' 'meson.build' '*/meson.build' 'meson_options.txt')
# shellcheck disable=SC2086 # names in this repository have no blanks
if without=$(grep -L 'SPDX-License-Identifier: ' $files) && [ -n "$without" ]; then
	echo "$without" | sed 's/$/: no SPDX-License-Identifier/'
	exit 1
fi
echo "ok spdx: $(echo "$files" | wc -l) files"
