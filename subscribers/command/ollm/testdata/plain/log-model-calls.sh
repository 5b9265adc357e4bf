# The documentation's log-model-calls.js without node.
input=$(cat)
case "$input" in
'{"event":"before_model",'*)
	model=$(printf '%s' "$input" | sed -n 's/.*"model":"\([^"]*\)".*/\1/p')
	printf '%s - Model: %s\n' "$(date -u +%Y-%m-%dT%H:%M:%S.000Z)" "$model" >> "$HOME/.ollm/model-calls.log"
	;;
esac
printf '{"continue":true}'
