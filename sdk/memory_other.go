//go:build !linux

package sdk

func closeMemory() {}

func releasePages() {}
