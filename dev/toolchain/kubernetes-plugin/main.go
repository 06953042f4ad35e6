// Command pulumi-resource-kubernetes is the Kubernetes provider of Pulumi, served with a schema
// that holds only its name: programs in Python never ask the plugin for its schema, and the
// generated one is not part of the published module.
package main

import (
	"fmt"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

func main() {
	schema := fmt.Sprintf(`{"name":"kubernetes","version":%q}`, version.Version)
	provider.Serve("kubernetes", version.Version, []byte(schema), []byte("{}"))
}
