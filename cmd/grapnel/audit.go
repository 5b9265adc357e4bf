package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"

	"github.com/grapnel-dev/grapnel/subscribers/audit"
)

func (a *app) auditCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "audit",
		Short: "The record: list, show, search, verify, prove, export",
		Long:  "The record of what was asked and decided on this node. All of it but redact reads\nthe log's files, whether the bus runs or not.",
	}
	c.AddCommand(a.auditListCommand(), a.auditSearchCommand(), a.auditShowCommand(), a.auditStatsCommand(),
		a.auditVerifyCommand(), a.auditProveCommand(), a.auditCheckProofCommand(), a.auditExportCommand(),
		a.auditRedactCommand(), a.auditKeyCommand())
	return c
}

func (a *app) openAudit() (*audit.Reader, error) {
	r, err := audit.OpenReader(a.paths.auditDir())
	if err != nil {
		return nil, fail(exitFailed, "is this the right --state?", fmt.Errorf("audit log: %w", err))
	}
	return r, nil
}

// verifier is the key that checkpoints are checked with: the one given, or this
// node's own.
func (a *app) verifier(given string) (note.Verifier, error) {
	if given == "" {
		if !exists(a.paths.nodeKey()) {
			return nil, fail(exitUsage, "give the log's public key with --key; `grapnel audit key` prints it", fmt.Errorf("there is no key in %s", a.paths.state))
		}
		k, err := audit.LoadKey(a.paths.nodeKey(), "unused")
		if err != nil {
			return nil, err
		}
		return k.Verifier(), nil
	}
	if text, err := os.ReadFile(given); err == nil {
		given = string(text)
	}
	v, err := note.NewVerifier(strings.TrimSpace(given))
	if err != nil {
		return nil, fail(exitUsage, "it looks like name+1234abcd+AbC…; `grapnel audit key` prints it", fmt.Errorf("key: %w", err))
	}
	return v, nil
}

func (a *app) auditKeyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "key", Short: "Print the public key that verifies this node's log", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			k, err := audit.LoadKey(a.paths.nodeKey(), "unused")
			if err != nil {
				return err
			}
			fmt.Fprintln(a.out, k.VerifierKey())
			return nil
		},
	}
}

