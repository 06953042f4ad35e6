// Command controlplane holds the parts of a small Kubernetes control plane, and kubectl, in one
// binary: the parts share nearly all of their code, so one link is cheaper than four.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/version/verflag" // the --version flag of the API server and the manager
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

// parts maps a first argument to the program it stands for; each reads its flags from os.Args and
// answers with an exit code.
var parts = map[string]func() int{
	"etcd":                    runEtcd,
	"kube-apiserver":          func() int { return cli.Run(apiserver.NewAPIServerCommand()) },
	"kube-controller-manager": func() int { return cli.Run(manager.NewControllerManagerCommand()) },
	"kubectl":                 runKubectl,
}

func main() {
	if len(os.Args) < 2 {
		usage("no part named")
	}
	run, known := parts[os.Args[1]]
	if !known {
		usage(fmt.Sprintf("no part is called %q", os.Args[1]))
	}
	os.Args = os.Args[1:]
	os.Exit(run())
}

func runEtcd() int {
	etcdmain.Main(os.Args)
	return 0
}

func runKubectl() int {
	// Client-side logging starts before the flags are parsed, as in the official main.
	logs.GlogSetter(kubectl.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err)
	}
	return 0
}

func usage(problem string) {
	fmt.Fprintf(os.Stderr, "controlplane: %s\nusage: %s etcd|kube-apiserver|kube-controller-manager|kubectl [argument...]\n",
		problem, filepath.Base(os.Args[0]))
	os.Exit(2)
}
