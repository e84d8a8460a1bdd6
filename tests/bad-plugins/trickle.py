#!/usr/bin/env python3
"""Replies a byte at a time, for ever."""
import sys
import time

sys.stdin.readline()
print('{"v":1,"ok":{"name":"storage-bad","version":"1.0","kind":"storage","summary":"a bad plugin","offers":[{"name":"bad","summary":"nothing good"}]}}', flush=True)
sys.stdin.readline()
while True:
    sys.stdout.write("x")
    sys.stdout.flush()
    time.sleep(0.01)
