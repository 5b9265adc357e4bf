#!/bin/sh
# The documentation's pre-tool-hook.sh without bash and jq.
case "$CODEMIE_HOOK_INPUT" in
*'"tool_name":"Bash"'*)
	case "$CODEMIE_HOOK_INPUT" in
	*'"command":"'*'rm -rf'*)
		echo '{"decision": "block", "reason": "Dangerous command blocked: rm -rf"}'
		exit 0
		;;
	esac
	;;
esac
echo '{"decision": "allow"}'
