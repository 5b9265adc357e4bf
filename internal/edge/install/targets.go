package install

import "github.com/grapnel-dev/grapnel/internal/edge/hookwire"

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
	}
}
