package redact_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/internal/redact"
)

// letters makes a reproducible text of n characters of alphabet. The canaries
// are put together here so that no scanner takes this file for a leak.
func letters(n int, alphabet string) string {
	r := rand.New(rand.NewPCG(uint64(n), uint64(len(alphabet))))
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

const (
	alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	hexa  = "0123456789abcdef"
)

// canary is a text with a secret in it.
type canary struct{ rule, before, secret, after string }

func canaries() []canary {
	pem := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat(letters(64, alnum)+"\n", 20) + "-----END RSA PRIVATE KEY-----"
	jwt := "eyJ" + letters(33, alnum) + ".eyJ" + letters(60, alnum) + "." + letters(43, alnum)
	return []canary{
		{"private-key", "cat key\n", pem, "\ndone"},
		{"private-key", "", "-----BEGIN USER NKEY SEED-----\nSU" + letters(56, upper) + "\n------END USER NKEY SEED------", "\n"},
		{"private-key", "head: ", "-----BEGIN OPENSSH PRIVATE KEY-----\n" + letters(70, alnum) + "\n" + letters(30, alnum), ""},
		{"signing-key", "key ", "PRIVATE+KEY+example+1a2b3c4d+" + letters(44, alnum), " end"},
		{"age-key", "", "AGE-SECRET-KEY-1" + letters(58, upper), "\n"},
		{"aws-access-key", "id ", "AKIA" + letters(16, upper), ","},
		{"aws-secret-key", "aws_secret_access_key = ", letters(40, alnum), "\n"},
		{"github-token", "git clone https://", "ghp_" + letters(36, alnum), "@github.com/x/y"},
		{"github-token", "use ", "github_pat_" + letters(82, alnum), "."},
		{"gitlab-token", "PRIVATE-TOKEN ", "glpat-" + letters(20, alnum), " x"},
		{"slack-token", "say ", "xoxb-" + letters(12, "0123456789") + "-" + letters(24, alnum), "\n"},
		{"slack-webhook", "curl https://hooks.slack.com/services/", "T" + letters(8, upper) + "/B" + letters(8, upper) + "/" + letters(24, alnum), "\n"},
		{"discord-webhook", "https://discord.com/api/webhooks/", "123456789012345678/" + letters(60, alnum), "\n"},
		{"stripe-key", "x ", "sk_live_" + letters(24, alnum), " y"},
		{"anthropic-key", "export X ", "sk-ant-api03-" + letters(80, alnum), "\n"},
		{"openai-key", "k ", "sk-proj-" + letters(48, alnum), "\n"},
		{"google-api-key", "k ", "AIza" + letters(35, alnum), "\n"},
		{"google-oauth", "k ", "GOCSPX-" + letters(28, alnum), "\n"},
		{"npm-token", "k ", "npm_" + letters(36, alnum), "\n"},
		{"npmrc-auth", "//registry.example.org/:_authToken=", "0" + letters(30, hexa), "\n"},
		{"pypi-token", "k ", "pypi-" + letters(90, alnum), "\n"},
		{"hugging-face-token", "k ", "hf_" + letters(34, alnum[:52]), "\n"},
		{"digitalocean-token", "k ", "dop_v1_" + letters(64, hexa), "\n"},
		{"sendgrid-key", "k ", "SG." + letters(22, alnum) + "." + letters(43, alnum), "\n"},
		{"vault-token", "k ", "hvs." + letters(90, alnum), "\n"},
		{"docker-token", "k ", "dckr_pat_" + letters(27, alnum), "\n"},
		{"tailscale-key", "k ", "tskey-auth-" + letters(16, alnum) + "-" + letters(32, alnum), "\n"},
		{"azure-storage-key", "DefaultEndpointsProtocol=https;AccountKey=", letters(86, alnum) + "==", ";x"},
		{"jwt", "k ", jwt, "\n"},
		{"authorization", "curl -H 'Authorization: Basic ", base64.StdEncoding.EncodeToString([]byte("user7:pass1234word")), "' x"},
		{"bearer", "with bearer ", letters(40, alnum), "\n"},
		{"url-password", "psql postgres://app:", "s3cr-" + letters(8, alnum), "@db.internal/app"},
		{"url-password", "redis://:", letters(12, alnum), "@cache:6379"},
		{"curl-user", "curl -s -u deploy:", "hunter-22", " https://ci.internal/job"},
		{"netrc", "machine api.internal\nlogin me\npassword ", "tr0ub4dor", "\n"},
		{"password", "DB_PASSWORD=", "hunter22", "\n"},
		{"password", "mysql --password=", "p@ss-w0rd", " db"},
		{"password", `password: "`, "correct!horse", `"`},
		{"secret", "client_secret: ", letters(32, alnum), "\n"},
		{"secret", "MY_API_KEY=", letters(24, alnum), "\n"},
		{"secret", "X-Api-Key: ", letters(24, alnum), "\n"},
	}
}

func redactor(t testing.TB) *redact.Redactor {
	t.Helper()
	r, err := redact.New(&redact.Options{Key: []byte("key")})
	require.NoError(t, err)
	return r
}

func TestCanariesAreFound(t *testing.T) {
	t.Parallel()
	r := redactor(t)
	seen := map[string]bool{}
	for _, c := range canaries() {
		seen[c.rule] = true
		in := c.before + c.secret + c.after
		out, n := r.Bytes([]byte(in))
		assert.Equal(t, 1, n, "%s in %q gave %q", c.rule, in, out)
		assert.NotContains(t, string(out), c.secret)
		assert.True(t, strings.HasPrefix(string(out), c.before+"[redacted:"), "%q gave %q", in, out)
		assert.True(t, strings.HasSuffix(string(out), "]"+c.after), "%q gave %q", in, out)
		assert.Contains(t, string(out), "[redacted:"+c.rule+":", "%q", in)
	}
	assert.GreaterOrEqual(t, len(seen), 30)
}

// The same secrets in the JSON of an event, and in JSON inside a JSON string.
func TestCanariesInJSON(t *testing.T) {
	t.Parallel()
	r := redactor(t)
	for _, c := range canaries() {
		text := c.before + c.secret + c.after
		for depth := 1; depth <= 3; depth++ {
			b, err := json.Marshal(map[string]any{"input": map[string]string{"command": text}, "n": 1})
			require.NoError(t, err)
			text = string(b)
			out, n := r.Bytes(b)
			require.True(t, json.Valid(out), "%s at depth %d: %q", c.rule, depth, out)
			assert.GreaterOrEqual(t, n, 1, "%s at depth %d: %q", c.rule, depth, out)
			for _, piece := range strings.FieldsFunc(c.secret, func(r rune) bool { return r == '\n' || r == ' ' }) {
				if len(piece) > 12 && !strings.Contains(piece, "-----") {
					assert.NotContains(t, string(out), piece, "%s at depth %d", c.rule, depth)
				}
			}
		}
	}
}

func TestSecretsBehindEscapes(t *testing.T) {
	t.Parallel()
	r := redactor(t)
	token := letters(36, alnum)
	for _, in := range []string{
		`{"c":"ghp\u005f` + token + `"}`,
		`{"c":"\u0067hp_` + token + `"}`,
		`{"c":"line\nghp_` + token + `\n"}`,
		`{"c":"line\tghp_` + token + `"}`,
		`{"c":"{\"k\":\"x\\nghp_` + token + `\"}"}`,
		`{"c":"{\"k\":\"ghp\\u005f` + token + `\"}"}`,
		`{"c":"glpat\u002d` + token + `"}`,
		`{"c":"postgres:\/\/app:` + token + `@db\/x"}`,
		`{"a":"x\\","c":"ghp_` + token + `"}`,
		`{"ghp_` + token + `":1}`,
		`["\\\\ghp_` + token + `\\\\"]`,
		`{"c":"ghp_` + token[:10] + `\u00` + hex.EncodeToString([]byte(token[10:11])) + token[11:] + `"}`,
	} {
		require.True(t, json.Valid([]byte(in)), in)
		out, n := r.Bytes([]byte(in))
		assert.Equal(t, 1, n, "%s gave %s", in, out)
		assert.True(t, json.Valid(out), "%s gave %s", in, out)
		assert.NotContains(t, string(out), token[12:], "%s", in)
	}
}

func TestJSONStaysJSON(t *testing.T) {
	t.Parallel()
	r := redactor(t)
	for _, in := range []string{
		`{"password":"hunter22","x":1}`,
		`{"password": 12345678, "x": [1,2]}`,
		`{"api_key": 12e45678901, "x": true}`,
		`{"password":"abc1\\\"def2","x":1}`,
		`{"password":["hunter22","hunter33"]}`,
		`{"secret":"","token":"` + letters(30, alnum) + `"}`,
		`{"a":"-----BEGIN PRIVATE KEY-----","b":"` + letters(64, alnum) + `","c":"-----END PRIVATE KEY-----"}`,
		`{"a":"password=","b":"hunter22hunter33"}`,
		`"password=hunter22\\"`,
		`"password=hunter22\ud83d\ude00x"`,
		`"password=\ud83d\ude00hunter22"`,
	} {
		require.True(t, json.Valid([]byte(in)), in)
		out, _ := r.Bytes([]byte(in))
		assert.True(t, json.Valid(out), "%s gave %s", in, out)
		assert.NotContains(t, string(out), "hunter22,", "%s", in)
	}
	out, n := r.Bytes([]byte(`{"password": "hunter22", "n": 7}`))
	assert.Equal(t, 1, n)
	assert.Equal(t, `{"password": "[redacted:password:`+r.Tag([]byte("hunter22"))+`]", "n": 7}`, string(out))
}

func TestBenignTextIsUntouched(t *testing.T) {
	t.Parallel()
	r := redactor(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	image := make([]byte, 1<<20)
	for i := range image {
		image[i] = byte(rnd.UintN(256))
	}
	var shas, uuids, lock strings.Builder
	for i := range 2000 {
		sum := sha256.Sum256([]byte{byte(i), byte(i >> 8)})
		h := hex.EncodeToString(sum[:])
		fmt.Fprintf(&shas, "commit %s\ntree %s\n%s  file-%d.go\n", h[:40], h[8:48], h, i)
		fmt.Fprintf(&uuids, "%s-%s-4%s-8%s-%s\n", h[:8], h[8:12], h[13:16], h[17:20], h[20:32])
		fmt.Fprintf(&lock, "    \"node_modules/js-tokens-%d\": {\n      \"version\": \"4.0.%d\",\n      \"resolved\": \"https://packages.example.org/js-tokens/-/js-tokens-4.0.%d.tgz\",\n      \"integrity\": \"sha512-%s\"\n    },\n", i, i, i, base64.StdEncoding.EncodeToString(append(sum[:], sum[:]...)))
	}
	gosum, err := os.ReadFile("../../go.sum")
	require.NoError(t, err)
	for name, text := range map[string]string{
		"git":    shas.String(),
		"uuid":   uuids.String(),
		"lock":   lock.String(),
		"go.sum": string(gosum),
		"image":  `{"type":"image","data":"` + base64.StdEncoding.EncodeToString(image) + `"}`,
		"event":  `{"specversion":"1.0","id":"0193f6aa-7f3a-7b52-a0a5-6f3de0f6b001","sessionid":"abc123def456ghi789","data":{"tool":{"name":"Bash","input":{"command":"git log --oneline"}},"native":{"agent":"claude-code","payload":{"max_tokens":8192,"input_tokens":12345678901}}}}`,
		"prose":  "The token is read by the lexer; a secret: never tell. Password: required. The api key goes into $API_KEY. See https://user@example.com/x and mailto:a@b.c.",
		"code": "password := os.Getenv(\"DB_PASSWORD\")\ntoken = parser.nextToken()\nsecret: process.env.CLIENT_SECRET,\napi_key: ${API_KEY}\n" +
			"password: string;\nfunc token(password string, secret []byte) error\nPASSWORD=$(pass show db)\ntask-list-of-things-to-do-next-week\n",
		"logs": "GET https://api.example.com:8443/v1/users?page=2 200\nrisk-assessment-and-other-long-words-in-a-row\n",
	} {
		in := []byte(text)
		out, n := r.Bytes(in)
		if !assert.Zero(t, n, "%s", name) {
			i := bytes.Index(out, []byte("[redacted:"))
			t.Logf("%s", out[max(0, i-80):min(len(out), i+80)])
			continue
		}
		assert.Same(t, &in[0], &out[0], "%s: clean input comes back itself", name)
	}
}

func TestTagsCorrelate(t *testing.T) {
	t.Parallel()
	secret := "ghp_" + letters(36, alnum)
	a, b := redactor(t), redactor(t)
	one, _ := a.Bytes([]byte("x " + secret))
	two, _ := b.Bytes([]byte("other " + secret + " text"))
	tag := a.Tag([]byte(secret))
	assert.Contains(t, string(one), ":"+tag+"]")
	assert.Contains(t, string(two), ":"+tag+"]")
	other, err := redact.New(nil)
	require.NoError(t, err)
	assert.NotEqual(t, tag, other.Tag([]byte(secret)), "without the key the tag says nothing")
}

func TestOwnRules(t *testing.T) {
	t.Parallel()
	rules, err := redact.ParseRules([]byte(`
rules:
  - id: acme-key
    description: keys of the acme service
    regex: '\bacme_([a-z0-9]{16})\b'
    secretGroup: 1
    entropy: 2.5
    keywords: [ACME_]
    allowlist:
      regexes: ['^0000']
      stopwords: [example]
  - id: ticket
    regex: 'TICKET-\d{4}'
`))
	require.NoError(t, err)
	r, err := redact.New(&redact.Options{Rules: rules})
	require.NoError(t, err)
	out, n := r.Bytes([]byte("acme_a1b2c3d4e5f6g7h8 acme_0000c3d4e5f6g7h8 acme_aaaaaaaaaaaaaaaa acme_exampled4e5f6g7 TICKET-1234"))
	assert.Equal(t, 2, n, "%s", out)
	assert.Contains(t, string(out), "acme_[redacted:acme-key:")
	assert.Contains(t, string(out), "acme_0000c3d4e5f6g7h8 acme_aaaaaaaaaaaaaaaa acme_exampled4e5f6g7 [redacted:ticket:")

	only, err := redact.New(&redact.Options{Rules: rules, OnlyRules: true})
	require.NoError(t, err)
	_, n = only.Bytes([]byte("ghp_" + letters(36, alnum)))
	assert.Zero(t, n)
}

func TestBadRules(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"rules: [{id: x, regex: a, unknown: 1}]", "rules: 1", "rules:\n  - id: [", strings.Repeat("#", redact.MaxRulesSize+1),
	} {
		_, err := redact.ParseRules([]byte(text))
		assert.ErrorIs(t, err, redact.ErrRule, "%.40q", text)
	}
	for _, bad := range []redact.Rule{
		{}, {ID: "x"}, {ID: "X Y", Regex: "a"}, {ID: "x", Regex: "("}, {ID: "x", Regex: "a*"}, {ID: "x", Regex: "a", SecretGroup: 1},
		{ID: "x", Regex: "a", Entropy: 9}, {ID: "x", Regex: "a", Keywords: []string{""}},
		{ID: "x", Regex: "a", Allowlist: redact.Allowlist{Regexes: []string{"["}}},
		{ID: "x", Regex: "a", Allowlist: redact.Allowlist{StopWords: []string{""}}},
	} {
		_, err := redact.New(&redact.Options{Rules: []redact.Rule{bad}})
		assert.ErrorIs(t, err, redact.ErrRule, "%+v", bad)
	}
}

// Any mixture of secrets, markers and noise is clean after one call.
func TestOnceIsEnough(t *testing.T) {
	t.Parallel()
	r := redactor(t)
	pieces := []string{"password=", "token: ", `"`, `\`, `\n`, " ", "[redacted:password:00000000]", "hunter22", letters(20, alnum), "://", "@", ":", "Bearer ", "-----BEGIN PRIVATE KEY-----", "é"}
	for _, c := range canaries() {
		pieces = append(pieces, c.before+c.secret+c.after, c.secret)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 12).Draw(t, "pieces"), "")
		for _, in := range [][]byte{[]byte(text), mustMarshal(text)} {
			before := bytes.Clone(in)
			once, n := r.Bytes(in)
			require.Equal(t, before, in, "the input was written to")
			twice, m := r.Bytes(once)
			require.Zero(t, m, "%q gave %q (%d) gave %q", in, once, n, twice)
			require.Equal(t, json.Valid(in), json.Valid(once) && json.Valid(in), "%q gave %q", in, once)
		}
	})
}

func mustMarshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func FuzzBytes(f *testing.F) {
	for _, c := range canaries() {
		f.Add([]byte(c.before + c.secret + c.after))
		f.Add(mustMarshal(c.before + c.secret + c.after))
	}
	f.Add([]byte(`{"password": 12345678, "x": "password=\"\\u0068unter22\\\\\""}`))
	f.Add([]byte(`password=[redacted:password:00000000]hunter22[redacted:x`))
	r := redactor(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		before := bytes.Clone(b)
		out, n := r.Bytes(b)
		require.Equal(t, before, b)
		if n == 0 {
			require.Equal(t, before, out)
		}
		if json.Valid(b) {
			require.True(t, json.Valid(out), "%q became %q", b, out)
		}
		again, m := r.Bytes(out)
		require.Zero(t, m, "%q became %q became %q", b, out, again)
	})
}

// cleanEvent is about what an event with a tool result looks like.
func cleanEvent() []byte {
	text := strings.Repeat("func (l *Log) Append(ctx context.Context, r hook.Record) (int64, error) {\n\treturn l.commit(ctx, r) // waits for the disk\n}\n", 16)
	return mustMarshal(map[string]any{"specversion": "1.0", "id": "0193f6aa-7f3a-7b52", "data": map[string]any{"tool": map[string]any{"name": "Read", "input": map[string]string{"file_path": "/home/me/src/log.go"}}, "result": text}})
}

func BenchmarkCleanText(b *testing.B) {
	r := redactor(b)
	in := cleanEvent()
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		r.Bytes(in)
	}
}

func BenchmarkTextWithSecret(b *testing.B) {
	r := redactor(b)
	in := append(cleanEvent(), mustMarshal("password=hunter22 ghp_"+letters(36, alnum))...)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		r.Bytes(in)
	}
}
