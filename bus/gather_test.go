package bus

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// script is one decider in a gather without a bus: what it sends, when.
type script struct {
	entry hook.Entry
	sends []send
	// asks receives the time of each question when set.
	asks func(time.Duration)
}

type send struct {
	after time.Duration
	reply reply
}

func says(e hook.Effect) reply {
	return reply{kind: replyDecision, decision: hook.Decision{Effect: e, Reason: e.String()}, body: e.String()}
}

// play runs a gather in virtual time and returns its answers and how long it
// took.
func play(t *testing.T, limit time.Duration, scripts ...script) (answers []hook.Answer, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		replies := make(chan reply, 64)
		start := time.Now()
		var questions []question
		for i, s := range scripts {
			questions = append(questions, question{entry: s.entry, ask: func() error {
				if s.asks != nil {
					s.asks(time.Since(start))
				}
				for _, send := range s.sends {
					r := send.reply
					r.question = i
					time.AfterFunc(send.after, func() { replies <- r })
				}
				return nil
			}})
		}
		answers = gather(ctx, hook.Gate, questions, replies, make(chan error))
		took = time.Since(start)
	})
	return answers, took
}

func outcomes(answers []hook.Answer) []hook.Outcome {
	var list []hook.Outcome
	for _, a := range answers {
		list = append(list, a.Outcome)
	}
	return list
}

func TestGatherWaitsForExactlyThoseAsked(t *testing.T) {
	t.Parallel()
	answers, took := play(t, time.Minute,
		script{entry: hook.Entry{Name: "a"}, sends: []send{{3 * time.Second, says(hook.Allow)}}},
		script{entry: hook.Entry{Name: "b"}, sends: []send{{time.Second, says(hook.Abstain)}}})
	assert.Equal(t, []hook.Outcome{hook.Answered, hook.Answered}, outcomes(answers))
	assert.Equal(t, 3*time.Second, took)
	assert.Equal(t, time.Second, answers[1].Elapsed)
}

func TestGatherEndsAtADeny(t *testing.T) {
	t.Parallel()
	slow := script{entry: hook.Entry{Name: "slow"}, sends: []send{{30 * time.Second, says(hook.Halt)}}}
	deny := script{entry: hook.Entry{Name: "deny"}, sends: []send{{time.Second, says(hook.Deny)}}}
	answers, took := play(t, time.Minute, slow, deny)
	assert.Equal(t, []hook.Outcome{hook.Late, hook.Answered}, outcomes(answers))
	assert.Equal(t, time.Second, took)

	slow.entry.WaitAll = true
	answers, took = play(t, time.Minute, slow, deny)
	assert.Equal(t, []hook.Outcome{hook.Answered, hook.Answered}, outcomes(answers), "somebody whose answer is wanted in any case")
	assert.Equal(t, 30*time.Second, took)

	deny.entry.Shadow, slow.entry.WaitAll = true, false
	answers, took = play(t, time.Minute, slow, deny)
	assert.Equal(t, []hook.Outcome{hook.Answered, hook.Answered}, outcomes(answers), "a shadow's deny ends nothing")
	assert.Equal(t, 30*time.Second, took)
}

func TestGatherTimesOut(t *testing.T) {
	t.Parallel()
	answers, took := play(t, 10*time.Second,
		script{entry: hook.Entry{Name: "own", Timeout: hook.Duration(2 * time.Second), OnFailure: hook.FailAbstain}},
		script{entry: hook.Entry{Name: "whole"}})
	assert.Equal(t, []hook.Outcome{hook.TimedOut, hook.TimedOut}, outcomes(answers))
	assert.Equal(t, 2*time.Second, answers[0].Elapsed)
	assert.Equal(t, 10*time.Second, took)

	_, took = play(t, 10*time.Second,
		script{entry: hook.Entry{Name: "own", Timeout: hook.Duration(2 * time.Second)}},
		script{entry: hook.Entry{Name: "whole"}})
	assert.Equal(t, 2*time.Second, took, "a failure that counts as deny ends the gather as a deny does")
}

