// A bare reverse proxy from Go's standard library, as a yardstick outside JavaScript.
// Run by the benchmark as `go-proxy -port 9200 -upstream http://127.0.0.1:9100`.
package main

import (
	"flag"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
)

func main() {
	port := flag.String("port", "", "port to listen on")
	upstream := flag.String("upstream", "", "address to forward to")
	flag.Parse()

	target, err := url.Parse(*upstream)
	if err != nil {
		log.Fatal(err)
	}

	// By default only two idle connections are kept per host: most requests would open a new connection.
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns = 0
	transport.MaxIdleConnsPerHost = 4096
	transport.DisableCompression = true
	transport.Proxy = nil

	proxy := &httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) {
			request.SetURL(target)
			request.Out.Header.Set("Authorization", "Bearer x")
		},
		Transport:     transport,
		FlushInterval: -1,
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+*port, proxy))
}
