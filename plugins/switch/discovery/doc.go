// Package discovery makes a network of what single switches report. It is the
// decision core: observations in, nodes, ports and edges out, no input or output.
//
// Assemble turns the tables of one switch into an Observation; Build joins the
// observations of all switches into a Network. Package survey fetches the
// observations, in parallel and over and over.
package discovery
