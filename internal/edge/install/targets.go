package install

import (
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/opencode"
)

// otherTargets are the agents whose settings are not JSON.
func otherTargets() []target {
	return []target{
		{
			agent: hookwire.Cline, format: scriptFormat{}, without: blocked,
			user: below("Documents", "Cline", "Hooks"), project: ".clinerules/hooks",
		},
		{
			agent: hookwire.KimiCode, format: tomlFormat{}, without: runs,
			user: below(".kimi-code", "config.toml"),
		},
		{
			agent: hookwire.OpenCode, format: pluginFormat{text: opencode.Plugin}, owned: true, without: blocked,
			user: belowOr("XDG_CONFIG_HOME", ".config", "opencode", "plugins", "grapnel.js"), project: ".opencode/plugins/grapnel.js",
		},
	}
}
