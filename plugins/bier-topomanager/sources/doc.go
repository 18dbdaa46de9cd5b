// Package sources follows all who tell of topologies: plugins with the capability
// topology, and imports. Of several that tell of the same one the union counts.
package sources
