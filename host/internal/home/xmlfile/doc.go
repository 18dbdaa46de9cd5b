// Package xmlfile reads settings files of the initial datastore, XML with a known
// root, and changes single elements of them so that comments stay. What the elements
// mean is known where they are used; etc/ctl.yaml is read by package home itself.
package xmlfile
