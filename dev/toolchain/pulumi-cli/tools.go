//go:build tools

// Package tools keeps the command to build among the requirements of this module; it is never
// compiled itself.
package tools

import _ "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
