#!/bin/sh
# The documentation's detect-os.sh without bash.
OS_NAME=$(uname -s)
OS_ARCH=$(uname -m)
NODE_VERSION=$(node --version 2>/dev/null || echo "not installed")
printf '%s\n' "{
  \"decision\": \"allow\",
  \"additionalContext\": \"Operating System: $OS_NAME\\nArchitecture: $OS_ARCH\\nNode.js: $NODE_VERSION\"
}"
