// Package redact takes secrets out of bytes before anything is stored or
// published.
//
// # What it does
//
// [Redactor.Bytes] looks for secrets with a list of rules (RE2 expressions, so
// the time is linear in the input) and puts a marker in the place of each:
//
//	[redacted:github-token:1a2b3c4d]
//
// The last part is a keyed HMAC-SHA256 of the secret, cut to 32 bits: whoever
// holds the log can see that two records hold the same secret, and nobody
// without the key can test a guess.
//
// # JSON
//
// When the input is a JSON document the output is one too. Secrets are found
// inside strings through their escapes ("ghp\u005f…", "\/", a line break
// before a token, JSON inside a JSON string up to three levels); an escape is
// never cut, and a value outside strings is replaced by a string. Any other
// input is treated as text. Redacting twice gives what redacting once gave.
//
// # Rules
//
// About 40 rules are built in. [Rule] has the shape of a gitleaks rule, so that
// such rules can be brought along ([ParseRules] reads them from YAML). A rule
// runs only where one of its keywords stands, which makes text without secrets
// cheap.
//
// A redactor cannot know every secret: it takes out what has a known shape or
// stands behind a name such as password. It is a net, not a proof.
//
// # Concurrency and retention
//
// A Redactor is immutable and safe for use by many goroutines. Bytes neither
// keeps nor changes its input; where nothing was found it returns the input
// itself.
package redact