func TestGatherBeats(t *testing.T) {
	t.Parallel()
	working := reply{kind: replyWorking}
	person := script{entry: hook.Entry{Name: "person", Timeout: hook.Duration(3 * time.Second)}}
	for beat := BeatInterval; beat < 50*time.Second; beat += BeatInterval {
		person.sends = append(person.sends, send{beat, working})
	}
	alive := person
	alive.sends = append(alive.sends, send{50 * time.Second, says(hook.Allow)})
	answers, took := play(t, time.Minute, alive)
	assert.Equal(t, []hook.Outcome{hook.Answered}, outcomes(answers), "it may take as long as it says it is working")
	assert.Equal(t, 50*time.Second, took)

	answers, took = play(t, 2*time.Minute, person)
	assert.Equal(t, []hook.Outcome{hook.TimedOut}, outcomes(answers), "three missed beats are a failure")
	assert.Equal(t, 48*time.Second+missedBeats*BeatInterval, took)

	answers, _ = play(t, 20*time.Second, alive)
	assert.Equal(t, []hook.Outcome{hook.TimedOut}, outcomes(answers), "no beat moves the event's deadline")
}

func TestGatherAsksTheAbsentOnceMore(t *testing.T) {
	t.Parallel()
	absent := reply{kind: replyAbsent}
	var asks []time.Duration
	count := func(d time.Duration) { asks = append(asks, d) }
	answers, took := play(t, time.Minute, script{entry: hook.Entry{Name: "a"}, asks: count, sends: []send{{time.Millisecond, absent}}})
	assert.Equal(t, []hook.Outcome{hook.Absent}, outcomes(answers))
	assert.Equal(t, []time.Duration{0, time.Millisecond + retryAfter}, asks)
	assert.Equal(t, retryAfter+2*time.Millisecond, took)
}

func TestGatherTwoAnswersFromOneDecider(t *testing.T) {
	t.Parallel()
	keep := script{entry: hook.Entry{Name: "keep"}, sends: []send{{10 * time.Second, says(hook.Allow)}}}
	answers, _ := play(t, time.Minute, keep, script{entry: hook.Entry{Name: "twice"},
		sends: []send{{time.Second, says(hook.Allow)}, {2 * time.Second, says(hook.Allow)}}})
	assert.Equal(t, hook.Allow, answers[1].Decision.Effect, "the same again is the same")

	answers, took := play(t, time.Minute, keep, script{entry: hook.Entry{Name: "twice"},
		sends: []send{{time.Second, says(hook.Allow)}, {2 * time.Second, says(hook.Ask)}}})
	assert.Equal(t, hook.Deny, answers[1].Decision.Effect, "two different answers")
	assert.Equal(t, 2*time.Second, took)
}

func TestGatherFailuresOfTheBus(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		down := make(chan error, 1)
		time.AfterFunc(time.Second, func() { down <- ErrDisconnected })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		answers := gather(ctx, hook.Gate, []question{
			{entry: hook.Entry{Name: "a"}, ask: func() error { return nil }},
		}, make(chan reply), down)
		assert.Equal(t, []hook.Outcome{hook.Disconnected}, outcomes(answers))
		assert.Equal(t, time.Second, answers[0].Elapsed)
	})
	answers := gather(t.Context(), hook.Gate, []question{
		{entry: hook.Entry{Name: "a"}, ask: func() error { return errors.New("closed") }},
	}, nil, nil)
	assert.Equal(t, []hook.Outcome{hook.Disconnected}, outcomes(answers))
}

func TestGatherForbiddenRewrite(t *testing.T) {
	t.Parallel()
	r := says(hook.Allow)
	r.decision.Rewrite = []byte(`{}`)
	answers, _ := play(t, time.Minute, script{entry: hook.Entry{Name: "a"}, sends: []send{{0, r}}})
	assert.Equal(t, []hook.Outcome{hook.Forbidden}, outcomes(answers))
	answers, _ = play(t, time.Minute, script{entry: hook.Entry{Name: "a", Rewrites: true}, sends: []send{{0, r}}})
	assert.Equal(t, []hook.Outcome{hook.Answered}, outcomes(answers))
}
