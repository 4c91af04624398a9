module go-proxy

go 1.21
