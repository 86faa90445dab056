# SPDX-License-Identifier: MIT
# Completion of chistore(1) for fish: the program itself says what can come next.

function __chistore_complete
    set -l words (commandline -opc) (commandline -ct)
    for found in ($words[1] _complete $words[2..-1] 2>/dev/null)
        switch $found
            case :files
                __fish_complete_path (commandline -ct)
            case :addresses
                printf '%s\n' unix: tcp: tls: file: rados:
                __fish_complete_directories (commandline -ct)
            case '*'
                echo $found
        end
    end
end

complete -c chistore -f -a '(__chistore_complete)'
