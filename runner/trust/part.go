package trust

// Role says what a measured part is for.
type Role string

// The roles.
const (
	// RoleDefinition is the hook's definition itself; its path is the file of
	// configuration.
	RoleDefinition Role = "definition"
	// RoleProgram is a binary that the hook names.
	RoleProgram Role = "program"
	// RoleInterpreter is what a script's #! line names.
	RoleInterpreter Role = "interpreter"
	// RoleScript is a file that an interpreter runs.
	RoleScript Role = "script"
	// RoleArgument is a file of the workspace that is named as an argument.
	RoleArgument Role = "argument"
	// RoleFile is a file that the definition declares.
	RoleFile Role = "file"
	// RoleMissing is a command or script that is not there. It stays missing
	// for the run, whatever appears under its name.
	RoleMissing Role = "missing"
)

// Part is one thing that was measured.
type Part struct {
	Role Role `json:"role"`
	// Name is how the hook names it.
	Name string `json:"name"`
	// Path is the real path, with symbolic links resolved.
	Path string `json:"path,omitempty"`
	// Size is in bytes.
	Size int64 `json:"size"`
	// SHA256 is of its bytes.
	SHA256 Digest `json:"sha256"`
}

func (p Part) encode(e encoder) {
	for _, s := range []string{string(p.Role), p.Name, p.Path} {
		e.text(s)
	}
	e.number(uint64(p.Size))
	_, _ = e.Write(p.SHA256[:])
}
