package identity

// Profile is what is only shown of a user. A new field is a line here and one in fields; its JSON
// name is that of /auth/v1 and of the store.
type Profile struct {
	Description string `json:"description"`
	Email       string `json:"email"`
}

type profileField struct {
	name  string
	value *string
	check func(string) error
}

func (p *Profile) fields() []profileField {
	return []profileField{
		{"description", &p.Description, func(s string) error { return checkText("description", s) }},
		{"email", &p.Email, checkEmail},
	}
}

// ProfileFields are the names of the fields of a Profile.
func ProfileFields() (names []string) {
	for _, f := range new(Profile).fields() {
		names = append(names, f.name)
	}
	return names
}

// Set replaces the fields that values has, by name.
func (p *Profile) Set(values map[string]string) {
	for _, f := range p.fields() {
		if v, ok := values[f.name]; ok {
			*f.value = v
		}
	}
}

func (p *Profile) check() error {
	for _, f := range p.fields() {
		if err := f.check(*f.value); err != nil {
			return err
		}
	}
	return nil
}
