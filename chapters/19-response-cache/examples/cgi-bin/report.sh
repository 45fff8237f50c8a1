#!/bin/sh
# A report that takes its time, and says which run of the program it comes from.
sleep 0.2
echo >> .runs
printf 'Content-Type: text/plain\n\nrun %d\n' "$(wc -l < .runs)"
