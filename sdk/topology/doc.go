// Package topology is the capability of being a source of network topology: nodes,
// termination points and links, as the module network-topology has them.
//
// A source keeps its view in a Publisher, which turns each new view into the
// changes that watchers need. The host mirrors every source into the operational
// tree network-topology; other plugins watch a source through the Switchboard.
package topology
