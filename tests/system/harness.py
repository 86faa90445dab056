# SPDX-License-Identifier: MIT
"""Starts and stops the real programs for system tests.

The programs are named by the environment: CHISTORED (daemon) and CHISTORE_BIN (command line).
CHISTORE_TEST_ADDR names a daemon that runs already; start_daemon then hands that one out and
never stops it. Everything made here lives in temporary directories that are removed at exit, and
no process outlives the test: what start_daemon started is killed at exit at the latest.

    with harness.start_daemon({"default": path}) as daemon:
        harness.run_cli("ping", address=daemon.address)
"""

import atexit
import ctypes
import functools
import os
import random
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time

# Longest wait for what a daemon owes, in seconds; only one that is broken takes so long.
PATIENCE = int(os.environ.get("CHISTORE_PATIENCE", "120"))

# Longest wait for the readiness line, for a stop and for a command, in seconds. Nothing sleeps
# for that long unless something is broken; the sanitizers and valgrind need the head room.
START_TIMEOUT = 60
STOP_TIMEOUT = 60
CLI_TIMEOUT = 120

READY = re.compile(r'^(?:chistored: |\{.*"message":")ready, listening on ([^"\n]*)')

_temporary = []
_daemons = []


@functools.cache
def program(variable="CHISTORE_BIN", default="chistore"):
    """The path of a program, which tests as root also run as other users. Where those cannot reach
    it, as below /root, it is a copy. CHISTORE_CLI is a command line built otherwise."""
    quicker = os.environ.get("CHISTORE_CLI") if variable == "CHISTORE_BIN" else None
    path = quicker or os.environ.get(variable) or shutil.which(default)
    if not path:
        raise RuntimeError(f"set {variable} to the path of {default}")
    path = os.path.abspath(path)
    folder = os.path.dirname(path)
    while os.geteuid() == 0 and folder != "/":
        if not os.stat(folder).st_mode & stat.S_IXOTH:
            place = make_temp_dir()
            os.chmod(place, 0o755)
            return shutil.copy(path, place)
        folder = os.path.dirname(folder)
    return path


def seed():
    """Random numbers of a test: the same in each run, or from the seed in CHISTORE_SEED."""
    value = int(os.environ.get("CHISTORE_SEED", "20040301"))
    print(f"# CHISTORE_SEED={value}", flush=True)
    return random.Random(value)


def pseudo_terminal(test):
    """Both ends of one; the test is skipped where the machine has none."""
    try:
        return os.openpty()
    except OSError as error:
        return test.skipTest(f"no pseudo-terminal ({error})")


def rounds(normal):
    """How many rounds a test takes whose worth grows with their number: tests/base/seed.h."""
    effort = os.environ.get("CHISTORE_EFFORT", "1")
    if effort == "low":
        return normal // 8 + 1
    return normal * (20 if effort == "high" else int(effort))


def free_port():
    """A port of this machine that nothing listens on, for what cannot be told to take any."""
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 1 << 18


def own_mounts():
    """True if this process, and the daemons that it starts, see mounts of their own from now on."""
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.unshare(CLONE_NEWNS) == 0 and \
        libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) == 0


def make_temp_dir():
    """A new directory, removed at exit. Short, as a socket path has room for 107 bytes."""
    path = tempfile.mkdtemp(prefix="chi-", dir="/tmp")
    _temporary.append(path)
    return path


def make_store(path=None, statistic="control"):
    """Creates a store with the command line; returns its directory."""
    if path is None:
        path = os.path.join(make_temp_dir(), "store")
    done = run_cli("init", "--statistic", statistic, address=path)
    if done.returncode != 0:
        raise RuntimeError(f"chistore init failed ({done.returncode}): {done.stderr}")
    return path


def wait_for(condition):
    """Returns when the condition holds; it is asked less and less often, as asking costs time, too."""
    end = time.monotonic() + PATIENCE
    pause = 0.005
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(pause)
        pause = min(1.2 * pause, 0.1)


def run_cli(*args, input=None, address=None, env=None, timeout=CLI_TIMEOUT):
    """Runs `chistore [-a ADDRESS] ARGS...`; text in, text out. Bytes in give bytes out."""
    command = [program()]
    if address is not None:
        command += ["-a", address]
    command += [str(arg) for arg in args]
    environment = dict(os.environ)
    environment.pop("CHISTORE", None)
    environment.update(env or {})
    text = not isinstance(input, (bytes, bytearray))
    extra = {"encoding": "utf-8"} if text else {}
    # Without input, standard input is empty and not whatever the test runner has there.
    extra.update({"stdin": subprocess.DEVNULL} if input is None else {"input": input})
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=environment, timeout=timeout, check=False, **extra)


