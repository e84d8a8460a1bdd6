#!/bin/sh
# Replies with something that is not JSON.
read -r manifest
echo '{"v":1,"ok":{"name":"storage-bad","version":"1.0","kind":"storage","summary":"a bad plugin","offers":[{"name":"bad","summary":"nothing good"}]}}'
read -r request
echo hello
read -r request
