//go:build !linux

package process

// The controller keeps its plugins by process groups, Pdeathsig and /proc, so it
// runs on Linux. Plugins build elsewhere too.
var _ = the_controller_runs_on_Linux_only
