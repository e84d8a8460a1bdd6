#!/bin/sh
# Ends in a call.
read -r manifest
echo '{"v":1,"ok":{"name":"storage-bad","version":"1.0","kind":"storage","summary":"a bad plugin","offers":[{"name":"bad","summary":"nothing good"}]}}'
read -r request
echo 'no such volume' >&2
exit 3
