"""Explains every reason of a notice: its cause, its remedy, and what becomes of a live host."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from pic.core.notices import Reason


class Fate(StrEnum):
    """What happens to a live object when this reason takes away the last usable path of its host.

    HELD means that it is declared again as it is. NONE means that the reason takes no path away.
    """

    DELETED = "deleted"
    HELD = "held"
    NONE = "n/a"


@dataclass(frozen=True, slots=True)
class Advice:
    """What the documentation says about a reason.

    Attributes:
        cause: What is wrong, or what happened.
        remedy: What the user can do.
    """

    cause: str
    remedy: str
    fate: Fate = Fate.NONE


# docs/notices.md is made from this table.
ADVICE: Mapping[Reason, Advice] = {
    Reason.ACKNOWLEDGEMENT_UNUSED: Advice(
        "An acknowledgement fits nothing that waits: it was used, or the change is another one.",
        "Remove it from pic:acknowledge. If something waits, acknowledge its present digest.",
    ),
    Reason.ANNOTATION_CONFLICT: Advice(
        "Ingresses that share a host have different annotations.",
        "Give them the same values. Until then `true` wins for sso and block-access, and the "
        "oldest Ingress decides everything else.",
    ),
    Reason.ANNOTATION_NOT_TEXT: Advice(
        "The value of an annotation in a file has no quotes, and YAML reads it as a number, a date "
        "or a boolean. pic takes it as written, but the API server refuses the Ingress.",
        "Put the value in quotes.",
    ),
    Reason.APEX_UNSUPPORTED: Advice(
        "The host is its own base domain, and the installed CRD requires a subdomain.",
        "Use a subdomain, verify a shorter base domain in the organisation, or upgrade the "
        "Pangolin operator.",
        Fate.HELD,
    ),
    Reason.APP_PROTOCOL_IGNORED: Advice(
        "The field appProtocol of a Service port has a word that says nothing about HTTP.",
        "Nothing, if the port speaks the protocol in pic:backendScheme. Otherwise set the "
        "annotation backend-scheme, or appProtocol to http or https.",
    ),
    Reason.BACKEND_INVALID: Advice(
        "The backend does not name a port that traffic can be sent to.",
        "Use a port that the Service has. A headless Service needs a numeric targetPort. For a "
        "plan from files, add the Service or use a port number.",
        Fate.HELD,
    ),
    Reason.BACKEND_NOT_FOUND: Advice(
        "The Service of a path does not exist.",
        "Create the Service, or correct its name. A new host is exposed with its other paths.",
        Fate.HELD,
    ),
    Reason.BEING_DELETED: Advice(
        "Kubernetes is deleting the Ingress, or its namespace. pic makes nothing new for it, and "
        "what it has stays until it is gone.",
        "Nothing. After ten minutes the notice is a warning: find out why the finalizers that it "
        "names remain.",
    ),
    Reason.BLOCK_ACCESS: Advice(
        "The annotation block-access makes Pangolin block all access, for logged-in users as well.",
        "Nothing, if you want that. To require a login instead, use the annotation sso.",
    ),
    Reason.CANARY_IGNORED: Advice(
        "The Ingress is a canary of ingress-nginx. Pangolin cannot split traffic by weight.",
        "Nothing. pic exposes the main Ingress of the host.",
    ),
    Reason.DOMAIN_NOT_VERIFIED: Advice(
        "The organisation of the tunnel has no verified domain that covers the host.",
        "Verify the domain in Pangolin, or use a host below a verified domain.",
        Fate.HELD,
    ),
    Reason.DUPLICATE_KEY: Advice(
        "A file has an annotation twice that decides who may open a host, or has `annotations` "
        "twice. The last one counts, as for the API server.",
        "Remove one of the two.",
    ),
    Reason.DUPLICATE_PATH: Advice(
        "The host has the same path and path type more than once.",
        "Remove one of them. Until then the first one of the oldest Ingress wins.",
    ),
    Reason.EDITED_BY_HAND: Advice(
        "A user changed the spec of an object that pic made, with kubectl. The message names the "
        "field, and what pic writes instead.",
        "Change the Ingress if the change should stay. pic declares the whole object, so its next "
        "update takes the field back.",
    ),
    Reason.EMPTY_HOST: Advice(
        "A rule has no host, or the Ingress has only a default backend, so there is no host to "
        "expose.",
        "Set the host of the rule. Other rules of the Ingress are exposed.",
    ),
    Reason.EXTERNAL_NAME_REFUSED: Advice(
        "The Service has type ExternalName, which could expose any address that the tunnel can "
        "reach.",
        "Use a Service with a selector, or set pic:allowExternalName.",
        Fate.DELETED,
    ),
    Reason.FILES_EXCLUDED: Advice(
        "The flag --exclude left files out, so a report does not show what they contain.",
        "Nothing, if kubectl does not apply these files either.",
    ),
    Reason.FILE_SKIPPED: Advice(
        "A file cannot be read, or has an object that another file has in another form. "
        "--skip-broken left it out.",
        "Correct the file, or leave it out with --exclude. A template has to be rendered first.",
    ),
    Reason.FOREIGN_ANNOTATION: Advice(
        "The Ingress has annotations of another controller, which have no effect here.",
        "Use what the message names in their place, or remove them. "
        "[Moving from another controller](moving-from-another-controller.md) lists them.",
    ),
    Reason.FOREIGN_PROTECTION: Advice(
        "An annotation of another controller limits who may open the host, but not here: the host "
        "is public. With pic:foreignProtection hold, a new host is not exposed.",
        'Set the annotation sso to "true", or to "false" if the host should be public.',
    ),
    Reason.HELD: Advice(
        "The change needs an acknowledgement: the host would lose its login or its block, move to "
        "another namespace, or go together with too many others.",
        "If the change is intended, let the platform team acknowledge it: pic status shows the "
        "command. Otherwise change the Ingress back.",
        Fate.HELD,
    ),
    Reason.HELD_BY_FINALIZER: Advice(
        "Kubernetes is deleting an object that pic made, and waits for its finalizers. The object "
        "counts as gone already.",
        "Nothing. After ten minutes the notice is a warning: check that the Pangolin operator "
        "runs, because it removes its finalizer. If an Ingress asks for the host, `pic up` ends "
        "with exit code 6 until the object is gone.",
    ),
    Reason.HOST_CONFLICT: Advice(
        "The host belongs to another namespace, or to an object that this stack does not own.",
        "Remove the host from one of the two. The message names the other one. If the current "
        "owner gives the host up, the next Ingress gets it.",
        Fate.HELD,
    ),
    Reason.HOST_NOT_ALLOWED: Advice(
        "The setting pic:hostPolicy does not allow the host in this namespace.",
        "Use a host that the policy allows, or ask the platform team to extend the policy.",
        Fate.DELETED,
    ),
    Reason.INVALID_ANNOTATION: Advice(
        "The value of an annotation cannot be read.",
        "Correct the value. The message says what is allowed. Until then sso and block-access "
        "count as true.",
        Fate.HELD,
    ),
    Reason.INVALID_HOST: Advice(
        "The host is not a public host name. For example, it is a wildcard or an IP address, or "
        "it has a port.",
        "Write a full host name. Other hosts of the Ingress are exposed.",
        Fate.DELETED,
    ),
    Reason.INVALID_OBJECT: Advice(
        "The object does not have the shape that its kind requires.",
        "Correct the field that the message names. Other objects are not affected.",
        Fate.HELD,
    ),
    Reason.INVALID_PATH: Advice(
        "The proxy cannot express the path. It contains an unsafe character, or it is not a valid"
        " regular expression.",
        "Correct the path. Other paths of the host are exposed.",
        Fate.HELD,
    ),
    Reason.INVALID_TARGET_IP: Advice(
        "The address for the DNS record is missing, or is not an IP address.",
        "Correct the annotation pihole.io/target-ip, or the setting pic:piholeTargetIp.",
        Fate.HELD,
    ),
    Reason.IPV6_UNSUPPORTED: Advice(
        "With pic:piholeApi dns-local, Pi-hole has no records for IPv6 addresses.",
        "Nothing, if IPv4 is enough: that record is declared. Otherwise set pic:piholeApi to v6.",
    ),
    Reason.LABELS_REPAIRED: Advice(
        "An object that pic made had lost its labels.",
        "Nothing. pic sets them again. If it happens repeatedly, find out which client removes "
        "them.",
    ),
    Reason.LEFT_BEHIND: Advice(
        "An object belongs to the stack in pic:adoptFrom, and no Ingress of this stack asks for "
        "it.",
        "Nothing, if the earlier stack is still in use. Otherwise delete the object with kubectl."
        " Until then it keeps its host exposed.",
    ),
    Reason.LEFT_OUTSIDE: Advice(
        "pic:namespaces does not list the namespace of a host that pic exposes.",
        "Add the namespace to pic:namespaces. To give the host up, acknowledge its removal: pic "
        "status shows the command.",
        Fate.HELD,
    ),
    Reason.NAMESPACE_ASSUMED: Advice(
        "Objects in manifest files name no namespace, as in the output of helm template. pic takes "
        "default for them.",
        "Pass --namespace NAME, as to kubectl, or write metadata.namespace.",
    ),
    Reason.NAMESPACE_NOT_FOUND: Advice(
        "The setting pic:namespaces lists a namespace that the cluster does not have.",
        "Correct the name, or remove it from pic:namespaces. If none of them exists, a run ends "
        "with exit code 5.",
    ),
    Reason.NOT_IN_FILES: Advice(
        "An Ingress names an object that is not in the files of an offline plan. The files have "
        "other objects of its kind, but it may exist all the same, so pic goes on without it.",
        "Nothing, if the object exists in the cluster. Otherwise add it to the files. If the files "
        "hold everything, pass --complete: what is missing is then an error of the Ingress.",
    ),
    Reason.NOT_RENDERED: Advice(
        "A folder contains a kustomization. pic reads the other files as they are, without its "
        "namespace, prefixes and patches.",
        "Pass the folder of the kustomization with --render kustomize, or pipe the output of "
        "kustomize build into pic with --manifests -. The message has the command.",
    ),
    Reason.NO_HOSTS: Advice(
        "The Ingress requests DNS records but has no usable host.",
        "Set the host of a rule, or list hosts in the annotation pihole.io/hosts.",
    ),
    Reason.NO_LONGER_OURS: Advice(
        "Someone gave an object that pic made other labels, and no Ingress asks for its host.",
        "Delete the object with kubectl if nothing needs it. Until then it keeps its host exposed.",
    ),
    Reason.NO_PATHS: Advice(
        "A rule has no paths and the Ingress has no default backend.",
        "Add a path to the rule, or a default backend to the Ingress.",
        Fate.HELD,
    ),
    Reason.NO_RULES: Advice(
        "The Ingress has no rules, so there is nothing to expose.",
        "Add a rule with a host, or change the class of the Ingress.",
    ),
    Reason.ORGANIZATION_NOT_FOUND: Advice(
        "The organisation of the tunnel does not exist.",
        "Create the PangolinOrganization, or correct organizationRef in the tunnel.",
        Fate.HELD,
    ),
    Reason.PATHS_MAY_MIX: Advice(
        "The host has paths with different backends. Some operators ignore paths and send every "
        "request to any of the backends.",
        "Check that your operator routes by path. Then set pic:pathRouting to trusted. If it does"
        " not, give each backend its own host.",
    ),
    Reason.PATH_KEY_COLLISION: Advice(
        "Several paths of the host have the same first 50 characters. Older Pangolin releases "
        "confuse them.",
        "Upgrade Pangolin, or make the paths differ earlier.",
    ),
    Reason.PATH_PATTERN: Advice(
        "A path is written in the way of another controller. `/*` at the end of an "
        "ImplementationSpecific path means all paths below it. Any other pattern is a warning, "
        "because it matches only its own text.",
        'For a pattern, set the annotation path-regex to "true" and the path type to '
        "ImplementationSpecific.",
    ),
    Reason.PATH_TOO_LONG: Advice(
        "Several paths are so long that they have the same priority, so their order is not "
        "defined.",
        "Shorten the paths.",
    ),
    Reason.PIHOLE_UNREADABLE: Advice(
        "pic could not read the records of Pi-hole, so it does not know what would change there.",
        "Remove the cause that the message names. Meanwhile pic declares records from the "
        "Ingresses and deletes none.",
    ),
    Reason.PROTECTION_UNSUPPORTED: Advice(
        "The Ingress asks for a login or a block, and the installed CRD supports neither.",
        "Upgrade the Pangolin operator, or remove the annotation. pic does not expose a new host "
        "without its protection.",
        Fate.HELD,
    ),
    Reason.RECORD_CONFLICT: Advice(
        "Pi-hole has a record for the host with another address, which this stack did not make.",
        "Remove that record in Pi-hole, or set pic:piholeTakeOver to let pic replace it. Until "
        "then it stays unchanged.",
    ),
    Reason.RECORD_EXISTS: Advice(
        "Pi-hole already has the requested record, which this stack did not make.",
        "Nothing. The record stays unchanged, also when the Ingress is deleted.",
    ),
    Reason.RECORD_SHADOWED: Advice(
        "Another setting of Pi-hole answers for the host: a CNAME in dns.cnameRecords, or a line "
        "in misc.dnsmasq_lines.",
        "Remove that setting in Pi-hole, or remove pihole.io/register from the Ingress. pic keeps "
        "its record.",
    ),
    Reason.RECORD_TAKEN_OVER: Advice(
        "pic:piholeTakeOver lets pic replace a record with another address, which pic did not "
        "make.",
        "Nothing, if you want that. Otherwise remove the annotation pihole.io/register from the "
        "Ingress, or unset pic:piholeTakeOver.",
    ),
    Reason.RECORDS_LOST: Advice(
        "Pi-hole does not have records that pic made. Someone deleted them, an old backup was "
        "restored, or Pi-hole could not save them.",
        "Nothing the first time: pic makes them again. If it happens after each start of Pi-hole, "
        "mount the folder /etc/pihole and not the file pihole.toml, which Pi-hole has to replace.",
    ),
    Reason.REGISTER_BEGUN: Advice(
        "The stack has no register yet, in which pic remembers who has which host.",
        "Nothing. The next pic up writes it.",
    ),
    Reason.REGISTER_MISSING: Advice(
        "pic has no register, so it decides from the live objects alone who has a host.",
        "Run pic init, grant pic the ConfigMaps that the message names, or find out who deleted "
        "them.",
    ),
    Reason.REGISTER_STALE: Advice(
        "A part of the register is older than the last deployment, or someone edited it.",
        "Nothing, if you restored a backup: pic completes it, and the protecting value counts. "
        "Otherwise find out who may write ConfigMaps in its namespace.",
    ),
    Reason.RESOURCE_BACKEND: Advice(
        "The backend of the path is not a Service.",
        "Use a Service as the backend. Other paths of the host are exposed.",
        Fate.HELD,
    ),
    Reason.SCHEME_GUESS: Advice(
        "The port of a Service is 443 or has the name https, but nothing says that it speaks "
        "HTTPS, so pic uses http.",
        "If it speaks HTTPS, set the annotation backend-scheme, or appProtocol of the Service "
        "port, to https.",
    ),
    Reason.SETTING_DIFFERS: Advice(
        "An environment variable and the stack have different values for a setting. The value of "
        "the stack is used.",
        "Remove one of the two, or give both the same value.",
    ),
    Reason.SINGLE_TARGET_ONLY: Advice(
        "The installed CRD allows one target per host, so the other paths are left out.",
        "Upgrade the Pangolin operator, or give each path its own host.",
    ),
    Reason.SOLVER_IGNORED: Advice(
        "The Ingress or the path serves a certificate challenge of cert-manager.",
        "Nothing. cert-manager removes it after the challenge.",
    ),
    Reason.STACK_ID_MISSING: Advice(
        "The stack has no id, so pic cannot tell its objects from those of another stack with the "
        "same name.",
        "Run pic init, which writes pic:stackId into the stack file.",
    ),
    Reason.TOO_MANY_HOSTS: Advice(
        "The cluster has more PangolinResources than the Pangolin operator finds again: it reads "
        "one page of Pangolin's list, which has 20 resources. Beyond that, it cannot change a "
        "resource, for example to require a login.",
        "Check with pic status whether all hosts are ready. If your operator reads the whole list, "
        "set pic:operatorLimit to 0.",
    ),
    Reason.TUNNEL_NOT_FOUND: Advice(
        "The tunnel does not exist, its name is ambiguous, or the namespace of the Ingress may "
        "not use it.",
        "Create the PangolinTunnel, correct its name, or set pic:tunnelNamespace with pic init, or "
        "pic:tunnelNamespaces.",
        Fate.HELD,
    ),
    Reason.TUNNEL_NOT_READY: Advice(
        "The tunnel exists, but its status is not Ready.",
        "Nothing, if the tunnel is still starting. Otherwise look at its status. Its hosts are "
        "declared all the same.",
    ),
    Reason.UNKNOWN_ANNOTATION: Advice(
        "pic does not know the annotation, although it has a prefix of pic or looks like one of "
        "its annotations. Or one of its annotations is a label. If it asks for sso or "
        "block-access, it protects all the same.",
        "Correct its name. The message suggests the right one.",
    ),
    Reason.UNSUPPORTED_PROTOCOL: Advice(
        "The port of the Service speaks HTTP/2 without TLS, as gRPC does. The operator cannot "
        "forward that.",
        "Offer HTTP or HTTPS on a port, or set the annotation backend-scheme.",
        Fate.HELD,
    ),
    Reason.UNTRACKED_ORPHAN: Advice(
        "A run was killed before it saved its state. No Ingress asks any more for an object that "
        "it made, and the engine does not know the object.",
        "Run pic up, which deletes the object. pulumi up does not.",
    ),
}
