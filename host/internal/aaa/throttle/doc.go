// Package throttle slows down whoever guesses passwords: failures are counted
// per user and per source address, answered later and later, and finally refused
// for a while. Attempts under way count as what they may become, so they wait for each
// other where too many are; waiting for a delay, and answering, is package authn's.
package throttle
