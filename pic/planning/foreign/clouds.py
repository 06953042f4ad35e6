"""Lists the annotations of the controllers of clouds and platforms."""

from pic.planning.foreign.words import Controller

ALB = Controller(
    "alb",
    "AWS Load Balancer Controller",
    "https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/ingress/annotations/",
    ("alb.ingress.kubernetes.io/",),
    ("alb", "alb-*"),
    """
    auth-type | login | asks for a login: oidc or cognito
    auth-idp-oidc | login | provider of the login
    auth-idp-cognito | login | user pool of the login
    auth-on-unauthenticated-request | detail | what visitors without a login get
    auth-scope | detail | scope of the login
    auth-session-* | detail | cookie of the login
    jwt-validation | login | asks for a valid JSON Web Token
    mutual-authentication | certificate | asks visitors for a client certificate
    inbound-cidrs | allowed | allows only these addresses
    security-groups | allowed | firewall in front of the load balancer
    security-group-prefix-lists | allowed | allows only these lists of addresses
    scheme | internal | internal keeps the load balancer off the internet
    wafv2-acl-arn | firewall | filters requests with AWS WAF
    wafv2-acl-name | firewall | filters requests with AWS WAF
    waf-acl-id | firewall | filters requests with AWS WAF
    web-acl-id | firewall | filters requests with AWS WAF
    shield-advanced-protection | firewall | protects from denial of service
    conditions.* | routing | more conditions, such as addresses, headers or methods
    actions.* | routing | redirects, fixed responses and weights
    transforms.* | rewrite | changes host and path that the backend gets
    use-regex-path-match | regex | reads paths as regular expressions
    backend-protocol | scheme | protocol of the backend: HTTP or HTTPS
    backend-protocol-version | scheme | HTTP1, HTTP2 or GRPC
    ssl-redirect | https | redirects to HTTPS
    listen-ports | setup | ports of the load balancer
    certificate-arn | tls | certificates
    ssl-policy | tls | TLS versions and ciphers
    group.* | setup | Ingresses that share a load balancer
    load-balancer-* | setup | name and attributes of the load balancer
    minimum-load-balancer-capacity | setup | size of the load balancer
    ip-address-type | setup | IPv4 or dual stack
    ipam-ipv4-pool-id | setup | addresses of the load balancer
    subnets | setup | subnets of the load balancer
    customer-owned-ipv4-pool | setup | addresses of the load balancer
    manage-backend-security-group-rules | setup | rules for the backends
    tags | setup | tags of the load balancer
    target-type | setup | nodes or pods
    target-group-attributes | tuning | sticky sessions and timeouts
    target-node-labels | setup | nodes that get requests
    target-control-port.* | setup | control of targets
    multi-cluster-target-group | setup | target groups over several clusters
    healthcheck-* | tuning | checks the pods
    healthy-threshold-count | tuning | checks the pods
    unhealthy-threshold-count | tuning | checks the pods
    success-codes | tuning | checks the pods
    frontend-nlb-* | setup | load balancer in front
    enable-frontend-nlb | setup | load balancer in front
    """,
)

GCE = Controller(
    "gce",
    "GKE Ingress",
    "https://cloud.google.com/kubernetes-engine/docs/how-to/load-balance-ingress",
    ("networking.gke.io/", "ingress.gcp.kubernetes.io/", "cloud.google.com/"),
    ("gce", "gce-internal"),
    """
    managed-certificates | tls | certificates
    v1beta1.FrontendConfig | setup | TLS policy and redirect to HTTPS
    """,
    """
    cloud.google.com/backend-config | plugins | BackendConfig, such as IAP and Cloud Armor
    cloud.google.com/app-protocols | scheme | protocol of the backend: HTTP, HTTPS or HTTP2
    cloud.google.com/neg | setup | sends to the pods
    ingress.gcp.kubernetes.io/pre-shared-cert | tls | certificates
    ingress.kubernetes.io/backends | setup | written by GKE: state of the backends
    ingress.kubernetes.io/url-map | setup | written by GKE: name of a resource
    ingress.kubernetes.io/forwarding-rule | setup | written by GKE: name of a resource
    ingress.kubernetes.io/https-forwarding-rule | setup | written by GKE: name of a resource
    ingress.kubernetes.io/target-proxy | setup | written by GKE: name of a resource
    ingress.kubernetes.io/https-target-proxy | setup | written by GKE: name of a resource
    ingress.kubernetes.io/ssl-cert | setup | written by GKE: name of a resource
    ingress.kubernetes.io/static-ip | setup | written by GKE: name of a resource
    kubernetes.io/ingress.allow-http | https | false serves HTTPS only
    kubernetes.io/ingress.global-static-ip-name | setup | address of the load balancer
    kubernetes.io/ingress.regional-static-ip-name | setup | address of the load balancer
    """,
)

