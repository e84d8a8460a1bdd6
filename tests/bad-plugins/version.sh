#!/bin/sh
# Says of itself that it speaks another version of the envelope.
read -r manifest
echo '{"v":2,"ok":{"name":"storage-bad","version":"1.0","kind":"storage","summary":"a bad plugin","offers":[{"name":"bad","summary":"nothing good"}]}}'
read -r request
