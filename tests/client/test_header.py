# SPDX-License-Identifier: MIT
"""The installed header compiles alone, as C11 and as C++, with nothing to complain about.
Arguments: the include directory, then a compiler; C++ is tried if g++ or clang++ is there."""
import shutil
import subprocess
import sys

USE = """
#include <chistore.h>
int main({void})
{{
	struct chi_fault fault;
	struct chi_client *client = 0;
	struct chi_put_entry put = {{{zero}}};
	enum chi_error_code code = CHI_EINVAL;
	int status = chi_open("x", 0, &client, &fault);
	if (status == CHI_OK) {{
		status = chi_put(client, &put, 1, CHI_SYNC, 0);
	}}
	chi_close(client);
	return status == CHI_OK && chi_error(client)[0] == '\\0' ? 0 : (int)code;
}}
"""


def compile_as(compiler, language, standard, void, zero):
    # g++ -Wshadow would find that the function chi_put hides the constructor of struct chi_put_entry,
    # which is what C headers have always done (stat).
    shadow = ["-Wshadow"] if language == "c" else []
    command = [*compiler, "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic",
               *shadow, "-Wundef", "-Werror", "-fsyntax-only", "-I", sys.argv[1], "-"]
    done = subprocess.run(command, input=USE.format(void=void, zero=zero), text=True)
    print(" ".join(command), "->", done.returncode)
    return done.returncode == 0


good = compile_as(sys.argv[2:], "c", "c11", "void", "0")
for name in ("g++", "clang++"):
    if shutil.which(name):
        for standard in ("c++11", "c++20"):
            good = compile_as([name], "c++", standard, "", "") and good
sys.exit(0 if good else 1)
