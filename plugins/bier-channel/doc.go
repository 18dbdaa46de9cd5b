// Command bier-channel is the plugin of multicast flows through BIER domains.
//
// Package channels decides and keeps, operations and shell serve. What routers
// must hold for it is package bier's, that they get it the plugin bier-service's.
package main
