package snmp

import (
	"sync"
	"time"

	"github.com/gosnmp/gosnmp"
)

// learned is what is remembered of one agent.
type learned struct {
	busy chan struct{} // a token for each request under way

	mu       sync.Mutex
	speaks   string // version that was answered
	rows     int    // max-repetitions that work; 0 = not limited yet
	clean    int    // walks' requests since the last lowering
	noBulk   bool   // GETBULK fails: use GETNEXT
	columns  int    // most columns in one request; 0 = not limited yet
	security *gosnmp.UsmSecurityParameters
	forgot   time.Time // when security was dropped last
	probed   time.Time // when an answer from another address was looked for last
}

// recover is how many good answers it takes to ask for more again.
const recovery = 64

func (l *learned) version() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.speaks
}

// noteAnswer notes the version of an answer, and of version 3 the engine that gave it.
func (l *learned) noteAnswer(version string, security gosnmp.SnmpV3SecurityParameters) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.speaks = version
	sp, ok := security.(*gosnmp.UsmSecurityParameters)
	if ok && l.security == nil {
		l.security, _ = sp.Copy().(*gosnmp.UsmSecurityParameters)
	}
}

// requestShape says how many columns and rows to ask for when n columns are wanted.
func (l *learned) requestShape(n, varBinds int) (columns, rows int, bulk bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	columns = min(n, maxColumns)
	if l.columns > 0 {
		columns = min(columns, l.columns)
	}
	rows = max(1, varBinds/columns)
	if l.rows > 0 {
		rows = min(rows, l.rows)
	}
	return columns, rows, !l.noBulk && rows > 1
}

// countAnswer counts an answer; after many the limit is raised.
func (l *learned) countAnswer() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.clean++; l.clean >= recovery && l.rows > 0 {
		l.rows, l.clean = l.rows*2, 0
		if l.rows > 256 {
			l.rows = 0
		}
	}
}

// lowerLimits reacts to an answer that was too big or did not come: fewer rows, then
// fewer columns. It returns false when there is nothing left to lower.
func (l *learned) lowerLimits(columns, rows, by int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clean = 0
	switch {
	case rows > 1:
		l.rows = max(1, rows/by)
	case columns > 1:
		l.columns = max(1, columns/by)
	default:
		return false
	}
	return true
}

func (l *learned) giveUpBulk() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noBulk = true
}
