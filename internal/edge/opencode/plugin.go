package opencode

import (
	"bytes"
	_ "embed" // holds the plugin
	"encoding/json"
)

//go:embed plugin.js
var plugin []byte

// Plugin returns the plugin's file with the command line of the hook program in
// it; to this the plugin adds the event's name. It is run as it stands, without
// a shell. A command line without a program throws where something is decided
// on.
func Plugin(command []string) []byte {
	if command == nil {
		command = []string{}
	}
	line, err := json.Marshal(command) // ASCII but for text in strings, with <, > and line separators escaped
	if err != nil {
		panic(err) // strings always have a JSON form
	}
	return bytes.Replace(plugin, []byte("= COMMAND //"), append(append([]byte("= "), line...), " //"...), 1)
}
