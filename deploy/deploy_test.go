package deploy_test

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"

	"github.com/grapnel-dev/grapnel/bus/natsd"
)

// service is what these tests look at of a service in docker-compose.yml.
type service struct {
	Image string
	Build struct {
		Context    string
		Dockerfile string
	}
	Command     []string
	Environment map[string]string
	Volumes     []string
	Ports       []string
	NetworkMode string   `yaml:"network_mode"`
	ReadOnly    bool     `yaml:"read_only"`
	CapDrop     []string `yaml:"cap_drop"`
	SecurityOpt []string `yaml:"security_opt"`
	DependsOn   []string `yaml:"depends_on"`
	Privileged  bool
}

type compose struct {
	Services map[string]service
	Volumes  map[string]any
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.FromSlash(path))
	require.NoError(t, err)
	return string(b)
}

func load(t *testing.T) compose {
	t.Helper()
	var c compose
	require.NoError(t, yaml.Unmarshal([]byte(read(t, "../docker-compose.yml")), &c))
	require.Len(t, c.Services, 2, "one NATS server and one grapnel")
	require.Contains(t, c.Services, "nats")
	require.Contains(t, c.Services, "grapnel")
	return c
}

func TestComposePublishesOnLoopbackAlone(t *testing.T) {
	t.Parallel()
	for name, s := range load(t).Services {
		for _, port := range s.Ports {
			host, _, err := net.SplitHostPort(port[:strings.LastIndex(port, ":")])
			require.NoError(t, err, port)
			assert.Equal(t, "127.0.0.1", host, "%s publishes %s", name, port)
		}
		assert.NotEqual(t, "host", s.NetworkMode, name)
		assert.False(t, s.Privileged, name)
		assert.True(t, s.ReadOnly, name)
		assert.Equal(t, []string{"ALL"}, s.CapDrop, name)
		assert.Contains(t, s.SecurityOpt, "no-new-privileges:true", name)
	}
}

func TestComposeMountsWhatThereIs(t *testing.T) {
	t.Parallel()
	c := load(t)
	for name, s := range c.Services {
		for _, volume := range s.Volumes {
			source, _, ok := strings.Cut(volume, ":")
			require.True(t, ok, volume)
			if strings.HasPrefix(source, ".") {
				assert.DirExists(t, filepath.Join("..", filepath.FromSlash(source)), name)
				assert.True(t, strings.HasSuffix(volume, ":ro"), "%s: %s is the repository's, and only read", name, volume)
			} else {
				assert.Contains(t, c.Volumes, source, name)
			}
		}
		for _, other := range s.DependsOn {
			assert.Contains(t, c.Services, other)
		}
		if s.Build.Dockerfile != "" {
			assert.FileExists(t, filepath.Join("..", s.Build.Context, filepath.FromSlash(s.Build.Dockerfile)), name)
		}
	}
	nats := c.Services["nats"]
	require.Equal(t, []string{"-c", "/etc/grapnel/grapnel.conf"}, nats.Command)
	assert.Contains(t, nats.Volumes, "./deploy/nats:/etc/grapnel:ro")
	assert.FileExists(t, "nats/grapnel.conf")
}

func TestComposeSetsEveryVariable(t *testing.T) {
	t.Parallel()
	c := load(t)
	example := read(t, "env.example")
	for _, role := range natsd.Roles() {
		name := "GRAPNEL_" + strings.ToUpper(string(role)) + "_PASSWORD"
		for _, s := range c.Services {
			assert.Contains(t, s.Environment, name)
		}
		assert.Contains(t, c.Services["nats"].Environment[name], ":?", "an empty password must not start the server")
		assert.Regexp(t, "(?m)^"+name+"=$", example)
	}
	// What the server's configuration reads is set.
	for _, file := range []string{"nats/grapnel.conf", "nats/accounts.conf"} {
		for line := range strings.SplitSeq(read(t, file), "\n") {
			text, _, _ := strings.Cut(line, "#")
			for _, variable := range regexp.MustCompile(`\$(GRAPNEL_[A-Z_]+)`).FindAllStringSubmatch(text, -1) {
				assert.Contains(t, c.Services["nats"].Environment, variable[1], file)
			}
		}
	}
}

func TestComposeRunsOneVersionOfTheServer(t *testing.T) {
	t.Parallel()
	mod, err := modfile.Parse("go.mod", []byte(read(t, "../go.mod")), nil)
	require.NoError(t, err)
	i := slices.IndexFunc(mod.Require, func(r *modfile.Require) bool { return r.Mod.Path == "github.com/nats-io/nats-server/v2" })
	require.GreaterOrEqual(t, i, 0)
	assert.Equal(t, "nats:"+strings.TrimPrefix(mod.Require[i].Mod.Version, "v")+"-alpine", load(t).Services["nats"].Image)
}

func TestComposeReachesTheServer(t *testing.T) { // not parallel: it sets variables
	c := load(t)
	grapnel := c.Services["grapnel"]
	require.Equal(t, "service:nats", grapnel.NetworkMode)
	require.Len(t, grapnel.Command, 3)
	assert.Equal(t, []string{"up", "--nats"}, grapnel.Command[:2])

	for _, role := range natsd.Roles() {
		t.Setenv("GRAPNEL_"+strings.ToUpper(string(role))+"_PASSWORD", "p-"+string(role))
	}
	t.Setenv("GRAPNEL_NATS_STORE", t.TempDir())
	o, err := server.ProcessConfigFile("nats/grapnel.conf")
	require.NoError(t, err)
	assert.Equal(t, "nats://127.0.0.1:4222", grapnel.Command[2])
	assert.Equal(t, 4222, o.Port)
	assert.Contains(t, c.Services["nats"].Ports, "127.0.0.1:4222:4222")
}

func TestCommandIsOneThatThereIs(t *testing.T) {
	t.Parallel()
	up := read(t, "../cmd/grapnel/up.go")
	assert.Regexp(t, `Use:\s+"up"`, up)
	assert.Contains(t, up, `"nats"`)
}

func TestImageRunsAsNobodyAndIsStatic(t *testing.T) {
	t.Parallel()
	text := read(t, "Dockerfile")
	stages := regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(text, -1)
	require.Len(t, stages, 2)
	assert.Equal(t, "scratch", stages[1][1])
	mod, err := modfile.Parse("go.mod", []byte(read(t, "../go.mod")), nil)
	require.NoError(t, err)
	assert.Equal(t, "golang:"+strings.TrimSuffix(mod.Go.Version, ".0"), stages[0][1], "the builder has the Go of go.mod")
	final := text[strings.LastIndex(text, "FROM"):]
	assert.Regexp(t, `(?m)^USER [1-9]\d+:[1-9]\d+$`, final)
	assert.Contains(t, text, "CGO_ENABLED=0")
	for _, source := range regexp.MustCompile(`(?m)^COPY ([A-Za-z]\S*(?: [A-Za-z]\S*)*) \S+$`).FindAllStringSubmatch(text, -1) {
		for name := range strings.SplitSeq(source[1], " ") {
			assert.FileExists(t, filepath.Join("..", name))
		}
	}
	for _, binary := range []string{"grapnel", "grapnel-hook"} {
		assert.Contains(t, final, "/out/"+binary+" ")
		assert.DirExists(t, filepath.Join("..", "cmd", binary))
	}
}
