// Package together lets one question serve all who ask the same at the same time.
// What was answered before is not kept: that is for caches.
package together
