# SPDX-License-Identifier: MIT
"""Certificates for tests, made with openssl(1) when they are needed: none can be too old."""

import os
import ssl
import subprocess


def _openssl(*args):
    done = subprocess.run(["openssl", *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8", timeout=60, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"openssl {' '.join(args)}: {done.stdout}")
    return done.stdout


def _past():
    """Options for a time that is over. OpenSSL before 3.4 takes no dates, later ones no negative
    days."""
    if "-not_after" in _openssl("x509", "-help"):
        return "-not_before", "20200101000000Z", "-not_after", "20200102000000Z"
    return "-days", "-1"


class Authority:
    """Signs certificates; its own is `file`. Everything lies in `directory`."""

    def __init__(self, directory, name):
        self.directory = directory
        self.file = os.path.join(directory, name + ".crt")
        self.key = os.path.join(directory, name + ".key")
        self.database = os.path.join(directory, name + ".index")
        _openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                 "-keyout", self.key, "-out", self.file, "-days", "2", "-subj", f"/CN={name}",
                 "-addext", "basicConstraints=critical,CA:TRUE",
                 "-addext", "keyUsage=critical,keyCertSign,cRLSign")

    def issue(self, name, alternatives="", expired=False, usage="", common_name=None):
        """A certificate and its key, as paths; `alternatives` as in "IP:127.0.0.1", `usage` as in
        "clientAuth", all usages if empty; `common_name` if it is not `name`."""
        base = os.path.join(self.directory, f"{name}-{len(os.listdir(self.directory))}")
        _openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                 "-keyout", base + ".key", "-out", base + ".csr", "-utf8", "-subj",
                 f"/CN={common_name or name}")
        os.chmod(base + ".key", 0o600)
        with open(base + ".ext", "w", encoding="utf-8") as file:
            file.write("basicConstraints=CA:FALSE\n")
            if alternatives:
                file.write(f"subjectAltName={alternatives}\n")
            if usage:
                file.write(f"extendedKeyUsage={usage}\n")
        _openssl("x509", "-req", "-in", base + ".csr", "-CA", self.file, "-CAkey", self.key,
                 "-CAcreateserial", "-out", base + ".crt", "-extfile", base + ".ext",
                 *(_past() if expired else ("-days", "2")))
        return base + ".crt", base + ".key"


def fingerprint(certificate):
    """As openssl(1) prints it, with colons."""
    return _openssl("x509", "-in", certificate, "-noout", "-fingerprint", "-sha256").strip() \
        .split("=")[1]


def context(authority, identity=None):
    """A client's ssl.SSLContext that believes `authority`."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.load_verify_locations(authority.file)
    if identity:
        made.load_cert_chain(*identity)
    return made
