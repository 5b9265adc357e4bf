#!/bin/bash
# pre-tool-hook.sh

# Parse input (available as CODEMIE_HOOK_INPUT environment variable)
TOOL_NAME=$(echo "$CODEMIE_HOOK_INPUT" | jq -r '.tool_name')

# Block dangerous commands
if [[ "$TOOL_NAME" == "Bash" ]]; then
  COMMAND=$(echo "$CODEMIE_HOOK_INPUT" | jq -r '.tool_input.command')

  if [[ "$COMMAND" =~ "rm -rf" ]]; then
    # Return blocking decision
    echo '{"decision": "block", "reason": "Dangerous command blocked: rm -rf"}'
    exit 0
  fi
fi

# Allow by default
echo '{"decision": "allow"}'
exit 0
