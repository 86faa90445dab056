# SPDX-License-Identifier: MIT
# Completion of chistore(1) for bash: the program itself says what can come next.

_chistore()
{
	local words=() cur word i keep=''

	# Bash splits "unix:/a" at the colon into three words: here they are one again.
	for ((i = 0; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if ((i > 1)) && [[ $word == : || ${COMP_WORDS[i - 1]} == : ]]; then
			words[-1]+=$word
		else
			words+=("$word")
		fi
	done
	cur=${words[-1]}
	mapfile -t COMPREPLY < <("${words[0]}" _complete "${words[@]:1}" 2>/dev/null)
	case ${COMPREPLY[0]}:$cur in
	:files:*)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		;;
	:addresses:unix:* | :addresses:file:*)
		# Bash replaces what follows the colon if it split there.
		[[ ${COMP_WORDS[COMP_CWORD]} == "$cur" ]] && keep=${cur%%:*}:
		mapfile -t COMPREPLY < <(compgen -P "$keep" -f -- "${cur#*:}")
		;;
	:addresses:*)
		mapfile -t COMPREPLY < <(compgen -d -W 'unix: tcp: tls: file: rados:' -- "$cur")
		[[ ${COMPREPLY[0]} == *: ]] && compopt -o nospace +o filenames 2>/dev/null
		;;
	esac
}

complete -o filenames -F _chistore chistore
