"""The site and the programs that the rows are about."""

import os
import pathlib

from row import LETTERS

TIME = 1577934245  # Thu, 02 Jan 2020 03:04:05 GMT

FILES = {
    "index.html": "<h1>home</h1>\n",
    "file.txt": LETTERS,
    "empty.txt": "",
    "canary.txt": "canary\n",
    "hidden.txt": "HIDDEN\n",
    "docs/index.html": "<h1>docs</h1>\n",
    "docs/page.txt": "page\n",
    "bare/note.txt": "note\n",
    "with space.txt": "space\n",
    "a+b.txt": "plus\n",
    "semi;colon.txt": "semicolon\n",
    "100%41.txt": "percent\n",
    "gr\u00fc\u00df.txt": "umlaut\n",
    "...": "dots\n",
    "..names": "names\n",
    "PAGE.HTML": "upper\n",
    "unknown.xyzzy": "unknown\n",
}

PROGRAMS = {
    # Sends back the request's body, and nothing else.
    "cat": "printf 'Content-Type: application/octet-stream\\n\\n'\nexec cat\n",
    "env": "printf 'Content-Type: text/plain\\n\\n'\nenv | sort\n",
    "where": "printf 'Content-Type: text/plain\\n\\n'\npwd -P\n",
    "arguments": "printf 'Content-Type: text/plain\\n\\n'\necho $#: \"$@\"\n",
    "crash": "printf 'Content-Type: text/plain\\n'\nkill -9 $$\n",
    "crash-late": "printf 'Content-Type: text/plain\\nContent-Length: 10\\n\\nhal'\nkill -9 $$\n",
    "crash-chunked": "printf 'Content-Type: text/plain\\n\\nhal'\nkill -9 $$\n",
    "silent": "exit 0\n",
    "runs-on": "printf 'Content-Type: text/plain\\nContent-Length: 2\\n\\nhi'\nexec sleep 1000\n",
    "fail": "printf 'Content-Type: text/plain\\n\\nstill said\\n'\nexit 3\n",
    "deaf": "exec 0<&-\nprintf 'Content-Type: text/plain\\n\\ndeaf\\n'\n",
    "large": "printf 'Content-Type: text/plain\\n\\n'\nhead -c 300000 /dev/zero | tr '\\0' x\n",
    "errors": "echo 'for the log' >&2\nprintf 'Content-Type: text/plain\\n\\nfine\\n'\n",
    "long-head": "printf 'Content-Type: text/plain\\nX-Long: '\nhead -c 40000 /dev/zero | tr '\\0' x\nprintf '\\n\\n'\n",
    "many-fields": "i=0\nwhile [ $i -lt 150 ]; do echo \"X-$i: x\"; i=$((i+1)); done\n"
    "printf 'Content-Type: text/plain\\n\\n'\n",
}


def make_site(folder: pathlib.Path) -> pathlib.Path:
    site, outside = folder / "site", folder / "outside"
    for name, text in FILES.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (site / "large.bin").write_bytes(bytes(range(256)) * 8192)  # 2 MiB
    outside.mkdir()
    (outside / "secret.txt").write_text("HIDDEN\n")
    (site / "link.txt").symlink_to("file.txt")
    (site / "folder-link").symlink_to("docs")
    (site / "link-out.txt").symlink_to(outside / "secret.txt")
    (site / "link-up.txt").symlink_to("../outside/secret.txt")
    (site / "folder-out").symlink_to(outside)
    (site / "loop").symlink_to("loop")
    (site / "nowhere").symlink_to("not-there")
    os.mkfifo(site / "pipe")
    for path in site.rglob("*"):
        if path.is_file() and not path.is_symlink():
            os.utime(path, (TIME, TIME))
    return site


def make_programs(folder: pathlib.Path, rows: list) -> pathlib.Path:
    cgi, outputs = folder / "cgi", folder / "outputs"
    (cgi / "subfolder").mkdir(parents=True)
    outputs.mkdir()
    scripts = dict(PROGRAMS)
    for row in rows:
        if row.program is not None:
            (outputs / row.id).write_bytes(row.program.encode("latin-1"))
            scripts[row.id] = f"exec cat {outputs / row.id}\n"
    for name, text in {**scripts, ".secret": PROGRAMS["env"]}.items():
        (cgi / name).write_text("#!/bin/sh\n" + text)
        (cgi / name).chmod(0o755)
    (cgi / "plain").write_text("not a program\n")
    (cgi / "plain").chmod(0o644)
    (folder / "outside-program").write_text("#!/bin/sh\necho 'Content-Type: text/plain\n\nHIDDEN'\n")
    (folder / "outside-program").chmod(0o755)
    (cgi / "link").symlink_to("../outside-program")
    return cgi
