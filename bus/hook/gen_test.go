package hook_test

import (
	"time"

	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// The generators of this package's property tests.

func anyClass() *rapid.Generator[hook.Class] {
	return rapid.SampledFrom([]hook.Class{hook.Notify, hook.Lifecycle, hook.Gate})
}

func anyEffect() *rapid.Generator[hook.Effect] { return rapid.SampledFrom(hook.Effects()) }

func anyPolicy() *rapid.Generator[hook.FailurePolicy] {
	return rapid.SampledFrom([]hook.FailurePolicy{hook.FailDefault, hook.FailDeny, hook.FailAsk, hook.FailAbstain})
}

// failures are the outcomes on which the failure policy counts, among them one
// that does not exist.
func failures() []hook.Outcome {
	return []hook.Outcome{hook.Absent, hook.TimedOut, hook.Malformed, hook.Disconnected, hook.Crashed, hook.Forbidden, "", "surprise"}
}

func anyOutcome() *rapid.Generator[hook.Outcome] {
	return rapid.SampledFrom(append(failures(), hook.Answered, hook.Answered, hook.Answered, hook.Late))
}

// anyAnswer draws from few names and texts, so that answers that differ in one
// field only are common.
func anyAnswer() *rapid.Generator[hook.Answer] {
	return rapid.Custom(func(t *rapid.T) hook.Answer {
		text := rapid.SampledFrom([]string{"", "a", "b"})
		return hook.Answer{
			Entry: hook.Entry{
				Name:      rapid.SampledFrom([]string{"ann", "bob", "cyd"}).Draw(t, "name"),
				Priority:  rapid.IntRange(-1, 1).Draw(t, "priority"),
				OnFailure: anyPolicy().Draw(t, "on_failure"),
				Grants:    rapid.Bool().Draw(t, "grants"),
				Shadow:    rapid.Bool().Draw(t, "shadow"),
			},
			Outcome: anyOutcome().Draw(t, "outcome"),
			Decision: hook.Decision{
				Effect: anyEffect().Draw(t, "effect"), Reason: text.Draw(t, "reason"), Context: text.Draw(t, "context"),
				Rules: rapid.SliceOfN(text, 0, 2).Draw(t, "rules"),
			},
			Err:     text.Draw(t, "err"),
			Rewrote: rapid.Bool().Draw(t, "rewrote"),
			Elapsed: time.Duration(rapid.IntRange(0, 3).Draw(t, "elapsed")) * time.Millisecond,
		}
	})
}

func anyAnswers() *rapid.Generator[[]hook.Answer] { return rapid.SliceOfN(anyAnswer(), 0, 6) }

// anyName draws tool names as agents have them, and as nobody should.
func anyName() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"", "_", "Bash", "bash", "BASH", "mcp__demo__echo", "a.b", "a b", "*", ">", "hooks.>", "x_", "x_aaaaaaaaaaaaaaaa",
			"X_AAAAAAAAAAAAAAAA", "x_aaaaaaaaaaaaaaa1", "bash\x00", "bash\r\n", "bäsh", "\u212aill", "ﬁle", "🪝", "\xff\xfe",
		}),
		rapid.StringMatching(`[a-zA-Z0-9_-]{1,70}`),
		rapid.StringMatching(`[xX]_[a-zA-Z2-7]{16}`),
		rapid.String(),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
}
