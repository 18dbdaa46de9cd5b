package review

import (
	"net/http"
	"time"
)

// cached is a page that was received before.
type cached struct {
	body     []byte
	etag     string
	modified string
	at       time.Time
}

const cacheBytes = 16 << 20

func (k *cached) ask(req *http.Request) {
	if k.etag != "" {
		req.Header.Set("If-None-Match", k.etag)
	}
	if k.modified != "" {
		req.Header.Set("If-Modified-Since", k.modified)
	}
}

func (c *Client) lookup(address string) *cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cache[address]
}

// store keeps a page. A full cache is emptied of its oldest pages.
func (c *Client) store(address string, h http.Header, body []byte) {
	k := &cached{body: body, etag: h.Get("ETag"), modified: h.Get("Last-Modified"), at: time.Now()}
	if int64(len(body)) > cacheBytes/4 || (c.o.Fresh <= 0 && k.etag == "" && k.modified == "") {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(address)
	c.cache[address] = k
	c.bytes += int64(len(body))
	for c.bytes > cacheBytes {
		oldest := address
		for a, other := range c.cache {
			if other.at.Before(c.cache[oldest].at) {
				oldest = a
			}
		}
		c.forget(oldest)
	}
}

func (c *Client) renew(address string, k *cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cache[address] == k {
		c.cache[address] = &cached{body: k.body, etag: k.etag, modified: k.modified, at: time.Now()}
	}
}

func (c *Client) forget(address string) {
	if k := c.cache[address]; k != nil {
		c.bytes -= int64(len(k.body))
		delete(c.cache, address)
	}
}
