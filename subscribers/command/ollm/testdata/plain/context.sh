# The documentation's context enhancement hook without node.
case "$(cat)" in
'{"event":"before_model",'*) printf '{"continue":true,"systemMessage":"Current time: %s"}' "$(date -u +%Y-%m-%dT%H:%M:%S.000Z)" ;;
*) printf '{"continue":true}' ;;
esac
