"""Lists the annotations of the other controllers that run a proxy in the cluster."""

from pic.planning.foreign.words import Controller

TRAEFIK = Controller(
    "traefik",
    "Traefik",
    "https://doc.traefik.io/traefik/routing/providers/kubernetes-ingress/",
    ("traefik.ingress.kubernetes.io/", "traefik.io/"),
    ("traefik", "traefik-*"),
    """
    router.middlewares | plugins | middlewares: logins, address lists, rewrites, headers
    router.entrypoints | setup | entry points, such as web and websecure
    router.priority | routing | priority of the paths; pic orders them by length
    router.pathmatcher | regex | how paths match: Path, PathPrefix or PathRegexp
    router.rulesyntax | detail | version of the rules
    router.tls | tls | serves HTTPS
    router.tls.* | tls | certificates and TLS options
    router.observability.* | setup | logs, metrics and traces
    service.serversscheme | scheme | protocol of the backend: http, https or h2c
    service.serverstransport | tuning | TLS and timeouts of the backend
    service.passhostheader | headers | sends the host of the visitor to the backend
    service.nativelb | setup | sends to the Service in place of its pods, as pic does
    service.nodeportlb | setup | sends to the node ports
    service.sticky.* | sticky | leads a visitor to the same pod
    auth-type | login | asks for a name and a password (Traefik 1)
    auth-secret | login | names the Secret with the passwords (Traefik 1)
    auth-url | login | asks an external service about each request (Traefik 1)
    whitelist-source-range | allowed | allows only these addresses (Traefik 1)
    rule-type | rewrite | how paths match, and whether they are stripped (Traefik 1)
    request-modifier | rewrite | changes the path that the backend gets (Traefik 1)
    rewrite-target | rewrite | changes the path that the backend gets (Traefik 1)
    app-root | redirect | redirects / to another path (Traefik 1)
    redirect-entry-point | https | redirects to HTTPS (Traefik 1)
    redirect-* | redirect | redirects requests (Traefik 1)
    rate-limit | limits | limits requests (Traefik 1)
    preserve-host | headers | sends the host of the visitor to the backend (Traefik 1)
    frontend-entry-points | setup | entry points (Traefik 1)
    """,
)

HAPROXY = Controller(
    "haproxy",
    "HAProxy Kubernetes Ingress Controller",
    "https://github.com/haproxytech/kubernetes-ingress/blob/master/documentation/annotations.md",
    ("haproxy.org/", "haproxy.com/"),
    ("haproxy", "haproxy-*"),
    """
    auth-type | login | asks for a name and a password
    auth-secret | login | names the Secret with the passwords
    auth-realm | detail | text of the password dialog
    whitelist | allowed | allows only these addresses
    allow-list | allowed | allows only these addresses
    blacklist | denied | denies these addresses
    deny-list | denied | denies these addresses
    client-ca | certificate | asks visitors for a client certificate
    client-crt-optional | detail | whether a client certificate is required
    backend-config-snippet | snippet | HAProxy configuration of the backend
    frontend-config-snippet | snippet | HAProxy configuration of the frontend
    server-ssl | scheme | speaks HTTPS to the backend
    server-proto | scheme | speaks HTTP/2 to the backend
    server-ca | tuning | checks the certificate of the backend
    server-crt | tuning | client certificate for the backend
    path-rewrite | rewrite | changes the path that the backend gets
    set-host | headers | sets the Host header for the backend
    request-set-header | headers | sets headers for the backend
    response-set-header | headers | sets headers of responses
    request-redirect | redirect | redirects every request
    request-redirect-code | detail | status of the redirect
    ssl-redirect* | https | redirects to HTTPS
    ssl-passthrough | passthrough | passes TLS on to the backend without opening it
    rate-limit-* | limits | limits requests of each address
    cors-* | headers | answers CORS requests
    cookie-persistence* | sticky | leads a visitor to the same pod
    load-balance | tuning | how the pod is chosen
    pod-maxconn | tuning | connections to a pod
    check* | tuning | checks the pods
    timeout-* | tuning | timeouts
    forwarded-for | headers | header X-Forwarded-For
    src-ip-header | headers | header with the address of the visitor
    send-proxy-protocol | tuning | PROXY protocol to the backend
    route-acl | routing | routes by a condition of HAProxy
    request-capture* | setup | logs parts of requests
    scale-server-slots | setup | places for pods
    standalone-backend | setup | a backend of its own
    """,
)

