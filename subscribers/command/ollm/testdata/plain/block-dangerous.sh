# The documentation's block-dangerous.js without node.
input=$(cat)
case "$input" in
'{"event":"before_tool","data":{"tool_name":"shell",'*)
	for pattern in 'rm -rf /' 'dd if=' 'mkfs' ':(){:|:&};:'; do
		case "$input" in
		*'"command":"'*"$pattern"*)
			printf '{"continue":false,"systemMessage":"Blocked dangerous command: %s"}' "$pattern"
			exit
			;;
		esac
	done
	;;
esac
printf '{"continue":true}'
