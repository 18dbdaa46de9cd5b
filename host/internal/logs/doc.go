// Package logs is the controller's standard log: JSON lines in log/ctl.log with
// rotation, levels per logger name that change at run time, and the newest
// records in memory for log:display and log:tail. Metrics are not here: see the
// admin listener in package server.
package logs
