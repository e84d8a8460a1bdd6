#!/bin/sh
# Never answers a call, and neither does what it started.
read -r manifest
echo '{"v":1,"ok":{"name":"storage-bad","version":"1.0","kind":"storage","summary":"a bad plugin","offers":[{"name":"bad","summary":"nothing good"}]}}'
read -r request
sleep 1000 &
wait
