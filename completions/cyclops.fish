# SPDX-License-Identifier: Apache-2.0
# Completion of cyclops for fish: commands, options and files. What there is, the program says.

function __cyclops_commands
	cyclops --list-commands 2>/dev/null | while read --delimiter \t name reads purpose
		printf '%s\t%s\n' $name $purpose
	end
end

function __cyclops_options
	set -l words (commandline --tokenize --cut-at-cursor)
	cyclops $words[2] --list-options 2>/dev/null | while read --delimiter \t name letter value help
		printf '%s\t%s\n' --$name $help
	end
end

complete -c cyclops -n __fish_use_subcommand -f -a '(__cyclops_commands)'
complete -c cyclops -n __fish_use_subcommand -f -l help -d 'the commands'
complete -c cyclops -n __fish_use_subcommand -f -l version -d 'version and build'
complete -c cyclops -n '__fish_seen_subcommand_from help' -f -a '(__cyclops_commands)'
complete -c cyclops -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from help' -a '(__cyclops_options)'
