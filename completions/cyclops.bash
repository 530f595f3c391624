# SPDX-License-Identifier: Apache-2.0
# Completion of cyclops for bash: commands, options and files. What there is, the program says.

_cyclops()
{
	local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}

	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(cyclops --list-commands 2>/dev/null |
			cut -f 1) --help --version" -- "$word")
	elif [ "$command" = help ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(cyclops --list-commands 2>/dev/null |
			cut -f 1)" -- "$word")
	elif [ "${word:0:1}" = - ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(cyclops "$command" --list-options 2>/dev/null |
			cut -f 1 | sed 's/^/--/')" -- "$word")
	fi
}
complete -o default -F _cyclops cyclops
