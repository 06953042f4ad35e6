"""Lists the annotations of the two controllers that run nginx."""

from pic.planning.foreign.words import Controller

INGRESS_NGINX = Controller(
    "nginx",
    "ingress-nginx",
    "https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/annotations/",
    ("nginx.ingress.kubernetes.io/", "ingress.kubernetes.io/"),
    (
        "nginx",
        "nginx-*",
        "*-nginx",
        "ingress-nginx*",
        "public",
        "webapprouting.kubernetes.azure.com",
    ),
    """
    auth-url | login | asks an external service about each request
    auth-signin | detail | sends visitors without a session to a login page
    auth-type | login | asks for a name and a password (basic or digest)
    auth-secret | login | names the Secret with the names and passwords
    auth-realm | detail | text of the password dialog
    auth-secret-type | detail | form of the Secret with the passwords
    auth-signin-redirect-param | detail | parameter of the login page
    auth-method | detail | HTTP method of the request to the external service
    auth-response-headers | detail | headers that the external service adds to the request
    auth-proxy-set-headers | detail | headers of the request to the external service
    auth-request-redirect | detail | header X-Auth-Request-Redirect
    auth-cache-key | detail | caches the answers of the external service
    auth-cache-duration | detail | how long answers of the external service stay cached
    auth-keepalive* | detail | connections to the external service
    auth-always-set-cookie | detail | cookies of the external service
    auth-snippet | detail | nginx configuration of the request to the external service
    enable-global-auth | detail | false turns the global external service off
    satisfy | detail | any or all of several ways to enter
    auth-tls-secret | certificate | asks visitors for a client certificate
    auth-tls-verify-client | certificate | whether a client certificate is required
    auth-tls-verify-depth | detail | depth of the chain of a client certificate
    auth-tls-error-page | detail | page for visitors without a client certificate
    auth-tls-pass-certificate-to-upstream | headers | sends the client certificate to the backend
    auth-tls-match-cn | certificate | allows client certificates by their common name
    whitelist-source-range | allowed | allows only these addresses
    allowlist-source-range | allowed | allows only these addresses
    denylist-source-range | denied | denies these addresses
    enable-modsecurity | firewall | filters requests with ModSecurity
    enable-owasp-core-rules | firewall | filters requests with the OWASP rules
    modsecurity-snippet | firewall | rules of ModSecurity
    modsecurity-transaction-id | detail | log of ModSecurity
    configuration-snippet | snippet | nginx configuration of the paths
    server-snippet | snippet | nginx configuration of the host
    stream-snippet | snippet | nginx configuration of TCP streams
    backend-protocol | scheme | protocol of the backend: HTTP, HTTPS, GRPC, GRPCS, FCGI
    secure-backends | scheme | speaks HTTPS to the backend
    grpc-backend | scheme | speaks gRPC to the backend
    rewrite-target | rewrite | changes the path that the backend gets
    add-base-url | rewrite | adds a base tag to pages
    x-forwarded-prefix | headers | tells the backend the part of the path that a rewrite took away
    use-regex | regex | reads paths as regular expressions
    app-root | redirect | redirects / to another path
    server-alias | host | answers for more hosts
    from-to-www-redirect | redirect | redirects between the host and www
    permanent-redirect | redirect | redirects every request (301)
    permanent-redirect-code | detail | status of the redirect
    temporal-redirect | redirect | redirects every request (302)
    temporal-redirect-code | detail | status of the redirect
    relative-redirects | redirect | makes redirects relative
    preserve-trailing-slash | detail | keeps the slash in a redirect to HTTPS
    ssl-redirect | https | redirects to HTTPS
    force-ssl-redirect | https | redirects to HTTPS, also without a certificate
    ssl-passthrough | passthrough | passes TLS on to the backend without opening it
    ssl-ciphers | tls | ciphers for visitors
    ssl-prefer-server-ciphers | tls | who chooses the cipher
    proxy-ssl-* | tuning | certificates and names of TLS to the backend
    enable-cors | headers | answers CORS requests
    cors-* | headers | headers of CORS
    custom-headers | headers | adds headers to responses
    custom-http-errors | redirect | serves error pages from the default backend
    default-backend | routing | Service for requests without a healthy backend
    upstream-vhost | headers | sets the Host header for the backend
    connection-proxy-header | headers | sets the Connection header for the backend
    proxy-cookie-* | headers | changes domain and path of cookies
    proxy-redirect-* | headers | changes redirects of the backend
    proxy-body-size | tuning | size of a request
    client-body-buffer-size | tuning | buffer for a request
    proxy-connect-timeout | tuning | time to connect to the backend
    proxy-read-timeout | tuning | time to wait for the backend
    proxy-send-timeout | tuning | time to send to the backend
    proxy-next-upstream* | tuning | when another pod gets the request
    proxy-buffer* | tuning | buffers for responses
    proxy-busy-buffers-size | tuning | buffers for responses
    proxy-request-buffering | tuning | buffers whole requests
    proxy-max-temp-file-size | tuning | temporary files for responses
    proxy-http-version | tuning | HTTP version to the backend
    http2-push-preload | headers | HTTP/2 push
    limit-* | limits | limits requests, connections and bandwidth of each address
    global-rate-limit* | limits | limits requests over all replicas
    affinity* | sticky | leads a visitor to the same pod
    session-cookie-* | sticky | cookie of sticky sessions
    upstream-hash-by* | sticky | chooses the pod by a hash
    load-balance | tuning | how the pod is chosen
    service-upstream | setup | sends to the Service in place of its pods, as pic does
    canary* | canary | sends a part of the requests to another Service
    mirror-* | routing | sends a copy of each request to another server
    enable-access-log | setup | writes an access log
    enable-rewrite-log | setup | writes a log of rewrites
    enable-opentracing | setup | traces requests
    enable-opentelemetry | setup | traces requests
    opentracing-* | setup | traces requests
    opentelemetry-* | setup | traces requests
    enable-influxdb | setup | sends metrics to InfluxDB
    influxdb-* | setup | sends metrics to InfluxDB
    """,
)

