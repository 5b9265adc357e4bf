package webhook

import (
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"regexp"
	"slices"
	"sort"
	"strings"
)

var (
	envName   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	reference = regexp.MustCompile(`\$(?:\{([^}]*)\}|([A-Za-z_][A-Za-z0-9_]*)|(\{))`)
	token     = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
)

// maxHeaderValue is the longest value that is sent, in bytes.
const maxHeaderValue = 8 << 10

// Expand puts environment variables into the value of a header: $NAME and
// ${NAME} for each NAME in allowed, with its value from environ (as os.Environ
// gives it). A reference to any other name, or to one that is not set, becomes
// nothing, and its name is in missing. A '$' before anything else stays.
//
// A value that cannot be a header's (line breaks, control characters, more than
// 8 KiB) is an error. It wraps [ErrConfig] and does not hold the value.
func Expand(value string, allowed, environ []string) (expanded string, missing []string, err error) {
	expanded = reference.ReplaceAllStringFunc(value, func(ref string) string {
		name := strings.Trim(ref[1:], "{}")
		if strings.HasPrefix(ref, "${") && (!strings.HasSuffix(ref, "}") || !envName.MatchString(ref[2:len(ref)-1])) {
			err = fmt.Errorf("%w: there is a ${ that is not followed by a name and }", ErrConfig)
			return ""
		}
		if slices.Contains(allowed, name) {
			for i := len(environ) - 1; i >= 0; i-- { // the last one counts, as in os/exec
				if v, ok := strings.CutPrefix(environ[i], name+"="); ok {
					return v
				}
			}
		}
		missing = append(missing, name)
		return ""
	})
	if err == nil {
		err = checkValue(expanded)
	}
	if err != nil {
		return "", missing, err
	}
	return expanded, missing, nil
}

// expandAll is Expand for our own configuration, where nothing may be missing.
func expandAll(value string, allowed, environ []string) (string, error) {
	expanded, missing, err := Expand(value, allowed, environ)
	if err != nil {
		return "", err
	}
	if len(missing) == 0 {
		return expanded, nil
	}
	if !slices.Contains(allowed, missing[0]) {
		return "", fmt.Errorf("%w: $%.80s is not in allowed_env", ErrConfig, missing[0])
	}
	return "", fmt.Errorf("%w: the environment variable %.80s is not set", ErrConfig, missing[0])
}

// checkValue reports what keeps s from being a header's value, without s.
func checkValue(s string) error {
	if len(s) > maxHeaderValue {
		return fmt.Errorf("%w: the value has %d bytes, at most %d", ErrConfig, len(s), maxHeaderValue)
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\r' || c == '\n':
			return fmt.Errorf("%w: there is a line break in the value", ErrConfig)
		case c == '\t', c >= ' ' && c <= '~':
		default:
			return fmt.Errorf("%w: there is a character in the value that is not printable ASCII", ErrConfig)
		}
	}
	return nil
}

// headerNames returns the canonical forms of the names, in order, and refuses
// those that are not the configuration's to set.
func headerNames(headers map[string]string) (map[string]string, error) {
	var list []error
	canonical := make(map[string]string, len(headers))
	names := make([]string, 0, len(headers))
	for name := range headers {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		key := textproto.CanonicalMIMEHeaderKey(name)
		switch {
		case !token.MatchString(name):
			list = append(list, fmt.Errorf("%.80q is no name of a header", name))
		case reservedHeader(key):
			list = append(list, fmt.Errorf("%.80q is set by the request itself", name))
		case canonical[key] != "":
			list = append(list, fmt.Errorf("%.80q is there twice", name))
		default:
			canonical[key] = name
		}
	}
	return canonical, errors.Join(list...)
}

// reservedHeader names what frames or routes a request (RFC 9110, 7.6.1 and
// others), what describes its body, and what we promise about it.
func reservedHeader(canonical string) bool {
	for _, prefix := range []string{"Ce-", "Webhook-", "Proxy-", "Sec-"} {
		if strings.HasPrefix(canonical, prefix) {
			return true
		}
	}
	switch canonical {
	case "Host", "Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Http2-Settings",
		"Content-Length", "Content-Type", "Content-Encoding", "Content-Range", "Accept-Encoding", "Expect", "Range":
		return true
	}
	return false
}

// literalHeaders checks headers whose values are sent as they are.
func literalHeaders(headers map[string]string) (http.Header, error) {
	names, err := headerNames(headers)
	if err != nil {
		return nil, err
	}
	h := make(http.Header, len(names))
	for key, name := range names {
		if err := checkValue(headers[name]); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		h[key] = []string{headers[name]}
	}
	return h, nil
}
