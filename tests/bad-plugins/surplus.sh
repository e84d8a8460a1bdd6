#!/bin/sh
# Replies twice to one request.
read -r manifest
echo '{"v":1,"ok":{"name":"storage-bad","version":"1.0","kind":"storage","summary":"a bad plugin","offers":[{"name":"bad","summary":"nothing good"}]}}'
read -r request
printf '%s\n%s\n' '{"v":1,"ok":{"done":true}}' '{"v":1,"ok":{"done":true}}'
read -r request
