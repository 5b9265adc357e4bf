package redact

import "bytes"

// defaults lists the built-in rules. Expressions see decoded text: a line
// break is a line break, a quote a quote.
func defaults() []Rule {
	// name makes a rule for tokens with a prefix of their own.
	name := func(id, what, regex string, keywords ...string) Rule {
		return Rule{ID: id, Description: what, Regex: regex, Keywords: keywords, before: 96, after: 512}
	}
	word := func(r Rule) Rule { r.quick = startsWord; return r }
	return []Rule{
		{ID: "private-key", Description: "private key block", before: 128, after: 32 << 10,
			Regex:    `-----BEGIN[ A-Z0-9]{0,40}(?:PRIVATE KEY|NKEY SEED)(?: BLOCK)?-----[A-Za-z0-9+/=\s:,.\\\-]{16,}?(?:-{4,6}END[ A-Z0-9]{0,40}-{4,6}|[^A-Za-z0-9+/=\s:,.\\\-]|\z)`,
			Keywords: []string{"PRIVATE KEY", "NKEY SEED"}},
		name("signing-key", "signed-note private key", `PRIVATE\+KEY\+[^\s"']{20,200}`, "PRIVATE+KEY+"),
		name("age-key", "age secret key", `AGE-SECRET-KEY-1[0-9A-Za-z]{50,64}`, "age-secret-key-1"),
		word(name("aws-access-key", "AWS access key id", `\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b`, "AKIA", "ASIA", "ABIA", "ACCA")),
		name("aws-secret-key", "AWS secret access key", `(?i)aws[\w .-]{0,24}(?:secret|key)[\w .-]{0,24}["']?\s{0,3}(?:=>|:=|[:=])\s{0,3}["']?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+]|\z)`, "aws"),
		word(name("github-token", "GitHub token", `\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})`, "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_")),
		word(name("gitlab-token", "GitLab token", `\b(?:gl(?:pat|dt|rt|ptt|cbt|ft|imt|agent|oas|soat|ffct)-[\w.-]{20,}|GR1348941[\w-]{20,})`, "glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-", "glffct-", "GR1348941")),
		word(name("slack-token", "Slack token", `\b(?:xox[abceoprs](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,})`, "xoxa", "xoxb", "xoxc", "xoxe", "xoxo", "xoxp", "xoxr", "xoxs", "xapp-")),
		name("slack-webhook", "Slack webhook", `hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{20,})`, "hooks.slack.com/"),
		name("discord-webhook", "Discord webhook", `discord(?:app)?\.com/api/webhooks/(\d{8,}/[\w-]{30,})`, "/api/webhooks/"),
		word(name("stripe-key", "Stripe key", `\b(?:[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,})`, "sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_", "whsec_")),
		word(name("anthropic-key", "Anthropic key", `\bsk-ant-[\w-]{20,}`, "sk-ant-")),
		word(func() Rule {
			r := name("openai-key", "OpenAI key", `\bsk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,}`, "sk-")
			r.check = func(b []byte) bool { return hasDigit(b) && entropy(b) >= 3.2 }
			return r
		}()),
		word(name("google-api-key", "Google API key", `\bAIza[0-9A-Za-z_-]{35}`, "AIza")),
		word(name("google-oauth", "Google OAuth secret or token", `\b(?:GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,}|1//0[\w-]{30,})`, "GOCSPX-", "ya29.", "1//0")),
		word(name("npm-token", "npm token", `\bnpm_[A-Za-z0-9]{36,}`, "npm_")),
		name("npmrc-auth", "npm registry credential", `(?i)(?:^|[\s:])_(?:authToken|auth|password)\s{0,3}=\s{0,3}["']?([^\s"']{8,})`, "_authtoken", "_auth", "_password"),
		word(name("pypi-token", "PyPI token", `\bpypi-[\w-]{50,}`, "pypi-")),
		word(name("rubygems-key", "RubyGems key", `\brubygems_[a-f0-9]{48}`, "rubygems_")),
		word(name("crates-token", "crates.io token", `\bcio[A-Za-z0-9]{32}\b`, "cio")),
		word(name("docker-token", "Docker Hub token", `\bdckr_(?:pat|oat)_[\w-]{20,}`, "dckr_")),
		word(name("hugging-face-token", "Hugging Face token", `\b(?:hf|api_org)_[A-Za-z]{34}\b`, "hf_", "api_org_")),
		word(name("digitalocean-token", "DigitalOcean token", `\bdo[opr]_v1_[a-f0-9]{64}`, "dop_v1_", "doo_v1_", "dor_v1_")),
		word(name("sendgrid-key", "SendGrid key", `\bSG\.[\w-]{16,}\.[\w-]{16,}`, "SG.")),
		word(name("vault-token", "Vault token", `\bhv[bsr]\.[\w-]{24,}`, "hvs.", "hvb.", "hvr.")),
		word(name("linear-key", "Linear key", `\blin_(?:api|oauth)_[A-Za-z0-9]{32,}`, "lin_api_", "lin_oauth_")),
		word(name("notion-key", "Notion key", `\b(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43})\b`, "ntn_", "secret_")),
		word(name("grafana-token", "Grafana token", `\b(?:glsa|glc)_[A-Za-z0-9+/_=]{32,}`, "glsa_", "glc_")),
		word(name("databricks-token", "Databricks token", `\bdapi[a-f0-9]{32}`, "dapi")),
		word(name("shopify-token", "Shopify token", `\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}`, "shpat_", "shpca_", "shppa_", "shpss_")),
		word(name("postman-key", "Postman key", `\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}`, "PMAK-")),
		word(name("tailscale-key", "Tailscale key", `\btskey-[a-z]+-[\w-]{16,}`, "tskey-")),
		name("azure-storage-key", "Azure storage key", `(?i)(?:AccountKey|SharedAccessKey)\s{0,3}=\s{0,3}([A-Za-z0-9+/]{40,}={0,2})`, "accountkey", "sharedaccesskey"),
		word(name("jwt", "JSON web token", `\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)?`, "eyJ")).long(),
		name("authorization", "Authorization header", `(?i)\bauthorization["']{0,2}\s{0,3}[:=,]\s{0,3}["']{0,2}(?:(?:bearer|basic|token|digest|apikey|negotiate)\s{1,3})?([A-Za-z0-9._~+/=:-]{8,})`, "authorization").checked(tokenLike).long(),
		name("bearer", "bearer token", `(?i)\bbearer\s{1,3}([A-Za-z0-9._~+/-]{16,}=*)`, "bearer").checked(tokenLike).long(),
		{ID: "url-password", Description: "password in a URL", before: 40, after: 512, quick: userinfo,
			Regex:    `(?i)\b[a-z][a-z0-9+.-]{1,30}://[^\s:/?#@"'<>]{0,100}:([^\s/?#@"'<>]{3,200})@[\w.\[-]`,
			Keywords: []string{"://"}, check: notPlaceholder},
		name("curl-user", "password on curl's command line", `\bcurl\b[^\n]{0,300}?\s(?:-u|--user|--proxy-user|-U)[ =]?["']?[^\s:"']{1,100}:([^\s"']{3,200})`, "curl").checked(notPlaceholder),
		name("netrc", "netrc password", `(?i)\blogin\s{1,8}\S{1,100}\s{1,8}password\s{1,8}(\S{3,200})`, "login").checked(notPlaceholder),
		name("password", "value behind a password's name",
			`(?i)(?:passw(?:or)?d|passphrase|\bpwd)[\w]{0,20}["'`+"`"+`]{0,2}\]?\s{0,3}(?:=>|:=|==?|:)\s{0,3}["'`+"`"+`]{0,2}([^\s"'`+"`"+`<>(){}\[\],;&|]{6,200})`,
			"password", "passwd", "passphrase", "pwd").checked(passwordLike),
		name("secret", "value behind a secret's name",
			`(?i)(?:secret|token|api[_-]?key|access[_-]?key|private[_-]?key|client[_-]?key|auth[_-]?key|encryption[_-]?key|credentials?)[\w-]{0,24}["'`+"`"+`]{0,2}\]?\s{0,3}(?:=>|:=|==?|:)\s{0,3}["'`+"`"+`]{0,2}([^\s"'`+"`"+`<>(){}\[\],;&|]{10,500})`,
			"secret", "token", "apikey", "api_key", "api-key", "access_key", "access-key", "accesskey", "private_key", "privatekey", "client_key",
			"auth_key", "authkey", "encryption_key", "credential").checked(tokenLike),
	}
}