HAPROXY_INGRESS = Controller(
    "haproxy-ingress",
    "HAProxy Ingress",
    "https://haproxy-ingress.github.io/docs/configuration/keys/",
    ("haproxy-ingress.github.io/", "ingress.kubernetes.io/"),
    ("haproxy",),
    """
    auth-url | login | asks an external service about each request
    auth-signin | detail | sends visitors without a session to a login page
    auth-secret | login | asks for a name and a password
    auth-realm | detail | text of the password dialog
    auth-headers-* | detail | headers of the request to the external service
    auth-method | detail | HTTP method of the request to the external service
    oauth | login | asks for a login at an OAuth proxy
    oauth-* | detail | address and headers of the OAuth proxy
    auth-tls-secret | certificate | asks visitors for a client certificate
    auth-tls-verify-client | certificate | whether a client certificate is required
    auth-tls-strict | detail | what happens without the Secret of the certificates
    auth-tls-error-page | detail | page for visitors without a client certificate
    auth-tls-cert-header | headers | sends the client certificate to the backend
    allowlist-source-range | allowed | allows only these addresses
    whitelist-source-range | allowed | allows only these addresses
    denylist-source-range | denied | denies these addresses
    waf | firewall | filters requests with ModSecurity
    waf-mode | firewall | whether the filter denies or only logs
    config-backend* | snippet | HAProxy configuration of the backend
    config-frontend* | snippet | HAProxy configuration of the frontend
    backend-protocol | scheme | protocol of the backend: h1, h2, h1-ssl, h2-ssl
    secure-backends | scheme | speaks HTTPS to the backend
    secure-* | tuning | certificates and names of TLS to the backend
    path-type | regex | how paths match: begin, exact, prefix or regex
    path-type-order | routing | order of the ways to match
    rewrite-target | rewrite | changes the path that the backend gets
    app-root | redirect | redirects / to another path
    redirect-to | redirect | redirects every request
    redirect-from* | redirect | redirects other hosts to this one
    server-alias* | host | answers for more hosts
    ssl-redirect* | https | redirects to HTTPS
    ssl-passthrough* | passthrough | passes TLS on to the backend without opening it
    hsts* | headers | header Strict-Transport-Security
    cors-* | headers | answers CORS requests
    headers | headers | sets headers for the backend
    forwardfor | headers | header X-Forwarded-For
    limit-* | limits | limits requests and connections of each address
    affinity | sticky | leads a visitor to the same pod
    session-cookie-* | sticky | cookie of sticky sessions
    blue-green-* | canary | splits requests between groups of pods
    balance-algorithm | tuning | how the pod is chosen
    proxy-body-size | tuning | size of a request
    timeout-* | tuning | timeouts
    maxconn-server | tuning | connections to a pod
    health-check-* | tuning | checks the pods
    service-upstream | setup | sends to the Service in place of its pods, as pic does
    http-header-match* | routing | routes by headers
    tcp-service-* | routing | serves plain TCP
    """,
)

