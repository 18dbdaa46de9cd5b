// Package service reads the plugin's settings and makes the driver.
package service
