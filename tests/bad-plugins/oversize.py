#!/usr/bin/env python3
"""Replies with 100 MiB in one line."""
import sys

sys.stdin.readline()
print('{"v":1,"ok":{"name":"storage-bad","version":"1.0","kind":"storage","summary":"a bad plugin","offers":[{"name":"bad","summary":"nothing good"}]}}', flush=True)
sys.stdin.readline()
for _ in range(100):
    sys.stdout.write("x" * (1 << 20))
print(flush=True)
