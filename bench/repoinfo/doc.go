// Command repoinfo measures the repository-information plugin against git
// itself on one repository, and prints a table. README.md says how to run it.
package main
