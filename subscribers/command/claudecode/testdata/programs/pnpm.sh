#!/bin/sh
cat > /dev/null
echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"pnpm here","updatedInput":{"command":"pnpm test"},"additionalContext":"This project uses pnpm."}}'
