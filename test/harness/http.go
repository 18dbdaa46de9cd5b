package harness

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Answer is what a request got.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// JSON is the body, which must be a JSON object.
func (a Answer) JSON(t *testing.T) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(a.Body), &v); err != nil {
		t.Fatalf("not JSON: %q", a.Body)
	}
	return v
}

// Do makes a request, which must be answered. auth is "user:password", "Bearer
// TOKEN" or empty; a body is JSON.
func (c *Controller) Do(method, path, auth, body string) Answer {
	c.t.Helper()
	req, err := c.newRequest(method, path, auth, body)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.Send(req)
}

func (c *Controller) newRequest(method, path, auth, body string) (*http.Request, error) {
	req, err := http.NewRequest(method, c.HTTP+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if user, password, ok := strings.Cut(auth, ":"); ok {
		req.SetBasicAuth(user, password)
	} else if auth != "" {
		req.Header.Set("Authorization", auth)
	}
	return req, nil
}

// Send sends a request, which must be answered.
func (c *Controller) Send(req *http.Request) Answer {
	c.t.Helper()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return Answer{res.StatusCode, res.Header, string(b)}
}

// Get asks for a path with Basic credentials and returns the status and the body.
func (c *Controller) Get(path, user, password string) (status int, body string, err error) {
	return c.sendRequest(http.MethodGet, path, user+":"+password, "")
}

// Call calls an RPC as admin with a JSON body and returns the status and the answer.
func (c *Controller) Call(rpc, body string) (status int, answer string, err error) {
	return c.sendRequest(http.MethodPost, "/restconf/operations/"+rpc, "admin:admin", body)
}

func (c *Controller) sendRequest(
	method, path, auth, content string,
) (status int, body string, err error) {
	r, err := c.newRequest(method, path, auth, content)
	if err != nil {
		return 0, "", err
	}
	r.Close = true // a controller that is started again has no connection of before
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	return answer.StatusCode, string(b), err
}