func (a *app) auditVerifyCommand() *cobra.Command {
	var checkpoint, key string
	var since int64
	c := &cobra.Command{
		Use:   "verify",
		Short: "Check every record against the signed checkpoints",
		Long: `Check every record, payload and checkpoint of the log. Exits with 3 when something
was changed, and says which record is the first. Without --checkpoint, a
checkpoint that was kept elsewhere, a log cannot be told from another one that
whoever has its key wrote in its place.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			v, err := a.verifier(key)
			if err != nil {
				return err
			}
			o := &audit.VerifyOptions{Since: since}
			if checkpoint != "" {
				if o.Checkpoint, err = os.ReadFile(checkpoint); err != nil {
					return fail(exitUsage, "", err)
				}
			}
			begin := time.Now()
			r, err := audit.Verify(c.Context(), a.paths.auditDir(), v, o)
			if errors.Is(err, audit.ErrCheckpoint) {
				return fail(exitFound, "the log is not the one that the checkpoint was made of, or the checkpoint is no good", err)
			}
			if err != nil {
				return err
			}
			return a.reportVerify(r, time.Since(begin))
		},
	}
	c.Flags().StringVar(&checkpoint, "checkpoint", "", "`file` with a signed checkpoint that was kept elsewhere")
	c.Flags().StringVar(&key, "key", "", "public `key` or file with it; by default this node's own")
	c.Flags().Int64Var(&since, "since", 0, "leave out the content of what lies before this `index`")
	return c
}

func (a *app) reportVerify(r audit.Result, took time.Duration) error {
	if a.json {
		if err := a.printJSON(r); err != nil {
			return err
		}
	} else {
		word := "verified"
		if !r.OK() {
			word = "TAMPERED: " + r.Bad.String()
		}
		fmt.Fprintf(a.out, "%s\n%d records (%d redacted), %d checkpoints, %d records covered, in %s\n",
			word, r.Records, r.Redacted, r.Checkpoints, r.Covered, took.Round(time.Millisecond))
		if r.OK() && !r.Anchored {
			fmt.Fprintln(a.out, "not anchored: no outside checkpoint was given (--checkpoint)")
		}
	}
	if !r.OK() {
		return silent(exitFound)
	}
	return nil
}

func (a *app) auditProveCommand() *cobra.Command {
	output := ""
	c := &cobra.Command{
		Use:   "prove INDEX",
		Short: "Write a proof that a record is in the log",
		Long:  "Write a proof that a record is in the log, which `audit check-proof` checks with\nnothing but the log's public key.",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			index, err := parseIndex(args[0])
			if err != nil {
				return err
			}
			r, err := a.openAudit()
			if err != nil {
				return err
			}
			defer func() { _ = r.Close() }()
			proof, err := r.Prove(c.Context(), index)
			if errors.Is(err, audit.ErrNotCovered) {
				return fail(exitFailed, "try again in a second", err)
			}
			if err != nil {
				return err
			}
			if output == "" {
				_, err = a.out.Write(proof)
				return err
			}
			return os.WriteFile(output, proof, 0o644)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "`file` to write to")
	return c
}

func (a *app) auditCheckProofCommand() *cobra.Command {
	key := ""
	c := &cobra.Command{
		Use: "check-proof FILE", Short: "Check a proof, with no log at hand", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			v, err := a.verifier(key)
			if err != nil {
				return err
			}
			var proof []byte
			if args[0] == "-" {
				proof, err = io.ReadAll(io.LimitReader(a.in, 1<<20))
			} else {
				proof, err = os.ReadFile(args[0])
			}
			if err != nil {
				return fail(exitUsage, "", err)
			}
			p, err := audit.CheckProof(proof, v)
			if err != nil {
				return fail(exitFound, "the record is not in the log of this key, or the proof is damaged", err)
			}
			if a.json {
				return a.printJSON(p.Envelope)
			}
			fmt.Fprintf(a.out, "proven: record %d of log %s, logged %s\n", p.Index, p.Checkpoint.Origin, p.Logged.Format(time.RFC3339))
			a.printEnvelope(p.Envelope)
			return nil
		},
	}
	c.Flags().StringVar(&key, "key", "", "public `key` or file with it; by default this node's own")
	return c
}

func (a *app) auditRedactCommand() *cobra.Command {
	reason := ""
	c := &cobra.Command{
		Use:   "redact INDEX",
		Short: "Delete a record's content for ever; every proof stays good",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			index, err := parseIndex(args[0])
			if err != nil {
				return err
			}
			if reason == "" {
				return fail(exitUsage, "say why with --reason; it goes on record", errors.New("there is no reason"))
			}
			at, err := a.redact(c.Context(), index, reason)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "record %d redacted; record %d says so\n", index, at)
			return nil
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for the record")
	return c
}

// redaction is the request to a running daemon, which holds the log.
type redaction struct {
	Index  int64  `json:"index"`
	By     string `json:"by"`
	Reason string `json:"reason"`
}

func (a *app) redact(ctx context.Context, index int64, reason string) (int64, error) {
	by := "uid " + strconv.Itoa(os.Getuid())
	if u, err := user.Current(); err == nil {
		by = u.Username
	}
	var at int64
	err := a.ask(ctx, verbRedact, mustJSON(redaction{index, by, reason}), &at)
	var f *failure
	if !errors.As(err, &f) || f.code != exitUnreachable {
		return at, err
	}
	key, err := audit.LoadKey(a.paths.nodeKey(), "unused")
	if err != nil {
		return 0, err
	}
	log, err := audit.Open(a.paths.auditDir(), key, nil)
	if err != nil {
		return 0, err
	}
	at, err = log.Redact(ctx, index, by, reason)
	return at, errors.Join(err, log.Close())
}

func parseIndex(text string) (int64, error) {
	index, err := strconv.ParseInt(text, 10, 64)
	if err != nil || index < 0 {
		return 0, fail(exitUsage, "`grapnel audit list` shows them", fmt.Errorf("%.40q is no record's index", text))
	}
	return index, nil
}
