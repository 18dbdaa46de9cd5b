// Package restconfpeers has programs of others read what the controller serves: yanglint and
// yangson its modules and data, validators and generators its OpenAPI document, curl HTTP/2.
package restconfpeers