class Daemon:
    """A running chistored. `address` is the first unix: address, else the TCP one."""

    def __init__(self, addresses, process=None):
        self.process = process
        self.addresses = addresses
        unix = [a for a in addresses if a.startswith("unix:")]
        tcp = [a for a in addresses if a.startswith("tcp:")]
        self.unix_address = unix[0] if unix else None
        self.tcp_address = tcp[0] if tcp else None
        self.address = self.unix_address or self.tcp_address
        self._lines = []
        self._collector = None
        self._frozen = False

    @property
    def pid(self):
        return self.process.pid if self.process else None

    def memory(self):
        """Bytes of memory that the process holds at this moment."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as file:
            line, = [line for line in file if line.startswith("VmRSS:")]
        return int(line.split()[1]) << 10

    @property
    def owned(self):
        """False for the daemon of CHISTORE_TEST_ADDR."""
        return self.process is not None

    def running(self):
        return not self.owned or self.process.poll() is None

    def stderr_text(self, since=0):
        """What the daemon has written to standard error so far, from that line on."""
        return "".join(self._lines[since:])

    def stderr_lines(self):
        return len(self._lines)

    def _wait(self, timeout):
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise RuntimeError(f"chistored did not stop in {timeout} s:\n" + self.stderr_text())
        if self._collector:
            self._collector.join(timeout)
        return self.process.returncode

    def freeze(self):
        """Returns when it hangs: a signal is only under way when it was sent."""
        self._frozen = True
        os.kill(self.pid, signal.SIGSTOP)
        os.waitpid(self.pid, os.WUNTRACED)

    def thaw(self):
        os.kill(self.pid, signal.SIGCONT)
        self._frozen = False

    def stop(self, timeout=STOP_TIMEOUT):
        """SIGTERM, then the exit code; 0 is a clean stop. None for a daemon not ours."""
        if not self.owned:
            return None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            # One that runs may by now be stopped by a sanitizer, which looks for leaks at the end:
            # a SIGCONT takes that stop away, and it waits for it for ever.
            if self._frozen:
                self.thaw()
        return self._wait(timeout)

    def kill(self):
        """SIGKILL, as a crash."""
        if not self.owned:
            return None
        if self.process.poll() is None:
            self.process.kill()
        return self._wait(STOP_TIMEOUT)

    def __enter__(self):
        return self

    def __exit__(self, exc_type, *_):
        code = self.stop()
        if exc_type is None and code not in (0, None):
            raise RuntimeError(f"chistored stopped with {code}:\n" + self.stderr_text())
        if exc_type is not None and self.owned:
            sys.stderr.write(self.stderr_text())


def _collect(stream, daemon, ready):
    """Reads standard error to its end, so that the daemon never blocks on a full pipe."""
    for line in stream:
        daemon._lines.append(line)
        if READY.match(line):
            ready.set()
    stream.close()
    ready.set()


def start_daemon(stores=None, listen=None, extra_args=(), env=None, wrapper=()):
    """Starts chistored on `stores` (name -> directory) and waits until it is ready.

    Without `stores` a new control store is served as "default". Without `listen` it listens on a
    Unix socket in a temporary directory; "tcp:127.0.0.1:0" picks a free port, see tcp_address.
    `wrapper` is put before the command (valgrind, strace).
    """
    running = os.environ.get("CHISTORE_TEST_ADDR")
    if running:
        return Daemon([running])
    if stores is None:
        stores = {"default": make_store()}
    if listen is None:
        listen = ["unix:" + os.path.join(make_temp_dir(), "socket")]
    command = list(wrapper) + [program("CHISTORED", "chistored")]
    for name, path in stores.items():
        command += ["--store", f"{name}={path}"]
    for address in listen:
        command += ["--listen", address]
    command += [str(arg) for arg in extra_args]
    environment = dict(os.environ)
    environment.update(env or {})
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, encoding="utf-8", errors="replace",
                               env=environment)
    daemon = Daemon([], process)
    _daemons.append(daemon)
    ready = threading.Event()
    daemon._collector = threading.Thread(target=_collect, args=(process.stderr, daemon, ready),
                                         daemon=True)
    daemon._collector.start()
    if not ready.wait(START_TIMEOUT):
        daemon.kill()
        raise RuntimeError("chistored was not ready in time:\n" + daemon.stderr_text())
    found = [READY.match(line) for line in list(daemon._lines)]
    addresses = [match.group(1).split() for match in found if match]
    if not addresses:
        code = daemon._wait(STOP_TIMEOUT)
        raise RuntimeError(f"chistored ended with {code} at once:\n" + daemon.stderr_text())
    made = Daemon(addresses[0], process)
    made._lines, made._collector = daemon._lines, daemon._collector
    return made


@atexit.register
def _clean_up():
    for daemon in _daemons:
        if daemon.running():
            daemon.kill()
    for path in _temporary:
        shutil.rmtree(path, ignore_errors=True)
