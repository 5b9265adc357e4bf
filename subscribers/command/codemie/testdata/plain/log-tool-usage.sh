#!/bin/sh
# The documentation's log-tool-usage.sh without bash.
printf '%s\n' "$CODEMIE_HOOK_INPUT" >> ~/.codemie/tool-usage.log
echo '{"decision": "allow"}'
