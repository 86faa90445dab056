# SPDX-License-Identifier: MIT
"""Finds libchistore, declares its functions, and turns its codes into exceptions."""

import ctypes
import os

from . import _abi


class Error(Exception):
    """A call that failed. `code` is the library's name for the reason, such as "EBUSY"."""

    code = "EINTERNAL"

    def __init__(self, text, code=None):
        super().__init__(text)
        if code is not None:
            self.code = code


class BadInput(Error, ValueError):
    """An argument, a FEN, a move or a key that is none."""


class NoStore(Error, FileNotFoundError):
    """There is no store at the address."""


class Busy(Error):
    """Another writer, or a full queue: try again later."""


class Corrupt(Error):
    """A stored record or page is damaged."""


class Denied(Error, PermissionError):
    """The operating system or the server denies access."""


class Unreachable(Error, ConnectionError):
    """No connection to the store, or it was lost."""


class TimedOut(Error, TimeoutError):
    """The time for the call is over."""


class Stale(Error):
    """The store's files were replaced while it was open: open it again."""


_CLASSES = {
    "EINVAL": BadInput, "EFEN": BadInput, "EKEY": BadInput, "EMOVE": BadInput,
    "ESYNTAX": BadInput, "ETOOBIG": BadInput, "ENOSTORE": NoStore, "EBUSY": Busy,
    "ECORRUPT": Corrupt, "EACCES": Denied, "EREADONLY": Denied, "ECONNECT": Unreachable,
    "ETIMEOUT": TimedOut, "ESTALE": Stale,
}
_NAMES = {value: name[4:] for name, value in vars(_abi).items()
          if name.startswith("CHI_E") and name != "CHI_ERROR_COUNT" and isinstance(value, int)}


def _load():
    """The library that CHISTORE_LIBRARY names, or the system's."""
    path = os.environ.get("CHISTORE_LIBRARY") or "libchistore.so.0"
    try:
        library = ctypes.CDLL(path)
        for name, (result, arguments) in _abi.FUNCTIONS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise ImportError(f"cannot use libchistore ({error}): install it, or name another by "
                          "the environment variable CHISTORE_LIBRARY") from error
    return library


lib = _load()


def error_of(status, text=b""):
    """The exception for a negative status; `text` is what the library said."""
    name = _NAMES.get(-status, "EINTERNAL")
    said = text.decode("utf-8", "replace") or lib.chi_strerror(status).decode()
    error = _CLASSES.get(name, Error)(said)
    error.code = name
    return error


def check_fault(status, fault):
    """For functions that fill a struct chi_fault."""
    if status < 0:
        raise error_of(status, fault.text)
