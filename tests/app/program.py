"""Shared by tests of the chat program: its path, its models, a home, and a way to run it."""
import atexit
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

CHAT, MAKE_MODELS = (os.path.abspath(path) for path in sys.argv[1:3])
FOLDER = tempfile.mkdtemp(prefix="warpchat_cli_")
atexit.register(shutil.rmtree, FOLDER, True)
subprocess.run([MAKE_MODELS, FOLDER], check=True)

TINY, SPM, VOCABULARY, ENDLESS, SAMPLING, EXPERTS, HYBRID, THINKS, OVERFLOWS, CALLS = (
    os.path.join(FOLDER, name + ".gguf")
    for name in ("tiny", "spm", "vocabulary", "endless", "sampling", "experts", "hybrid", "thinks", "overflows", "calls"))
MAX_SECONDS = 120  # only to end a run that hangs


def is_sanitized():
    with open(CHAT, "rb") as file:
        return b"__asan_init" in file.read()


def environment(home=None, **more):
    """Nothing of this user reaches the program: no caches, no history, no colours."""
    clean = {key: value for key, value in os.environ.items()
             if not key.startswith(("XDG_", "HF_", "LLAMA_", "NO_COLOR", "LESS"))}
    clean.update({"HOME": home or FOLDER, "OLLAMA_MODELS": "/nonexistent", "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "PAGER": "", **more})
    return clean


def path(name, content=None):
    """A path in the test's folder; with content (bytes), a file there."""
    full = os.path.join(FOLDER, name)
    if content is not None:
        with open(full, "wb") as file:
            file.write(content)
    return full


def pdf(text="", encrypted=False, truncated=False):
    """A minimal one-page PDF with this text, or with only a picture. encrypted: the password is unknown."""
    content = b"BT /F1 24 Tf 72 700 Td (%s) Tj ET" % text.encode() if text else b"72 700 200 50 re f"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    trailer = b"/Root 1 0 R"
    if encrypted:
        objects.append(b"<< /Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P -4 >>" % (b"17" * 32, b"42" * 32))
        trailer += b" /Encrypt 6 0 R /ID [<%s> <%s>]" % (b"00" * 16, b"00" * 16)
    file, places = b"%PDF-1.4\n", []
    for number, value in enumerate(objects, 1):
        places.append(len(file))
        file += b"%d 0 obj\n%s\nendobj\n" % (number, value)
    table = len(file)
    file += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    file += b"".join(b"%010d 00000 n \n" % place for place in places)
    file += b"trailer\n<< /Size %d %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, table)
    return file[:100] if truncated else file


STORE = ".local/share/warpchat/conversations.db"  # below a home


def rows_of(database, sql):
    connection = sqlite3.connect(database)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def self_signed_certificate(folder):
    """A PEM file with key and certificate of 127.0.0.1, which no client trusts."""
    pem = os.path.join(folder, "self-signed.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                    "-nodes", "-keyout", pem, "-out", pem + ".crt", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    with open(pem, "a") as file, open(pem + ".crt") as more:
        file.write(more.read())
    return pem


def vouched_certificate(folder):
    """Two PEM files: key and certificate of 127.0.0.1, and the certificate of its CA."""
    pem, ca = os.path.join(folder, "vouched.pem"), os.path.join(folder, "ca.pem")

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", ca + ".key", "-out", ca, "-subj", "/CN=a CA of this test",
            "-addext", "basicConstraints=critical,CA:TRUE")
    openssl("req", *key, "-keyout", pem, "-out", pem + ".csr", "-subj", "/CN=127.0.0.1")
    with open(pem + ".ext", "w") as file:
        file.write("subjectAltName=IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", pem + ".csr", "-CA", ca, "-CAkey", ca + ".key", "-CAcreateserial", "-extfile",
            pem + ".ext", "-out", pem + ".crt")
    with open(pem, "a") as file, open(pem + ".crt") as more:
        file.write(more.read())
    return pem, ca


class Run:
    """One start of the program: code, out and err (bytes)."""

    def __init__(self, *arguments, stdin=b"", env=None, shell_limits="", cwd=FOLDER, program=CHAT):
        command = [program, *arguments]
        if shell_limits:
            command = ["bash", "-c", shell_limits + '; exec "$0" "$@"', *command]
        done = subprocess.run(command, input=stdin, capture_output=True, timeout=MAX_SECONDS,
                              env=env or environment(), cwd=cwd)
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def __repr__(self):
        return f"exit code {self.code}, stdout {self.out[-300:]!r}, stderr {self.err[-500:]!r}"
