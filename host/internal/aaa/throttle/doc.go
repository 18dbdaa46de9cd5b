// Package throttle slows down whoever guesses passwords: failures are counted
// per user and per source address, answered later and later, and finally refused
// for a while. It decides only; waiting and answering is package authn's.
package throttle
