package idm

import (
	"context"
	"net/http"
	"net/url"

	"ctl.internal/host/internal/aaa/identity"
)

// kind is what can be listed, made, read, changed and removed below /auth/v1.
type kind[T interface{ ID() string }] struct {
	plural  string   // its name in addresses, and the member of lists
	members []string // of a body

	list   func(context.Context, identity.Page) ([]T, error)
	get    func(ctx context.Context, id string) (T, error)
	remove func(ctx context.Context, id string) error
	// create and update read a body; what they return is done when the body has no faults.
	create func(*object) (T, func(context.Context) error)
	update func(o *object, id string) func(context.Context) (T, error)
	show   func(T) any
}

// kindRoutes are the addresses of a kind.
func (k kind[T]) kindRoutes() []route {
	return []route{
		{[]string{"auth", "v1", k.plural}, map[string]endpoint{
			"GET":  k.readList,
			"POST": k.readNew,
		}},
		{[]string{"auth", "v1", k.plural, ""}, map[string]endpoint{
			"GET": k.readOne,
			"PUT": k.changeOne,
			"DELETE": func(_ http.ResponseWriter, r *http.Request, id []string) (int, any, error) {
				return http.StatusNoContent, nil, k.remove(r.Context(), id[0])
			},
		}},
	}
}

func (k kind[T]) readList(w http.ResponseWriter, r *http.Request, _ []string) (int, any, error) {
	p, err := parsePage(r)
	if err != nil {
		return 0, nil, err
	}
	list, err := k.list(r.Context(), withOneMore(p))
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, k.showAll(linkNextPage(w, r, p, list)), nil
}

func (k kind[T]) showAll(list []T) map[string][]any {
	out := make([]any, len(list))
	for i, t := range list {
		out[i] = k.show(t)
	}
	return map[string][]any{k.plural: out}
}

func (k kind[T]) readOne(_ http.ResponseWriter, r *http.Request, id []string) (int, any, error) {
	t, err := k.get(r.Context(), id[0])
	return http.StatusOK, k.show(t), err
}

func (k kind[T]) readNew(w http.ResponseWriter, r *http.Request, _ []string) (int, any, error) {
	o, err := readJSONObject(r, k.members...)
	if err != nil {
		return 0, nil, err
	}
	t, create := k.create(o)
	o.checkComputed(k.members[0], t.ID())
	if err := o.faults.Err(); err != nil {
		return 0, nil, err
	}
	if err := create(r.Context()); err != nil {
		return 0, nil, err
	}
	w.Header().Set("Location", "/auth/v1/"+k.plural+"/"+url.PathEscape(t.ID()))
	return http.StatusCreated, k.show(t), nil
}

func (k kind[T]) changeOne(_ http.ResponseWriter, r *http.Request, id []string) (int, any, error) {
	o, err := readJSONObject(r, k.members...)
	if err != nil {
		return 0, nil, err
	}
	update := k.update(o, id[0])
	o.checkComputed(k.members[0], id[0])
	if err := o.faults.Err(); err != nil {
		if _, gone := k.get(r.Context(), id[0]); gone != nil {
			err = gone
		}
		return 0, nil, err
	}
	t, err := update(r.Context())
	return http.StatusOK, k.show(t), err
}
