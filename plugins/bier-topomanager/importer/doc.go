// Package importer reads topologies that users write down, as YAML or JSON.
package importer