F5_NGINX = Controller(
    "f5-nginx",
    "F5 NGINX Ingress Controller",
    "https://docs.nginx.com/nginx-ingress-controller/",
    (
        "nginx.org/",
        "nginx.com/",
        "appprotect.f5.com/",
        "appprotectdos.f5.com/",
        "custom.nginx.org/",
    ),
    ("nginx", "nginx-*"),
    """
    basic-auth-secret | login | asks for a name and a password
    basic-auth-realm | detail | text of the password dialog
    policies | plugins | policies, such as access lists, JWT, OIDC or client certificates
    server-snippets | snippet | nginx configuration of the host
    location-snippets | snippet | nginx configuration of the paths
    ssl-services | scheme | Services that speak HTTPS
    grpc-services | scheme | Services that speak gRPC
    websocket-services | websocket | Services that speak WebSocket
    rewrites | rewrite | changes the path that a Service gets
    rewrite-target | rewrite | changes the path that the backend gets
    path-regex | regex | reads paths as regular expressions
    use-cluster-ip | setup | sends to the Service in place of its pods, as pic does
    redirect-to-https | https | redirects to HTTPS behind a load balancer
    http-redirect-code | detail | status of the redirect
    app-root | redirect | redirects / to another path
    hsts* | headers | header Strict-Transport-Security
    mergeable-ingress-type | routing | splits a host into a master and its minions
    limit-req-* | limits | limits requests of each address
    proxy-hide-headers | headers | hides headers of responses
    proxy-pass-headers | headers | passes hidden headers on
    proxy-set-headers | headers | sets headers for the backend
    add-header* | headers | adds headers to responses
    client-max-body-size | tuning | size of a request
    proxy-* | tuning | timeouts and buffers of the backend
    server-tokens | headers | header Server
    sticky-cookie-services | sticky | leads a visitor to the same pod
    lb-method | tuning | how the pod is chosen
    max-fails | tuning | when a pod counts as failed
    fail-timeout | tuning | how long a pod counts as failed
    max-conns | tuning | connections to a pod
    upstream-zone-size | setup | memory of nginx
    keepalive | tuning | idle connections to the backend
    listen-ports* | setup | ports on which nginx listens
    ssl-* | tls | ciphers for visitors
    """,
    """
    nginx.com/jwt-key | login | asks for a valid JSON Web Token
    nginx.com/jwt-realm | detail | realm of the JSON Web Token
    nginx.com/jwt-token | detail | where the JSON Web Token is
    nginx.com/jwt-login-url | detail | where visitors without a token go
    nginx.com/sticky-cookie-services | sticky | leads a visitor to the same pod
    nginx.com/health-checks* | tuning | checks the pods
    nginx.com/slow-start | tuning | lets a new pod begin slowly
    appprotect.f5.com/app-protect-enable | firewall | filters requests with App Protect
    appprotect.f5.com/app-protect-policy | firewall | policy of App Protect
    appprotect.f5.com/app-protect-security-log* | detail | log of App Protect
    appprotectdos.f5.com/app-protect-dos-resource | firewall | protects from denial of service
    """,
)
