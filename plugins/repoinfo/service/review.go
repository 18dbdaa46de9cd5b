package service

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"ctl.internal/plugins/repoinfo/release"
	"ctl.internal/plugins/repoinfo/settings"
	"ctl.internal/sdk/fault"
)

// linksOf are the addresses of commits and changes by the settings.
func linksOf(set settings.Settings) release.Links {
	links := release.Links{
		Commit: set.Links.Commit,
		Change: set.Links.Change,
	}
	if set.ReviewURL != "" {
		links.Change = cmp.Or(links.Change, strings.TrimSuffix(set.ReviewURL, "/")+"/q/{change_id}")
	}
	return links
}

// openChanges lists the changes of a branch that the review server has and that are not merged.
func (s *Service) openChanges(
	ctx context.Context,
	project, branch string,
) ([]release.OpenChange, error) {
	received, err := s.review.OpenChanges(ctx, project, branch)
	if err != nil {
		return nil, err
	}
	list := make([]release.OpenChange, 0, len(received))
	for _, raw := range received {
		var change struct {
			Number   int    `json:"_number"`
			ChangeID string `json:"change_id"`
		}
		if err := json.Unmarshal(raw, &change); err != nil {
			return nil, fault.Device(
				fault.Downstream,
				"a change of the review server cannot be read: %v",
				err,
			)
		}
		list = append(list, release.OpenChange{
			Number:   change.Number,
			ChangeID: change.ChangeID,
		})
	}
	return list, nil
}
