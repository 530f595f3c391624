#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that C files look as .clang-format says. usage: check-format.sh [SOURCE_ROOT]
set -eu
cd "${1:-.}"

files=$(git ls-files -co --exclude-standard -- \
	'src/*.[ch]' 'tests/*.[ch]' 'bench/*.[ch]' 'include/*.[ch]' 'kernels/*.[ch]' 'model/*.[ch]')
# shellcheck disable=SC2086 # names in this repository have no blanks
"${CLANG_FORMAT:-clang-format}" --dry-run -Werror $files || exit 1
echo "ok format: $(echo "$files" | wc -l) files"
