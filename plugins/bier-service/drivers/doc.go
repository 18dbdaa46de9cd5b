// Package drivers is the adapter: which plugins configure routers, which of them
// is for a router, and what they tell of their routers.
package drivers
