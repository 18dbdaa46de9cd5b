// Package syntax reads a line of the controller's shell: words with quotes and
// escapes, "|" between the stages of a pipeline, ";" or a line end between
// pipelines. It knows no commands; package engine does.
package syntax
