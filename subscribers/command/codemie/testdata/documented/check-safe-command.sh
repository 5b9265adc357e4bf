#!/bin/bash

# Parse input
COMMAND=$(echo "$CODEMIE_HOOK_INPUT" | jq -r '.tool_input.command')

# Block dangerous patterns
DANGEROUS_PATTERNS=(
  "rm -rf /"
  "dd if="
  "mkfs"
  "> /dev/sda"
)

for pattern in "${DANGEROUS_PATTERNS[@]}"; do
  if [[ "$COMMAND" =~ $pattern ]]; then
    echo "{\"decision\": \"block\", \"reason\": \"Dangerous command blocked: $pattern\"}"
    exit 0
  fi
done

# Allow by default
echo '{"decision": "allow"}'
