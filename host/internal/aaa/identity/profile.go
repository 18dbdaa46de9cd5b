package identity

// Profile is what is only shown of a user. A new field is a line here and one in Fields; its JSON
// name is that of /auth/v1 and of the store.
type Profile struct {
	Description string `json:"description"`
	Email       string `json:"email"`
}

// Field is a field of a Profile.
type Field struct {
	Name                string // of /auth/v1
	Option, Alias, Help string // of aaa:add-user
	value               *string
	check               func(string) error
}

// Fields are those of p, in the order in which they are shown.
func (p *Profile) Fields() []Field {
	return []Field{
		{"description", "userDescription", "desc", "what the user is for", &p.Description, func(s string) error {
			return checkText("description", s)
		}},
		{"email", "email", "userEmail", "an e-mail address", &p.Email, checkEmail},
	}
}

// ProfileFields are the names of the fields of a Profile.
func ProfileFields() (names []string) {
	for _, f := range new(Profile).Fields() {
		names = append(names, f.Name)
	}
	return names
}

// Set replaces the fields that values has, by name.
func (p *Profile) Set(values map[string]string) {
	for _, f := range p.Fields() {
		if v, ok := values[f.Name]; ok {
			*f.value = v
		}
	}
}

func (p *Profile) checkFields() error {
	for _, f := range p.Fields() {
		if err := f.check(*f.value); err != nil {
			return err
		}
	}
	return nil
}
