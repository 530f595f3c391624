#compdef cyclops
# SPDX-License-Identifier: Apache-2.0
# Completion of cyclops for zsh: commands, options and files. What there is, the program says.

local -a found
local line
local -a fields

if (( CURRENT == 2 )) || [[ $CURRENT == 3 && ${words[2]} == help ]]; then
	for line in "${(@f)$(cyclops --list-commands 2>/dev/null)}"; do
		fields=("${(@ps:\t:)line}")
		found+=("${fields[1]}:${fields[3]}")
	done
	(( CURRENT == 2 )) && found+=('--help:the commands' '--version:version and build')
	_describe command found
elif [[ ${words[CURRENT]} == -* ]]; then
	for line in "${(@f)$(cyclops ${words[2]} --list-options 2>/dev/null)}"; do
		fields=("${(@ps:\t:)line}")
		found+=("--${fields[1]}:${fields[4]//:/\\:}")
	done
	_describe option found
else
	_files
fi
