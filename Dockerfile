# syntax=docker/dockerfile:1
# A static program with the roots of trust it needs, for an ordinary user.
#
#   docker build -t countersign --build-arg VERSION=$(git describe --tags --always) .
#
# compose.yaml runs it beside a Redis; docs/operations.md says the rest. The file system
# may be read-only: nothing is written but to Redis. The host name is the name of this
# instance: keep it over restarts, and give each replica its own. http.listen stays
# within the container, where the health check finds it, unless the configuration says
# otherwise.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
# The version comes from VERSION, else from the repository, else it is not known. Time
# zones are within the program.
ARG VERSION=""
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -buildvcs=auto -ldflags="-s -w -X main.version=$VERSION" -o /out/countersign ./cmd/bot \
 && /out/countersign version

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/countersign /usr/local/bin/countersign
COPY --from=build /src/LICENSE /LICENSE
ENV COUNTERSIGN_CONFIG=/etc/countersign/config.yaml PATH=/usr/local/bin
USER 65532:65532
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 CMD ["countersign", "health"]
ENTRYPOINT ["countersign"]
CMD ["run"]
