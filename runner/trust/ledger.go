package trust

import (
	"encoding/json"
	"fmt"

	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// MaxApprovals is how many approvals a store keeps.
const MaxApprovals = 10_000

// maxStore is how large the file of approvals may be, in bytes.
const maxStore = 64 << 20

// storeVersion is the version of the file's format.
const storeVersion = 1

// ledger is what the file of approvals says.
type ledger struct {
	Version   int        `json:"version"`
	Approvals []Approval `json:"approvals"`
}

// parseLedger reads a file of approvals. One that is not exactly as this package
// writes it is refused whole.
func parseLedger(b []byte) (map[hookKey]*Approval, *ledger, error) {
	var l ledger
	if err := strictjson.Unmarshal(b, &l, maxStore); err != nil {
		return nil, nil, err
	}
	if l.Version != storeVersion {
		return nil, nil, fmt.Errorf("version %d is unknown to this program", l.Version)
	}
	if len(l.Approvals) > MaxApprovals {
		return nil, nil, fmt.Errorf("there are more than %d approvals", MaxApprovals)
	}
	index := make(map[hookKey]*Approval, len(l.Approvals))
	for i := range l.Approvals {
		a := &l.Approvals[i]
		if err := a.check(); err != nil {
			return nil, nil, err
		}
		if index[a.key()] != nil {
			return nil, nil, fmt.Errorf("there are two approvals of %.100q", a.ID)
		}
		index[a.key()] = a
	}
	return index, &l, nil
}

func (l *ledger) encode() ([]byte, error) {
	l.Version = storeVersion
	if l.Approvals == nil {
		l.Approvals = []Approval{}
	}
	b, err := json.MarshalIndent(l, "", "\t")
	if err == nil && len(b) >= maxStore {
		err = fmt.Errorf("%w: the file would have more than %d bytes; remove approvals that are not needed", ErrFull, maxStore)
	}
	return append(b, '\n'), err
}
