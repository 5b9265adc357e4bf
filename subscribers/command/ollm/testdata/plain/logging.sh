# The documentation's logging hook without node.
input=$(cat)
event=$(printf '%s' "$input" | sed -n 's/^{"event":"\([a-z_]*\)",.*/\1/p')
data=$(printf '%s' "$input" | sed -n 's/^{"event":"[a-z_]*","data":\(.*\)}$/\1/p')
printf '%s: %s\n' "$event" "$data" >> /tmp/hook.log
printf '{"continue":true}'
