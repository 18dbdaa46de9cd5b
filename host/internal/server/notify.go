package server

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/notify"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/operations"
)

// notifyModule is the YANG module of the notifications.
const notifyModule = "ctl-notify"

// openNotifications begins to tell the targets of the settings what is in the list of troubles.
func (s *Server) openNotifications(ctx context.Context) error {
	settings, err := s.openNotifySettings()
	if err != nil {
		return err
	}
	s.notifier, err = notify.New(notify.Options{
		Settings: settings,
		Home:     s.home,
		Store:    s.store,
		Troubles: s.troubles,
		Hold: func(ctx context.Context) (notify.Term, error) {
			return s.roles.Hold(ctx, notify.Role, "host")
		},
		Controller: s.nodeName(),
		Log:        s.registry.Logger("org.ctl.notify"),
		Now:        time.Now,
	})
	if err != nil {
		return err
	}
	s.runInBackground(ctx, "notifications", s.notifier.Run)
	return nil
}

// openNotifySettings are the settings with their secrets, which may be sealed in the file.
func (s *Server) openNotifySettings() (out home.Notify, err error) {
	text, err := json.Marshal(s.loaded.Notify)
	if err != nil {
		return out, err
	}
	if text, err = s.secrets.OpenJSON(text); err != nil {
		return out, fmt.Errorf("etc/ctl.yaml: notify: %w", err)
	}
	return out, json.Unmarshal(text, &out)
}

// notifyOperations are the RPCs of notifyModule.
func (s *Server) notifyOperations() operations.Mux {
	return operations.Mux{
		notifyModule + ":get-targets": s.forAdministrators(operations.Func(s.getNotifyTargets)),
		notifyModule + ":test-target": s.forAdministrators(operations.Func(s.testNotifyTarget)),
	}
}

type (
	notifyTargets struct {
		Target []notifyTarget `json:"target,omitempty"`
	}
	notifyTarget struct {
		Name     string `json:"name"`
		Kind     string `json:"kind"`
		Address  string `json:"address"`
		Rules    int    `json:"rules"`
		Queued   int    `json:"queued"`
		Sent     string `json:"sent,omitempty"`
		Failed   string `json:"failed,omitempty"`
		Failures int    `json:"failures"`
		Failure  string `json:"failure,omitempty"`
	}
	notifyTest struct {
		Target string `json:"target"`
	}
	notifyTested struct {
		ID string `json:"id"`
	}
)

// getNotifyTargets are the targets, without secrets.
func (s *Server) getNotifyTargets(context.Context, struct{}) (out notifyTargets, err error) {
	all, err := s.notifier.List()
	for _, t := range all {
		out.Target = append(out.Target, notifyTarget{
			Name:     t.Name,
			Kind:     t.Kind,
			Address:  t.Address,
			Rules:    t.Rules,
			Queued:   t.Queued,
			Sent:     formatInstant(t.Sent),
			Failed:   formatInstant(t.Failed),
			Failures: t.Failures,
			Failure:  t.Failure,
		})
	}
	return out, err
}

// testNotifyTarget sends a test message.
func (s *Server) testNotifyTarget(ctx context.Context, in notifyTest) (notifyTested, error) {
	who, _ := caller.From(ctx)
	id, err := s.notifier.Test(ctx, in.Target, who.User+"@"+who.Domain)
	return notifyTested{id}, err
}
