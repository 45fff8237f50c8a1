#!/bin/sh
# A dynamic page in three lines of shell: GET /cgi-bin/hello.sh
printf 'Content-Type: text/plain; charset=utf-8\r\n\r\n'
printf 'Hello, %s! I am process %d.\n' "${REMOTE_ADDR:-somebody}" "$$"
