# SPDX-License-Identifier: MIT
# Completion of chistore(1) for bash: commands, their options, the values that are words, files.

# The options of a command, one a line; the program's help is where they are defined.
_chistore_options()
{
	"$1" help ${2:+"$2"} 2>/dev/null | sed -n 's/^  \(--[a-z0-9-]*\).*/\1/p'
}

_chistore_commands()
{
	"$1" help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'
}

# The words that an option's value can be; fails if it is another kind of value.
_chistore_values()
{
	case $1 in
	--statistic) echo control outcome score eval external ;;
	--format) echo pgn epd csv tsv jsonl lichess-evals cdb exp polyglot ;;
	--order) echo strength position ;;
	--sort) echo games score eval number date rating ;;
	--kind) echo player event site source round annotator ;;
	--side) echo w b ;;
	--keep) echo longest-tags longest-notes first last ;;
	--color) echo auto always never ;;
	--draw) echo random listed ;;
	--durability) echo sync none ;;
	*) return 1 ;;
	esac
}

# Files after "unix:" and "file:". Bash replaces what follows the colon if it split there.
_chistore_files_behind()
{
	local keep=''
	[[ ${COMP_WORDS[COMP_CWORD]} == "$1" ]] && keep=${1%%:*}:
	mapfile -t COMPREPLY < <(compgen -P "$keep" -f -- "${1#*:}")
}

_chistore()
{
	local program=${COMP_WORDS[0]} command='' words=() cur prev word values i

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
	prev=${words[-2]}

	COMPREPLY=()
	if values=$(_chistore_values "$prev"); then
		mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur")
		return
	fi
	case $prev in
	-a | --address)
		case $cur in
		unix:* | file:*) _chistore_files_behind "$cur" ;;
		*)
			mapfile -t COMPREPLY < <(compgen -d -W 'unix: tcp: tls: file:' -- "$cur")
			[[ ${COMPREPLY[0]} == *: ]] && compopt -o nospace +o filenames 2>/dev/null
			;;
		esac
		return
		;;
	--token-file | --tls-ca | --tls-cert | --tls-key)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	--store | --chi2 | --note | --line | --eval | --counts | --min | --max | --material | --pieces | \
		--player | --white | --black | --since | --until | --rating | --rating-both | --rating-average | \
		--result | --eco | --plies | --min-games | --max-ply | --memory | --threads | --limit | --cursor | --base | --engine | --shards | \
		--opponent | --event | --site | --source | --year | --number | --both | --average | --elo-white | --elo-black | \
		--length | --title | --in | --gameset | --filter | --position | --moves | --has | --fen-part | --pawns | --balance | \
		--endgame | --clients | --seconds | --requests | --warmup | --mix | --batch | --rows | --put-size | \
		--priority | --depth | --nodes | --movetime | --set | --processes | --lease | --patience | --nice | --pipeline | --rate | --sample | --timeout | --seed | --days | --shortest | --decay | --swing)
		return
		;;
	--to-move)
		mapfile -t COMPREPLY < <(compgen -W 'white black' -- "$cur")
		return
		;;
	--time | --speed)
		mapfile -t COMPREPLY < <(compgen -W 'bullet blitz rapid classical correspondence ultraBullet' -- "$cur")
		return
		;;
	--state)
		mapfile -t COMPREPLY < <(compgen -W 'waiting leased failed' -- "$cur")
		return
		;;
	--positions)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	esac

	# The command is the first word that is neither an option nor the value of one.
	for ((i = 1; i < ${#words[@]} - 1; i++)); do
		word=${words[i]}
		case $word in
		-a | --address | --store | --token-file | --tls-ca | --tls-cert | --tls-key) ((i++)) ;;
		-*) ;;
		*)
			command=$word
			break
			;;
		esac
	done

	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_chistore_options "$program" "$command")" -- "$cur")
	elif [[ -z $command || $command == help ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_chistore_commands "$program")" -- "$cur")
	else
		case $command in
		import | subtract | extract | review | dump | load | export | merge | backup | publish)
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
			;;
		esac
	fi
}

complete -o filenames -F _chistore chistore
