#!/bin/sh
# Replies with half a line, closes its output and stays.
read -r manifest
echo '{"v":1,"ok":{"name":"storage-bad","version":"1.0","kind":"storage","summary":"a bad plugin","offers":[{"name":"bad","summary":"nothing good"}]}}'
read -r request
printf '{"v":1,"ok"'
exec >&-
sleep 1000
