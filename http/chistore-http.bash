# SPDX-License-Identifier: MIT
# Completion of chistore-http(8) for bash: its options, as its help tells them, words and files.

_chistore_http()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	COMPREPLY=()
	case $prev in
	--sandbox) mapfile -t COMPREPLY < <(compgen -W 'auto require off' -- "$cur") ;;
	--log-level) mapfile -t COMPREPLY < <(compgen -W 'error warning info debug' -- "$cur") ;;
	--log-format) mapfile -t COMPREPLY < <(compgen -W 'text json' -- "$cur") ;;
	--web) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
	*)
		if [[ $cur == -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" --help 2>/dev/null |
				grep -o -e '--[a-z-]*' | sort -u)" -- "$cur")
		else
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		fi
		;;
	esac
}

complete -o filenames -F _chistore_http chistore-http