AZURE = Controller(
    "azure",
    "Azure Application Gateway",
    "https://azure.github.io/application-gateway-kubernetes-ingress/annotations/",
    ("appgw.ingress.kubernetes.io/",),
    ("azure/application-gateway", "azure-application-gateway"),
    """
    waf-policy-for-path | firewall | filters requests with a firewall policy
    use-private-ip | internal | true keeps the host off the internet
    appgw-ssl-profile | certificate | TLS profile, which may ask for a client certificate
    backend-protocol | scheme | protocol of the backend: http or https
    backend-path-prefix | rewrite | changes the path that the backend gets
    backend-hostname | headers | sets the Host header for the backend
    rewrite-rule-set* | rewrite | changes headers and paths
    hostname-extension | host | answers for more hosts
    ssl-redirect | https | redirects to HTTPS
    appgw-ssl-certificate | tls | certificates
    appgw-trusted-root-certificate | tuning | checks the certificate of the backend
    cookie-based-affinity* | sticky | leads a visitor to the same pod
    request-timeout | tuning | time to wait for the backend
    connection-draining* | tuning | time for a pod that goes
    health-probe-* | tuning | checks the pods
    override-frontend-port | setup | port of the gateway
    rule-priority | routing | order of the rules
    """,
)

CILIUM = Controller(
    "cilium",
    "Cilium",
    "https://docs.cilium.io/en/stable/network/servicemesh/ingress/",
    ("ingress.cilium.io/",),
    ("cilium",),
    """
    loadbalancer-mode | setup | a load balancer for each Ingress
    loadbalancer-class | setup | class of the load balancer
    service-type | setup | type of the Service
    service-external-traffic-policy | setup | traffic policy of the Service
    insecure-node-port | setup | node port for HTTP
    secure-node-port | setup | node port for HTTPS
    host-listener-port | setup | port on the nodes
    tls-passthrough | passthrough | passes TLS on to the backend without opening it
    force-https | https | redirects to HTTPS
    request-timeout | tuning | time to wait for the backend
    """,
)

OPENSHIFT = Controller(
    "openshift",
    "OpenShift",
    "https://docs.openshift.com/container-platform/latest/networking/routes/route-configuration.html",
    ("haproxy.router.openshift.io/", "route.openshift.io/", "router.openshift.io/"),
    ("openshift-default",),
    """
    ip_whitelist | allowed | allows only these addresses
    ip_allowlist | allowed | allows only these addresses
    rewrite-target | rewrite | changes the path that the backend gets
    rate-limit-connections* | limits | limits connections of each address
    hsts_header | headers | header Strict-Transport-Security
    set-forwarded-headers | headers | headers Forwarded and X-Forwarded-For
    timeout* | tuning | timeouts
    balance | tuning | how the pod is chosen
    disable_cookies | sticky | leads a visitor to the same pod
    pod-concurrent-connections | tuning | connections to a pod
    """,
    """
    route.openshift.io/termination | passthrough | edge, reencrypt or passthrough
    route.openshift.io/destination-ca-certificate-secret | tuning | certificate of the backend
    router.openshift.io/cookie_name | sticky | cookie of sticky sessions
    """,
)
