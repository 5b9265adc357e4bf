# The documentation's first example without node and python.
input=$(cat)
case "$input" in
'{"event":"before_model",'*)
	model=$(printf '%s' "$input" | sed -n 's/.*"model":"\([^"]*\)".*/\1/p')
	echo "Model call intercepted: $model"
	printf '{"continue":true,"systemMessage":"Hook executed for model: %s","data":{"hookExecuted":true}}' "$model"
	;;
*) printf '{"continue":true}' ;;
esac
