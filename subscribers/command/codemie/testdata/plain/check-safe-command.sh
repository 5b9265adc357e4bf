#!/bin/sh
# The documentation's check-safe-command.sh without bash and jq.
for pattern in 'rm -rf /' 'dd if=' 'mkfs' '> /dev/sda'; do
	case "$CODEMIE_HOOK_INPUT" in
	*'"command":"'*"$pattern"*)
		printf '{"decision": "block", "reason": "Dangerous command blocked: %s"}\n' "$pattern"
		exit 0
		;;
	esac
done
echo '{"decision": "allow"}'
