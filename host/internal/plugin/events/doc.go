// Package events is the controller's event bus: streams of JSON events that plugins
// and rooms of the host publish, for RESTCONF streams, other plugins and the
// console. A publisher never waits; a subscriber that is too slow loses the oldest
// events and is told how many. What must not be lost belongs in the datastore,
// whose watches can be resumed.
package events
