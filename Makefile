.DEFAULT_GOAL := help
FUZZ_TIME ?= 20s

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build static binaries into dist/
	CGO_ENABLED=0 go build -trimpath -o dist/ ./cmd/...

.PHONY: test
test: ## Run all tests
	go test -race -shuffle=on -count=1 ./...

.PHONY: lint
lint: ## Format, vet and staticcheck
	gofmt -l .
	go vet ./...
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

.PHONY: fuzz
fuzz: ## Fuzz one target: make fuzz PKG=./bus/hook TARGET=FuzzToken
	go test -run '^$$' -fuzz '^$(TARGET)$$' -fuzztime $(FUZZ_TIME) $(PKG)

.PHONY: bench
bench: ## Run the benchmarks
	go test -run '^$$' -bench . -benchmem ./...

.PHONY: check
check: ## Everything that CI checks
	FUZZ_TIME=$(FUZZ_TIME) .ci/run