func (r Rule) long() Rule { r.after = 8 << 10; return r }

func (r Rule) checked(f func([]byte) bool) Rule { r.check = f; return r }

// startsWord says that the keyword does not stand within a word: "task-" is
// no "sk-".
func startsWord(b []byte, start, _ int) bool {
	if start == 0 {
		return true
	}
	c := b[start-1]
	if c == '\\' || start > 1 && b[start-2] == '\\' {
		return true // perhaps an escape; the decoded view will tell
	}
	return (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '_'
}

// userinfo says that the URL whose "://" ends at end has a '@' before its path.
func userinfo(b []byte, _, end int) bool {
	part := b[end:min(len(b), end+320)]
	at := bytes.IndexByte(part, '@')
	return at > 0 && bytes.IndexByte(part[:at], ':') >= 0 && !bytes.ContainsAny(part[:at], " \n\"'<>")
}

// tokenLike says that b looks made by a machine.
func tokenLike(b []byte) bool {
	return hasDigit(b) && hasLetter(b) && entropy(b) >= 3 && notPlaceholder(b)
}

// passwordLike says that b is more than a word of a program.
func passwordLike(b []byte) bool {
	return mixed(b) && entropy(b) >= 2 && notPlaceholder(b)
}

// notPlaceholder refuses what stands for a secret: $VAR, %s, ***, xxx, <…>.
func notPlaceholder(b []byte) bool {
	switch b[0] {
	case '$', '%', '<', '{', '*', '\\', '^', '~':
		return false
	}
	low := bytes.ToLower(b)
	for _, w := range [...]string{"${", "$(", "process.env", "os.environ", "getenv", "xxxx", "****", "....", "example", "changeme", "placeholder", "redacted", "://"} {
		if bytes.Contains(low, []byte(w)) {
			return false
		}
	}
	return true
}
