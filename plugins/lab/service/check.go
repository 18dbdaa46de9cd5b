package service

import (
	"context"

	"ctl.internal/plugins/lab/compare"
	"ctl.internal/plugins/lab/intent"
)

// checkInput is the input of lab:check.
type checkInput struct {
	Document   string      `json:"document"`
	Form       intent.Form `json:"form,omitempty"`
	TopologyID string      `json:"topology-id,omitempty"`
}

// checkOutput is the output of lab:check.
type checkOutput struct {
	Correct bool      `json:"correct"`
	Links   int       `json:"links"`
	Right   int       `json:"links-right"`
	Outside int       `json:"links-outside"`
	Notes   []string  `json:"note,omitempty"`
	Finding []finding `json:"finding,omitempty"`

	right []intent.Link
}

type finding struct {
	Kind     compare.Kind `json:"kind"`
	Subject  string       `json:"subject"`
	Text     string       `json:"text"`
	Line     int          `json:"line,omitempty"`
	Intended []string     `json:"intended,omitempty"`
	Found    []string     `json:"found,omitempty"`
}

func (s *Service) check(ctx context.Context, in checkInput) (*checkOutput, error) {
	lab, _, err := intent.Read([]byte(in.Document), in.Form)
	if err != nil {
		return nil, err
	}
	return s.compare(ctx, lab, in.TopologyID)
}

// compare compares a lab with what the sources see now.
func (s *Service) compare(ctx context.Context, lab *intent.Lab, topologyID string) (*checkOutput, error) {
	found, err := s.look(ctx, topologyID)
	if err != nil {
		return nil, err
	}
	s.addPortNames(ctx, lab, found)
	result, err := compare.Compare(ctx, lab, found)
	if err != nil {
		return nil, err
	}
	if len(lab.VLANs) > 0 {
		tables, why := s.readVLANs(ctx, lab, found)
		more, err := compare.CompareVLANs(ctx, lab, found, tables, why)
		if err != nil {
			return nil, err
		}
		result.Findings = append(result.Findings, more...)
	}
	out := &checkOutput{
		Correct: len(result.Findings) == 0,
		Links:   len(lab.Links),
		Right:   len(result.Right),
		Outside: result.Outside,
		Notes:   lab.Notes,
		right:   result.Right,
	}
	for _, f := range result.Findings {
		out.Finding = append(out.Finding, finding(f))
	}
	return out, nil
}

// exportInput is the input of lab:export.
type exportInput struct {
	Form       intent.Form `json:"form"`
	TopologyID string      `json:"topology-id,omitempty"`
}

type exportOutput struct {
	Document string `json:"document"`
}

func (s *Service) export(ctx context.Context, in exportInput) (*exportOutput, error) {
	found, err := s.look(ctx, in.TopologyID)
	if err != nil {
		return nil, err
	}
	text, err := intent.Write(compare.Describe(found, in.TopologyID), in.Form)
	if err != nil {
		return nil, err
	}
	return &exportOutput{string(text)}, nil
}
