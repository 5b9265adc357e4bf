#!/bin/sh
path=$(jq -r .tool_input.file_path)
for pattern in .env package-lock.json .git/; do
  case $path in *"$pattern"*) echo "Blocked: $path matches protected pattern '$pattern'" >&2; exit 2 ;; esac
done
exit 0
