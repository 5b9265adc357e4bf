#!/bin/sh
# The documentation's add-env-context.sh without bash.
case "$PWD" in
*/production/*) ENV="PRODUCTION" ;;
*) ENV="DEVELOPMENT" ;;
esac
echo "{
  \"decision\": \"allow\",
  \"additionalContext\": \"You are working in a $ENV environment. Be extra careful with changes.\"
}"
