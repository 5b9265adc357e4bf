// Package pack installs hook packs: hooks of any dialect that somebody shares,
// with the programs that they run.
//
// # A pack
//
// A pack is a directory, or an archive of one (tar, tar.gz, zip), with a
// manifest, pack.json:
//
//	{
//	  "name": "no-secrets",
//	  "version": "1.2.0",
//	  "description": "keeps secrets out of commands",
//	  "license": "Apache-2.0",
//	  "homepage": "https://example.com/no-secrets",
//	  "requires": {"grapnel": ">=1.0.0"},
//	  "dialects": {"codemie": "hooks/codemie.json", "grapnel": "hooks/hooks.json"},
//	  "files": {
//	    "hooks/codemie.json": "(SHA-256, hexadecimal)",
//	    "hooks/hooks.json": "…",
//	    "bin/check.sh": "…"
//	  }
//	}
//
// "dialects" says which file is the configuration for which dialect, in that
// dialect's JSON. "files" has every file but pack.json itself; [Build] fills it
// in. A version is a semantic version, and what is in one never changes.
//
// In a configuration file ${GRAPNEL_PACK} stands for the directory that the pack
// is installed in; [Install] fills it in, so that it works in every dialect and
// wherever a path may stand:
//
//	{"hooks": [{"name": "check", "on": ["pre_tool_use.bash"],
//	            "command": ["${GRAPNEL_PACK}/bin/check.sh"], "files": ["${GRAPNEL_PACK}/bin/lib.sh"]}]}
//
// It is no environment variable. A relative program with a slash is relative to
// the top directory of the pack, in dialects that have argument vectors.
//
// # What is refused
//
// [Open] reads all of a pack once, into memory, and checks it; what is installed
// are the bytes that were checked. Packs are somebody else's word, so reading is
// strict: names are portable on every system (ASCII letters, digits and
// ._+@,=- in each element, no leading dot, none that Windows keeps for itself),
// and no two differ only by case; there are files and directories, and no
// links, devices, pipes or set-user-id programs; sizes, counts and what an
// archive decompresses to are limited ([MaxFiles] and so on); every file has
// the checksum that the manifest says, and none is missing or too many; every
// dialect reads its file and finds hooks there, and programs of the pack that
// these name are there. In a directory, .git at the top is passed over, and a
// file with several hard links is a file. A single directory around everything
// in an archive is taken off.
//
// Checksums say that a pack is whole. They say nothing about who made it.
//
// # Installing
//
// Packs lie below one directory, the root:
//
//	root/NAME                            -> .store/NAME-VERSION-DIGEST
//	root/.store/NAME-VERSION-DIGEST/...  the files of the pack, read-only
//	root/.store/.../hooks.DIALECT.json   its configuration, ${GRAPNEL_PACK} filled in
//	root/.lock
//
// There is one version of a pack at a time. Installing another one writes it
// beside the old one and then moves the link, which is one step: whoever reads
// finds one or the other, whole. Whatever a crash leaves is removed by the next
// change; nobody reads it. The files of the old version are gone when
// [Install] returns; a hook that runs at that moment keeps its own script and
// not the neighbours of that. An older version, or the same with other content,
// takes [Options.Force]. Nothing is fetched from anywhere, and nothing of a pack
// is run or interpreted here but by the dialects' readers.
//
// # Trust
//
// The hooks of packs have the source [trust.Downloaded]: none runs before a
// person has approved it, and none can loosen anything. [Files] are what a
// [dialect.Set] reads them from.
//
// An approval is for a dialect, a file and a hook's name, with a digest over the
// definition and the files that it runs. The file's path is the same for every
// version of a pack, and the paths of the programs are not, nor is what
// ${GRAPNEL_PACK} stands for. So after an upgrade each hook that uses a file of
// the pack counts as changed and is refused until it is approved again, even
// where its own bytes are the same: what lies beside it may not be. Hooks that
// are new need approval, and hooks that use no file of the pack and did not
// change stay approved. Going back to an older version asks again, too.
//
// What a program of a pack reads by itself is not measured; name it in the
// hook's "files". [Verify] tells whether anything of a pack was changed since it
// was installed.
//
// # Concurrency and retention
//
// All functions may be called concurrently, and by several processes for one
// root: changes wait for each other. A [Pack] holds the content of all its files.
package pack
