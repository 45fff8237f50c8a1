"""From a target to a file: RFC 3986, sections 2 and 5.2.4, and RFC 9110, section 17.3."""

from row import LETTERS, MAY, MUST, SHOULD, Row, get


def bad(id: str, target: str, sentence: str, codes: str = "400 close") -> Row:
    return Row(id, "9110 17.3", MUST, get(target), codes, sentence, without=("HIDDEN", "root:"))


def good(id: str, target: str, body: str, sentence: str, section: str = "3986 6.2.2") -> Row:
    return Row(id, section, MUST, get(target), "200", sentence, body=body)


def missing(id: str, target: str, sentence: str) -> Row:
    return Row(id, "9110 15.5.5", MUST, get(target), "404", sentence)


HOME, DOCS = "<h1>home</h1>\n", "<h1>docs</h1>\n"

ROWS = [
    good("path-root", "/", HOME, "The root is its index page.", "9110 4.2.3"),
    good("path-index", "/index.html", HOME, "An index page has a name of its own.", "9110 4.2.3"),
    good("path-folder", "/docs/", DOCS, "A folder is its index page.", "9110 4.2.3"),
    Row("path-folder-no-slash", "9110 15.4.2", SHOULD, get("/docs"), "301", "A folder without its slash is redirected, so that links hold.",
        has={"Location": "/docs/"}),
    Row("path-folder-no-slash-query", "9110 15.4.2", SHOULD, get("/docs?a=b&c"), "301", "The query goes along.",
        has={"Location": "/docs/?a=b&c"}),
    Row("path-folder-no-slash-double", "9110 17.3", MUST, get("//docs"), "301", "A redirect does not lead to another host.",
        has={"Location": "/docs/"}),
    Row("path-folder-no-slash-evil", "9110 17.3", MUST, get("//evil.example/..//docs"), "301/404", "Not by dots either."),
    Row("path-folder-encoded", "9110 15.4.2", MUST, get("/%64ocs"), "301", "A redirect has the plain path.", has={"Location": "/docs/"}),
    missing("path-folder-no-index", "/bare/", "A folder without an index page is not listed."),
    missing("path-missing", "/missing.txt", "What is not there is 404."),
    missing("path-missing-folder", "/missing/file.txt", "Nor is anything in a folder that is not there."),
    missing("path-file-as-folder", "/file.txt/", "A file is no folder."),
    missing("path-under-file", "/file.txt/more", "Nothing lies in a file."),
    missing("path-name-case", "/FILE.txt", "Names of files have a case."),
    missing("path-name-prefix", "/file", "The beginning of a name is not the name."),
    missing("path-space-behind", "/file.txt%20", "A space at a name's end is a part of it."),
    missing("path-dot-behind", "/file.txt.", "So is a dot."),
    missing("path-name-256", "/" + "a" * 256, "A name longer than any file's is not there."),
    missing("path-4000-segments", "/" + "a/" * 4000, "Nor is anything in four thousand folders."),
    good("path-dot", "/./file.txt", LETTERS, "A dot segment means nothing."),
    good("path-dots-inside", "/docs/../file.txt", LETTERS, "Two dots mean the folder above."),
    good("path-dot-last", "/docs/.", DOCS, "A dot at the end means the folder."),
    good("path-dots-last", "/docs/..", HOME, "Two dots at the end mean the folder above."),
    good("path-dots-of-missing", "/missing/../file.txt", LETTERS, "Dots are taken out before anything is opened."),
    good("path-dots-encoded-inside", "/docs/%2e%2e/file.txt", LETTERS, "Encoded dots are dots."),
    good("path-dots-half-encoded", "/docs/.%2E/file.txt", LETTERS, "Half encoded ones are too."),
    good("path-double-slash", "//file.txt", LETTERS, "Two slashes are one."),
    good("path-double-slash-inside", "/docs//page.txt", "page\n", "So are two inside."),
    good("path-letters-encoded", "/f%69le%2Etxt", LETTERS, "Encoded letters are letters."),
    good("path-encoding-case", "/gr%c3%bc%C3%9F.txt", "umlaut\n", "The digits of an encoding have no case."),
    good("path-space", "/with%20space.txt", "space\n", "An encoded space is a space."),
    good("path-plus", "/a+b.txt", "plus\n", "A plus is a plus in a path."),
    good("path-semicolon", "/semi;colon.txt", "semicolon\n", "A semicolon is a character of a name."),
    good("path-percent-once", "/100%2541.txt", "percent\n", "Decoding happens once."),
    good("path-three-dots", "/...", "dots\n", "Three dots are a name."),
    good("path-name-with-dots", "/..names", "names\n", "A name may begin with two dots."),
    good("path-link", "/link.txt", LETTERS, "A link within the root is followed.", "9110 17.3"),
    good("path-folder-link", "/folder-link/page.txt", "page\n", "So is a link to a folder.", "9110 17.3"),
    bad("path-up", "/../outside/secret.txt", "Dots don't lead out of the root.", "400/404 close"),
    bad("path-up-inside", "/docs/../../outside/secret.txt", "Nor do more dots than folders.", "400/404 close"),
    bad("path-up-encoded", "/%2e%2e/outside/secret.txt", "Nor do encoded ones.", "400/404 close"),
    bad("path-up-double-slash", "//../outside/secret.txt", "Nor dots behind an empty segment.", "400/404 close"),
    bad("path-up-dots-only", "/..", "The folder above the root is not there.", "400/404 close"),
    bad("path-up-and-back", "/../site/file.txt", "Nor may one leave and come back.", "400/404 close"),
    bad("path-up-many", "/" + "../" * 40 + "etc/passwd", "Forty steps up don't reach the system's files.", "400/404 close"),
    bad("path-encoded-slash", "/docs%2fpage.txt", "An encoded slash is refused: readers differ about it.", "400/404 close"),
    bad("path-encoded-slash-up", "/..%2foutside%2fsecret.txt", "It does not lead up.", "400/404 close"),
    bad("path-double-encoded", "/%252e%252e/outside/secret.txt", "What is encoded twice is not decoded twice.", "404"),
    bad("path-overlong", "/%c0%ae%c0%ae/outside/secret.txt", "Overlong forms of dots are no dots.", "404"),
    bad("path-backslash", "/..\\outside\\secret.txt", "A backslash is no slash, and refused."),
    bad("path-encoded-backslash", "/docs%5cpage.txt", "So is an encoded one.", "400/404 close"),
    bad("path-encoded-nul", "/file.txt%00.html", "An encoded NUL does not end a name.", "400/404 close"),
    bad("path-encoded-line-end", "/docs%0d%0aX-Evil:%20yes", "Encoded line ends are refused.", "400/404 close"),
    bad("path-encoded-del", "/file%7f.txt", "So are encoded control characters.", "400/404 close"),
    bad("path-percent-alone", "/100%", "A percent sign has two digits."),
    bad("path-percent-one-digit", "/file%2", "Not one."),
    bad("path-percent-letters", "/file%zz.txt", "And they are hexadecimal."),
    bad("path-percent-unicode", "/file%u002e.txt", "There is no encoding with a u."),
    bad("path-percent-sign-inside", "/file%-1.txt", "A sign is no digit."),
    bad("path-link-out", "/link-out.txt", "A link that leads out of the root is not followed.", "403/404"),
    bad("path-link-up", "/link-up.txt", "Nor is a relative one.", "403/404"),
    bad("path-folder-out", "/folder-out/secret.txt", "Nor is a link to a folder outside.", "403/404"),
    bad("path-folder-out-itself", "/folder-out", "Nor is the reader told that there is one.", "403/404"),
    bad("path-link-loop", "/loop", "A link to itself ends.", "403/404"),
    bad("path-link-nowhere", "/nowhere", "A link to nothing is nothing.", "403/404"),
    bad("path-pipe", "/pipe", "A pipe is not opened for a client, who would wait for ever.", "403/404"),
    Row("path-type-upper-case", "9110 8.3", SHOULD, get("/PAGE.HTML"), "200", "The ending that says the type has no case.",
        has={"Content-Type": "text/html; charset=utf-8"}),
    Row("path-type-unknown", "9110 8.3", SHOULD, get("/unknown.xyzzy"), "200", "What is not known is some bytes.",
        has={"Content-Type": "application/octet-stream"}),
    Row("path-prefix-of-mount", "3986 6.2.2", MUST, get("/cgi-binx/env"), "404", "A name that only begins like a mounted folder is another."),
    Row("path-mount-by-dots", "3986 6.2.2", MUST, get("/docs/../cgi-bin/env"), "200", "A folder is found behind dots, too.",
        contains=("SCRIPT_NAME=/cgi-bin/env\n",)),
    Row("path-mount-encoded", "3986 6.2.2", MUST, get("/c%67i-bin/env"), "200", "And by encoded letters.",
        contains=("SCRIPT_NAME=/cgi-bin/env\n",)),
]
