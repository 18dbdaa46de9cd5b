// Package harness runs real controllers for tests: it builds the programs, starts
// ctld on a home of its own, and asks it by HTTP and by ctl. A peer that several
// packages of tests need, such as etcd, is started here, too.
package harness
