# The documentation's validation hook without node.
input=$(cat)
case "$input" in
'{"event":"before_tool","data":{"tool_name":"shell",'*'"command":"'*'rm -rf'*)
	printf '{"continue":false,"systemMessage":"Blocked dangerous command"}'
	exit
	;;
esac
printf '{"continue":true}'
