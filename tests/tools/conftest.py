import sys

# What measures servers reads /proc.
collect_ignore = [] if sys.platform == "linux" else ["test_bench_run.py"]