KONG = Controller(
    "kong",
    "Kong",
    "https://developer.konghq.com/kubernetes-ingress-controller/reference/annotations/",
    ("konghq.com/", "configuration.konghq.com/", "plugins.konghq.com/"),
    ("kong", "kong-*"),
    """
    plugins | plugins | plugins: logins, keys, address lists, rate limits, headers
    override | routing | settings of a KongIngress
    protocols | setup | whether HTTP or HTTPS is served
    https-redirect-status-code | https | redirects to HTTPS
    strip-path | rewrite | takes the path of the rule off the request
    path | rewrite | puts a path in front of the request
    rewrite | rewrite | changes the path that the backend gets
    preserve-host | headers | sends the host of the visitor to the backend
    host-header | headers | sets the Host header for the backend
    host-aliases | host | answers for more hosts
    methods | routing | serves only these HTTP methods
    headers* | routing | routes by headers
    snis | routing | routes by the name in TLS
    regex-priority | routing | order of regular expressions
    regex-prefix | regex | how a path says that it is a regular expression
    path-handling | rewrite | how paths are joined
    protocol | scheme | protocol of the backend: http, https, grpc or grpcs
    client-cert | tuning | client certificate for the backend
    ca-certificates-* | tuning | checks the certificate of the backend
    tls-verify* | tuning | checks the certificate of the backend
    connect-timeout | tuning | time to connect to the backend
    read-timeout | tuning | time to wait for the backend
    write-timeout | tuning | time to send to the backend
    retries | tuning | how often a request is repeated
    request-buffering | tuning | buffers whole requests
    response-buffering | tuning | buffers whole responses
    upstream-policy | tuning | how the pod is chosen
    tags | setup | tags in Kong
    """,
    """
    plugins.konghq.com | plugins | plugins (older releases)
    configuration.konghq.com | routing | settings of a KongIngress (older releases)
    """,
)

CONTOUR = Controller(
    "contour",
    "Contour",
    "https://projectcontour.io/docs/main/config/annotations/",
    ("projectcontour.io/", "contour.heptio.com/"),
    ("contour",),
    """
    ingress.class | class | class of the Ingress
    response-timeout | tuning | time to wait for the backend
    num-retries | tuning | how often a request is repeated
    per-try-timeout | tuning | time for each try
    retry-on | tuning | when a request is repeated
    tls-minimum-protocol-version | tls | lowest TLS version
    tls-maximum-protocol-version | tls | highest TLS version
    tls-cert-namespace | tls | namespace of the certificate
    websocket-routes | websocket | paths that speak WebSocket
    upstream-protocol.* | scheme | protocol of the backend: tls, h2 or h2c
    max-* | tuning | connections and requests to the backend
    """,
)

APISIX = Controller(
    "apisix",
    "Apache APISIX",
    "https://apisix.apache.org/docs/ingress-controller/reference/apisix-ingress-controller/annotation",
    ("k8s.apisix.apache.org/",),
    ("apisix",),
    """
    auth-type | login | asks for a password, a key or a token
    auth-uri | login | asks an external service about each request
    auth-ssl-verify | detail | checks the certificate of the external service
    auth-request-headers | detail | headers of the request to the external service
    auth-upstream-headers | detail | headers that the external service adds
    auth-client-headers | detail | headers of the external service for the visitor
    allowlist-source-range | allowed | allows only these addresses
    blocklist-source-range | denied | denies these addresses
    enable-csrf | firewall | asks for a token against forged requests
    csrf-key | detail | key of that token
    http-allow-methods | routing | serves only these HTTP methods
    http-block-methods | routing | does not serve these HTTP methods
    plugin-config-name | plugins | plugins: logins, address lists, rewrites, headers
    upstream-scheme | scheme | protocol of the backend
    use-regex | regex | reads paths as regular expressions
    rewrite-target* | rewrite | changes the path that the backend gets
    http-to-https | https | redirects to HTTPS
    http-redirect* | redirect | redirects every request
    enable-cors | headers | answers CORS requests
    cors-* | headers | headers of CORS
    enable-response-rewrite | headers | changes responses
    response-rewrite-* | headers | changes responses
    enable-websocket | websocket | WebSockets
    upstream-* | tuning | timeouts of the backend
    svc-namespace | routing | Service of another namespace
    """,
)

SKIPPER = Controller(
    "skipper",
    "Skipper",
    "https://opensource.zalando.com/skipper/kubernetes/ingress-usage/",
    ("zalando.org/",),
    ("skipper",),
    """
    skipper-filter | plugins | filters: logins, address lists, rewrites, headers, rate limits
    skipper-predicate | routing | conditions for a route, such as addresses, headers or cookies
    skipper-routes | routing | more routes
    skipper-ingress-path-mode | regex | how paths match
    skipper-ingress-redirect* | https | redirects to HTTPS
    skipper-loadbalancer | tuning | how the pod is chosen
    skipper-backend-protocol | scheme | protocol of the backend
    ratelimit | limits | limits requests
    backend-weights | canary | splits requests between Services
    aws-load-balancer-* | setup | load balancer in front
    """,
)
