# A static program and the roots of trust it needs, for an ordinary user.
#
#   docker build -t countersign .
#   docker run --hostname countersign-1 -v ./config.yaml:/etc/countersign/config.yaml:ro countersign
#
# The host name is the name of this instance: keep it over restarts, and give each
# replica its own. /healthz and /metrics are reached from outside only if http.listen
# says so.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# The version comes from the tags and the commit of this repository.
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=true -ldflags="-s -w" -o /out/countersign ./cmd/bot \
 && /out/countersign version

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/countersign /usr/local/bin/countersign
COPY --from=build /src/LICENSE /LICENSE
ENV COUNTERSIGN_CONFIG=/etc/countersign/config.yaml PATH=/usr/local/bin
USER 65532:65532
ENTRYPOINT ["countersign"]
CMD ["run"]
