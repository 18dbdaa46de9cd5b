package web

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/caller"
)

// The bounds of what a user keeps: bytes of one topology's places, and topologies.
const (
	maxPlaces     = 256 << 10
	maxTopologies = 64
	namespace     = "web"
)

// place is where a user has put a node of the map, by the id of the node.
type place struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// servePlaces is /web/places/{topology}: where its user has put the nodes of a map. GET answers an empty object when there
// is nothing.
func (o Options) servePlaces(w http.ResponseWriter, r *http.Request) {
	who, _ := caller.From(r.Context())
	if who.User == "" {
		http.Error(w, "this needs a login", http.StatusUnauthorized)
		return
	}
	mine := "places/" + who.User + "@" + who.Domain + "/"
	key := mine + r.PathValue("topology")
	if r.Method == http.MethodGet {
		value, err := o.loadPlaces(r.Context(), key)
		answerValue(w, value, err)
		return
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPlaces))
	if err != nil {
		http.Error(
			w,
			"the places of one topology have at most 256 KiB: "+err.Error(),
			http.StatusRequestEntityTooLarge,
		)
		return
	}
	var all map[string]place
	if err := json.Unmarshal(text, &all); err != nil {
		http.Error(
			w,
			`the body is not of the form {"NODE": {"x": 1, "y": 2}}: `+err.Error(),
			http.StatusBadRequest,
		)
		return
	}
	answerValue(w, nil, o.storePlaces(r.Context(), mine, key, all))
}

// Forget returns the writes that remove what is kept for a user, NAME@DOMAIN.
func Forget(user string) []datastore.Op {
	return []datastore.Op{datastore.DeletePrefix(namespace, "places/"+user+"/")}
}

var errTooMany = errors.New("positions of at most 64 topologies are stored: put {} for one that is no longer used")

func answerValue(w http.ResponseWriter, value []byte, err error) {
	switch {
	case errors.Is(err, errTooMany):
		http.Error(w, err.Error(), http.StatusConflict)
	case err != nil:
		http.Error(w, "the datastore does not answer: "+err.Error(), http.StatusServiceUnavailable)
	case value == nil:
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(value)
	}
}

func (o Options) loadPlaces(ctx context.Context, key string) ([]byte, error) {
	e, err := datastore.Get(ctx, o.Store, namespace, key)
	if errors.Is(err, datastore.ErrNotFound) {
		return []byte("{}"), nil
	}
	return e.Value, err
}

func (o Options) storePlaces(ctx context.Context, mine, key string, all map[string]place) error {
	op := datastore.Delete(namespace, key)
	if len(all) > 0 {
		value, err := json.Marshal(all)
		if err != nil {
			return err
		}
		op = datastore.Put(namespace, key, value)
		others := 0
		if err := o.Store.View(ctx, func(sn datastore.Snapshot) error {
			for e, err := range sn.Range(namespace, datastore.RangeOptions{Prefix: mine}) {
				if err != nil {
					return err
				}
				if e.Key != key {
					others++
				}
			}
			return nil
		}); err != nil {
			return err
		}
		if others >= maxTopologies {
			return errTooMany
		}
	}
	_, err := o.Store.Commit(ctx, datastore.Txn{Ops: []datastore.Op{op}})
	return err
}
