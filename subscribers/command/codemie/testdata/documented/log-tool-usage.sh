#!/bin/bash

# Append to log file
echo "$CODEMIE_HOOK_INPUT" >> ~/.codemie/tool-usage.log

# Always allow (PostToolUse is informational)
echo '{"decision": "allow"}'
