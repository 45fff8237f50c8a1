"""Ranges: RFC 9110, section 14."""

from row import HEAD, LETTERS, MAY, MUST, OLD, SHOULD, Row, get


def of(value: str, *fields: str) -> str:
    return get("/file.txt", f"Range: {value}", *fields)


def part(id: str, value: str, first: int, last: int, sentence: str, level: str = SHOULD) -> Row:
    return Row(id, "9110 14.1.2", level, of(value), "206", sentence, body=LETTERS[first : last + 1],
               has={"Content-Range": f"bytes {first}-{last}/26", "Content-Length": str(last - first + 1)})


def whole(id: str, value: str, sentence: str, section: str = "9110 14.2", level: str = MUST) -> Row:
    return Row(id, section, level, of(value), "200", sentence, body=LETTERS, lacks=("Content-Range",))


def none(id: str, value: str, sentence: str) -> Row:
    return Row(id, "9110 15.5.17", SHOULD, of(value), "416", sentence, has={"Content-Range": "bytes */26"})


ROWS = [
    part("range", "bytes=0-4", 0, 4, "A range is from its first to its last byte."),
    part("range-middle", "bytes=10-12", 10, 12, "It may be in the middle."),
    part("range-one-byte", "bytes=0-0", 0, 0, "It may be one byte."),
    part("range-last-byte", "bytes=25-25", 25, 25, "That may be the last one."),
    part("range-open", "bytes=20-", 20, 25, "Without an end it goes to the end."),
    part("range-open-all", "bytes=0-", 0, 25, "Also when that is everything."),
    part("range-beyond", "bytes=20-999", 20, 25, "An end behind the last byte is the last byte.", MUST),
    part("range-far-beyond", "bytes=20-99999999999999999999", 20, 25, "Also one of more than 64 bits.", MUST),
    part("range-suffix", "bytes=-3", 23, 25, "A suffix is the last bytes."),
    part("range-suffix-all", "bytes=-26", 0, 25, "It may be all of them."),
    part("range-suffix-beyond", "bytes=-999", 0, 25, "A suffix longer than the file is the file.", MUST),
    part("range-suffix-far-beyond", "bytes=-99999999999999999999", 0, 25, "So is one of more than 64 bits.", MUST),
    part("range-leading-zeros", "bytes=000-0004", 0, 4, "Numbers may have leading zeros."),
    part("range-unit-case", "Bytes=0-4", 0, 4, "The unit has no case."),
    part("range-empty-elements", "bytes=,0-4,,", 0, 4, "Empty elements of a list of ranges are passed over.", MUST),
    part("range-one-satisfiable", "bytes=99-100,0-4", 0, 4, "Of two ranges the one that is there is sent."),
    part("range-overlapping", "bytes=0-4,2-7", 0, 7, "Ranges that overlap may be joined.", MAY),
    part("range-adjacent", "bytes=0-4,5-7", 0, 7, "Ranges that touch may be joined.", MAY),
    none("range-behind", "bytes=26-", "A range that begins behind the last byte is 416."),
    none("range-behind-closed", "bytes=26-30", "Also when it has an end."),
    none("range-far-behind", "bytes=99999999999999999999-", "Also when it begins beyond 64 bits."),
    none("range-far-behind-closed", "bytes=99999999999999999999-99999999999999999999", "Or ends there."),
    none("range-2-to-the-64", "bytes=18446744073709551616-", "Or begins at the first number that has more than 64 bits."),
    none("range-suffix-zero", "bytes=-0", "A suffix of no bytes is 416."),
    none("range-all-behind", "bytes=30-40, 50-60", "So are several of which none is there."),
    whole("range-unit-unknown", "lines=0-4", "A range of another unit is ignored."),
    whole("range-unit-missing", "0-4", "A range without a unit is ignored."),
    whole("range-no-equals", "bytes 0-4", "A range without its equals sign is ignored."),
    whole("range-empty", "bytes=", "A range of nothing is ignored."),
    whole("range-reversed", "bytes=4-0", "A range whose end is before its beginning is invalid, and ignored."),
    whole("range-reversed-beside-good", "bytes=0-1,4-3", "It makes the ranges beside it invalid.", level=MAY),
    whole("range-letters", "bytes=a-b", "A range of letters is ignored."),
    whole("range-minus-only", "bytes=-", "A range without any number is ignored."),
    whole("range-two-minuses", "bytes=0--4", "A range with two signs is ignored."),
    whole("range-negative", "bytes=-1-4", "A range with a negative beginning is ignored."),
    whole("range-plus", "bytes=+0-4", "A range with a plus is ignored."),
    whole("range-hexadecimal", "bytes=0x0-0x4", "A range is not hexadecimal."),
    whole("range-inner-space", "bytes=0 - 4", "A range has no space inside.", level=MAY),
    whole("range-semicolon", "bytes=0-4;5-6", "A semicolon does not part ranges."),
    whole("range-no-number", "bytes=five", "A word is no range."),
    Row("range-too-many", "9110 14.2", MAY, get("/large.bin", "Range: bytes=" + ",".join(f"{i}-{i}" for i in range(0, 800000, 1000))), "200/416",
        "Hundreds of ranges are not served."),
    Row("range-same-thousand-times", "9110 14.2", MAY, of("bytes=" + ",".join(["0-"] * 1000)), "200/206/416",
        "Nor is the same one a thousand times.", has={"Content-Length": "26"}),
    Row("range-twice", "9110 14.2", MAY, get("/file.txt", "Range: bytes=0-1", "Range: bytes=4-5"), "200",
        "Two fields are no range, and ignored.", body=LETTERS),
    Row("range-several", "9110 14.6", MUST, get("/large.bin", "Range: bytes=0-1,1000-1001"), "206",
        "Several ranges are parts, each with its own range.",
        contains=("Content-Range: bytes 0-1/2097152\r\n\r\n\0\x01\r\n--", "Content-Range: bytes 1000-1001/2097152\r\n\r\n\xe8\xe9\r\n--",
                  "Content-Type: application/octet-stream\r\n", "--\r\n")),
    Row("range-several-order", "9110 15.3.7.2", MAY, get("/large.bin", "Range: bytes=2000-2000,5-5"), "206",
        "Parts come in the order in which they were asked for.", contains=("bytes 2000-2000/2097152\r\n\r\n\xd0\r\n",)),
    Row("range-several-one-missing", "9110 15.3.7", SHOULD, get("/large.bin", "Range: bytes=0-1,9999999-"), "206",
        "Of two of which one is not there, the other is sent by itself.", has={"Content-Range": "bytes 0-1/2097152"}),
    Row("range-large", "9110 14.1.2", SHOULD, get("/large.bin", "Range: bytes=1000000-1000003"), "206",
        "A range of a large file is cut where it says.", body="@ABC", has={"Content-Range": "bytes 1000000-1000003/2097152"}),
    Row("range-large-suffix", "9110 14.1.2", SHOULD, get("/large.bin", "Range: bytes=-2"), "206",
        "So is its suffix.", body="\xfe\xff", has={"Content-Range": "bytes 2097150-2097151/2097152"}),
    Row("range-empty-file", "9110 14.1.2", SHOULD, get("/empty.txt", "Range: bytes=0-"), "200/416", "An empty file has no part."),
    Row("range-head", "9110 14.2", MUST, f"{HEAD}Range: bytes=0-4\r\n\r\n", "200", "A range of HEAD is ignored.",
        has={"Content-Length": "26"}, lacks=("Content-Range",)),
    Row("range-head-unsatisfiable", "9110 14.2", MUST, f"{HEAD}Range: bytes=99-\r\n\r\n", "200", "Also one that is not there."),
    Row("range-post", "9110 14.2", MUST, get("/file.txt", "Range: bytes=0-4", method="POST"), "405", "A range is for GET."),
    Row("range-missing-file", "9110 14.2", MUST, get("/no", "Range: bytes=0-4"), "404", "A range does not change a 404.",
        lacks=("Content-Range",)),
    Row("range-folder", "9110 14.2", MUST, get("/docs", "Range: bytes=0-4"), "301", "Nor a redirect."),
    Row("range-old", "9110 14.2", MAY, f"{OLD}Range: bytes=0-4\r\n\r\n", "200/206 close", "HTTP/1.0 may be given a range or the whole."),
    Row("range-fields", "9110 15.3.7", MUST, of("bytes=1-2", "Accept: */*"), "206", "A 206 carries what a 200 would.",
        has={"ETag": "<etag>", "Date": None, "Last-Modified": None, "Content-Type": "text/plain; charset=utf-8"}),
    Row("range-advertised", "9110 14.3", MAY, get("/docs/page.txt", "Accept: text/plain"), "200", "The server says that it knows ranges.",
        has={"Accept-Ranges": "bytes"}),
    Row("range-advertised-large", "9110 14.3", MAY, get("/large.bin", "Accept: text/plain"), "200", "It says so of a large file too.",
        has={"Accept-Ranges": "bytes"}),
    Row("range-request-has-content-range", "9110 14.5", SHOULD,
        "PUT /file.txt HTTP/1.1\r\nHost: turtle\r\nContent-Range: bytes 0-1/26\r\nContent-Length: 2\r\n\r\nXX", "400/405",
        "A part is not put."),
]
