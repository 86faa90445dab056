#compdef chistore
# SPDX-License-Identifier: MIT
# Completion of chistore(1) for zsh: the program itself says what can come next.

local -a found
found=("${(@f)$(${words[1]} _complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
case ${found[1]} in
:files) _files ;;
:addresses) compadd -S '' unix: tcp: tls: file: rados:; _files -/ ;;
*) compadd -- ${found} ;;
esac
