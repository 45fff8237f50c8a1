"""Certificates for tests, made by the command openssl: keys are EC keys, which are made at once."""

from __future__ import annotations

import datetime
import pathlib
import secrets
import subprocess

# Of openssl-ca(1). Its database also is what openssl-ocsp(1) answers from.
SETTINGS = """
[ca]
default_ca = this
[this]
database = {folder}/index.txt
new_certs_dir = {folder}
certificate = {folder}/ca.pem
private_key = {folder}/ca.key
serial = {folder}/serial
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
[req]
distinguished_name = names
[names]
[authority]
basicConstraints = critical, CA:true
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[leaf]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth, clientAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = {hosts}
"""
EC = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
DAY = datetime.timedelta(days=1)


def openssl(*arguments) -> None:
    done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"openssl {' '.join(map(str, arguments))}: {done.stderr}")


class Authority:
    """Signs certificates. A client that trusts its `certificate` trusts them, too. Its files are in `folder`."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.certificate = folder / "ca.pem"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "index.txt").touch()
        (folder / "serial").write_text(f"10{secrets.token_hex(12)}\n", encoding="utf-8")  # and one more for each
        config = self._configure("localhost")
        openssl("req", "-x509", "-config", config, "-extensions", "authority", "-subj", "/CN=authority", "-days", 2,
                *EC, "-keyout", folder / "ca.key", "-out", self.certificate)

    def issue(self, name: str, host: str = "localhost", days: int = 1) -> tuple[pathlib.Path, pathlib.Path]:
        """Returns the files of a new certificate and its key, for the host and 127.0.0.1. It is valid
        from two days ago; with a negative number of days, it has expired."""
        chain, key, request = (self.folder / f"{name}.{kind}" for kind in ("pem", "key", "csr"))
        config = self._configure(host)
        openssl("req", "-new", "-config", config, "-subj", f"/CN={host}", *EC, "-keyout", key, "-out", request)
        key.chmod(0o600)
        now = datetime.datetime.now(datetime.timezone.utc)
        begin, end = (f"{moment:%Y%m%d%H%M%SZ}" for moment in (now - 2 * DAY, now + days * DAY))
        openssl("ca", "-batch", "-notext", "-config", config, "-extensions", "leaf", "-startdate", begin,
                "-enddate", end, "-in", request, "-out", chain)
        return chain, key

    def staple(self, chain: pathlib.Path) -> pathlib.Path:
        """Returns the file of an OCSP response about a certificate, which is good for a day."""
        request, response = chain.with_suffix(".request"), chain.with_suffix(".ocsp")
        openssl("ocsp", "-issuer", self.certificate, "-cert", chain, "-reqout", request, "-no_nonce")
        openssl("ocsp", "-index", self.folder / "index.txt", "-CA", self.certificate, "-rsigner", self.certificate,
                "-rkey", self.folder / "ca.key", "-reqin", request, "-respout", response, "-ndays", 1)
        return response

    def _configure(self, host: str) -> pathlib.Path:
        config = self.folder / "openssl.cnf"
        config.write_text(SETTINGS.format(folder=self.folder, hosts=f"DNS:{host}, IP:127.0.0.1"), encoding="utf-8")
        return config
